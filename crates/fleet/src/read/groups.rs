//! Row groups to samples.

use super::parts::{self, Part};
use super::runs::{Chosen, OfHost, is_wanted, peers_of};
use super::spans::{Column, are_same, push_rows, stretches};
use super::table::File;
use crate::error::Error;
use diskfacts_facts::fleet::{Disturbance, Member, Peers, Sample, TrialSample};
use diskfacts_record::comparison::Measure;
use parquet::data_type::ByteArray;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// The samples of these runs, in the order of the files.
pub(super) fn samples(
    files: &[PathBuf],
    chosen: &Chosen,
    stage: Option<&str>,
) -> Result<Vec<Sample>, Error> {
    let mut done: BTreeMap<(usize, usize), Vec<Sample>> = BTreeMap::new();
    parts::each(
        files,
        &|file| chosen.is_in(file),
        |part| of_part(part, chosen, stage),
        |part, samples| {
            done.insert((part.place, part.group), samples);
            Ok(())
        },
    )?;
    Ok(done.into_values().flatten().collect())
}

/// The samples of a row group, in the order of its rows. Columns are read one after the other, as long as
/// a row is left that may be wanted.
fn of_part(part: &Part<'_>, chosen: &Chosen, stage: Option<&str>) -> Result<Vec<Sample>, Error> {
    let (file, group) = (part.file, part.group);
    let may_be_of = |stage: &str| {
        file.may_have_text(group, "stage", stage) || file.may_have_text(group, "stage_label", stage)
    };
    if !file.may_have(group, "host", |least, most| {
        chosen.has_host_within(least, most)
    }) || !stage.is_none_or(may_be_of)
    {
        return Ok(Vec::new());
    }
    let texts = |name: &str| file.texts(group, name);
    let hosts = texts("host")?;
    let host_of = |host: &ByteArray| chosen.of_host(host.data());
    let of_hosts: Vec<Option<&OfHost>> = hosts.entries.iter().map(host_of).collect();
    if of_hosts.iter().all(Option::is_none) {
        return Ok(Vec::new());
    }
    let of_runs = [hosts, texts("target")?, texts("run")?, texts("machine_id")?];
    let wanted = of_chosen(part, &of_hosts, &of_runs)?;
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let [hosts, targets, runs, machines] = of_runs;
    let are_shared: Vec<bool> = (of_hosts.iter())
        .map(|of| of.is_some_and(|of| of.has_several_machines))
        .collect();
    let [peers, labels, measures] = [texts("peers")?, texts("stage_label")?, texts("measure")?];
    let same = [hosts, targets, runs, peers, labels, measures, machines];
    let mut samples = begun(part, &same, &are_shared, wanted, stage)?;
    let mut rows = Vec::new();
    for (_, of_sample) in &samples {
        push_rows(&mut rows, of_sample.clone());
    }
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = file.numbers(group, "value", &rows)?.into_iter();
    let disturbed = texts("disturbed_by")?;
    for (sample, rows) in &mut samples {
        for (rows, [by]) in stretches([&disturbed.spans], rows.clone()) {
            let disturbed = disturbance(file, disturbed.value(by))?;
            let values = values.by_ref().take(rows.len());
            sample.trials.extend(values.map(|value| TrialSample {
                value: value.unwrap_or(f64::NAN),
                disturbed,
            }));
        }
    }
    Ok(samples.into_iter().map(|(sample, _)| sample).collect())
}

/// The rows of runs that are wanted: of what hosts, by the numbers of their entries, and where the
/// columns are hosts, targets, runs and machines.
fn of_chosen(
    part: &Part<'_>,
    of_hosts: &[Option<&OfHost>],
    columns: &[Column<ByteArray>; 4],
) -> Result<Vec<Range<u32>>, Error> {
    let file = part.file;
    let all = columns.each_ref().map(|column| &column.spans[..]);
    let mut wanted = Vec::new();
    for (rows, [host, target, run, machine]) in stretches(all, 0..file.rows(part.group)) {
        let Some(of) = host.and_then(|host| of_hosts[host as usize]) else {
            continue;
        };
        let target = file.text("target", columns[1].value(target))?;
        let run = file.text("run", columns[2].value(run))?;
        let machine = match columns[3].value(machine) {
            Some(_) if of.has_several_machines => {
                Some(file.text("machine_id", columns[3].value(machine))?)
            }
            _ => None,
        };
        if is_wanted(of, (target, machine), run, part.place) {
            push_rows(&mut wanted, rows);
        }
    }
    Ok(wanted)
}

