//! The rate depends on the position: the zones of a disk that turns.
//!
//! Tracks on the outside of a platter are longer and hold more sectors, and pass
//! under the head in the same time; drives number their sectors from there. So
//! the rate falls from front to back, in steps (Ruemmler and Wilkes, "An
//! introduction to disk drive modeling", IEEE Computer 27(3), 1994).
//!
//! Spoken of only when the rate follows the position as a whole (Spearman's rank
//! correlation), so that a disturbance at one position is no zone. Positions that
//! are much slower than their neighbours are told apart (`slow_spots`).

mod slow_spots;

use super::Context;
use crate::words::percent;
use diskfacts_plan::units::{show_size, show_throughput};
use diskfacts_plan::{CacheMode, Pattern, Stop, Workload};
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "zones";

/// Fewest positions.
const POSITIONS: usize = 8;
/// The slowest position is slower than the fastest by at least this share.
const COST: f64 = 0.1;
/// Least rank correlation between position and rate.
const CORRELATION: f64 = 0.85;
/// Rates within this share of each other belong to one zone.
const ONE_ZONE: f64 = 0.03;
/// Most zones that are told one by one.
const TOLD: usize = 12;
/// Fewest trials that make zones likely.
const TRIALS: usize = 3;

/// The rate at one position.
#[derive(Debug, Clone, Copy)]
struct Position {
    offset: u64,
    end: u64,
    /// Bytes per second.
    rate: f64,
    trials: usize,
}

/// Positions of which each is about as fast as the first.
struct Zone {
    start: u64,
    end: u64,
    rate: f64,
}

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (stage, positions) in series(context) {
        if !are_apart(&positions) {
            continue;
        }
        let (usual, slow) = slow_spots::part(&positions);
        if !slow.is_empty() {
            findings.push(slow_spots::finding(context.run, stage, &usual, &slow));
        }
        // A slow spot is no zone.
        findings.extend(finding(stage, &usual));
    }
    findings
}

/// Whether each is a place of its own.
fn are_apart(positions: &[Position]) -> bool {
    positions.windows(2).all(|p| p[0].offset < p[1].offset)
}

/// Sequential direct stages that differ in nothing but their position, by name.
fn series<'a>(context: &'a Context<'_>) -> Vec<(&'a str, Vec<Position>)> {
    let anywhere = |workload: &Workload| Workload {
        offset: 0,
        span: None,
        offset_share: None,
        span_share: None,
        stop: Stop::default(),
        ..workload.clone()
    };
    let mut series: Vec<(&'a str, Workload, Vec<Position>)> = Vec::new();
    for (stage, figures) in context.doing_io() {
        let workload = stage.workload();
        let rate = figures.throughput_bytes_per_s.median;
        let refused = stage.trials.iter().any(|t| !t.evidence.engine.direct);
        let usable = figures.errors == 0
            && rate.is_finite()
            && rate > 0.0
            && !refused
            && workload.pattern == Pattern::Sequential
            && workload.cache == CacheMode::Direct
            && workload.streams == 1
            && workload.rate.is_none();
        if !usable {
            continue;
        }
        let length = workload.span.unwrap_or(0);
        let position = Position {
            offset: workload.offset,
            end: workload.offset.saturating_add(length),
            rate,
            trials: stage.trials.len(),
        };
        let workload = anywhere(workload);
        let same = |one: &&mut (&str, Workload, _)| one.0 == stage.name && one.1 == workload;
        match series.iter_mut().find(same) {
            Some((_, _, positions)) => positions.push(position),
            None => series.push((stage.name, workload, vec![position])),
        }
    }
    let series = series.into_iter().map(|(name, _, mut positions)| {
        positions.sort_by_key(|position| position.offset);
        (name, positions)
    });
    series.collect()
}

fn finding(stage: &str, positions: &[Position]) -> Option<Finding> {
    if positions.len() < POSITIONS {
        return None;
    }
    let by_rate = |a: &&Position, b: &&Position| a.rate.total_cmp(&b.rate);
    let fastest = positions.iter().max_by(by_rate)?;
    let slowest = positions.iter().min_by(by_rate)?;
    let cost = 1.0 - slowest.rate / fastest.rate;
    let correlation = rank_correlation(positions);
    if cost < COST || correlation.abs() < CORRELATION {
        return None;
    }
    let zones = zones(positions);
    let at = |position: &Position| show_size(position.offset);
    let mut evidence: Vec<String> = zones
        .iter()
        .take(TOLD)
        .map(|zone| {
            format!(
                "{} to {}: {}.",
                show_size(zone.start),
                show_size(zone.end),
                show_throughput(zone.rate)
            )
        })
        .collect();
    if zones.len() > TOLD {
        evidence.push(format!("And {} more zones behind.", zones.len() - TOLD));
    }
    evidence.push(format!(
        "Rank correlation of position and rate over {} positions: {correlation:.2}.",
        positions.len()
    ));
    let few = positions.iter().any(|position| position.trials < TRIALS);
    let (near, far) = if correlation < 0.0 {
        ("front", "back")
    } else {
        ("back", "front")
    };
    Some(Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: format!(
            "the rate depends on the position: {} to {}",
            show_throughput(fastest.rate),
            show_throughput(slowest.rate)
        ),
        claim: format!(
            "The rate depends on the position: {} at {}, {} at {}, in {} zones. The slowest \
             position costs {}.",
            show_throughput(fastest.rate),
            at(fastest),
            show_throughput(slowest.rate),
            at(slowest),
            zones.len(),
            percent(cost)
        ),
        evidence,
        confidence: if few {
            Confidence::Possible
        } else {
            Confidence::Likely
        },
        refuted_by: "A repeat in which the same positions are not the slow ones.".into(),
        remedy: format!(
            "Put what is read or written in bulk to the {near}, and what is seldom used to the \
             {far}. Compare volumes at the same position of their disks: a partition on inner \
             tracks is slower by this much, whatever filesystem it carries."
        ),
        stages: vec![stage.to_owned()],
    })
}

