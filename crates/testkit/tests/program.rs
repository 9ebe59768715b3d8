//! Running a program and looking at what it said.
#![cfg(unix)]

use diskfacts_testkit::Program;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn shell(script: &str) -> Program {
    Program::new("sh").args(["-c", script])
}

#[test]
fn what_it_said_and_its_code_are_kept_apart() {
    let finished = shell("echo out; echo err >&2; exit 3").run();
    finished
        .expect_code(3)
        .expect_stdout("out\n")
        .expect_stderr("err\n");
    assert!(!finished.stdout.contains("err"));
}

#[test]
fn a_wrong_code_shows_the_call_and_everything_it_said() {
    let finished = shell("echo 'the reason' >&2; exit 1").run();
    let failure = catch_unwind(AssertUnwindSafe(|| {
        finished.expect_code(0);
    }));
    let message = *failure
        .expect_err("the code is 1")
        .downcast::<String>()
        .expect("a message");
    for part in ["not exit code 0", "$ sh -c 'echo", "the reason"] {
        assert!(message.contains(part), "no {part} in: {message}");
    }
}

#[test]
fn it_does_not_see_the_users_home_or_colours() {
    let program = shell("echo $HOME; echo $XDG_DATA_HOME; echo $NO_COLOR");
    let home = program.home().display().to_string();
    let finished = program.run();
    finished.expect_stdout(&format!("{home}\n{home}/data\n1\n"));
}

#[test]
fn one_home_serves_several_calls() {
    let program = shell("echo kept > $HOME/file");
    program.run().expect_code(0);
    let program = program.without_args().args(["-c", "cat $HOME/file"]);
    program.run().expect_code(0).expect_stdout("kept");
}

#[test]
fn much_output_does_not_stop_it() {
    let finished = shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2").run();
    assert_eq!(
        (finished.stdout.len(), finished.stderr.len()),
        (1_000_000, 1_000_000)
    );
}

#[test]
fn a_text_is_found_wherever_its_lines_are_broken() {
    let finished = shell("printf 'a file\n   of many words\n'").run();
    finished.expect_stdout("file of many");
    let other = catch_unwind(AssertUnwindSafe(|| {
        finished.expect_stdout("file of words").code()
    }));
    other.expect_err("it says something else");
}

#[cfg(target_os = "linux")]
#[test]
fn it_can_be_interrupted_once_it_has_begun() {
    let script = "trap 'echo caught; exit 130' INT; echo ready >&2; while :; do :; done";
    // A shell cannot trap what was ignored when it began, as Ctrl-C is in what a
    // script runs in the background.
    let running = Program::new("env")
        .args(["--default-signal=INT", "sh", "-c", script])
        .start();
    running.wait_for_stderr("ready");
    running.interrupt();
    running.finish().expect_code(130).expect_stdout("caught");
}

#[test]
fn waiting_for_what_never_comes_ends_with_the_stream() {
    let running = shell("echo something else >&2").start();
    let failure = catch_unwind(AssertUnwindSafe(|| running.wait_for_stderr("ready")));
    let message = *failure
        .expect_err("it never says so")
        .downcast::<String>()
        .expect("a message");
    assert!(message.contains("something else"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn it_is_in_its_group_from_the_start() {
    use diskfacts_testkit::{LoopDevice, Throttle, ThrottleGroup, or_skip};
    let device = or_skip!(LoopDevice::new(1 << 20));
    let group = or_skip!(ThrottleGroup::new(&device, Throttle::default()));
    let name = group.path().file_name().expect("its name");
    shell("cat /proc/self/cgroup")
        .inside(&group)
        .run()
        .expect_code(0)
        .expect_stdout(&name.to_string_lossy());
}
