//! `sim:PROFILE`: any plan on a simulated disk, in virtual time.

use crate::json::{faults, schema};
use crate::support::{Case, trials};
use serde_json::Value;
use std::path::Path;

/// Reads and synced writes, past the page cache and through it. No Poisson
/// arrivals and no Zipf: their logarithms are those of the machine's C library.
const PLAN: &str = r#"
name = "golden"
trials = 2

[[stage]]
name = "random-read"
operation = "read"
pattern = "random"
block_size = "4KiB"
cache = "direct"
queue_depth = 4
streams = 2
operations = 200

[[stage]]
name = "cold-read"
operation = "read"
pattern = "sequential"
block_size = "64KiB"
span = "8MiB"
cache = "cold"

[[stage]]
name = "log-write"
operation = "write"
pattern = "sequential"
block_size = "4KiB"
cache = "buffered"
sync = "fdatasync"
operations = 50

[[stage]]
name = "mixed"
operation = "mixed"
read_percent = 70
pattern = "random"
block_size = "16KiB"
cache = "direct"
rate = 50
arrivals = "fixed"
queue_depth = 8
operations = 100
"#;

fn measure(case: &Case, target: &str, more: &[&str]) -> Value {
    let plan = case.text_file("golden.toml", PLAN);
    let finished = case
        .diskfacts(["measure", target, "--json", "--plan"])
        .arg(plan)
        .args(more)
        .run();
    finished.expect_code(0);
    serde_json::from_str(&finished.stdout).expect("one JSON document and nothing else")
}

#[test]
fn a_simulated_run_is_a_document_of_the_schema_with_the_truth_beside_the_evidence() {
    let case = Case::new();
    let document = measure(&case, "sim:hdd-7200-1tb", &[]);
    assert_eq!(faults(&schema(), &document), [""; 0]);
    assert_eq!(document["target"]["kind"], "simulated");
    assert_eq!(document["target"]["path"], "hdd-7200-1tb");
    assert_eq!(document["stack"]["devices"][0]["kind"], "simulated");
    assert_eq!(document["stack"]["devices"][0]["rotational"], true);
    for trial in trials(&document) {
        let evidence = &trial["evidence"];
        assert_eq!(evidence["engine"]["name"], "sim");
        assert_eq!(evidence["clock"]["source"], "virtual");
        assert!(evidence["truth"]["media"].is_number(), "{evidence}");
        assert!(evidence["devices"][0]["reads"].is_number(), "{evidence}");
        assert!(evidence["pressure"].is_null() && trial["cpu"]["user_ns_per_io"].is_number());
        let unseen = evidence["unseen"].to_string();
        assert!(unseen.contains("cpu_steal") && unseen.contains("pressure"));
    }
    assert!(document["run"]["overhead_ns_per_io"].is_null());
}

#[test]
fn two_runs_are_the_same_and_another_seed_gives_another() {
    let case = Case::new();
    let trials = |more: &[&str]| measure(&case, "sim:ssd-sata", more)["trials"].to_string();
    let first = trials(&[]);
    assert_eq!(first, trials(&[]));
    assert_eq!(first, trials(&["--seed", "1"]));
    assert_ne!(first, trials(&["--seed", "2"]));
}

#[test]
fn the_figures_are_those_of_every_machine() {
    let case = Case::new();
    let found = measure(&case, "sim:hdd-7200-1tb", &["--seed", "7"])["trials"].take();
    let text = serde_json::to_string_pretty(&found).expect("JSON");
    let written = case.text_file("found.json", &text);
    let expected: Value =
        serde_json::from_str(include_str!("../golden/simulated-trials.json")).expect("JSON");
    if found != expected {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("simulated-trials.json");
        std::fs::copy(written, &kept).expect("room for a file");
        panic!(
            "the trials differ from tests/golden/simulated-trials.json; those found are in {}",
            kept.display()
        );
    }
}

#[test]
fn a_survey_of_a_simulated_disk_says_that_it_is_one() {
    let case = Case::new();
    let explained = case.run(["measure", "sim:hdd-7200-1tb", "--trials", "1", "--explain"]);
    // Whatever machine works it out, the disk is in none.
    assert!(
        !explained.stdout.contains("Machine "),
        "{}",
        explained.stdout
    );
    let page = case.path("page.html");
    let written = case.diskfacts(["report", "last", "-o"]).arg(&page).run();
    written.expect_code(0);
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(page.contains("<dt>Engine</dt>") && !page.contains("<dt>Machine</dt>"));
    explained
        .expect_code(0)
        .expect_stdout("hdd-7200-1tb, a simulated disk of 931.3 GiB, in virtual time")
        .expect_stdout("7200 rpm desktop disk")
        .expect_stdout("Engine    sim");
    case.run(["devices", "sim:nvme-consumer"])
        .expect_code(0)
        .expect_stdout("nvme-consumer: a simulated disk")
        .expect_stdout("scheduler none")
        .expect_stdout("write back");
}

