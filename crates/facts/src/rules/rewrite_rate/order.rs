//! Why of two volumes the one that writes more slowly may rewrite faster.

use super::{Pass, ratio};
use crate::words::{lines, percent};
use diskfacts_plan::units::rate_digits;
use diskfacts_record::{Confidence, Finding, Severity};

/// A rewrite with the passes it is made of.
pub(super) struct Triple<'p, 'c, 'a> {
    pub(super) rewrite: &'p Pass<'c, 'a>,
    pub(super) read: &'p Pass<'c, 'a>,
    pub(super) write: &'p Pass<'c, 'a>,
}

/// How much more the one must write for the order to be told as turned.
const APART: f64 = 1.1;

impl Triple<'_, '_, '_> {
    /// Milliseconds for a megabyte: read, written, rewritten.
    fn ms_per_mb(&self) -> [f64; 3] {
        [self.read, self.write, self.rewrite].map(|pass| 1e9 / pass.bytes_per_s)
    }

    fn in_turn_ms(&self) -> f64 {
        let [read, write, _] = self.ms_per_mb();
        read + write
    }

    /// What it is told from the others by.
    fn name(&self) -> String {
        let settings = &self.rewrite.stage.settings;
        match settings.len() {
            1 => settings.values().next().cloned().unwrap_or_default(),
            _ => self.rewrite.stage.label(),
        }
    }

    fn lines(&self) -> String {
        let trials = self.rewrite.stage.trials.iter();
        let numbers: Vec<u64> = trials.filter_map(|trial| trial.line).collect();
        if numbers.is_empty() {
            return String::new();
        }
        format!(" ({})", lines(&numbers))
    }
}

/// Of the pairs whose order is turned, the one that writes most differently.
pub(super) fn turned(triples: &[Triple<'_, '_, '_>]) -> Option<Finding> {
    let mut pairs: Vec<(f64, &Triple<'_, '_, '_>, &Triple<'_, '_, '_>)> = Vec::new();
    for slow in triples {
        for fast in triples {
            let apart = fast.write.bytes_per_s / slow.write.bytes_per_s;
            let is_turned = slow.rewrite.bytes_per_s > fast.rewrite.bytes_per_s;
            if apart > APART && is_turned {
                pairs.push((apart, slow, fast));
            }
        }
    }
    // The widest, and of several the one whose rewriting differs most.
    let order = |(_, slow, fast): &(f64, &Triple<'_, '_, '_>, &Triple<'_, '_, '_>)| {
        slow.rewrite.bytes_per_s / fast.rewrite.bytes_per_s
    };
    let (_, slow, fast) = pairs
        .into_iter()
        .max_by(|a, b| order(a).total_cmp(&order(b)))?;
    Some(finding(slow, fast))
}

fn finding(slow: &Triple<'_, '_, '_>, fast: &Triple<'_, '_, '_>) -> Finding {
    let (a, b) = (slow.name(), fast.name());
    let ([slow_read, slow_write, slow_rewrite], [fast_read, fast_write, fast_rewrite]) =
        (slow.ms_per_mb(), fast.ms_per_mb());
    let (lost, won) = (slow_write - fast_write, fast_read - slow_read);
    let said = |name: &str, triple: &Triple<'_, '_, '_>| {
        let [read, write, rewrite] = triple.ms_per_mb();
        format!(
            "{name}{}: a MB is read in {} ms and written in {} ms, {} ms in turn; rewritten in {} \
             ms, {} times as fast.",
            triple.lines(),
            rate_digits(read),
            rate_digits(write),
            rate_digits(read + write),
            rate_digits(rewrite),
            ratio(triple.in_turn_ms() / rewrite),
        )
    };
    let share = won / lost;
    let rest = if share >= 1.0 {
        format!(
            "Reading wins back all of what writing loses, {} of it",
            percent(share)
        )
    } else {
        format!(
            "Reading wins back {} of what writing loses; the sums leave {a} {} ms behind, and \
             what tips the order is how far reading ahead and writing back go on side by side",
            percent(share.max(0.0)),
            rate_digits(slow.in_turn_ms() - fast.in_turn_ms()),
        )
    };
    Finding {
        rule: super::NAME.into(),
        severity: Severity::Note,
        headline: "a rewrite reads too: fast reads decide".into(),
        claim: format!(
            "A rewrite reads too: {a} writes at {} of {b}'s rate and rewrites {} times as fast, \
             because it reads {} times as fast.",
            percent(fast_write / slow_write),
            ratio(fast_rewrite / slow_rewrite),
            ratio(fast_read / slow_read),
        ),
        evidence: vec![
            said(&a, slow),
            said(&b, fast),
            format!(
                "Writing, {a} loses {} ms for a MB; reading, it wins {} ms. {rest}.",
                rate_digits(lost),
                rate_digits(won)
            ),
        ],
        confidence: Confidence::Likely,
        refuted_by: "The same order of the rewrites with a read-ahead that makes both read alike."
            .into(),
        remedy: "Choose by the figure of what is done: writing new files, rewriting files in \
                 place and reading are three orders of the same volumes."
            .into(),
        stages: crate::rules::names(
            [slow.rewrite, slow.read, slow.write].map(|pass| pass.stage.name),
        ),
    }
}
