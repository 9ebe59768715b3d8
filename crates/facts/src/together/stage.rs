//! A stage over all hosts.

use super::keyed::places_by;
use super::member::{Measured, Member};
use super::trial::GroupTrial;
use crate::figures::figure;
use crate::share;
use crate::stats;
use diskfacts_record::together::{
    AgreedTrial, DeviceBytes, HostFigures, HostSpread, MergedStage, MergedTrial,
};
use diskfacts_record::trial::Histograms;
use diskfacts_record::{Histogram, Latency};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The stages of a group, in the order in which they first come.
pub(super) fn stages(members: &[(&str, &Member)]) -> Vec<MergedStage> {
    let Some((_, first)) = members.first() else {
        return Vec::new();
    };
    let agreed = first.trials.iter().map(|trial| &trial.agreed);
    let stage = |((stage, settings), places): (Key<'_>, Vec<usize>)| {
        let places = places.into_iter();
        let trials: Vec<GroupTrial<'_>> = places
            .filter_map(|place| GroupTrial::at(place, members))
            .collect();
        merged(stage, settings, &trials, members)
    };
    places_by_stage(agreed).into_iter().map(stage).collect()
}

/// A stage, with what was varied.
type Key<'a> = (&'a str, &'a BTreeMap<String, String>);

/// The places of the trials of each stage, in the order in which stages first come. A run may
/// come from anywhere and say that it has a million of them.
fn places_by_stage<'a>(
    agreed: impl Iterator<Item = &'a AgreedTrial>,
) -> Vec<(Key<'a>, Vec<usize>)> {
    places_by(agreed.map(|trial| -> Key<'a> { (&trial.stage, &trial.settings) }))
}

/// The hosts that the figures are of: those of the trials that most hosts did, and of these
/// the most trials.
fn counted<'a>(trials: &[GroupTrial<'a>]) -> BTreeSet<&'a str> {
    let mut times: BTreeMap<BTreeSet<&str>, usize> = BTreeMap::new();
    for trial in trials {
        let hosts = trial.hosts();
        // A trial that is void for another reason says nothing of who did the others.
        if trial.void(&hosts).is_none() {
            *times.entry(hosts).or_default() += 1;
        }
    }
    let most = times
        .into_iter()
        .max_by_key(|(hosts, times)| (hosts.len(), *times));
    most.map(|(hosts, _)| hosts).unwrap_or_default()
}

