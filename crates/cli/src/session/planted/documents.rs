//! What rules say of documents: a simulated disk is measured, what it gives is
//! written down as other programs write it, with one flaw in the writing or in
//! what is compared, and read again. Each rule speaks of the document that has
//! its flaw, and of no other one.

use super::setup::Setup;
use crate::session::conclude_document;
use diskfacts_disk::profile::Drive;
use diskfacts_plan::{CacheMode, Operation, Stop, WriteMode, builtin};
use diskfacts_record::{Finding, Run, Trial};
use diskfacts_report::classic;
use diskfacts_report::formats::stride::{Op, Place, Row, Suffix};
use diskfacts_report::import::read;
use diskfacts_report::import::runs::{self, Origin};
use std::fmt::Write as _;
use std::sync::LazyLock;

/// The rules that are about documents.
pub(super) const RULES: [&str; 7] = [
    "littles-law",
    "memory-speed",
    "mislabelled",
    "no-figure",
    "one-unit",
    "place-not-filesystem",
    "write-revolutions",
];

/// The findings of a document.
pub(super) fn found(text: &str) -> Vec<Finding> {
    let origin = Origin {
        file: "results.txt".into(),
        started: "2026-11-21T02:41:50Z".into(),
        tool_version: "0.1.0".into(),
        command: Vec::new(),
    };
    let mut number = 0;
    let mut runs = runs::of(&read(text.as_bytes()).expect("text"), &origin, || {
        number += 1;
        format!("20261121-024150-{number:04x}")
    });
    assert!(!runs.is_empty(), "nothing was read of\n{text}");
    conclude_document(&mut runs);
    let mut found: Vec<Finding> = Vec::new();
    for finding in runs.into_iter().flat_map(|run| run.findings) {
        if !found.contains(&finding) {
            found.push(finding);
        }
    }
    found
}

/// Those of [`RULES`] that speak of a document.
fn speaking(text: &str) -> Vec<&'static str> {
    let found = found(text);
    let spoke = |rule: &&str| found.iter().any(|finding| finding.rule == **rule);
    RULES.into_iter().filter(spoke).collect()
}

/// Strided reads of a disk of which a partition begins here, the first trial of
/// each stage.
fn strided(inner: bool) -> Vec<Trial> {
    let mut setup = Setup::on("hdd-7200-1tb");
    if inner {
        setup.profile.faults.partition_start = setup.profile.capacity() / 2;
    }
    setup.plan = builtin::plan("stride").expect("it is built in");
    setup.plan.trials = 1;
    let stages = &mut setup.plan.stages;
    stages.retain(|stage| stage.workload.operation == Operation::Read);
    for stage in stages {
        stage.full = None;
        if stage.workload.stop == Stop::default() {
            stage.workload.stop.bytes = Some(64 << 20);
        }
    }
    setup.run().trials
}

static OUTER: LazyLock<Vec<Trial>> = LazyLock::new(|| strided(false));
static INNER: LazyLock<Vec<Trial>> = LazyLock::new(|| strided(true));

/// One line; `times` is by how much a wrong fraction makes its figures larger.
fn line(trial: &Trial, place: Place, at: Option<&str>, (fraction, times): (u64, u64)) -> Row {
    let diskfacts_plan::Pattern::Stride { skip_blocks, .. } = trial.workload.pattern else {
        panic!("a strided stage");
    };
    Row {
        place: Some(place),
        op: Op::Read,
        fraction,
        total_mib: 16_384,
        log2_bytes: 34,
        block_size: trial.workload.block_size,
        skip_blocks,
        seconds: trial.seconds,
        span_mib_per_s: 0.0,
        real_mib_per_s: 0.0,
        seeks_per_s: 0.0,
        suffix: at.map(|at| Suffix::At(at.to_owned())),
    }
    .worked_out(trial.ops * times)
}

/// The lines of a place.
fn lines(trials: &[Trial], place: Place) -> String {
    let mut text = String::new();
    for trial in trials {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", line(trial, place, None, (1024, 1)));
    }
    text
}

/// The trial of a stage with this skip.
fn skipping(trials: &[Trial], skip: u64) -> &Trial {
    let of = |trial: &&Trial| {
        matches!(trial.workload.pattern,
            diskfacts_plan::Pattern::Stride { skip_blocks, .. } if skip_blocks == skip)
    };
    trials.iter().find(of).expect("a stage with that skip")
}

