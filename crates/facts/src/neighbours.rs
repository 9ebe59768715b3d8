//! Who the others were: processes that had storage or processors while a stage ran.
//!
//! What a process moved is counted over all devices, so it is who may have been in the way,
//! and said as such.

use crate::words::{list, percent};
use diskfacts_plan::units::{show_duration, show_size};
use diskfacts_record::Trial;
use diskfacts_record::evidence::Neighbour;
use std::cmp::Reverse;

/// Programs that are named, at most.
const NAMED: usize = 2;
/// Share of what all others did from which on one is named.
const SHARE: f64 = 0.2;

/// Processes of one name.
struct Program<'a> {
    name: &'a str,
    processes: Vec<u32>,
    amount: u64,
}

/// The programs that had most of something, each with its processes.
fn programs<'a>(trials: &[&'a Trial], of: fn(&Neighbour) -> u64) -> Vec<Program<'a>> {
    let mut found: Vec<Program<'a>> = Vec::new();
    let neighbours = trials.iter().flat_map(|trial| &trial.evidence.neighbours);
    for one in neighbours.flatten().filter(|one| of(one) > 0) {
        let at = found.iter().position(|program| program.name == one.name);
        let at = at.unwrap_or_else(|| {
            found.push(Program {
                name: &one.name,
                processes: Vec::new(),
                amount: 0,
            });
            found.len() - 1
        });
        let program = &mut found[at];
        program.amount = program.amount.saturating_add(of(one));
        if !program.processes.contains(&one.process) {
            program.processes.push(one.process);
        }
    }
    found.sort_by_key(|program| Reverse(program.amount));
    let all: f64 = found.iter().map(|program| program.amount as f64).sum();
    found.retain(|program| program.amount as f64 >= SHARE * all);
    found.truncate(NAMED);
    found
}

fn named(programs: &[Program<'_>], show: impl Fn(u64) -> String) -> String {
    list(programs.iter().map(|program| {
        let amount = show(program.amount);
        match &program.processes[..] {
            [one] => format!("{} (process {one}), {amount}", program.name),
            several => format!("{} ({} processes), {amount}", program.name, several.len()),
        }
    }))
}

/// Who moved most on storage, a sentence; `None` where nobody is known to have moved much.
pub(crate) fn on_storage(trials: &[&Trial]) -> Option<String> {
    let programs = programs(trials, Neighbour::moved_bytes);
    (!programs.is_empty()).then(|| {
        format!(
            "Of other processes these moved most, on whatever device: {}.",
            named(&programs, show_size)
        )
    })
}

/// Who had most of the processors, a sentence, with the time of the trials in seconds.
pub(crate) fn on_processors(trials: &[&Trial], seconds: f64) -> Option<String> {
    let programs = programs(trials, |one| one.processor_ns);
    (!programs.is_empty()).then(|| {
        let show = |ns: u64| {
            let share = percent(ns as f64 / 1e9 / seconds);
            format!("{} ({share} of one)", show_duration(ns))
        };
        format!(
            "Of other processes these had most: {}.",
            named(&programs, show)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn processes_of_one_program_are_added_up_and_the_largest_named() {
        let mut run = testing::healthy();
        for (number, trial) in (1..).zip(run.trials.iter_mut().take(2)) {
            let one = |process, name: &str, read: u64, processor_ns| Neighbour {
                process,
                name: name.into(),
                read_bytes: Some(read),
                write_bytes: None,
                processor_ns,
            };
            trial.evidence.neighbours = Some(vec![
                one(70 + number, "dd", 600 << 20, 10_000_000),
                one(9, "make", 0, 900_000_000),
                one(10, "logger", 1 << 20, 0),
            ]);
        }
        let trials: Vec<&Trial> = run.trials.iter().take(2).collect();
        let said = on_storage(&trials).expect("a sentence");
        assert!(
            said.ends_with("device: dd (2 processes), 1.2 GiB."),
            "{said}"
        );
        let said = on_processors(&trials, 2.0).expect("a sentence");
        assert!(
            said.ends_with("make (process 9), 1.8 s (90 % of one)."),
            "{said}"
        );
        assert_eq!(on_storage(&[]), None);
    }
}
