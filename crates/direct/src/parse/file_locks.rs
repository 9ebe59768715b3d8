//! `/proc/locks`: who holds which file lock (proc(5); fs/locks.c).

use super::{lines, number, words};

/// One lock that is held (not one that is waited for).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLockLine {
    /// `FLOCK`, `POSIX`, `OFDLCK`, `LEASE`, ...
    pub kind: String,
    /// Whether it excludes readers too (`WRITE`).
    pub exclusive: bool,
    /// The process that took it. `None` for locks of an open file description
    /// (-1), and for a process of another PID namespace (0).
    pub process: Option<u32>,
    /// Major and minor number of the filesystem's device.
    pub device: (u32, u32),
    /// The inode's number.
    pub inode: u64,
}

impl FileLockLine {
    /// Whether this is a lock of `flock` on that file.
    pub fn is_flock_of(&self, device: (u32, u32), inode: u64) -> bool {
        self.kind == "FLOCK" && self.device == device && self.inode == inode
    }
}

/// All held locks, in the order of the file. Lines that are not as documented,
/// and waiters (`->`), are left out.
pub fn parse(text: &[u8]) -> Vec<FileLockLine> {
    lines(text).filter_map(lock).collect()
}

/// `1: FLOCK  ADVISORY  WRITE 1000 fe:00:246441 0 EOF`: device numbers in
/// hexadecimal.
fn lock(line: &[u8]) -> Option<FileLockLine> {
    let mut fields = words(line);
    let _number = fields.next()?;
    let kind = fields.next()?;
    if kind == b"->" {
        return None;
    }
    let _advisory = fields.next()?;
    let access = fields.next()?;
    let process = number::<i64>(fields.next()?)?;
    let mut place = fields.next()?.split(|&byte| byte == b':');
    let device = (hexadecimal(place.next()?)?, hexadecimal(place.next()?)?);
    let inode = number(place.next()?)?;
    Some(FileLockLine {
        kind: String::from_utf8_lossy(kind).into_owned(),
        exclusive: access == b"WRITE",
        process: u32::try_from(process).ok().filter(|&process| process > 0),
        device,
        inode,
    })
}

fn hexadecimal(word: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{FileLockLine, parse};

    #[test]
    fn held_locks_are_read_and_waiters_left_out() {
        let text = b"1: FLOCK  ADVISORY  WRITE 1000 fe:00:246441 0 EOF\n\
            1: -> FLOCK  ADVISORY  WRITE 1001 fe:00:246441 0 EOF\n\
            2: OFDLCK ADVISORY  READ -1 08:11:77 0 EOF\n\
            broken\n";
        assert_eq!(
            parse(text),
            [
                FileLockLine {
                    kind: "FLOCK".into(),
                    exclusive: true,
                    process: Some(1000),
                    device: (254, 0),
                    inode: 246_441,
                },
                FileLockLine {
                    kind: "OFDLCK".into(),
                    exclusive: false,
                    process: None,
                    device: (8, 17),
                    inode: 77,
                },
            ]
        );
    }

    #[test]
    fn a_lock_is_of_a_file_only_when_kind_device_and_inode_agree() {
        let locks = parse(
            b"1: FLOCK  ADVISORY  WRITE 1000 fe:00:77 0 EOF\n\
            2: POSIX  ADVISORY  WRITE 1000 08:11:77 0 EOF\n\
            3: FLOCK  ADVISORY  WRITE 1001 08:11:77 0 EOF\n\
            4: FLOCK  ADVISORY  WRITE 1002 08:11:78 0 EOF\n",
        );
        let of_it: Vec<_> = locks
            .iter()
            .filter(|lock| lock.is_flock_of((8, 17), 77))
            .map(|lock| lock.process)
            .collect();
        assert_eq!(of_it, [Some(1001)]);
    }
}
