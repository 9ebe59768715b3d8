//! The first page: what a person reads who wants to know in ten seconds what the target is
//! good for, how far the figures can be trusted, and what holds it back.
//!
//! Each stage is a row. What limits it stands there as a letter, what is doubtful of it as a
//! number; below the rows each letter and each number has a line. A row that does not fit is
//! a column shorter. All the rest is shown by [`run`](super::run()), [`claim`](super::claim())
//! and [`stage`](super::stage()).

mod brevity;
pub(crate) mod columns;
pub(crate) mod doubts;
mod drawn;
pub(crate) mod foot;
pub(crate) mod head;
pub(crate) mod limits;
pub(crate) mod rows;
mod strip;

use brevity::Brevity;
pub(super) use columns::Columns;
pub(super) use head::judged;
pub(super) use limits::in_a_line as limiter_in_a_line;
pub(super) use strip::label as decade;

use super::look::{Look, Style};
use super::marks::Marks;
use super::page::Page;
use super::run::Closing;
use super::{effects, heading, imports};
use diskfacts_record::Run;

/// The first page of a run: all that has a place on it, or as much less as makes it short.
pub fn summary(run: &Run, closing: &Closing, look: &Look) -> String {
    let marks = Marks::of(run);
    let with = |brevity| written(run, &marks, closing, look, brevity);
    // One with many rows is long whatever is left out, and then has all.
    let mut shorter = Brevity::steps().map(with);
    let short = shorter.find(|page| page.lines().count() <= brevity::LINES);
    short.unwrap_or_else(|| with(Brevity::LEAST))
}

fn written(
    run: &Run,
    marks: &Marks<'_>,
    closing: &Closing,
    look: &Look,
    brevity: Brevity,
) -> String {
    let mut page = Page::new(look);
    for text in heading::troubles(run) {
        page.paragraph(0, Style::Bad, &text);
    }
    head::write(&mut page, run, marks);
    rows::write(&mut page, run, marks);
    effects::answers(&mut page, run, effects::Length::Brief);
    drawn::write(&mut page, run, marks);
    if let Some(source) = &run.run.source {
        imports::readings(&mut page, source);
    }
    limits::write(&mut page, marks);
    doubts::write(&mut page, run, brevity);
    foot::write(&mut page, run, marks, closing, brevity);
    page.finish()
}
