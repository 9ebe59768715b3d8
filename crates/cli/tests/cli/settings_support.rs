//! A loop device of a test's own, and the settings of its queue.

use crate::support::{Case, MIB, run_tool};
use diskfacts_testkit::{
    Finished, LoopDevice, LoopOptions, Missing, Program, Running, Scratch, require_tool,
};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Settings by name, as the kernel shows them.
pub(crate) type Settings = BTreeMap<String, String>;

/// Two cells, with all that takes something else along: a scheduler with its
/// tunables, request sizes, read-ahead.
pub(crate) fn matrix() -> String {
    let cells = "cell = [\n\
        { name = \"one\", scheduler = \"mq-deadline\", nr_requests = 16, \"iosched/fifo_batch\" = 4 },\n\
        { name = \"two\", nomerges = 2, max_sectors_kb = 64, read_ahead_kb = 16 },\n]\n";
    MATRIX.replace("[stage.vary]\n", &format!("[stage.vary]\n{cells}"))
}

const MATRIX: &str = "\
name = \"matrix\"
trials = 1

[[stage]]
name = \"cell\"
operation = \"read\"
operations = 1

[stage.vary]
";

/// A device whose settings may be changed, and a case with journals of its own.
pub(crate) struct Bench {
    pub(crate) case: Case,
    pub(crate) device: LoopDevice,
    /// Where root takes journals from: not in the folder of the build, which may be
    /// another user's.
    _scratch: Scratch,
    state: PathBuf,
}

/// What the file behind can be changed of.
pub(crate) const READ_ONLY: LoopOptions = LoopOptions {
    sector_size: None,
    read_only: true,
    direct_io: false,
    partitions: false,
};

/// How often other tests may take the device of a bench while it has no file.
pub(crate) const TRIES: u32 = 5;

/// What the kernel chooses itself when a file is attached.
pub(crate) const CHOSEN: [&str; 2] = ["read_ahead_kb", "rotational"];

impl Bench {
    pub(crate) fn new() -> Result<Self, Missing> {
        Self::with(MIB, LoopOptions::default())
    }

    pub(crate) fn with(bytes: u64, options: LoopOptions) -> Result<Self, Missing> {
        let device = LoopDevice::with(bytes, options)?;
        let scratch = Scratch::new().expect("a folder");
        let bench = Self {
            case: Case::new(),
            device,
            state: scratch.join("state"),
            _scratch: scratch,
        };
        bench.as_new();
        Ok(bench)
    }

    /// The same with its journals elsewhere.
    pub(crate) fn with_state(mut self, state: PathBuf) -> Self {
        self.state = state;
        self
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
            // While somebody looks at the queue the kernel may be busy.
            let busy = |written: &Result<(), std::io::Error>| {
                let refused = written.as_ref().err().map(std::io::Error::kind);
                refused == Some(std::io::ErrorKind::ResourceBusy)
            };
            let mut tries = (0..10_000).map(|_| fs::write(&file, value));
            let written = tries.find(|written| !busy(written)).expect("an idle queue");
            written.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        }
    }

    /// Where the journals of its runs are.
    pub(crate) fn state(&self) -> PathBuf {
        self.state.clone()
    }

    /// Names of the journals that are there.
    pub(crate) fn journals(&self) -> Vec<String> {
        let entries = fs::read_dir(self.state()).into_iter().flatten();
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names.map(|n| n.to_string_lossy().into_owned()).collect()
    }

    /// The one journal that is there: its name, and its path.
    #[track_caller]
    pub(crate) fn journal(&self) -> (String, PathBuf) {
        let journals = self.journals();
        let [name] = &journals[..] else {
            panic!("one journal, and not {journals:?}");
        };
        (name.clone(), self.state().join(name))
    }

    /// `diskfacts` with these arguments, and with the journals of this bench.
    pub(crate) fn diskfacts(&self, arguments: &[&str]) -> Program {
        let program = self.case.diskfacts(arguments);
        program.env("DISKFACTS_STATE", self.state())
    }

    /// The same by a shell, which does this first.
    pub(crate) fn diskfacts_after(&self, script: &str, arguments: &[&str]) -> Program {
        self.in_shell(Program::new("/bin/sh"), script, arguments)
    }

    /// The same by a shell in a mount namespace of its own.
    pub(crate) fn diskfacts_apart(
        &self,
        script: &str,
        arguments: &[&str],
    ) -> Result<Program, Missing> {
        let unshare = Program::new(require_tool("unshare", "util-linux")?);
        let unshare = unshare.args(["--mount", "--propagation", "private", "/bin/sh"]);
        Ok(self.in_shell(unshare, script, arguments))
    }

    fn in_shell(&self, shell: Program, script: &str, arguments: &[&str]) -> Program {
        shell
            .args(["-c", &format!("{script} && exec \"$@\""), "sh"])
            .arg(env!("CARGO_BIN_EXE_diskfacts"))
            .args(arguments)
            .env("DISKFACTS_STATE", self.state())
    }

    /// Detaches the file, does what comes between, and attaches it again; whether nobody
    /// else had the device meanwhile.
    pub(crate) fn attach_again(&self, between: impl Fn(&str) -> bool) -> bool {
        let path = self.device.path().to_string_lossy().into_owned();
        let file = self.device.backing_file().to_string_lossy().into_owned();
        run_tool("losetup", "mount", &["--detach", &path]).expect("it is detached");
        let attach = || Command::new("losetup").args([&path, &file]).output();
        between(&path) && attach().expect("losetup").status.success()
    }

    /// Leaves a journal and changed settings behind.
    pub(crate) fn leave_changed(&self, before: &Settings) {
        for step in 12.. {
            let finished = self.ended_at("kill-both", step);
            assert_eq!(finished.code(), None, "step {step}: {finished}");
            self.wait_for_watchdog();
            if self.settings()["scheduler"] != before["scheduler"] {
                return;
            }
            self.diskfacts(&["restore"]).run().expect_code(0);
        }
    }

    /// A run of the [`matrix`] that is ended at its step of this number.
    pub(crate) fn ended_at(&self, how: &str, step: u64) -> Finished {
        let program = self.measure(&matrix());
        program
            .env("DISKFACTS_TEST_END_AT", format!("{how}:{step}"))
            .run()
    }

    /// Names of the settings that are not as they were.
    pub(crate) fn changed(&self, before: &Settings) -> Vec<String> {
        let now = self.settings();
        let old = before
            .iter()
            .filter(|(name, old)| now.get(*name) != Some(old));
        old.map(|(name, _)| name.clone()).collect()
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
        let (major, minor) = self.device.device_number();
        let of_sysfs = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
        let journals = self.journals();
        let journals = journals.iter().map(|name| self.state().join(name));
        // The kernel closes the files of a process that was killed one after the other.
        for path in [self.device.path().to_owned(), of_sysfs]
            .into_iter()
            .chain(journals)
        {
            // Its journal may be gone by now.
            if let Ok(file) = File::open(path) {
                file.lock().expect("the lock");
            }
        }
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
