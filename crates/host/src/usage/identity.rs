//! What tells one disk from another, whatever path leads to it.
//!
//! A disk that is reached by two paths is two block devices (`sda` and `sdb`; without
//! native multipath also `nvme0n1` and `nvme1n1`). Both say the same identity. An
//! identity that many disks share, because their maker left it empty, proves nothing
//! and counts as none.

use crate::error::Error;
use crate::sysfs::DeviceDir;

/// Shortest serial number that is taken for one: people and hypervisors number disks
/// `1`, `2`, or `root`.
const LEAST_SERIAL: usize = 8;

/// The identity of a whole disk, or of the disk under a multipath device; `None` where
/// it has none that can be relied on.
pub(super) fn disk_identity(disk: &DeviceDir) -> Result<Option<String>, Error> {
    if let Some(uuid) = disk.optional_text("dm/uuid") {
        let Some(of) = uuid.strip_prefix("mpath-") else {
            return Ok(None);
        };
        // All its paths lead to one disk; what is above has the bytes of that.
        for (_, path) in disk.linked("slaves")? {
            if let Some(path) = path
                && let Some(identity) = disk_identity(&path)?
            {
                return Ok(Some(identity));
            }
        }
        return Ok(of_scsi_id(of).filter(|identity| tells_apart(identity)));
    }
    if let Some(wwid) = wwid(disk) {
        return Ok(Some(wwid));
    }
    // virtio disks, as their host numbers them.
    let serial = disk
        .optional_text("serial")
        .filter(|serial| serial.chars().count() >= LEAST_SERIAL && varied(serial));
    Ok(serial.map(|serial| format!("serial {serial}")))
}

/// The worldwide name of a disk, in the words of sysfs; `None` where it has none that tells
/// it from others.
pub(crate) fn wwid(disk: &DeviceDir) -> Option<String> {
    // SCSI and ATA have it at the device (kernel: `scsi_vpd_lun_id` in
    // drivers/scsi/scsi_lib.c), NVMe at the disk (`wwid_show` in drivers/nvme/host/sysfs.c).
    ["wwid", "device/wwid"].into_iter().find_map(|attribute| {
        disk.optional_text(attribute)
            .filter(|wwid| tells_apart(wwid))
    })
}

/// Whether the identity is one: its number is not blank, and not the same digit all along.
fn tells_apart(wwid: &str) -> bool {
    match wwid.split_once('.') {
        Some(("naa" | "eui" | "uuid", number)) => varied(number),
        // Vendor in 8 characters, model and number (SPC-5, 7.8.6.4).
        Some(("t10", text)) => varied(text.get(8..).unwrap_or_default()),
        // nvme.VENDOR-SERIAL-MODEL-NAMESPACE, in hex digits of its bytes.
        Some(("nvme", text)) => text.split('-').nth(1).is_some_and(|serial| {
            let blank = serial
                .as_bytes()
                .chunks(2)
                .all(|byte| matches!(byte, b"20" | b"00" | b"30"));
            !blank && varied(serial)
        }),
        _ => false,
    }
}

/// Whether there are two different digits or letters in it.
fn varied(text: &str) -> bool {
    let mut characters = text.chars().filter(char::is_ascii_alphanumeric);
    characters
        .next()
        .is_some_and(|first| characters.any(|other| other != first))
}

/// The same in the words of sysfs, of the identity that multipath uses: that of
/// `scsi_id`, whose first digit is the kind of number (3: NAA, 2: EUI-64).
fn of_scsi_id(id: &str) -> Option<String> {
    let number = id.get(1..)?;
    match id.as_bytes().first()? {
        b'3' => Some(format!("naa.{number}")),
        b'2' => Some(format!("eui.{number}")),
        _ => Some(id.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_that_many_disks_share_is_none() {
        for wwid in [
            "",
            "naa.",
            "naa.0000000000000000",
            "eui.ffffffffffffffff",
            "uuid.00000000-0000-0000-0000-000000000000",
            "t10.ATA     ",
            "t10.QEMU    00000000",
            "nvme.0000-2020202020202020-51454d55-00000001",
            "nvme.1b36-0000-51454d55-00000001",
            "something",
        ] {
            assert!(!tells_apart(wwid), "{wwid}");
        }
        for wwid in [
            "naa.6001405a1b2c3d4e5f60718293a4b5c6",
            "eui.0025385171b0a5c3",
            "uuid.0e3cdde1-6d3b-4c2f-9d4a-3f1b6c1c0a11",
            "t10.ATA     Samsung SSD 840                         S1D5NSBF1",
            "nvme.1b36-64617461-51454d55-00000001",
        ] {
            assert!(tells_apart(wwid), "{wwid}");
        }
    }

    #[test]
    fn what_multipath_calls_a_disk_is_what_sysfs_calls_it() {
        let same = |id: &str| of_scsi_id(id).expect("an identity");
        assert_eq!(same("36001405a1b2c3d4e"), "naa.6001405a1b2c3d4e");
        assert_eq!(same("20025385171b0a5c3"), "eui.0025385171b0a5c3");
        assert_eq!(same("uuid.0e3cdde1"), "uuid.0e3cdde1");
    }
}
