//! What follows from the documents: rules, numbers and lines; and how a finding
//! goes when the document is mended.

use super::{DOCUMENTS, runs_of};
use diskfacts_facts::findings_of_document;
use diskfacts_record::{Confidence, Finding, Severity};
use diskfacts_report::formats::stride::Row;

/// All findings of the runs of a document, each once.
fn found(text: &str) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    for finding in findings_of_document(&runs_of(text)).into_iter().flatten() {
        if !all.contains(&finding) {
            all.push(finding);
        }
    }
    all
}

fn of_rule<'f>(found: &'f [Finding], rule: &str) -> Vec<&'f Finding> {
    found
        .iter()
        .filter(|finding| finding.rule == rule)
        .collect()
}

/// The one finding of a rule.
fn only<'f>(found: &'f [Finding], rule: &str) -> &'f Finding {
    let of_rule = of_rule(found, rule);
    let [only] = of_rule[..] else {
        panic!("{rule}: {of_rule:#?}");
    };
    only
}

/// Asserts that a line of the evidence has these words.
fn says(finding: &Finding, words: &str) {
    let mut evidence = finding.evidence.iter();
    assert!(
        evidence.any(|line| line.contains(words)),
        "{words}: {finding:#?}"
    );
}

/// A document with some of its lines changed or, by an empty one, left out.
fn mended(document: usize, mend: impl Fn(usize, &str) -> String) -> String {
    let lines = DOCUMENTS[document].lines().enumerate();
    let mended: Vec<String> = lines.map(|(i, line)| mend(i + 1, line)).collect();
    mended.join("\n")
}

#[test]
fn lines_45_to_48_of_seed_000_are_mislabelled_16_times() {
    let found = found(DOCUMENTS[0]);
    let finding = only(&found, "mislabelled");
    assert_eq!(
        finding.claim,
        "By the document: lines 45 to 48 are mislabelled, 16 times too high: their figures are \
         those of 1/1024 of the blocks, and they say 1/64."
    );
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(finding.confidence, Confidence::Likely);
    says(
        finding,
        "Line 45: 4439 operations per second at 512 KiB; lines 36 to 39, 53 and 65",
    );
    says(
        finding,
        "Line 48: 2791 operations per second at 16 MiB; lines 57 and 69 have 180",
    );
    says(finding, "With 1/1024 in place of 1/64 it is 277.");
    says(finding, "2327 MB/s; read in order it does 146 (line 28)");
}

#[test]
fn mended_lines_are_not_mislabelled_and_those_of_a_cache_are_not_either() {
    let right = |line: &str| {
        let mut row: Row = line.parse().expect("a strided line");
        row.fraction = 1024;
        let operations = row.operations();
        row.worked_out(operations).to_string()
    };
    let text = mended(0, |i, line| {
        if (45..=48).contains(&i) {
            right(line)
        } else {
            line.into()
        }
    });
    assert!(of_rule(&found(&text), "mislabelled").is_empty());
    // One factor for each distance: a part was in memory.
    let text = mended(0, |i, line| {
        if !(45..=48).contains(&i) {
            return line.to_owned();
        }
        let row: Row = line.parse().expect("a strided line");
        let operations = row.operations() * (i as u64 - 40) / 12;
        row.worked_out(operations).to_string()
    });
    assert!(of_rule(&found(&text), "mislabelled").is_empty());
}

#[test]
fn ext4_against_raw_in_seed_000_is_the_zone() {
    let found = found(DOCUMENTS[0]);
    let [strided, dd] = of_rule(&found, "place-not-filesystem")[..] else {
        panic!("{found:#?}");
    };
    assert!(
        strided.claim.starts_with(
            "By the document: ext is 12 % faster than raw by where it lies on the disk, further \
             out, and not by its filesystem"
        ),
        "{strided:#?}"
    );
    says(
        strided,
        "142 MB/s, ext (lines 28, 95 and 96); 126 MB/s, raw (lines 30, 76, 77, 97 and 98)",
    );
    says(
        strided,
        "126 MB/s, /data/raw (line 108): a filesystem as well",
    );
    says(strided, "14 % at 256 KiB");
    says(strided, "does 96 % of the operations of raw");
    assert!(
        dd.claim
            .contains("/data/user/lytles/t2_0.mmap is 11 % faster than /dev/sdb2"),
        "{dd:#?}"
    );
    says(dd, "/data/raw/lytles/t2_0.mmap (lines 105 and 106)");

    // Had the filesystem been as fast at the inner place, it would be its doing.
    let text = mended(0, |i, line| match i {
        108 => line
            .replace("34.12s", "30.21s")
            .replace("120.039", "135.570"),
        105..=107 => String::new(),
        _ => line.to_owned(),
    });
    assert!(of_rule(&self::found(&text), "place-not-filesystem").is_empty());
}