/// A line of dd that reads in order.
fn dd(path: &str, bytes_per_s: f64) -> String {
    let bytes = 4_294_967_296_u64;
    format!(
        "dd if={path} of=/dev/null bs=1M count=4k iflag=direct ... {bytes} bytes (4.3 GB) copied, \
         {:.4} s, {:.0} MB/s\n",
        bytes as f64 / bytes_per_s,
        bytes_per_s / 1e6
    )
}

fn rate(trials: &[Trial]) -> f64 {
    skipping(trials, 1).throughput_bytes_per_s
}

#[test]
fn a_copy_that_took_no_time_is_no_figure() {
    let sound = dd("/dev/sdb2", rate(&OUTER));
    assert_eq!(speaking(&sound), [""; 0]);
    let empty = "dd if=/dev/sdb2 of=/dev/null bs=1M count=4k iflag=direct ... 4294967296 bytes \
                 (4.3 GB) copied, 0 s, 0 MB/s\n";
    let found = found(&(sound + empty));
    let finding = found.iter().find(|finding| finding.rule == "no-figure");
    let finding = finding.expect("the second line has no rate");
    assert!(
        finding.evidence[0].ends_with("1 of 2 trials (line 2)."),
        "{finding:?}"
    );
}

#[test]
fn a_wrong_fraction_is_found_and_what_is_right_is_left_alone() {
    let sound = lines(&OUTER, Place::Ext) + &lines(&OUTER, Place::Raw);
    assert_eq!(speaking(&sound), [""; 0]);
    // 1/1024 was read, and 1/64 is said.
    let mut wrong = sound.clone();
    for skip in [128, 256, 1024, 4096] {
        let wrong_line = line(skipping(&OUTER, skip), Place::Ext, None, (64, 16));
        let _ = writeln!(wrong, "{wrong_line}");
    }
    // Two right lines at each distance, so that the wrong one is not their median.
    assert_eq!(speaking(&wrong), ["mislabelled"]);
    let found = found(&wrong);
    let finding = found
        .iter()
        .find(|f| f.rule == "mislabelled")
        .expect("just seen");
    let first = sound.lines().count() + 1;
    let said = format!(
        "lines {first} to {} are mislabelled, 16 times too high",
        first + 3
    );
    assert!(finding.claim.contains(&said), "{}", finding.claim);
    // Served from memory, each distance has a factor of its own.
    let mut cached = sound;
    for (skip, times) in [(128, 16), (256, 9), (1024, 40), (4096, 5)] {
        let fast = line(skipping(&OUTER, skip), Place::Ext, None, (64, times));
        let _ = writeln!(cached, "{fast}");
    }
    assert_eq!(speaking(&cached), [""; 0]);
}

#[test]
fn an_outer_zone_is_not_taken_for_a_filesystem() {
    let apart = lines(&OUTER, Place::Ext) + &lines(&INNER, Place::Raw);
    assert_eq!(speaking(&apart), ["place-not-filesystem"]);
    // The same filesystem at the inner place says it without distances.
    let in_order = |trials: &[Trial], place, at| {
        format!("{}\n", line(skipping(trials, 1), place, at, (1024, 1)))
    };
    let outer = in_order(&OUTER, Place::Ext, None) + &in_order(&INNER, Place::Raw, None);
    assert_eq!(speaking(&outer), [""; 0]);
    let remade = outer.clone() + &in_order(&INNER, Place::Ext, Some("/data/raw"));
    assert_eq!(speaking(&remade), ["place-not-filesystem"]);
    // As fast at the other place too, it is the filesystem's doing.
    let remade = outer + &in_order(&OUTER, Place::Ext, Some("/data/raw"));
    assert_eq!(speaking(&remade), [""; 0]);
}

#[test]
fn programs_with_two_units_agree_where_the_disk_is_one() {
    let strided = lines(&OUTER, Place::Ext) + &lines(&OUTER, Place::Raw);
    let same = rate(&OUTER);
    let by_dd = dd("/dev/sdb2", same) + &dd("/data/file", same);
    assert_eq!(speaking(&(strided.clone() + &by_dd)), ["one-unit"]);
    // What differs in bytes per second as well is no matter of units.
    let slower = dd("/dev/sdb2", same * 0.9) + &dd("/data/file", same);
    assert!(!speaking(&(strided.clone() + &slower)).contains(&"one-unit"));
    // One place may agree by chance.
    assert!(!speaking(&(strided + &dd("/dev/sdb2", same))).contains(&"one-unit"));
}

