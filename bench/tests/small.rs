//! The comparison in its small mode: that it runs, not what it finds.

use std::process::Command;

#[test]
fn the_comparison_with_fio_runs() {
    if let Err(missing) = diskfacts_testkit::require_tool("fio", "fio") {
        diskfacts_testkit::skip(&missing.to_string());
        return;
    }
    let bench = env!("CARGO_BIN_EXE_diskfacts-bench");
    if !std::path::Path::new(bench)
        .with_file_name("diskfacts")
        .is_file()
    {
        diskfacts_testkit::skip("the diskfacts program beside the bench: cargo build -p diskfacts");
        return;
    }
    let output = Command::new(bench)
        .args(["fio", "--small", "--folder"])
        .arg(env!("CARGO_TARGET_TMPDIR"))
        .output()
        .expect("starting the bench");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(text.matches("diskfacts / fio").count(), 8, "{text}");
}
