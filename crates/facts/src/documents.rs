//! What only a document can show: labels that its rows contradict, a text whose
//! arithmetic is wrong, programs with two units, figures that are those of memory,
//! volumes side by side.
//!
//! A document is what another program or a person wrote, and its runs are what was read
//! of it. What diskfacts measured itself is labelled by what it did and counted as it
//! was done, so that none of this could be said of it.
//!
//! **The border.** These files use `advise`, `context`, `places`, `read_ahead`, `revolution`,
//! `stage_facts`, `stages`, `stats`, `words`, `write_matrix`; of `rules` what a rule is and what one of the same name goes by; of
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
mod read_ahead_size;
mod rewrite_order;
mod streams;
mod text_against_rows;
mod volume_choice;
mod write_revolutions;
mod writes_merged;

use crate::context::Context;
use crate::limits::Limiter;
use crate::rules::Rule;
use crate::stages::Stage;
use diskfacts_record::Reading;
use std::collections::BTreeSet;

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
/// [`rules::all`](crate::rules::all). One of the same name there says the same of what was
/// measured.
pub fn rules() -> &'static [Rule] {
    &[
        rewrite_order::RULE,
        read_ahead_size::RULE,
        write_revolutions::RULE,
        mislabelled::RULE,
        memory_speed::RULE,
        place_not_filesystem::RULE,
        littles_law::RULE,
        io_context::RULE,
        writes_merged::RULE,
        one_unit::RULE,
        text_against_rows::RULE,
        read_ahead_limit::RULE,
        flash_like_disks::RULE,
        volume_choice::RULE,
    ]
}

/// The limiters of the stages of a run that only its document can show; of what was
/// measured none.
pub(crate) fn limiters(context: &Context<'_>) -> &'static [Limiter] {
    if context.is_imported() {
        limiters::LIMITERS
    } else {
        &[]
    }
}
