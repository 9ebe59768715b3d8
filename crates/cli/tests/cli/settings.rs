//! Settings of the kernel around the trials of a stage: in force in them, read back,
//! and put back, however the run ends.

use crate::settings_support::{Bench, read, watchdog_of};
use crate::support::{Case, MIB, copy_program, trials};
use diskfacts_testkit::{Program, Tmpfs, or_skip};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;

const HEAD: &str = "name = \"test\"\ntrials = 1\n\n";

/// A stage of one operation, or a long one, with a table of settings.
fn stage(name: &str, stop: &str, kernel: &str) -> String {
    format!(
        "[[stage]]\nname = \"{name}\"\noperation = \"read\"\n{stop}\n\n[stage.kernel]\n{kernel}\n\n"
    )
}

/// The same settings in a short stage, whose end is told, and in a long one that comes
/// then, with the seed of [`Bench::measure`].
fn long(kernel: &str) -> String {
    [
        HEAD,
        &stage("short", ONE, kernel),
        &stage("long", LONG, kernel),
    ]
    .concat()
}

const ONE: &str = "operations = 1";
const LONG: &str = "time = \"10min\"";

fn setting<'a>(trial: &'a Value, name: &str) -> &'a Value {
    let settings = trial["evidence"]["settings"].as_array().expect("settings");
    let found = settings.iter().find(|setting| setting["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {trial}"))
}

#[test]
fn what_a_stage_asks_for_is_in_force_in_its_trials_and_is_put_back() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    let plan = [
        HEAD,
        &stage(
            "changed",
            ONE,
            "scheduler = \"bfq\"\n\"iosched/slice_idle\" = 0\nread_ahead_kb = 17\nmax_sectors_kb = 64",
        ),
        &stage("as it was", ONE, ""),
    ];
    let finished = bench.measure(&plan.concat()).arg("--explain").run();
    finished
        .expect_code(0)
        .expect_stdout("the kernel reads ahead whole pages: 17 became 16");
    assert_eq!(bench.settings(), before);
    assert_eq!(bench.journals(), [""; 0]);

    let document = bench.case.last();
    let of = |stage: &str| {
        let mut trials = trials(&document).iter();
        trials.find(|trial| trial["stage"] == stage).expect("it")
    };
    let name = bench.device.name();
    let changed = of("changed");
    assert_eq!(
        *setting(changed, "scheduler"),
        json!({"device": name, "name": "scheduler", "asked": "bfq", "before": "none",
               "in_force": "bfq", "note": null})
    );
    let idle = setting(changed, "iosched/slice_idle");
    assert_eq!(
        (&idle["before"], &idle["in_force"]),
        (&json!(null), &json!("0"))
    );
    assert_eq!(setting(changed, "read_ahead_kb")["in_force"], "16");
    assert_eq!(setting(changed, "max_sectors_kb")["in_force"], "64");
    assert_eq!(of("as it was")["evidence"]["settings"], json!([]));
    // The stack is as it was before the run.
    let device = &document["stack"]["devices"][0];
    assert_eq!(device["name"], name);
    assert_eq!(device["scheduler"], "none");
    let kib: u64 = before["max_sectors_kb"].parse().expect("a number");
    assert_eq!(device["max_request_bytes"], kib * 1024);
}

#[test]
fn a_stage_does_not_inherit_what_another_one_set_under_the_same_scheduler() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    let narrow = "scheduler = \"mq-deadline\"\nnr_requests = 16\nwbt_lat_usec = 0\n\
                  read_ahead_kb = 8";
    let plain = "scheduler = \"mq-deadline\"\nmax_sectors_kb = 64\nrotational = 0";
    let stages = [
        HEAD,
        &stage("narrow", ONE, narrow),
        &stage("plain", ONE, plain),
        &stage("long", LONG, plain),
    ];
    let running = bench.measure(&stages.concat()).start();
    running.wait_for_stderr("stage 1 of 3: narrow");
    running.wait_for_stderr("stage 2 of 3: plain");
    let within = bench.settings();
    running.interrupt();
    running.finish().expect_code(130);
    assert_eq!(within["scheduler"], "none [mq-deadline] kyber bfq");
    // What the kernel gives to a scheduler: twice the tags of the driver.
    assert_eq!(
        (&*within["nr_requests"], &*within["iosched/async_depth"]),
        ("256", "256")
    );
    assert_eq!(within["wbt_lat_usec"], "2000");
    // A smaller request would have brought a shorter read-ahead with it.
    assert_eq!(
        (&*within["max_sectors_kb"], &*within["rotational"]),
        ("64", "0")
    );
    assert_eq!(within["read_ahead_kb"], before["read_ahead_kb"]);
}

