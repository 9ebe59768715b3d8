//! What was changed cannot be looked at: no descriptors, no sysfs, or only a part of it.
//! Nothing is given up then, and all that may still be changed is named.

use crate::settings_support::{Bench, Settings};
use crate::support::KIB;
use diskfacts_testkit::{Finished, or_skip, require_tool};
use std::process::Command;

/// What hides the kernel's files, and whether devices can still be looked at by number.
const HIDDEN: [(&str, bool); 7] = [
    ("mount -t tmpfs tmpfs /sys", false),
    ("mount -t tmpfs tmpfs /sys/dev", false),
    ("mount -t tmpfs tmpfs /sys/dev/block", false),
    ("mount -t tmpfs tmpfs /sys/devices", false),
    // Another folder of sysfs, which lists nothing of the kind.
    ("mount --bind /sys/class/bdi /sys/dev/block", false),
    ("mount -t tmpfs tmpfs /sys/block", true),
    ("mount -t tmpfs tmpfs /sys/class", true),
];

/// It failed, dropped nothing, and named all that is not as it was, or the journal where
/// that could not be read.
#[track_caller]
fn expect_named(bench: &Bench, before: &Settings, finished: &Finished) {
    let said = format!("{}{}", finished.stdout, finished.stderr);
    assert_ne!(finished.code(), Some(0), "{finished}");
    assert!(!said.contains("All was as before"), "{finished}");
    let journals = bench.journals();
    assert_eq!(journals.len(), 1, "{finished}");
    let folder = bench.state().display().to_string();
    let read = said.contains("; to set it yourself: echo");
    for name in bench.changed(before) {
        assert!(
            said.contains(&format!("`{name}`"))
                || !read && (said.contains(&journals[0]) || said.contains(&folder)),
            "`{name}` is not named:\n{finished}"
        );
    }
}

#[test]
fn with_sysfs_hidden_no_journal_is_dropped_and_every_setting_is_named() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    for (hide, seen) in HIDDEN {
        bench.leave_changed(&before);
        let finished = or_skip!(bench.diskfacts_apart(hide, &["restore"])).run();
        if seen {
            finished.expect_code(0).expect_stdout("Put back");
        } else {
            expect_named(&bench, &before, &finished);
            finished
                .expect_stderr("cannot be looked at")
                .expect_stderr("; to set it yourself: echo none > /sys/");
            let shown = or_skip!(bench.diskfacts_apart(hide, &["restore", "--show"])).run();
            shown.expect_code(1).expect_stdout("unknown:");
            bench.diskfacts(&["restore"]).run().expect_code(0);
        }
        assert_eq!(bench.settings(), before, "{hide}");
        assert_eq!(bench.journals(), [""; 0], "{hide}");
    }
}

#[test]
fn a_measurement_that_sees_no_sysfs_keeps_the_journal_and_names_every_setting() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    bench.leave_changed(&before);
    let file = bench.case.data_file("file", 64 * KIB);
    let plan = bench.case.text_file(
        "plain.toml",
        "name = \"plain\"\ntrials = 1\n[[stage]]\nname = \"s\"\noperation = \"read\"\n\
         operations = 1\n",
    );
    let store = bench.case.store();
    let words = [&store, &plan, &file].map(|path| path.to_string_lossy().into_owned());
    let [store, plan, file] = &words;
    let arguments = ["--store", store, "measure", "--plan", plan, file];
    let finished = or_skip!(bench.diskfacts_apart(HIDDEN[0].0, &arguments)).run();
    for name in bench.changed(&before) {
        finished.expect_stderr(&format!("`{name}`"));
    }
    finished
        .expect_stderr("cannot be looked at")
        .expect_stderr("The journal stays:");
    assert_eq!(bench.journals().len(), 1);
    bench.diskfacts(&["restore"]).run().expect_code(0);
    assert_eq!(bench.settings(), before);
}

#[test]
fn without_descriptors_no_journal_is_dropped_whatever_their_number_is() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    for arguments in [&["restore"][..], &["restore", "--show"]] {
        bench.leave_changed(&before);
        let mut failed = 0;
        for descriptors in 3..64 {
            let limit = format!("ulimit -n {descriptors}");
            let finished = bench.diskfacts_after(&limit, arguments).run();
            if finished.code() == Some(0) {
                break;
            }
            failed += 1;
            // Below the first it is not even loaded.
            if finished.code() == Some(1) {
                if arguments.len() == 1 {
                    expect_named(&bench, &before, &finished);
                }
                finished.expect_stderr("Too many open files");
            }
            assert_eq!(bench.journals().len(), 1, "{descriptors}: {finished}");
        }
        assert!(failed >= 2, "{failed} of {arguments:?}");
        bench.diskfacts(&["restore"]).run().expect_code(0);
        assert_eq!(bench.settings(), before);
        assert_eq!(bench.journals(), [""; 0]);
    }
}

