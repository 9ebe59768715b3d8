//! Windows' `STORAGE_DEVICE_DESCRIPTOR` (winioctl.h), the answer of
//! `IOCTL_STORAGE_QUERY_PROPERTY` for `StorageDeviceProperty`.

use super::device_text;

/// Where the fields of the header lie, in bytes from its start; 32-bit,
/// little-endian. An offset of 0 means that the device has no such text.
const VENDOR_ID_OFFSET: usize = 12;
const PRODUCT_ID_OFFSET: usize = 16;
const SERIAL_NUMBER_OFFSET: usize = 24;

/// What the descriptor says about the device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StorageDescriptor {
    /// Vendor and product, as the device or its driver tells them.
    pub model: Option<String>,
    /// The serial number, without surrounding blanks.
    pub serial_number: Option<String>,
}

/// Reads a descriptor. Texts that lie outside the bytes are absent.
pub fn parse(descriptor: &[u8]) -> StorageDescriptor {
    let vendor = text_at(descriptor, VENDOR_ID_OFFSET);
    let product = text_at(descriptor, PRODUCT_ID_OFFSET);
    let model = match (vendor, product) {
        (Some(vendor), Some(product)) => Some(format!("{vendor} {product}")),
        (vendor, product) => vendor.or(product),
    };
    StorageDescriptor {
        model,
        serial_number: text_at(descriptor, SERIAL_NUMBER_OFFSET),
    }
}

/// The text that the offset in the header's `field` points to.
fn text_at(descriptor: &[u8], field: usize) -> Option<String> {
    let offset: [u8; 4] = descriptor.get(field..field + 4)?.try_into().ok()?;
    let offset = usize::try_from(u32::from_le_bytes(offset)).ok()?;
    if offset == 0 {
        return None;
    }
    device_text(descriptor.get(offset..)?)
}

#[cfg(test)]
mod tests {
    use super::{StorageDescriptor, parse};

    fn descriptor(vendor: u32, product: u32, serial: u32) -> Vec<u8> {
        let mut bytes = vec![0; 40];
        bytes[12..16].copy_from_slice(&vendor.to_le_bytes());
        bytes[16..20].copy_from_slice(&product.to_le_bytes());
        bytes[24..28].copy_from_slice(&serial.to_le_bytes());
        bytes.extend_from_slice(b"ATA     \0Disk 1\0  S1234 \0");
        bytes
    }

    #[test]
    fn texts_are_found_by_their_offsets_and_trimmed() {
        assert_eq!(
            parse(&descriptor(40, 49, 56)),
            StorageDescriptor {
                model: Some("ATA Disk 1".into()),
                serial_number: Some("S1234".into()),
            }
        );
    }

    #[test]
    fn offsets_of_zero_and_beyond_the_end_are_absent_texts() {
        assert_eq!(
            parse(&descriptor(0, 49, 0)),
            StorageDescriptor {
                model: Some("Disk 1".into()),
                serial_number: None,
            }
        );
        assert_eq!(
            parse(&descriptor(u32::MAX, 10_000, u32::MAX)),
            StorageDescriptor::default()
        );
        assert_eq!(parse(b""), StorageDescriptor::default());
    }
}
