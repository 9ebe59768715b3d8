//! SIGKILL at every step of a matrix, panics, and what is found afterwards.

use crate::settings_support::{Bench, READ_ONLY, matrix};
use crate::support::{MIB, run_tool, trials};
use crate::trace_support::{events, instances};
use diskfacts_testkit::{LoopOptions, Program, or_skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether the only thing left is a journal that was never finished.
fn only_unfinished(journals: &[String]) -> bool {
    let end = |name| Path::new(name).extension().is_some_and(|end| end == "new");
    journals.iter().all(end)
}

/// What a kill at every step showed.
#[derive(Default)]
struct Seen {
    /// Steps at which a run was ended.
    steps: AtomicU64,
    /// Ends that left settings changed, and ends that left a journal.
    changed: AtomicU64,
    journals: AtomicU64,
}

/// Ends a run at every step, `first`, `first + stride`, ... until one has no such step.
fn end_at_every(how: &str, (first, stride): (u64, u64), bench: &Bench, seen: &Seen) {
    let before = bench.settings();
    let mut step = first;
    loop {
        let finished = bench.ended_at(how, step);
        if finished.code() == Some(0) {
            break;
        }
        assert_eq!(finished.code(), None, "{how} at step {step}: {finished}");
        seen.steps.fetch_add(1, Ordering::Relaxed);
        bench.wait_for_watchdog();
        let journals = bench.journals();
        if how == "kill" {
            assert_eq!(bench.settings(), before, "by the watchdog, step {step}");
            // There is nobody yet who could remove it when it is just being made.
            assert!(only_unfinished(&journals), "step {step}: {journals:?}");
        } else {
            let changed = u64::from(bench.settings() != before);
            seen.changed.fetch_add(changed, Ordering::Relaxed);
            let left = u64::from(!journals.is_empty());
            seen.journals.fetch_add(left, Ordering::Relaxed);
        }
        // The next start finds the rest: a command for it, or any measurement.
        if step % 2 == 0 {
            bench.diskfacts(&["restore"]).run().expect_code(0);
        } else {
            let plain = "name = \"plain\"\ntrials = 1\n[[stage]]\nname = \"s\"\n\
                         operation = \"read\"\noperations = 1\n";
            bench.measure(plain).run().expect_code(0);
        }
        assert_eq!(bench.settings(), before, "at the next start, step {step}");
        assert_eq!(bench.journals(), [""; 0], "step {step}");
        step += stride;
    }
    assert_eq!(bench.settings(), before);
    assert_eq!(bench.journals(), [""; 0]);
}

#[test]
fn after_sigkill_at_any_step_of_a_matrix_the_settings_are_as_before() {
    /// Most of a run is waiting for the kernel to switch schedulers.
    const SIDE_BY_SIDE: u64 = 5;
    let mut benches: Vec<(&str, u64, Bench)> = Vec::new();
    for how in ["kill", "kill-both"] {
        for first in 1..=SIDE_BY_SIDE {
            benches.push((how, first, or_skip!(Bench::new())));
        }
    }
    let (by_watchdog, by_next_start) = (Seen::default(), Seen::default());
    std::thread::scope(|scope| {
        for (how, first, bench) in &benches {
            let seen = if *how == "kill" {
                &by_watchdog
            } else {
                &by_next_start
            };
            scope.spawn(move || end_at_every(how, (*first, SIDE_BY_SIDE), bench, seen));
        }
    });
    let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
    let steps = count(&by_watchdog.steps);
    // Locks, folder, journal and watchdog are nine; each cell is set twice and put back.
    assert!(steps >= 30, "{steps} steps");
    assert_eq!(steps, count(&by_next_start.steps));
    // Else the next start would have had nothing to do.
    let (changed, journals) = (
        count(&by_next_start.changed),
        count(&by_next_start.journals),
    );
    assert!(
        changed >= 15 && journals > changed,
        "{changed} of {journals}"
    );
    let left: Vec<String> = fs::read_dir("/proc")
        .expect("processes")
        .flatten()
        .filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok())
        .filter(|line| line.contains("settings-watchdog"))
        .filter(|line| {
            benches
                .iter()
                .any(|(_, _, b)| line.contains(&*b.state().to_string_lossy()))
        })
        .collect();
    assert_eq!(left, [""; 0]);
}