#[test]
fn a_run_whose_sysfs_is_hidden_meanwhile_ends_by_naming_what_it_could_not_put_back() {
    let bench = or_skip!(Bench::new());
    let nsenter = or_skip!(require_tool("nsenter", "util-linux"));
    let before = bench.settings();
    let plan = "name = \"hidden\"\ntrials = 1\n[[stage]]\nname = \"short\"\noperation = \"read\"\n\
                operations = 1\n[stage.kernel]\nnomerges = 2\n[[stage]]\nname = \"long\"\n\
                operation = \"read\"\ntime = \"10min\"\n[stage.kernel]\nnomerges = 2\n";
    let plan = bench.case.text_file("hidden.toml", plan);
    let (plan, store) = (plan.to_string_lossy(), bench.case.store());
    let (store, device) = (
        store.to_string_lossy(),
        bench.device.path().to_string_lossy(),
    );
    let arguments = [
        "--store", &*store, "measure", "--seed", "1", "--plan", &*plan, &*device,
    ];
    let running = or_skip!(bench.diskfacts_apart("true", &arguments)).start();
    running.wait_for_stderr("stage 1 of 2: short");
    let mount = format!("--mount=/proc/{}/ns/mnt", running.id());
    let hidden = Command::new(nsenter)
        .args([&*mount, "mount", "-t", "tmpfs", "tmpfs", "/sys"])
        .status();
    assert!(hidden.expect("nsenter").success());
    running.interrupt();
    let finished = running.finish();
    finished
        .expect_stderr("`nomerges` of")
        .expect_stderr("cannot be looked at")
        .expect_stderr("; to set it yourself: echo 0 > /sys/");
    assert_ne!(finished.code(), Some(0), "{finished}");
    assert_eq!(bench.journals().len(), 1, "{finished}");
    assert_eq!(bench.read("nomerges"), "2");
    bench.diskfacts(&["restore"]).run().expect_code(0);
    assert_eq!(bench.settings(), before);
}

#[test]
fn a_device_that_is_gone_is_so_only_by_a_listing_of_sysfs_that_lacks_it() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    bench.leave_changed(&before);
    let (_, path) = bench.journal();
    let whole = std::fs::read_to_string(&path).expect("the journal");
    // Its hash is of what is written here.
    let (major, minor) = bench.device.device_number();
    let body: String = whole
        .lines()
        .filter(|line| !line.starts_with("end "))
        .map(|line| line.replace(&format!("device {major}:{minor} "), "device 7:9999999 ") + "\n")
        .collect();
    let olds = body.lines().filter(|line| line.starts_with("old ")).count();
    let hash = body.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let moved = format!("{body}end {olds} {hash:016x}\n");
    std::fs::write(&path, &moved).expect("a journal");
    for (hide, seen) in HIDDEN {
        let finished = or_skip!(bench.diskfacts_apart(hide, &["restore"])).run();
        // Where only names are hidden, it is listed by its number.
        if seen {
            finished.expect_code(0).expect_stdout("(7:9999999) is gone");
            std::fs::write(&path, &moved).expect("a journal");
        } else if hide.ends_with("/devices") {
            finished.expect_code(0);
            std::fs::write(&path, &moved).expect("a journal");
        } else {
            finished.expect_code(1).expect_stderr("cannot be looked at");
            assert_eq!(bench.journals().len(), 1, "{finished}");
        }
    }
    std::fs::write(&path, &whole).expect("the journal");
    bench.diskfacts(&["restore"]).run().expect_code(0);
    assert_eq!(bench.settings(), before);
}

#[test]
fn a_run_that_has_no_descriptors_left_has_its_watchdog_put_everything_back() {
    let bench = or_skip!(Bench::new());
    let prlimit = or_skip!(require_tool("prlimit", "util-linux"));
    let before = bench.settings();
    let stage = |name: &str, stop: &str| {
        format!(
            "[[stage]]\nname = \"{name}\"\noperation = \"read\"\n{stop}\n[stage.kernel]\n\
             nomerges = 2\n"
        )
    };
    let plan = [
        "name = \"limited\"\ntrials = 1\n".to_owned(),
        stage("short", "operations = 1"),
        stage("long", "time = \"10min\""),
    ];
    let running = bench.measure(&plan.concat()).start();
    running.wait_for_stderr("stage 1 of 2: short");
    assert_eq!(bench.read("nomerges"), "2");
    let of = running.id().to_string();
    let limited = Command::new(prlimit)
        .args(["--nofile=3", "--pid", &of])
        .status();
    assert!(limited.expect("prlimit").success());
    running.interrupt();
    let finished = running.finish();
    assert_ne!(finished.code(), Some(0), "{finished}");
    assert!(!finished.stderr.contains("not put back"), "{finished}");
    assert_eq!(bench.settings(), before, "{finished}");
    assert_eq!(bench.journals(), [""; 0], "{finished}");
}
