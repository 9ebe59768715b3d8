//! Two groups of a fleet: what changed from one to the other, over all hosts and of each.
//!
//! Each host is held against itself, so that how hosts differ from each other is in nothing. What
//! is left differs from host to host by chance, and a host is one observation: its trials share
//! what its disk did in that hour. The fleet's change is the centre of the hosts' changes, with a
//! fifth trimmed at either end ([`stats::paired_difference`]), and its interval is Student's. Where
//! nothing changed, the two values of a host are as good as exchanged, so their differences are
//! symmetric whatever disturbs runs, and the interval is right for that.
//!
//! What hosts of one time have in common is taken away first, because they are no observations of
//! their own ([`slow_times`]).
//!
//! Stages are tested together by Holm's procedure. Hosts that moved by themselves: [`movers`].
//!
//! **What it cannot tell** is a change from what slowed the whole fleet at one time: both groups are
//! of the times at which they were measured.

mod movers;
mod side;
mod slow_times;

use super::cells;
use super::sample::{Member, Options, PLAN, Sample};
use super::screen::WhyMissing;
use crate::compare::{Demanded, Tested, as_change, correct, sentences};
use crate::stats::{self, CentreDifference};
use diskfacts_record::SCHEMA;
use diskfacts_record::comparison::{
    Change, Comparison, Condition, Correction, Difference, FleetComparison, HostChange, HostName,
    Measure, Moved, Mover, Overall, Side, SlowHours, Spread, StageComparison, StageOfHosts, Unit,
    WithoutFigure,
};
use side::{GroupFigures, HostValue};
use std::collections::{BTreeMap, BTreeSet};

/// Chance that any stage is called different though none differs.
const ALPHA: f64 = 0.05;
/// Buckets of a histogram are at most 1/128 of a value wide, and their middle stands for them: a
/// latency on either side is known no better.
const RESOLUTION_OF_LATENCIES: f64 = 2.0 / 256.0;
/// Values of a condition that are listed.
const VALUES_MAX: usize = 8;
/// Reasons of one stage that are listed.
const REASONS_MAX: usize = 3;

/// A group of a fleet.
#[derive(Debug, Clone)]
pub struct GroupOfFleet<'a> {
    /// As it was given: `fleet/@monday`.
    pub given: String,
    /// Its name: `monday`.
    pub group: String,
    /// All of it.
    pub samples: &'a [Sample],
}

