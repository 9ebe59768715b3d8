//! What follows from the document on three volumes (seed 002), and what to choose.

use super::findings_of_streams::{of_rule, only, says};
use super::{DOCUMENTS, runs_of};
use diskfacts_facts::advise::{Advice, Weights, advise};
use diskfacts_record::{Run, Severity};
use diskfacts_report::text::{self, Closing, Look};

#[test]
fn the_ssds_figures_are_not_those_of_flash() {
    let finding = only(DOCUMENTS[2], "flash-like-disks");
    assert_eq!(finding.severity, Severity::Warning);
    says(&finding, "figures of Raid1 SSD are not those of flash");
    says(
        &finding,
        "seeks: Raid1 SSD 465.5/s (lines 44 and 45), Raid10 470.4/s (lines 41 and 42); 2.15 ms",
    );
    says(
        &finding,
        "within 10 % of each other in 3 of 3 tests: put-block 182.0 against 177.4 MB/s, rewrite \
         100.6 against 94.9 MB/s and get-block 240.5 against 234.4 MB/s.",
    );
    says(
        &finding,
        "get-block of Raid6 does 620.7 MB/s (lines 38 and 39)",
    );
    says(
        &finding,
        "disk-read (layout=RAID 1, volume=The two SSDs) reads 393.2 MB/s from it (line 25), 1.63 \
         times what get-block does",
    );
}

#[test]
fn flash_that_seeks_as_flash_does_is_believed() {
    let fast = DOCUMENTS[2]
        .replace("460.2  17", "14602  17")
        .replace("470.9  16", "14709  16");
    assert_eq!(of_rule(&fast, "flash-like-disks"), []);
    // And nothing is known of volumes that do not say what they are.
    let unnamed = DOCUMENTS[2].replace("Raid1 SSD", "Raid1 new");
    assert_eq!(of_rule(&unnamed, "flash-like-disks"), []);
}

#[test]
fn raid_6_is_for_reading_and_the_others_for_writing_and_seeks() {
    let finding = only(DOCUMENTS[2], "volume-choice");
    says(
        &finding,
        "none of 3 volumes is the best at all of this: Raid6 for seq-read and rewrite; Raid10 and \
         Raid1 SSD for seq-write and seeks.",
    );
    says(&finding, "seq-read (get-block): Raid6 620.7 MB/s (");
    says(&finding, "lines 38 and 39");
    // A volume that is best at everything is no choice.
    let best = DOCUMENTS[2]
        .replace("108776", "908776")
        .replace("108436", "908436")
        .replace("170.3", "970.3")
        .replace("172.2", "972.2");
    assert_eq!(of_rule(&best, "volume-choice"), []);
}

/// Raid10's are 91956 and 93408 K/sec in the table, whose K are 1024 bytes.
#[test]
fn a_rewrite_has_the_rate_of_the_table_beside_that_of_both_directions() {
    let mut shown = String::new();
    for mut run in runs_of(DOCUMENTS[2]) {
        run.figures = diskfacts_facts::figures(&run);
        shown += &text::run(&run, &Closing::default(), &Look::default());
    }
    assert!(
        shown.contains("read and written, both counted: 94.9 MB/s of the file"),
        "{shown}"
    );
    // The other stages move what they say.
    assert_eq!(shown.matches("both counted").count(), 3, "{shown}");
}

