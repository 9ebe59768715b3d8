//! Why of two volumes the one that writes more slowly may rewrite faster.

use crate::rewrites::{Triple, triples};
use crate::rules::prelude::*;
use crate::rules::rewrite_rate;

pub(super) const RULE: Rule = Rule {
    needs: &[Document],
    case: "document",
    check: Check::One(turned),
    ..rewrite_rate::RULE
};

/// How much more the one must write for the order to be told as turned.
const APART: f64 = 1.1;

impl Triple<'_, '_> {
    /// Milliseconds for a megabyte: read, written, rewritten.
    fn ms_per_mb(&self) -> [f64; 3] {
        [self.read, self.write, self.rewrite].map(|pass| 1e9 / pass.bytes_per_s)
    }

    /// What it is told from the others by.
    fn name(&self) -> String {
        let settings = &self.rewrite.stage.settings;
        match settings.len() {
            1 => settings.values().next().cloned().unwrap_or_default(),
            _ => self.rewrite.stage.label(),
        }
    }

    fn line(&self) -> String {
        let [read, write, rewrite] = self.ms_per_mb();
        let (name, lines) = (self.name(), in_lines(self.rewrite.stage.lines()));
        let times = ratio((read + write) / rewrite);
        let [read, write, both, rewrite] = [read, write, read + write, rewrite].map(rate_digits);
        format!(
            "{name}{lines}: a MB is read in {read} ms and written in {write} ms, {both} ms in turn; \
             rewritten in {rewrite} ms, {times} times as fast."
        )
    }
}

/// Of the pairs whose order is turned, the one whose rewriting differs most.
fn turned(context: &Context<'_>) -> Option<Found> {
    let triples = triples(context);
    let pairs = triples
        .iter()
        .flat_map(|slow| triples.iter().map(move |fast| (slow, fast)));
    let rewrites = |(slow, fast): &(&Triple<'_, '_>, &Triple<'_, '_>)| {
        slow.rewrite.bytes_per_s / fast.rewrite.bytes_per_s
    };
    let turned = pairs.filter(|(slow, fast)| {
        let apart = fast.write.bytes_per_s / slow.write.bytes_per_s;
        apart > APART && slow.rewrite.bytes_per_s > fast.rewrite.bytes_per_s
    });
    let (slow, fast) = turned.max_by(|a, b| rewrites(a).total_cmp(&rewrites(b)))?;
    Some(finding(slow, fast))
}

fn finding(slow: &Triple<'_, '_>, fast: &Triple<'_, '_>) -> Found {
    let (a, b) = (slow.name(), fast.name());
    let [slow_read, slow_write, slow_rewrite] = slow.ms_per_mb();
    let [fast_read, fast_write, fast_rewrite] = fast.ms_per_mb();
    let (lost, won) = (slow_write - fast_write, fast_read - slow_read);
    let share = won / lost;
    let wins_back = percent(share.max(0.0));
    let rest = if share >= 1.0 {
        format!("Reading wins back all of what writing loses, {wins_back} of it")
    } else {
        let behind = rate_digits(slow_read + slow_write - (fast_read + fast_write));
        format!(
            "Reading wins back {wins_back} of what writing loses; the sums leave {a} {behind} ms \
             behind, and what tips the order is how far reading ahead and writing back go on side \
             by side"
        )
    };
    let writes = percent(fast_write / slow_write);
    let [rewrites, reads] = [fast_rewrite / slow_rewrite, fast_read / slow_read].map(ratio);
    let evidence = vec![
        slow.line(),
        fast.line(),
        format!(
            "Writing, {a} loses {} ms for a MB; reading, it wins {} ms. {rest}.",
            rate_digits(lost),
            rate_digits(won)
        ),
    ];
    RULE.claim(format!(
        "A rewrite reads too: {a} writes at {writes} of {b}'s rate and rewrites {rewrites} \
             times as fast, because it reads {reads} times as fast."
    ))
    .headline("a rewrite reads too: fast reads decide")
    .stages(names(slow.stages()))
    .evidence(evidence)
}
