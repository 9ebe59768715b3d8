//! `diskfacts advise [RUN...]`: which of the options that were measured to take.

use super::print;
use crate::args::{AdviseArgs, Common};
use crate::exit::{Exit, Failure, OrFail};
use crate::session::conclude_document;
use crate::{look, storing};
use diskfacts_facts::advise::{Weights, advise};
use diskfacts_record::Run;
use diskfacts_report::text::Closing;
use diskfacts_report::{json, text};
use diskfacts_store::Store;

pub(crate) fn run(args: &AdviseArgs, common: &Common) -> Result<Exit, Failure> {
    let weights = match (&args.usage, &args.weights) {
        (Some(usage), _) => Some(Weights::of_use(usage).or_wrong_call()?),
        (None, Some(weights)) => Some(Weights::parse(weights).or_wrong_call()?),
        (None, None) => None,
    };
    let Some(store) = storing::existing(common)? else {
        return Err(Failure::wrong_call(
            "no run is stored yet, so there is nothing to choose between; `diskfacts measure .` \
             makes the first, `diskfacts import FILE` reads results of other programs",
        ));
    };
    let runs = load(&store, &args.runs)?;
    let advice = advise(&runs, weights).map_err(|why| {
        Failure::wrong_call(format!(
            "{why}. Name runs of several volumes or settings, as in `diskfacts advise last \
             last~1`; `diskfacts runs` lists them"
        ))
    })?;
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

/// The runs that were named, each once, with the others that were read from the same
/// document, explained by today's rules; without any, the last.
fn load(store: &Store, named: &[String]) -> Result<Vec<Run>, Failure> {
    let last = ["last".to_owned()];
    let named = if named.is_empty() { &last[..] } else { named };
    let mut runs: Vec<Run> = Vec::new();
    for selector in named {
        let run = store.load(selector).or_wrong_call()?;
        let is_known = |id: &String| runs.iter().any(|known| known.run.id == *id);
        if is_known(&run.run.id) {
            continue;
        }
        let beside = run.run.source.iter().flat_map(|source| &source.runs);
        // One that was removed since is no reason to say nothing of the others.
        let mut document: Vec<Run> = beside
            .filter(|id| **id != run.run.id && !is_known(id))
            .filter_map(|id| store.load(id).ok())
            .collect();
        document.insert(0, run);
        conclude_document(&mut document);
        runs.extend(document);
    }
    Ok(runs)
}
