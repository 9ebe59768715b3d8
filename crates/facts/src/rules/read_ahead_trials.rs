//! What the kernel's read-ahead decided in the trials of a stage: windows that stay
//! at a small limit, pages that nobody used, patterns that are broken.
//!
//! The arithmetic, the thresholds and their reasons are in
//! [`read_ahead`](crate::read_ahead). Stages without that evidence say nothing.

use super::prelude::*;
use crate::read_ahead::{self, Sums};

pub(super) const LIMIT: Rule = Rule {
    check: Check::Several(|context| {
        let turning = context.turning().next();
        let limit = |sums: &Sums, stack: &Stack| read_ahead::limit(sums, stack, turning);
        told(context, limit, Some("1MiB"))
    }),
    ..read_ahead::LIMIT
};

pub(super) const UNUSED: Rule = Rule {
    check: Check::Several(|context| told(context, read_ahead::unused, Some("16KiB"))),
    ..read_ahead::UNUSED
};

pub(super) const PATTERN: Rule = Rule {
    check: Check::Several(|context| told(context, |sums, _| read_ahead::pattern(sums), None)),
    ..read_ahead::PATTERN
};

/// One finding for the stages of which the same is so; on a simulated disk the
/// window is set in its profile.
fn told(
    context: &Context<'_>,
    say: impl Fn(&Sums, &Stack) -> Option<Found>,
    window: Option<&str>,
) -> Vec<Found> {
    let edit = window.and_then(|window| {
        let what = format!("set read_ahead = \"{window}\" under [host]");
        edit_profile(context.run, &what)
    });
    let mut all: Vec<Found> = Vec::new();
    for (stage, _) in context.doing_io() {
        let Some(found) = sums(stage).and_then(|sums| say(&sums, &context.run.stack)) else {
            continue;
        };
        if let Some(same) = all.iter_mut().find(|other| other.said == found.said) {
            same.kind.stages.push(stage.name.to_owned());
            same.evidence.extend(found.evidence);
            continue;
        }
        all.push(found.stages(names([stage.name])).remedy_if(edit.clone()));
    }
    all
}