#[test]
fn dd_and_the_strided_lines_of_seed_000_agree_in_one_unit() {
    let runs = findings_of_document(&runs_of(DOCUMENTS[0]));
    // It is a finding of both runs.
    for findings in &runs {
        let finding = only(findings, "one-unit");
        assert!(
            finding.claim.contains(
                "the strided lines and dd agree within 2 % once their figures have one unit; as \
                 printed they differ by 4.9 % more"
            ),
            "{finding:#?}"
        );
        says(
            finding,
            "Reading in order, raw: the strided lines: 121 MB/s (lines 30, 76, 77, 97 and 98), dd: \
             127 MB/s (lines 85 to 87 and 114 to 116); in 10^6 bytes per second 126 and 127, 0.3 % \
             apart",
        );
    }
    // A tenth slower in bytes per second too: that is no matter of units.
    let text = mended(0, |i, line| match i {
        85..=87 | 114..=116 => line.replace("33.", "37.").replace("34.", "38."),
        _ => line.to_owned(),
    });
    assert!(of_rule(&found(&text), "one-unit").is_empty());
}

#[test]
fn small_direct_blocks_of_seed_000_cost_the_way_to_the_device() {
    let found = found(DOCUMENTS[0]);
    let finding = only(&found, "direct-small-blocks");
    assert!(
        finding.claim.contains(
            "direct reads of 4 KiB one at a time reach 40 % of the rate of large ones: each takes \
             43.6 us beside the time of its bytes"
        ) && finding
            .claim
            .contains("which blocks of 64 KiB and more hide"),
        "{finding:#?}"
    );
    says(
        finding,
        "/dev/sdb2, MB/s: 16 KiB 90.1 (line 112), 32 KiB 110 (line 113), 64 KiB 127",
    );
    says(
        finding,
        "/dev/raw/raw1, MB/s: 4 KiB 59 (line 88), 1 MiB 127 (line 87)",
    );
    says(
        finding,
        "Through the page cache reads of 4 KiB of /data/user/lytles/t2_0.mmap reach 141.2",
    );
    // Small blocks that are as fast cost nothing.
    let text = mended(0, |i, line| match i {
        88 | 92 | 107 | 112 | 113 => {
            let end = line.find(" copied, ").expect("a line of dd");
            format!("{} copied, 31.0 s, 139 MB/s", &line[..end])
        }
        _ => line.to_owned(),
    });
    assert!(of_rule(&self::found(&text), "direct-small-blocks").is_empty());
}

#[test]
fn seed_003_waits_one_revolution_up_to_1_mib_and_two_from_2_mib_on() {
    let found = found(DOCUMENTS[3]);
    let finding = only(&found, "whole-revolutions");
    assert_eq!(
        finding.claim,
        "By the document: each synced write of 4 KiB to 1 MiB waits as long as a whole revolution \
         of a disk with 7200 revolutions per minute, and one of 2 MiB to 4 MiB for 2 revolutions: \
         120 writes per second at most, however small."
    );
    says(finding, "0.97 at 1 MiB, 1.92 at 2 MiB and 1.9 at 4 MiB");
    says(finding, "Synced writes: lines 281 to 292, 302 to 313");
    // Where larger writes keep to one revolution, there is no step: 2 MiB in 16.2 ms
    // and 8.33 more are 81.5 MiB per second.
    let text = mended(3, |_, line| match line.split(" | ").next() {
        Some("2097152") if line.contains("61.") || line.contains("62.") => {
            let end = line.rfind("| ").expect("a row");
            format!("{}| 81.50 MB/s", &line[..end])
        }
        _ => line.to_owned(),
    });
    let found = self::found(&text);
    let finding = only(&found, "whole-revolutions");
    assert!(
        finding
            .claim
            .contains("4 KiB to 2 MiB waits as long as a whole"),
        "{finding:#?}"
    );
}

