//! Serial numbers and models. No two kinds of device tell them alike.

use std::ffi::c_void;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr;

use super::sysfs::SysfsDevice;
use crate::parse::unit_serial;

/// The serial number by sysfs, or why there is none.
///
/// virtio has it beside the queue, `NVMe` and MMC on the controller; SCSI, SATA
/// and USB disks have the device's own page 0x80.
pub(super) fn from_sysfs(device: &SysfsDevice) -> Result<String, String> {
    device
        .disk_text("serial")
        .or_else(|| device.disk_text("device/serial"))
        .or_else(|| unit_serial::parse(&device.disk_bytes("device/vpd_pg80")?))
        .ok_or_else(|| why_none(&device.disk_name()).to_owned())
}

/// The model's name by sysfs.
pub(super) fn model(device: &SysfsDevice) -> Option<String> {
    let model = device
        .disk_text("device/model")
        .or_else(|| device.disk_text("device/name"))?;
    Some(match device.disk_text("device/vendor") {
        // virtio's vendor is a PCI number, and ATA disks are all "ATA".
        Some(vendor) if vendor != "ATA" && !vendor.starts_with("0x") => {
            format!("{vendor} {model}")
        }
        _ => model,
    })
}

/// Why a device of this kernel name has no serial number.
fn why_none(disk_name: &str) -> &'static str {
    const KINDS: [(&str, &str); 8] = [
        ("loop", "a loop device is a file and has no serial number"),
        (
            "dm-",
            "a device-mapper device is made of others and has no serial number of its own",
        ),
        (
            "md",
            "a RAID device is made of others and has no serial number of its own",
        ),
        ("zram", "zram is memory and has no serial number"),
        ("ram", "a RAM disk is memory and has no serial number"),
        ("nbd", "a network block device tells no serial number"),
        ("rbd", "a Ceph block device tells no serial number"),
        (
            "vd",
            "the hypervisor gave this virtio disk no serial number",
        ),
    ];
    KINDS
        .iter()
        .find(|(prefix, _)| disk_name.starts_with(prefix))
        .map_or(
            "neither sysfs (serial, device/serial, device/vpd_pg80) nor a SCSI inquiry tells one",
            |(_, why)| why,
        )
}

/// `struct sg_io_hdr` of `<scsi/sg.h>`.
#[repr(C)]
struct SgIoHeader {
    interface_id: i32,
    transfer_direction: i32,
    command_length: u8,
    sense_length_max: u8,
    scatter_count: u16,
    transfer_length: u32,
    transfer: *mut c_void,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack_id: i32,
    user: *mut c_void,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_length: u8,
    host_status: u16,
    driver_status: u16,
    residual: i32,
    duration_ms: u32,
    info: u32,
}

/// `SG_IO` of `<scsi/sg.h>`; a plain number, not made by `_IO`.
const SG_IO: libc::Ioctl = 0x2285;
/// `SG_DXFER_FROM_DEV` of `<scsi/sg.h>`.
const FROM_DEVICE: i32 = -3;
/// `SG_INFO_OK_MASK` of `<scsi/sg.h>`: the bit is 0 when all went well.
const INFO_NOT_OK: u32 = 1;
const INTERFACE_ID: i32 = 'S' as i32;

/// The serial number by asking the device: `INQUIRY`, page 0x80 (SPC-4, 6.6).
/// `None` when it is no SCSI device, does not answer or has none.
pub(super) fn by_inquiry(file: &File) -> Option<String> {
    const PAGE_LENGTH: u8 = 252;
    let mut page = [0_u8; PAGE_LENGTH as usize];
    let mut sense = [0_u8; 32];
    // Operation 0x12 INQUIRY, EVPD = 1, page 0x80, allocation length, control.
    let command = [0x12, 1, 0x80, 0, PAGE_LENGTH, 0];
    let mut header = SgIoHeader {
        interface_id: INTERFACE_ID,
        transfer_direction: FROM_DEVICE,
        command_length: 6,
        sense_length_max: 32,
        scatter_count: 0,
        transfer_length: u32::from(PAGE_LENGTH),
        transfer: page.as_mut_ptr().cast(),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: 3000,
        flags: 0,
        pack_id: 0,
        user: ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_length: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: the header is laid out as <scsi/sg.h> says (see the test), and
    // its three pointers are to live buffers of the lengths that it states;
    // the call returns after the transfer.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), SG_IO, &raw mut header) };
    if result != 0 || header.info & INFO_NOT_OK != 0 {
        return None;
    }
    let missing = usize::try_from(header.residual).unwrap_or(0);
    let answered = page.len().saturating_sub(missing);
    unit_serial::parse(&page[..answered])
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use std::mem::offset_of;

    use super::SgIoHeader;

    #[test]
    fn the_scsi_header_is_laid_out_as_on_64_bit_linux() {
        assert_eq!(size_of::<SgIoHeader>(), 88);
        assert_eq!(offset_of!(SgIoHeader, transfer), 16);
        assert_eq!(offset_of!(SgIoHeader, timeout_ms), 40);
        assert_eq!(offset_of!(SgIoHeader, user), 56);
        assert_eq!(offset_of!(SgIoHeader, info), 80);
    }
}