/// Kills what puts back at each of its steps, each time after a run that left settings
/// changed, and puts back what that left; how many steps there were.
fn end_putting_back_at_every(bench: &Bench, putting_back: impl Fn() -> Program) -> u64 {
    let before = bench.settings();
    for step in 1.. {
        bench.leave_changed(&before);
        let ended = putting_back()
            .env("DISKFACTS_TEST_END_AT", format!("kill:{step}"))
            .run();
        if ended.code() == Some(0) {
            assert_eq!(bench.settings(), before, "{ended}");
            assert_eq!(bench.journals(), [""; 0], "{ended}");
            return step - 1;
        }
        assert_eq!(ended.code(), None, "step {step}: {ended}");
        let as_before = bench.settings() == before;
        let left = bench.journals();
        assert!(as_before || left.len() == 1, "step {step}: {left:?}");
        // The first step is before anything was written.
        assert!(!as_before || step > 1, "step {step}");
        bench.diskfacts(&["restore"]).run().expect_code(0);
        assert_eq!(bench.settings(), before, "after step {step}");
        assert_eq!(bench.journals(), [""; 0], "after step {step}");
    }
    unreachable!("a command has an end");
}

#[test]
fn a_restore_that_is_killed_at_any_step_is_finished_by_the_next_one() {
    let bench = or_skip!(Bench::new());
    let steps = end_putting_back_at_every(&bench, || bench.diskfacts(&["restore"]));
    // At least a setting, the removal of the journal, and its folder.
    assert!(steps >= 3, "{steps} steps");
}

#[test]
fn a_measurement_that_is_killed_while_it_puts_back_is_finished_by_the_next_start() {
    let bench = or_skip!(Bench::new());
    let plain = "name = \"plain\"\ntrials = 1\n[[stage]]\nname = \"s\"\noperation = \"read\"\n\
                 operations = 1\n";
    let steps = end_putting_back_at_every(&bench, || bench.measure(plain));
    assert!(steps >= 3, "{steps} steps");
}

#[test]
fn a_watchdog_that_is_killed_while_it_puts_back_leaves_the_rest_to_the_next_start() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    let mut changed = 0;
    for step in 1.. {
        // The first cell is set by then.
        let ended = bench.ended_at(&format!("watchdog:{step},kill"), 16);
        assert_eq!(ended.code(), None, "step {step}: {ended}");
        bench.wait_for_watchdog();
        let as_before = bench.settings() == before;
        changed += u64::from(!as_before);
        if bench.journals().is_empty() {
            assert!(as_before, "step {step}: {ended}");
            break;
        }
        bench.diskfacts(&["restore"]).run().expect_code(0);
        assert_eq!(bench.settings(), before, "after step {step}");
        assert_eq!(bench.journals(), [""; 0], "after step {step}");
    }
    // Else it was killed too late.
    assert!(changed >= 1, "{changed}");
}

#[test]
fn a_panic_between_two_settings_puts_them_back_and_says_where_it_was() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    // Behind the nine steps before the first write.
    for step in [12, 18] {
        let finished = bench.ended_at("panic", step);
        finished
            .expect_code(101)
            .expect_stderr("the test wanted a panic at: changing a setting");
        assert_eq!(bench.settings(), before);
        assert_eq!(bench.journals(), [""; 0]);
    }
}

