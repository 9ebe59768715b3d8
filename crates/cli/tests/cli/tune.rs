//! `diskfacts tune`: what is best is what was planted, and where nothing can differ
//! nothing is said to.

use crate::json::{faults, schema};
use crate::support::Case;
use serde_json::Value;

/// The run of `diskfacts tune` with these arguments, as its document.
fn tune(case: &Case, arguments: &[&str]) -> Value {
    let finished = case.run([&["tune"], arguments, &["--json"]].concat());
    finished.expect_code(0);
    serde_json::from_str(&finished.stdout).expect("one JSON document and nothing else")
}

/// The array of seed 001, with a reader beside: a visit to either costs two long seeks,
/// so what one brings along decides.
const DISTURBED: [&str; 9] = [
    "sim:hdd-7200-md-raid0x2",
    "--stage",
    "reader-disturbed",
    "--vary",
    "scheduler=none,mq-deadline",
    "--vary",
    "read_ahead_kb=128,512,4096",
    "--time",
    "20s",
];

fn main_effect<'d>(effects: &'d Value, axis: &str) -> &'d Value {
    let mut all = effects["main_effects"].as_array().expect("a list").iter();
    all.find(|effect| effect["axis"] == axis).expect("the axis")
}

#[test]
fn the_read_ahead_is_what_matters_to_two_readers_of_a_disk_that_turns() {
    let case = Case::new();
    let document = tune(&case, &DISTURBED);
    assert_eq!(faults(&schema(), &document), [""; 0]);
    let effects = &document["effects"][0];
    let size = main_effect(effects, "read_ahead_kb");
    assert_eq!(size["beyond_noise"], true, "{effects}");
    let ratio = |at: usize| size["levels"][at]["ratio"].as_f64().expect("a ratio");
    // Seed 001 under deadline: 4.7, 8.8 and 26.3 to 39.3 MB/s.
    assert!(ratio(0) < ratio(1) && ratio(1) < ratio(2), "{size}");
    let answer = &effects["answers"][0];
    assert_eq!(answer["outcome"], "better");
    assert_eq!(answer["best"]["read_ahead_kb"], "4096");
    assert_eq!(document["plan"]["choose"].as_array().map(Vec::len), Some(2));
    // The best of many trials of one cell each, without any statistics.
    let best = |cell: &&Value| cell["rate"]["median"].as_f64().expect("a rate") as u64;
    let cells = effects["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), 6);
    let fastest = cells.iter().max_by_key(best).expect("a cell");
    assert_eq!(fastest["settings"]["read_ahead_kb"], "4096");
}

#[test]
fn a_tuning_of_a_simulated_disk_is_the_same_every_time() {
    let case = Case::new();
    let [first, again] = [(); 2].map(|()| tune(&case, &DISTURBED)["effects"].to_string());
    assert_eq!(first, again);
    let other = tune(&case, &[&DISTURBED[..], &["--seed", "2"]].concat());
    assert_ne!(other["effects"].to_string(), first);
}

#[test]
fn where_a_setting_cannot_matter_nothing_differs_beyond_noise() {
    let case = Case::new();
    // Reads at random are no neighbours that could be joined.
    let arguments = [
        "sim:hdd-7200-1tb",
        "--stage",
        "random-reads",
        "--vary",
        "nomerges=0,2",
        "--vary",
        "max_sectors_kb=128,512",
        "--time",
        "20s",
    ];
    let effects = &tune(&case, &arguments)["effects"][0];
    assert_eq!(
        effects["answers"][0]["outcome"], "no-difference",
        "{effects}"
    );
    for effect in effects["main_effects"].as_array().expect("a list") {
        assert_eq!(effect["beyond_noise"], false, "{effect}");
    }
    assert_eq!(effects["interactions"][0]["beyond_noise"], false);
}

#[test]
fn keys_of_a_stage_are_tuned_in_a_folder_by_anybody() {
    let case = Case::new();
    let folder = case.folder("data");
    let plan = "name = \"x\"\n[[stage]]\nname = \"cached\"\noperation = \"read\"\n\
                cache = \"warm\"\ntime = \"20ms\"\n";
    let plan = case.text_file("x.toml", plan);
    let finished = case
        .diskfacts(["tune", "--explain"])
        .arg(folder)
        .args(["--vary", "block_size=4KiB,1MiB", "--size", "8MiB", "--plan"])
        .arg(plan)
        .run();
    finished.expect_code(0);
    finished.expect_stderr("2 combinations of block_size make 2 stages; 10 trials, 5 of each");
    for said in [
        "Which settings are best",
        "What each setting does",
        "block_size",
        "4KiB",
        "Medians of 5 trials, MB/s of 10^6 bytes",
    ] {
        assert!(
            finished.stdout.contains(said),
            "{said}: {}",
            finished.stdout
        );
    }
    // It is worked out again from what is stored.
    let effects = &case.last()["effects"][0];
    assert_eq!(effects["axes"][0]["choice"], true);
    assert_eq!(effects["cells"][0]["rate"]["trials"], 5);
}

#[test]
fn what_cannot_be_varied_is_refused_before_anything_is_done() {
    let case = Case::new();
    let refuses = |arguments: &[&str], said: &[&str]| {
        let call = ["tune", "sim:hdd-7200-1tb"].iter().chain(arguments);
        case.refuses(&case.diskfacts(call), said);
    };
    refuses(&[], &["--vary <KEY=V1,V2,...>"]);
    refuses(&["--vary", "scheduler"], &["as in --vary"]);
    refuses(
        &["--vary", "blok_size=4k,8k"],
        &["did you mean 'block_size'?"],
    );
    refuses(&["--vary", "scheduler=bfq"], &["nothing to choose from"]);
    refuses(&["--vary", "foo=1"], &["unknown key 'foo'"]);
    refuses(
        &["--vary", "streams=1,2", "--vary", "streams=4,8"],
        &["streams is given twice"],
    );
    refuses(
        &["--vary", "read_ahead_kb=128,much"],
        &["read_ahead_kb: it should be a whole number of KiB"],
    );
    refuses(
        &["--vary", "scheduler=bfq,kyber"],
        &["scheduler = kyber", "none, mq-deadline, bfq"],
    );
    refuses(
        &["--vary", "wbt_lat_usec=0,75000"],
        &["a simulated host has no such setting; it has scheduler"],
    );
    refuses(&["--vary", "queue_depth=0,8"], &["queue_depth"]);
    refuses(
        &["--vary", "streams=1,2", "--stage", "raeder"],
        &["did you mean 'reader'?"],
    );
    refuses(&["--vary", "streams=1,2", "--plan", "strems"], &["streams"]);
}

/// Rates of the cells of a stage, MB/s, by scheduler, read-ahead, context and neighbour.
fn rates(document: &Value) -> impl Fn(&str, u64, &str, &str) -> f64 {
    let cells = document["effects"][0]["cells"].clone();
    move |scheduler, kib, served, beside| {
        let mut cells = cells.as_array().expect("a list").iter();
        let found = cells.find(|cell| {
            let is = |name: &str, value: &str| cell["settings"][name] == value;
            is("scheduler", scheduler)
                && is("read_ahead_kb", &kib.to_string())
                && is("served-by", served)
                && is("beside", beside)
        });
        let found = found.unwrap_or_else(|| panic!("{scheduler} {kib} {served} {beside}"));
        found["rate"]["median"].as_f64().expect("a rate") / 1e6
    }
}

#[test]
fn the_matrix_of_seed_001_shows_what_the_document_says_as_far_as_the_host_has_it() {
    let case = Case::new();
    let finished = case.run([
        "measure",
        "sim:hdd-7200-md-raid0x2",
        "--plan",
        "readahead-matrix",
        "--stage",
        "reader",
        "--trials",
        "3",
        "--time",
        "240s",
        "--json",
    ]);
    finished.expect_code(0);
    let document: Value = serde_json::from_str(&finished.stdout).expect("a JSON document");
    let rate = rates(&document);
    let sizes = [128, 512, 1024, 2048, 4096];
    // "The best performance achieved with RA maximum size 4M", with a second reader.
    for pair in sizes.windows(2) {
        let [smaller, larger] =
            [pair[0], pair[1]].map(|kib| rate("mq-deadline", kib, "five contexts", "far reader"));
        assert!(larger > 1.1 * smaller, "{pair:?}: {smaller} {larger}");
    }
    // Lines 186 to 188 and 179 to 181: 4.7 and 51 MB/s under deadline by default.
    let [beside, alone] =
        ["far reader", "nothing"].map(|beside| rate("mq-deadline", 128, "one context", beside));
    assert!(
        (4.2..5.2).contains(&beside) && (46.0..56.0).contains(&alone),
        "{beside} {alone}"
    );
    // One context: the fair scheduler gives each reader turns (22.9 against 4.7 MB/s), and
    // the read-ahead matters little. Five: it waits for who does not come (4.1).
    let fair = |kib, served| rate("bfq", kib, served, "far reader");
    assert!(fair(128, "one context") > 3.0 * beside);
    assert!(fair(4096, "one context") < 2.5 * fair(128, "one context"));
    assert!(fair(128, "five contexts") < beside);
    assert!(fair(4096, "five contexts") > 5.0 * fair(128, "five contexts"));
    // That is an interaction, and it is named.
    let effects = &document["effects"][0];
    let pairs = effects["interactions"].as_array().expect("a list");
    let named = pairs.iter().any(|pair| {
        pair["axes"] == serde_json::json!(["scheduler", "served-by"])
            && pair["beyond_noise"] == true
    });
    assert!(named, "{pairs:?}");
    let answers = effects["answers"].as_array().expect("a list");
    let disturbed = answers.iter().find(|answer| {
        answer["under"]["beside"] == "far reader" && answer["under"]["served-by"] == "five contexts"
    });
    let disturbed = disturbed.expect("an answer");
    assert_eq!(disturbed["best"]["read_ahead_kb"], "4096", "{disturbed}");
    let classic = case.run(["show", "last", "--style", "classic"]);
    classic.expect_code(0);
    assert!(
        classic
            .stdout
            .contains("Run at the same time:\n#while true; do dd if=")
    );
}