#[test]
fn buffered_figures_of_a_matrix_are_memory_and_others_are_not() {
    let mut setup = Setup::on("hdd-7200-sync");
    setup.plan = builtin::plan("write-matrix").expect("it is built in");
    setup.plan.stages.retain(|stage| {
        let of_mode = |mode: WriteMode| {
            ["BUFFERED", "O_DIRECT", "AMORTIZED_FSYNC + O_DIRECT"].contains(&&*mode.to_string())
        };
        WriteMode::of(&stage.workload).is_some_and(of_mode)
    });
    let text = classic::run(&setup.run());
    assert!(text.contains("BUFFERED"), "{text}");
    assert_eq!(speaking(&text), ["memory-speed"]);
    let waits: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("BUFFERED"))
        .collect();
    assert_eq!(speaking(&waits.join("\n")), [""; 0]);
}

/// The plan `raw-vs-block` on the disk of seed 004, with its write cache as said.
fn raw_vs_block(enabled: bool) -> Run {
    let mut setup = Setup::on("hdd-10k");
    let Drive::Hdd(hdd) = &mut setup.profile.drive else {
        panic!("the disk of seed 004 turns");
    };
    hdd.write_cache.enabled = enabled;
    setup.plan = builtin::plan("raw-vs-block").expect("it is built in");
    setup.plan.trials = 1;
    setup.plan.stages.retain(|stage| stage.name != "file");
    for stage in &mut setup.plan.stages {
        let direct = stage.workload.cache == CacheMode::Direct;
        stage.workload.stop.operations = Some(if direct { 2000 } else { 65_536 });
    }
    setup.run()
}

#[test]
fn rows_of_iostat_follow_the_law_until_one_is_changed() {
    let text = classic::run(&raw_vs_block(true));
    let of_law = |text: &str| -> Vec<Finding> {
        let found = found(text);
        found
            .into_iter()
            .filter(|f| f.rule == "littles-law")
            .collect()
    };
    let [sound] = &of_law(&text)[..] else {
        panic!("{text}");
    };
    assert!(
        sound.claim.contains("2 rows of iostat follow"),
        "{}",
        sound.claim
    );
    assert_eq!(speaking(&text), ["littles-law"]);
    // The merged and the single requests are told as well.
    assert!(
        found(&text)
            .iter()
            .any(|finding| finding.rule == "writes-merged"),
        "{text}"
    );
    // The ninth column of the second row is its await.
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let row = lines.len() - 1;
    let mut words: Vec<String> = lines[row].split_whitespace().map(str::to_owned).collect();
    let wait: f64 = words[9].parse().expect("a number");
    words[9] = format!("{:.2}", wait * 8.0);
    lines[row] = words.join(" ");
    let [broken] = &of_law(&lines.join("\n"))[..] else {
        panic!("{lines:#?}");
    };
    let said = format!("line {} of iostat cannot be right", row + 1);
    assert!(broken.claim.contains(&said), "{}", broken.claim);
}

#[test]
fn writes_past_a_cache_that_is_off_wait_for_revolutions() {
    let raw = |enabled: bool| {
        let run = raw_vs_block(enabled);
        let trial = run
            .trials
            .iter()
            .find(|trial| trial.stage == "raw")
            .expect("it ran");
        trial.throughput_bytes_per_s
    };
    let (on, off) = (raw(true), raw(false));
    let document = |speed: &str, off: f64, with: &str| {
        format!(
            "a {speed} disk:\nsingle dd writes on raw device bs=16k: {:.0}MB/s (drive write-cache \
             enabled)\n{:.2}MB/s ({with})\n",
            on / 1e6,
            off / 1e6
        )
    };
    let cache_off = "drive write-cache disabled";
    let text = document("10K RPM", off, cache_off);
    assert_eq!(speaking(&text), ["write-revolutions"], "{text}");
    let found = found(&text);
    let finding = found
        .iter()
        .find(|f| f.rule == "write-revolutions")
        .expect("just seen");
    assert!(
        finding.claim.contains("of a disk with 10000 per minute"),
        "{}",
        finding.claim
    );
    // At another speed it is no whole number; nor half as slow; and with the cache
    // nothing waits.
    assert_eq!(speaking(&document("7200 rpm", off, cache_off)), [""; 0]);
    assert_eq!(
        speaking(&document("10K RPM", off / 1.25, cache_off)),
        [""; 0]
    );
    assert_eq!(speaking(&document("10K RPM", off, "with a tweak")), [""; 0]);
    // Of what is measured a limiter says it: the kernel knows that the cache is off.
    let spoke = |enabled: bool| {
        let run = raw_vs_block(enabled);
        let mut limits = run.limits.iter().flat_map(|stage| &stage.limits);
        limits.any(|limit| limit.limiter == "write-cache-off")
    };
    assert!(spoke(false) && !spoke(true));
}