#[test]
fn what_was_left_changed_is_shown_and_put_back_once() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    let nothing = bench.diskfacts(&["restore"]).run();
    nothing
        .expect_code(0)
        .expect_stdout("Nothing to put back: no journal");
    bench.leave_changed(&before);
    let left = bench.settings();
    let shown = bench.diskfacts(&["restore", "--show"]).run();
    shown
        .expect_code(0)
        .expect_stdout("and was killed")
        .expect_stdout(&format!(
            "{} scheduler none mq-deadline",
            bench.device.name()
        ))
        .expect_stdout(&format!("{} nomerges 0 the same", bench.device.name()))
        .expect_stdout("`diskfacts restore` puts this right.");
    assert_eq!(bench.settings(), left);
    let restored = bench.diskfacts(&["restore"]).run();
    restored
        .expect_code(0)
        .expect_stdout("mq-deadline -> none")
        .expect_stdout("Put back; the journal is removed.");
    assert_eq!(bench.settings(), before);
    let again = bench.diskfacts(&["restore"]).run();
    again.expect_code(0).expect_stdout("Nothing to put back");
}

#[test]
fn a_measurement_puts_back_what_it_finds_and_keeps_a_note_of_it() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    bench.leave_changed(&before);
    let finished = bench.measure(&matrix()).run();
    finished
        .expect_code(0)
        .expect_stderr("was killed and had left settings changed; put back: scheduler of");
    assert_eq!(bench.settings(), before);
    let document = bench.case.last();
    let notes = document["run"]["notes"].to_string();
    assert!(notes.contains("(mq-deadline to none)"), "{notes}");
    // It began with what was put back.
    assert_eq!(document["stack"]["devices"][0]["scheduler"], "none");
}

#[test]
fn a_loop_device_that_has_lost_its_file_is_put_back_all_the_same() {
    /// Another test may take the device while it has no file.
    const TRIES: u32 = 5;
    for _ in 0..TRIES {
        let bench = or_skip!(Bench::new());
        let before = bench.settings();
        bench.leave_changed(&before);
        let path = bench.device.path().to_string_lossy().into_owned();
        or_skip!(run_tool("losetup", "mount", &["--detach", &path]));
        let free = users_of(&bench);
        let restored = bench.diskfacts(&["restore"]).run();
        let settings = bench.settings();
        if free.1.is_some() || users_of(&bench) != free {
            continue;
        }
        restored.expect_code(0).expect_stdout("mq-deadline -> none");
        assert_eq!(settings, before);
        return;
    }
    panic!("other tests took the device {TRIES} times");
}

/// How often the disk of a bench was another one, and the file that is behind it now.
fn users_of(bench: &Bench) -> (String, Option<String>) {
    let device = Path::new("/sys/block").join(bench.device.name());
    let number = fs::read_to_string(device.join("diskseq")).expect("since Linux 5.15");
    (
        number,
        fs::read_to_string(device.join("loop/backing_file")).ok(),
    )
}

#[test]
fn a_device_that_goes_in_the_middle_ends_the_run_with_what_it_has() {
    let mut bench = or_skip!(Bench::with(MIB, READ_ONLY));
    let plan = "name = \"gone\"\ntrials = 60\n[[stage]]\nname = \"s\"\noperation = \"read\"\n\
                time = \"500ms\"\n[stage.kernel]\nnomerges = 2\n";
    let running = bench.measure(plan).args(["--time", "60s"]).start();
    bench.case.wait_for_a_trial(&running);
    or_skip!(bench.device.change_file());
    let finished = running.finish();
    finished
        .expect_code(1)
        .expect_stderr("The run ended early:")
        .expect_stderr("is another device now (its diskseq is");
    assert!(!trials(&bench.case.last()).is_empty());
    let notes = bench.case.last()["run"]["notes"].to_string();
    assert!(notes.contains("its queue has another file"), "{notes}");
    // Its queue has gone on living with what was set.
    assert_eq!(bench.read("nomerges"), "0");
    assert_eq!(bench.journals(), [""; 0]);
}

/// Control groups of this process, wherever they are.
fn groups_of(process: u32, folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found = Vec::new();
    for path in folders.map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == format!("diskfacts-memory-{process}") {
            found.push(path);
        } else {
            found.extend(groups_of(process, &path));
        }
    }
    found
}

