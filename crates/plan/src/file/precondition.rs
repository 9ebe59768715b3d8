//! The tables `[[precondition]]` of a plan file.

use super::fields::Fields;
use super::print::print_stage;
use super::{FileError, cells};
use crate::precondition::Precondition;
use crate::workload::Stop;
use std::fmt::Write as _;

/// The work of one table: of each cell, when something is varied in it.
pub(super) fn read(table: Fields<'_>) -> Result<Vec<Precondition>, FileError> {
    let rounds = |table: &mut Fields<'_>| {
        let rounds = table.number("rounds")?.unwrap_or(1);
        let steady = table.flag("steady")?.unwrap_or(false);
        Ok((rounds, steady, table.number("rounds_max")?))
    };
    let works = cells(table, "a precondition", rounds)?.into_iter();
    let works = works.map(|(mut stage, (rounds, steady, rounds_max))| {
        // Without another end, each round is as much as its span.
        if stage.workload.stop == Stop::default() {
            stage.workload.stop.fraction = Some(1);
        }
        Precondition {
            stage,
            rounds,
            steady,
            rounds_max,
        }
    });
    Ok(works.collect())
}

/// Prints the tables of a plan.
pub(super) fn print(out: &mut String, works: &[Precondition]) {
    for work in works {
        print_stage(out, "precondition", &work.stage, |out| {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "rounds = {}", work.rounds);
            if work.steady {
                let _ = writeln!(out, "steady = true");
            }
            if let Some(most) = work.rounds_max {
                let _ = writeln!(out, "rounds_max = {most}");
            }
        });
    }
}
