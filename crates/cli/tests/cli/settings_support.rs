//! A loop device of a test's own, and the settings of its queue.

use crate::support::{Case, MIB};
use diskfacts_testkit::{LoopDevice, LoopOptions, Missing, Program, Running};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Settings by name, as the kernel shows them.
pub(crate) type Settings = BTreeMap<String, String>;

/// A device whose settings may be changed, and a case with journals of its own.
pub(crate) struct Bench {
    pub(crate) case: Case,
    pub(crate) device: LoopDevice,
}

impl Bench {
    pub(crate) fn new() -> Result<Self, Missing> {
        Self::with(MIB, LoopOptions::default())
    }

    pub(crate) fn with(bytes: u64, options: LoopOptions) -> Result<Self, Missing> {
        let device = LoopDevice::with(bytes, options)?;
        let case = Case::new();
        let bench = Self { case, device };
        bench.as_new();
        Ok(bench)
    }

    /// The kernel keeps the queue of a loop device, with its settings, for the next
    /// file that is put behind it.
    fn as_new(&self) {
        for (setting, value) in [
            ("scheduler", "none"),
            ("nr_requests", "128"),
            ("max_sectors_kb", "1280"),
            ("wbt_lat_usec", "2000"),
            ("nomerges", "0"),
        ] {
            let file = self.file(setting);
            fs::write(&file, value).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        }
    }

    /// Where the journals of its runs are.
    pub(crate) fn state(&self) -> PathBuf {
        self.case.path("state")
    }

    /// Names of the journals that are there.
    pub(crate) fn journals(&self) -> Vec<String> {
        let entries = fs::read_dir(self.state()).into_iter().flatten();
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names.map(|n| n.to_string_lossy().into_owned()).collect()
    }

    /// `diskfacts` with these arguments, and with the journals of this bench.
    pub(crate) fn diskfacts(&self, arguments: &[&str]) -> Program {
        let program = self.case.diskfacts(arguments);
        program.env("DISKFACTS_STATE", self.state())
    }

    /// A measurement of the device by a plan that is written now.
    pub(crate) fn measure(&self, plan: &str) -> Program {
        let plan = self.case.text_file("plan.toml", plan);
        self.diskfacts(&["measure", "--seed", "1", "--plan"])
            .arg(plan)
            .arg(self.device.path())
    }

    /// The file of a setting.
    pub(crate) fn file(&self, setting: &str) -> PathBuf {
        let queue = Path::new("/sys/block").join(self.device.name());
        queue.join("queue").join(setting)
    }

    pub(crate) fn read(&self, setting: &str) -> String {
        read(&self.file(setting))
    }

    /// The settings that could be changed, and those of the scheduler in use.
    pub(crate) fn settings(&self) -> Settings {
        settings_of(self.device.name())
    }

    /// Waits until nobody has the right to change the settings any more: the watchdog
    /// has it until all is put back.
    pub(crate) fn wait_for_watchdog(&self) {
        let node = File::open(self.device.path()).expect("the device");
        node.lock().expect("the lock of the device");
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // What a failed test left is not for the next one.
        if !std::thread::panicking() {
            return;
        }
        for (setting, value) in [("scheduler", "none"), ("nomerges", "0")] {
            let _ = fs::write(self.file(setting), value);
        }
    }
}

pub(crate) fn read(file: &Path) -> String {
    let text = fs::read_to_string(file);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.trim().to_owned()
}

pub(crate) fn settings_of(name: &str) -> Settings {
    let queue = Path::new("/sys/block").join(name).join("queue");
    let own = [
        "scheduler",
        "max_sectors_kb",
        "rotational",
        "write_cache",
        "nr_requests",
        "wbt_lat_usec",
        "rq_affinity",
        "nomerges",
        "read_ahead_kb",
    ];
    let mut settings: Settings = own
        .iter()
        .map(|name| ((*name).to_owned(), read(&queue.join(name))))
        .collect();
    let tunables = fs::read_dir(queue.join("iosched")).into_iter().flatten();
    for tunable in tunables {
        let tunable = tunable.expect("an entry");
        let name = format!("iosched/{}", tunable.file_name().to_string_lossy());
        settings.insert(name, read(&tunable.path()));
    }
    settings
}

/// The watchdog of a run: the child that it has.
pub(crate) fn watchdog_of(running: &Running) -> u32 {
    let children = format!("/proc/{0}/task/{0}/children", running.id());
    let children = read(Path::new(&children));
    let mut children = children.split_whitespace();
    let child = children.next().expect("a watchdog");
    assert_eq!(children.next(), None, "one child");
    child.parse().expect("a number")
}
