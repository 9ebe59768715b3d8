//! Samples to one value for each run of each disk, side by side with those of its peers.

use super::sample::{Disturbance, Member, Peers, Sample};
use super::screen::{Missing, Value, WhyMissing};
use crate::stats;
use diskfacts_record::comparison::Measure;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

/// One stage of peers.
pub(super) struct StageOfPeers<'a> {
    pub(super) peers: &'a Arc<Peers>,
    pub(super) stage: &'a str,
    pub(super) measure: Measure,
    /// A value for each run of each disk, in the order of disks, then of time.
    pub(super) values: Vec<Value>,
}

impl StageOfPeers<'_> {
    /// What makes two of them the same.
    pub(super) fn key(&self) -> (&Peers, &str, Measure) {
        (self.peers, self.stage, self.measure)
    }
}

/// All samples, in order.
pub(super) struct Read<'a> {
    /// Those of one group of peers stand together.
    pub(super) stages: Vec<StageOfPeers<'a>>,
    /// Disks without a figure of a stage that others of the group have.
    pub(super) missing: Vec<(&'a Arc<Peers>, Missing)>,
    pub(super) left_out: BTreeMap<Disturbance, u64>,
    pub(super) unusable: u64,
}

/// The newest run of each disk by each plan, and how many older ones there are.
pub(super) fn newest(samples: &[Sample]) -> (Vec<&Sample>, u64) {
    type Series<'a> = (&'a Member, Option<&'a String>);
    fn series(sample: &Sample) -> Series<'_> {
        (&sample.member, sample.peers.plan())
    }
    let mut last: HashMap<Series<'_>, (i64, &str)> = HashMap::new();
    let mut runs: HashSet<(Series<'_>, &str)> = HashSet::new();
    for sample in samples {
        runs.insert((series(sample), &sample.run));
        let run = (sample.started_s, sample.run.as_str());
        let last = last.entry(series(sample)).or_insert(run);
        *last = run.max(*last);
    }
    let older = (runs.len() - last.len()) as u64;
    let is_newest = |sample: &&Sample| last[&series(sample)].1 == sample.run;
    (samples.iter().filter(is_newest).collect(), older)
}

/// The place of each of these in their order. A fleet has few stages and disks of many samples, so
/// that places are compared in the place of names.
pub(super) fn places<'a, T: Ord + Hash + ?Sized>(
    all: impl Iterator<Item = &'a T>,
) -> HashMap<&'a T, usize> {
    let each: HashSet<&T> = all.collect();
    let mut each: Vec<&T> = each.into_iter().collect();
    each.sort_unstable();
    each.into_iter().zip(0..).collect()
}

/// The samples of one group of peers together, then of one stage, of one disk, by time.
fn in_order(samples: Vec<&Sample>) -> Vec<&Sample> {
    let of = |sample: &&'_ Sample| std::ptr::from_ref::<Peers>(&sample.peers);
    let each: HashMap<*const Peers, &Peers> = samples.iter().map(|s| (of(s), &*s.peers)).collect();
    let peers = places(each.values().copied());
    let peers: HashMap<*const Peers, usize> =
        each.into_iter().map(|(at, of)| (at, peers[of])).collect();
    let stages = places(samples.iter().map(|sample| sample.stage.as_str()));
    let members = places(samples.iter().map(|sample| &sample.member));
    let key = |sample: &&Sample| {
        (
            peers[&of(sample)],
            stages[sample.stage.as_str()],
            sample.measure,
            members[&sample.member],
            sample.started_s,
        )
    };
    let mut keyed: Vec<_> = samples
        .into_iter()
        .map(|sample| (key(&sample), sample))
        .collect();
    keyed.sort_by(|(a, one), (b, other)| a.cmp(b).then_with(|| one.run.cmp(&other.run)));
    keyed.into_iter().map(|(_, sample)| sample).collect()
}

/// Puts samples together. A run that is given twice counts once: its median is the same.
pub(super) fn read(samples: Vec<&Sample>) -> Read<'_> {
    let samples = in_order(samples);
    let mut read = Read {
        stages: Vec::new(),
        missing: Vec::new(),
        left_out: BTreeMap::new(),
        unusable: 0,
    };
    for group in samples.chunk_by(|a, b| Arc::ptr_eq(&a.peers, &b.peers) || a.peers == b.peers) {
        read_group(&mut read, group);
    }
    read
}

