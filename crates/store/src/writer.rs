//! Which process makes a run, so that a killed one can be told from a live one.

use serde::{Deserialize, Serialize};

/// Identifies a process on a machine for good: its number is used again after
/// its end and after a reboot, so its moment of start and the boot belong to
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// Process number.
    pub pid: u32,
    /// `/proc/sys/kernel/random/boot_id`: another one at each boot.
    pub boot_id: String,
    /// Clock ticks from boot to the start of the process.
    pub start_ticks: u64,
    /// Inode of its process namespace, in which alone its number means something; absent where
    /// that is not known, as of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<u64>,
}

impl Writer {
    /// Whether both are one process, as far as one process namespace tells.
    pub fn is_same(&self, other: &Self) -> bool {
        let of = |one: &Self| (one.pid, one.start_ticks);
        of(self) == of(other) && self.boot_id == other.boot_id
    }

    /// Reads a process' identity from its `/proc/PID/stat` (`proc_pid_stat(5)`:
    /// field 1 is the number, field 2 the name in brackets, field 22 the start)
    /// and from `/proc/sys/kernel/random/boot_id`.
    ///
    /// The writer of a run lives exactly when reading the files of its number
    /// now gives an equal value. A process in another PID namespace cannot be
    /// seen this way.
    ///
    /// `None` when either text is not what the kernel writes.
    pub fn parse(stat: &[u8], boot_id: &[u8]) -> Option<Self> {
        let stat = String::from_utf8_lossy(stat);
        // The name may hold brackets and spaces: it ends at the last bracket.
        let (number, _) = stat.split_once(" (")?;
        let (_, rest) = stat.rsplit_once(") ")?;
        // `rest` begins with field 3.
        let ticks = rest.split_ascii_whitespace().nth(22 - 3)?;
        let boot_id = std::str::from_utf8(boot_id).ok()?.trim();
        (!boot_id.is_empty() && boot_id.chars().all(|c| c.is_ascii_hexdigit() || c == '-')).then(
            || {
                Some(Self {
                    pid: number.parse().ok()?,
                    boot_id: boot_id.to_owned(),
                    start_ticks: ticks.parse().ok()?,
                    namespace: None,
                })
            },
        )?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOOT: &[u8] = b"0d4ca65c-4f6e-4f3b-8b6c-0e1d7f5ac2b1\n";

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_shift_the_fields() {
        let stat = b"4242 (a) b (c) S 1 4242 4242 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";
        let writer = Writer::parse(stat, BOOT).unwrap();
        assert_eq!((writer.pid, writer.start_ticks), (4242, 987_654));
        assert_eq!(writer.boot_id, "0d4ca65c-4f6e-4f3b-8b6c-0e1d7f5ac2b1");
    }

    #[test]
    fn this_process_knows_itself_again() {
        let read = |path: &str| std::fs::read(path);
        let (Ok(stat), Ok(boot)) = (
            read("/proc/self/stat"),
            read("/proc/sys/kernel/random/boot_id"),
        ) else {
            return diskfacts_testkit::skip("/proc: a Linux with it mounted");
        };
        let writer = Writer::parse(&stat, &boot).unwrap();
        assert_eq!(writer.pid, std::process::id());
        let again = read(&format!("/proc/{}/stat", writer.pid)).unwrap();
        assert_eq!(Writer::parse(&again, &boot), Some(writer));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(stat: Vec<u8>, boot: Vec<u8>) {
            let _ = Writer::parse(&stat, &boot);
            let _ = Writer::parse(&stat, BOOT);
        }
    }
}
