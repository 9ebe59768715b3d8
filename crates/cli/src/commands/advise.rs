//! `diskfacts advise [RUN...]`: which of the options that were measured to take.

use super::print;
use crate::args::{AdviseArgs, Common};
use crate::exit::{Exit, Failure, OrFail};
use crate::named::Named;
use crate::{look, storing};
use diskfacts_facts::advise::{Advice, Weights, advise};
use diskfacts_record::Run;
use diskfacts_report::text::Closing;
use diskfacts_report::{json, text};

pub(crate) fn run(args: &AdviseArgs, common: &Common) -> Result<Exit, Failure> {
    let weights = match (&args.usage, &args.weights) {
        (Some(usage), _) => Some(Weights::of_use(usage).or_wrong_call()?),
        (None, Some(weights)) => Some(Weights::parse(weights).or_wrong_call()?),
        (None, None) => None,
    };
    let advice = advice(&args.runs, weights, common)?;
    let text = if args.json {
        json::advice(&advice)
    } else {
        let option = storing::option(common);
        let mut closing = Closing::default();
        if let Some(first) = advice.runs.first() {
            let command = format!("diskfacts show {first}{option}");
            closing
                .next
                .push((command, "its figures and findings".to_owned()));
        }
        text::advice(&advice, &closing, &look::of_stdout(common.color))
    };
    print(&text)?;
    Ok(Exit::Done)
}

/// What follows from the runs of these names, or from the last.
pub(crate) fn advice(
    names: &[String],
    weights: Option<Weights>,
    common: &Common,
) -> Result<Advice, Failure> {
    let runs = load(Named::new(common), names)?;
    advise(&runs, weights).map_err(|why| {
        Failure::wrong_call(format!(
            "{why}. Name runs of several volumes or settings, as in `diskfacts advise last \
             last~1`; `diskfacts runs` lists them"
        ))
    })
}

const NONE_YET: &str = "no run is stored yet, so there is nothing to choose between; `diskfacts \
                        measure .` makes the first, `diskfacts import FILE` reads results of other \
                        programs";

/// The runs that were named, each once, with the others that were read from the same
/// document, explained by today's rules, as far as they are stored; without any, the last.
fn load(mut from: Named<'_>, names: &[String]) -> Result<Vec<Run>, Failure> {
    let last = ["last".to_owned()];
    let names = if names.is_empty() { &last[..] } else { names };
    let mut runs: Vec<Run> = Vec::new();
    for name in names {
        for run in from.explained(name, NONE_YET)? {
            // Ids of earlier versions did not tell the hosts of a fleet apart.
            let is_known =
                |known: &Run| known.run.id == run.run.id && !known.machine.is_another(&run.machine);
            if !runs.iter().any(is_known) {
                runs.push(run);
            }
        }
    }
    Ok(runs)
}
