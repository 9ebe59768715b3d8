//! `diskfacts plans`: the built-in plans.

use super::print;
use crate::args::{Common, PlansArgs};
use crate::exit::{Exit, Failure};
use crate::look;
use diskfacts_plan::builtin;
use diskfacts_report::text;

pub(crate) fn run(args: &PlansArgs, common: &Common) -> Result<Exit, Failure> {
    let Some(name) = &args.name else {
        let plans: Vec<_> = builtin::names().filter_map(builtin::plan).collect();
        print(&text::plans(&plans, &look::of_stdout(common.color)))?;
        return Ok(Exit::Done);
    };
    let Some(text) = builtin::text(name) else {
        return Err(unknown(name));
    };
    print(text)?;
    Ok(Exit::Done)
}

/// There is no built-in plan of this name.
pub(crate) fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = builtin::names().collect();
    let hint = diskfacts_plan::file::nearest(name, &names).map_or_else(
        || ".".to_owned(),
        |near| format!("; did you mean '{near}'?"),
    );
    Failure::wrong_call(format!(
        "no plan is called '{name}'{hint} Built in are: {}. `diskfacts plans` says what each is for.",
        names.join(", ")
    ))
}