fn merged(
    stage: &str,
    settings: &BTreeMap<String, String>,
    trials: &[GroupTrial<'_>],
    members: &[(&str, &Member)],
) -> MergedStage {
    let hosts = counted(trials);
    let merged: Vec<MergedTrial> = trials.iter().map(|trial| trial.merged(&hosts)).collect();
    let sound = || {
        trials
            .iter()
            .zip(&merged)
            .filter(|(_, merged)| merged.void.is_none())
    };
    let measured: Vec<&Measured> = sound()
        .flat_map(|(trial, _)| trial.done.iter().map(|(_, measured)| *measured))
        .collect();
    let of_hosts = of_hosts(&hosts, trials, &merged);
    let rates: Vec<f64> = of_hosts.iter().map(|host| host.iops).collect();
    let errors = trials.iter().flat_map(|trial| &trial.done);
    MergedStage {
        stage: stage.to_owned(),
        settings: settings.clone(),
        hosts_counted: u32::try_from(hosts.len()).unwrap_or(u32::MAX),
        throughput_bytes_per_s: figure(sound().map(|(_, trial)| trial.throughput_bytes_per_s)),
        iops: figure(sound().map(|(_, trial)| trial.iops)),
        latency_ns: Latency::from(&added(&measured)),
        layers: share::weighted(measured.iter().map(|m| (&m.layers, m.bytes as f64))),
        cpu_user_ns_per_io: per_operation(&measured, |m| m.user_ns),
        cpu_system_ns_per_io: per_operation(&measured, |m| m.system_ns),
        errors: errors.map(|(_, m)| m.errors).fold(0, u64::saturating_add),
        spread: spread(&rates),
        devices: devices(sound().map(|(trial, _)| trial), members),
        hosts: of_hosts,
        trials: merged,
    }
}

/// The latencies of all operations.
pub(super) fn added(measured: &[&Measured]) -> Histogram {
    let mut all = Histograms::default();
    let Some(first) = measured.first() else {
        return Histogram::new();
    };
    for measured in measured {
        measured.histograms.add_to(&mut all);
    }
    all.measured(&first.workload)
}

/// The hosts of a stage, the slowest first.
fn of_hosts(
    hosts: &BTreeSet<&str>,
    trials: &[GroupTrial<'_>],
    merged: &[MergedTrial],
) -> Vec<HostFigures> {
    let mut figures: Vec<HostFigures> = hosts
        .iter()
        .map(|host| {
            let errors = trials.iter().filter_map(|trial| trial.of_host(host));
            let errors = errors.map(|m| m.errors).fold(0, u64::saturating_add);
            let sound = trials.iter().zip(merged);
            let sound = sound.filter(|(_, merged)| merged.void.is_none());
            let sound: Vec<(&Measured, [i64; 2])> = sound
                .filter_map(|(trial, merged)| Some((trial.of_host(host)?, merged.window_ns?)))
                .collect();
            let rates = sound
                .iter()
                .map(|(m, window)| GroupTrial::rates(m, *window));
            let (iops, throughput): (Vec<f64>, Vec<f64>) = rates.unzip();
            let measured: Vec<&Measured> = sound.iter().map(|(m, _)| *m).collect();
            HostFigures {
                host: (*host).to_owned(),
                iops: stats::median_of(iops).unwrap_or(0.0),
                throughput_bytes_per_s: stats::median_of(throughput).unwrap_or(0.0),
                of_median: None,
                latency_ns: Latency::from(&added(&measured)),
                errors,
            }
        })
        .collect();
    let median = stats::median_of(figures.iter().map(|host| host.iops));
    for host in &mut figures {
        host.of_median = median.filter(|m| *m > 0.0).map(|m| host.iops / m);
    }
    figures.sort_by(|a, b| a.iops.total_cmp(&b.iops).then_with(|| a.host.cmp(&b.host)));
    figures
}

fn spread(rates: &[f64]) -> Option<HostSpread> {
    let sorted = stats::finite_sorted(rates);
    let (&[min, .., max], Some(median)) = (&sorted[..], stats::median(&sorted)) else {
        return None;
    };
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let squares: f64 = sorted.iter().map(|rate| (rate - mean).powi(2)).sum();
    let deviation = (squares / (n - 1.0)).sqrt();
    Some(HostSpread {
        min,
        median,
        max,
        cv: (mean > 0.0).then(|| deviation / mean),
        slowest_over_median: (median > 0.0).then(|| min / median),
    })
}

/// What all of it took over all operations; `None` where a host does not know its own.
fn per_operation(measured: &[&Measured], of: impl Fn(&Measured) -> Option<f64>) -> Option<f64> {
    let all: Option<f64> = measured.iter().map(|m| of(m)).sum();
    let operations: f64 = measured.iter().map(|m| m.ops as f64).sum();
    let cost = all? / operations;
    cost.is_finite().then_some(cost)
}

/// What devices counted. Hosts of one machine see the same counters, each with the operations
/// of all of them in it: of these the largest count stands for the trial.
fn devices<'a>(
    trials: impl Iterator<Item = &'a GroupTrial<'a>>,
    members: &[(&str, &Member)],
) -> Vec<DeviceBytes> {
    // By machine and device: the first host's name, all hosts' names, bytes.
    let mut all: BTreeMap<(String, String), (BTreeSet<&str>, u64, u64)> = BTreeMap::new();
    let boots: HashMap<&str, Option<&String>> = members
        .iter()
        .map(|(name, member)| (*name, member.boot_id.as_ref()))
        .collect();
    for trial in trials {
        let mut of_trial: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
        for (host, measured) in &trial.done {
            let boot = boots.get(host).copied().flatten();
            let machine = boot.cloned().unwrap_or_else(|| (*host).to_owned());
            for (device, read, written) in &measured.devices {
                let key = (machine.clone(), device.clone());
                let most = of_trial.entry(key.clone()).or_default();
                *most = (most.0.max(*read), most.1.max(*written));
                all.entry(key).or_default().0.insert(*host);
            }
        }
        for (key, (read, written)) in of_trial {
            let sum = all.entry(key).or_default();
            sum.1 = sum.1.saturating_add(read);
            sum.2 = sum.2.saturating_add(written);
        }
    }
    all.into_iter()
        .map(
            |((_, device), (hosts, read_bytes, write_bytes))| DeviceBytes {
                host: hosts.first().copied().unwrap_or_default().to_owned(),
                device,
                hosts: u32::try_from(hosts.len()).unwrap_or(u32::MAX),
                read_bytes,
                write_bytes,
            },
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreed(stage: &str, size: usize) -> AgreedTrial {
        AgreedTrial {
            order: 1,
            stage: stage.to_owned(),
            settings: BTreeMap::from([("block_size".to_owned(), size.to_string())]),
            number: 1,
            at_ns: 0,
            length_ns: 1,
            started_ns: None,
            ended_ns: None,
            clock_error_ns: 0,
            late_ns: None,
            void: None,
            void_kind: None,
        }
    }

    #[test]
    fn stages_come_in_the_order_of_their_first_trials() {
        let trials = [
            agreed("b", 1),
            agreed("a", 1),
            agreed("b", 2),
            agreed("b", 1),
        ];
        let stages = places_by_stage(trials.iter());
        let stages: Vec<(&str, &str, Vec<usize>)> = stages
            .into_iter()
            .map(|((stage, settings), places)| (stage, &*settings["block_size"], places))
            .collect();
        let wanted = [
            ("b", "1", vec![0, 3]),
            ("a", "1", vec![1]),
            ("b", "2", vec![2]),
        ];
        assert_eq!(stages, wanted);
    }
}
