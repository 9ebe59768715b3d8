//! What follows from the document on read-ahead (seed 001), with the lines it rests on.

use super::{DOCUMENTS, runs_of};
use diskfacts_record::{Finding, Severity};
use std::fmt::Write as _;

/// The findings of a rule on a document, each once.
pub(super) fn of_rule(text: &str, rule: &str) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let of_runs = diskfacts_facts::findings_of_document(&runs_of(text));
    for finding in of_runs.into_iter().flatten() {
        if finding.rule == rule && !found.contains(&finding) {
            found.push(finding);
        }
    }
    found
}

#[track_caller]
pub(super) fn only(text: &str, rule: &str) -> Finding {
    let found = of_rule(text, rule);
    assert_eq!(found.len(), 1, "{rule}: {found:#?}");
    found.into_iter().next().expect("just counted")
}

#[track_caller]
pub(super) fn says(finding: &Finding, part: &str) {
    let all = format!(
        "{}\n{}\n{}",
        finding.claim,
        finding.evidence.join("\n"),
        finding.remedy
    );
    assert!(all.contains(part), "not '{part}':\n{all}");
}

#[test]
fn the_read_ahead_of_the_trace_and_of_the_table_is_at_its_limit_of_128_kib() {
    let finding = only(DOCUMENTS[1], "read-ahead-limit");
    assert_eq!(finding.severity, Severity::Warning);
    says(&finding, "is too small: its windows stay at 128 KiB");
    says(
        &finding,
        "Trace, lines 66 to 91: 26 windows follow each other without a gap from page 10628 to \
         11460, each of 32 pages (128 KiB).",
    );
    says(
        &finding,
        "Table, lines 103 and 104: 8067 of 8499 windows (95 %) continue a stream, and bring 31 \
         pages on average (124 KiB).",
    );
    // And what larger ones gave, from the run beside it.
    says(&finding, "Measured with larger ones: seq-read");
}

#[test]
fn read_ahead_that_reaches_2_mib_is_not_too_small() {
    // The same trace with windows 16 times as large.
    let mut text = String::new();
    for line in DOCUMENTS[1].lines() {
        let traced = line
            .starts_with("readahead-")
            .then(|| line.split_once(", ra="));
        let Some((before, rest)) = traced.flatten() else {
            // The table with such windows.
            text.push_str(&line.replace(" 31 31 31", " 511 511 511"));
            text.push('\n');
            continue;
        };
        let start: u64 = rest
            .split_once('+')
            .expect("a window")
            .0
            .parse()
            .expect("a page");
        let start = 10_000 + (start - 10_628) * 16;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{before}, ra={start}+512-512, async=1) = 512");
    }
    assert_eq!(of_rule(&text, "read-ahead-limit"), []);
    // Without the trace the table alone tells it, less surely.
    let table: Vec<&str> = DOCUMENTS[1]
        .lines()
        .filter(|l| !l.contains(", ra="))
        .collect();
    let finding = only(&table.join("\n"), "read-ahead-limit");
    says(&finding, "stay at 124 KiB");
    assert_eq!(finding.confidence, diskfacts_record::Confidence::Likely);
}

#[test]
fn the_size_of_the_read_ahead_has_its_effect_with_intervals() {
    let finding = only(DOCUMENTS[1], "read-ahead-size");
    says(
        &finding,
        "a reader alone gets up to 1.73 times as much (4096K over default)",
    );
    says(
        &finding,
        "one beside another gets up to 9.08 times as much (4096K over default)",
    );
    says(
        &finding,
        "for a reader alone 1024K is enough; for readers beside each other the largest that was \
         measured, 4096K, still gains",
    );
    // CFQ, contexts of their own, vanilla: lines 197 to 305.
    says(
        &finding,
        "default 48.9, 512K 59.7, 1024K 74.1, 2048K 76.7 and 4096K 80.8 MB/s; 4096K over default \
         is 1.65 times (",
    );
    // In one context CFQ does no more with a larger size: lines 504 to 548.
    says(
        &finding,
        "512K 86.7, 1024K 81.9, 2048K 81.1 and 4096K 83.3 MB/s; none does more than 512K, and \
         4096K over it is 0.96 times (",
    );
}

#[test]
fn sizes_that_all_give_the_same_are_no_finding() {
    let mut text =
        "Vanilla RA, all IO threads work in different IO contexts, various RA sizes:\n\n\
                    CFQ:\n"
            .to_owned();
    let rows = |rates: [[&str; 3]; 3]| {
        let mut said = String::new();
        for (size, rates) in ["512K", "1024K", "2048K"].iter().zip(rates) {
            let _ = write!(
                said,
                "\nRA {size}:\n\ndd if=/dev/sdb of=/dev/null bs=64K count=80000\n"
            );
            for (label, rate) in ["a", "b", "c"].iter().zip(rates) {
                // Writing to a String cannot fail.
                let _ = writeln!(said, "{label}) {rate} MB/s");
            }
        }
        said
    };
    let same = rows([
        ["80,1", "81,0", "80,5"],
        ["80,4", "80,9", "80,2"],
        ["80,7", "80,3", "81,1"],
    ]);
    assert_eq!(of_rule(&format!("{text}{same}"), "read-ahead-size"), []);
    let grows = rows([
        ["40,1", "41,0", "40,5"],
        ["80,4", "80,9", "80,2"],
        ["80,7", "80,3", "81,1"],
    ]);
    text.push_str(&grows);
    let finding = only(&text, "read-ahead-size");
    says(&finding, "for a reader alone 1024K is enough");
    // One run of each shows no effect, whatever it is.
    let single: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("b)") && !line.starts_with("c)"))
        .collect();
    assert_eq!(of_rule(&single.join("\n"), "read-ahead-size"), []);
}

#[test]
fn the_shared_io_context_has_its_effect_with_an_interval() {
    let finding = only(DOCUMENTS[1], "io-context");
    // 102 against 48.9 MB/s alone, 22.95 against 4.1 beside another.
    says(
        &finding,
        "under cfq threads that serve a reader in turn do it up to 5.6 times faster",
    );
    says(
        &finding,
        "one context 102.0 MB/s, contexts of their own 48.9 MB/s, 2.09 times (",
    );
    says(&finding, "lines 164 to 166 and 197 to 199");
    says(
        &finding,
        "Most under another scheduler: read (scheduler=deadline",
    );
    // Where both are alike there is nothing to say.
    let alike = DOCUMENTS[1]
        .replace("102 MB/s", "49 MB/s")
        .replace("same IO context", "different IO contexts");
    assert_eq!(of_rule(&alike, "io-context"), []);
}

#[test]
fn the_text_says_30_percent_where_its_rates_and_its_rows_give_more() {
    let finding = only(DOCUMENTS[1], "text-against-rows");
    assert_eq!(finding.evidence.len(), 2, "{:#?}", finding.evidence);
    says(
        &finding,
        "Line 129: it says 30 % (39 against 27 MB/s), and these two are 44 % apart, 40 to 49 % \
         with what rounding leaves; by the rows (",
    );
    says(
        &finding,
        "39.5 against 27.6 MB/s, +43 %, +38 to +70 % from run to run.",
    );
    says(
        &finding,
        "Line 133: it says 0.1 ms for rotation at 7200 rpm, where half and whole revolutions take \
         4.17 and 8.33 ms (60 s / 7200).",
    );
    let mended = DOCUMENTS[1]
        .replace("30% on 4M RA size", "44% on 4M RA size")
        .replace("~0.1ms on 7200RPM", "~8.3ms on 7200RPM");
    assert_eq!(of_rule(&mended, "text-against-rows"), []);
}
