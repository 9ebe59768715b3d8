//! A loop device keeps its queue when its file is detached and another is attached; a
//! device that was removed and made again has a new one.

use crate::settings_support::{Bench, CHOSEN, Settings, TRIES};
use diskfacts_testkit::{LoopOptions, or_skip, require_tool};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A bench with changed settings whose device was attached anew, and what they were before.
fn reattached(
    between: impl Fn(&str) -> bool,
) -> Result<(Bench, Settings), diskfacts_testkit::Missing> {
    for _ in 0..TRIES {
        let bench = Bench::new()?;
        let before = bench.settings();
        bench.leave_changed(&before);
        if bench.attach_again(&between) {
            return Ok((bench, before));
        }
    }
    panic!("other tests took the device {TRIES} times");
}

#[test]
fn a_device_that_was_attached_again_gets_back_what_lives_on_with_its_queue() {
    let (bench, before) = or_skip!(reattached(|_| true));
    assert_ne!(bench.read("scheduler"), before["scheduler"], "it lives on");
    let shown = bench.diskfacts(&["restore", "--show"]).run();
    shown
        .expect_code(0)
        .expect_stdout("its queue has another file");
    let finished = bench.diskfacts(&["restore"]).run();
    finished
        .expect_code(0)
        .expect_stdout("mq-deadline -> none")
        .expect_stdout("its queue has another file or medium now (its diskseq is");
    for name in bench.changed(&before) {
        assert!(CHOSEN.contains(&&*name), "{name}: {finished}");
        finished.expect_stdout(&format!("`{name}`"));
    }
    assert_eq!(bench.journals(), [""; 0]);
}

#[test]
fn what_somebody_set_since_is_not_written_and_is_named_until_it_is_forgotten() {
    let (bench, before) = or_skip!(reattached(|_| true));
    // Not what the run set, and not what it was.
    fs::write(bench.file("scheduler"), "kyber").expect("root may");
    fs::write(bench.file("rq_affinity"), "2").expect("root may");
    fs::write(bench.file("nomerges"), "1").expect("root may");
    for _ in 0..2 {
        let finished = bench.diskfacts(&["restore"]).run();
        finished
            .expect_code(1)
            .expect_stderr("`scheduler` of")
            .expect_stderr("was none and is kyber")
            .expect_stderr("; to set it yourself: echo none > /sys/")
            .expect_stderr("diskfacts restore --forget");
        assert!(bench.read("scheduler").contains("[kyber]"), "{finished}");
        assert_eq!(bench.journals().len(), 1);
    }
    // It is measured all the same: said on the first page too, and the run's end is its own.
    let plan = "name = \"plain\"\ntrials = 1\n[[stage]]\nname = \"s\"\noperation = \"read\"\n\
                operations = 1\n";
    let measured = bench.measure(plan).arg("--explain").run();
    measured.expect_code(0).expect_stderr("Not put back: ");
    let page: Vec<&str> = measured.stdout.split_whitespace().collect();
    let page = page.join(" ");
    let place = |what: &str| page.find(what).unwrap_or(usize::MAX);
    assert!(place("was none and is kyber") < place("Figures"), "{page}");
    let forgotten = bench.diskfacts(&["restore", "--forget"]).run();
    forgotten
        .expect_code(0)
        .expect_stdout("scheduler")
        .expect_stdout("is forgotten");
    assert!(bench.read("scheduler").contains("[kyber]"));
    assert_eq!(bench.journals(), [""; 0]);
    for name in ["scheduler", "nomerges", "rq_affinity"] {
        let value = if name == "scheduler" {
            "none"
        } else {
            &before[name]
        };
        fs::write(bench.file(name), value).expect("as it was");
    }
}

#[test]
fn what_was_typed_by_hand_is_seen() {
    let (bench, before) = or_skip!(reattached(|_| true));
    fs::write(bench.file("scheduler"), "kyber").expect("root may");
    let finished = bench.diskfacts(&["restore"]).run();
    finished.expect_code(1);
    // The lines that it says.
    for line in finished.stderr.lines() {
        let Some((_, typed)) = line.split_once("to set it yourself: ") else {
            continue;
        };
        let typed = typed.split(';').next().expect("a command");
        let done = Command::new("sh").args(["-c", typed]).status();
        assert!(done.expect("sh").success(), "{typed}");
    }
    bench.diskfacts(&["restore"]).run().expect_code(0);
    assert_eq!(bench.journals(), [""; 0]);
    for name in bench.changed(&before) {
        assert!(CHOSEN.contains(&&*name), "{name}");
    }
}

#[test]
fn another_file_behind_a_device_that_stays_is_the_same_queue() {
    let mut bench = or_skip!(Bench::with(
        crate::support::MIB,
        LoopOptions {
            read_only: true,
            ..LoopOptions::default()
        }
    ));
    let before = bench.settings();
    bench.leave_changed(&before);
    or_skip!(bench.device.change_file());
    let finished = bench.diskfacts(&["restore"]).run();
    finished.expect_code(0).expect_stdout("mq-deadline -> none");
    assert_eq!(bench.settings(), before);
    assert_eq!(bench.journals(), [""; 0]);
}

#[test]
fn a_device_that_was_removed_and_made_again_is_another_one_and_is_not_written() {
    /// `LOOP_CTL_REMOVE` and `LOOP_CTL_ADD` (uapi/linux/loop.h), without unsafe code. The
    /// kernel refuses the first with EBUSY while anybody has the device open
    /// (`loop_control_remove`, drivers/block/loop.c), such as a test beside this one that lists
    /// devices; one that attached its own file to it will not let it go.
    const AGAIN: &str = "use Errno; my $of = $ARGV[0] + 0; my $tries = 400; \
                         open(C, '+<', '/dev/loop-control') or die $!; \
                         until (defined ioctl(C, 0x4C81, $of)) { \
                             die $! unless $!{EBUSY} && $tries--; \
                             exit 3 if -e \"/sys/block/loop$of/loop/backing_file\"; \
                             select(undef, undef, undef, 0.005); \
                         } \
                         defined ioctl(C, 0x4C80, $of) or $!{EEXIST} or die $!";
    const TAKEN: i32 = 3;
    let perl = or_skip!(require_tool("perl", "perl-base"));
    let again = |path: &str| {
        let number = path.trim_start_matches("/dev/loop");
        let mut wanted = Command::new(&perl);
        let done = wanted.args(["-e", AGAIN, number]).status().expect("perl");
        assert!(done.success() || done.code() == Some(TAKEN), "{done}");
        done.success()
    };
    let (bench, _) = or_skip!(reattached(again));
    let name = bench.device.name().to_owned();
    // As the run set it, but by somebody else on a new disk.
    fs::write(bench.file("scheduler"), "mq-deadline").expect("root may");
    let left = bench.settings();
    let finished = bench.diskfacts(&["restore"]).run();
    finished
        .expect_code(0)
        .expect_stdout(&format!("{name} ("))
        .expect_stdout("is another device now")
        .expect_stdout("so nothing was written there.");
    assert_eq!(bench.settings(), left);
    assert_eq!(bench.journals(), [""; 0]);
    fs::write(bench.file("scheduler"), "none").expect("as it was");
    assert!(Path::new("/dev").join(&name).exists());
}