#[test]
fn what_the_kernel_refuses_is_refused_before_anything_is_measured() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    let name = bench.device.name().to_owned();
    for (kernel, said) in [
        (
            "scheduler = \"cfq\"",
            vec![
                "`scheduler = cfq` cannot be set on",
                &name,
                "none, mq-deadline, kyber, bfq",
            ],
        ),
        (
            "max_sectors_kb = 4096",
            vec!["it takes 4 to 1280 KiB (max_hw_sectors_kb)"],
        ),
        (
            "nr_requests = 512",
            vec![
                "writing 512 to `nr_requests`",
                "Invalid argument",
                "takes 4 to 128",
            ],
        ),
        (
            "\"iosched/slice_idle\" = 0",
            vec!["its scheduler none has none at all; set `scheduler` beside it"],
        ),
        (
            "scheduler = \"mq-deadline\"\n\"iosched/slice_idle\" = 0",
            vec!["its scheduler mq-deadline has iosched/async_depth, iosched/fifo_batch"],
        ),
        (
            "scheduler = \"mq-deadline\"\n\"iosched/fifo_batch\" = \"much\"",
            vec![
                "`iosched/fifo_batch = much` cannot be set",
                "a whole number",
            ],
        ),
    ] {
        let program = bench.measure(&[HEAD, &stage("cell", LONG, kernel)].concat());
        // Made, and left empty.
        fs::create_dir_all(bench.state()).expect("a folder");
        bench.case.refuses(&program, &said);
        assert_eq!(bench.settings(), before, "{kernel}");
        assert_eq!(bench.journals(), [""; 0]);
    }
}

#[test]
fn a_target_without_a_scheduler_says_what_lies_under_it() {
    let folder = or_skip!(Tmpfs::new(16 * MIB));
    let case = Case::new();
    let plan = [HEAD, &stage("cell", ONE, "scheduler = \"none\"")].concat();
    let plan = case.text_file("plan.toml", &plan);
    let program = case.diskfacts(["measure", "--size", "4MiB", "--plan"]);
    let program = program.arg(&plan).arg(folder.path());
    case.refuses(
        &program,
        &["`scheduler` cannot be set on this target: no block device is known under it"],
    );
}

/// The same without root, where the kernel lets nobody else write.
#[test]
fn without_root_the_refusal_says_what_to_type() {
    let bench = or_skip!(Bench::new());
    let setpriv = or_skip!(diskfacts_testkit::require_tool("setpriv", "util-linux"));
    let plan = [HEAD, &stage("cell", ONE, "read_ahead_kb = 16")].concat();
    let home = tempfile_for_all();
    let program = home.path().join("diskfacts");
    copy_program(&program);
    fs::write(home.path().join("plan.toml"), plan).expect("a plan");
    fs::set_permissions(
        bench.device.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o666),
    )
    .expect("a device that all may open");
    let finished = Program::new(setpriv)
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(["measure", "--store", "runs.db", "--plan", "plan.toml"])
        .arg(bench.device.path())
        .env("DISKFACTS_STATE", home.path().join("state"))
        .current_dir(home.path())
        .run();
    fs::set_permissions(
        bench.device.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o660),
    )
    .expect("as it was");
    finished
        .expect_code(2)
        .expect_stderr("changing `read_ahead_kb`")
        .expect_stderr("Permission denied")
        .expect_stderr("type the same with sudo");
    assert!(!home.path().join("runs.db").exists());
}

fn tempfile_for_all() -> diskfacts_testkit::Scratch {
    let home = diskfacts_testkit::Scratch::new().expect("a folder");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(home.path(), mode).expect("a folder for all");
    home
}

