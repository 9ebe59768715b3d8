//! Names of our instances, which say whose they are.

use crate::parse::process_stat::parse_process_start;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

const PREFIX: &str = "diskfacts";

/// Inode of the pid namespace that a machine begins with (kernel,
/// `PROC_PID_INIT_INO` in `include/linux/proc_ns.h`).
const FIRST_NAMESPACE: u64 = 0xEFFF_FFFC;

/// Who made an instance: `diskfacts-PID-START-NAMESPACE-N`.
///
/// tracefs is one for all containers of a machine, but a number of a process means
/// something within its pid namespace only. A number is used again when its process
/// is gone; then the time of its start differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) pid: u32,
    /// Clock ticks from the start of the machine to that of the process.
    start: u64,
    /// Inode of its pid namespace.
    namespace: u64,
}

/// What is known of the process that made an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It runs.
    Alive,
    /// It is gone.
    Dead,
    /// It is one of a pid namespace that cannot be looked into from here.
    Elsewhere,
}

impl Owner {
    /// This process.
    pub(super) fn this(proc: &Path) -> io::Result<Self> {
        let pid = std::process::id();
        Ok(Self {
            pid,
            start: start_of(proc, pid)?,
            namespace: namespace(&proc.join("self"))?,
        })
    }

    /// A name that this process has not used yet.
    pub(super) fn next_name(self) -> String {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let Self {
            pid,
            start,
            namespace,
        } = self;
        format!("{PREFIX}-{pid}-{start}-{namespace}-{number}")
    }

    /// Who made the instance of this name; `None` when it is none of ours.
    pub(super) fn of(name: &str) -> Option<Self> {
        let mut parts = name.split('-');
        if parts.next()? != PREFIX {
            return None;
        }
        let owner = Self {
            pid: parts.next()?.parse().ok()?,
            start: parts.next()?.parse().ok()?,
            namespace: parts.next()?.parse().ok()?,
        };
        let _number: u64 = parts.next()?.parse().ok()?;
        parts.next().is_none().then_some(owner)
    }

    /// Whether the process runs.
    pub(super) fn standing(self, proc: &Path) -> Standing {
        let own = namespace(&proc.join("self"));
        if own.as_ref().is_ok_and(|own| *own == self.namespace) {
            return match start_of(proc, self.pid) {
                Ok(start) if start == self.start => Standing::Alive,
                Ok(_) => Standing::Dead,
                Err(error) if error.kind() == io::ErrorKind::NotFound => Standing::Dead,
                Err(_) => Standing::Elsewhere,
            };
        }
        // All processes are seen from the first namespace: one that none of them is
        // in is gone, with all that were.
        if own.is_ok_and(|own| own == FIRST_NAMESPACE) && !in_use(proc, self.namespace) {
            return Standing::Dead;
        }
        Standing::Elsewhere
    }
}

fn start_of(proc: &Path, pid: u32) -> io::Result<u64> {
    let bytes = fs::read(proc.join(pid.to_string()).join("stat"))?;
    parse_process_start(&bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Inode of the pid namespace of a process: `pid:[4026531836]`.
fn namespace(process: &Path) -> io::Result<u64> {
    let link = fs::read_link(process.join("ns/pid"))?;
    let text = link.to_string_lossy();
    let number = text.strip_prefix("pid:[").and_then(|t| t.strip_suffix(']'));
    let number = number.and_then(|number| number.parse().ok());
    number.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, text.into_owned()))
}

/// Whether any process is in this namespace, or could be.
fn in_use(proc: &Path, wanted: u64) -> bool {
    let Ok(entries) = fs::read_dir(proc) else {
        return true;
    };
    let processes = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy()
            .bytes()
            .all(|byte| byte.is_ascii_digit())
    });
    processes
        .map(|process| namespace(&process.path()))
        .any(|found| match found {
            Ok(found) => found == wanted,
            // It has just ended; any other refusal leaves it open.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn process(proc: &Path, pid: &str, start: u64, namespace: u64) {
        let folder = proc.join(pid);
        fs::create_dir_all(folder.join("ns")).expect("a folder");
        let line = format!("{pid} (a b) c) R 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {start} 0\n");
        fs::write(folder.join("stat"), line).expect("stat");
        symlink(format!("pid:[{namespace}]"), folder.join("ns/pid")).expect("a link");
    }

    #[test]
    fn a_name_says_who_made_it_and_strange_names_are_nobodys() {
        let owner = Owner::this(Path::new("/proc")).expect("this process");
        let (first, second) = (owner.next_name(), owner.next_name());
        assert_ne!(first, second);
        assert_eq!(Owner::of(&first), Some(owner));
        assert_eq!(owner.standing(Path::new("/proc")), Standing::Alive);
        for strange in [
            "x",
            "diskfacts",
            "diskfacts-1-2-3",
            "diskfacts-1-2-3-4-5",
            "diskfacts-a-2-3-4",
        ] {
            assert_eq!(Owner::of(strange), None, "{strange}");
        }
    }

    #[test]
    fn a_process_of_the_same_number_that_began_later_is_another() {
        let proc = tempfile::tempdir().expect("a folder");
        process(proc.path(), "self", 1, FIRST_NAMESPACE);
        process(proc.path(), "70", 500, FIRST_NAMESPACE);
        process(proc.path(), "71", 600, 42);
        let owner = |pid, start, namespace| Owner {
            pid,
            start,
            namespace,
        };
        let standing = |owner: Owner| owner.standing(proc.path());
        assert_eq!(standing(owner(70, 500, FIRST_NAMESPACE)), Standing::Alive);
        assert_eq!(standing(owner(70, 400, FIRST_NAMESPACE)), Standing::Dead);
        assert_eq!(standing(owner(69, 500, FIRST_NAMESPACE)), Standing::Dead);
        // A container that runs, and one that is gone.
        assert_eq!(standing(owner(1, 5, 42)), Standing::Elsewhere);
        assert_eq!(standing(owner(1, 5, 43)), Standing::Dead);
    }

    #[test]
    fn from_within_a_container_nothing_is_said_of_other_namespaces() {
        let proc = tempfile::tempdir().expect("a folder");
        process(proc.path(), "self", 1, 42);
        let owner = Owner {
            pid: 7,
            start: 7,
            namespace: FIRST_NAMESPACE,
        };
        assert_eq!(owner.standing(proc.path()), Standing::Elsewhere);
    }
}
