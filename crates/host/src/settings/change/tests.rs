//! On made-up trees, where files stand for the kernel: what is written, in which
//! order, and what is left alone.

use super::super::{Now, Restored, Unreadable, present, restore_stale};
use super::*;
use diskfacts_record::{BlockDevice, DeviceKind, Stack};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

mod unseen;

/// A machine with one disk.
struct Machine {
    root: TempDir,
    roots: Roots,
    folder: StateFolder,
    stack: Stack,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let roots = Roots::under(root.path());
        let queue = root.path().join("sys/block/sda/queue");
        fs::create_dir_all(queue.join("iosched")).expect("a folder");
        fs::create_dir_all(root.path().join("sys/block/sda/mq/0")).expect("a folder");
        let write = |path: PathBuf, text: &str| fs::write(path, text).expect("a file");
        for (name, value) in [
            ("scheduler", "[none] bfq\n"),
            ("read_ahead_kb", "128\n"),
            ("max_sectors_kb", "512\n"),
            ("max_hw_sectors_kb", "1024\n"),
            ("nomerges", "0\n"),
        ] {
            write(queue.join(name), value);
        }
        let disk = root.path().join("sys/block/sda");
        write(disk.join("dev"), "8:0\n");
        write(disk.join("diskseq"), "7\n");
        let numbers = root.path().join("sys/dev/block");
        fs::create_dir_all(&numbers).expect("a folder");
        symlink(&disk, numbers.join("8:0")).expect("a link");
        fs::create_dir_all(&roots.dev).expect("a folder");
        write(roots.dev.join("sda"), "");
        let vm = roots.proc.join("sys/vm");
        fs::create_dir_all(&vm).expect("a folder");
        for (name, value) in [
            ("dirty_ratio", "20\n"),
            ("dirty_bytes", "0\n"),
            ("dirty_expire_centisecs", "3000\n"),
        ] {
            write(vm.join(name), value);
        }
        let random = roots.proc.join("sys/kernel/random");
        fs::create_dir_all(&random).expect("a folder");
        write(random.join("boot_id"), "this-boot\n");
        fs::create_dir_all(roots.proc.join("self")).expect("a folder");
        let stat = format!("{} (x) S{}", std::process::id(), " 1".repeat(30));
        write(roots.proc.join("self/stat"), &stat);
        let folder = StateFolder::at(root.path().join("state"));
        let sda = BlockDevice::unknown("sda", 8, 0, DeviceKind::Disk);
        Self {
            root,
            roots,
            folder,
            stack: Stack {
                devices: vec![sda],
                ..Stack::default()
            },
        }
    }

    /// What stands for the program that is started as the watchdog: it says that it
    /// is ready, and waits for its parent.
    fn watchdog(&self) -> PathBuf {
        let path = self.root.path().join("watchdog");
        fs::write(&path, "#!/bin/sh\nprintf r >&0\nread word\n").expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
        path
    }

    fn begin(&self, stages: &[&[(&str, &str)]]) -> Result<Option<Changes>, SettingsError> {
        let maps: Vec<BTreeMap<String, String>> = stages
            .iter()
            .map(|stage| {
                let pair = |(name, value): &(&str, &str)| ((*name).into(), (*value).into());
                stage.iter().map(pair).collect()
            })
            .collect();
        let wanted: Vec<Wanted<'_>> = maps
            .iter()
            .map(|settings| Wanted {
                stack: &self.stack,
                settings,
            })
            .collect();
        let making = Making {
            roots: &self.roots,
            folders: std::slice::from_ref(&self.folder),
            executable: &self.watchdog(),
            groups: Vec::new(),
            command: "diskfacts measure /dev/sda".to_owned(),
            now: "2026-11-21T20:00:00Z".to_owned(),
            steps: Steps::default(),
        };
        Changes::begin(making, &wanted)
    }

    /// Another disk under the same number and name, whose settings are as they are.
    fn replace_disk(&self) {
        let disk = self.root.path().join("sys/block/sda");
        fs::write(disk.join("diskseq"), "8\n").expect("a file");
        fs::rename(disk.join("queue"), disk.join("before")).expect("a folder");
        fs::create_dir(disk.join("queue")).expect("a folder");
        for entry in fs::read_dir(disk.join("before"))
            .expect("a folder")
            .flatten()
        {
            let to = disk.join("queue").join(entry.file_name());
            fs::rename(entry.path(), to).expect("a setting");
        }
    }

    fn queue(&self, name: &str) -> String {
        let path = self.root.path().join("sys/block/sda/queue").join(name);
        fs::read_to_string(path)
            .expect("a setting")
            .trim()
            .to_owned()
    }

    fn vm(&self, name: &str) -> String {
        let path = self.roots.proc.join("sys/vm").join(name);
        fs::read_to_string(path)
            .expect("a setting")
            .trim()
            .to_owned()
    }

    fn journals(&self) -> usize {
        fs::read_dir(self.folder.path()).map_or(0, Iterator::count)
    }
}

