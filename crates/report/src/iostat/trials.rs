//! The columns of `iostat -x` for each trial of a run, over exactly its window.

use super::linux::{row, value};
use crate::formats::iostat_linux::Columns;
use diskfacts_facts::device_rates::DeviceRates;
use diskfacts_record::{Run, Trial};
use std::fmt::Write as _;

/// Whether any device was counted in any trial of a run.
pub fn has_trials(run: &Run) -> bool {
    run.trials
        .iter()
        .any(|trial| !trial.evidence.devices.is_empty())
}

/// The rows of all trials in the order they were done, each trial under its stage:
/// one row for each device of the stack, the topmost first. Where the mean queue
/// is not what follows from rates and times (Little's law), a line says so.
pub fn trials(run: &Run) -> String {
    let columns = Columns::extended();
    let mut out = String::new();
    for trial in &run.trials {
        let rates = DeviceRates::of_trial(trial);
        if rates.is_empty() {
            continue;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{}, trial {}, {:.3} s:\n{}",
            name(trial),
            trial.number,
            trial.seconds,
            columns.aligned_names()
        );
        for rates in &rates {
            let _ = writeln!(out, "{}", columns.aligned(&row(&columns, rates)));
        }
        for rates in &rates {
            if let Some(law) = rates.little_disagrees() {
                let _ = writeln!(
                    out,
                    "{}: aqu-sz is {:.2}; {:.2} follows from the rates and the await of each",
                    rates.counted().name,
                    value("aqu-sz", rates),
                    law.expected
                );
            }
        }
        out.push('\n');
    }
    out
}

/// The stage, with what was varied in it.
fn name(trial: &Trial) -> String {
    let settings = trial.settings.iter();
    let settings = settings.map(|(name, value)| format!(" {name}={value}"));
    format!("{}{}", trial.stage, settings.collect::<String>())
}
