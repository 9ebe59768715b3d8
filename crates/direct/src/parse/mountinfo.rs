//! `/proc/PID/mountinfo`: what is mounted where (proc(5); `fs/proc_namespace.c`).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::{lines, number, unescape, words};

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The mount's number, as in `stx_mnt_id`.
    pub id: u64,
    /// Major and minor number of the filesystem's device; major 0 for one
    /// without a device of its own (tmpfs, NFS, but also btrfs).
    pub device: (u32, u32),
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// The type of the filesystem: `ext4`.
    pub file_system: String,
    /// What was mounted, in the filesystem's own words: `/dev/sda2`.
    pub source: PathBuf,
}

/// All mounts, in the order of the file. Lines that are not as documented are
/// left out.
pub fn parse(text: &[u8]) -> Vec<Mount> {
    lines(text).filter_map(mount).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`:
/// after the sixth field come any number of optional ones up to a lone `-`.
fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = words(line);
    let id = number(fields.next()?)?;
    let _parent = fields.next()?;
    let device = device_number(fields.next()?)?;
    let _root = fields.next()?;
    let mount_point = path(fields.next()?);
    fields.find(|&field| field == b"-")?;
    let file_system = String::from_utf8_lossy(&unescape(fields.next()?)).into_owned();
    let source = path(fields.next()?);
    Some(Mount {
        id,
        device,
        mount_point,
        file_system,
        source,
    })
}

/// `8:1`, in decimal.
pub(crate) fn device_number(word: &[u8]) -> Option<(u32, u32)> {
    let colon = word.iter().position(|&byte| byte == b':')?;
    Some((number(&word[..colon])?, number(&word[colon + 1..])?))
}

fn path(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(field)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Mount, parse};

    #[test]
    fn a_line_of_the_manual_is_read_with_its_optional_fields() {
        let text = b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:7 - ext3 /dev/root rw\n";
        assert_eq!(
            parse(text),
            [Mount {
                id: 36,
                device: (98, 0),
                mount_point: "/mnt2".into(),
                file_system: "ext3".into(),
                source: "/dev/root".into(),
            }]
        );
    }

    #[test]
    fn a_mount_point_with_a_blank_and_a_backslash_is_unescaped() {
        let text = b"41 28 8:17 / /media/my\\040disk\\134a rw - vfat /dev/sdb1 rw\n";
        let mounts = parse(text);
        assert_eq!(mounts[0].mount_point, Path::new("/media/my disk\\a"));
    }

    #[test]
    fn broken_lines_are_left_out_and_the_others_stay() {
        let text = b"x\n1 2 3 / / rw - a b c\n1 2 8:1 / /mnt rw ext4 /dev/sda1 rw\n\n\
            2 1 8:2 / / rw - xfs /dev/sda2 rw";
        let mounts = parse(text);
        assert_eq!(mounts.len(), 1, "{mounts:?}");
        assert_eq!(mounts[0].device, (8, 2));
    }
}
