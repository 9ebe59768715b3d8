//! What is wrong with what a plan does before its trials.

use super::{Problem, TRIALS_MAX, problem};
use crate::precondition::Precondition;
use crate::workload::{EngineChoice, On};

/// What is wrong with this work on any target, beside its workload.
pub(super) fn problems(work: &Precondition) -> Vec<Problem> {
    let workload = &work.stage.workload;
    let mut found = Vec::new();
    if work.rounds == 0 || work.rounds > TRIALS_MAX {
        let said = format!("it is {}; 1 to {TRIALS_MAX}", work.rounds);
        found.push(problem("rounds", &said));
    }
    if let Some(most) = work.rounds_max {
        let least = work.at_least();
        if !work.steady {
            let said = "it needs steady = true, until which rounds are repeated";
            found.push(problem("rounds_max", said));
        } else if most < least || most > TRIALS_MAX {
            let said = format!(
                "it is {most}; at least {least}, the rounds that are made in any case, at most \
                 {TRIALS_MAX}"
            );
            found.push(problem("rounds_max", &said));
        }
    }
    let nothing = workload.engine == EngineChoice::Null || !workload.writes_anything();
    if nothing || workload.operation.on_files() {
        let said = "what is done before the trials writes blocks of the target: write, mixed or \
                    modify, with an engine that does it";
        found.push(problem("operation", said));
    }
    if workload.on == On::File {
        let said = "what is done before the trials is done on the target";
        found.push(problem("on", said));
    }
    if workload.values.is_some() {
        let said = "content that is checked is put there by the stages that check it, and what \
                    is done before the trials would destroy it";
        found.push(problem("values", said));
    }
    if workload.beside.is_some() {
        let said = "what is done before the trials is done alone";
        found.push(problem("beside", said));
    }
    if !work.stage.kernel.is_empty() {
        let said = "settings of the kernel hold during trials, and what is done before them is \
                    done with the settings as they are; drop the table";
        found.push(problem("kernel", said));
    }
    found
}