#[test]
fn the_four_sync_modes_of_seed_003_are_one_thing() {
    let found = found(DOCUMENTS[3]);
    let finding = only(&found, "same-modes");
    assert_eq!(
        finding.claim,
        "By the document: 18 of the 21 ways to write are only 3 here; fdatasync, fsync, O_DSYNC \
         and O_SYNC of each write are one thing."
    );
    says(
        finding,
        "FDATASYNC, FDATASYNC + ALIGNED, FDATASYNC + O_DIRECT, FSYNC, FSYNC + ALIGNED, FSYNC + \
         O_DIRECT, O_DSYNC, O_DSYNC + ALIGNED, O_DSYNC + O_DIRECT, O_SYNC, O_SYNC + ALIGNED and \
         O_SYNC + O_DIRECT: at 14 sizes",
    );
}

#[test]
fn the_buffered_figures_of_seed_003_are_memory() {
    let found = found(DOCUMENTS[3]);
    let finding = only(&found, "memory-speed");
    assert!(
        finding
            .claim
            .contains("28 figures of writes through the page cache that nothing syncs")
            && finding
                .claim
                .contains("3835 MB/s in the median, 27.7 times"),
        "{finding:#?}"
    );
    says(finding, "(lines 272, 273, 293, 294,");
    says(
        finding,
        "138.5 MB/s, streaming (block_size=8MiB, mode=O_DIRECT) (line 505)",
    );
    let text = mended(3, |_, line| match line.find("| BUFFERED") {
        Some(at) => format!("{}| BUFFERED | 120.00 MB/s", &line[..at]),
        None => line.to_owned(),
    });
    assert!(of_rule(&self::found(&text), "memory-speed").is_empty());
}

#[test]
fn the_drive_of_seed_003_keeps_some_megabytes() {
    let found = found(DOCUMENTS[3]);
    let finding = only(&found, "drive-cache");
    assert!(
        finding
            .claim
            .contains("the drive's cache keeps about 7.1 to 8.8 MB"),
        "{finding:#?}"
    );
    says(
        finding,
        "Of 128 MiB that is 7.1 MB in the median of 24 pairs over 12 sizes",
    );
    says(finding, "it is 8.8 MB in the median of 48");
    says(finding, "are 128 MiB in whole milliseconds");
    // Without a sync as slow as with one at the end: nothing is kept.
    let text = mended(3, |_, line| match line.find("| O_DIRECT |") {
        Some(at) if !line.starts_with("4096 ") && !line.starts_with("8192 ") => {
            format!("{}| O_DIRECT | 121.00 MB/s", &line[..at])
        }
        _ => line.to_owned(),
    });
    assert!(of_rule(&self::found(&text), "drive-cache").is_empty());
}

#[test]
fn the_raw_devices_of_seed_004_have_one_request_at_a_time() {
    let found = found(DOCUMENTS[4]);
    let [linux, solaris] = of_rule(&found, "writes-merged")[..] else {
        panic!("{found:#?}");
    };
    assert!(
        linux
            .claim
            .contains("writes of 16 KiB were merged into requests of 503.2 KiB, 141 of them")
            && linux.claim.contains("never more than one is on its way"),
        "{linux:#?}"
    );
    says(
        linux,
        "Line 23, raw: requests of 8 KiB for writes of 8 KiB, 0.63 on their way",
    );
    says(
        linux,
        "Line 16: 14098 merges per second for 115 requests: each is made of 124 pieces",
    );
    assert!(
        solaris
            .claim
            .contains("writes of 16 KiB were split into requests of 8 KiB, 390 of them"),
        "{solaris:#?}"
    );
    says(
        solaris,
        "Line 20, raw: requests of 16 KiB for writes of 16 KiB, 0.9 on their way",
    );
    // Several at a time behind the raw device are not one writer's.
    let text = mended(4, |i, line| match i {
        20 => line.replace(" 0.9 0.0 0.3", " 8.4 0.0 3.0"),
        23 => line.replace(" 0.63 0.18", " 6.30 1.80"),
        _ => line.to_owned(),
    });
    assert!(of_rule(&self::found(&text), "writes-merged").is_empty());
}

#[test]
fn without_its_cache_the_drive_of_seed_004_takes_two_revolutions_per_write() {
    let found = found(DOCUMENTS[4]);
    let finding = only(&found, "write-revolutions");
    assert_eq!(
        finding.claim,
        "By the document: with the drive's write cache off each write of 16 KiB waits 2 \
         revolutions of a disk with 10000 per minute: 79.3 per second."
    );
    says(
        finding,
        "1.30 MB/s (line 34) are 79.3 writes of 16 KiB per second, 12.6 ms",
    );
    says(
        finding,
        "the rest is 2.08 of them, 2.01 to 2.17 by the rounding of the figure",
    );
    says(finding, "One revolution each would be 2.68 MB/s");
    says(finding, "160.0 MB/s (line 33)");
    let slower = |rate: &str| mended(4, |_, line| line.replace("1.3MB/s", rate));
    let once = self::found(&slower("2.7MB/s"));
    let finding = only(&once, "write-revolutions");
    assert!(
        finding.claim.contains("waits a whole revolution of"),
        "{finding:#?}"
    );
    assert!(of_rule(&self::found(&slower("1.8MB/s")), "write-revolutions").is_empty());
}

