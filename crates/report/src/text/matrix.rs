//! The figures of a stage that is a matrix: one value of `vary` down (the block
//! size, where it varies), all others across, in blocks of as many columns as the
//! width takes.

use super::look::Style;
use super::page::Page;
use super::pivot;
use super::stages::failures;
use super::words::{add_once, count, rate};
use super::wrap::columns;
use crate::notes::direct_refused;
use diskfacts_plan::Stage;
use diskfacts_record::{Layers, Run, StageFigures};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Columns of one cell, of what stands over it at most, and between two.
const CELL: usize = 27;
const HEAD: usize = 34;
const GAP: usize = 2;
/// Columns of the rate, and what stands there when it is of something else than the
/// column says.
const RATE: usize = 7;
const REFUSED: &str = "refused";
/// Below this share the layer that served most is not the whole story.
pub(crate) const NEARLY_ALL: f64 = 0.95;
/// Most cells whose failures are told one by one.
const FAILURES_MAX: usize = 6;

/// The figures of a cell, and the stage of the plan that they are of.
type Measured<'r> = (&'r Stage, &'r StageFigures);

/// The stage of the plan that is this cell of a matrix; `None` for figures of a
/// stage that is none.
pub(crate) fn cell_of<'r>(run: &'r Run, figures: &StageFigures) -> Option<&'r Stage> {
    let is_cell = |stage: &&Stage| {
        stage.name == figures.stage
            && !stage.settings.is_empty()
            && stage.settings == figures.settings
    };
    run.plan.stages.iter().find(is_cell)
}

/// The figures that stand in a table, each with its cell, in the order of the run: of their
/// stage there are several rows, and what stands across fits over its columns. Others are
/// listed, with the names of their settings: the lines of a document vary in many at once.
pub(super) fn tabled(run: &Run) -> Vec<Measured<'_>> {
    let cells = run.figures.iter();
    let cells = cells.filter_map(|figures| Some((cell_of(run, figures)?, figures)));
    let mut cells: Vec<Measured<'_>> = cells.collect();
    let mut names: Vec<&str> = Vec::new();
    for (stage, _) in &cells {
        add_once(&mut names, stage.name.as_str());
    }
    names.retain(|name| {
        let own = cells.iter().filter(|(stage, _)| stage.name == *name);
        fits_a_table(&own.copied().collect::<Vec<_>>())
    });
    cells.retain(|(stage, _)| names.contains(&stage.name.as_str()));
    cells
}

/// Whether the cells of a stage are several rows whose heads have room.
fn fits_a_table(cells: &[Measured<'_>]) -> bool {
    let axis = down(cells);
    let mut rows: Vec<String> = Vec::new();
    for (stage, _) in cells {
        add_once(&mut rows, row_of(stage, axis));
    }
    let fits = |(stage, _): &Measured<'_>| columns(&head_of(stage, axis)) <= HEAD;
    rows.len() > 1 && cells.iter().all(fits)
}

/// One matrix: its cells by what stands down and what stands across.
pub(crate) struct Grid<'r> {
    cells: Vec<Measured<'r>>,
    /// The same by row and head; a matrix has hundreds of cells.
    places: BTreeMap<(String, String), &'r StageFigures>,
    axis: &'r str,
    /// What stands down, in the order of the plan, of what has figures.
    pub(crate) rows: Vec<String>,
    /// What stands across, likewise.
    pub(crate) heads: Vec<String>,
}

/// Each matrix of the run that stands in a table of its own.
pub(crate) fn grids(run: &Run) -> Vec<Grid<'_>> {
    let cells = tabled(run).into_iter();
    let cells = cells.filter(|(_, figures)| pivot::effects_of(run, figures).is_none());
    let cells: Vec<Measured<'_>> = cells.collect();
    let mut names: Vec<&str> = Vec::new();
    for (stage, _) in &cells {
        add_once(&mut names, stage.name.as_str());
    }
    let of_stage = |name: &&str| {
        let own = cells.iter().filter(|(stage, _)| stage.name == **name);
        Grid::of(run, own.copied().collect())
    };
    names.iter().map(of_stage).collect()
}

impl<'r> Grid<'r> {
    fn of(run: &'r Run, cells: Vec<Measured<'r>>) -> Self {
        let axis = down(&cells);
        let mut places = BTreeMap::new();
        for (stage, figures) in &cells {
            let place = (row_of(stage, axis), head_of(stage, axis));
            places.entry(place).or_insert(*figures);
        }
        let mut rows: Vec<String> = Vec::new();
        let mut heads: Vec<String> = Vec::new();
        let name = cells.first().map(|(stage, _)| &stage.name);
        let planned = run.plan.stages.iter().filter(|s| Some(&s.name) == name);
        for stage in planned {
            let (row, head) = (row_of(stage, axis), head_of(stage, axis));
            if places.keys().any(|(known, _)| *known == row) {
                add_once(&mut rows, row);
            }
            if places.keys().any(|(_, known)| *known == head) {
                add_once(&mut heads, head);
            }
        }
        Self {
            cells,
            places,
            axis,
            rows,
            heads,
        }
    }