#[test]
fn stages_get_what_they_ask_for_and_all_else_as_it_was() {
    let machine = Machine::new();
    let stages: [&[(&str, &str)]; 2] = [
        &[
            ("read_ahead_kb", "16"),
            ("vm/dirty_expire_centisecs", "100"),
        ],
        &[("nomerges", "2")],
    ];
    let mut changes = machine.begin(&stages).expect("it begins").expect("changes");
    assert_eq!(machine.journals(), 1);
    // Tried, and put back.
    assert_eq!(machine.queue("read_ahead_kb"), "128");
    let in_force = changes.apply(0).expect("it applies");
    let seen: Vec<_> = in_force
        .iter()
        .map(|s| (s.device.as_deref(), s.name.as_str(), s.in_force.as_deref()))
        .collect();
    assert_eq!(
        seen,
        [
            (None, "vm/dirty_expire_centisecs", Some("100")),
            (Some("sda"), "read_ahead_kb", Some("16")),
        ]
    );
    assert_eq!(in_force[1].before.as_deref(), Some("128"));
    changes.apply(1).expect("it applies");
    assert_eq!(machine.queue("read_ahead_kb"), "128");
    assert_eq!(machine.queue("nomerges"), "2");
    assert_eq!(machine.vm("dirty_expire_centisecs"), "3000");
    // A stage that asks for nothing.
    assert_eq!(changes.apply(2).expect("it applies"), []);
    assert_eq!(machine.queue("nomerges"), "0");
    changes.apply(0).expect("it applies");
    let back = changes.finish().expect("it ends");
    assert!(back.is_complete() && back.gone.is_empty(), "{back:?}");
    assert_eq!(machine.queue("read_ahead_kb"), "128");
    assert_eq!(machine.vm("dirty_expire_centisecs"), "3000");
    assert_eq!(machine.journals(), 0);
}

#[test]
fn of_bytes_and_ratio_the_one_that_was_in_force_is_put_back() {
    let machine = Machine::new();
    let stages: [&[(&str, &str)]; 1] = [&[("vm/dirty_bytes", "8192")]];
    let mut changes = machine.begin(&stages).expect("it begins").expect("changes");
    changes.apply(0).expect("it applies");
    assert_eq!(machine.vm("dirty_bytes"), "8192");
    // As the kernel does it.
    let vm = machine.roots.proc.join("sys/vm");
    fs::write(vm.join("dirty_ratio"), "0\n").expect("a file");
    let back = changes.finish().expect("it ends");
    let written: Vec<_> = back.written.iter().map(|w| w.setting.name()).collect();
    // The kernel refuses 0 bytes, and zeroes them itself when the ratio is written.
    assert_eq!(written, ["vm/dirty_ratio"]);
    assert_eq!(machine.vm("dirty_ratio"), "20");
    assert_eq!(back.failed.len(), 1, "{:?}", back.failed);
    assert!(back.failed[0].contains("`vm/dirty_bytes` of this machine was 0"));
    // What is not as it was keeps its journal.
    assert_eq!(machine.journals(), 1);
}

#[test]
fn a_drop_puts_everything_back() {
    let machine = Machine::new();
    let stages: [&[(&str, &str)]; 1] = [&[("read_ahead_kb", "0"), ("max_sectors_kb", "64")]];
    let mut changes = machine.begin(&stages).expect("it begins").expect("changes");
    changes.apply(0).expect("it applies");
    assert_eq!(machine.queue("max_sectors_kb"), "64");
    drop(changes);
    assert_eq!(machine.queue("max_sectors_kb"), "512");
    assert_eq!(machine.queue("read_ahead_kb"), "128");
    assert_eq!(machine.journals(), 0);
}

#[test]
fn what_is_refused_leaves_no_journal_and_says_what_would_be_taken() {
    let machine = Machine::new();
    for (stage, said) in [
        (("scheduler", "cfq"), "it takes none, bfq"),
        (("max_sectors_kb", "2048"), "it takes 4 to 1024 KiB"),
        (("wbt_lat_usec", "1"), "has no setting `wbt_lat_usec`"),
        (("io_weight", "1"), "known are scheduler, max_sectors_kb"),
    ] {
        let error = machine.begin(&[&[stage]]).expect_err("it is refused");
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(machine.journals(), 0);
    }
    assert!(machine.begin(&[&[]]).expect("nothing is asked").is_none());
}

