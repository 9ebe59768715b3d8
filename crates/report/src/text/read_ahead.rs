//! What `diskfacts readahead` prints: the table of 2009, what it leaves out, and what
//! follows from it.

use super::findings;
use super::look::{Look, Style};
use super::page::Page;
use super::words::{count, percent};
use crate::formats::readahead::STATISTICS;
use crate::read_ahead::rows;
use diskfacts_plan::units::{show_duration, show_size};
use diskfacts_record::Finding;
use diskfacts_record::evidence::{ReadAhead, ReadAheadCounts, ReadAheadRow};

/// Columns of a number, at least; that of the pattern.
const NUMBER: usize = 10;
const PATTERN: usize = 10;
/// Files and threads that are told.
const TOLD: usize = 8;

/// What was watched, and how.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// What: `/dev/sdb`, `/srv and everything on its filesystem`.
    pub what: String,
    /// For how long, seconds; `None` of a text that was read.
    pub seconds: Option<f64>,
    /// Sentences on how it ended, and on what could not be seen.
    pub notes: Vec<String>,
    /// What to type next.
    pub next: Vec<String>,
}

/// The page.
pub fn read_ahead(
    table: &ReadAhead,
    watched: &Watched,
    findings: &[Finding],
    look: &Look,
) -> String {
    let mut page = Page::new(look);
    page.paragraph(0, Style::Heading, &heading(table, watched));
    for note in &watched.notes {
        page.paragraph(0, Style::Doubtful, note);
    }
    if table.all.count > 0 {
        page.blank();
        write_table(&mut page, table);
        page.blank();
        for line in left_out(table) {
            page.paragraph(0, Style::Minor, &line);
        }
        shares(&mut page, table);
        page.blank();
        for line in facts(table) {
            page.paragraph(0, Style::Plain, &line);
        }
        page.heading("What follows");
        if findings.is_empty() {
            page.paragraph(
                0,
                Style::Plain,
                "Nothing speaks against this window: the pages were used, and no stream lost its \
                 pattern.",
            );
        }
        for (i, finding) in findings.iter().enumerate() {
            if i > 0 {
                page.blank();
            }
            findings::one(&mut page, i + 1, finding, "");
        }
    }
    if !watched.next.is_empty() {
        page.blank();
    }
    for line in &watched.next {
        page.paragraph(0, Style::Plain, line);
    }
    page.finish()
}

fn heading(table: &ReadAhead, watched: &Watched) -> String {
    let time = watched
        .seconds
        .map_or_else(String::new, |seconds| format!(", {seconds:.1} s"));
    let limit = match table.limit_pages {
        None => String::new(),
        Some(0) => ", read-ahead is off".to_owned(),
        Some(pages) => format!(
            ", windows of at most {} ({})",
            count(pages, "page"),
            show_size(pages.saturating_mul(table.page_bytes))
        ),
    };
    format!("Read-ahead of {}{time}{limit}:", watched.what)
}

/// The names of 2009, right over their numbers.
fn write_table(page: &mut Page<'_>, table: &ReadAhead) {
    let mut names = STATISTICS.split(' ');
    let pattern = names.next().unwrap_or_default();
    let names: Vec<&str> = names.collect();
    let wide = |name: &str| NUMBER.max(name.len());
    let cells = |cells: Vec<String>| -> String {
        let cells = names.iter().zip(cells);
        cells
            .map(|(name, cell)| format!(" {cell:>width$}", width = wide(name)))
            .collect::<Vec<_>>()
            .concat()
    };
    let heads = cells(names.iter().map(ToString::to_string).collect());
    page.line(&format!("{pattern:<PATTERN$}{heads}"));
    for row in rows(table) {
        let numbers = row.numbers().into_iter();
        let numbers = numbers.map(|n| n.map_or_else(|| "-".to_owned(), |n| n.to_string()));
        let numbers = cells(numbers.collect());
        page.line(&format!("{:<PATTERN$}{numbers}", row.pattern));
    }
}

