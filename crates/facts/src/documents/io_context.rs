//! Whether the threads of a pool share an I/O context makes a difference: what a document says of
//! their I/O context stands in its settings.

use super::differ_in;
use crate::advise::{Measured, Ratio, intervals};
use crate::rules::prelude::*;
use crate::rules::served_by::{self, RATIO};
use crate::stage_facts::pool::FAIR;
use crate::words::lines_behind;

pub(super) const RULE: Rule = Rule {
    needs: &[Document],
    case: "document",
    check: Check::One(check),
    ..served_by::RULE
};

const KEY: &str = "io_context";
const ONE: &str = "same";
const MANY: &str = "different";

/// A stage in one context, and the same in contexts of their own.
struct Pair<'c, 'a> {
    one: &'c Stage<'a>,
    many: &'c Stage<'a>,
    measured: [Measured; 2],
    gain: Ratio,
}

impl<'c, 'a> Pair<'c, 'a> {
    fn of(one: &'c Stage<'a>, stages: &'c [Stage<'a>]) -> Option<Self> {
        let mut others = stages.iter();
        let many = others.find(|many| {
            many.name == one.name
                && many.settings.get(KEY).is_some_and(|value| value == MANY)
                && differ_in(one, many).into_iter().eq([KEY])
        })?;
        let mut measured = intervals(&[one, many].map(Stage::rates)).into_iter();
        let (a, b) = (measured.next()??, measured.next()??);
        (!a.assumed).then(|| Self {
            one,
            many,
            gain: Ratio::of(&a, &b),
            measured: [a, b],
        })
    }

    fn setting(&self, key: &str) -> Option<&str> {
        self.one.settings.get(key).map(String::as_str)
    }

    fn sentence(&self) -> String {
        let told = ["scheduler", "read_ahead", "read_ahead_by"].into_iter();
        let told = told.filter_map(|key| Some(format!("{key}={}", self.setting(key)?)));
        let beside = self.one.workload().beside.is_some();
        let parts: Vec<String> = told
            .chain(beside.then(|| "beside another".to_owned()))
            .collect();
        let [one, many] = [0, 1].map(|i| rate_digits(self.measured[i].value / 1e6));
        format!(
            "{} ({}): one context {one} MB/s, contexts of their own {many} MB/s, {}{}.",
            self.one.name,
            parts.join(", "),
            self.gain.said(),
            lines_behind("; ", [self.one.lines(), self.many.lines()].concat()),
        )
    }
}

fn check(context: &Context<'_>) -> Option<Found> {
    let stages = context.stages.iter();
    let in_one = stages.filter(|stage| stage.settings.get(KEY).is_some_and(|value| value == ONE));
    let mut pairs: Vec<Pair<'_, '_>> = in_one
        .filter_map(|one| Pair::of(one, &context.stages))
        .collect();
    pairs.sort_by(|a, b| b.gain.value.total_cmp(&a.gain.value));
    let is_fair =
        |pair: &&Pair<'_, '_>| pair.setting("scheduler").is_some_and(|s| FAIR.contains(&s));
    let (fair, others): (Vec<_>, Vec<_>) = pairs.iter().partition(is_fair);
    let gains = fair.into_iter().filter(|pair| pair.gain.low >= RATIO);
    let gains: Vec<&Pair<'_, '_>> = gains.collect();
    let most = gains.first()?;
    let mut evidence: Vec<String> = gains.iter().map(|pair| pair.sentence()).collect();
    // What refutes or confirms it: the same pair under another scheduler.
    let highest = others.first().map(|pair| pair.sentence());
    evidence.extend(highest.map(|said| format!("Most under another scheduler: {said}")));
    let times = ratio(most.gain.value);
    Some(
        RULE.claim(format!(
            "Under {} threads that serve a reader in turn do it up to {times} times faster in one \
             I/O context: it takes them for one reader, not for many.",
            most.setting("scheduler").unwrap_or("the scheduler")
        ))
        .headline(format!(
            "one I/O context: up to {times} times faster than many"
        ))
        .stages(names(gains.iter().map(|pair| pair.one.name)))
        .evidence(evidence),
    )
}
