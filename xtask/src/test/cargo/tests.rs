use super::*;

const SUCCESS: Exit = Exit {
    success: true,
    text: String::new(),
    left_something_running: false,
    was_stuck: false,
};

fn failure() -> Exit {
    Exit {
        success: false,
        text: "exit status: 101".to_owned(),
        left_something_running: false,
        was_stuck: false,
    }
}

fn read(text: &str, exit: &Exit, skipped: &[(&str, &str)]) -> Outcome {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line);
    }
    let skipped = skipped
        .iter()
        .map(|(test, reason)| Skipped {
            test: (*test).to_owned(),
            reason: (*reason).to_owned(),
        })
        .collect();
    reader.finish(exit, skipped)
}

const PASSING: &str = "\
   Compiling xtask v0.1.0 (xtask)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 1.52s
     Running unittests src/lib.rs (target/debug/deps/diskfacts_plan-0c1d2e3f4a5b6c7d)

running 2 tests
test units::tests::a ... ok
test units::tests::b - should panic ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s

     Running tests/loop_device.rs (target/debug/deps/loop_device-0c1d2e3f4a5b6c7d)

running 3 tests
test c ... ok
test d ... ignored, takes an hour
test e ... ignored

test result: ok. 1 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests diskfacts_plan

running 1 test
test crates/plan/src/units.rs - units (line 9) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.21s
";

#[test]
fn the_closing_lines_of_all_binaries_are_added_up() {
    let outcome = read(PASSING, &SUCCESS, &[]);
    assert_eq!(outcome.passed, 4);
    assert_eq!(outcome.failed, Vec::<String>::new());
    let skipped: Vec<(&str, &str)> = outcome
        .skipped
        .iter()
        .map(|skip| (&*skip.test, &*skip.reason))
        .collect();
    assert_eq!(
        skipped,
        [
            ("loop_device d", "takes an hour"),
            ("loop_device e", "marked as ignored"),
        ]
    );
}

#[test]
fn a_test_that_said_it_was_skipped_is_not_counted_as_passed() {
    let outcome = read(PASSING, &SUCCESS, &[("loop_device c", "root: sudo")]);
    assert_eq!((outcome.passed, outcome.skipped.len()), (3, 3));
}

#[test]
fn failed_tests_are_counted_and_named() {
    let text = "\
     Running unittests src/lib.rs (target/debug/deps/diskfacts_plan-0c1d2e3f4a5b6c7d)

running 2 tests
test units::tests::a ... FAILED
test units::tests::b ... ok

failures:

---- units::tests::a stdout ----
thread 'units::tests::a' panicked at crates/plan/src/units.rs:9:9:
assertion failed

failures:
    units::tests::a

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p diskfacts-plan --lib`
";
    let outcome = read(text, &failure(), &[]);
    assert_eq!(outcome.passed, 1);
    assert_eq!(outcome.failed, ["diskfacts_plan units::tests::a"]);
}

#[test]
fn a_test_that_was_skipped_and_then_failed_counts_once_as_failed() {
    let text = "\
     Running tests/a.rs (target/debug/deps/a-0c1d2e3f4a5b6c7d)
test x ... FAILED
test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
    let outcome = read(text, &failure(), &[("a x", "root: sudo")]);
    assert_eq!(outcome.failed, ["a x"]);
    assert_eq!((outcome.passed, outcome.skipped.len()), (0, 0));
}

#[test]
fn a_torn_line_loses_a_name_but_no_count() {
    let text = "\
     Running tests/a.rs (target/debug/deps/a-0c1d2e3f4a5b6c7d)
test x ... something that the test printed
FAILED
test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
    assert_eq!(read(text, &failure(), &[]).failed, ["a a test"]);
}

#[test]
fn a_binary_that_dies_is_a_failure() {
    let text = "\
     Running unittests src/lib.rs (target/debug/deps/directio-0c1d2e3f4a5b6c7d)

running 2 tests
test a ... ok
error: test failed, to rerun pass `-p directio --lib`

Caused by:
  process didn't exit successfully: `target/debug/deps/directio-0c1d2e3f4a5b6c7d` (signal: 6, SIGABRT: process abort signal)
     Running tests/b.rs (target/debug/deps/b-0c1d2e3f4a5b6c7d)
test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
    let outcome = read(text, &failure(), &[]);
    assert_eq!(outcome.passed, 5);
    assert_eq!(
        outcome.failed,
        ["directio ended before its last test (signal: 6, SIGABRT: process abort signal)"]
    );
}

#[test]
fn what_does_not_build_is_a_failure() {
    let text = "\
error[E0425]: cannot find value `x` in this scope
error: could not compile `directio` (lib test) due to 1 previous error
warning: build failed, waiting for other jobs to finish...
";
    assert_eq!(
        read(text, &failure(), &[]).failed,
        ["directio (lib test) does not compile"]
    );
}

#[test]
fn an_end_without_a_reason_is_a_failure() {
    let text = "error: the lock file needs to be updated but --locked was passed\n";
    assert_eq!(
        read(text, &failure(), &[]).failed,
        ["cargo test did not get to the end (exit status: 101)"]
    );
}

#[test]
fn a_run_without_any_test_is_a_failure() {
    assert_eq!(read("", &SUCCESS, &[]).failed, ["cargo test ran no test"]);
}

#[test]
fn a_process_left_behind_is_a_failure() {
    let exit = Exit {
        left_something_running: true,
        was_stuck: false,
        ..SUCCESS
    };
    assert_eq!(read(PASSING, &exit, &[]).failed.len(), 1);
}

#[test]
fn a_benchmark_that_fails_as_a_test_is_named_beside_other_failures() {
    let text = "\
     Running tests/cli/main.rs (target/debug/deps/cli-0c1d2e3f4a5b6c7d)

running 1 test
test a ... FAILED

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s

error: test failed, to rerun pass `-p diskfacts --test cli`
     Running benches/explain.rs (target/debug/deps/explain-0c1d2e3f4a5b6c7d)

thread 'main' panicked at benches/explain.rs:62:9:
error: bench failed, to rerun pass `-p diskfacts-store --bench explain`
error: 2 targets failed:
    `-p diskfacts --test cli`
    `-p diskfacts-store --bench explain`
";
    assert_eq!(
        read(text, &failure(), &[]).failed,
        ["cli a", "explain (what it said stands above)"]
    );
}
