//! A row for each stage.

use super::super::look::Style;
use super::super::marks::Marks;
use super::super::names::Names;
use super::super::page::Page;
use super::super::stages;
use super::super::words::count;
use super::super::wrap::columns;
use super::columns::Columns;
use super::strip;
use diskfacts_plan::units::show_size;
use diskfacts_record::{Run, StageFigures, TargetKind};
use std::cmp::Reverse;

/// Longest name beside which figures stand.
const NAME: usize = 30;
/// Rows of a run that has more: the lines of a document, say.
const ROWS: usize = 24;
/// Share of the bytes from which on memory is who answered.
const FROM_MEMORY: f64 = 0.95;

pub(super) fn write(page: &mut Page<'_>, run: &Run, marks: &Marks<'_>) {
    let listed = stages::listed(run);
    if listed.is_empty() {
        if run.figures.is_empty() && run.target.kind != TargetKind::Imported {
            page.heading("No trial was completed, so there are no figures.");
        }
        return;
    }
    page.blank();
    let sections = sections(run, &listed);
    let ordered: Vec<&StageFigures> = sections
        .iter()
        .flat_map(|section| section.figures.iter().copied())
        .collect();
    let shown = &ordered[..ordered.len().min(ROWS)];
    let names = shown.iter().map(|figures| stages::name(figures));
    let names = Names::of(names, NAME, page.look);
    let room = page.look.columns().saturating_sub(names.width);
    let table = Columns::of(run, marks, shown, page.look, room);
    let head = format!("{:1$}{2}", "", names.width, table.head());
    let head = page.look.paint(Style::Heading, head.trim_end());
    page.line(&head);
    let mut row = 0;
    for section in &sections {
        if row < shown.len() {
            section.write(page);
        }
        for _ in section.figures.iter().take(shown.len() - row) {
            names.write(page, row, Style::Plain, &table.row(row));
            row += 1;
        }
    }
    if ordered.len() > ROWS {
        let more = count((ordered.len() - ROWS) as u64, "more row");
        page.paragraph(0, Style::Minor, &format!("{more}: --explain has them all."));
    }
    let mut words = vec![format!(
        "{} half the 95 % interval, of few trials half the range",
        page.look.plus_minus()
    )];
    words.retain(|_| table.has(page.look.plus_minus()));
    if table.has("see") {
        let more = if table.has_more() { ", + and more" } else { "" };
        words.push(format!("see below, ! do not quote{more}"));
    }
    if table.are_drawn() {
        words.push(strip::legend(page.look));
    }
    if !words.is_empty() {
        page.paragraph(0, Style::Minor, &format!("{}.", words.join("; ")));
    }
}

/// Stages that the same answered.
pub(crate) struct Section<'a> {
    /// Who answered, and in which blocks: `from the device`, `in blocks of 4 KiB; sequential-*
    /// 1 MiB`. Nothing where all stages are in one section.
    pub(crate) title: Option<(&'static str, Option<String>)>,
    /// In the order of the run.
    pub(crate) figures: Vec<&'a StageFigures>,
}

/// Stages that memory answered, and those that the device did; apart only where there are both.
pub(crate) fn sections<'a>(run: &Run, listed: &[&'a StageFigures]) -> Vec<Section<'a>> {
    let (memory, device): (Vec<&StageFigures>, Vec<&StageFigures>) = listed
        .iter()
        .partition(|figures| figures.layers.page_cache >= FROM_MEMORY);
    if memory.is_empty() || device.is_empty() {
        return vec![Section {
            title: None,
            figures: listed.to_vec(),
        }];
    }
    let section = |from, figures: Vec<&'a StageFigures>| Section {
        title: Some((
            from,
            blocks(run, &figures).map(|blocks| format!("in blocks of {blocks}")),
        )),
        figures,
    };
    // Of part of it the page cache, a server or a drive that nobody saw may have answered.
    let of_device = |figures: &&StageFigures| {
        let share = figures.layers.device.unwrap_or(0.0) + figures.layers.drive_cache;
        share >= FROM_MEMORY
    };
    let from = if device.iter().all(of_device) {
        "from the device"
    } else {
        "not only from memory"
    };
    vec![section("from memory", memory), section(from, device)]
}

impl Section<'_> {
    /// Its title, with the blocks where these have room.
    fn write(&self, page: &mut Page<'_>) {
        let Some((from, blocks)) = &self.title else {
            return;
        };
        let with = blocks.as_ref().map(|blocks| format!("{from}, {blocks}"));
        let with = with.filter(|text| columns(text) <= page.look.columns());
        let line = page
            .look
            .paint(Style::Minor, with.as_deref().unwrap_or(from));
        page.line(&line);
    }
}

/// The size of blocks of most of these stages, and those of the others by their names.
fn blocks(run: &Run, figures: &[&StageFigures]) -> Option<String> {
    let mut sizes: Vec<(u64, Vec<&str>)> = Vec::new();
    for figures in figures {
        let mut stages = run.plan.stages.iter();
        let stage = stages.find(|stage| stage.name == figures.stage)?;
        if stage.workload.operation.on_files() || !stage.settings.is_empty() {
            return None;
        }
        let size = stage.workload.block_size;
        match sizes.iter_mut().find(|(known, _)| *known == size) {
            Some((_, names)) => names.push(&stage.name),
            None => sizes.push((size, vec![&stage.name])),
        }
    }
    // Of equals that which comes first.
    sizes.sort_by_key(|(_, names)| Reverse(names.len()));
    let (most, others) = sizes.split_first()?;
    let all = figures.iter().map(|figures| figures.stage.as_str());
    let others = others.iter().map(|(size, names)| {
        let together = family(names, all.clone());
        let names = together.unwrap_or_else(|| names.join(", "));
        format!("{names} {}", show_size(*size))
    });
    let others: Vec<String> = others.collect();
    let mut text = show_size(most.0);
    if !others.is_empty() {
        text = format!("{text}; {}", others.join(", "));
    }
    Some(text)
}

/// `sequential-*` of several names, where these are all that begin so.
fn family<'n>(names: &[&str], mut all: impl Iterator<Item = &'n str>) -> Option<String> {
    let (first, others) = names.split_first()?;
    let begin = &first[..=first.find('-')?];
    let own = others.iter().all(|name| name.starts_with(begin));
    let alone = !all.any(|name| name.starts_with(begin) && !names.contains(&name));
    (!others.is_empty() && own && alone).then(|| format!("{begin}*"))
}

#[cfg(test)]
mod tests {
    use super::family;

    #[test]
    fn several_names_are_one_where_no_other_begins_so() {
        let all = || ["log-write", "log-read", "mixed"].into_iter();
        assert_eq!(
            family(&["log-write", "log-read"], all()).as_deref(),
            Some("log-*")
        );
        assert_eq!(family(&["log-write"], all()), None);
        assert_eq!(family(&["log-write", "mixed"], all()), None);
        let more = all().chain(["log-sync"]);
        assert_eq!(family(&["log-write", "log-read"], more), None);
    }
}
