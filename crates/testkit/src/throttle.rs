//! A device of known speed: the block layer's throttle for a control group.
//!
//! Version 1 of the control groups (`blkio.throttle.*`) and version 2
//! (`io.max`) do the same: see Documentation/admin-guide/cgroup-v1/
//! blkio-controller.rst and cgroup-v2.rst in the kernel. The controller belongs
//! to one of them at a time; [`ThrottleGroup`] uses whichever has it.
//!
//! The mean rate is true to a tenth of a percent over ten seconds; the shape is
//! not: budgets are handed out in slices of 100 ms (block/blk-throttle.c), so a
//! latency percentile under a throttle says nothing about a device.

use crate::{LoopDevice, Missing, Scratch, require_root, scratch, tool};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Upper limits of one device for one group; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Throttle {
    /// Reads per second, after the block layer split and merged them.
    pub reads_per_s: Option<u64>,
    /// Writes per second.
    pub writes_per_s: Option<u64>,
    /// Bytes read per second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written per second.
    pub write_bytes_per_s: Option<u64>,
}

impl Throttle {
    /// The four limits with their names in version 1 and version 2.
    fn limits(self) -> [(&'static str, &'static str, Option<u64>); 4] {
        [
            ("blkio.throttle.read_iops_device", "riops", self.reads_per_s),
            (
                "blkio.throttle.write_iops_device",
                "wiops",
                self.writes_per_s,
            ),
            (
                "blkio.throttle.read_bps_device",
                "rbps",
                self.read_bytes_per_s,
            ),
            (
                "blkio.throttle.write_bps_device",
                "wbps",
                self.write_bytes_per_s,
            ),
        ]
    }
}

/// Which interface has the controller, and where it is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Hierarchy {
    Version1(PathBuf),
    Version2(PathBuf),
}

/// A control group whose processes see one device throttled. It is removed when
/// dropped; processes still in it go back to the group above.
#[derive(Debug)]
pub struct ThrottleGroup {
    hierarchy: Hierarchy,
    path: PathBuf,
    device: (u32, u32),
}

impl ThrottleGroup {
    /// A group that throttles this loop device.
    ///
    /// # Errors
    /// What is missing: root, or the controller in the kernel.
    pub fn new(device: &LoopDevice, throttle: Throttle) -> Result<Self, Missing> {
        Self::in_scratch(device.scratch(), device.device_number(), throttle)
    }

    pub(crate) fn in_scratch(
        scratch: &Scratch,
        device: (u32, u32),
        throttle: Throttle,
    ) -> Result<Self, Missing> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        require_root()?;
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let hierarchy = find(&mounts).ok_or_else(|| {
            Missing::new(
                "the blkio or io controller of control groups",
                "a kernel with CONFIG_BLK_DEV_THROTTLING, and a mounted cgroup filesystem",
            )
        })?;
        let name = format!(
            "{}{}-{}",
            scratch::PREFIX,
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        Self::make(scratch, hierarchy, &name, device, throttle).map_err(|error| {
            Missing::new(
                format_args!("a control group: {error}"),
                "run the tests where control groups may be made",
            )
        })
    }

    fn make(
        scratch: &Scratch,
        hierarchy: Hierarchy,
        name: &str,
        device: (u32, u32),
        throttle: Throttle,
    ) -> io::Result<Self> {
        let path = match &hierarchy {
            Hierarchy::Version1(root) => root.join(name),
            Hierarchy::Version2(root) => {
                // Only groups whose parent hands the controller down have it.
                fs::write(root.join("cgroup.subtree_control"), "+io")?;
                root.join(name)
            }
        };
        // Written down before it is made, for the sweep.
        fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(scratch.join(scratch::GROUPS))?
            .write_all(format!("{}\n", path.display()).as_bytes())?;
        fs::create_dir(&path)?;
        let group = Self {
            hierarchy,
            path,
            device,
        };
        group.set(throttle)?;
        Ok(group)
    }

