//! Devices that do not answer: what is said, and what still ends.
//!
//! A program of its own, which cargo runs beside no other: what stands on a loop device
//! that hangs is not known to anybody, and keeps the tests of others from writing.

#![cfg(target_os = "linux")]

#[path = "../cli/case.rs"]
mod case;

use case::{Case, MIB};
use diskfacts_testkit::{DelayedDisk, LoopDevice, Running, or_skip};
use std::cell::Cell;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Fast enough that a trial has many operations.
const DELAY: Duration = Duration::from_millis(1);

/// The states of the threads of a process, as `/proc` has them: `D` waits where no
/// signal reaches it.
fn states(process: u32) -> Vec<char> {
    let tasks = fs::read_dir(format!("/proc/{process}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    let stats = tasks.filter_map(|task| fs::read_to_string(task.path().join("stat")).ok());
    stats
        .filter_map(|stat| stat.rsplit_once(") ")?.1.chars().next())
        .collect()
}

/// Waits until nothing of a process is left but what the kernel does not let go.
fn only_the_kernel_keeps(running: &Running) {
    let id = running.id();
    let kept = |state: &char| matches!(state, 'D' | 'Z' | 'X');
    while !states(id).iter().all(kept) {
        std::thread::yield_now();
    }
}

#[test]
fn the_first_ctrl_c_says_what_is_waited_for_and_the_second_ends_it() {
    let disk = or_skip!(DelayedDisk::new(8 * MIB, DELAY));
    let case = Case::new();
    let device = Path::new(disk.device().path());
    for (engine, cache, depth) in [
        ("sync", "direct", 1),
        ("auto", "direct", 8),
        ("sync", "buffered", 1),
    ] {
        let lines = format!(
            "operation = \"read\"\nengine = \"{engine}\"\ncache = \"{cache}\"\n\
             queue_depth = {depth}\ntime = \"10min\""
        );
        let running = case.measure_stage(device, &lines).start();
        let stored = || case.run(["runs"]).stdout.contains("running");
        running.wait_until("its run is in the store", stored);
        disk.served();
        let read = Cell::new(0);
        running.wait_until("its trial reads", || {
            read.set(read.get() + disk.served().len());
            read.get() > 8
        });
        disk.hold();
        running.wait_until("the disk holds a read", || disk.holds());
        running.interrupt();
        let name = device.file_name().and_then(|name| name.to_str());
        let name = name.expect("a name");
        running.wait_for_stderr("Ctrl-C: waiting for ");
        running.wait_for_stderr("Ctrl-C again ends it now");
        running.interrupt();
        only_the_kernel_keeps(&running);
        disk.release();
        let finished = running.finish();
        finished
            .expect_code(130)
            .expect_stderr(&format!(" at {name}; "));
        assert_eq!(finished.stdout, "");
        let shown = case.run(["runs"]);
        shown.expect_code(0).expect_stdout("killed");
        fs::remove_file(case.store()).expect("the store");
    }
}

#[test]
fn a_device_that_does_not_answer_keeps_nobody_from_looking_at_the_stack() {
    let disk = or_skip!(DelayedDisk::new(8 * MIB, DELAY));
    let case = Case::new();
    let device = disk.device().path();
    disk.hold();
    let looked = case.diskfacts(["devices"]).arg(device).run();
    looked
        .expect_code(0)
        .expect_stdout("unchecked: ")
        .expect_stdout("did not answer within 5 s");
    // Without a target nothing is opened.
    case.run(["devices"]).expect_code(0);
}

/// A reader of the device that was killed while its read is held back: it closes the
/// device, waits there for that read, and keeps who would open the device waiting.
///
/// Who is not the last to close it waits for nothing: while somebody else, as another test,
/// looks at it, there is another reader.
fn killed_reader(disk: &DelayedDisk) -> Child {
    disk.hold();
    loop {
        let mut reader = Command::new("dd")
            .arg(format!("if={}", disk.device().path().display()))
            .args(["of=/dev/null", "bs=4k", "count=1", "status=none"])
            .spawn()
            .expect("dd");
        let id = reader.id();
        let about = |file: &str| fs::read_to_string(format!("/proc/{id}/{file}"));
        // As in proc_pid_stat(5): `D` waits, `Z` has ended.
        let is = |state: &str| about("stat").is_ok_and(|stat| stat.contains(state));
        while !(disk.holds() && is(") D ")) {
            std::thread::yield_now();
        }
        reader.kill().expect("its end");
        // Its memory is given back before its files are closed.
        let is_closing = || about("cmdline").is_ok_and(|words| words.is_empty());
        while !is_closing() || !(is(") D ") || is(") Z ")) {
            std::thread::yield_now();
        }
        if is(") D ") {
            return reader;
        }
        reader.wait().expect("its end");
    }
}

/// Lets the disk answer again if this is not over in time: whoever waits for it cannot
/// be ended otherwise, nor could this test.
fn in_time<T>(disk: &DelayedDisk, what: impl FnOnce() -> T) -> T {
    let (over, wait) = channel::<()>();
    std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let late = wait.recv_timeout(Duration::from_mins(1)) == Err(RecvTimeoutError::Timeout);
            if late {
                disk.release();
            }
            late
        });
        let result = what();
        drop(over);
        assert!(!watch.join().expect("the watch"), "it waited for the disk");
        result
    })
}

