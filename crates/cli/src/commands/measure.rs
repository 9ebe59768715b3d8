//! `diskfacts measure TARGET`: the main job.

use super::{launched, print, stdout_is_there};
use crate::args::{Common, MeasureArgs, Precision, Style};
use crate::exit::{Exit, Failure, OrFail, say};
use crate::named_text::read_text;
use crate::outbox::Outbox;
use crate::progress::Seen;
use crate::session::{self, Ended, LaunchedGroup, Request, Testing};
use crate::signals::Signals;
use crate::{look, screen, storing};
use anyhow::Context;
use diskfacts_facts::uses;
use diskfacts_plan::{Observe, Plan, Until, builtin, file};
use diskfacts_record::{Outcome, Run, Stack, Status, TargetKind, Trial};
use diskfacts_report::text::Closing;
use std::path::Path;

/// Nanoseconds that a run may take when neither the command nor its plan says.
const TIME_NS: u64 = 60_000_000_000;

pub(crate) fn run(args: &MeasureArgs, common: &Common) -> Result<Exit, Failure> {
    let Some(target) = &args.target else {
        return Err(Failure::wrong_call(
            "a TARGET is missing: name a folder, a file or a block device, as in `diskfacts measure .`",
        ));
    };
    // A minute of measuring would be shown to nobody.
    stdout_is_there()?;
    check_uses(&args.uses)?;
    let mut planned = plan(&args.plan)?;
    check_stages(&planned.plan, &args.stages)?;
    if !args.stages.is_empty() {
        let stages = &mut planned.plan.stages;
        stages.retain(|stage| args.stages.contains(&stage.name));
    }
    measured(args, target, planned, common)
}

/// A plan that was asked for by its name or its file.
pub(super) struct Planned {
    /// The plan.
    pub(super) plan: Plan,
    /// What it was read from.
    pub(super) text: String,
    /// Whether it is one of ours, which adapts to its target.
    pub(super) built_in: bool,
    /// Whether it is as `diskfacts plans` prints it.
    pub(super) as_printed: bool,
}

/// The plan with what the options of the call change in it.
fn as_asked(args: &MeasureArgs, mut plan: Plan) -> Result<Plan, Failure> {
    if let Some(trials) = args.trials {
        plan.trials = trials;
    }
    plan.until = until(plan.until, args.trials, args.precision);
    if args.start.start_at.is_some() || args.start.together {
        // Hosts that do not speak with each other would end at different numbers of trials.
        plan.until = Until::default();
    }
    if let Some(observe) = &args.observe {
        observe_all(&mut plan, observe)?;
    }
    if args.full && !plan.in_full() {
        return Err(Failure::wrong_call(format!(
            "--full is for plans whose stages have full_bytes, full_operations or full_fraction, and {} has none; `diskfacts plans write-matrix` has",
            plan.name
        )));
    }
    super::check_classic(args.run.style, &plan)?;
    Ok(plan)
}

