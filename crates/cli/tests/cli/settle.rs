//! What limited a stage, and the plan that would settle it.

use crate::support::Case;
use diskfacts_plan::file;

#[test]
fn the_plan_that_would_settle_a_limit_is_printed_and_can_be_measured() {
    let case = Case::new();
    let measured = case.run([
        "measure",
        "sim:hdd-7200-sync",
        "--time",
        "60s",
        "--stage",
        "log-write",
    ]);
    measured
        .expect_code(0)
        .expect_stdout("What limited it")
        .expect_stdout("rotation: log-write")
        .expect_stdout("7200 rpm is 8.33 ms per revolution");
    let shown = case.run(["show", "--settle", "log-write"]);
    shown.expect_code(0);
    let plan = file::parse(&shown.stdout).expect("a plan file");
    assert_eq!(plan.stages.len(), 2);
    let path = case.text_file("settle.toml", &shown.stdout);
    let settled = case
        .diskfacts(["measure", "sim:hdd-7200-sync", "--time", "20s", "--plan"])
        .arg(path)
        .run();
    settled.expect_code(0);
}

#[test]
fn a_stage_that_is_not_there_has_nothing_to_settle() {
    let case = Case::new();
    let stage = ["--time", "10s", "--stage", "log-write"];
    let measured = case.diskfacts(["measure", "sim:hdd-7200-sync"]).args(stage);
    measured.run().expect_code(0);
    case.run(["show", "--settle", "log-writes"])
        .expect_code(2)
        .expect_stderr("no stage 'log-writes'")
        .expect_stderr("it has log-write");
}
