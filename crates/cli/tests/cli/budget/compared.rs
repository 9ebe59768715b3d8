//! A stage with something planted and without it, by turns: what was planted is found as its
//! part, as much as somebody else says that it is, and no other part grows.

use super::Budget;
use diskfacts_testkit::Missing;
use std::collections::BTreeSet;

/// Share of what was planted that its part may be off by, and share of the latency by which
/// any other may grow.
const OFF: f64 = 0.1;
/// What these may be at least, ns.
const OFF_NS: f64 = 5_000.0;
/// Share of the latency that what is planted has to be: less is lost among what else differs.
const WORTH: f64 = 0.25;
/// The same in what it may be off by at least: else nothing would be found all the same.
const SEEN: f64 = 4.0;
/// Part of a trial in which some task of this machine waited for a processor, or the hypervisor
/// had one, from which on what the processors are needed for (completions, the threads of a
/// disk) takes longer by it: as in the situations.
const STARVED: f64 = 0.2;
/// How often each of the two is measured: the medians are compared, because a machine stands
/// still for a moment now and then.
const ROUNDS: usize = 3;
/// How often the whole is done before it is judged.
const TRIES: usize = 3;

/// One measurement.
pub(super) struct Measured {
    pub(super) budget: Budget,
    /// Time of an operation that was spent where something is planted, by another counter than
    /// those of the budget or by the knob, ns.
    pub(super) truth_ns: f64,
}

/// What grows, and what must not.
pub(super) struct Planted {
    /// Parts that are together what was planted.
    pub(super) parts: &'static [&'static str],
    /// Parts that grow with it by themselves: the test says why.
    pub(super) beside: &'static [&'static str],
    /// Whether what is planted is that tasks wait for processors: then the control and the
    /// hypervisor alone say whether the machine is too busy.
    pub(super) starves: bool,
}

impl Planted {
    /// As these parts, and nothing else.
    pub(super) fn only(parts: &'static [&'static str]) -> Self {
        Self {
            parts,
            beside: &[],
            starves: false,
        }
    }

    /// Measures by turns without and with (`true`), and compares; or the machine is too busy to
    /// tell.
    #[track_caller]
    pub(super) fn compare(
        &self,
        mut measure: impl FnMut(bool) -> Result<Measured, Missing>,
    ) -> Result<(), Missing> {
        let mut most_waited = 0.0_f64;
        let mut wrong = Vec::new();
        for _ in 0..TRIES {
            let (mut without, mut with) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                without.push(measure(false)?);
                with.push(measure(true)?);
            }
            let found = self.wrong(&without, &with);
            if found.is_empty() {
                return Ok(());
            }
            let of_others = |one: &Measured| {
                if self.starves {
                    one.budget.stolen
                } else {
                    one.budget.waited
                }
            };
            let judged = without.iter().map(|one| one.budget.waited);
            let waited = judged.chain(with.iter().map(of_others)).fold(0.0, f64::max);
            most_waited = most_waited.max(waited);
            if waited <= STARVED {
                wrong.push(found.join("\n"));
            }
            eprintln!("{waited:.2} waited:\n{}", found.join("\n"));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
        Err(Missing::new(
            format_args!(
                "free processors: tasks waited for one for up to {:.0} % of a trial, and the parts \
                 of the budget are not those that were planted",
                most_waited * 100.0
            ),
            "stop what else runs here",
        ))
    }

    /// What is not as it was planted.
    fn wrong(&self, without: &[Measured], with: &[Measured]) -> Vec<String> {
        let latency_ns = median(with, |one| one.budget.latency());
        let grown = |of: &dyn Fn(&Measured) -> f64| median(with, of) - median(without, of);
        let truth_ns = grown(&|one| one.truth_ns);
        let of_planted = |one: &Measured| -> f64 {
            let parts = self.parts.iter();
            parts.map(|part| one.budget.of(part)).sum()
        };
        let found_ns = grown(&of_planted);
        let mut wrong = Vec::new();
        if truth_ns < (WORTH * latency_ns).max(SEEN * OFF_NS) {
            wrong.push(format!(
                "only {truth_ns:.0} of {latency_ns:.0} ns are planted"
            ));
        }
        if (found_ns - truth_ns).abs() > (OFF * truth_ns).max(OFF_NS) {
            wrong.push(format!(
                "{:?} grew by {found_ns:.0} ns, and {truth_ns:.0} ns were planted",
                self.parts
            ));
        }
        let all = without.iter().chain(with);
        let names: BTreeSet<&str> = all.flat_map(|one| one.budget.names()).collect();
        for name in names {
            if self.parts.contains(&name) || self.beside.contains(&name) {
                continue;
            }
            let found_ns = grown(&|one| one.budget.of(name));
            if found_ns > (OFF * latency_ns).max(OFF_NS) {
                wrong.push(format!(
                    "{name} grew by {found_ns:.0} of {latency_ns:.0} ns"
                ));
            }
        }
        if !wrong.is_empty() {
            for (what, measured) in [("without", without), ("with", with)] {
                for one in measured {
                    wrong.push(format!("  {what}: {}", one.budget.told(one.truth_ns)));
                }
            }
        }
        wrong
    }
}

/// Median over some measurements.
fn median(of: &[Measured], what: impl Fn(&Measured) -> f64) -> f64 {
    let mut all: Vec<f64> = of.iter().map(what).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