/// What the table does not say, and why.
fn left_out(table: &ReadAhead) -> Vec<String> {
    let mut lines = vec![format!(
        "size, async_size and actual are pages of {}, means over the row.",
        show_size(table.page_bytes)
    )];
    lines.extend(
        table
            .not_told
            .iter()
            .map(|row| format!("{} is -: {}.", row.what, row.why)),
    );
    if table.all.eof_count.is_none() {
        lines.push("eof_count is -: the length of no file is known.".to_owned());
    }
    lines.extend((table.undecided > 0).then(|| {
        format!(
            "{} in `all` only: subsequent or marker, which cannot be told because the window \
             before was set up before the watching began.",
            if table.undecided == 1 {
                "1 decision is".to_owned()
            } else {
                format!("{} decisions are", table.undecided)
            }
        )
    }));
    lines.extend(table.cost.filter(|cost| cost.lost > 0).map(|cost| {
        format!(
            "The kernel dropped {} of {}: the counts are lower bounds, and pages count as not \
             used that may have been.",
            count(cost.lost, "event"),
            count(cost.events.saturating_add(cost.lost), "event")
        )
    }));
    lines
}

fn facts(table: &ReadAhead) -> Vec<String> {
    let size = |pages: u64| show_size(pages.saturating_mul(table.page_bytes));
    let pages = table.pages;
    // What is not nothing is not shown as nothing.
    let share = |part: u64, of: u64| match part as f64 / of.max(1) as f64 {
        share if share > 0.0 && share < 0.0005 => "less than 0.1 %".to_owned(),
        share => percent(share),
    };
    let mut lines = vec![format!(
        "Of {} that came, {} was asked for, {} was dropped unused, and {} was not yet read at the \
         end{}.",
        size(pages.added),
        size(pages.used),
        size(pages.dropped_unused),
        size(pages.left_unused),
        if pages.mapped_only > 0 {
            format!(
                " ({} of what was asked for was only mapped along with a page that was touched)",
                size(pages.mapped_only)
            )
        } else {
            String::new()
        }
    )];
    let waited = table
        .sync_wait_ns
        .filter(|ns| *ns > 0)
        .map_or_else(String::new, |ns| format!(", {} in all", show_duration(ns)));
    lines.push(format!(
        "Somebody waited for {} of {} decisions ({}){waited}.",
        table.all.sync_count,
        table.all.count,
        share(table.all.sync_count, table.all.count)
    ));
    if let Some(at_limit) = table.at_limit().filter(|_| table.windows() > 0) {
        lines.push(format!(
            "{} of {} windows of reading in order are as large as the limit lets them be.",
            at_limit,
            table.windows()
        ));
    }
    let troubles = [
        (
            table.broken,
            "found the window set up for another stream that reads through the same descriptor",
        ),
        (
            table.scattered,
            "went on through another descriptor, which does not know the window",
        ),
        (
            table.late,
            "found a page missing that the stream's own window should have brought",
        ),
    ];
    for (number, what) in troubles {
        if number > 0 {
            lines.push(format!(
                "{} of reading in order {what}.",
                count(number, "decision")
            ));
        }
    }
    lines.extend(table.cost.map(|cost| {
        let time = cost.cpu_ns.map_or_else(String::new, |ns| {
            format!(", {} of processor time to read them", show_duration(ns))
        });
        format!("Watching took {}{time}.", count(cost.events, "event"))
    }));
    lines
}

/// By file and by thread, where there are several.
fn shares(page: &mut Page<'_>, table: &ReadAhead) {
    let files = table.files.iter().map(|of| {
        let name = if of.name.is_empty() {
            format!("inode {} on {}", of.inode, of.device)
        } else {
            of.name.clone()
        };
        told(&name, &of.rows, &of.all)
    });
    let threads = table.threads.iter().map(|of| {
        let name = if of.name.is_empty() {
            format!("thread {}", of.thread)
        } else {
            format!("{} ({})", of.name, of.thread)
        };
        told(&name, &of.rows, &of.all)
    });
    let (files, threads): (Vec<_>, Vec<_>) = (files.collect(), threads.collect());
    for (title, list) in [("By file", files), ("By thread", threads)] {
        if list.is_empty() {
            continue;
        }
        page.heading(title);
        for line in list.iter().take(TOLD) {
            page.paragraph(0, Style::Plain, line);
        }
        let more = list.len().saturating_sub(TOLD);
        if more > 0 {
            page.paragraph(0, Style::Minor, &format!("And {more} more."));
        }
    }
}

fn told(name: &str, rows: &[ReadAheadRow], all: &ReadAheadCounts) -> String {
    let rows: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {}", row.counts.count, row.pattern.word()))
        .collect();
    format!(
        "{name}: {}, somebody waited for {}; {}.",
        count(all.count, "decision"),
        all.sync_count,
        rows.join(", ")
    )
}