fn sums(stage: &Stage<'_>) -> Option<Sums> {
    let tables = stage.trials.iter();
    let tables = tables.filter_map(|trial| trial.evidence.read_ahead.as_ref());
    let workload = stage.workload();
    let streams = u64::from(workload.streams) + u64::from(workload.beside.is_some());
    Sums::of(tables, streams)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, of_rule};
    use diskfacts_record::Run;
    use diskfacts_record::evidence::{
        ReadAhead, ReadAheadCounts, ReadAheadPages, ReadAheadPattern as Pattern, ReadAheadRow,
        WindowSize,
    };

    /// A stream that was read in order to its end: every window is the limit.
    fn in_order(limit: u64, windows: u64) -> ReadAhead {
        let row = |pattern, count: u64, sync_count| ReadAheadRow {
            pattern,
            counts: ReadAheadCounts {
                count,
                sync_count,
                eof_count: Some(0),
                size_pages: count * limit,
                async_pages: count * limit,
                actual_pages: count * limit,
            },
        };
        let rows = vec![
            row(Pattern::Initial0, 1, 1),
            row(Pattern::Subsequent, windows - 1, 0),
            row(Pattern::Random, 0, 0),
        ];
        ReadAhead {
            page_bytes: 4096,
            all: rows[0].counts.plus(&rows[1].counts),
            rows,
            limit_pages: Some(limit),
            sizes: vec![WindowSize {
                pages: limit,
                count: windows,
            }],
            pages: ReadAheadPages {
                added: windows * limit,
                used: (windows - 1) * limit,
                left_unused: limit,
                ..ReadAheadPages::default()
            },
            ..ReadAhead::default()
        }
    }

    /// A healthy run whose disk turns, with this evidence in every trial.
    fn run(rotational: Option<bool>, table: &ReadAhead) -> Run {
        let mut run = testing::healthy();
        if rotational == Some(true) {
            testing::rotating(&mut run);
        }
        for device in &mut run.stack.devices {
            device.rotational = rotational;
        }
        for trial in &mut run.trials {
            trial.evidence.read_ahead = Some(table.clone());
        }
        run
    }

    fn rules_of(run: &Run) -> Vec<String> {
        let all = [LIMIT, UNUSED, PATTERN];
        let found = all.iter().filter_map(|rule| of_rule(run, rule.name));
        found.map(|found| found.rule).collect()
    }

    #[test]
    fn windows_at_a_small_limit_are_told_of_what_turns_and_of_nothing_else() {
        let small = in_order(32, 100);
        let found = run(Some(true), &small);
        assert_eq!(rules_of(&found), ["read-ahead-limit"]);
        let finding = of_rule(&found, LIMIT.name).unwrap();
        assert!(finding.claim.contains("128 KiB"), "{}", finding.claim);
        // Of the disk, because a partition has no queue.
        let typed = "echo 1024 > /sys/block/vda/queue/read_ahead_kb";
        assert!(finding.remedy.contains(typed), "{}", finding.remedy);
        assert_eq!(rules_of(&run(Some(false), &small)), [""; 0]);
        assert_eq!(rules_of(&run(None, &small)), [""; 0]);
        assert_eq!(rules_of(&run(Some(true), &in_order(128, 100))), [""; 0]);
        assert_eq!(rules_of(&run(Some(true), &in_order(32, 2))), [""; 0]);
    }

    #[test]
    fn a_disk_that_is_only_said_to_rotate_and_reads_like_flash_has_no_small_window() {
        let mut found = run(Some(true), &in_order(32, 100));
        assert_eq!(rules_of(&found), ["read-ahead-limit"]);
        // Random reads in 57 us, over more than a drive's own memory holds.
        testing::each(&mut found, "random-read-qd1", |trial| {
            testing::set_latencies(trial, &[(57_000, 100)]);
        });
        assert_eq!(rules_of(&found), [""; 0]);
    }

    #[test]
    fn of_flash_a_larger_window_is_something_to_try() {
        let table = in_order(32, 100);
        let stack = |rotational| run(rotational, &table).stack;
        let next = read_ahead::next(&table, &stack(Some(false))).expect("something to try");
        assert!(next.contains("at the limit, 128 KiB"), "{next}");
        assert_eq!(read_ahead::next(&table, &stack(Some(true))), None);
        assert_eq!(read_ahead::next(&in_order(256, 100), &stack(None)), None);
    }

    #[test]
    fn windows_below_their_limit_are_not_at_it() {
        let mut growing = in_order(32, 100);
        growing.limit_pages = Some(64);
        assert_eq!(rules_of(&run(Some(true), &growing)), [""; 0]);
    }

    #[test]
    fn pages_that_nobody_used_are_told_but_not_those_on_their_way() {
        let mut table = in_order(256, 100);
        assert_eq!(rules_of(&run(Some(true), &table)), [""; 0]);
        table.pages.left_unused = 2 * 256;
        table.pages.used = 98 * 256;
        assert_eq!(rules_of(&run(Some(true), &table)), [""; 0]);
        table.pages = ReadAheadPages {
            added: 25_600,
            used: 15_600,
            mapped_only: 0,
            dropped_unused: 9_488,
            left_unused: 512,
        };
        let found = run(Some(true), &table);
        assert_eq!(rules_of(&found), ["read-ahead-unused"]);
        let finding = of_rule(&found, UNUSED.name).unwrap();
        assert!(
            finding.claim.starts_with("37 % of what"),
            "{}",
            finding.claim
        );
    }

    #[test]
    fn streams_that_break_each_others_pattern_are_told_with_their_number() {
        let mut table = in_order(256, 100);
        table.broken = 7;
        assert_eq!(rules_of(&run(Some(true), &table)), [""; 0]);
        table.broken = 30;
        let found = run(Some(true), &table);
        assert_eq!(rules_of(&found), ["read-ahead-pattern"]);
        let claim = of_rule(&found, PATTERN.name).unwrap().claim;
        assert!(
            claim.contains("several streams read through one descriptor"),
            "{claim}"
        );
        (table.broken, table.scattered) = (0, 30);
        let claim = of_rule(&run(None, &table), PATTERN.name).unwrap().claim;
        assert!(
            claim.contains("one stream goes on through several"),
            "{claim}"
        );
    }

    #[test]
    fn a_healthy_run_and_one_without_the_evidence_say_nothing() {
        assert_eq!(rules_of(&testing::healthy()), [""; 0]);
    }
}