/// Positions one after the other that are about as fast as the first of them.
fn zones(positions: &[Position]) -> Vec<Zone> {
    let mut zones: Vec<(f64, Vec<Position>)> = Vec::new();
    for position in positions {
        match zones.last_mut() {
            Some((first, zone)) if (position.rate / *first - 1.0).abs() <= ONE_ZONE => {
                zone.push(*position);
            }
            _ => zones.push((position.rate, vec![*position])),
        }
    }
    let zone = |(_, of): (f64, Vec<Position>)| Zone {
        start: of[0].offset,
        end: of[of.len() - 1].end,
        rate: of.iter().map(|position| position.rate).sum::<f64>() / of.len() as f64,
    };
    zones.into_iter().map(zone).collect()
}

/// Spearman's rank correlation of position and rate, in -1 to 1; equal rates
/// share the mean of their ranks.
fn rank_correlation(positions: &[Position]) -> f64 {
    let n = positions.len() as f64;
    let rank = |rate: f64| {
        let below = positions.iter().filter(|p| p.rate < rate).count() as f64;
        let equal = positions
            .iter()
            .filter(|p| p.rate.total_cmp(&rate).is_eq())
            .count() as f64;
        below + (equal - 1.0) / 2.0
    };
    let mean = (n - 1.0) / 2.0;
    let (mut both, mut of_rates, mut of_places) = (0.0, 0.0, 0.0);
    for (place, position) in positions.iter().enumerate() {
        let (a, b) = (place as f64 - mean, rank(position.rate) - mean);
        both += a * b;
        of_places += a * a;
        of_rates += b * b;
    }
    if of_rates > 0.0 {
        both / (of_places * of_rates).sqrt()
    } else {
        0.0
    }
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
        assert!(of_rule(&sizes, NAME).is_none());
        for trial in &mut sizes.trials {
            trial.workload.offset = 0;
        }
        assert!(of_rule(&sizes, NAME).is_none());
        // And the same work again and again at one place.
        for trial in &mut sizes.trials {
            trial.workload.block_size = 4096;
        }
        assert!(of_rule(&sizes, NAME).is_none());
    }

    #[test]
    fn zones_are_found_with_their_rates_and_what_they_cost() {
        let steps = [150e6, 140e6, 120e6, 75e6];
        let finding = of_rule(
            &run(|i| steps[i / 8] * (1.0 + (i % 3) as f64 / 1000.0)),
            NAME,
        )
        .expect("it speaks");
        assert!(finding.claim.contains("in 4 zones"), "{finding:?}");
        assert!(finding.claim.ends_with("costs 50 %."), "{finding:?}");
        assert_eq!(
            finding.evidence[1],
            "8 GiB to 16 GiB: 140.1 MB/s (133.6 MiB/s)."
        );
        assert_eq!(finding.confidence, Confidence::Likely);
        assert!(finding.remedy.contains("to the front"), "{finding:?}");
    }

    #[test]
    fn a_slow_spot_is_told_as_one_and_not_as_a_zone() {
        let all = |rate: &dyn Fn(usize) -> f64| check(&Context::new(&run(rate)));
        let flat = all(&|i| if i == 20 { 100e6 } else { 500e6 });
        let [spot] = &flat[..] else {
            panic!("{flat:#?}");
        };
        assert_eq!(
            spot.claim,
            "1 of 32 positions is much slower than its neighbours: that at 20 GiB. Zones of a \
             disk are not like this."
        );
        assert_eq!(
            spot.evidence,
            ["20 GiB: 100.0 MB/s (95.4 MiB/s), 500.0 MB/s (476.8 MiB/s) at 19 GiB."]
        );
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
        assert!(
            zones.claim.contains("262.0 MB/s (249.9 MiB/s) at 2 GiB"),
            "{zones:#?}"
        );
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
        assert_eq!(of_rule(&run(|i| 500e6 + (i % 5) as f64 * 1e6), NAME), None);
        // Noise, large and without order.
        let noise = |i: usize| 400e6 + ((i * 7919) % 32) as f64 * 5e6;
        assert_eq!(of_rule(&run(noise), NAME), None);
    }

    #[test]
    fn what_was_not_direct_or_failed_is_no_position() {
        let falling = |i: usize| 150e6 - i as f64 * 2e6;
        let mut refused = run(falling);
        for trial in &mut refused.trials {
            trial.evidence.engine.direct = false;
        }
        assert_eq!(of_rule(&refused, NAME), None);
        let mut failed = run(falling);
        failed.trials.iter_mut().for_each(|trial| trial.errors = 1);
        assert_eq!(of_rule(&failed, NAME), None);
    }
}