    /// The name of its stage.
    pub(crate) fn name(&self) -> &'r str {
        self.cells.first().map_or("", |(stage, _)| &stage.name)
    }

    /// The name of what stands down.
    pub(crate) fn shown(&self) -> &'r str {
        shown(self.axis)
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = Measured<'r>> {
        self.cells.iter().copied()
    }

    /// The figures of a cell; `None` of one that was not measured.
    pub(crate) fn at(&self, row: &str, head: &str) -> Option<&'r StageFigures> {
        let place = (row.to_owned(), head.to_owned());
        self.places.get(&place).copied()
    }
}

/// Each matrix of the run, under the name of its stage.
pub(crate) fn write(page: &mut Page<'_>, run: &Run) {
    let grids = grids(run);
    for (i, grid) in grids.iter().enumerate() {
        if i > 0 {
            page.blank();
        }
        table(page, run, grid);
    }
    let cells: Vec<Measured<'_>> = grids.iter().flat_map(Grid::cells).collect();
    if !cells.is_empty() {
        page.blank();
        legend(page, run, &cells);
    }
}

fn table(page: &mut Page<'_>, run: &Run, grid: &Grid<'_>) {
    let Some((first, _)) = grid.cells.first() else {
        return;
    };
    page.titled(
        0,
        (Style::Heading, &format!("{}:", first.name)),
        4,
        Style::Plain,
        &first.about,
    );
    let label = grid.rows.iter().map(|row| columns(row));
    let label = label.chain([columns(grid.shown())]);
    let label = label.max().unwrap_or(0);
    let room = page.look.columns().saturating_sub(label);
    let heads = grid.heads.iter().map(|head| columns(head));
    let width = heads.chain([CELL]).max().unwrap_or(CELL);
    let across = (room / (width + GAP)).max(1);
    for block in grid.heads.chunks(across) {
        page.blank();
        heading(page, (label, width), grid.axis, block);
        for row in &grid.rows {
            let mut line = format!("{row:<label$}");
            for head in block {
                let here = grid.at(row, head);
                let said = here.map_or_else(|| "-".to_owned(), |f| cell(page, run, f));
                // Writing to a String cannot fail.
                let _ = write!(line, "{:GAP$}{said:<width$}", "");
            }
            page.line(&line);
        }
    }
    broken(page, run, &grid.cells, grid.axis);
}

/// What stands down: the block size where it varies, else what was varied first.
fn down<'r>(cells: &[Measured<'r>]) -> &'r str {
    let varied = cells.first().map(|(stage, _)| &stage.settings);
    let mut names = varied.into_iter().flat_map(|settings| settings.keys());
    let size = names.clone().find(|name| *name == "block_size");
    size.or_else(|| names.next()).map_or("", String::as_str)
}

/// The name of the axis as its column is headed.
fn shown(axis: &str) -> &str {
    if axis == "block_size" { "size" } else { axis }
}

/// The value that stands down; a block size as people read it.
fn row_of(stage: &Stage, axis: &str) -> String {
    if axis == "block_size" {
        return diskfacts_plan::units::show_size(stage.workload.block_size);
    }
    stage.settings.get(axis).cloned().unwrap_or_default()
}

/// All other values, joined.
fn head_of(stage: &Stage, axis: &str) -> String {
    let others = stage.settings.iter().filter(|(key, _)| *key != axis);
    let values: Vec<&str> = others.map(|(_, value)| value.as_str()).collect();
    values.join(", ")
}

/// The columns of the labels and of a cell, and what stands over them.
fn heading(page: &mut Page<'_>, (label, width): (usize, usize), axis: &str, block: &[String]) {
    let mut names = " ".repeat(label);
    let mut units = format!("{:<label$}", shown(axis));
    for head in block {
        let head = page.look.clean(head).into_owned();
        // Writing to a String cannot fail.
        let _ = write!(names, "{:GAP$}{head:<width$}", "");
        let under = format!("{:>6} {:>7} {:>7} by", "MB/s", "p50", "p99");
        let _ = write!(units, "{:GAP$}{under:<width$}", "");
    }
    // With one axis the columns need no names.
    let names = (!names.trim().is_empty()).then_some(names);
    for line in names.into_iter().chain([units]) {
        let line = page.look.paint(Style::Heading, line.trim_end());
        page.line(&line);
    }
}