/// Measures a target by a plan, and prints the run.
pub(super) fn measured(
    args: &MeasureArgs,
    target: &Path,
    planned: Planned,
    common: &Common,
) -> Result<Exit, Failure> {
    let Planned {
        plan,
        built_in,
        as_printed,
        ..
    } = planned;
    let plan = as_asked(args, plan)?;
    let mut seen = seen(args.run.live, common)?;
    let plan_time_ns = plan.time_ns;
    let is_adaptive = plan.until.is_adaptive();
    let signals = Signals::listen()?;
    signals.waits_for(&Stack::default(), false);
    let labels = args.run.labels.labels().or_wrong_call()?;
    let membership = args.run.membership.membership().or_wrong_call()?;
    let outbox = args.run.membership.out.as_deref().map(Outbox::open);
    let outbox = outbox.transpose()?;
    let mut group = launched::group(&args.start, matches!(seen, Seen::Line), &signals)?;
    if group.as_ref().is_some_and(|group| !group.is_root()) {
        seen = Seen::Quiet;
    }
    let request = Request {
        target,
        plan,
        built_in,
        time_ns: args.time.or(plan_time_ns).unwrap_or(TIME_NS),
        size: args.loop_size.or(args.size),
        looped: args.loop_size.is_some(),
        cache_proof: args.cache_proof,
        testing: testing(args.settle, built_in && is_adaptive),
        uses: &args.uses,
        seed: args.run.seed,
        destroy_data_on: args.run.destroy_data_on.as_deref(),
        labels,
        start: &args.start,
        membership,
        seen,
        common,
    };
    let ended = match (session::run(&request, &signals, group.as_mut()), &mut group) {
        (Ok(ended), _) => ended,
        (Err(failure), None) => return Err(failure),
        (Err(failure), Some(group)) => {
            // Said before the end, for which a host that does not answer may keep this one.
            if group.is_root() {
                failure.print();
            }
            // Whoever ends first makes the launcher end the others.
            group.end()?;
            if group.is_root() || group.is_said_elsewhere() {
                return Ok(failure.exit);
            }
            return Err(failure);
        }
    };
    let put = outbox.map(|outbox| outbox.put(&ended)).transpose();
    let text = if let Some(form) = args.run.json {
        super::json_of(&ended.run, form)
    } else if let Some(lines) = super::lines(args.run.style, &ended.run) {
        lines
    } else {
        let look = look::of_stdout(common.color);
        super::page(
            &ended.run,
            &closing(
                &ended,
                put.as_ref().ok().and_then(Option::as_deref),
                as_printed,
                common,
            ),
            args.run.explain,
            &look,
        )
    };
    let (exit, added_up) = match &mut group {
        None => {
            print(&text)?;
            (None, Ok(Exit::Done))
        }
        Some(group) => {
            let added_up = together(group, &ended, &text, args.run.json.is_some(), common);
            let said_elsewhere = group.is_said_elsewhere() && ended.stopped.is_none();
            (said_elsewhere.then_some(Exit::Failed), added_up)
        }
    };
    let exit = exit.unwrap_or_else(|| conclude(ended, &args.uses, args.run.style, common));
    let exit = match added_up? {
        Exit::Failed if exit == Exit::Done => Exit::Failed,
        _ => exit,
    };
    if let Err(failure) = put {
        failure.print();
        return Ok(match exit {
            Exit::Stopped(_) | Exit::Quit => exit,
            _ => failure.exit,
        });
    }
    Ok(exit.allowing_unjudged(args.allow_unjudged))
}

/// Prints the run at the root, and what those of all hosts come to; waits for the others.
fn together(
    group: &mut LaunchedGroup,
    ended: &Ended,
    text: &str,
    is_json: bool,
    common: &Common,
) -> Result<Exit, Failure> {
    let printed = if group.is_root() { print(text) } else { Ok(()) };
    let added_up = printed.and_then(|()| launched::add_up(group, ended, is_json, common));
    // The others wait for this host, whatever it could not do.
    group.end()?;
    added_up
}

/// How much is seen while it measures.
fn seen(live: bool, common: &Common) -> Result<Seen, Failure> {
    if !live {
        return Ok(if common.quiet {
            Seen::Quiet
        } else {
            Seen::Line
        });
    }
    if common.quiet {
        return Err(Failure::wrong_call(
            "--live shows all of it and --quiet nothing; drop one of them",
        ));
    }
    screen::check("without --live standard error tells how far it is")?;
    Ok(Seen::Live(look::of_screen(common.color)))
}

/// Which claims are tested: as many as were asked for; else those that the time of a
/// plan of ours is left for, which repeats its stages as long as there is some.
fn testing(settle: Option<u32>, has_time: bool) -> Testing {
    match settle {
        Some(0) => Testing::None,
        Some(most) => Testing::OwnTime(most),
        None if has_time => Testing::InTimeLeft,
        None => Testing::None,
    }
}

/// The observers of all stages.
fn observe_all(plan: &mut Plan, observe: &Observe) -> Result<(), Failure> {
    for stage in &mut plan.stages {
        if stage.settings.contains_key("observe") {
            return Err(Failure::wrong_call(format!(
                "the stage {} varies observe, so --observe cannot set it; drop one of them",
                stage.name
            )));
        }
        stage.workload.observe = observe.clone();
    }
    Ok(())
}

/// Until when stages are repeated. A number of trials alone is the number of trials that
/// are made; beside a precision it is the least of them.
fn until(of_plan: Until, trials: Option<u32>, precision: Option<Precision>) -> Until {
    let mut until = match (trials, precision) {
        (Some(_), None) => Until::default(),
        (_, None) => of_plan,
        (_, Some(Precision::Off)) => Until {
            precision: None,
            ..of_plan
        },
        (_, Some(Precision::Within(share))) => Until {
            precision: Some(share),
            ..of_plan
        },
    };
    if !until.is_adaptive() {
        return Until::default();
    }
    // What is asked for here is not to be refused for what the plan allows.
    until.trials_max = until
        .trials_max
        .map(|most| most.max(trials.unwrap_or_default()));
    until
}

