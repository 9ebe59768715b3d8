//! The end of a test run: what ran, what is missing, what failed, the numbers.

use super::Report;
use super::outcome::{Outcome, Skipped};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The summary. Its last line has the three numbers alone, in the form that
/// tools read.
pub(super) fn text(reports: &[Report]) -> String {
    let mut out = String::from("what ran\n");
    for Report {
        name,
        outcome,
        took,
    } in reports
    {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "  {name:<10} {} in {:.0} s",
            numbers(outcome),
            took.as_secs_f64()
        );
    }
    let outcomes = || reports.iter().map(|report| &report.outcome);
    skipped(&mut out, outcomes().flat_map(|outcome| &outcome.skipped));
    let mut failed = outcomes().flat_map(|outcome| &outcome.failed).peekable();
    if failed.peek().is_some() {
        out.push_str("what failed\n");
    }
    for name in failed {
        let _ = writeln!(out, "  {name}");
    }
    let mut total = Outcome::default();
    for outcome in outcomes() {
        total.passed += outcome.passed;
        total.failed.extend_from_slice(&outcome.failed);
        total.skipped.extend_from_slice(&outcome.skipped);
    }
    let _ = writeln!(out, "{}", numbers(&total));
    out
}

/// The skipped tests by what they need, the most needed first.
fn skipped<'a>(out: &mut String, skipped: impl Iterator<Item = &'a Skipped>) {
    let mut tests_by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for skip in skipped {
        tests_by_reason
            .entry(&skip.reason)
            .or_default()
            .push(&skip.test);
    }
    if !tests_by_reason.is_empty() {
        out.push_str("what was skipped, and what is missing\n");
    }
    let mut reasons: Vec<_> = tests_by_reason.into_iter().collect();
    reasons.sort_by_key(|(_, tests)| std::cmp::Reverse(tests.len()));
    for (reason, tests) in reasons {
        let _ = writeln!(out, "  {} x {reason}", tests.len());
        for test in tests {
            let _ = writeln!(out, "      {test}");
        }
    }
}

fn numbers(outcome: &Outcome) -> String {
    format!(
        "{} passed, {} failed, {} skipped",
        outcome.passed,
        outcome.failed.len(),
        outcome.skipped.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn report(
        name: &'static str,
        passed: u64,
        failed: &[&str],
        skipped: &[(&str, &str)],
    ) -> Report {
        let skipped = skipped
            .iter()
            .map(|(test, reason)| Skipped {
                test: (*test).to_owned(),
                reason: (*reason).to_owned(),
            })
            .collect();
        Report {
            name,
            outcome: Outcome {
                passed,
                failed: failed.iter().map(|name| (*name).to_owned()).collect(),
                skipped,
            },
            took: Duration::from_secs(61),
        }
    }

    #[test]
    fn the_last_line_has_the_sums_alone() {
        let reports = [
            report("cargo", 4, &["directio a"], &[("b", "root: sudo")]),
            report("node", 3, &[], &[]),
        ];
        let text = text(&reports);
        assert_eq!(text.lines().last(), Some("7 passed, 1 failed, 1 skipped"));
        assert!(text.ends_with('\n'));
    }

    #[test]
    fn skipped_tests_stand_under_what_they_need() {
        let skips = [
            ("a", "fio: apt-get install fio"),
            ("b", "root: sudo"),
            ("c", "root: sudo"),
        ];
        assert_eq!(
            text(&[report("cargo", 1, &[], &skips)]),
            "what ran\n  \
             cargo      1 passed, 0 failed, 3 skipped in 61 s\n\
             what was skipped, and what is missing\n  \
             2 x root: sudo\n      b\n      c\n  \
             1 x fio: apt-get install fio\n      a\n\
             1 passed, 0 failed, 3 skipped\n"
        );
    }

    #[test]
    fn what_failed_is_named_at_the_end() {
        let text = text(&[report("cargo", 1, &["directio a"], &[])]);
        assert!(
            text.contains("what failed\n  directio a\n1 passed"),
            "{text}"
        );
    }
}