/// The samples in these rows, of this stage or all, with the rows of each, and without their trials. The
/// columns are what is the same in all rows of a sample: host, target, run, peers, label, measure,
/// machine; `are_shared` is which hosts, by the numbers of their entries, are several machines.
fn begun(
    part: &Part<'_>,
    same: &[Column<ByteArray>; 7],
    are_shared: &[bool],
    wanted: Vec<Range<u32>>,
    stage: Option<&str>,
) -> Result<Vec<(Sample, Range<u32>)>, Error> {
    let (file, group) = (part.file, part.group);
    let started = file.integers(group, "started")?;
    let stages = match stage {
        None => Column::default(),
        Some(_) => file.texts(group, "stage")?,
    };
    let spans = same.each_ref().map(|column| &column.spans[..]);
    let [hosts, targets, runs, peers, labels, measures, machines] = spans;
    // Where nobody asks for a stage, whatever has as many rows does.
    let of_stages = stage.map_or(labels, |_| &stages.spans);
    let columns = [
        hosts,
        targets,
        runs,
        peers,
        labels,
        measures,
        machines,
        &started.spans,
        of_stages,
    ];
    let mut all_peers: HashMap<Vec<u8>, Arc<Peers>> = HashMap::new();
    let mut samples: Vec<(Sample, Range<u32>)> = Vec::new();
    // What the last sample has, the row behind it, and whether it is wanted.
    let mut last: Option<([Option<u32>; 7], u32, bool)> = None;
    for (
        rows,
        [
            host,
            target,
            run,
            peers,
            label,
            measure,
            machine,
            began,
            in_stage,
        ],
    ) in wanted.into_iter().flat_map(|rows| stretches(columns, rows))
    {
        let of = [host, target, run, peers, label, measure, machine];
        if let Some((last_of, end, is_wanted)) = &mut last
            && *end == rows.start
            && are_same(same, *last_of, of)
        {
            *end = rows.end;
            if *is_wanted && let Some((_, of_sample)) = samples.last_mut() {
                of_sample.end = rows.end;
            }
            continue;
        }
        let is_it = |text: Option<&ByteArray>, stage: &str| {
            text.is_some_and(|text| text.data() == stage.as_bytes())
        };
        let is_wanted = stage.is_none_or(|stage| {
            is_it(stages.value(in_stage), stage) || is_it(same[4].value(label), stage)
        });
        last = Some((of, rows.end, is_wanted));
        if !is_wanted {
            continue;
        }
        let text = |name: &str, at: usize| file.text(name, same[at].value(of[at]));
        let measure = text("measure", 5)?;
        let is_shared = host.is_some_and(|host| are_shared[host as usize]);
        let machine = match same[6].value(machine).filter(|_| is_shared) {
            None => None,
            Some(_) => Some(text("machine_id", 6)?.to_owned()),
        };
        let sample = Sample {
            member: Member {
                host: text("host", 0)?.to_owned(),
                machine,
                target: text("target", 1)?.to_owned(),
            },
            run: text("run", 2)?.to_owned(),
            started_s: moment(file, started.value(began))?,
            peers: peers_of(file, &mut all_peers, same[3].value(peers))?,
            stage: text("stage_label", 4)?.to_owned(),
            measure: Measure::of_word(measure).ok_or_else(|| {
                file.not_ours(format!("'{}' is no measure", measure.escape_debug()))
            })?,
            trials: Vec::new(),
        };
        samples.push((sample, rows));
    }
    Ok(samples)
}

/// Microseconds to seconds.
pub(super) fn moment(file: &File, us: Option<&i64>) -> Result<i64, Error> {
    let us = us.ok_or_else(|| file.not_ours("a row has no started".to_owned()))?;
    Ok(us.div_euclid(1_000_000))
}

fn disturbance(file: &File, text: Option<&ByteArray>) -> Result<Option<Disturbance>, Error> {
    let Some(_) = text else {
        return Ok(None);
    };
    let word = file.text("disturbed_by", text)?;
    match Disturbance::of_word(word) {
        Some(by) => Ok(Some(by)),
        None => Err(file.not_ours(format!("'{}' is no disturbance", word.escape_debug()))),
    }
}