    /// Changes the limits, for processes already in the group too.
    ///
    /// # Errors
    /// When the kernel refuses them.
    pub fn set(&self, throttle: Throttle) -> io::Result<()> {
        let (major, minor) = self.device;
        match self.hierarchy {
            Hierarchy::Version1(_) => {
                for (file, _, limit) in throttle.limits() {
                    // 0 takes a limit away.
                    let line = format!("{major}:{minor} {}", limit.unwrap_or(0));
                    fs::write(self.path.join(file), line)?;
                }
            }
            Hierarchy::Version2(_) => {
                let mut line = format!("{major}:{minor}");
                for (_, key, limit) in throttle.limits() {
                    let limit = limit.map_or_else(|| "max".to_owned(), |limit| limit.to_string());
                    // Writing to a String cannot fail.
                    let _ = write!(line, " {key}={limit}");
                }
                fs::write(self.path.join("io.max"), line)?;
            }
        }
        Ok(())
    }

    /// Its folder in the cgroup filesystem.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads and writes of the device that went through this group so far.
    ///
    /// # Errors
    /// When the counters cannot be read.
    pub fn operations(&self) -> io::Result<u64> {
        let read = |file| fs::read_to_string(self.path.join(file));
        Ok(match self.hierarchy {
            Hierarchy::Version1(_) => {
                serviced_v1(&read("blkio.throttle.io_serviced")?, self.device)
            }
            Hierarchy::Version2(_) => serviced_v2(&read("io.stat")?, self.device),
        })
    }

    /// Puts a process into the group, with all its threads. I/O already under
    /// way stays where it began.
    ///
    /// # Errors
    /// When there is no such process any more.
    pub fn enter(&self, process: u32) -> io::Result<()> {
        fs::write(self.path.join("cgroup.procs"), process.to_string())
    }

    /// A command whose process is in the group before its program starts, so
    /// that no I/O escapes: a shell enters, and becomes the program.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        command_in(&self.path, program.as_ref())
    }
}

pub(crate) fn command_in(group: &Path, program: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", "echo $$ > \"$1\" && shift && exec \"$@\"", "sh"])
        .arg(group.join("cgroup.procs"))
        .arg(program);
    command
}

impl Drop for ThrottleGroup {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            tool::not_taken_down(&self.path.to_string_lossy(), &error);
        }
    }
}

impl AsRef<Path> for ThrottleGroup {
    fn as_ref(&self) -> &Path {
        self.path()
    }
}

/// Removes a group, if it is there; its processes go to the group above.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let mut tries_left = REMOVE_TRIES;
    loop {
        let removed = fs::remove_dir(path);
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // A process that has just ended is in its group for a moment more.
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && tries_left > 0 => {
                move_up(path);
                tries_left -= 1;
                std::thread::sleep(REMOVE_PAUSE);
            }
            done => return done,
        }
    }
}

const REMOVE_TRIES: u32 = 400;
const REMOVE_PAUSE: std::time::Duration = std::time::Duration::from_millis(5);

fn move_up(path: &Path) {
    let Some(parent) = path.parent() else { return };
    let processes = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    for process in processes.lines() {
        // It may have ended since; what stays makes the removal fail, which
        // is reported.
        let _ = fs::write(parent.join("cgroup.procs"), process);
    }
}

/// Where the controller is, from /proc/self/mounts: device, place, type and
/// options, separated by blanks.
fn find(mounts: &str) -> Option<Hierarchy> {
    let mut found = mounts.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let [_, place, kind, options, ..] = fields.as_slice() else {
            return None;
        };
        match *kind {
            "cgroup" if options.split(',').any(|option| option == "blkio") => {
                Some(Hierarchy::Version1(PathBuf::from(place)))
            }
            "cgroup2" => {
                let controllers = Path::new(place).join("cgroup.controllers");
                fs::read_to_string(controllers)
                    .is_ok_and(|text| text.split_whitespace().any(|name| name == "io"))
                    .then(|| Hierarchy::Version2(PathBuf::from(place)))
            }
            _ => None,
        }
    });
    found.next()
}

