//! What limited a stage of a document, where only its figures are known and those of the
//! other stages beside it have to show it.

use crate::limits::media_rate::{self, RATE_MIN, more_at_a_time};
use crate::limits::mislabelled::{self, wrong_label};
use crate::limits::{Candidate, Limiter, Standing};
use crate::places::Place;
use crate::stage_facts::{Need, Same, StageFacts};
use crate::words::percent;
use diskfacts_plan::units::{show_duration, show_size, show_throughput};
use diskfacts_record::Confidence;

/// The limiters; in all else they are those of the same names of
/// [`limits::all`](crate::limits::all).
pub(super) const LIMITERS: &[Limiter] = &[
    Limiter {
        needs: &[],
        find: rate_of_other_sizes,
        ..media_rate::LIMITER
    },
    Limiter {
        needs: &[Need::Blocks],
        find: factor_of_neighbours,
        ..mislabelled::LIMITER
    },
];

/// Rates that differ by less are taken for the same: the direct writes of seed 003 differ
/// by 5 % from size to size, and those that are synced at the end by 9 % from them.
const ALIKE: f64 = 0.1;
/// Settings that name what was measured, beside a [`Place`].
const WHERE: [&str; 5] = ["device", "layout", "machine", "on", "volume"];
/// Others that are told as evidence.
const TOLD: usize = 3;

