//! The list of plans.

use super::look::{Look, Style};
use super::page::Page;
use super::words::{count, stages_of};
use super::wrap::columns;
use diskfacts_plan::Plan;

/// Each plan with what it is for and how much it does.
pub fn plans(plans: &[Plan], look: &Look) -> String {
    let mut page = Page::new(look);
    let longest = plans.iter().map(|plan| columns(&look.clean(&plan.name)));
    let column = longest.max().unwrap_or(0).min(look.columns() / 3) + 2;
    for plan in plans {
        // The cells of a matrix are many stages of one name.
        let (one, several) = if plan.stages.iter().any(|s| !s.settings.is_empty()) {
            ("1 cell writes", "cells write")
        } else {
            ("1 stage writes", "stages write")
        };
        let writing = plan.stages.iter().filter(|s| s.workload.writes());
        let writing = match writing.count() {
            0 => "only reads".to_owned(),
            n if n == plan.stages.len() => "every stage writes".to_owned(),
            1 => one.to_owned(),
            n => format!("{n} {several}"),
        };
        let size = format!(
            "{} of {}, {writing}",
            stages_of(plan),
            count(u64::from(plan.trials), "trial"),
        );
        page.labelled(
            0,
            (Style::Heading, &plan.name),
            column,
            Style::Plain,
            &plan.about,
        );
        page.paragraph(column, Style::Minor, &size);
    }
    page.finish()
}
