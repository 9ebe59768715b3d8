//! Whether a process lives, by its number and the moment of its start.

use crate::parse::process_stat::{parse_process_ended, parse_process_start};
use crate::roots::Roots;
use std::fs;
use std::io;

/// Whether the process lives; of one that has ended and that nobody has waited for
/// yet only the number is left. Where `ticks` are known, another process that was
/// given its number is not it. One that cannot be looked at may live.
pub(super) fn lives(roots: &Roots, process: u32, ticks: Option<u64>) -> bool {
    let stat = match fs::read(roots.proc.join(process.to_string()).join("stat")) {
        Ok(stat) => stat,
        // Where not even this process is shown, nothing is known of others.
        Err(error) if is_missing(&error) => {
            return roots.live() && fs::symlink_metadata(roots.proc.join("self")).is_err();
        }
        Err(_) => return true,
    };
    let same = |ticks| parse_process_start(&stat).is_ok_and(|start| start == ticks);
    !parse_process_ended(&stat) && ticks.is_none_or(same)
}

/// Of a process that ends while it is read the kernel says `ESRCH`.
fn is_missing(error: &io::Error) -> bool {
    const ESRCH: i32 = 3;
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(ESRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "7 (a) b) c) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 10 11";

    #[test]
    fn a_zombie_and_another_process_of_the_same_number_are_not_it() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let roots = Roots::under(root.path());
        assert!(!lives(&roots, 7, None));
        fs::create_dir_all(roots.proc.join("7")).expect("a folder");
        let write = |stat: &str| fs::write(roots.proc.join("7/stat"), stat).expect("a file");
        write(STAT);
        assert!(lives(&roots, 7, None) && lives(&roots, 7, Some(9876)));
        assert!(!lives(&roots, 7, Some(9875)));
        write(&STAT.replace(") S ", ") Z "));
        assert!(!lives(&roots, 7, None));
    }
}
