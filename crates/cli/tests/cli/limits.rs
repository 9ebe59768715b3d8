//! What limited the stages of a measurement of a real filesystem, as far as that is
//! certain wherever it runs. What is certain on a throttled device stands with
//! [`throttled`](crate::throttled).

use crate::support::Case;
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
    program.arg(&folder).run().expect_code(0);
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