#[test]
fn without_a_journal_on_the_disk_nothing_is_changed() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    let plan = [HEAD, &stage("cell", LONG, "read_ahead_kb = 16")].concat();
    let full = or_skip!(Tmpfs::new(4096));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(full.path(), mode).expect("a folder of root alone");
    fs::write(full.path().join("filler"), [0; 4096]).expect("all of it");
    let file = bench.case.text_file("file", "");
    for (folder, said) in [
        (full.path().join("state"), "No space left on device"),
        (full.path().to_owned(), "No space left on device"),
        (file.join("state"), "Not a directory"),
    ] {
        let program = bench.measure(&plan).env("DISKFACTS_STATE", &folder);
        let finished = program.run();
        finished
            .expect_code(1)
            .expect_stderr(said)
            .expect_stderr("no setting is changed without its old value on the disk");
        assert_eq!(bench.settings(), before);
        assert!(!bench.case.store().exists());
        let left = fs::read_dir(&folder).into_iter().flatten().flatten();
        let ours = |name: &str| name.starts_with("settings-");
        assert!(
            !left
                .map(|e| e.file_name())
                .any(|name| ours(&name.to_string_lossy()))
        );
    }
}

#[test]
fn ctrl_c_and_sigterm_in_a_trial_put_back_what_it_ran_under() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    // Smaller requests would bring another read-ahead with them.
    let kernel = "scheduler = \"kyber\"\nmax_sectors_kb = 64\nnomerges = 2";
    let plan = long(kernel);
    for (terminate, code) in [(false, 130), (true, 143)] {
        let running = bench.measure(&plan).start();
        running.wait_for_stderr("stage 1 of 2: short");
        assert_eq!(bench.read("scheduler"), "none mq-deadline [kyber] bfq");
        assert_eq!(
            (&*bench.read("max_sectors_kb"), &*bench.read("nomerges")),
            ("64", "2")
        );
        assert_eq!(bench.read("read_ahead_kb"), before["read_ahead_kb"]);
        if terminate {
            running.terminate();
        } else {
            running.interrupt();
        }
        running.finish().expect_code(code);
        assert_eq!(bench.settings(), before);
        assert_eq!(bench.journals(), [""; 0]);
    }
}

#[test]
fn the_watchdog_holds_nothing_of_its_parent_and_hears_no_signal() {
    let bench = or_skip!(Bench::new());
    let running = bench.measure(&long("nomerges = 2")).start();
    running.wait_for_stderr("stage 1 of 2: short");
    let watchdog = watchdog_of(&running);
    let proc = Path::new("/proc").join(watchdog.to_string());
    let link = |name: &str| fs::read_link(proc.join(name)).expect("a link");
    assert_eq!(link("cwd"), Path::new("/"));
    assert_eq!(link("fd/1"), Path::new("/dev/null"));
    assert_eq!(link("fd/2"), Path::new("/dev/null"));
    // The socket twice, two empty streams, the journal and its folder twice, the device and
    // its queue.
    assert_eq!(
        fs::read_dir(proc.join("fd")).expect("its files").count(),
        10
    );
    let stat = read(&proc.join("stat"));
    let (_, fields) = stat.rsplit_once(") ").expect("a name");
    let session = fields.split_whitespace().nth(3).expect("a session");
    assert_eq!(session, watchdog.to_string());
    let status = read(&proc.join("status"));
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.expect("its signals").trim(), 16).expect("a mask");
    // SIGHUP, SIGINT and SIGTERM.
    for signal in [1, 2, 15] {
        assert_ne!(ignored & (1 << (signal - 1)), 0, "{signal}");
    }
    running.interrupt();
    running.finish().expect_code(130);
    assert!(!proc.exists());
}

