//! What is measured at this moment, from what is stored of it so far: trials are stored one
//! after the other.

use super::LOOK;
use super::links::Links;
use super::runs::moment;
use super::table::{Cell, Table};
use crate::text::Style;
use crate::text::live::{Known, StageNow};
use crate::text::words::count;
use diskfacts_facts::{Explanation, stopping};
use diskfacts_record::Run;
use maud::{Markup, html};

/// Columns that a claim may have: about a line of a wide page.
const CLAIM: usize = 160;

/// A run that goes on.
#[derive(Debug, Clone)]
pub struct Going {
    id: String,
    what: String,
    began: String,
    stages: Vec<StageNow>,
    known: Option<Known>,
}

impl Going {
    /// What is stored of a run so far, with what follows from that.
    pub fn of(run: &Run, explanation: Explanation) -> Self {
        let (least, most) = (
            stopping::trials_min(&run.plan),
            stopping::trials_max(&run.plan),
        );
        let stages = run.plan.stages.iter().map(|stage| {
            let trials = run.trials.iter();
            let own = trials.filter(|t| t.stage == stage.name && t.settings == stage.settings);
            StageNow {
                label: stage.label(),
                trials: (least, most),
                rates: own.map(|trial| trial.iops).collect(),
                called: "trial",
                block_size: None,
            }
        });
        Self {
            id: run.run.id.clone(),
            what: format!("{} of {}", run.plan.name, run.target.given),
            began: run.run.started.clone(),
            stages: stages.collect(),
            known: (!run.trials.is_empty()).then(|| Known::of(run, explanation)),
        }
    }

    /// Trials that are stored, and those that it has at least.
    fn trials(&self) -> (usize, usize) {
        let done = self.stages.iter().map(|stage| stage.rates.len());
        let least = self.stages.iter().map(|stage| stage.trials.0 as usize);
        (done.sum(), least.sum())
    }

    fn table(&self) -> Table {
        let labels: Vec<&str> = self.stages.iter().map(|stage| &*stage.label).collect();
        let known = self.known.as_ref();
        let (heads, rows) =
            known.map_or_else(Default::default, |known| known.cells(&labels, &LOOK));
        let heads = [vec!["Stage", "Trials"], heads].concat();
        let mut table = Table::new("Stages so far", &heads);
        for (place, stage) in self.stages.iter().enumerate() {
            let (least, most) = stage.trials;
            let more = if most > least { "+" } else { "" };
            let mut cells = vec![
                Cell::Text(stage.label.clone()),
                Cell::Number(format!("{} / {least}{more}", stage.rates.len())),
            ];
            let figures = rows.get(place).cloned().unwrap_or_default();
            cells.extend(figures.into_iter().map(Cell::Number));
            cells.resize_with(heads.len(), || Cell::Number(String::new()));
            table.push(cells);
        }
        table
    }

    fn section(&self, links: &Links) -> Markup {
        let (done, least) = self.trials();
        let trials = count(done as u64, "trial");
        html! {
            section {
                h2 { a href=(links.run(0, &self.id)) { (self.what) } }
                p {
                    (trials) " stored; the plan has " (least) " at least. Began "
                    (moment(&self.began)) " UTC."
                }
                progress max=(least.max(1)) value=(done.min(least))
                    aria-label={ "Trials of " (self.id) } {}
                (self.table())
                h3 { "What follows so far" }
                @match &self.known {
                    None => p class="soft" { "Nothing follows before the first trial." },
                    Some(known) => ul class="claims-so-far" {
                        @for claim in known.claims(CLAIM) {
                            li {
                                @if !claim.mark.is_empty() { b { (claim.mark) } " " }
                                span class=[class(claim.style)] { (claim.kind) }
                                ": " (claim.text)
                            }
                        }
                    },
                }
            }
        }
    }
}

/// What changes of the page, as it is now.
pub fn going(runs: &[Going], links: &Links) -> Markup {
    html! {
        @if runs.is_empty() {
            p {
                "Nothing is measured at this moment. `diskfacts measure .` in a terminal begins; \
                 here it is seen when it has."
            }
        }
        @for run in runs { (run.section(links)) }
    }
}

/// The page. `events` is where it is told of what is drawn anew; the script puts that in the
/// place of what stands in the element `live`.
pub fn live(runs: &[Going], links: &Links, events: &str) -> Markup {
    html! {
        h1 { "Live" }
        p class="soft" {
            "From the trials that are stored so far. Drawn anew when one more is, here, on the \
             machine that measures: that takes a fiftieth of a processor at most."
        }
        noscript { p class="doubt" { "Without scripts: reload the page to see what is new." } }
        p id="live-state" class="soft" role="status" {}
        div id="live" data-events=(events) { (going(runs, links)) }
    }
}

/// What its colour says again.
fn class(style: Style) -> Option<&'static str> {
    match style {
        Style::Good => Some("good"),
        Style::Doubtful => Some("doubt"),
        Style::Bad => Some("bad"),
        Style::Minor => Some("soft"),
        Style::Plain | Style::Heading => None,
    }
}