/// Compares `b` with `a`, host by host. A difference within `same_within` (a share, above 0)
/// counts as none, of a host as of all.
pub fn compare_groups(
    a: &GroupOfFleet<'_>,
    b: &GroupOfFleet<'_>,
    same_within: f64,
    demanded: &[Demanded],
    options: &Options,
) -> Comparison {
    let of_a = GroupFigures::of(a.samples, options.apart_s);
    let of_b = GroupFigures::of(b.samples, options.apart_s);
    let both: BTreeSet<&Member> = of_a.members.intersection(&of_b.members).copied().collect();
    let stages = of_a.stages.iter().filter(|stage| of_b.has(stage));
    let pairs: Vec<Paired> = stages
        .map(|stage| pair(stage, &of_a, &of_b, &both, options))
        .collect();
    let mut tested: Vec<Option<Tested>> = pairs.iter().map(tested).collect();
    let correction = Correction {
        method: "holm".to_owned(),
        speeds: correct(tested.iter_mut().flatten(), ALPHA, same_within),
        speeds_alpha: ALPHA,
        latencies: 0,
        latencies_alpha: 0.0,
    };
    let movers = movers::of(&pairs, same_within, options);
    let names = |members: &BTreeSet<&Member>, other: &BTreeSet<&Member>| -> Vec<HostName> {
        members
            .difference(other)
            .map(|member| name(member))
            .collect()
    };
    let only = |of: &GroupFigures<'_>, other: &GroupFigures<'_>| -> Vec<String> {
        let stages = of.stages.iter().filter(|stage| !other.has(stage));
        stages.map(|stage| (*stage).to_owned()).collect()
    };
    let overall = overall(&pairs, &tested);
    let tests = movers.iter().flatten().map(|movers| movers.tests).sum();
    let fleet = FleetComparison {
        a: of_a.side(&a.group),
        b: of_b.side(&b.group),
        hosts: number(both.len()),
        only_in_a: names(&of_a.members, &of_b.members),
        only_in_b: names(&of_b.members, &of_a.members),
        tests,
        false_discoveries: options.false_discoveries,
        stages: pairs
            .iter()
            .zip(movers)
            .map(|(pairs, movers)| pairs.of_hosts(movers.map(|movers| movers.found)))
            .collect(),
    };
    let stages = pairs
        .iter()
        .zip(tested)
        .map(|(pairs, tested)| stage(pairs, tested, same_within));
    let mut comparison = Comparison {
        schema: SCHEMA,
        summary: String::new(),
        a: side(&a.given),
        b: side(&b.given),
        conditions: conditions(&both, &of_a, &of_b),
        stages: stages.collect(),
        only_in_a: only(&of_a, &of_b),
        only_in_b: only(&of_b, &of_a),
        overall,
        correction,
        same_within,
        demands: Vec::new(),
        fleet: Some(fleet),
    };
    comparison.summary = sentences::summary(&comparison) + &moved(&comparison);
    comparison.demands = demanded.iter().map(|one| one.of(&comparison)).collect();
    comparison
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn name(member: &Member) -> HostName {
    HostName {
        host: member.name().into_owned(),
        target: member.target.clone(),
    }
}

/// The runs of a group are its files' rows, and not listed.
fn side(given: &str) -> Side {
    Side {
        given: given.to_owned(),
        runs: Vec::new(),
    }
}

/// One stage, host by host.
struct Paired {
    stage: String,
    measure: Measure,
    /// Hosts with a figure on both sides, in the order of the names.
    pairs: Vec<Pair>,
    /// Hosts of both groups that have none, and why.
    without: Vec<WithoutFigure>,
    /// Times at which many of them were slow together.
    times: Vec<SlowHours>,
}

/// A host on both sides.
struct Pair {
    member: Member,
    a: HostValue,
    b: HostValue,
    /// The logarithm of the factor by which it is slower in `b`, without what it has in common
    /// with the hosts of its time.
    slower_ln: f64,
}

impl Paired {
    fn of_hosts(&self, movers: Option<Vec<Mover>>) -> StageOfHosts {
        let slower: Vec<f64> = self.pairs.iter().map(|pair| pair.slower_ln).collect();
        let pairs = self.pairs.iter().map(|pair| {
            let [a, b] =
                [&pair.a, &pair.b].map(|value| cells::value_of(self.measure, value.slowness));
            HostChange {
                name: name(&pair.member),
                a,
                b,
                change: as_change((b / a).ln()),
            }
        });
        StageOfHosts {
            stage: self.stage.clone(),
            measure: self.measure,
            spread: stats::robust_deviation(&slower).map(as_change),
            movers,
            pairs: pairs.collect(),
            without: self.without.clone(),
            times: self.times.clone(),
        }
    }

    /// The logarithm of a factor in the figure itself, of one by which it is slower.
    fn of_figure(&self, slower_ln: f64) -> f64 {
        if self.measure.more_is_better() {
            -slower_ln
        } else {
            slower_ln
        }
    }
}

/// Puts the hosts of one stage side by side.
fn pair(
    stage: &str,
    a: &GroupFigures<'_>,
    b: &GroupFigures<'_>,
    both: &BTreeSet<&Member>,
    options: &Options,
) -> Paired {
    let measure = a.measure(stage);
    let mut paired = Paired {
        stage: stage.to_owned(),
        measure,
        pairs: Vec::new(),
        without: Vec::new(),
        times: Vec::new(),
    };
    for member in both {
        let found = match (a.value(stage, member), b.value(stage, member)) {
            (Ok(a), Ok(b)) => match unlike(measure, a, b) {
                None => Ok((a, b)),
                Some(why) => Err(why),
            },
            (Err(why), Ok(_)) => Err(missing(why, "A")),
            (Ok(_), Err(why)) => Err(missing(why, "B")),
            (Err(why), Err(other)) => {
                Err(format!("{}; {}", missing(why, "A"), missing(other, "B")))
            }
        };
        match found {
            Ok((a, b)) => paired.pairs.push(Pair {
                member: (*member).clone(),
                slower_ln: b.slowness - a.slowness,
                a: a.clone(),
                b: b.clone(),
            }),
            Err(why) => paired.without.push(WithoutFigure {
                name: name(member),
                why,
            }),
        }
    }
    paired.times = slow_times::apart(&mut paired.pairs, options.peers_min);
    paired
}

/// Why the two figures of a host are of different things.
fn unlike(measure: Measure, a: &HostValue, b: &HostValue) -> Option<String> {
    let words = |value: &HostValue| value.plan.clone().unwrap_or_else(|| "unknown".to_owned());
    if a.plan != b.plan {
        return Some(format!(
            "another plan: {} in A and {} in B, where the digest is of what its stages do, spans \
             included",
            words(a),
            words(b)
        ));
    }
    let other = [a, b].into_iter().find(|value| value.measure != measure)?;
    Some(format!(
        "no figure in common: {} and {}",
        measure.word(),
        other.measure.word()
    ))
}

fn missing(why: WhyMissing, side: &str) -> String {
    match why {
        WhyMissing::NotMeasured => format!("not measured in {side}"),
        WhyMissing::AllDisturbed(by) => {
            format!("each trial in {side} was disturbed ({})", by.word())
        }
        WhyMissing::NoFigure => format!("no figure in {side}"),
    }
}

/// The fleet's change in a stage; `None` where no host has both figures.
fn tested(paired: &Paired) -> Option<Tested> {
    let median = |of: fn(&Pair) -> f64| {
        let all = stats::median_of(paired.pairs.iter().map(of))?;
        Some(cells::value_of(paired.measure, all))
    };
    let changes: Vec<f64> = (paired.pairs.iter())
        .map(|pair| paired.of_figure(pair.slower_ln))
        .collect();
    let resolution = if paired.measure.more_is_better() {
        0.0
    } else {
        RESOLUTION_OF_LATENCIES
    };
    let centre = stats::paired_difference(&changes).map(|c| c.resolved_to(resolution));
    let apart = centre.map_or(changes.first().copied(), |centre| Some(centre.estimate))?;
    let hosts = number(changes.len());
    Some(Tested {
        difference: Difference {
            measure: paired.measure,
            a: median(|pair| pair.a.slowness)?,
            b: median(|pair| pair.b.slowness)?,
            count_a: hosts,
            count_b: hosts,
            unit: Unit::Host,
            change: as_change(apart),
            interval: None,
            confidence: None,
            p: None,
            p_adjusted: None,
            outcome: Change::Unclear,
        },
        centre,
    })
}

fn stage(paired: &Paired, tested: Option<Tested>, same_within: f64) -> StageComparison {
    let speed = tested.map(|tested| tested.difference);
    let because = match &speed {
        Some(_) => Vec::new(),
        None => reasons(paired),
    };
    let change = speed.as_ref().map_or(Change::NotComparable, |s| s.outcome);
    StageComparison {
        stage: paired.stage.clone(),
        stage_b: None,
        change,
        statement: sentences::stage(change, &because, speed.as_ref(), same_within),
        because,
        speed,
        latency: Vec::new(),
    }
}

/// ` 2 hosts moved by themselves.`; empty where none did.
fn moved(comparison: &Comparison) -> String {
    let stages = comparison.fleet.iter().flat_map(|fleet| &fleet.stages);
    let movers = stages.flat_map(|stage| stage.movers.iter().flatten());
    let names: BTreeSet<&HostName> = movers
        .filter(|mover| mover.moved == Moved::ByItself)
        .map(|mover| &mover.name)
        .collect();
    match names.len() {
        0 => String::new(),
        1 => " 1 host moved by itself.".to_owned(),
        hosts => format!(" {hosts} hosts moved by themselves."),
    }
}

/// Why a stage has no figure of any host: what most hosts have first.
fn reasons(paired: &Paired) -> Vec<String> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for without in &paired.without {
        *counts.entry(&without.why).or_default() += 1;
    }
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    if counts.is_empty() {
        return vec!["no host is in both groups".to_owned()];
    }
    let said = counts.iter().take(REASONS_MAX);
    said.map(|(why, count)| format!("{why} ({})", crate::words::count(*count, "host")))
        .collect()
}

