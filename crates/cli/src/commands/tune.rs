//! `diskfacts tune TARGET --vary KEY=V1,V2`: a plan, crossed with settings.

use super::measure;
use crate::args::{Common, MeasureArgs, StartArgs, TuneArgs};
use crate::exit::{Exit, Failure, say};
use diskfacts_plan::units::show_duration;
use diskfacts_plan::{Plan, file};

/// Nanoseconds of a trial, unless the command says how long all may take.
const TRIAL_NS: u64 = 2_000_000_000;

/// Nanoseconds that all of it takes at most, unless the command says otherwise.
const TIME_MAX_NS: u64 = 15 * 60 * 1_000_000_000;

/// How often each combination is measured at least, unless the command says otherwise:
/// enough for the noise of each to be known by itself.
const TRIALS: u32 = 5;

pub(crate) fn run(args: &TuneArgs, common: &Common) -> Result<Exit, Failure> {
    super::launched::refuse_strangers(
        "tune changes settings of one kernel; start it once, on one host",
    )?;
    check_axes(args)?;
    let mut planned = measure::plan(&args.plan)?;
    measure::check_stages(&planned.plan, &args.stages)?;
    let crossed = file::parse_crossed(&planned.text, &args.vary, &args.stages);
    planned.plan =
        crossed.map_err(|error| Failure::wrong_call(format!("--vary: {}", error.message)))?;
    measure::check_problems(&planned.plan, "--vary")?;
    check_choice(args)?;
    let trials = args.trials.unwrap_or(planned.plan.trials.max(TRIALS));
    let time_ns = args.time.unwrap_or_else(|| time_ns(&planned.plan, trials));
    if !common.quiet {
        say(&foreseen(args, &planned.plan, trials, time_ns));
    }
    planned.as_printed = false;
    let target = &args.target;
    let args = MeasureArgs {
        target: Some(target.clone()),
        plan: args.plan.clone(),
        stages: args.stages.clone(),
        time: Some(time_ns),
        full: false,
        size: args.size,
        loop_size: args.loop_size,
        cache_proof: None,
        trials: Some(trials),
        precision: args.precision,
        observe: None,
        settle: None,
        uses: Vec::new(),
        allow_unjudged: false,
        start: StartArgs::default(),
        run: args.run.clone(),
    };
    measure::measured(&args, target, planned, common)
}

/// What is varied is varied once.
fn check_axes(args: &TuneArgs) -> Result<(), Failure> {
    for (i, axis) in args.vary.iter().enumerate() {
        if args.vary[..i].iter().any(|other| other.name == axis.name) {
            return Err(Failure::wrong_call(format!(
                "--vary {} is given twice; write all its values behind one",
                axis.name
            )));
        }
    }
    Ok(())
}

/// And has to have two values somewhere.
fn check_choice(args: &TuneArgs) -> Result<(), Failure> {
    if args.vary.iter().all(|axis| axis.values.len() < 2) {
        return Err(Failure::wrong_call(
            "--vary: there is nothing to choose from with one value each; give one of them \
             another value, that which is in force for example",
        ));
    }
    Ok(())
}

/// How long the trials take when each has the time that is usual.
fn time_ns(plan: &Plan, trials: u32) -> u64 {
    let each = plan.stages.iter().map(|stage| {
        let own_ns = stage.workload.stop.time_ns;
        own_ns.unwrap_or(TRIAL_NS)
    });
    let round_ns = each.fold(0, u64::saturating_add);
    round_ns.saturating_mul(u64::from(trials)).min(TIME_MAX_NS)
}

/// A sentence on what is going to be done, before it is.
fn foreseen(args: &TuneArgs, plan: &Plan, trials: u32, time_ns: u64) -> String {
    let combinations: usize = args.vary.iter().map(|axis| axis.values.len()).product();
    let names: Vec<&str> = args.vary.iter().map(|axis| axis.name.as_str()).collect();
    let cells = plan.stages.len();
    let all = cells as u64 * u64::from(trials);
    format!(
        "diskfacts: {combinations} combinations of {} make {cells} stages; {all} trials, {trials} \
         of each, take about {}. --stage, --trials and --time change that",
        names.join(" and "),
        show_duration(time_ns),
    )
}
