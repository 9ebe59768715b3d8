//! The same of a document: what it says of the I/O context of the threads stands in
//! its settings.

use crate::advise::{Measured, Ratio, intervals};
use crate::rules::served_by::{FAIR, RATIO};
use crate::rules::{Context, names};
use crate::stages::Stage;
use crate::words::{lines, ratio};
use diskfacts_plan::units::rate_digits;
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = crate::rules::served_by::NAME;

const KEY: &str = "io_context";
const ONE: &str = "same";
const MANY: &str = "different";

/// A stage in one context, and the same in contexts of their own.
struct Pair<'c, 'a> {
    one: &'c Stage<'a>,
    many: &'c Stage<'a>,
    measured: [Measured; 2],
}

impl Pair<'_, '_> {
    fn gain(&self) -> Ratio {
        Ratio::of(&self.measured[0], &self.measured[1])
    }

    fn scheduler(&self) -> Option<&str> {
        self.one.settings.get("scheduler").map(String::as_str)
    }

    fn sentence(&self) -> String {
        let told = ["scheduler", "read_ahead", "read_ahead_by"].into_iter();
        let told = told.filter_map(|key| {
            let value = self.one.settings.get(key)?;
            Some(format!("{key}={value}"))
        });
        let beside = self.one.workload().beside.is_some();
        let parts: Vec<String> = told
            .chain(beside.then(|| "beside another".to_owned()))
            .collect();
        let trials = self.one.trials.iter().chain(&self.many.trials);
        let numbers: Vec<u64> = trials.filter_map(|trial| trial.line).collect();
        let of_lines = if numbers.is_empty() {
            String::new()
        } else {
            format!("; {}", lines(&numbers))
        };
        format!(
            "{} ({}): one context {} MB/s, contexts of their own {} MB/s, {}{of_lines}.",
            self.one.name,
            parts.join(", "),
            rate_digits(self.measured[0].value / 1e6),
            rate_digits(self.measured[1].value / 1e6),
            self.gain().said(),
        )
    }
}

pub(super) fn shared_contexts(context: &Context<'_>) -> Vec<Finding> {
    let pairs = pairs(context);
    let is_fair = |pair: &&Pair<'_, '_>| pair.scheduler().is_some_and(|s| FAIR.contains(&s));
    let gains = pairs
        .iter()
        .filter(is_fair)
        .filter(|pair| pair.gain().low >= RATIO);
    let mut gains: Vec<&Pair<'_, '_>> = gains.collect();
    gains.sort_by(|a, b| b.gain().value.total_cmp(&a.gain().value));
    let Some(most) = gains.first() else {
        return Vec::new();
    };
    let scheduler = most.scheduler().unwrap_or("the scheduler").to_owned();
    let mut evidence: Vec<String> = gains.iter().map(|pair| pair.sentence()).collect();
    // What refutes or confirms it: the same pair under another scheduler.
    let others = pairs.iter().filter(|pair| !is_fair(pair));
    let mut others: Vec<&Pair<'_, '_>> = others.collect();
    others.sort_by(|a, b| b.gain().value.total_cmp(&a.gain().value));
    let highest = others.first().map(|pair| pair.sentence());
    evidence.extend(highest.map(|said| format!("Most under another scheduler: {said}")));
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        claim: format!(
            "Under {scheduler} threads that serve a reader in turn do it up to {} times faster in \
             one I/O context: it takes them for one reader, not for many.",
            ratio(most.gain().value)
        ),
        evidence,
        confidence: Confidence::Likely,
        refuted_by: "The same difference under a scheduler that does not look at I/O contexts."
            .into(),
        remedy: "Let the server's threads share one (`CLONE_IO` of clone(2), or one io_uring), \
                 or use a scheduler that does not look at contexts."
            .into(),
        stages: names(gains.iter().map(|pair| pair.one.name)),
    }]
}

fn pairs<'c, 'a>(context: &'c Context<'a>) -> Vec<Pair<'c, 'a>> {
    let of = |stage: &Stage<'_>, value: &str| {
        stage.settings.get(KEY).is_some_and(|known| known == value)
    };
    let same = |one: &Stage<'_>, many: &Stage<'_>| {
        let rest = |stage: &Stage<'_>| {
            let mut settings = stage.settings.clone();
            settings.remove(KEY);
            settings
        };
        one.name == many.name && rest(one) == rest(many)
    };
    let mut pairs = Vec::new();
    for one in context.stages.iter().filter(|stage| of(stage, ONE)) {
        let mut others = context.stages.iter().filter(|stage| of(stage, MANY));
        let Some(many) = others.find(|many| same(one, many)) else {
            continue;
        };
        let rates = [one, many].map(Stage::rates);
        if let [Some(a), Some(b)] = &intervals(&rates)[..]
            && !a.assumed
        {
            pairs.push(Pair {
                one,
                many,
                measured: [a.clone(), b.clone()],
            });
        }
    }
    pairs
}
