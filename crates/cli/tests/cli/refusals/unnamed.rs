//! Calls that write and do not name what they would destroy, or name something else.

use super::Attempts;
use super::guards::{Attached, zeros};
use crate::support::{Case, MIB, one_stage};
use diskfacts_testkit::or_skip;
use std::path::Path;
use std::process::{Command, Stdio};

const WRITES: &str = "operation = \"write\"\nblock_size = \"64KiB\"\noperations = 4";

#[test]
fn what_is_not_named_is_not_written_and_what_is_named_must_be_the_target() {
    let case = Case::new();
    let [image, file, other] = ["image", "file", "other"].map(|name| case.path(name));
    for path in [&image, &file, &other] {
        zeros(path, 16 * MIB);
    }
    let device = or_skip!(Attached::new(&image, &[]));
    let plan = case.text_file("plan.toml", &one_stage(WRITES));
    let mut attempts = Attempts::new(&case, "unnamed", [&image, &file, &other]);
    for target in [&file, &device.path] {
        let measure = || {
            case.diskfacts(["measure", "--time", "1s", "--plan"])
                .arg(&plan)
                .arg(target)
        };
        let of = format!("of={}", target.display());
        let dd = || case.diskfacts(["dd", "if=/dev/urandom", "count=8", &of]);
        attempts.refused_call(&measure(), &["only read", "add --destroy-data-on"]);
        attempts.refused_call(&dd(), &["is not written", "add --destroy-data-on"]);
        let tune = case
            .diskfacts(["tune", "--vary", "queue_depth=1,2", "--plan"])
            .args([&plan, target]);
        attempts.refused_call(&tune, &["only read", "add --destroy-data-on"]);
        let names_other = ["--destroy-data-on names", "but the target is"];
        for program in [measure(), dd()] {
            let program = program.arg("--destroy-data-on").arg(&other);
            attempts.refused_call(&program, &names_other);
        }
    }
    attempts.end();
}

#[test]
fn standard_output_that_holds_data_is_not_written() {
    let case = Case::new();
    let [image, file] = ["image", "file"].map(|name| case.path(name));
    zeros(&image, 16 * MIB);
    zeros(&file, 16 * MIB);
    let device = or_skip!(Attached::new(&image, &[]));
    let mut attempts = Attempts::new(&case, "standard output", [&image, &file]);
    // Not cut, and at its beginning; and by a descriptor's path.
    for (target, call) in [
        (
            &file,
            "exec \"$2\" --store \"$3\" dd if=/dev/urandom count=8 1<>\"$1\"",
        ),
        (
            &device.path,
            "exec \"$2\" --store \"$3\" dd if=/dev/urandom count=8 1<>\"$1\"",
        ),
        (
            &device.path,
            "exec \"$2\" --store \"$3\" dd if=/dev/urandom count=8 of=/proc/self/fd/9 9<>\"$1\"",
        ),
    ] {
        let output = Command::new("sh")
            .args(["-c", call, "sh"])
            .args([
                target,
                Path::new(env!("CARGO_BIN_EXE_diskfacts")),
                &case.store(),
            ])
            .stdin(Stdio::null())
            .output()
            .expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("is not written"), "{said}");
        attempts.unchanged();
    }
    attempts.end();
}