/// Says on standard error what the figures leave unsaid, and how the run ended.
pub(super) fn conclude(ended: Ended, uses: &[String], style: Style, common: &Common) -> Exit {
    let exit = ended.stopped.unwrap_or_else(|| exit_of(&ended.run, uses));
    let why = why(exit, &ended.run, uses, &storing::option(common));
    if matches!(style, Style::Classic | Style::ClassicCsv) {
        let said = why.as_deref().filter(|_| ended.not_stored.is_none());
        super::say_classic_notes(&ended.run, said);
    }
    if let Some(not_stored) = ended.not_stored {
        not_stored.print();
        return Exit::Failed;
    }
    for name in not_judged(&ended.run, uses) {
        say(&format!(
            "diskfacts: no verdict on {name}: not all that it needs was measured, or means what it \
             says; where that is no matter, add --allow-unjudged"
        ));
    }
    if let Some(why) = why {
        say(&format!("diskfacts: {why}"));
    }
    exit
}

/// The verdicts that were asked for and failed.
fn failed_uses<'a>(run: &'a Run, asked: &'a [String]) -> impl Iterator<Item = &'a str> {
    let verdicts = run.verdicts.iter();
    let failed = verdicts.filter(|verdict| verdict.outcome == Outcome::Fail);
    failed
        .map(|verdict| verdict.profile.as_str())
        .filter(|name| asked.iter().any(|asked| asked == name))
}

/// The uses that were asked for and are neither met nor missed, because some of
/// what they need is not known.
fn not_judged<'a>(run: &'a Run, asked: &'a [String]) -> impl Iterator<Item = &'a String> {
    asked.iter().filter(|name| {
        let mut verdicts = run.verdicts.iter().filter(|v| v.profile == **name);
        let failed = verdicts.clone().any(|v| v.outcome == Outcome::Fail);
        let known = verdicts.clone().next().is_some();
        !failed && (!known || verdicts.any(|v| v.outcome == Outcome::Unmeasured))
    })
}

fn exit_of(run: &Run, asked: &[String]) -> Exit {
    if run.run.status == Status::Failed {
        Exit::Failed
    } else if failed_uses(run, asked).next().is_some() {
        Exit::VerdictFailed
    } else if not_judged(run, asked).next().is_some() {
        Exit::Unjudged
    } else {
        Exit::Done
    }
}

/// A sentence on an exit that is not 0, for who sees only standard error; `option`
/// is the one that finds the run again.
fn why(exit: Exit, run: &Run, asked: &[String], option: &str) -> Option<String> {
    let kept = match run.trials.len() {
        1 => "1 complete trial is stored".to_owned(),
        trials => format!("{trials} complete trials are stored"),
    };
    if let Some(by) = exit.ended_by() {
        return Some(format!("stopped by {by}; {kept}"));
    }
    Some(match exit {
        Exit::VerdictFailed => {
            let mut names: Vec<&str> = failed_uses(run, asked).collect();
            names.dedup();
            format!(
                "{} is not good enough for {}, as --for asked",
                run.target.given,
                names.join(", ")
            )
        }
        Exit::Failed => {
            let before = run.preconditioning.iter().flat_map(|done| &done.rounds);
            let errors_of = |trials: &mut dyn Iterator<Item = &Trial>| -> u64 {
                trials.map(|trial| trial.errors).sum()
            };
            let in_trials = errors_of(&mut run.trials.iter());
            let errors = in_trials + errors_of(&mut before.clone());
            let early = run.run.notes.last().filter(|_| errors == 0);
            let failed = match errors {
                1 => "1 operation".to_owned(),
                errors => format!("{errors} operations"),
            };
            let failed = match in_trials {
                0 => format!("before the trials {failed}"),
                _ => failed,
            };
            let all = run.trials.iter().chain(before);
            let first = all.flat_map(|trial| &trial.evidence.errors).next();
            let first = first.map_or_else(String::new, |error| {
                format!(" ({}: {})", error.operation, error.message)
            });
            let gone = run
                .gone()
                .map(|device| format!("; {} was gone when the run ended", device.name));
            let first = first + &gone.collect::<String>();
            match early {
                Some(note) => note.clone(),
                None if run.target.kind == TargetKind::Simulated => format!(
                    "{failed} failed on {}{first}, as its profile has it; `diskfacts show {}{option}` says which",
                    run.target.given, run.run.id
                ),
                None => format!(
                    "{failed} failed on {}{first}; `diskfacts show {}{option}` says which",
                    run.target.given, run.run.id
                ),
            }
        }
        // Each use that was not judged was named already.
        Exit::Done | Exit::WrongCall | Exit::Unjudged | Exit::Stopped(_) | Exit::Quit => {
            return None;
        }
    })
}

