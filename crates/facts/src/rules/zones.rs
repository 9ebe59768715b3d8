//! The rate depends on the position: the zones of a disk that turns ([`positions`]).
//!
//! Spoken of only when the rate follows the position as a whole (Spearman's rank
//! correlation), so that a disturbance at one position is no zone. Positions that
//! are much slower than their neighbours are told apart.

use super::prelude::*;
use crate::positions::{CORRELATION, Position, positions, rank_correlation, zones};
use crate::spread::TRIALS_MIN;
use crate::words::smartctl;

pub(super) const RULE: Rule = Rule {
    name: "zones",
    needs: &[NoDocument, Drives],
    check: Check::Several(check),
    ..Rule::NOTE
};

/// Fewest positions.
const POSITIONS: usize = 8;
/// The slowest position is slower than the fastest by at least this share.
const COST: f64 = 0.1;
/// Most zones, and most slow spots, that are told one by one.
const ZONES_TOLD: usize = 12;
const SPOTS_TOLD: usize = 3;

/// Whether there were trials enough at all of these positions.
fn enough(positions: &[Position]) -> bool {
    positions
        .iter()
        .all(|position| position.trials >= TRIALS_MIN)
}

fn check(context: &Context<'_>) -> Vec<Found> {
    let mut findings = Vec::new();
    for of in positions(context) {
        let slow = slow_spots(context.run, &of.usual, &of.slow);
        // A slow spot is no zone.
        let found = slow.into_iter().chain(in_zones(&of.usual));
        findings.extend(found.map(|found| found.stages(vec![of.stage.to_owned()])));
    }
    findings
}

fn in_zones(positions: &[Position]) -> Option<Found> {
    let by_rate = |a: &&Position, b: &&Position| a.rate.total_cmp(&b.rate);
    let fastest = positions.iter().max_by(by_rate)?;
    let slowest = positions.iter().min_by(by_rate)?;
    let cost = 1.0 - slowest.rate / fastest.rate;
    let correlation = rank_correlation(positions);
    if positions.len() < POSITIONS || cost < COST || correlation.abs() < CORRELATION {
        return None;
    }
    let zones = zones(positions);
    let mut evidence: Vec<String> = zones.iter().take(ZONES_TOLD).cloned().collect();
    if zones.len() > ZONES_TOLD {
        evidence.push(format!(
            "And {} more zones behind.",
            zones.len() - ZONES_TOLD
        ));
    }
    evidence.push(format!(
        "Rank correlation of position and rate over {} positions: {correlation:.2}.",
        positions.len()
    ));
    let (near, far) = if correlation < 0.0 {
        ("front", "back")
    } else {
        ("back", "front")
    };
    let [most, least] = [fastest, slowest].map(|position| show_throughput(position.rate));
    let [at_most, at_least] = [fastest, slowest].map(|position| show_size(position.offset));
    Some(
        RULE.claim(format!(
            "The rate depends on the position: {most} at {at_most}, {least} at {at_least}, in {} \
             zones. The slowest position costs {}.",
            zones.len(),
            percent(cost)
        ))
        .headline(format!(
            "the rate depends on the position: {most} to {least}"
        ))
        .confidence(likely_if(enough(positions)))
        .remedy(format!(
            "Put what is read or written in bulk to the {near}, and what is seldom used to the \
             {far}. Compare volumes at the same position of their disks: a partition on inner \
             tracks is slower by this much, whatever filesystem it carries."
        ))
        .evidence(evidence),
    )
}

fn slow_spots(run: &Run, usual: &[Position], slow: &[Position]) -> Option<Found> {
    unless(slow.is_empty())?;
    let at = |position: &Position| show_size(position.offset);
    let evidence = slow.iter().map(|spot| {
        let distance = |other: &&Position| other.offset.abs_diff(spot.offset);
        let next = usual.iter().min_by_key(distance);
        let next = next.map_or_else(String::new, |next| {
            format!(", {} at {}", show_throughput(next.rate), at(next))
        });
        format!("{}: {}{next}.", at(spot), show_throughput(spot.rate))
    });
    let mut places: Vec<String> = slow.iter().take(SPOTS_TOLD).map(at).collect();
    if slow.len() > SPOTS_TOLD {
        places.push(format!("{} more", slow.len() - SPOTS_TOLD));
    }
    let (is, whose, those) = if slow.len() == 1 {
        ("is", "its", "that")
    } else {
        ("are", "their", "those")
    };
    let of = format!("{} of {} positions", slow.len(), usual.len() + slow.len());
    Some(
        RULE.claim(format!(
            "{of} {is} much slower than {whose} neighbours: {those} at {}. Zones of a disk are not \
             like this.",
            list(&places)
        ))
        .severity(Severity::Warning)
        .headline(format!("{of} much slower than their neighbours"))
        .confidence(likely_if(enough(slow)))
        .case("slow-spots")
        .remedy(look_again(run))
        .planted(run, "[[faults.slow_zone]] or [[faults.weak_sector]]")
        .evidence(evidence),
    )
}