#[test]
fn the_rows_of_seed_004_follow_littles_law_and_one_that_was_changed_does_not() {
    let found = found(DOCUMENTS[4]);
    let [linux, solaris] = of_rule(&found, "littles-law")[..] else {
        panic!("{found:#?}");
    };
    assert!(
        linux
            .claim
            .contains("2 rows of iostat follow Little's law within 7.6 %"),
        "{linux:#?}"
    );
    says(
        linux,
        "Line 16: 115 requests per second of 1325 ms each make 152; the row says 141, 7.6 %",
    );
    assert!(
        solaris.claim.contains("3 rows of iostat follow"),
        "{solaris:#?}"
    );
    says(
        solaris,
        "Line 13: 13006 requests per second of 30 ms each make 390; the row says 390",
    );
    let text = mended(4, |i, line| match i {
        16 => line.replace("1325.40 0.00 1325.40", "325.40 0.00 325.40"),
        _ => line.to_owned(),
    });
    let found = self::found(&text);
    let broken = of_rule(&found, "littles-law");
    let broken = broken
        .iter()
        .find(|f| f.severity == Severity::Warning)
        .expect("one is off");
    assert!(
        broken
            .claim
            .contains("line 16 of iostat cannot be right as printed"),
        "{broken:#?}"
    );
}

/// What watches disks sees them idle; a program that measures does not.
#[test]
fn the_zeros_of_an_idle_disk_are_no_impossible_rate() {
    let idle = "Linux 6.1.0 (x) 11/21/2026 _x86_64_ (2 CPU)\n\nDevice: rrqm/s wrqm/s r/s w/s rkB/s \
                wkB/s avgrq-sz avgqu-sz await r_await w_await svctm %util\nsda 0.00 0.00 0.00 0.00 0.00 \
                0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00\n";
    let rules_of = |text: &str| of_rule(&found(text), "no-figure").len();
    assert_eq!(rules_of(idle), 0);
    assert_eq!(rules_of("0 bytes copied, 1.5 s, 0.0 kB/s\n"), 1);
}

/// A row whose three figures have one digit each says nothing of a law.
#[test]
fn the_row_of_an_idle_disk_does_not_follow_littles_law_within_anything() {
    let row = |queue: &str, reads: &str| {
        format!(
            "Linux 6.1.0 (x) 11/21/2026 _x86_64_ (2 CPU)\n\nDevice r/s rkB/s rrqm/s %rrqm r_await \
             rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util\n\
             sda {reads} 27.78 0.00 0.00 9.76 69.44 1.35 21.57 1.18 46.64 2.52 15.97 {queue} 0.31\n"
        )
    };
    let of_law = |text: &str| {
        let found = self::found(text);
        let law = of_rule(&found, "littles-law");
        law.iter().map(|f| f.severity).collect::<Vec<_>>()
    };
    assert_eq!(of_law(&row("0.01", "0.40")), []);
    // The same disk with more to do is held to it, and one that breaks it is found.
    assert_eq!(of_law(&row("3.91", "400.00")), [Severity::Note]);
    assert_eq!(of_law(&row("9.00", "400.00")), [Severity::Warning]);
}

#[test]
fn figures_that_are_no_numbers_make_no_rule_panic() {
    for value in [
        0.0,
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::MIN_POSITIVE,
        f64::MAX,
    ] {
        for text in DOCUMENTS {
            let mut runs = runs_of(text);
            for run in &mut runs {
                for trial in &mut run.trials {
                    trial.seconds = value;
                    trial.iops = value;
                    trial.throughput_bytes_per_s = value;
                }
                for reading in run.run.source.iter_mut().flat_map(|s| &mut s.readings) {
                    reading.values.values_mut().for_each(|v| *v = value);
                }
            }
            findings_of_document(&runs);
            // And without the lines and the conditions of an import.
            for trial in runs.iter_mut().flat_map(|run| &mut run.trials) {
                trial.line = None;
                trial.settings.clear();
            }
            findings_of_document(&runs);
        }
    }
}