#[test]
fn a_loop_device_that_hangs_keeps_nobody_who_has_to_do_with_another() {
    let disk = or_skip!(DelayedDisk::new(8 * MIB, DELAY));
    let other = or_skip!(LoopDevice::new(8 * MIB));
    let case = Case::new();
    let file = case.data_file("file", MIB);
    let mut reader = killed_reader(&disk);
    let name = disk.device().name();
    let said =
        format!("{name} has something attached, and it did not say what it stands on within 5 s");
    in_time(&disk, || {
        // Whether it stands on the target is not known.
        let seen = case.run(["devices", &other.path().to_string_lossy()]);
        seen.expect_code(0).expect_stdout(&said);
        // Nobody else has the file open, no loop device either.
        let seen = case.run(["devices", &file.to_string_lossy()]);
        seen.expect_code(0);
        assert!(!seen.stdout.contains(&said), "{seen}");
        let hanging = case.run(["devices", &disk.device().path().to_string_lossy()]);
        hanging
            .expect_code(0)
            .expect_stdout("did not answer within 5 s");
        let plan = "operation = \"read\"\npattern = \"random\"\nblock_size = \"4KiB\"\n\
                    operations = 8";
        case.measure_stage(other.path(), plan).run().expect_code(0);
    });
    disk.release();
    reader.wait().expect("its end");
    let seen = case.run(["devices", &other.path().to_string_lossy()]);
    seen.expect_code(0);
    assert!(!seen.stdout.contains(&said), "{seen}");
}

#[test]
fn an_idle_loop_device_over_a_filesystem_that_hangs_keeps_nobody() {
    let disk = or_skip!(DelayedDisk::new(8 * MIB, DELAY));
    let other = or_skip!(LoopDevice::new(8 * MIB));
    let case = Case::new();
    let file = case.data_file("file", MIB);
    let name = disk.device().name();
    disk.hold_filesystem().expect("its kernel");
    let said =
        format!("{name} has something attached, and it did not say what it stands on within 5 s");
    in_time(&disk, || {
        let all = case.run(["devices", "--json"]);
        all.expect_code(0)
            .expect_stdout("did not answer within 5 s");
        // Whether it stands on the target is not known.
        let seen = case.run(["devices", &other.path().to_string_lossy()]);
        seen.expect_code(0).expect_stdout(&said);
        let write = "operation = \"write\"\npattern = \"sequential\"\nblock_size = \"64KiB\"\n\
                     operations = 8";
        let refused = case.measure_stage(other.path(), write);
        let refused = refused.arg("--destroy-data-on").arg(other.path()).run();
        refused.expect_code(2).expect_stderr(&said);
        // Nobody else has the file open, no loop device either.
        let written = case.measure_stage(&file, write);
        let written = written.arg("--destroy-data-on").arg(&file).run();
        written.expect_code(0);
    });
    disk.release();
    let seen = case.run(["devices", &other.path().to_string_lossy()]);
    seen.expect_code(0);
    assert!(!seen.stdout.contains(&said), "{seen}");
}

#[test]
fn a_run_on_a_device_that_does_not_answer_is_ended_by_the_first_ctrl_c() {
    let disk = or_skip!(DelayedDisk::new(8 * MIB, DELAY));
    let case = Case::new();
    let device = disk.device().path();
    let input = format!("if={}", device.display());
    disk.hold();
    let measure = case.diskfacts(["measure"]).arg(device);
    let dd = case.diskfacts(["dd", &input, "of=/dev/null"]);
    for program in [measure, dd] {
        let running = program.start();
        running.wait_for_stderr("has not answered for 5 s");
        running.interrupt();
        running
            .finish()
            .expect_code(130)
            .expect_stderr("stopped before anything was measured");
    }
    assert!(!case.store().exists());
}

#[test]
fn a_copy_that_waits_for_the_other_side_of_a_named_pipe_is_ended_by_the_first_signal() {
    let case = Case::new();
    let pipe = case.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let kind = fs::metadata(&pipe).expect("the pipe").file_type();
    assert!(kind.is_fifo());
    let (input, output) = (
        format!("if={}", pipe.display()),
        format!("of={}", pipe.display()),
    );
    for operands in [[&*input, "of=/dev/null"], ["if=/dev/zero", &*output]] {
        for (code, terminates) in [(130, false), (143, true)] {
            let running = case.diskfacts(["dd"]).args(operands).start();
            // A thread of it waits in the open.
            let waits = || {
                let tasks = fs::read_dir(format!("/proc/{}/task", running.id()));
                let mut tasks = tasks.into_iter().flatten().flatten();
                tasks.any(|task| {
                    let at = fs::read_to_string(task.path().join("wchan"));
                    let name = fs::read_to_string(task.path().join("comm"));
                    name.is_ok_and(|name| name.trim() == "open")
                        || at.is_ok_and(|at| at.contains("fifo") || at.contains("wait_for_partner"))
                })
            };
            running.wait_until("it waits in the open", waits);
            if terminates {
                running.terminate();
            } else {
                running.interrupt();
            }
            running
                .finish()
                .expect_code(code)
                .expect_stderr("stopped before anything was measured");
        }
    }
}