/// All stages together: the centre of what each host changed on average over its stages.
fn overall(pairs: &[Paired], tested: &[Option<Tested>]) -> Option<Overall> {
    let comparable: Vec<(&Paired, f64)> = (pairs.iter().zip(tested))
        .filter_map(|(paired, tested)| Some((paired, tested.as_ref()?)))
        .map(|(paired, tested)| (paired, -paired.of_figure(tested.difference.change.ln_1p())))
        .collect();
    let faster: Vec<f64> = comparable.iter().map(|(_, faster)| *faster).collect();
    let sorted = stats::finite_sorted(&faster);
    let (least, most) = (*sorted.first()?, *sorted.last()?);
    let mut hosts: BTreeMap<&Member, (f64, usize)> = BTreeMap::new();
    for pair in comparable.iter().flat_map(|(paired, _)| &paired.pairs) {
        let (sum, stages) = hosts.entry(&pair.member).or_default();
        *sum -= pair.slower_ln;
        *stages += 1;
    }
    // Those of a part of the stages would make a part of the mean.
    let means: Vec<f64> = hosts
        .into_values()
        .filter(|(_, stages)| *stages == comparable.len())
        .map(|(sum, stages)| sum / stages as f64)
        .collect();
    let centre: Option<CentreDifference> = stats::paired_difference(&means);
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    Some(Overall {
        stages: number(sorted.len()),
        change: as_change(centre.map_or(mean, |centre| centre.estimate)),
        interval: centre.map(|centre| centre.interval(ALPHA).map(as_change)),
        over: centre.map(|_| Spread::Observations),
        least: as_change(least),
        most: as_change(most),
    })
}

