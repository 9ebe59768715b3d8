//! The columns of the rows: which are shown depends on the width of the terminal, and on
//! whether anything is known that would stand in them.

use super::super::files;
use super::super::look::Look;
use super::super::marks::Marks;
use super::super::words::{half_width, three_digits};
use super::super::wrap::columns;
use super::strip::Axis;
use diskfacts_record::{Figure, Run, StageFigures};

/// Between two columns.
const GAP: usize = 2;
/// The least columns of a strip that shows anything, and what it keeps when more figures
/// stand beside it.
const STRIP: usize = 9;
const STRIP_BESIDE_MORE: usize = 16;
const STRIP_MOST: usize = 60;
/// Numbers of a row that are shown where all of them leave no room for a strip.
const NUMBERS: usize = 2;

/// A column of text, right-aligned but for the marks.
pub(crate) struct Column {
    pub(crate) head: &'static str,
    pub(crate) cells: Vec<String>,
    /// Those with the least number stay longest; from [`EXTRA`] on only beside a wide strip.
    rank: u8,
    left: bool,
}

/// What a wide terminal shows more.
const EXTRA: u8 = 10;
/// Columns of these ranks give way to a strip, where one is wanted first.
const STRIP_BEFORE: std::ops::Range<u8> = 4..EXTRA;

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| columns(cell));
        cells.chain([columns(self.head)]).max().unwrap_or(0)
    }
}

/// The rows of some stages, behind their names.
pub(in crate::text) struct Columns {
    shown: Vec<Column>,
    axis: Option<Axis>,
    strips: Vec<String>,
}

impl Columns {
    /// As many columns as have room in so much width. Where the strip has none, rows with
    /// many numbers have the first ones only.
    pub(super) fn of(
        run: &Run,
        marks: &Marks<'_>,
        figures: &[&StageFigures],
        look: &Look,
        width: usize,
    ) -> Self {
        let room = (width, STRIP_BEFORE.end);
        let whole = Self::with(run, (marks, usize::MAX), figures, look, room);
        if whole.are_drawn() {
            return whole;
        }
        let short = Self::with(run, (marks, NUMBERS), figures, look, room);
        if short.are_drawn() { short } else { whole }
    }

    /// The same where the strip comes before the figures that say least beside it.
    pub(in crate::text) fn drawn(
        run: &Run,
        marks: &Marks<'_>,
        figures: &[&StageFigures],
        look: &Look,
        width: usize,
    ) -> Self {
        let room = (width, STRIP_BEFORE.start);
        Self::with(run, (marks, NUMBERS), figures, look, room)
    }

