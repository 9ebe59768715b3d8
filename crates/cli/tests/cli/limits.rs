//! What limited the stages of a measurement of a real filesystem, as far as that is
//! certain wherever it runs. What is certain on a throttled device stands with
//! [`throttled`](crate::throttled).

use crate::support::{Case, MIB, number, one_stage, trials, write_data};
use diskfacts_testkit::{LoopDevice, Missing, or_skip, skip};
use serde_json::Value;

/// The limiter named first for a stage, and the whole list.
#[track_caller]
fn first<'a>(document: &'a Value, stage: &str) -> (&'a str, &'a Value) {
    let all = document["limits"].as_array().expect("limits");
    let of_stage = all.iter().find(|limits| limits["stage"] == stage);
    let limits = &of_stage.expect("a stage of the run")["limits"];
    (limits[0]["limiter"].as_str().unwrap_or("none"), limits)
}

/// Stages whose limit is known: memory, the rate that was asked for, and memory
/// again for a few writes that nobody syncs.
const PLAN: &str = r#"
name = "known"
trials = 3

[[stage]]
name = "warm"
operation = "read"
pattern = "random"
block_size = "4KiB"
span = "4MiB"
cache = "warm"
time = "300ms"

[[stage]]
name = "seldom"
operation = "read"
pattern = "random"
block_size = "4KiB"
cache = "buffered"
rate = 20
arrivals = "fixed"
time = "500ms"

[[stage]]
name = "kept-back"
operation = "write"
pattern = "sequential"
block_size = "64KiB"
cache = "buffered"
bytes = "4MiB"
"#;

#[test]
fn what_limits_stages_of_a_real_filesystem_is_named() {
    let case = Case::new();
    let folder = case.folder("target");
    let plan = case.text_file("plan.toml", PLAN);
    let program = case.diskfacts(["measure", "--size", "16MiB", "--time", "5s", "--plan"]);
    program.arg(&plan).arg(&folder).run().expect_code(0);
    let document = case.last();
    for (stage, limiter) in [
        ("warm", "page-cache"),
        ("seldom", "offered-load"),
        ("kept-back", "page-cache"),
    ] {
        let (found, limits) = first(&document, stage);
        assert_eq!(found, limiter, "{stage}: {limits:#}");
    }
}

#[test]
fn the_survey_of_a_real_filesystem_names_memory_only_where_memory_served() {
    let case = Case::new();
    let folder = case.folder("target");
    let program = case.diskfacts(["measure", "--size", "64MiB", "--time", "4s"]);
    let measured = program.arg(&folder).run();
    measured.expect_code(0);
    // What a person reads of a real disk, with all that is to be said of this one.
    let lines = measured.stdout.lines().count();
    assert!(lines <= 45, "{lines} lines:\n{}", measured.stdout);
    let document = case.last();
    assert_eq!(first(&document, "cached-random-read").0, "page-cache");
    for limits in document["limits"].as_array().expect("limits") {
        let stage = limits["stage"].as_str().expect("a name");
        let (found, all) = first(&document, stage);
        // Nobody mislabels, asks for a rate, or limits this test.
        for never in ["mislabelled", "offered-load", "request-splitting"] {
            assert_ne!(found, never, "{stage}: {all:#}");
        }
        let figures = document["figures"].as_array().expect("figures");
        let figures = figures.iter().find(|figures| figures["stage"] == stage);
        let memory = &figures.expect("figures of the stage")["layers"]["page_cache"];
        if memory.as_f64().expect("a share") < 0.5 {
            assert_ne!(found, "page-cache", "{stage}: {all:#}");
        }
    }
}

/// Requests of 32 in flight, all of them followed, at a device with this scheduler.
fn under(scheduler: &str, strict: Option<&str>) -> Result<(LoopDevice, Value), Missing> {
    let device = LoopDevice::new(32 * MIB)?;
    write_data(device.backing_file(), 32 * MIB);
    device.set("scheduler", scheduler)?;
    if let Some(strict) = strict {
        device.set(&format!("iosched/{strict}"), "1")?;
    }
    let case = Case::new();
    let stage = "operation = \"read\"\nqueue_depth = 32\ncache = \"direct\"\noperations = 20000\nobserve = \"block_layer\"";
    let plan = case.text_file("plan.toml", &one_stage(stage));
    case.diskfacts(["measure", "--plan"])
        .args([plan.as_path(), device.path()])
        .run()
        .expect_code(0);
    let document = case.last();
    Ok((device, document))
}

/// A scheduler that keeps one request with the device at a time (`strict_guarantees` of
/// bfq), and the same device without one.
#[test]
fn a_scheduler_that_serves_one_at_a_time_is_named_and_not_the_device() {
    let (device, document) = or_skip!(under("bfq", Some("strict_guarantees")));
    let seen = &trials(&document)[0]["evidence"]["block_layer"];
    if seen.is_null() {
        return skip("the kernel's trace events, and root");
    }
    // That it is so, by the kernel's own events.
    let of_device = seen["devices"].as_array().expect("devices");
    let of_device = of_device.iter().find(|one| one["name"] == device.name());
    let of_device = of_device.expect("the device");
    assert_eq!(of_device["in_flight_max"], 1, "{of_device:#}");
    let mean = |part: &str| number(&of_device["operations"][0][part]["mean"]);
    assert!(mean("queued_ns") > 2.0 * mean("device_ns"), "{of_device:#}");
    let (found, limits) = first(&document, "stage");
    assert_eq!(found, "device-queue", "{limits:#}");
    let said = format!(
        "The scheduler of {}, bfq, sends it 1 request",
        device.name()
    );
    let claim = limits[0]["claim"].as_str().expect("a sentence");
    assert!(claim.starts_with(&said), "{limits:#}");
    assert!(!limits.to_string().contains("device is full"), "{limits:#}");
    drop(device);

    let (_device, document) = or_skip!(under("none", None));
    let limits = document["limits"].to_string();
    assert!(!limits.contains("The scheduler of"), "{limits}");
}
