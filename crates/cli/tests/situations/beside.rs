//! What is beside a measurement: programs, and control groups that are not of storage.

use crate::case::MIB;
use diskfacts_testkit::{LoopDevice, LoopOptions, Missing};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A loop device of random data that passes the page cache of its file.
pub(crate) fn filled(size: u64) -> Result<LoopDevice, Missing> {
    let device = empty(size)?;
    crate::case::write_data(device.backing_file(), size);
    Ok(device)
}

/// The same without data.
pub(crate) fn empty(size: u64) -> Result<LoopDevice, Missing> {
    let options = LoopOptions {
        direct_io: true,
        ..LoopOptions::default()
    };
    LoopDevice::with(size.max(MIB), options)
}

/// A counter of `/sys/block/*/stat` (`Documentation/block/stat.rst`).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counter {
    Reads = 0,
    ReadSectors = 2,
    Writes = 4,
    Discards = 11,
    Flushes = 15,
}

/// What a device counted so far.
pub(crate) fn counted(device: &LoopDevice, counter: Counter) -> u64 {
    let path = format!("/sys/block/{}/stat", device.name());
    let text = fs::read_to_string(&path).expect(&path);
    let mut fields = text.split_whitespace();
    let field = fields.nth(counter as usize).expect("a field");
    field.parse().expect("a number")
}

/// Shells that do the same over and over, until this is dropped. What they print meanwhile is
/// little: a pipe holds it.
pub(crate) struct Shells(Vec<Child>);

impl Shells {
    pub(crate) fn running(many: usize, script: &str) -> Self {
        let one = |_| {
            let mut shell = Command::new("sh");
            let shell = shell.args(["-c", &format!("while :; do {script}; done")]);
            let quiet = shell.stdout(Stdio::piped()).stderr(Stdio::null());
            quiet.process_group(0).spawn().expect("sh")
        };
        Self((0..many).map(one).collect())
    }
}

impl Drop for Shells {
    fn drop(&mut self) {
        for shell in &mut self.0 {
            // What a shell waits for would go on without it, into the control; and it may have
            // ended by itself, and then there is nothing to end.
            let _ended = kill_process_group(Pid::from_child(shell), Signal::KILL);
            let _status = shell.wait();
            // The pipe ends with the last of those that hold it.
            if let Some(mut held) = shell.stdout.take() {
                let mut printed = Vec::new();
                let _bytes = held.read_to_end(&mut printed);
            }
        }
    }
}

/// A control group of version 1, gone with this value.
pub(crate) struct Group(PathBuf);

impl Group {
    /// Under this controller, with these settings.
    pub(crate) fn new(
        controller: &str,
        name: &str,
        settings: &[(&str, &str)],
    ) -> Result<Self, Missing> {
        let name = format!("diskfacts-test-{}-{name}", std::process::id());
        let path = Path::new("/sys/fs/cgroup").join(controller).join(name);
        let missing = |what: &Path, error| Missing::new(what.display(), error);
        fs::create_dir(&path).map_err(|error| missing(&path, error))?;
        let group = Self(path);
        for (file, value) in settings {
            let file = group.0.join(file);
            fs::write(&file, value).map_err(|error| missing(&file, error))?;
        }
        Ok(group)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A number of one of its files, or of the line of it that begins with this word.
    pub(crate) fn number(&self, file: &str, word: &str) -> u64 {
        let text = fs::read_to_string(self.0.join(file)).expect(file);
        let line = text.lines().find_map(|line| line.strip_prefix(word));
        line.expect(word).trim().parse().expect("a number")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.0) {
            eprintln!("{} is left: {error}", self.0.display());
        }
    }
}

/// A limit on the dirty pages of the machine; what there was before is set again when this
/// is dropped.
pub(crate) struct DirtyLimit {
    /// Files and what they held.
    before: Vec<(PathBuf, String)>,
}

impl DirtyLimit {
    /// So many bytes, and half of them from which on they are written back.
    pub(crate) fn new(bytes: u64) -> Result<Self, Missing> {
        let mut limit = Self { before: Vec::new() };
        for (name, bytes) in [("dirty_background", bytes / 2), ("dirty", bytes)] {
            let missing = |what: &Path, error| Missing::new(what.display(), error);
            let read = |path: &Path| fs::read_to_string(path).map_err(|e| missing(path, e));
            let in_bytes = Path::new("/proc/sys/vm").join(format!("{name}_bytes"));
            // Setting the one takes the other away (`dirty_bytes_handler` in
            // mm/page-writeback.c), so that which holds now is what is put back.
            let in_percent = Path::new("/proc/sys/vm").join(format!("{name}_ratio"));
            let holds = if read(&in_bytes)?.trim() == "0" {
                &in_percent
            } else {
                &in_bytes
            };
            let value = read(holds)?;
            fs::write(&in_bytes, bytes.to_string()).map_err(|error| missing(&in_bytes, error))?;
            limit.before.push((holds.clone(), value));
        }
        Ok(limit)
    }

    /// Bytes that the kernel lets be dirty, as it works them out.
    pub(crate) fn in_force() -> u64 {
        let counters = fs::read_to_string("/proc/vmstat").expect("/proc/vmstat");
        let mut lines = counters.lines();
        let pages = lines.find_map(|line| line.strip_prefix("nr_dirty_threshold "));
        4096 * pages.expect("a line").parse::<u64>().expect("a number")
    }
}

impl Drop for DirtyLimit {
    fn drop(&mut self) {
        // The background one cannot be above the other.
        for (path, value) in self.before.iter().rev() {
            if let Err(error) = fs::write(path, value.trim()) {
                eprintln!("{} is not {}: {error}", path.display(), value.trim());
            }
        }
    }
}