    /// In so much width; columns from a rank on only where a strip has room beside them.
    fn with(
        run: &Run,
        marks: (&Marks<'_>, usize),
        figures: &[&StageFigures],
        look: &Look,
        (width, strip_before): (usize, u8),
    ) -> Self {
        let mut all = all(run, marks, figures, look);
        all.retain(|column| column.cells.iter().any(|cell| !cell.is_empty()));
        let known = || figures.iter().map(|figures| &figures.latency_ns);
        let drawable = Axis::of(known(), STRIP).is_some();
        let mut by_rank: Vec<usize> = (0..all.len()).collect();
        by_rank.sort_by_key(|place| all[*place].rank);
        let mut taken = 0;
        let mut kept: Vec<usize> = Vec::new();
        for place in by_rank {
            let column = &all[place];
            let beside = match column.rank {
                EXTRA.. if drawable => GAP + STRIP_BESIDE_MORE,
                rank if drawable && rank >= strip_before => GAP + STRIP,
                _ => 0,
            };
            let wanted = GAP + column.width();
            if taken + wanted + beside <= width {
                taken += wanted;
                kept.push(place);
            }
        }
        let mut place = 0;
        all.retain(|_| {
            place += 1;
            kept.contains(&(place - 1))
        });
        let left = width.saturating_sub(taken + GAP).min(STRIP_MOST);
        let axis = Axis::of(known(), left).filter(|_| left >= STRIP);
        let strips = match &axis {
            Some(axis) => known().map(|latency| axis.draw(latency, look)).collect(),
            None => Vec::new(),
        };
        Self {
            shown: all,
            axis,
            strips,
        }
    }

    /// Whether latencies are drawn.
    pub(super) fn are_drawn(&self) -> bool {
        self.axis.is_some()
    }

    /// Whether a column of this head is shown.
    pub(super) fn has(&self, head: &str) -> bool {
        self.shown.iter().any(|column| column.head == head)
    }

    /// Whether a row has more numbers than it shows.
    pub(super) fn has_more(&self) -> bool {
        let marks = self.shown.iter().filter(|column| column.left);
        let mut cells = marks.flat_map(|column| &column.cells);
        cells.any(|cell| cell.ends_with('+'))
    }

    pub(in crate::text) fn head(&self) -> String {
        let heads = self.shown.iter().map(|column| aligned(column, column.head));
        let strip = self.axis.as_ref().map(|axis| gapped(&axis.head()));
        heads.chain(strip).collect()
    }

    pub(in crate::text) fn row(&self, row: usize) -> String {
        let cells = self
            .shown
            .iter()
            .map(|column| aligned(column, &column.cells[row]));
        let strip = self.strips.get(row).map(|strip| gapped(strip));
        cells.chain(strip).collect()
    }
}

fn gapped(text: &str) -> String {
    format!("{:GAP$}{text}", "")
}

fn aligned(column: &Column, text: &str) -> String {
    // By columns, which are not characters.
    let pad = " ".repeat(column.width().saturating_sub(columns(text)));
    if column.left {
        format!("{:GAP$}{text}{pad}", "")
    } else {
        format!("{:GAP$}{pad}{text}", "")
    }
}

/// All columns of some stages, with as many numbers in their marks.
pub(crate) fn all(
    run: &Run,
    (marks, numbers): (&Marks<'_>, usize),
    figures: &[&StageFigures],
    look: &Look,
) -> Vec<Column> {
    let of = |head, rank, cell: &dyn Fn(&StageFigures) -> String| Column {
        head,
        cells: figures.iter().map(|figures| cell(figures)).collect(),
        rank,
        left: false,
    };
    let time = |ns: Option<u64>| ns.map_or_else(String::new, |ns| look.duration(ns));
    let on_files = |figures: &StageFigures| files::are_of(run, figures);
    let only_files = figures.iter().all(|figures| on_files(figures));
    let mut see = of("see", 1, &|figures| marks.of_stage(figures, numbers));
    see.left = true;
    vec![
        of("MB/s", 0, &|figures| {
            if on_files(figures) {
                return String::new();
            }
            rate(figures, &figures.throughput_bytes_per_s, 1e6)
        }),
        of(if only_files { "files/s" } else { "IOPS" }, 3, &|figures| {
            rate(figures, &figures.iops, 1.0)
        }),
        of(look.plus_minus(), 5, &|figures| {
            let of_iops = figures.iops.trials > 0;
            let rate = if of_iops {
                &figures.iops
            } else {
                &figures.throughput_bytes_per_s
            };
            half_width(rate).unwrap_or_default()
        }),
        see,
        of("p50", 4, &|figures| time(figures.latency_ns.p50)),
        of("p99", 2, &|figures| time(figures.latency_ns.p99)),
        of("p99.9", EXTRA, &|figures| time(figures.latency_ns.p99_9)),
        of("max", EXTRA + 1, &|figures| time(figures.latency_ns.max)),
        of("CPU/IO", EXTRA + 2, &|figures| {
            let cpu = figures.cpu_user_ns_per_io.zip(figures.cpu_system_ns_per_io);
            cpu.map_or_else(String::new, |(user, system)| {
                look.duration((user + system).round() as u64)
            })
        }),
    ]
}

/// Three digits of a rate. One that is not known because
/// all operations failed is said; what a document does not say is left out.
fn rate(figures: &StageFigures, figure: &Figure, unit: f64) -> String {
    if figure.trials == 0 {
        let failed = figures.errors > 0;
        return if failed {
            "failed".into()
        } else {
            String::new()
        };
    }
    three_digits(figure.median / unit)
}