/// What hosts are made of that is not the same in both groups: the values of those that changed.
fn conditions(
    both: &BTreeSet<&Member>,
    a: &GroupFigures<'_>,
    b: &GroupFigures<'_>,
) -> Vec<Condition> {
    type Values<'a> = [BTreeSet<&'a str>; 2];
    let mut found: BTreeMap<&str, (Values<'_>, u64)> = BTreeMap::new();
    for member in both {
        let (Some(of_a), Some(of_b)) = (a.peers.get(member), b.peers.get(member)) else {
            continue;
        };
        let keys: BTreeSet<&str> = (of_a.0.keys().chain(of_b.0.keys()))
            .map(String::as_str)
            .filter(|key| *key != PLAN)
            .collect();
        for key in keys {
            let [in_a, in_b] = [of_a, of_b].map(|peers| peers.0.get(key).map(String::as_str));
            if in_a != in_b {
                let (values, hosts) = found.entry(key).or_default();
                values[0].extend(in_a);
                values[1].extend(in_b);
                *hosts += 1;
            }
        }
    }
    let listed = |values: BTreeSet<&str>| -> Vec<String> {
        let more = values.len().saturating_sub(VALUES_MAX);
        let mut listed: Vec<String> = values
            .into_iter()
            .take(VALUES_MAX)
            .map(str::to_owned)
            .collect();
        if more > 0 {
            listed.push(format!("{more} more"));
        }
        listed
    };
    let condition = |(key, ([a, b], hosts)): (&str, (Values<'_>, u64))| Condition {
        what: format!("{key} of {}", crate::words::count(hosts, "host")),
        a: listed(a),
        b: listed(b),
        stages: Vec::new(),
    };
    found.into_iter().map(condition).collect()
}

#[cfg(test)]
mod tests;