#[test]
fn two_runs_that_would_change_one_device_exclude_each_other_and_say_who_it_is() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    let changing = long("nomerges = 2");
    let running = bench.measure(&changing).start();
    running.wait_for_stderr("stage 1 of 2: short");
    let pid = format!("process {} (diskfacts --store", running.id());
    let journals = bench.journals();
    bench
        .diskfacts(&["restore", "--forget"])
        .run()
        .expect_code(0)
        .expect_stdout("is changing settings, and puts them back itself: left alone");
    assert_eq!(bench.journals(), journals);

    let other = Case::new();
    let as_other = |plan: &str| {
        let plan = other.text_file("plan.toml", plan);
        other
            .diskfacts(["measure", "--plan"])
            .arg(plan)
            .arg(bench.device.path())
            .env("DISKFACTS_STATE", bench.state())
    };
    let refused = [
        "cannot be changed now: in use by",
        &pid,
        "Wait until it has ended",
    ];
    other.refuses(&as_other(&changing), &refused);
    let plain = [HEAD, &stage("cell", ONE, "")].concat();
    let refused = ["are being changed by", &pid, "Wait until it has ended"];
    other.refuses(&as_other(&plain), &refused);
    // It is left alone by who puts back.
    for arguments in [&["restore"][..], &["restore", "--show"]] {
        let restored = bench.diskfacts(arguments).run();
        restored
            .expect_code(0)
            .expect_stdout(&pid)
            .expect_stdout("left alone");
    }
    assert_eq!(bench.read("nomerges"), "2");
    running.interrupt();
    running.finish().expect_code(130);
    assert_eq!(bench.settings(), before);

    // Those that only measure do not mind each other, but keep out who would change.
    let first = bench.measure(&long("")).start();
    first.wait_for_stderr("stage 1 of 2: short");
    as_other(&plain).run().expect_code(0);
    fs::remove_file(other.store()).expect("the store of the one before");
    let pid = format!(
        "process {} (diskfacts), which holds a lock on it",
        first.id()
    );
    other.refuses(&as_other(&changing), &["in use by", &pid]);
    first.interrupt();
    first.finish().expect_code(130);
}

#[test]
fn a_device_of_ours_is_gone_only_after_its_settings_are_put_back() {
    or_skip!(Bench::new());
    let case = Case::new();
    let folder = case.folder("data");
    let plan = case.text_file("plan.toml", &long("scheduler = \"bfq\"\nread_ahead_kb = 8"));
    let elsewhere = diskfacts_testkit::Scratch::new().expect("a folder");
    let state = elsewhere.join("state");
    let running = case
        .diskfacts(["measure", "--loop", "8MiB", "--seed", "1", "--plan"])
        .args([&plan, &folder])
        .env("DISKFACTS_STATE", &state)
        .start();
    running.wait_for_stderr("stage 1 of 2: short");
    let devices = fs::read_dir("/sys/block").expect("devices");
    let ours = devices.flatten().map(|entry| entry.path()).find(|device| {
        let file = fs::read_to_string(device.join("loop/backing_file"));
        file.is_ok_and(|file| Path::new(&file).starts_with(&folder))
    });
    let ours = ours.expect("the device that was made");
    assert!(read(&ours.join("queue/scheduler")).contains("[bfq]"));
    let node = Path::new("/dev").join(ours.file_name().expect("a name"));
    let lock = File::open(node).expect("the device");
    let journal = fs::read_dir(&state)
        .expect("the folder")
        .next()
        .expect("a journal");
    let journal = read(&journal.expect("a journal").path());
    let before = |setting: &str| {
        let mut lines = journal.lines();
        let old = lines.find_map(|line| line.strip_prefix(&format!("old 0 {setting} ")));
        old.expect("its old value").to_owned()
    };
    running.kill();
    running.finish();
    // The watchdog lets go of it when all is put back.
    lock.lock().expect("the lock of the device");
    let scheduler = format!("[{}]", before("scheduler"));
    let now = read(&ours.join("queue/scheduler"));
    assert!(now.contains(&scheduler), "{now}, not {scheduler}");
    assert_eq!(
        read(&ours.join("queue/read_ahead_kb")),
        before("read_ahead_kb")
    );
    assert_eq!(fs::read_dir(&state).expect("the folder").count(), 0);
}

#[test]
fn on_a_device_of_ours_the_refusal_comes_before_its_file_is_filled() {
    or_skip!(Bench::new());
    let case = Case::new();
    let folder = case.folder("data");
    let elsewhere = diskfacts_testkit::Scratch::new().expect("a folder");
    let state = elsewhere.join("state");
    let plan = [
        HEAD,
        &stage("cell", LONG, "scheduler = \"bfq\""),
        &stage("other", LONG, "scheduler = \"cfq\""),
    ];
    let plan = case.text_file("plan.toml", &plan.concat());
    let program = case
        .diskfacts(["measure", "--loop", "8MiB", "--plan"])
        .args([&plan, &folder])
        .env("DISKFACTS_STATE", &state);
    // No store either, which is made before a file is filled.
    case.refuses(&program, &["`scheduler = cfq` cannot be set on loop"]);
}
