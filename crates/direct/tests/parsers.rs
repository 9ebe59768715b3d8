//! Whatever a kernel or a device hands out: the parsers answer, and never panic.

use directio::parse::{bsd_device, storage_descriptor, unit_serial};
use proptest::prelude::*;

/// Bytes at random seldom get past the first check, so real beginnings come
/// before them.
fn after(beginning: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..300)
        .prop_map(move |random| [beginning, &random].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_unit_serial_number_is_trimmed_text_or_nothing(
        page in prop_oneof![after(b""), after(b"\x00\x80\x00\x14")],
    ) {
        if let Some(serial) = unit_serial::parse(&page) {
            prop_assert!(!serial.is_empty());
            prop_assert_eq!(serial.trim(), &serial);
        }
    }

    #[test]
    fn a_storage_descriptor_is_read_whatever_its_offsets_say(
        descriptor in prop_oneof![
            after(b""),
            after(b"\x28\0\0\0\x50\0\0\0\0\0\0\x01\x28\0\0\0\x31\0\0\0\0\0\0\0\x38\0\0\0"),
        ],
    ) {
        let read = storage_descriptor::parse(&descriptor);
        prop_assert_ne!(read.model.as_deref(), Some(""));
        prop_assert_ne!(read.serial_number.as_deref(), Some(""));
    }

    #[test]
    fn a_disk_is_within_itself_and_a_partition_is_within_it(
        disk in "/dev/[a-z]{1,6}[0-9]{1,2}",
        number in 0_u8..100,
    ) {
        prop_assert!(bsd_device::is_within(&disk, &disk));
        for kind in ["p", "s"] {
            let partition = format!("{disk}{kind}{number}");
            prop_assert!(bsd_device::is_within(&disk, &partition));
            prop_assert!(!bsd_device::is_within(&partition, &disk));
        }
        let neighbour = format!("{disk}{number}");
        prop_assert!(!bsd_device::is_within(&disk, &neighbour));
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::after;
    use directio::parse::{file_locks, mountinfo, smaps, swaps};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn kernel_text_is_read_whatever_it_holds(
            text in prop_oneof![
                after(b""),
                after(b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw\n36 35 "),
                after(b"1: FLOCK  ADVISORY  WRITE 1000 fe:00:246441 0 EOF\n1: FLOCK "),
                after(b"Filename Type Size Used Priority\n/dev/dm-1 partition 1 0 -2\n/"),
                after(b"7f0000000000-7f0000400000 rw-p 00000000 00:00 0\nAnonHugePages: "),
            ],
            start: u64,
            end: u64,
        ) {
            let newlines = text.iter().filter(|&&byte| byte == b'\n').count();
            prop_assert!(mountinfo::parse(&text).len() <= newlines + 1);
            prop_assert!(file_locks::parse(&text).len() <= newlines + 1);
            prop_assert!(swaps::parse(&text).len() <= newlines + 1);
            if let Some(bytes) = smaps::huge_bytes(&text, start, end) {
                prop_assert!(start < end);
                prop_assert!(bytes > 0 || end > start);
            }
        }

        #[test]
        fn a_mount_point_of_any_bytes_survives_the_kernels_escapes(
            name in proptest::collection::vec(1_u8..=255, 1..40),
        ) {
            use std::os::unix::ffi::OsStrExt;
            // As seq_path_root(..., " \t\n\\") of fs/proc_namespace.c writes it.
            let mut text = b"36 35 98:0 / /".to_vec();
            for &byte in &name {
                if b" \t\n\\".contains(&byte) {
                    text.extend(format!("\\{byte:03o}").bytes());
                } else {
                    text.push(byte);
                }
            }
            text.extend(b" rw - ext4 /dev/root rw\n");
            let mounts = mountinfo::parse(&text);
            prop_assert_eq!(mounts.len(), 1);
            prop_assert_eq!(&mounts[0].mount_point.as_os_str().as_bytes()[1..], &name[..]);
        }
    }
}
