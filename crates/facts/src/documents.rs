//! What only a document can show: labels that its rows contradict, a text whose
//! arithmetic is wrong, programs with two units, figures that are those of memory,
//! volumes side by side.
//!
//! A document is what another program or a person wrote, and its runs are what was read
//! of it. What diskfacts measured itself is labelled by what it did and counted as it
//! was done, so that none of this could be said of it.
//!
//! **The border.** These files use `advise`, `places`, `read_ahead`, `stages`, `stats`,
//! `words`; of `rules` the context of a run and what a rule of the same name goes by; of
//! `limits` what a limiter is and what one of the same name says. Nothing in `rules` and
//! `limits` uses anything of them (`cargo xtask check tidy` sees to it):
//! [`findings`](crate::findings()) and [`explain`](crate::explain()) put both together.

mod flash_like_disks;
mod io_context;
mod limiters;
mod littles_law;
mod memory_speed;
mod mislabelled;
mod one_unit;
mod place_not_filesystem;
mod read_ahead_limit;
mod streams;
mod text_against_rows;
mod volume_choice;
mod writes_merged;

use crate::limits::Limiter;
use crate::rules::Context;
use crate::stages::Stage;
use diskfacts_record::{Finding, Reading};
use std::collections::BTreeSet;

/// One rule about documents.
#[derive(Debug, Clone, Copy)]
pub struct DocumentRule {
    /// Its name, as in [`Finding::rule`]. A rule about runs of the same name says the same
    /// of what was measured.
    pub name: &'static str,
    /// What it finds, in a few words.
    pub about: &'static str,
    find: Find,
}

/// How a rule looks at a document.
#[derive(Debug, Clone, Copy)]
enum Find {
    /// At each run by itself.
    Alone(fn(&Context<'_>) -> Vec<Finding>),
    /// At each run with the others beside it.
    Beside(fn(&Part<'_, '_>) -> Vec<Shared>),
}

/// A finding, and the other runs that it rests on, by their places.
type Shared = (Finding, Vec<usize>);

/// A run of a document, with all of them beside it.
#[derive(Debug, Clone, Copy)]
struct Part<'d, 'a> {
    run: &'d Context<'a>,
    place: usize,
    all: &'d [Context<'a>],
}

impl<'d, 'a> Part<'d, 'a> {
    /// The other runs, with their places.
    fn others(&self) -> impl Iterator<Item = (usize, &'d Context<'a>)> + use<'d, 'a> {
        let own = self.place;
        let all = self.all.iter().enumerate();
        all.filter(move |(place, _)| *place != own)
    }
}

/// The rows of a run that are no trials.
fn readings<'a>(context: &Context<'a>) -> &'a [Reading] {
    let source = context.run.run.source.as_ref();
    source.map_or(&[], |source| &source.readings)
}

/// A number of a row, if it is one.
fn number(reading: &Reading, name: &str) -> Option<f64> {
    let number = reading.values.get(name).copied();
    number.filter(|number| number.is_finite())
}

/// The settings in which two stages differ.
fn differ_in<'s>(one: &'s Stage<'_>, other: &'s Stage<'_>) -> BTreeSet<&'s str> {
    let keys = one.settings.keys().chain(other.settings.keys());
    let differs = |key: &&String| one.settings.get(*key) != other.settings.get(*key);
    keys.filter(differs).map(String::as_str).collect()
}

/// All rules about documents; their findings come behind those of
/// [`rules::all`](crate::rules::all).
pub fn rules() -> &'static [DocumentRule] {
    RULES
}

const RULES: &[DocumentRule] = &[
    DocumentRule {
        name: mislabelled::NAME,
        about: "lines of a document say another fraction than they measured",
        find: Find::Alone(mislabelled::wrong_fractions),
    },
    DocumentRule {
        name: memory_speed::NAME,
        about: "figures of a document are those of memory",
        find: Find::Alone(memory_speed::rates_of_memory),
    },
    DocumentRule {
        name: place_not_filesystem::NAME,
        about: "a place of a document is faster by its zone, not by its filesystem",
        find: Find::Alone(place_not_filesystem::zones_taken_for_filesystems),
    },
    DocumentRule {
        name: littles_law::NAME,
        about: "whether rows of iostat agree with themselves",
        find: Find::Alone(littles_law::rows_against_the_law),
    },
    DocumentRule {
        name: io_context::NAME,
        about: "it matters in whose name the threads of a pool do I/O",
        find: Find::Alone(io_context::shared_contexts),
    },
    DocumentRule {
        name: writes_merged::NAME,
        about: "what the device saw of buffered and of direct writes",
        find: Find::Alone(writes_merged::rows_of_one_writer),
    },
    DocumentRule {
        name: one_unit::NAME,
        about: "two programs agree once their figures have one unit",
        find: Find::Beside(one_unit::programs_of_two_units),
    },
    DocumentRule {
        name: text_against_rows::NAME,
        about: "numbers of the text are not what the document's figures give",
        find: Find::Beside(text_against_rows::wrong_sums),
    },
    DocumentRule {
        name: read_ahead_limit::NAME,
        about: "read-ahead has grown to its limit, and that is small",
        find: Find::Beside(read_ahead_limit::small_windows),
    },
    DocumentRule {
        name: flash_like_disks::NAME,
        about: "flash is no faster than disks, so something else limits it",
        find: Find::Beside(flash_like_disks::slow_flash),
    },
    DocumentRule {
        name: volume_choice::NAME,
        about: "no volume is the best at everything",
        find: Find::Alone(volume_choice::best_of_each),
    },
];

/// The limiters of the stages of a run that only its document can show; of what was
/// measured none.
pub(crate) fn limiters(context: &Context<'_>) -> &'static [Limiter] {
    if context.is_imported() {
        limiters::LIMITERS
    } else {
        &[]
    }
}

/// What the runs of a document show: each finding with the runs that it is of, by their
/// places. Of runs that were measured nothing.
pub(crate) fn found_in(contexts: &[Context<'_>]) -> Vec<(Finding, Vec<usize>)> {
    let mut found = Vec::new();
    for rule in RULES {
        for (place, run) in contexts.iter().enumerate() {
            if !run.is_imported() {
                continue;
            }
            let all = contexts;
            let of_run = match rule.find {
                Find::Alone(find) => find(run).into_iter().map(|f| (f, Vec::new())).collect(),
                Find::Beside(find) => find(&Part { run, place, all }),
            };
            for (finding, mut runs) in of_run {
                runs.insert(0, place);
                found.push((finding, runs));
            }
        }
    }
    found
}