#[test]
fn a_watchdog_that_does_not_start_is_found_out_before_anything_is_changed() {
    let machine = Machine::new();
    let script = machine.watchdog();
    fs::write(&script, "#!/bin/sh\nexit 1\n").expect("a script");
    let settings = BTreeMap::from([("nomerges".to_owned(), "2".to_owned())]);
    let wanted = Wanted {
        stack: &machine.stack,
        settings: &settings,
    };
    let making = Making {
        roots: &machine.roots,
        folders: std::slice::from_ref(&machine.folder),
        executable: &script,
        groups: Vec::new(),
        command: String::new(),
        now: String::new(),
        steps: Steps::default(),
    };
    let error = Changes::begin(making, &[wanted]).expect_err("no watchdog");
    assert!(error.to_string().contains("nothing was changed"), "{error}");
    assert_eq!(
        (machine.queue("nomerges").as_str(), machine.journals()),
        ("0", 0)
    );
}

#[test]
fn a_device_that_became_another_one_is_not_written_any_more() {
    let machine = Machine::new();
    let stages: [&[(&str, &str)]; 2] = [&[("nomerges", "2")], &[]];
    let mut changes = machine.begin(&stages).expect("it begins").expect("changes");
    changes.apply(0).expect("it applies");
    machine.replace_disk();
    let error = changes.apply(1).expect_err("it is another one");
    assert!(
        error.to_string().contains("is another device now"),
        "{error}"
    );
    let back = changes.finish().expect("it ends");
    assert_eq!(back.gone.len(), 1, "{back:?}");
    assert_eq!(machine.queue("nomerges"), "2");
    assert_eq!(machine.journals(), 0);
}

#[test]
fn somebody_elses_change_in_a_trial_is_noted() {
    let machine = Machine::new();
    let stages: [&[(&str, &str)]; 1] = [&[("nomerges", "2")]];
    let mut changes = machine.begin(&stages).expect("it begins").expect("changes");
    let mut in_force = changes.apply(0).expect("it applies");
    changes.look_again(0, &mut in_force);
    assert_eq!(in_force[0].note, None);
    let queue = machine.root.path().join("sys/block/sda/queue");
    fs::write(queue.join("nomerges"), "1\n").expect("a file");
    changes.look_again(0, &mut in_force);
    let note = in_force[0].note.as_deref().expect("a note");
    assert!(note.contains("it was 1 when the trial ended"), "{note}");
}

/// A journal of a dead process, that one setting of the disk and one of the machine
/// were changed by.
fn left_behind(machine: &Machine, boot_id: &str) -> PathBuf {
    let setting = |name: &str| Setting::parse(name).expect("a setting");
    let path = machine.root.path().join("sys/block/sda");
    let dir = DeviceDir::open(&path).expect("a device").expect("a device");
    let old = |device, name, value: &str| Old {
        device,
        setting: setting(name),
        value: value.to_owned(),
    };
    let journal = Journal {
        boot_id: boot_id.to_owned(),
        process: 4_194_305,
        start_ticks: 1,
        began: "2026-11-21T20:00:00Z".to_owned(),
        command: "diskfacts tune /dev/sda".to_owned(),
        devices: vec![Identity::of(&machine.roots, &dir).expect("a device")],
        set: Vec::new(),
        old: vec![
            old(Some(0), "nomerges", "1"),
            old(None, "vm/dirty_ratio", "30"),
        ],
    };
    fs::create_dir_all(machine.folder.path()).expect("a folder");
    let path = machine.folder.path().join("settings-4194305-1.journal");
    fs::write(&path, journal.encode()).expect("a journal");
    path
}

#[test]
fn a_stale_journal_is_shown_without_a_write_and_put_back_once() {
    let machine = Machine::new();
    let path = left_behind(&machine, "this-boot");
    let text = fs::read(&path).expect("the journal");
    let journal = Journal::parse(&text).expect("a journal");
    let shown = present(&machine.roots, &journal);
    let shown = shown.values.iter();
    let shown: Vec<_> = shown
        .map(|p| (p.setting.name(), p.old.as_str(), &p.now))
        .collect();
    let value = |value: &str| Now::Value(value.to_owned());
    assert_eq!(
        shown,
        [
            ("vm/dirty_ratio", "30", &value("20")),
            ("nomerges", "1", &value("0"))
        ]
    );
    assert_eq!(machine.queue("nomerges"), "0");
    let restore =
        || restore_stale(&machine.roots, &machine.folder, &mut Steps::default()).expect("a folder");
    let restored = restore();
    let [Restored::PutBack { back, .. }] = &restored[..] else {
        panic!("{restored:?}");
    };
    assert_eq!((back.written.len(), back.failed.len()), (2, 0));
    assert_eq!(
        (&*machine.queue("nomerges"), &*machine.vm("dirty_ratio")),
        ("1", "30")
    );
    assert!(restore().is_empty() && machine.journals() == 0);
}

