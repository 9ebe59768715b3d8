//! Tests that need a process of their own: the test starts this same binary
//! with only itself to run, and finds out by the environment that it is now
//! the child.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the store that the child works on; only a child has it.
const STORE: &str = "DISKFACTS_STORE_TEST_CHILD";

/// The store to work on, when this process is a child.
pub(crate) fn store() -> Option<PathBuf> {
    std::env::var_os(STORE).map(PathBuf::from)
}

/// A child that runs the test of this full name on a store. What it says goes
/// to its standard error, because the test harness writes to standard output.
pub(crate) fn command(test: &str, store: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    arguments(&mut command, test, store);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn arguments(command: &mut Command, test: &str, store: &Path) {
    command
        .args(["--exact", test, "--nocapture"])
        .env(STORE, store)
        .stdout(Stdio::null());
}

/// Runs `test` again as a child that has mounts of its own, and there a tmpfs
/// of `size` with the store in it: nothing that it does outlives it.
pub(crate) fn on_its_own_filesystem(test: &str, size: &str) {
    let folder = tempfile::tempdir().unwrap();
    let Some(unshare) = unshare(folder.path()) else {
        return diskfacts_testkit::skip(
            "mount namespaces: unshare --mount (root, or user namespaces)",
        );
    };
    let mut command = Command::new("unshare");
    command
        .args(unshare)
        .args([
            "sh",
            "-c",
            "mount -t tmpfs -o size=$0 tmpfs \"$1\" && shift && exec \"$@\"",
            size,
        ])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap());
    arguments(&mut command, test, &folder.path().join("runs.db"));
    let output = command.stdout(Stdio::piped()).output().unwrap();
    // A test that was renamed would not be found, and none would fail.
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "the child on its own filesystem: {}\n{said}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The options of unshare(1) that work here.
fn unshare(folder: &Path) -> Option<&'static [&'static str]> {
    [&["--mount"][..], &["--map-root-user", "--mount"]]
        .into_iter()
        .find(|options| {
            Command::new("unshare")
                .args(*options)
                .args(["mount", "-t", "tmpfs", "tmpfs"])
                .arg(folder)
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        })
}
