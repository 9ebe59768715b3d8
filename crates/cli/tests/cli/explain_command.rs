//! `diskfacts explain`.

use crate::support::Case;
use diskfacts_facts::explanations::{FINDINGS, LIMITS, entries};

/// Columns without a terminal.
const COLUMNS: usize = 80;

/// No line is too wide, but for a word or a command that is not broken.
#[track_caller]
fn expect_narrow(text: &str) {
    for line in text.lines() {
        let fits = line.chars().count() <= COLUMNS;
        assert!(fits || line.contains(['`', '/']), "{line}");
    }
}

#[test]
fn a_name_is_explained_with_all_its_words_and_without_a_run() {
    let case = Case::new();
    let said = case.run(["explain", "slow-member"]);
    said.expect_code(0);
    assert_eq!(
        said.stdout,
        "\
slow-member (limiter): One member is slower than the others

Cause, or beside; likely. Of an array, or of a filesystem of several devices.

Evidence:   requests of each and their time.
Threshold:  100 requests each; twice the time of the others; not with 1.25 times
            their requests, or bytes a request: that is another load.
Refuted by: Requests that take as long on each of them.
Experiment: Each of them alone, read past the page cache: one that is slower by
            as much speaks for it.

\"Remedy\" depends on the run: `diskfacts show RUN --claim slow-member`.
"
    );
    assert_eq!(said.stderr, "");
    assert!(!case.store().exists());
}

#[test]
fn the_words_of_a_case_stand_below_what_the_case_is() {
    let case = Case::new();
    let said = case.run(["explain", "media-rate"]);
    said.expect_code(0)
        .expect_stdout("\nRemedy:     Only more drives side by side, or a faster one, move more.\n")
        .expect_stdout("\nIn short:   stripe over more drives\n")
        .expect_stdout(
            "\nOn a rotating disk:\n  Remedy:     The outer part of the disk is the fastest: ",
        );
    // What is a limiter and a finding too.
    case.run(["explain", "holes"])
        .expect_code(0)
        .expect_stdout("holes (limiter and finding): Holes: no data on a device\n")
        .expect_stdout("\nAs a finding:\n");
}

#[test]
fn every_limiter_and_every_finding_is_listed_and_explained() {
    let case = Case::new();
    let list = case.run(["explain"]);
    list.expect_code(0);
    expect_narrow(&list.stdout);
    let (limiters, findings) = list
        .stdout
        .split_once("\nFindings: ")
        .expect("findings stand apart");
    for (part, page) in [(limiters, LIMITS), (findings, FINDINGS)] {
        let listed = part.lines().filter_map(|line| {
            let name = line.strip_prefix("  ")?.split_whitespace().next()?;
            (!line.starts_with("   ")).then_some(name)
        });
        let listed: Vec<&str> = listed.collect();
        let known: Vec<&str> = entries(page).map(|entry| entry.name).collect();
        assert_eq!(listed, known);
        for entry in entries(page) {
            let said = case.run(["explain", entry.name]);
            said.expect_code(0);
            expect_narrow(&said.stdout);
            let cases = entry.cases.iter().flat_map(|case| &case.words);
            let words = entry.words.iter().chain(cases).map(|word| &word.text);
            let printed = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            for text in words.chain([&entry.about, &entry.standing, &entry.more]) {
                assert!(printed.contains(text.as_str()), "{}: {text}", entry.name);
            }
        }
    }
}

#[test]
fn an_unknown_name_is_answered_with_those_that_may_be_meant() {
    let case = Case::new();
    for (name, said) in [
        ("rotatoin", "'rotatoin'; did you mean 'rotation'? "),
        (
            "write-cache-",
            "'write-cache-'; did you mean 'write-cache-off'? ",
        ),
        (
            "throttle",
            "did you mean one of thermal-throttle, credit-throttle, cgroup-throttle? ",
        ),
        ("qqq", "no limiter or finding is called 'qqq'. "),
        ("a", "'a' is no limiter or finding; of a letter or number "),
        ("", "no limiter or finding is called ''. "),
        ("etcd", "'etcd' is a use; "),
    ] {
        case.refuses(&case.diskfacts(["explain", name]), &[said, "`diskfacts "]);
    }
}

#[test]
fn what_is_said_of_hosts_together_is_not_explained_here() {
    let case = Case::new();
    for name in diskfacts_facts::together::CLAIMS {
        case.refuses(
            &case.diskfacts(["explain", name]),
            &[&format!("'{name}' is said of hosts that measured together")],
        );
    }
}

#[test]
fn a_claim_that_a_run_does_not_make_is_explained_by_its_name() {
    let case = Case::new();
    case.one_trial();
    let show = |claim| case.run(["show", "--claim", claim]);
    let finished = show("raid-small-write");
    finished
        .expect_code(2)
        .expect_stderr("has no claim 'raid-small-write'; it ")
        .expect_stderr("`diskfacts explain raid-small-write` says what it is");
    let finished = show("zzz");
    finished.expect_code(2);
    assert!(!finished.stderr.contains("explain"), "{finished}");
}
