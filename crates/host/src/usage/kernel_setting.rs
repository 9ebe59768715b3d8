//! Files that are settings of the kernel: what is written there is obeyed, and not kept.

use super::Obstacle;
#[cfg(target_os = "linux")]
use super::ObstacleKind;
use std::path::Path;

/// Filesystems whose files the kernel makes up, by the number that statfs(2) has of them
/// (`include/uapi/linux/magic.h`; configfs: `fs/configfs/mount.c`, fusectl:
/// `fs/fuse/control.c`, nfsd: `fs/nfsd/nfsctl.c`, xenfs: `drivers/xen/xenfs/super.c`).
#[cfg(target_os = "linux")]
const MADE_UP: [(u32, &str); 26] = [
    (0x6265_6572, "sysfs"),
    (0x9fa0, "proc"),
    (0x9fa1, "openprom"),
    (0x9fa2, "usbfs"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x6265_6570, "configfs"),
    (0x7363_6673, "securityfs"),
    (0xf97c_ff8c, "selinuxfs"),
    (0x4341_5d53, "smackfs"),
    (0x5a3c_69f0, "apparmorfs"),
    (0xde5e_81e4, "efivarfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x0765_5821, "resctrl"),
    (0xcafe_4a11, "bpf"),
    (0x6165_676c, "pstore"),
    (0x4249_4e4d, "binfmt_misc"),
    (0x6c6f_6f70, "binderfs"),
    (0x6573_5543, "fusectl"),
    (0x6e66_7364, "nfsd"),
    (0xabba_1974, "xenfs"),
    (0x6e73_6673, "nsfs"),
    (0x5049_4446, "pidfs"),
    (0x0904_1934, "anon_inodefs"),
    (0x444d_4142, "dma_buf"),
];

/// The obstacle, if a file lies on a filesystem of this number.
#[cfg(target_os = "linux")]
fn of_magic(path: &Path, magic: u32) -> Option<Obstacle> {
    let (_, kind) = MADE_UP.iter().find(|(made_up, _)| *made_up == magic)?;
    Some(Obstacle {
        kind: ObstacleKind::KernelSetting,
        device: path.display().to_string(),
        what: format!("is a setting of the kernel ({kind}), which holds no data"),
        how_to_go_on: "to change the setting, write it with `echo`; to measure, name a file, a \
                       folder or a block device"
            .to_owned(),
    })
}

/// The obstacle, if a file is one; one that is only held (`O_PATH`) will do, because to open
/// one may have an effect. `path` is what it is called.
#[cfg(target_os = "linux")]
pub(super) fn of(path: &Path, file: &std::fs::File) -> Option<Obstacle> {
    of_magic(path, magic(rustix::fs::fstatfs(file).ok()?.f_type))
}

/// The field is signed on some machines, and longer than the number on most.
#[cfg(target_os = "linux")]
fn magic(field: impl Into<i128>) -> u32 {
    u32::try_from(field.into() & 0xffff_ffff).unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn of(_: &Path, _: &std::fs::File) -> Option<Obstacle> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_makes_up_is_told_from_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "text").expect("a file");
        let at = |path: &Path| of(path, &std::fs::File::open(path).expect("it is there"));
        assert_eq!(at(&file), None);
        for (path, kind) in [
            ("/proc/self/oom_score_adj", "proc"),
            ("/sys/kernel/mm", "sysfs"),
        ] {
            let found = at(Path::new(path)).expect("a setting");
            assert_eq!(found.kind, ObstacleKind::KernelSetting);
            assert!(found.what.contains(&format!("({kind})")), "{found}");
        }
        for fields in [i128::from(0xcafe_4a11_u32.cast_signed()), 0xcafe_4a11] {
            assert!(of_magic(&file, magic(fields)).is_some());
        }
    }
}