#[test]
fn the_watchdog_removes_the_control_group_and_the_trace_buffer_of_the_dead_run_too() {
    let tracefs = or_skip!(events());
    // The least that a memory limit makes sense on.
    let bench = or_skip!(Bench::with(128 * MIB, LoopOptions::default()));
    let before = bench.settings();
    let of = |name: &str, stop: &str| {
        format!(
            "[[stage]]\nname = \"{name}\"\noperation = \"read\"\ncache = \"cold\"\n{stop}\n\
             [stage.kernel]\nread_ahead_kb = 8\n"
        )
    };
    let plan = [
        "name = \"limited\"\ntrials = 1\n".to_owned(),
        of("short", "operations = 1"),
        of("long", "time = \"10min\""),
    ];
    let program = bench
        .measure(&plan.concat())
        .args(["--cache-proof", "memory-limit"]);
    let running = program.start();
    let process = running.id();
    running.wait_for_stderr("stage 1 of 2: short");
    let root = Path::new("/sys/fs/cgroup");
    assert_eq!(groups_of(process, root).len(), 1);
    // The first trial of the long stage is followed by events, and takes until then.
    running.wait_until("its trace buffer was there", || {
        !instances(&tracefs, process).is_empty()
    });
    running.kill();
    running.finish();
    bench.wait_for_watchdog();
    assert_eq!(groups_of(process, root), [""; 0].map(PathBuf::from));
    assert_eq!(instances(&tracefs, process), [""; 0]);
    assert_eq!(bench.settings(), before);
}

#[test]
fn torn_damaged_and_old_journals_are_told_apart() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    bench.leave_changed(&before);
    let (name, path) = bench.journal();
    let whole = fs::read_to_string(&path).expect("the journal");
    let restore = |text: &str, said: &str| {
        fs::write(&path, text).expect("a journal");
        let finished = bench.diskfacts(&["restore"]).run();
        finished.expect_code(0).expect_stdout(said);
    };
    let damaged = |text: &str| {
        fs::write(&path, text).expect("a journal");
        let finished = bench.diskfacts(&["restore"]).run();
        finished.expect_code(1).expect_stderr("is left as it is");
    };
    // Damaged: kept, and nothing is believed of it.
    damaged(&whole.replace("old 0 nomerges 0", "old 0 nomerges 1"));
    assert_eq!(bench.journals(), [name]);
    assert_eq!(bench.read("nomerges"), before["nomerges"]);
    // Torn: nothing had been changed when it was written.
    restore(&whole[..whole.len() - 9], "nothing had been changed yet");
    assert_eq!(bench.journals(), [""; 0]);
    restore(&whole, "Put back");
    assert_eq!(bench.settings(), before);
    // What is damaged can be forgotten.
    damaged("diskfacts settings journal 9\nend 0 0\n");
    let forgotten = bench.diskfacts(&["restore", "--forget"]).run();
    forgotten.expect_code(0).expect_stdout("is forgotten");
    assert_eq!(bench.journals(), [""; 0]);
}

#[test]
fn a_journal_is_forgotten_only_when_what_it_holds_was_printed() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    bench.leave_changed(&before);
    let (name, path) = bench.journal();
    let whole = fs::read_to_string(&path).expect("the journal");
    for full in ["exec >/dev/full", "exec >&-"] {
        bench
            .diskfacts_after(full, &["restore", "--forget"])
            .run()
            .expect_code(1)
            .expect_stderr("standard output failed")
            .expect_stderr("No journal was removed");
        let now = fs::read_to_string(&path).expect("the journal");
        assert_eq!(now, whole, "{full}");
    }
    // And it can be restored still.
    bench.diskfacts(&["restore"]).run().expect_code(0);
    assert_eq!(bench.settings(), before);
    bench.leave_changed(&before);
    let changed = bench.settings();
    let forgotten = bench.diskfacts(&["restore", "--forget"]).run();
    forgotten
        .expect_code(0)
        .expect_stdout("scheduler")
        .expect_stdout("is forgotten. No setting was written.");
    assert_eq!(bench.settings(), changed);
    assert_eq!(bench.journals(), [""; 0], "{name}");
    fs::write(&path, whole).expect("the journal");
    bench.diskfacts(&["restore"]).run().expect_code(0);
    assert_eq!(bench.settings(), before);
}