#[test]
fn a_profile_of_ones_own_is_read_from_a_file_and_its_faults_show() {
    let case = Case::new();
    let text = "name = \"mine\"\nabout = \"a drive with a bad sector\"\n\n[ssd]\ncapacity = \"1GiB\"\nchannels = 1\ndies_per_channel = 2\npage = \"16KiB\"\npages_per_block = 64\nspare_percent = 20\nread = \"50us\"\nprogram = \"400us\"\nerase = \"4ms\"\nchannel = \"400MB/s\"\nlink = \"500MB/s\"\ncommand = \"20us\"\ncommand_interval = \"5us\"\nwrite_buffer = \"1MiB\"\npower_loss_protection = false\nflush = \"1ms\"\nqueue_depth = 32\nwear = \"fresh\"\n";
    let good = case.text_file("mine.toml", text);
    let stage = "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"4KiB\"\ncache = \"direct\"\nspan = \"1MiB\"\noperations = 256";
    let target = format!("sim:{}", good.display());
    case.measure_stage(Path::new(&target), stage)
        .run()
        .expect_code(0)
        .expect_stdout("mine, a simulated disk of 1 GiB");

    let bad = format!(
        "{text}\n[[faults.weak_sector]]\noffset = \"64KiB\"\nretries = 3\nreadable = false\n"
    );
    case.text_file("mine.toml", &bad);
    case.measure_stage(Path::new(&target), stage)
        .arg("--explain")
        .run()
        .expect_code(1)
        .expect_stdout("1 operation failed")
        .expect_stdout("first at byte 65536 (64 KiB)")
        .expect_stderr("as its profile has it")
        .expect_stderr(" --store ");

    // What fails before the trials is told too, and not the note that happens to be last.
    let elsewhere = "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"4KiB\"\noffset = \"16MiB\"\nspan = \"1MiB\"\noperations = 64";
    // It reads each block before it writes it.
    let first = stage.replace("\"read\"", "\"modify\"");
    let plan = format!(
        "name = \"p\"\ntrials = 1\n[[precondition]]\nname = \"look\"\nrounds = 1\n{first}\n[[stage]]\nname = \"read\"\n{elsewhere}\n"
    );
    let plan = case.text_file("look.toml", &plan);
    case.diskfacts(["measure", &target, "--time", "1s", "--plan"])
        .arg(plan)
        .run()
        .expect_code(1)
        .expect_stderr("diskfacts: before the trials 1 operation failed on sim:");
}

#[test]
fn ctrl_c_ends_virtual_time_too_and_keeps_what_is_complete() {
    let case = Case::new();
    let plan = case.text_file(
        "plan.toml",
        "name = \"p\"\ntrials = 1\n[[stage]]\nname = \"short\"\noperation = \"read\"\noperations = 10\n[[stage]]\nname = \"long\"\noperation = \"read\"\nstreams = 2\ntime = \"10000h\"\n",
    );
    let running = case
        .diskfacts(["measure", "sim:nvme-consumer", "--seed", "1", "--plan"])
        .arg(plan)
        .start();
    running.wait_for_stderr("stage 1 of 2: short");
    running.interrupt();
    running
        .finish()
        .expect_code(130)
        .expect_stdout("INTERRUPTED")
        .expect_stderr("stopped by Ctrl-C; 1 complete trial is stored");
    assert_eq!(trials(&case.last()).len(), 1);
}

#[test]
fn wrong_calls_on_simulated_disks_are_refused_with_what_would_be_right() {
    let case = Case::new();
    let measure = |target: &str, more: &[&str]| {
        case.diskfacts(["measure", target])
            .args(more.iter().copied())
    };
    case.refuses(
        &measure("sim:nvme-datacentre", &[]),
        &[
            "'nvme-datacentre'",
            "did you mean 'nvme-datacenter'?",
            "raid6x8",
        ],
    );
    case.refuses(
        &case.diskfacts(["devices", "sim:nope"]),
        &["there is no simulated disk called 'nope'", "hdd-7200-1tb"],
    );
    case.refuses(
        &measure("sim:./none.toml", &[]),
        &["./none.toml cannot be read", "No such file"],
    );
    let broken = case.text_file("broken.toml", "name = \"x\"\n[hdd]\nrpm = 0\n");
    case.refuses(
        &measure(&format!("sim:{}", broken.display()), &[]),
        &["broken.toml cannot be understood", "line "],
    );
    case.refuses(
        &measure("sim:ssd-sata", &["--size", "1GiB"]),
        &["--size is for the file"],
    );
    case.refuses(
        &measure("sim:ssd-sata", &["--destroy-data-on", "sim:ssd-sata"]),
        &["a simulated disk, which holds no data"],
    );
    case.refuses(
        &measure("sim:ssd-sata", &["--plan", "overhead"]),
        &["real time", "only virtual time"],
    );
    let stage = |lines: &str| {
        let text =
            format!("name = \"p\"\n[[stage]]\nname = \"s\"\noperation = \"read\"\n{lines}\n");
        case.text_file("p.toml", &text).display().to_string()
    };
    let beyond = stage("offset = \"900GiB\"\nspan = \"200GiB\"");
    case.refuses(
        &measure("sim:hdd-7200-1tb", &["--plan", &beyond]),
        &["cannot be measured as the plan p asks"],
    );
    let odd = stage("cache = \"direct\"\nblock_size = \"1000\"");
    case.refuses(
        &measure("sim:hdd-7200-1tb", &["--plan", &odd]),
        &["block_size", "512"],
    );
}
