//! Who observes the trials, and what they leave behind.

use crate::support::{Case, MIB, one_stage, trials};
use diskfacts_testkit::{LoopDevice, or_skip, require_root, skip};
use serde_json::Value;

/// The keys of the evidence that hold something.
fn seen(trial: &Value) -> Vec<&str> {
    let keys = [
        "process_io",
        "pressure",
        "processors",
        "residency_before",
        "block_layer",
    ];
    let evidence = &trial["evidence"];
    let mut seen: Vec<&str> = keys
        .into_iter()
        .filter(|key| !evidence[key].is_null())
        .collect();
    if evidence["devices"]
        .as_array()
        .is_some_and(|all| !all.is_empty())
    {
        seen.push("devices");
    }
    seen
}

#[test]
fn a_misspelt_observer_is_answered_with_the_nearest() {
    let case = Case::new();
    let folder = case.folder("data");
    let program = case
        .diskfacts(["measure", "--observe", "device"])
        .arg(&folder);
    case.refuses(
        &program,
        &["no observer is called 'device'; did you mean 'devices'?"],
    );
    let varied = one_stage("operation = \"read\"\n[stage.vary]\nobserve = [\"none\", \"all\"]");
    let plan = case.text_file("plan.toml", &varied);
    let program = case
        .diskfacts(["measure", "--observe", "all", "--plan"])
        .arg(plan)
        .arg(&folder);
    case.refuses(
        &program,
        &["the stage stage varies observe, so --observe cannot set it"],
    );
}

#[test]
fn nobody_but_the_observers_that_were_asked_for_looks() {
    let case = Case::new();
    let folder = case.folder("data");
    let stage = "operation = \"read\"\noperations = 50";
    let measure = |who: &str| {
        let program = case
            .measure_stage(&folder, stage)
            .args(["--size", "8MiB", "--json"]);
        let finished = program.args(["--observe", who]).run();
        finished.expect_code(0);
        serde_json::from_str::<Value>(&finished.stdout).expect("a document")
    };
    let document = measure("none");
    let trial = &trials(&document)[0];
    assert_eq!(seen(trial), Vec::<&str>::new());
    assert_eq!(trial["workload"]["observe"], "none");
    assert_eq!(trial["layers"]["unknown"], 1.0);
    let document = measure("pressure,process_io");
    assert_eq!(seen(&trials(&document)[0]), ["process_io", "pressure"]);
}

/// What a plan gives on a device; `None` where this kernel's events cannot be followed.
fn followed_on(case: &Case, device: &LoopDevice, plan: &str) -> Option<Value> {
    let plan = case.text_file("plan.toml", plan);
    let program = case
        .diskfacts(["measure", "--json", "--time", "30s", "--plan"])
        .arg(plan);
    let finished = program.arg(device.path()).run();
    finished.expect_code(0);
    let document: Value = serde_json::from_str(&finished.stdout).expect("a document");
    let notes = document["run"]["notes"].to_string();
    if notes.contains("trace events of the kernel were not followed") {
        skip(&notes);
        return None;
    }
    Some(document)
}

/// What was followed of a device, and its requests of the first kind.
fn requests_of<'d>(followed: &'d Value, device: &LoopDevice) -> (&'d Value, &'d Value) {
    let devices = followed["devices"].as_array().expect("devices");
    let mut devices = devices.iter();
    let found = devices.find(|found| found["name"] == device.name());
    let found = found.expect("the device");
    (found, &found["operations"][0])
}

#[test]
fn events_are_followed_in_the_first_trial_and_are_the_operations_exactly() {
    let case = Case::new();
    or_skip!(require_root());
    let device = or_skip!(LoopDevice::new(8 * MIB));
    // One at a time: neighbours in flight together would be joined to one request. So
    // few that they are over before it is decided whether they are too many to follow.
    let plan = one_stage("operation = \"read\"\noperations = 300");
    let plan = plan.replace("trials = 1", "trials = 2");
    let Some(document) = followed_on(&case, &device, &plan) else {
        return;
    };
    let [first, second] = trials(&document) else {
        panic!("two trials");
    };
    assert!(second["evidence"]["block_layer"].is_null());
    let followed = &first["evidence"]["block_layer"];
    let (_, reads) = requests_of(followed, &device);
    assert_eq!(
        (&reads["operation"], &reads["issued"]),
        (&"read".into(), &300.into())
    );
    assert_eq!(reads["sizes"][0]["from"], 4096);
    // What read the events is not this process's I/O.
    let process = &first["evidence"]["process_io"];
    assert_eq!(process["read_bytes"], 300 * 4096);
    assert!(
        process["rchar"].as_u64().expect("bytes") < 4096,
        "{process}"
    );
    let shown = case.run(["show", "--explain"]);
    shown.expect_stdout("300 reads of 4 KiB, queued ");
}

/// Requests per second that are followed all the time; beyond them, bursts are enough
/// unless `block_layer` was named. Twice that is far beyond.
const MANY: f64 = 2.0 * 22_200.0;

#[test]
fn of_many_requests_bursts_are_followed_unless_all_are_asked_for_by_name() {
    let case = Case::new();
    or_skip!(require_root());
    let device = or_skip!(LoopDevice::new(8 * MIB));
    let plan = one_stage(
        "operation = \"read\"\nqueue_depth = 16\ncache = \"direct\"\ntime = \"1s\"\n\
         [stage.vary]\nobserve = [\"block_layer\", \"all\", \"auto\"]",
    );
    let Some(document) = followed_on(&case, &device, &plan) else {
        return;
    };
    let mut slow = false;
    for trial in trials(&document) {
        let followed = &trial["evidence"]["block_layer"];
        let of = |key: &str| followed[key].as_f64().expect("a number");
        let (found, reads) = requests_of(followed, &device);
        let issued = reads["issued"].as_f64().expect("requests");
        let share = of("followed_ns") / of("window_ns");
        assert!(issued > 0.0 && share <= 1.0, "{followed}");
        if followed["lost_events"] != 0 {
            // It says so; what empties the buffer got no processor in time.
            return skip("events were lost, as the processors are too busy to fetch them");
        }
        // In each burst no more than its depth was under way at the ends.
        let unseen = reads["issue_unseen"].as_f64().expect("requests");
        let unfinished = reads["unfinished"].as_f64().expect("requests");
        assert!(unseen.max(unfinished) <= 16.0 * of("bursts"), "{followed}");
        let most = found["in_flight_max"].as_u64();
        assert!(
            most.is_some_and(|most| (1..=16).contains(&most)),
            "{followed}"
        );
        if trial["settings"]["observe"] == "block_layer" {
            assert_eq!(followed["bursts"], 1);
            assert!((share - 1.0).abs() < 1e-9, "{share}");
        } else if issued / of("followed_ns") * 1e9 > MANY {
            // How many bursts there are is the processor's to give on a busy machine.
            assert!(of("bursts") >= 1.0 && share < 0.8, "{followed}");
        } else {
            slow = true;
        }
    }
    if slow {
        return skip("this machine reads too slowly now to be followed in bursts");
    }
    let shown = case.run(["show", "--explain"]);
    shown.expect_stdout(" % of the trial, in ");
}