/// ` 655.3 3.37 us 18.8 us mem`.
fn cell(page: &Page<'_>, run: &Run, figures: &StageFigures) -> String {
    if direct_refused(run, figures).is_some() {
        return format!("{REFUSED:>RATE$}");
    }
    let throughput = figures.throughput_bytes_per_s.median;
    let time = |ns: Option<u64>| ns.map_or_else(|| "n/a".to_owned(), |ns| page.look.duration(ns));
    let by = if figures.errors > 0 {
        "ERR".to_owned()
    } else {
        by(&figures.layers)
    };
    format!(
        "{:>6} {:>7} {:>7} {by}",
        rate(throughput / 1e6),
        time(figures.latency_ns.p50),
        time(figures.latency_ns.p99),
    )
}

/// The layer that served most, and a mark when that is not nearly all.
fn by(layers: &Layers) -> String {
    let (share, word) = most(layers);
    let mark = if share < NEARLY_ALL { "~" } else { "" };
    format!("{word}{mark}")
}

/// The layers, each with its word here and what it means.
pub(crate) const WORDS: [(&str, &str); 7] = [
    ("mem", "mem is the page cache, memory of this machine"),
    ("map", "map a device above the disks, without one of them"),
    (
        "srv",
        "srv the server, whose memory and disks cannot be told apart",
    ),
    ("drv", "drv the drive's cache"),
    ("med", "med the medium"),
    (
        "dev",
        "dev the device, whose cache and medium cannot be told apart",
    ),
    ("?", UNKNOWN),
];

/// What is said where nobody can tell.
pub(crate) const UNKNOWN: &str = "? not known";

pub(crate) fn most(layers: &Layers) -> (f64, &'static str) {
    let to_device = layers.device.unwrap_or(0.0) - layers.drive_cache - layers.media;
    let device = to_device.clamp(0.0, layers.unknown.max(0.0));
    let shares = [
        layers.page_cache,
        layers.mapping,
        layers.server,
        layers.drive_cache,
        layers.media,
        device,
        layers.unknown - device,
    ];
    let shares = shares.into_iter().zip(WORDS.map(|(word, _)| word));
    shares
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((0.0, "?"))
}

/// The cells in which operations failed.
fn broken(page: &mut Page<'_>, run: &Run, cells: &[Measured<'_>], axis: &str) {
    let broken: Vec<&Measured<'_>> = cells.iter().filter(|(_, f)| f.errors > 0).collect();
    for (stage, figures) in broken.iter().take(FAILURES_MAX) {
        page.blank();
        page.paragraph(
            0,
            Style::Plain,
            &format!("{}, {}:", row_of(stage, axis), head_of(stage, axis)),
        );
        failures(page, run, figures, 4);
    }
    if broken.len() > FAILURES_MAX {
        let more = count((broken.len() - FAILURES_MAX) as u64, "more cell");
        page.blank();
        page.paragraph(0, Style::Bad, &format!("{more} failed."));
    }
}

/// What the words and marks above mean, as far as they occur.
fn legend(page: &mut Page<'_>, run: &Run, cells: &[Measured<'_>]) {
    let shown: Vec<&Measured<'_>> = cells
        .iter()
        .filter(|(_, figures)| direct_refused(run, figures).is_none())
        .collect();
    let whole = shown.iter().filter(|(_, figures)| figures.errors == 0);
    let served: Vec<(f64, &str)> = whole.map(|(_, f)| most(&f.layers)).collect();
    let meant: Vec<&str> = WORDS
        .iter()
        .filter(|(word, _)| served.iter().any(|(_, by)| by == word))
        .map(|(_, meaning)| *meaning)
        .collect();
    let mut sentences = vec![
        "MB/s is 10^6 bytes per second; p50 and p99 are latencies of single operations.".to_owned(),
    ];
    if !meant.is_empty() {
        sentences.push(format!(
            "by is who served most bytes: {}.",
            meant.join("; ")
        ));
    }
    if cells.iter().any(|(stage, _)| stage.workload.sync.at_end()) {
        sentences.push(
            "A sync after the last write counts in the rates, not in the latencies.".to_owned(),
        );
    }
    if served.iter().any(|(share, _)| *share < NEARLY_ALL) {
        sentences.push("~ marks less than 95 % of them.".to_owned());
    }
    let latency = |figures: &StageFigures| figures.latency_ns.p50.and(figures.latency_ns.p99);
    if shown.iter().any(|(_, figures)| latency(figures).is_none()) {
        sentences.push(
            "n/a means too few operations to state that percentile: p50 needs 5, p99 needs 299."
                .to_owned(),
        );
    }
    if shown.iter().any(|(_, figures)| figures.errors > 0) {
        sentences
            .push("ERR means that operations failed; the figures are of the others.".to_owned());
    }
    if shown.len() < cells.len() {
        sentences.push(format!(
            "{REFUSED} means that direct I/O was refused: what was done instead went through the \
             page cache, and --json has its figures."
        ));
    }
    page.paragraph(0, Style::Minor, &sentences.join(" "));
}