/// Sum of the reads and writes in `blkio.throttle.io_serviced`: lines of
/// device, kind and number.
fn serviced_v1(text: &str, (major, minor): (u32, u32)) -> u64 {
    let device = format!("{major}:{minor}");
    text.lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let [of, "Read" | "Write", number] = fields.as_slice() else {
                return None;
            };
            (*of == device).then(|| number.parse::<u64>().ok())?
        })
        .sum()
}

/// Sum of `rios` and `wios` in `io.stat`: a line for each device.
fn serviced_v2(text: &str, (major, minor): (u32, u32)) -> u64 {
    let device = format!("{major}:{minor} ");
    text.lines()
        .filter_map(|line| line.strip_prefix(&device))
        .flat_map(|fields| fields.split(' '))
        .filter_map(|field| field.split_once('='))
        .filter(|(key, _)| matches!(*key, "rios" | "wios"))
        .filter_map(|(_, number)| number.parse::<u64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_controller_is_found_in_version_1() {
        let mounts = "proc /proc proc rw 0 0\n\
                      cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                      cgroup /sys/fs/cgroup/blkio cgroup rw,relatime,blkio 0 0\n";
        assert_eq!(
            find(mounts),
            Some(Hierarchy::Version1(PathBuf::from("/sys/fs/cgroup/blkio")))
        );
        assert_eq!(find("proc /proc proc rw 0 0\n"), None);
    }

    #[test]
    fn version_2_counts_only_where_it_has_the_controller() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let mounts = format!("cgroup2 {} cgroup2 rw 0 0\n", root.path().display());
        fs::write(root.path().join("cgroup.controllers"), "cpuset cpu\n").expect("writing");
        assert_eq!(find(&mounts), None);
        fs::write(root.path().join("cgroup.controllers"), "cpu io\n").expect("writing");
        assert_eq!(
            find(&mounts),
            Some(Hierarchy::Version2(root.path().to_owned()))
        );
    }

    /// The kernel of the machine has the controller in one version; of the
    /// other the written lines can be tested, in a folder that stands for it.
    #[test]
    fn the_limits_of_version_2_are_one_line() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let scratch = Scratch::new().expect("a scratch folder");
        let group = ThrottleGroup::make(
            &scratch,
            Hierarchy::Version2(root.path().to_owned()),
            "group",
            (7, 3),
            Throttle {
                reads_per_s: Some(100),
                write_bytes_per_s: Some(1 << 20),
                ..Throttle::default()
            },
        )
        .expect("a folder");
        let read = |file: &Path| fs::read_to_string(file).expect("what was written");
        assert_eq!(
            read(&group.path().join("io.max")),
            "7:3 riops=100 wiops=max rbps=max wbps=1048576"
        );
        assert_eq!(read(&root.path().join("cgroup.subtree_control")), "+io");
        assert_eq!(
            read(&scratch.join(scratch::GROUPS)),
            format!("{}\n", group.path().display())
        );
        // The files of a real group go with its folder.
        fs::remove_file(group.path().join("io.max")).expect("removing");
    }

    #[test]
    fn counters_of_both_versions_are_read() {
        let v1 = "7:3 Read 64\n7:3 Write 2\n7:3 Sync 66\n7:3 Total 66\n7:30 Read 9\nTotal 75\n";
        assert_eq!(serviced_v1(v1, (7, 3)), 66);
        let v2 = "7:30 rbytes=4096 wbytes=0 rios=9 wios=0 dbytes=0 dios=0\n\
                  7:3 rbytes=8192 wbytes=4096 rios=64 wios=2 dbytes=0 dios=1\n";
        assert_eq!(serviced_v2(v2, (7, 3)), 66);
    }
}
