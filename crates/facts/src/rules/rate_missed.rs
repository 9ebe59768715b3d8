//! An open loop fell behind its rate: the target cannot do what was asked.

use super::prelude::*;
use crate::open_loop::{OpenLoop, waited_and_served};
use std::iter::once;

pub(super) const RULE: Rule = Rule {
    name: "rate-missed",
    check: Check::Stages(&[StageCheck(fell_behind, missed)]),
    ..Rule::WARNING
};

fn fell_behind(facts: &StageFacts<'_>) -> Option<Seen> {
    let open = OpenLoop::of(facts.stage).filter(|open| !open.kept())?;
    let latencies = waited_and_served(facts).map(|(name, ns)| {
        let [waited, served] = ns.map(show_duration);
        format!("{name} is {waited} from the intended start and {served} from submission.")
    });
    Some((open.share, once(open.said()).chain(latencies).collect()))
}

fn missed(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let lowest = percent(shown.least().min(1.0));
    let open = shown.facts().filter_map(|facts| OpenLoop::of(facts.stage));
    let reached = open.map(|open| open.done.min(open.asked * open.share));
    let reached = reached.fold(f64::INFINITY, f64::min);
    let less = (reached * 0.9).round().max(1.0) as u64;
    RULE.claim(format!(
        "{} did only {lowest} of the rate asked for: latency grew with the time of the trial and \
         says how long it lasted, not how fast the target is.",
        shown.list()
    ))
    .headline(format!(
        "{lowest} of the rate asked for: latency grows with time"
    ))
    .remedy(edit_plan(
        context.run,
        &format!("set rate = {less} in these stages"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only, set_latencies};
    use diskfacts_plan::{Arrivals, Rate};
    use diskfacts_record::Histogram;

    fn open(run: &mut diskfacts_record::Run, arrivals: Arrivals, factor: f64) {
        each(run, "random-read-qd32", |t| {
            t.workload.rate = Some(Rate {
                operations_per_s: (t.ops as f64 / factor) as u64,
                arrivals,
            });
        });
    }

    #[test]
    fn a_rate_that_was_not_kept_is_found_with_both_latencies() {
        let mut run = testing::healthy();
        open(&mut run, Arrivals::Fixed, 0.8);
        each(&mut run, "random-read-qd32", |t| {
            let samples = t.latency_ns.samples;
            set_latencies(t, &[(200_000_000, samples)]);
            let mut service = Histogram::new();
            for _ in 0..samples {
                service.record(4_000_000);
            }
            t.histograms.service = Some((&service).into());
        });
        let finding = only(&run, RULE.name);
        assert!(finding.claim.contains("did only 80 %"), "{finding:?}");
        assert!(
            finding.evidence[1].ends_with(
                "p99 is 200 ms from the intended start and 4 ms from \
                                           submission."
            ),
            "{finding:?}"
        );
        // Nine tenths of the 8000 that were done.
        assert!(finding.remedy.contains("set rate = 7200 "), "{finding:?}");
    }

    #[test]
    fn a_rate_that_was_kept_and_the_chance_of_poisson_are_left_alone() {
        let mut run = testing::healthy();
        open(&mut run, Arrivals::Fixed, 0.995);
        testing::silent(&run);
        // 40 000 arrivals: 3 deviations are 1.5 %.
        open(&mut run, Arrivals::Poisson, 0.98);
        testing::silent(&run);
        open(&mut run, Arrivals::Poisson, 0.96);
        only(&run, RULE.name);
    }

    /// Ten operations at 20 a second, each of which begins 6 ms late, as on a busy machine.
    #[test]
    fn a_thread_that_is_woken_late_each_time_is_not_behind() {
        let at = |behind_ns| {
            let mut run = testing::healthy();
            each(&mut run, "random-read-qd32", |t| {
                t.workload.streams = 1;
                t.workload.rate = Some(Rate {
                    operations_per_s: 20,
                    arrivals: Arrivals::Fixed,
                });
                (t.seconds, t.ops, t.iops) = (0.5, 10, 20.0);
                t.evidence.engine.behind_ns = Some(behind_ns);
            });
            let findings = crate::findings(&run);
            findings.iter().any(|finding| finding.rule == RULE.name)
        };
        assert!(!at(6_000_000));
        // A target that does 16 of them.
        assert!(at(100_000_000));
    }

    /// 32 streams that wait for their own next arrival are slow to end, and Poisson
    /// arrivals are so many only on average: neither is behind.
    #[test]
    fn who_is_not_behind_kept_the_rate_whatever_the_number_says() {
        for (arrivals, factor) in [(Arrivals::Fixed, 0.86), (Arrivals::Poisson, 0.7)] {
            let mut run = testing::healthy();
            open(&mut run, arrivals, factor);
            each(&mut run, "random-read-qd32", |t| {
                t.evidence.engine.behind_ns = Some((t.seconds * 5e6) as u64);
            });
            testing::silent(&run);
            // And who is behind did not, though the number is chance.
            open(&mut run, arrivals, 0.999);
            each(&mut run, "random-read-qd32", |t| {
                t.evidence.engine.behind_ns = Some((t.seconds * 2e8) as u64);
            });
            let finding = only(&run, RULE.name);
            assert!(finding.claim.contains("did only 80 %"), "{finding:?}");
            assert!(
                finding.evidence[0].contains("behind its intended starts"),
                "{finding:?}"
            );
        }
    }

    #[test]
    fn of_an_older_run_with_several_streams_nothing_is_said() {
        let mut run = testing::healthy();
        open(&mut run, Arrivals::Fixed, 0.8);
        each(&mut run, "random-read-qd32", |t| t.workload.streams = 4);
        assert_eq!(testing::of_rule(&run, RULE.name), None);
    }
}