#[test]
fn the_rewrites_are_tipped_the_other_way_because_a_rewrite_reads_too() {
    let found = of_rule(DOCUMENTS[2], "rewrite-rate");
    assert_eq!(found.len(), 4, "{found:#?}");
    for volume in ["Raid6", "Raid10", "Raid1 SSD"] {
        let named = format!("rewriting (machine={volume}) runs at");
        let of = found
            .iter()
            .filter(|finding| finding.claim.contains(&named));
        assert_eq!(of.count(), 1, "{volume}: {found:#?}");
    }
    let finding = found
        .iter()
        .find(|finding| finding.claim.contains("rewrites 1.13 times as fast"))
        .expect("the order of two volumes");
    says(finding, "Raid6 writes at 63 % of Raid10's rate");
    says(finding, "it reads 2.65 times as fast");
    says(
        finding,
        "Raid6 (lines 38 and 39): a MB is read in 1.61 ms and written in 8.99 ms, 10.6 ms in \
         turn; rewritten in 9.35 ms, 1.13 times as fast.",
    );
    says(
        finding,
        "Writing, Raid6 loses 3.35 ms for a MB; reading, it wins 2.66 ms.",
    );
    // Rewrites in the order of the writes need no reason.
    let mended = DOCUMENTS[2]
        .replace("103820", "73820")
        .replace("105046", "75046");
    let claims = of_rule(&mended, "rewrite-rate");
    assert!(
        claims.iter().all(|f| !f.claim.contains("rewrites")),
        "{claims:#?}"
    );
}

fn concluded(text: &str) -> Vec<Run> {
    let mut runs = runs_of(text);
    let findings = diskfacts_facts::findings_of_document(&runs);
    for (run, findings) in runs.iter_mut().zip(findings) {
        run.findings = findings;
    }
    runs
}

fn by(runs: &[Run], weights: &str) -> Advice {
    advise(runs, Some(Weights::parse(weights).expect("weights"))).expect("advice")
}

/// hdparm's three volumes have other names than bonnie++'s, and are a group of their own.
#[test]
fn advice_on_the_three_volumes_is_what_their_owner_came_to() {
    let runs = concluded(DOCUMENTS[2]);
    let look = Look {
        width: 80,
        colour: false,
        unicode: false,
    };
    let page = |advice: &Advice| text::advice(advice, &Closing::default(), &look);
    let read = page(&by(&runs, "seq-read=1"));
    assert!(
        read.contains("* seq-read: Raid6, 2.58 times Raid1 SSD."),
        "{read}"
    );
    let cost = "Raid6 gives 36 % of Raid10's seeks: 171.2/s against 470.4/s.";
    assert!(read.contains(cost), "{read}");
    let write = page(&by(&runs, "seq-write=2,seeks=1"));
    let flat = write.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains(
            "as measured Raid1 SSD is not worth the price of flash, Raid10 does the same."
        ),
        "{write}"
    );
    assert!(
        flat.contains("figures of Raid1 SSD are not those of flash"),
        "{write}"
    );
    assert!(flat.contains("3 Raid6: 5"), "{write}");
    assert!(flat.contains("Of no two options: shared-read"), "{write}");
    let each = advise(&runs, None).expect("advice");
    let all = page(&each);
    for heading in [
        "seq-read: reading in order",
        "rewrite: rewriting in order",
        "seeks: ",
    ] {
        assert!(all.contains(heading), "{heading}: {all}");
    }
    for text in [&read, &write, &all] {
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }
}

#[test]
fn read_ahead_schedulers_and_contexts_of_seed_001_are_options() {
    let runs = concluded(DOCUMENTS[1]);
    let alone = by(&runs, "seq-read=1");
    let group = &alone.groups[0];
    let best = |advice: &Advice| {
        let group = &advice.groups[0];
        let ranked = &group.ranking.as_ref().expect("an order").ranked[0];
        group.group.options[ranked.option].settings.clone()
    };
    assert_eq!(group.group.options.len(), 30);
    let one = best(&alone);
    assert_eq!(
        (one["scheduler"].as_str(), one["io_context"].as_str()),
        ("cfq", "same")
    );
    assert_eq!(one["read_ahead"], "default");
    // Beside another reader the widest windows win, and not the scheduler.
    let beside = best(&by(&runs, "shared-read=1"));
    assert_eq!(beside["read_ahead"], "4096K");
    assert_eq!(beside["scheduler"], "deadline");
    assert_eq!(beside["read_ahead_by"], "context");
}
