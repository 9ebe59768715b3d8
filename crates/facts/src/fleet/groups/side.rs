//! The figures of one group: of each host in each stage one value, over its runs.

use super::super::cells;
use super::super::sample::{Disturbance, Member, PLAN, Peers, Sample};
use super::super::screen::{Value, WhyMissing};
use super::number;
use crate::stats;
use diskfacts_record::comparison::{FleetSide, Measure};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One group.
pub(super) struct GroupFigures<'a> {
    /// Its hosts.
    pub(super) members: BTreeSet<&'a Member>,
    /// Its stages, in the order in which they first come.
    pub(super) stages: Vec<&'a str>,
    /// Its runs, and when each began.
    runs: BTreeMap<(&'a Member, &'a str), i64>,
    /// What its hosts are made of, by their newest run.
    pub(super) peers: BTreeMap<&'a Member, &'a Arc<Peers>>,
    values: BTreeMap<(String, Member), HostValue>,
    missing: BTreeMap<(String, Member), WhyMissing>,
    left_out: BTreeMap<Disturbance, u64>,
    /// When each look began, seconds since 1970.
    looks: Vec<i64>,
}

/// A host in one stage.
#[derive(Debug, Clone)]
pub(super) struct HostValue {
    pub(super) measure: Measure,
    /// Its plan with a digest of what that does.
    pub(super) plan: Option<String>,
    /// The median of its looks, a logarithm; more is slower.
    pub(super) slowness: f64,
    /// The same without what it has in common with the hosts of its time.
    pub(super) level: f64,
    /// Each look at it, the first first.
    pub(super) looks: Vec<Look>,
}

/// A host in one stage at one time.
#[derive(Debug, Clone)]
pub(super) struct Look {
    /// Which look of the group, from 0.
    pub(super) number: usize,
    /// When its run began, the first of several.
    pub(super) started_s: i64,
    /// The median of its runs' medians, a logarithm; more is slower.
    pub(super) slowness: f64,
}

/// The runs of a host in a stage, each with what it was measured by.
type Runs<'v> = Vec<(&'v cells::StageOfPeers<'v>, &'v Value)>;

impl<'a> GroupFigures<'a> {
    pub(super) fn of(samples: &'a [Sample], apart_s: i64) -> Self {
        let mut figures = Self {
            members: samples.iter().map(|sample| &sample.member).collect(),
            stages: Vec::new(),
            runs: BTreeMap::new(),
            peers: BTreeMap::new(),
            values: BTreeMap::new(),
            missing: BTreeMap::new(),
            left_out: BTreeMap::new(),
            looks: looks(samples, apart_s),
        };
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let mut newest: BTreeMap<&Member, i64> = BTreeMap::new();
        for sample in samples {
            if known.insert(&sample.stage) {
                figures.stages.push(&sample.stage);
            }
            figures
                .runs
                .insert((&sample.member, &sample.run), sample.started_s);
            let last = newest.entry(&sample.member).or_insert(i64::MIN);
            if sample.started_s > *last {
                *last = sample.started_s;
                figures.peers.insert(&sample.member, &sample.peers);
            }
        }
        figures.read(samples);
        figures
    }

    fn read(&mut self, samples: &[Sample]) {
        let read = cells::read(samples.iter().collect());
        self.left_out = read.left_out;
        for (_, missing) in read.missing {
            let key = (missing.stage, missing.member);
            // Of several reasons the one that says most.
            let why = self.missing.entry(key).or_insert(missing.why);
            if *why == WhyMissing::NotMeasured {
                *why = missing.why;
            }
        }
        // By plan and figure, because a host that was measured by two is compared by its newest.
        let mut runs: BTreeMap<(String, Member), Runs<'_>> = BTreeMap::new();
        for stage in &read.stages {
            for value in &stage.values {
                let key = (stage.stage.to_owned(), value.member.clone());
                runs.entry(key).or_default().push((stage, value));
            }
        }
        for (key, mut of_host) in runs {
            of_host.sort_by_key(|(_, value)| (value.started_s, value.run.clone()));
            let Some((newest, _)) = of_host.last().copied() else {
                continue;
            };
            let plan = newest.peers.0.get(PLAN);
            of_host.retain(|(stage, _)| {
                stage.measure == newest.measure && stage.peers.0.get(PLAN) == plan
            });
            let number = |started_s: i64| {
                let began = self.looks.partition_point(|look| *look <= started_s);
                began.saturating_sub(1)
            };
            let looks: Vec<Look> = of_host
                .chunk_by(|(_, a), (_, b)| number(a.started_s) == number(b.started_s))
                .filter_map(|runs| {
                    let medians = runs.iter().map(|(_, value)| value.median);
                    let slowness = medians.map(|median| cells::slowness(newest.measure, median));
                    Some(Look {
                        number: number(runs[0].1.started_s),
                        started_s: runs[0].1.started_s,
                        slowness: stats::median_of(slowness)?,
                    })
                })
                .collect();
            let Some(slowness) = stats::median_of(looks.iter().map(|look| look.slowness)) else {
                continue;
            };
            let value = HostValue {
                measure: newest.measure,
                plan: plan.cloned(),
                slowness,
                level: slowness,
                looks,
            };
            self.values.insert(key, value);
        }
    }

    pub(super) fn has(&self, stage: &str) -> bool {
        self.stages.contains(&stage)
    }

    /// What most hosts of the stage are judged by.
    pub(super) fn measure(&self, stage: &str) -> Measure {
        let mut counts: BTreeMap<Measure, usize> = BTreeMap::new();
        for ((of, _), value) in &self.values {
            if of == stage {
                *counts.entry(value.measure).or_default() += 1;
            }
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        most.map_or(Measure::Iops, |(measure, _)| measure)
    }

    /// The value of a host in a stage, or why there is none.
    pub(super) fn value(&self, stage: &str, member: &Member) -> Result<&HostValue, WhyMissing> {
        let key = (stage.to_owned(), member.clone());
        self.values.get(&key).ok_or_else(|| {
            let why = self.missing.get(&key);
            why.copied().unwrap_or(WhyMissing::NotMeasured)
        })
    }

    /// In a few words.
    pub(super) fn side(&self, group: &str) -> FleetSide {
        let times = || self.runs.values().copied();
        let left_out = self.left_out.iter();
        FleetSide {
            group: group.to_owned(),
            hosts: number(self.members.len()),
            runs: number(self.runs.len()),
            from_s: times().min().unwrap_or(0),
            to_s: times().max().unwrap_or(0),
            looks: number(self.looks.len()),
            trials_left_out: left_out
                .map(|(by, trials)| (by.word().to_owned(), *trials))
                .collect(),
        }
    }
}

/// When each look began: a look ends where nobody began a run for so long.
fn looks(samples: &[Sample], apart_s: i64) -> Vec<i64> {
    let times: BTreeSet<i64> = samples.iter().map(|sample| sample.started_s).collect();
    let mut looks = Vec::new();
    let mut last: Option<i64> = None;
    for at in times {
        if last.is_none_or(|last| at - last >= apart_s) {
            looks.push(at);
        }
        last = Some(at);
    }
    looks
}
