//! A skipped test passes, says why, and is in the log.

use diskfacts_testkit::{Missing, or_skip};
use std::fs;
use std::process::Command;

/// Set for the test's second self.
const LACKING: &str = "TESTKIT_TEST_LACKS_SOMETHING";

#[test]
fn a_test_that_lacks_something_returns_and_is_counted() {
    if std::env::var_os(LACKING).is_some() {
        or_skip!(Err::<(), _>(Missing::new("a unicorn", "breed one")));
        panic!("a skipped test must not go on");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("log");
    let test = std::env::current_exe().expect("this test binary");
    let output = Command::new(test)
        .args([
            "--exact",
            "a_test_that_lacks_something_returns_and_is_counted",
        ])
        // With one thread, tests run on the main thread, which has another name.
        .args(["--test-threads=2", "--nocapture"])
        .env(LACKING, "1")
        .env("DISKFACTS_SKIP_LOG", &log)
        .output()
        .expect("running it again");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("a unicorn: breed one"), "{said}");
    assert_eq!(
        fs::read_to_string(&log).expect("the log"),
        "skip\ta_test_that_lacks_something_returns_and_is_counted\ta unicorn: breed one\n"
    );
}
