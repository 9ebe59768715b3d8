//! Latencies over the time of a trial: kept with the run, drawn, and asked about.

use crate::support::{Case, one_stage};
use diskfacts_record::{CoarseHistogram, Histogram, Run, Trial};
use diskfacts_store::Store;

/// The last run of a case.
fn stored(case: &Case) -> Run {
    let store = Store::open_existing(&case.store()).expect("the store");
    store.load("last").expect("a run")
}

/// All intervals of a trial together count what its histogram counts.
fn assert_adds_up(trial: &Trial) {
    let over_time = trial
        .latency_over_time
        .as_ref()
        .expect("they were kept")
        .unpack();
    let mut sum = CoarseHistogram::new();
    for row in 0..over_time.rows() {
        sum.add(&over_time.measured(row, &trial.workload));
    }
    let mut all = Histogram::new();
    for part in trial.histograms.measured(&trial.workload) {
        part.add_to(&mut all);
    }
    assert_eq!(
        sum,
        CoarseHistogram::from(&all),
        "trial {} of {}",
        trial.number,
        trial.stage
    );
}

#[test]
fn every_trial_of_a_survey_has_them_and_they_take_less_than_half_of_what_else_is_stored() {
    let case = Case::new();
    let measured = case.run(["measure", "sim:ssd-sata", "--trials", "2", "--quiet"]);
    measured.expect_code(0);
    let run = stored(&case);
    assert!(run.trials.len() > 20, "{}", run.trials.len());
    let (mut own, mut other) = (0, 0);
    for trial in &run.trials {
        assert_adds_up(trial);
        own += trial
            .latency_over_time
            .as_ref()
            .expect("kept")
            .as_bytes()
            .len();
        let document = Trial {
            latency_over_time: None,
            ..trial.clone()
        };
        other += serde_json::to_vec(&document).expect("JSON").len();
        let histograms = &trial.histograms;
        other += histograms.read.as_bytes().len() + histograms.write.as_bytes().len();
    }
    assert!(own > 0 && own * 2 <= other, "{own} bytes beside {other}");
}

#[test]
fn a_copy_and_operations_on_files_have_them() {
    let case = Case::new();
    let input = case.data_file("input", 4 << 20);
    let output = case.path("output");
    case.diskfacts(["dd", "--quiet"])
        .arg(format!("if={}", input.display()))
        .arg(format!("of={}", output.display()))
        .arg("bs=64k")
        .run()
        .expect_code(0);
    let run = stored(&case);
    assert_adds_up(&run.trials[0]);
    assert_eq!(run.trials[0].ops, 64);

    let folder = case.folder("data");
    let plan = one_stage("operation = \"create\"\nfiles = 200");
    let plan = case.text_file("files.toml", &plan);
    case.diskfacts(["measure", "--quiet", "--plan"])
        .arg(plan)
        .arg(folder)
        .run()
        .expect_code(0);
    let run = stored(&case);
    assert_adds_up(&run.trials[0]);
    assert_eq!(run.trials[0].ops, 200);
}

#[test]
fn a_time_of_a_trial_can_be_asked_of_the_store_and_of_a_document() {
    let case = Case::new();
    let stage = "random-read-qd1";
    case.run([
        "measure",
        "sim:hdd-7200-1tb",
        "--trials",
        "3",
        "--stage",
        stage,
        "--quiet",
    ])
    .expect_code(0);
    let show = |more: &[&str]| {
        let shown = case.run(["show", "last", "--stage", stage].iter().chain(more));
        shown.expect_code(0);
        shown.stdout
    };
    let drawn = show(&[]);
    assert!(
        drawn.contains(" of 3, the most unlike the others\n"),
        "{drawn}"
    );
    let second = show(&["--trial", "2"]);
    assert!(
        second.contains("Latency over time: trial 2 of 3\n"),
        "{second}"
    );
    let at = show(&["--trial", "2", "--at", "0.3s"]);
    assert!(
        at.starts_with(&format!("{stage}, trial 2 of 3, from 0.")),
        "{at}"
    );

    let document = case.run(["show", "last", "--json"]).stdout;
    let file = case.text_file("run.json", &document);
    let of_document = case
        .diskfacts(["show"])
        .arg(&file)
        .args(["--stage", stage, "--trial", "2", "--at", "0.3s"])
        .run();
    assert_eq!(of_document.stdout, at);

    for (more, said) in [
        (&["--at", "1h"][..], "has nothing of that time: trial "),
        (
            &["--trial", "9"],
            "has no trial 9 of random-read-qd1; its trials are 1 to 3",
        ),
        (&["--at", "9s..7s"], "it ends before it begins"),
        (&["--at", "soon"], "soon"),
    ] {
        case.run(["show", "last", "--stage", stage].iter().chain(more))
            .expect_code(2)
            .expect_stderr(said);
    }
    case.run(["show", "last", "--at", "1s"])
        .expect_code(2)
        .expect_stderr("--stage");
}