fn look_again(run: &Run) -> String {
    let disks = if_any(smartctl(run.stack.leaves()), |disks| {
        format!(
            "; if so, {disks} for sectors that were replaced or wait to be (reallocated, pending)"
        )
    });
    format!(
        "Type `{}` to see whether the same positions are slow again{}.",
        measure(run),
        disks.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, of_rule};
    use diskfacts_record::Run;

    /// The plan `zones` on a target with such a rate at each of 32 positions.
    fn run(rate: impl Fn(usize) -> f64) -> Run {
        let mut plan = diskfacts_plan::builtin::plan("zones").expect("it is built in");
        for stage in &mut plan.stages {
            stage.workload.resolve(32 << 30);
        }
        let mut run = testing::run_of(plan, testing::stack());
        for trial in &mut run.trials {
            let position = (trial.workload.offset >> 30) as usize;
            trial.throughput_bytes_per_s = rate(position);
        }
        run
    }

    #[test]
    fn what_differs_in_more_than_its_position_is_no_series_of_positions() {
        // Block sizes at one place, each with its own rate.
        let mut sizes = run(|i| 10e6 + 5e6 * i as f64);
        for trial in &mut sizes.trials {
            let position = trial.workload.offset >> 30;
            trial.workload.block_size = 4096 << (position % 8);
        }
        assert!(of_rule(&sizes, RULE.name).is_none());
        for trial in &mut sizes.trials {
            trial.workload.offset = 0;
        }
        assert!(of_rule(&sizes, RULE.name).is_none());
        // And the same work again and again at one place.
        for trial in &mut sizes.trials {
            trial.workload.block_size = 4096;
        }
        assert!(of_rule(&sizes, RULE.name).is_none());
    }

    #[test]
    fn zones_are_found_with_their_rates_and_what_they_cost() {
        let steps = [150e6, 140e6, 120e6, 75e6];
        let finding = of_rule(
            &run(|i| steps[i / 8] * (1.0 + (i % 3) as f64 / 1000.0)),
            RULE.name,
        )
        .expect("it speaks");
        assert!(finding.claim.contains("in 4 zones"), "{finding:?}");
        assert!(finding.claim.ends_with("costs 50 %."), "{finding:?}");
        assert_eq!(finding.evidence[1], "8 GiB to 16 GiB: 140.1 MB/s.");
        assert_eq!(finding.confidence, Confidence::Likely);
        assert!(finding.remedy.contains("to the front"), "{finding:?}");
    }

    #[test]
    fn a_slow_spot_is_told_as_one_and_not_as_a_zone() {
        let all = |rate: &dyn Fn(usize) -> f64| crate::testing::all_of_rule(&run(rate), RULE.name);
        let flat = all(&|i| if i == 20 { 100e6 } else { 500e6 });
        let [spot] = &flat[..] else {
            panic!("{flat:#?}");
        };
        assert_eq!(
            spot.claim,
            "1 of 32 positions is much slower than its neighbours: that at 20 GiB. Zones of a \
             disk are not like this."
        );
        assert_eq!(spot.evidence, ["20 GiB: 100.0 MB/s, 500.0 MB/s at 19 GiB."]);
        // At the rim, where all behind is faster; zones are found in the rest.
        let falling = |i: usize| 270e6 - i as f64 * 4e6;
        let rim = all(&|i| if i < 2 { 92e6 } else { falling(i) });
        let [spot, zones] = &rim[..] else {
            panic!("{rim:#?}");
        };
        assert_eq!(spot.severity, Severity::Warning);
        assert!(
            spot.claim.starts_with(
                "2 of 32 positions are much slower than their neighbours: those at 0 B and 1 GiB."
            ),
            "{spot:#?}"
        );
        assert!(zones.claim.contains("262.0 MB/s at 2 GiB"), "{zones:#?}");
        // At the other end, and with the fast end behind.
        for slow in [0, 1, 30, 31] {
            let spot = all(&|i| if i == slow { 50e6 } else { falling(i) });
            assert_eq!(spot.len(), 2, "{slow} {spot:#?}");
            let spot = all(&|i| if i == slow { 50e6 } else { falling(31 - i) });
            assert_eq!(spot.len(), 2, "{slow} {spot:#?}");
        }
        assert_eq!(all(&falling).len(), 1);
        assert_eq!(all(&|i| falling(31 - i)).len(), 1);
    }

    #[test]
    fn a_flat_target_and_noise_have_no_zones() {
        assert_eq!(
            of_rule(&run(|i| 500e6 + (i % 5) as f64 * 1e6), RULE.name),
            None
        );
        // Noise, large and without order.
        let noise = |i: usize| 400e6 + ((i * 7919) % 32) as f64 * 5e6;
        assert_eq!(of_rule(&run(noise), RULE.name), None);
    }

    #[test]
    fn what_was_not_direct_or_failed_is_no_position() {
        let falling = |i: usize| 150e6 - i as f64 * 2e6;
        let mut refused = run(falling);
        for trial in &mut refused.trials {
            trial.evidence.engine.direct = false;
        }
        assert_eq!(of_rule(&refused, RULE.name), None);
        let mut failed = run(falling);
        failed.trials.iter_mut().for_each(|trial| trial.errors = 1);
        assert_eq!(of_rule(&failed, RULE.name), None);
    }
}
