//! Row groups to samples.

use super::parts::{self, Part};
use super::runs::{Chosen, peers_of};
use super::table::{File, Text};
use crate::error::Error;
use diskfacts_facts::fleet::{Disturbance, Member, Peers, Sample, TrialSample};
use diskfacts_record::comparison::Measure;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// What is the same in all rows of a sample, in the order of the columns below.
const OF_SAMPLE: [&str; 6] = ["run", "host", "target", "peers", "stage_label", "measure"];

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
        },
    )?;
    Ok(done.into_values().flatten().collect())
}

/// The samples of a row group, in the order of its rows.
fn of_part(part: &Part<'_>, chosen: &Chosen, wanted: Option<&str>) -> Result<Vec<Sample>, Error> {
    let (file, group) = (part.file, part.group);
    let mut same: Vec<Vec<Text>> = Vec::with_capacity(OF_SAMPLE.len());
    for name in OF_SAMPLE {
        same.push(file.texts(group, name)?);
    }
    let started = file.integers(group, "started")?;
    let values = file.numbers(group, "value")?;
    let disturbed = file.texts(group, "disturbed_by")?;
    let of_stages = optional(file, group, "stage", wanted)?;
    let mut all_peers: HashMap<Vec<u8>, Arc<Peers>> = HashMap::new();
    let mut samples: Vec<Sample> = Vec::new();
    // The row with which the last sample began, where that is wanted.
    let mut began: Option<(usize, bool)> = None;
    for row in 0..values.len() {
        let continues = began.is_some_and(|(first, _)| {
            same.iter()
                .all(|column| is_same(&column[first], &column[row]))
        });
        if !continues {
            let [run, host, target, stage, measure] =
                [0, 1, 2, 4, 5].map(|at| file.text(OF_SAMPLE[at], &same[at][row]));
            let member = Member {
                host: host?,
                target: target?,
            };
            let run = run?;
            let is_stage =
                is(wanted, of_stages.as_ref().map(|s| &s[row])) || is(wanted, Some(&same[4][row]));
            let is_wanted = is_stage && chosen.has(&member, &run, part.place);
            began = Some((row, is_wanted));
            if is_wanted {
                let measure = measure?;
                samples.push(Sample {
                    member,
                    run,
                    started_s: moment(file, started[row])?,
                    peers: peers_of(file, &mut all_peers, &same[3][row])?,
                    stage: stage?,
                    measure: Measure::of_word(&measure).ok_or_else(|| {
                        file.not_ours(format!("'{}' is no measure", measure.escape_debug()))
                    })?,
                    trials: Vec::new(),
                });
            }
        }
        if began.is_some_and(|(_, is_wanted)| is_wanted)
            && let Some(sample) = samples.last_mut()
        {
            sample.trials.push(TrialSample {
                value: values[row].unwrap_or(f64::NAN),
                disturbed: disturbance(file, &disturbed[row])?,
            });
        }
    }
    Ok(samples)
}

/// A column that is read only where it is asked about.
fn optional(
    file: &File,
    group: usize,
    name: &str,
    wanted: Option<&str>,
) -> Result<Option<Vec<Text>>, Error> {
    wanted.map(|_| file.texts(group, name)).transpose()
}

/// Whether two texts are equal, at a glance where they share their bytes.
pub(super) fn is_same(a: &Text, b: &Text) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            let (a, b) = (a.data(), b.data());
            (a.as_ptr() == b.as_ptr() && a.len() == b.len()) || a == b
        }
        (None, None) => true,
        _ => false,
    }
}

pub(super) fn is(wanted: Option<&str>, has: Option<&Text>) -> bool {
    wanted.is_none_or(|wanted| {
        let has = has.and_then(Option::as_ref);
        has.is_some_and(|has| has.data() == wanted.as_bytes())
    })
}

/// Microseconds to seconds.
pub(super) fn moment(file: &File, us: Option<i64>) -> Result<i64, Error> {
    let us = us.ok_or_else(|| file.not_ours("a row has no started".to_owned()))?;
    Ok(us.div_euclid(1_000_000))
}

fn disturbance(file: &File, text: &Text) -> Result<Option<Disturbance>, Error> {
    let Some(_) = text else {
        return Ok(None);
    };
    let word = file.text("disturbed_by", text)?;
    match Disturbance::of_word(&word) {
        Some(by) => Ok(Some(by)),
        None => Err(file.not_ours(format!("'{}' is no disturbance", word.escape_debug()))),
    }
}