/// The rate of the medium: blocks of another size move as many bytes a second, and nothing
/// that was done at the same place moves more.
fn rate_of_other_sizes(facts: &StageFacts<'_>) -> Option<Candidate> {
    let block = known_block(facts)?;
    let rate = facts.flow().filter(|rate| *rate >= RATE_MIN)?;
    let writes = facts.workload().operation.writes();
    let here: Vec<(StageFacts<'_>, f64)> = facts
        .others()
        .filter(|other| other.workload().operation.writes() == writes && same_place(facts, other))
        .filter_map(|other| other.flow().map(|rate| (other, rate)))
        .collect();
    let best = here.iter().map(|(_, rate)| *rate).fold(rate, f64::max);
    if rate < best * (1.0 - ALIKE) {
        return None;
    }
    let off = |other: f64| (other / rate - 1.0).abs();
    let as_fast = here.iter().filter(|(_, rate)| off(*rate) <= ALIKE);
    let mut as_fast: Vec<(u64, &StageFacts<'_>, f64)> = as_fast
        .filter_map(|(other, rate)| Some((known_block(other)?, other, *rate)))
        .filter(|(size, ..)| *size != block)
        .collect();
    // Each size once, the nearest rate of it.
    as_fast.sort_by(|a, b| a.0.cmp(&b.0).then(off(a.2).total_cmp(&off(b.2))));
    as_fast.dedup_by_key(|(size, ..)| *size);
    if as_fast.is_empty() {
        return None;
    }
    let mut evidence = vec![format!(
        "Blocks of another size move as much, within {}, and nothing at this place moves more:",
        percent(ALIKE)
    )];
    evidence.extend(as_fast.iter().rev().take(TOLD).map(|(size, other, rate)| {
        format!(
            "{} with blocks of {}, {}.",
            show_throughput(*rate),
            show_size(*size),
            other.stage.label()
        )
    }));
    let claim = format!("{} is the rate of its medium.", show_throughput(rate));
    let found = Candidate::new(Standing::Nature, rate / best, Confidence::Possible, claim)
        .evidence(evidence)
        .settled_by(more_at_a_time(facts));
    Some(found)
}

/// The size of its blocks, if the document says it.
fn known_block(facts: &StageFacts<'_>) -> Option<u64> {
    let size = facts.workload().block_size;
    (size > 0 && facts.stage.says("block_size")).then_some(size)
}

/// Whether both may be of the same place of the same disk.
fn same_place(a: &StageFacts<'_>, b: &StageFacts<'_>) -> bool {
    let place = match (Place::of(a.stage), Place::of(b.stage)) {
        (Some(a), Some(b)) => a.may_be(&b),
        (a, b) => a.is_none() && b.is_none(),
    };
    let named = |facts: &StageFacts<'_>, key: &str| facts.stage.settings.get(key).cloned();
    place && WHERE.iter().all(|key| named(a, key) == named(b, key))
}

/// Neighbours that have to agree on the factor.
const NEIGHBOURS: usize = 2;
/// How near a factor has to be to a power of two between neighbours, which were measured
/// apart and differ for other reasons too.
const NEAR: f64 = 0.12;
/// The factors between neighbours that are looked for. Caches make a factor too, but not
/// the same for each way to go over the disk.
const FACTOR_MIN: f64 = 3.5;

/// A wrong label: of the stages that went over the disk in the same way several say that
/// this one is faster by the same power of two.
fn factor_of_neighbours(facts: &StageFacts<'_>) -> Option<Candidate> {
    // What contradicts itself needs no neighbours.
    if facts.in_order() || mislabelled::LIMITER.speaks_of(facts) {
        return None;
    }
    let each = facts.each_ns()?;
    let neighbours: Vec<(String, f64)> = facts
        .alike(&[Same::Operation, Same::Block, Same::Pattern, Same::Depth])
        .filter_map(|other| Some((other.stage.label(), other.each_ns()?)))
        .collect();
    let mut factors = neighbours.iter().map(|(_, ns)| ns / each);
    let first = factors.find(|factor| *factor >= FACTOR_MIN)?;
    let factor = first.log2().round().exp2();
    let agree = |ns: f64| (ns / each / factor - 1.0).abs() <= NEAR;
    let agreeing: Vec<&(String, f64)> = neighbours.iter().filter(|(_, ns)| agree(*ns)).collect();
    // All that is comparable agrees: it is this one that is off.
    if agreeing.len() < NEIGHBOURS || agreeing.len() * 2 <= neighbours.len() {
        return None;
    }
    let mut evidence = vec![format!(
        "An operation took {} by the label; times {factor} it is {}.",
        show_duration(each as u64),
        show_duration((each * factor) as u64)
    )];
    evidence.extend(agreeing.iter().take(TOLD).map(|(label, ns)| {
        format!(
            "{label}, the same work, took {}: {:.1} times as long.",
            show_duration(*ns as u64),
            ns / each
        )
    }));
    Some(wrong_label(facts, factor, Confidence::Likely).evidence(evidence))
}

#[cfg(test)]
mod tests {
    use crate::testing;
    use diskfacts_plan::{Operation, Pattern, SyncMode};
    use diskfacts_record::{Latency, Limit, Run, TargetKind};

    /// What is said of a stage, in its order.
    fn limiters(run: &Run, stage: &str) -> Vec<Limit> {
        let mut all = crate::limits(run).into_iter();
        let found = all.find(|limits| limits.stage == stage);
        found.expect("a stage of the run").limits
    }

    fn is_named(run: &Run, stage: &str) -> bool {
        let mut found = limiters(run, stage).into_iter();
        found.any(|limit| limit.limiter == "mislabelled")
    }

    /// A document of strides of which one is `factor` times as fast as the others.
    fn strides(factor: f64) -> Run {
        let mut run = testing::healthy();
        run.target.kind = TargetKind::Imported;
        let keep = |name: &str| ["random-read-qd1", "log-write", "sequential-read"].contains(&name);
        run.trials.retain(|trial| keep(&trial.stage));
        for trial in &mut run.trials {
            trial.workload = run.plan.stages[0].workload.clone();
            trial.workload.operation = Operation::Read;
            trial.workload.block_size = 4096;
            trial.workload.sync = SyncMode::None;
            trial.workload.pattern = Pattern::Stride {
                skip_blocks: 256,
                fixed: false,
                from_start: false,
            };
            let fast = trial.stage == "log-write";
            trial.iops = if fast { 170.0 * factor } else { 170.0 };
            trial.throughput_bytes_per_s = trial.iops * 4096.0;
            trial.seconds = 10.0;
            trial.ops = (trial.iops * 10.0) as u64;
            trial.bytes = trial.ops * 4096;
            trial.latency_ns = Latency::default();
        }
        run
    }

    #[test]
    fn a_stage_of_a_document_that_is_sixteen_times_its_neighbours_is_mislabelled() {
        let run = strides(16.0);
        let found = &limiters(&run, "log-write")[0];
        assert_eq!(found.limiter, "mislabelled");
        assert!(found.claim.contains("16 times too high"), "{found:#?}");
        for stage in ["random-read-qd1", "sequential-read"] {
            assert!(!is_named(&run, stage), "{stage}");
        }
        // Another factor is what caches and places make.
        assert!(!is_named(&strides(11.0), "log-write"));
        assert!(!is_named(&strides(2.0), "log-write"));
    }
}
