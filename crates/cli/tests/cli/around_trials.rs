//! What a plan asks of the kernel for a trial beside settings in files: the weight of
//! this process, the machine's caches, the priority of its threads.

use crate::support::{Case, MIB, one_stage, trials, write_data};
use diskfacts_testkit::{LoopDevice, Program, or_skip, require_root, require_tool, skip};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn measure(case: &Case, target: &Path, stage: &str) -> Program {
    case.measure_stage(
        target,
        &format!("operation = \"read\"\noperations = 64\n{stage}"),
    )
}

fn notes(run: &Value) -> Vec<&str> {
    let notes = run["run"]["notes"].as_array().expect("notes");
    notes.iter().filter_map(Value::as_str).collect()
}

/// The group that a process makes for a weight, of version 1.
fn groups_of_weight(process: u32) -> PathBuf {
    let name = format!("diskfacts-weight-{process}");
    Path::new("/sys/fs/cgroup/blkio").join(name)
}

#[test]
fn a_weight_is_in_force_in_its_trials_and_what_passes_it_over_is_named() {
    let device = or_skip!(LoopDevice::new(MIB));
    write_data(device.backing_file(), MIB);
    let name = device.path().file_name().expect("a name").to_string_lossy();
    let scheduler = format!("/sys/block/{name}/queue/scheduler");
    let schedulers = std::fs::read_to_string(&scheduler).expect("its schedulers");
    if !schedulers.contains("bfq") || !Path::new("/sys/fs/cgroup/blkio").exists() {
        skip(&format!(
            "the scheduler bfq, and control groups of version 1: {schedulers}"
        ));
        return;
    }
    // What a process left that was killed; its number is above all that there are.
    let leftover = groups_of_weight(4_194_305);
    std::fs::create_dir(&leftover).expect("a control group");
    let case = Case::new();
    for (scheduler_now, heeded) in [("bfq", true), ("none", false)] {
        std::fs::write(&scheduler, scheduler_now).expect("the scheduler of our own device");
        let running = measure(&case, device.path(), "kernel = { io_weight = 250 }").start();
        let group = groups_of_weight(running.id());
        running.finish().expect_code(0);
        assert!(!group.exists(), "{}", group.display());
        let run = case.last();
        let [setting] = &trials(&run)[0]["evidence"]["settings"]
            .as_array()
            .expect("a list")[..]
        else {
            panic!("{run}");
        };
        assert_eq!(setting["name"], "io_weight");
        assert_eq!(setting["in_force"], "250");
        assert_eq!(setting["note"].is_null(), heeded, "{setting}");
        let named = notes(&run).iter().any(|note| {
            note.contains("io_weight = 250") && note.contains(&format!("{name} has 'none'"))
        });
        assert_eq!(named, !heeded, "{:?}", notes(&run));
    }
    assert!(!leftover.exists(), "{}", leftover.display());
}

#[test]
fn what_a_stage_does_not_ask_for_is_not_there() {
    let case = Case::new();
    let file = case.data_file("data", MIB);
    measure(&case, &file, "").run().expect_code(0);
    let run = case.last();
    let evidence = &trials(&run)[0]["evidence"];
    assert_eq!(evidence["settings"], json!([]));
    assert_eq!(evidence["engine"]["io_priority"], Value::Null);
}

#[test]
fn the_machines_caches_are_dropped_before_a_trial_that_asks_for_it_and_only_then() {
    or_skip!(require_root());
    or_skip!(require_tool("unshare", "util-linux"));
    let case = Case::new();
    let data = case.data_file("data", MIB);
    let file = case.text_file("drop_caches", "");
    let measured = |stage: &str, options: &str| {
        let plan = one_stage(&format!("operation = \"read\"\noperations = 64\n{stage}"));
        let plan = case.text_file("plan.toml", &plan);
        // Only in a mount namespace of its own: caches of others stay what they are.
        let script =
            "mount --bind -o \"$1\" \"$2\" /proc/sys/vm/drop_caches && shift 2 && exec \"$@\"";
        Program::new("unshare")
            .args(["--mount", "sh", "-c", script, "sh", options])
            .args([&file, Path::new(env!("CARGO_BIN_EXE_diskfacts"))])
            .arg("--store")
            .arg(case.store())
            .arg("measure")
            .arg(&data)
            .args(["--time", "2s", "--plan"])
            .arg(plan)
            .run()
    };
    let plain = measured("", "rw");
    if plain.code() != Some(0) {
        skip(&format!(
            "a mount namespace with a file of its own: {}",
            plain.stderr
        ));
        return;
    }
    let ordered = || std::fs::read_to_string(&file).expect("the file");
    assert_eq!(ordered(), "");
    for (word, number) in [("slab", "2"), ("pages", "1"), ("all", "3")] {
        let finished = measured(&format!("kernel = {{ drop_caches = \"{word}\" }}"), "rw");
        finished.expect_code(0);
        assert_eq!(ordered(), number);
        let run = case.last();
        let setting = &trials(&run)[0]["evidence"]["settings"][0];
        let said = (&setting["name"], &setting["asked"], &setting["device"]);
        assert_eq!(said, (&json!("drop_caches"), &json!(word), &Value::Null));
    }
    // Who may not is told so before anything is measured.
    let refused = measured("kernel = { drop_caches = \"all\" }", "ro");
    refused
        .expect_code(1)
        .expect_stderr("drop_caches")
        .expect_stderr("sudo")
        .expect_stderr("cache = \"cold\"");
    assert_eq!(refused.stdout, "");
    assert_eq!(ordered(), "3");
}

#[test]
fn what_cannot_be_had_together_or_on_a_simulated_disk_is_refused() {
    let case = Case::new();
    let simulated = Path::new("sim:ssd-sata");
    for (stage, said) in [
        ("kernel = { drop_caches = \"all\" }", "drop_caches = all"),
        ("kernel = { io_weight = 500 }", "io_weight = 500"),
        ("io_priority = \"idle\"", "look at no priorities"),
        (
            "beside = { operation = \"read\", io_priority = \"idle\" }",
            "look at no priorities",
        ),
    ] {
        let program = measure(&case, simulated, stage);
        case.refuses(&program, &[said, "drop it"]);
    }
    let folder = case.folder("data");
    let program = measure(
        &case,
        &folder,
        "cache = \"cold\"\nkernel = { io_weight = 500 }",
    )
    .args(["--size", "256MiB", "--cache-proof", "memory-limit"]);
    case.refuses(&program, &["--cache-proof drop"]);
}