#[test]
fn after_a_restart_of_the_machine_nothing_is_written() {
    let machine = Machine::new();
    left_behind(&machine, "another-boot");
    let restored = restore_stale(&machine.roots, &machine.folder, &mut Steps::default());
    let restored = restored.expect("a folder");
    let [Restored::Needless { why, .. }] = &restored[..] else {
        panic!("{restored:?}");
    };
    assert!(why.contains("started anew"), "{why}");
    assert_eq!((&*machine.queue("nomerges"), machine.journals()), ("0", 0));
}

#[test]
fn a_journal_whose_lock_somebody_holds_is_left_alone() {
    let machine = Machine::new();
    // As where a container forbids the device: its queue is locked all the same.
    fs::remove_file(machine.roots.dev.join("sda")).expect("its node");
    let stages: [&[(&str, &str)]; 1] = [&[("nomerges", "2")]];
    let mut changes = machine.begin(&stages).expect("it begins").expect("changes");
    changes.apply(0).expect("it applies");
    // It lives in the tree, too.
    let own = machine.roots.proc.join(std::process::id().to_string());
    fs::create_dir_all(&own).expect("a folder");
    fs::copy(machine.roots.proc.join("self/stat"), own.join("stat")).expect("a file");
    let restored = restore_stale(&machine.roots, &machine.folder, &mut Steps::default());
    let restored = restored.expect("a folder");
    assert!(
        matches!(&restored[..], [Restored::Live { .. }]),
        "{restored:?}"
    );
    assert_eq!(machine.queue("nomerges"), "2");
    // And the second run is told who it is.
    let error = machine.begin(&stages).expect_err("somebody has it");
    let said = error.to_string();
    let process = format!(
        "process {} (diskfacts measure /dev/sda)",
        std::process::id()
    );
    assert!(said.contains(&process), "{said}");
}

#[test]
fn a_journal_that_is_no_text_is_kept() {
    let machine = Machine::new();
    let path = left_behind(&machine, "this-boot");
    let mut bytes = fs::read(&path).expect("the journal");
    bytes[3] = 0xff;
    assert!(matches!(
        Journal::parse(&bytes),
        Err(Unreadable::Damaged(_))
    ));
    fs::write(&path, bytes).expect("a journal");
    let restored = restore_stale(&machine.roots, &machine.folder, &mut Steps::default());
    let restored = restored.expect("a folder");
    assert!(
        matches!(&restored[..], [Restored::Kept { .. }]),
        "{restored:?}"
    );
    assert!(path.exists());
}

/// The word that a parent says to its watchdog last.
fn last_word(machine: &Machine, end: impl FnOnce(Changes)) -> String {
    let word = machine.root.path().join("word");
    let script = format!(
        "#!/bin/sh\nprintf r >&0\nhead -c 1 >{}\nexit 1\n",
        word.display()
    );
    let settings = BTreeMap::from([("nomerges".to_owned(), "2".to_owned())]);
    let wanted = Wanted {
        stack: &machine.stack,
        settings: &settings,
    };
    let executable = machine.watchdog();
    fs::write(&executable, script).expect("a script");
    let making = Making {
        roots: &machine.roots,
        folders: std::slice::from_ref(&machine.folder),
        executable: &executable,
        groups: Vec::new(),
        command: String::new(),
        now: String::new(),
        steps: Steps::default(),
    };
    let changes = Changes::begin(making, &[wanted]);
    let mut changes = changes.expect("it begins").expect("changes");
    changes.apply(0).expect("it applies");
    end(changes);
    fs::read_to_string(word).expect("what was said")
}

#[test]
fn a_parent_that_lives_says_a_word_before_it_waits_for_its_watchdog() {
    let hide = |machine: &Machine| {
        let numbers = machine.root.path().join("sys/dev");
        fs::rename(&numbers, numbers.with_file_name("hidden")).expect("a folder");
    };
    let machine = Machine::new();
    let word = last_word(&machine, |changes| {
        drop(changes.finish().expect("it ends"));
    });
    assert_eq!(word, "d");

    let machine = Machine::new();
    let word = last_word(&machine, |changes| {
        hide(&machine);
        let back = changes.finish().expect("it ends");
        assert_eq!(back.failed.len(), 1, "{back:?}");
    });
    assert_eq!((&*word, machine.journals()), ("a", 1));

    // The journal cannot be removed: its folder has another name.
    let machine = Machine::new();
    let word = last_word(&machine, |changes| {
        let path = machine.folder.path();
        let name = fs::read_dir(path).expect("the folder").flatten().next();
        let journal = name.expect("a journal").path();
        fs::remove_file(&journal).expect("the journal");
        fs::create_dir(&journal).expect("a folder in its place");
        changes.finish().expect_err("it cannot be removed");
    });
    assert_eq!(word, "a");
}