fn read_group<'a>(read: &mut Read<'a>, group: &[&'a Sample]) {
    let peers = &group[0].peers;
    let all: HashSet<&Member> = group.iter().map(|sample| &sample.member).collect();
    for stage in group.chunk_by(|a, b| (&a.stage, a.measure) == (&b.stage, b.measure)) {
        let mut values: Vec<Value> = Vec::new();
        let mut without: Vec<(&Member, WhyMissing)> = Vec::new();
        for run in stage.chunk_by(|a, b| (&a.member, &a.run) == (&b.member, &b.run)) {
            match value(read, run) {
                Ok(value) => values.push(value),
                Err(why) => without.push((&run[0].member, why)),
            }
        }
        // A disk with a figure of one run lacks none.
        if !without.is_empty() {
            let with: BTreeSet<&Member> = values.iter().map(|value| &value.member).collect();
            without.retain(|(member, _)| !with.contains(member));
        }
        let known: HashSet<&Member> = stage.iter().map(|sample| &sample.member).collect();
        let mut never: Vec<&Member> = all.difference(&known).copied().collect();
        never.sort_unstable();
        let never = never
            .into_iter()
            .map(|member| (member, WhyMissing::NotMeasured));
        for (member, why) in without.into_iter().chain(never) {
            let missing = Missing {
                member: member.clone(),
                stage: stage[0].stage.clone(),
                why,
            };
            read.missing.push((peers, missing));
        }
        read.stages.push(StageOfPeers {
            peers,
            stage: &stage[0].stage,
            measure: stage[0].measure,
            values,
        });
    }
}

/// The value of a run, from all samples of it.
fn value(read: &mut Read<'_>, run: &[&Sample]) -> Result<Value, WhyMissing> {
    let mut values = Vec::new();
    let mut disturbed: BTreeMap<Disturbance, u64> = BTreeMap::new();
    let mut unusable = 0;
    for trial in run.iter().flat_map(|sample| &sample.trials) {
        match trial.disturbed {
            Some(by) => *disturbed.entry(by).or_default() += 1,
            None if trial.value.is_finite() && trial.value > 0.0 => values.push(trial.value),
            None => unusable += 1,
        }
    }
    let left_out = usize::try_from(disturbed.values().sum::<u64>() + unusable);
    let most = disturbed.iter().max_by_key(|(_, count)| **count);
    let most = most.map(|(by, _)| *by);
    for (by, count) in disturbed {
        *read.left_out.entry(by).or_default() += count;
    }
    read.unusable += unusable;
    let Some(median) = stats::median(&values) else {
        return Err(match most {
            Some(by) if unusable == 0 => WhyMissing::AllDisturbed(by),
            _ => WhyMissing::NoFigure,
        });
    };
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    Ok(Value {
        member: run[0].member.clone(),
        run: run[0].run.clone(),
        started_s: run[0].started_s,
        median,
        trials: values.len(),
        left_out: left_out.unwrap_or(usize::MAX),
        scatter_ln: stats::robust_deviation(&logarithms),
        slower_ln: 0.0,
    })
}

/// The logarithm of a value, so that more of it is slower.
pub(super) fn slowness(measure: Measure, value: f64) -> f64 {
    if measure.more_is_better() {
        -value.ln()
    } else {
        value.ln()
    }
}

/// The value of this slowness.
pub(super) fn value_of(measure: Measure, slowness: f64) -> f64 {
    if measure.more_is_better() {
        (-slowness).exp()
    } else {
        slowness.exp()
    }
}

/// The logarithm of the factor that this much slower is.
pub(super) fn slower_ln(share: f64) -> f64 {
    -(-share).ln_1p()
}

/// How much slower a factor of this logarithm is, as a share: a rate of 0.8 times the peers' is
/// 20 % slower, and so is a latency of 1 / 0.8 times theirs.
pub(super) fn slower(ln: f64) -> f64 {
    -(-ln).exp_m1()
}
