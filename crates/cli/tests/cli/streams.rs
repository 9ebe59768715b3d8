//! The plan `streams`: readers alone and disturbed, served by one thread and by
//! several.

use crate::support::{Case, MIB, number, trials};
use diskfacts_testkit::{LoopDevice, or_skip, require_root};
use serde_json::Value;

fn cell<'d>(document: &'d Value, served_by: &str, beside: &str) -> &'d Value {
    let is_cell = |trial: &&Value| {
        trial["settings"]["served-by"] == served_by && trial["settings"]["beside"] == beside
    };
    trials(document).iter().find(is_cell).expect("the cell")
}

#[test]
fn readers_are_measured_alone_and_beside_another_and_each_counts_for_itself() {
    let case = Case::new();
    let folder = case.folder("data");
    let finished = case
        .diskfacts(["measure", "--explain"])
        .arg(&folder)
        .args(["--plan", "streams", "--size", "256MiB", "--time", "6s"])
        .args(["--trials", "1", "--seed", "3"])
        .run();
    finished
        .expect_code(0)
        .expect_stdout("2 stages in 9 cells, 1 trial of each")
        .expect_stdout("five threads, five I/O contexts")
        .expect_stdout("Streams, and what ran beside them")
        .expect_stdout("fairness");
    for line in finished.stdout.lines() {
        let copied = line.starts_with("Command") || line.contains('`') || line.contains('/');
        assert!(line.len() <= 80 || copied, "{line}");
    }
    let document = case.last();
    assert_eq!(trials(&document).len(), 9);
    for served_by in [
        "one thread",
        "five threads, one I/O context",
        "five threads, five I/O contexts",
    ] {
        let alone = cell(&document, served_by, "nothing");
        assert_eq!(alone["evidence"]["beside"], Value::Null);
        let disturbed = cell(&document, served_by, "far reader");
        let beside = &disturbed["evidence"]["beside"];
        assert!(number(&beside["ops"]) > 0.0, "{beside}");
        assert_eq!(beside["ended_early"], Value::Null);
        // What the other read is no part of this one's account: it read its span again
        // and again, and the kernel may have read some windows ahead of this one's.
        for trial in [alone, disturbed] {
            assert_eq!(trial["errors"], 0);
            let bytes = number(&trial["bytes"]);
            assert!(bytes <= 26.0 * MIB as f64, "{bytes}");
            let Some(charged) = trial["evidence"]["process_io"]["read_bytes"].as_f64() else {
                continue;
            };
            assert!(
                charged <= bytes + 32.0 * MIB as f64,
                "{charged} for {bytes}"
            );
        }
        let mut layers = 0.0;
        for layer in ["page_cache", "drive_cache", "media", "unknown"] {
            layers += number(&disturbed["layers"][layer]);
        }
        assert!((layers - 1.0).abs() < 1e-9, "{disturbed}");
    }
    for trial in trials(&document) {
        let streams = trial["workload"]["streams"].as_u64().expect("streams");
        let shares = trial["evidence"]["streams"].as_array().expect("a list");
        assert_eq!(shares.len() as u64, if streams > 1 { streams } else { 0 });
        let sum: f64 = shares.iter().map(|share| number(&share["bytes"])).sum();
        assert!(streams == 1 || (sum - number(&trial["bytes"])).abs() < 0.5);
    }

    let classic = case.run(["show", "last", "--style", "classic"]);
    classic
        .expect_code(0)
        .expect_stdout("Run at the same time:\n#while true; do dd if=");
    let commands = classic.stdout.lines().filter(|l| l.starts_with("#dd if="));
    assert_eq!(commands.count(), 9);
    let rates: Vec<&str> = classic
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("a) ")?.split(' ').next())
        .collect();
    assert_eq!(rates.len(), 9, "{}", classic.stdout);
    for rate in rates {
        let rate: f64 = rate.replace(',', ".").parse().expect("a rate");
        assert!(rate > 0.0);
    }
}

/// Bytes of a device read by the trial, by the other, and in all.
#[test]
fn on_a_device_what_both_read_adds_up_to_what_it_counted() {
    or_skip!(require_root());
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(64 * MIB));
    let plan = case.text_file(
        "two.toml",
        "name = \"two\"\ntrials = 1\n[[stage]]\nname = \"near\"\noperation = \"read\"\n\
         pattern = \"sequential\"\nblock_size = \"64KiB\"\ncache = \"cold\"\nspan = \"50%\"\n\
         [stage.beside]\noperation = \"read\"\nblock_size = \"4KiB\"\ncache = \"direct\"\n\
         offset = \"50%\"\nrate = 200\n",
    );
    let finished = case
        .diskfacts(["measure"])
        .arg(device.path())
        .args(["--time", "2s", "--plan"])
        .arg(&plan)
        .run();
    finished.expect_code(0);
    let document = case.last();
    let trial = &trials(&document)[0];
    let own = number(&trial["bytes"]);
    let beside = number(&trial["evidence"]["beside"]["process_io"]["read_bytes"]);
    let charged = number(&trial["evidence"]["process_io"]["read_bytes"]);
    let counted = number(&trial["evidence"]["devices"][0]["read_bytes"]);
    assert!((own - 32.0 * MIB as f64).abs() < 0.5, "{own}");
    // Read-ahead does not know where the span ends, and is charged when it is sent:
    // what is under way when the window closes the device has not counted.
    assert!(charged >= own && beside > 0.0, "{charged} {own} {beside}");
    assert!(
        counted >= own && counted <= charged + beside + MIB as f64,
        "{counted} {charged} {beside}"
    );
}

#[test]
fn a_disturbance_that_dies_is_told_and_does_not_end_the_run() {
    let case = Case::new();
    // `diskfacts sim PROFILE` prints a profile as a file of one's own.
    let shown = case.run(["sim", "ssd-sata"]);
    shown.expect_code(0);
    let weak = "\n[[faults.weak_sector]]\noffset = \"1GiB\"\nretries = 2\nreadable = false\n";
    let own = case.text_file("weak.toml", &format!("{}{weak}", shown.stdout));
    let plan = case.text_file(
        "two.toml",
        "name = \"two\"\ntrials = 3\n[[stage]]\nname = \"near\"\noperation = \"read\"\n\
         span = \"512MiB\"\ntime = \"1s\"\n[stage.beside]\noperation = \"read\"\n\
         pattern = \"sequential\"\noffset = \"1GiB\"\nspan = \"4KiB\"\n",
    );
    let target = format!("sim:{}", own.display());
    let finished = case
        .diskfacts(["measure", "--explain"])
        .arg(target)
        .arg("--plan")
        .arg(&plan)
        .run();
    finished
        .expect_code(0)
        .expect_stdout("In 3 of 3 trials it ended early.")
        .expect_stdout("What was to run beside near ended early")
        .expect_stdout("it gave up after 1000 failed operations");
}
