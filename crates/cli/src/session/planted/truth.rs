//! Who served the bytes, as it is worked out from the witnesses of a host,
//! against what the simulated disk says.

use super::setup::Setup;
use diskfacts_disk::profile::profiles;
use diskfacts_plan::{Plan, file};
use diskfacts_record::{Layers, Run};

/// What may be under way when a window opens or closes.
const OFF: f64 = 0.02;

/// Each way through the page cache, and each way to sync.
const PLAN: &str = r#"
name = "layers"
trials = 2

[[stage]]
name = "cold-read"
operation = "read"
pattern = "sequential"
block_size = "64KiB"
span = "64MiB"
cache = "cold"

[[stage]]
name = "warm-read"
operation = "read"
pattern = "random"
block_size = "64KiB"
span = "64MiB"
cache = "warm"
operations = 1000

[[stage]]
name = "buffered-random-read"
operation = "read"
pattern = "random"
block_size = "16KiB"
offset = "1GiB"
span = "16MiB"
cache = "buffered"
operations = 1000

[[stage]]
name = "buffered-write"
operation = "write"
pattern = "sequential"
block_size = "64KiB"
offset = "2GiB"
span = "32MiB"
cache = "buffered"
operations = 500

[[stage]]
name = "buffered-write-at-end"
operation = "write"
pattern = "sequential"
block_size = "64KiB"
offset = "3GiB"
span = "32MiB"
cache = "buffered"
sync = "at-end"
operations = 500

[[stage]]
name = "log-write"
operation = "write"
pattern = "sequential"
block_size = "4KiB"
offset = "4GiB"
span = "32MiB"
cache = "buffered"
sync = "fdatasync"
operations = 100

[[stage]]
name = "forced-write"
operation = "write"
pattern = "random"
block_size = "16KiB"
cache = "direct"
sync = "o-dsync"
operations = 100

[[stage]]
name = "direct-write-at-end"
operation = "write"
pattern = "sequential"
block_size = "1MiB"
offset = "5GiB"
span = "64MiB"
cache = "direct"
queue_depth = 4
sync = "at-end"
operations = 64

[[stage]]
name = "mixed"
operation = "mixed"
read_percent = 70
pattern = "random"
block_size = "4KiB"
cache = "direct"
queue_depth = 8
streams = 2
operations = 1000
"#;

#[test]
fn the_layers_worked_out_are_those_of_the_truth_on_every_disk() {
    let mut wrong = Vec::new();
    for name in profiles() {
        let sound = Setup::on(name);
        let mut layers = Setup::on(name);
        layers.plan = plan();
        let mut short = Vec::new();
        for setup in [sound, layers] {
            let run = setup.run();
            assert!(run.trials.iter().all(|trial| trial.errors == 0), "{name}");
            short.extend(differences(&run));
        }
        wrong.extend(short.into_iter().map(|what| format!("{name} {what}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

pub(super) fn plan() -> Plan {
    file::parse(PLAN).expect("a plan")
}

fn differences(run: &Run) -> Vec<String> {
    let mut found = Vec::new();
    for trial in &run.trials {
        let truth = trial.evidence.truth.expect("a simulated disk knows").layers;
        if !agree(&trial.layers, &truth) {
            found.push(format!(
                "{} {}: {:?}, in truth {truth:?}",
                trial.stage, trial.number, trial.layers
            ));
        }
    }
    found
}

/// A host cannot know all that a disk does: where it says something, that is
/// true, and what it cannot tell it calls unknown.
fn agree(worked_out: &Layers, truth: &Layers) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= OFF;
    let device = worked_out.device.zip(truth.device);
    near(worked_out.page_cache, truth.page_cache)
        && device.is_some_and(|(a, b)| near(a, b))
        && worked_out.media <= truth.media + OFF
        && worked_out.drive_cache <= truth.drive_cache + OFF
}

#[test]
fn of_a_disk_that_lies_about_flushes_the_layer_is_unknown_and_in_truth_its_cache() {
    let mut setup = Setup::on("hdd-7200-1tb");
    let stage = setup.only("log-write");
    stage.workload.stop.time_ns = None;
    // Less than the cache holds before it is written.
    stage.workload.stop.operations = Some(500);
    setup.profile.faults.lying_flush = true;
    let run = setup.run();
    for trial in &run.trials {
        let truth = trial.evidence.truth.expect("a simulated disk knows").layers;
        assert!(trial.layers.unknown > 0.99, "{:?}", trial.layers);
        assert!(truth.drive_cache > 0.99, "{truth:?}");
        assert!(agree(&trial.layers, &truth));
    }
}