/// Where the run is stored, and what to type next; `put` is its file, where it has one.
pub(super) fn closing(
    ended: &Ended,
    put: Option<&Path>,
    built_in: bool,
    common: &Common,
) -> Closing {
    let run = &ended.run;
    let store = ended.store.display();
    let option = storing::option(common);
    let mut next = Vec::new();
    if built_in {
        next.push((
            format!("diskfacts plans {}", run.plan.name),
            "what was done, as a file to edit".to_owned(),
        ));
    }
    Closing {
        stored: match &ended.not_stored {
            None => match put {
                None => format!("Stored in {store}."),
                Some(file) => format!("Stored in {store}, and written to {}.", file.display()),
            },
            Some(failure) => format!(
                "NOT all of it is stored as {} in {store}: {}.",
                run.run.id,
                failure.sentence()
            ),
        },
        next,
        show: format!("diskfacts show {}{option}", run.run.id),
    }
}

/// A built-in plan by its name, else a file.
pub(super) fn plan(name: &str) -> Result<Planned, Failure> {
    if let Some((plan, text)) = builtin::plan(name).zip(builtin::text(name)) {
        return Ok(Planned {
            plan,
            text: text.to_owned(),
            built_in: true,
            as_printed: true,
        });
    }
    let path = Path::new(name);
    let looks_like_a_file = name.contains(['/', '.']) || path.exists();
    if !looks_like_a_file {
        return Err(super::plans::unknown(name));
    }
    let text = read_text(
        path,
        &format!("the plan file {name}"),
        "; `diskfacts plans` lists the built-in plans, and `diskfacts plans survey > my.toml` \
         makes a file to begin with",
    )?;
    let plan = file::parse(&text)
        .with_context(|| format!("the plan file {name} cannot be understood"))
        .or_wrong_call()?;
    check_problems(&plan, &format!("the plan file {name}"))?;
    Ok(Planned {
        plan,
        text,
        built_in: false,
        as_printed: false,
    })
}

/// Refuses what cannot be on any target; `what` asks for it.
pub(super) fn check_problems(plan: &Plan, what: &str) -> Result<(), Failure> {
    let problems: Vec<String> = plan
        .problems()
        .into_iter()
        .map(|(stage, problem)| format!("\n  {stage}: {problem}"))
        .collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Failure::wrong_call(format!(
            "{what} asks for the impossible:{}",
            problems.concat()
        )))
    }
}

/// Stages are named as the plan names them.
pub(super) fn check_stages(plan: &Plan, names: &[String]) -> Result<(), Failure> {
    let mut known: Vec<&str> = plan.stages.iter().map(|s| s.name.as_str()).collect();
    // The cells of a matrix stand together and share their name.
    known.dedup();
    for name in names {
        if !known.contains(&name.as_str()) {
            let hint = file::nearest(name, &known).map_or_else(
                || ".".to_owned(),
                |near| format!("; did you mean '{near}'?"),
            );
            return Err(Failure::wrong_call(format!(
                "the plan {} has no stage '{name}'{hint} It has: {}",
                plan.name,
                known.join(", ")
            )));
        }
    }
    Ok(())
}

fn check_uses(asked: &[String]) -> Result<(), Failure> {
    let known: Vec<&str> = uses().iter().map(|u| u.name).collect();
    for name in asked {
        if !known.contains(&name.as_str()) {
            let hint = file::nearest(name, &known).map_or_else(
                || ".".to_owned(),
                |near| format!("; did you mean '{near}'?"),
            );
            return Err(Failure::wrong_call(format!(
                "no use is called '{name}'{hint} Known are: {}",
                known.join(", ")
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::Share;

    #[test]
    fn a_number_of_trials_or_off_ends_the_precision_of_a_plan() {
        let share = |text| Share::parse(text).unwrap();
        let of_plan = Until {
            precision: Some(share("3%")),
            steady: false,
            trials_max: Some(30),
        };
        assert_eq!(until(of_plan, None, None), of_plan);
        assert_eq!(until(of_plan, Some(5), None), Until::default());
        assert_eq!(until(of_plan, None, Some(Precision::Off)), Until::default());
        let one = Some(Precision::Within(share("1%")));
        let asked = until(of_plan, Some(40), one);
        assert_eq!(
            (asked.precision, asked.trials_max),
            (Some(share("1%")), Some(40))
        );
        let steady = Until {
            steady: true,
            ..of_plan
        };
        let asked = until(steady, None, Some(Precision::Off));
        assert!(asked.steady && asked.precision.is_none(), "{asked:?}");
    }
}
