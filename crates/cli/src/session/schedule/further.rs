//! Trials beyond those that are made in any case: until a plan has its precision, or
//! steadiness, and what is said of that at the end.
//!
//! Stages that come late leave so much to be written back that the others would get
//! nothing of the time behind them; so these have their further rounds before them.

use super::{Schedule, shuffle};
use diskfacts_facts::stopping;

/// Stages that are named for one reason; the widest intervals are named first.
const NAMED: usize = 3;

impl Schedule {
    /// Whether a stage has all that its plan asks for.
    pub(super) fn is_reached(&self, stage: usize) -> bool {
        stopping::is_reached(&self.plan, &self.rules[stage].rates)
    }

    /// Puts one more trial of each stage that needs it, or of those alone that are not
    /// late, before what is pending, as far as they fit into `left_ns`; answers whether
    /// there is any. They are as long as those before.
    pub(super) fn add_round(&mut self, left_ns: u64, only_early: bool) -> bool {
        if !self.plan.until.is_adaptive() {
            return false;
        }
        let most = stopping::trials_max(&self.plan);
        let mut stages: Vec<usize> = (0..self.rules.len())
            .filter(|stage| !(only_early && self.is_late(*stage)))
            .filter(|stage| self.rules[*stage].begun < most && !self.is_reached(*stage))
            .collect();
        shuffle(&mut stages, &mut self.rng);
        stages.sort_by_key(|stage| self.rules[*stage].turn);
        let mut left_ns = left_ns.saturating_sub(self.owed_ns());
        stages.retain(|stage| {
            let rule = &self.rules[*stage];
            let needs_ns = rule.last_ns.saturating_add(rule.around_ns);
            let fits = rule.begun > 0 && needs_ns <= left_ns;
            if fits {
                left_ns -= needs_ns;
            }
            fits
        });
        let trials = stages.into_iter().rev();
        self.further = trials
            .map(|stage| (stage, self.rules[stage].begun + 1))
            .collect();
        !self.further.is_empty()
    }

    /// A sentence at the end, where not every stage has what the plan asks for: how many do, and
    /// why the others do not.
    pub(in crate::session) fn reached(&self) -> Option<String> {
        if !self.plan.until.is_adaptive() {
            return None;
        }
        let mut asked = Vec::new();
        if let Some(precision) = self.plan.until.precision {
            let precision = precision.to_string().replace('%', " %");
            asked.push(format!("medians within {precision} (95 % CI)"));
        }
        if self.plan.until.steady {
            asked.push("five steady rounds".to_owned());
        }
        let asked = asked.join(" and ");
        let of = self.rules.len();
        let missing: Vec<usize> = (0..of).filter(|stage| !self.is_reached(*stage)).collect();
        if missing.is_empty() {
            return None;
        }
        let most = stopping::trials_max(&self.plan);
        let (spent, timed): (Vec<usize>, Vec<usize>) = missing
            .iter()
            .partition(|stage| self.rules[**stage].begun >= most);
        let time = (!timed.is_empty()).then(|| self.told(timed, "out of time for"));
        let trials = (!spent.is_empty())
            .then(|| self.told(spent, &format!("{most} trials were not enough for")));
        let why: Vec<String> = time.into_iter().chain(trials).collect();
        Some(format!(
            "{}{} in {} of {of} stages; {}.",
            asked[..1].to_uppercase(),
            &asked[1..],
            of - missing.len(),
            why.join(", and ")
        ))
    }

    /// `out of time for log-write (8.1 % at 99 %), mixed (trials: 5) and 2 more`.
    fn told(&self, mut stages: Vec<usize>, why: &str) -> String {
        let half = |stage: &usize| stopping::half_width(&self.rules[*stage].rates);
        // What has no interval is known least.
        stages.sort_by(|a, b| {
            let width = |stage| half(stage).unwrap_or(f64::INFINITY);
            width(b).total_cmp(&width(a))
        });
        let mut names: Vec<String> = stages
            .iter()
            .take(NAMED)
            .map(|stage| {
                let rule = &self.rules[*stage];
                let known = half(stage).map_or_else(
                    || format!("trials: {}", rule.rates.len()),
                    |half| format!("{:.1} % at 99 %", half * 100.0),
                );
                format!("{} ({known})", rule.name)
            })
            .collect();
        if stages.len() > NAMED {
            names.push(format!("{} more", stages.len() - NAMED));
        }
        let last = names.pop().unwrap_or_default();
        let names = if names.is_empty() {
            last
        } else {
            format!("{} and {last}", names.join(", "))
        };
        format!("{why} {names}")
    }
}
