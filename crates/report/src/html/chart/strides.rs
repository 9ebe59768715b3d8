//! Blocks at rising distances: where a disk stops streaming and starts seeking.

use super::binary;
use super::cells::measured;
use super::ends::{Ends, meaning};
use crate::html::LOOK;
use crate::html::figure::{Drawing, Figure, Key};
use crate::html::plot::{Axis, Plot};
use crate::html::scale::{Scale, Unit};
use crate::html::svg::{self, Anchor};
use crate::html::table::{Cell, Table};
use crate::text::list;
use diskfacts_facts::stats::median_of;
use diskfacts_plan::units::show_size;
use diskfacts_plan::{Operation, Pattern};
use diskfacts_record::{Run, StageFigures, TargetKind};
use maud::{Markup, html};

/// Fewest distances that make a curve.
const DISTANCES_MIN: usize = 3;

/// The curves of one stage and block size, at one place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Strides {
    /// Name of the stage, and where, as a document says.
    pub(crate) title: String,
    /// Bytes of a block.
    pub(crate) block_size: u64,
    /// One for each operation.
    pub(crate) curves: Vec<Curve>,
    /// Bytes per second of the first operation that was also done one block after the other:
    /// at this rate a distance goes by while the disk streams.
    pub(crate) streaming: Option<f64>,
    /// Nanoseconds of one revolution, where the drives that state their speed agree.
    pub(crate) revolution_ns: Option<f64>,
}

/// The operations of one kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// `reads`, `writes`, `modifications`.
    pub(crate) name: &'static str,
    /// By rising distance; of a document there may be several of one distance.
    pub(crate) points: Vec<Point>,
}

/// One distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Bytes from the beginning of one block to that of the next.
    pub(crate) distance: u64,
    /// Nanoseconds per operation: the time of the trial over its operations, syncs included.
    pub(crate) ns: f64,
    /// Around it.
    pub(crate) ends: Option<Ends>,
}

/// All strides of a run.
pub(crate) fn strides(run: &Run) -> Vec<Strides> {
    let mut all: Vec<Strides> = Vec::new();
    for (workload, figures) in measured(run) {
        let (iops, block_size) = (&figures.iops, workload.block_size);
        let Pattern::Stride { skip_blocks, .. } = workload.pattern else {
            continue;
        };
        if figures.errors > 0 || iops.trials == 0 || !iops.median.is_finite() || iops.median <= 0.0
        {
            continue;
        }
        let point = Point {
            distance: skip_blocks.saturating_mul(block_size),
            ns: 1e9 / iops.median,
            ends: Ends::of(iops)
                .filter(|ends| ends.low > 0.0)
                .map(|ends| ends.inverse(1e9)),
        };
        let title = title(run, figures);
        let same = |known: &Strides| known.title == title && known.block_size == block_size;
        let place = all.iter().position(same).unwrap_or_else(|| {
            all.push(Strides {
                title: title.clone(),
                block_size,
                curves: Vec::new(),
                streaming: None,
                revolution_ns: revolution_ns(run),
            });
            all.len() - 1
        });
        add(
            &mut all[place].curves,
            operations(workload.operation),
            point,
        );
    }
    for strides in &mut all {
        for curve in &mut strides.curves {
            curve.points.sort_by_key(|point| point.distance);
        }
        strides.streaming = streaming(strides);
        let curves = &mut strides.curves;
        curves.retain(|curve| distances(curve) >= DISTANCES_MIN);
    }
    all.retain(|strides| !strides.curves.is_empty());
    all
}

/// The settings of an imported line that say where its blocks lie.
fn title(run: &Run, figures: &StageFigures) -> String {
    let imported = run.target.kind == TargetKind::Imported;
    let names = ["place", "at", "heading"].into_iter();
    let place: Vec<&str> = names
        .filter_map(|name| figures.settings.get(name))
        .filter(|_| imported)
        .map(String::as_str)
        .collect();
    if place.is_empty() {
        figures.stage.clone()
    } else {
        format!("{} ({})", figures.stage, place.join(", "))
    }
}

fn operations(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "reads",
        Operation::Write => "writes",
        Operation::Mixed { .. } => "reads and writes",
        Operation::Modify { .. } => "modifications",
        Operation::Create | Operation::Stat | Operation::Delete => "files",
    }
}

fn add(curves: &mut Vec<Curve>, name: &'static str, point: Point) {
    match curves.iter_mut().find(|curve| curve.name == name) {
        Some(curve) => curve.points.push(point),
        None => curves.push(Curve {
            name,
            points: vec![point],
        }),
    }
}

/// How many distances a curve is over.
fn distances(curve: &Curve) -> usize {
    let same = curve.points.chunk_by(|a, b| a.distance == b.distance);
    same.count()
}

fn streaming(strides: &Strides) -> Option<f64> {
    let mut points = strides.curves.iter().flat_map(|curve| &curve.points);
    let next = points.find(|point| point.distance == strides.block_size)?;
    Some(next.distance as f64 / next.ns * 1e9)
}

fn revolution_ns(run: &Run) -> Option<f64> {
    let mut known: Vec<u32> = run.stack.leaves().filter_map(|disk| disk.rpm).collect();
    known.dedup();
    match known.as_slice() {
        // SSDs state a speed of 1, as SCSI's VPD page B1h has it.
        [rpm] if *rpm > 1 => Some(60e9 / f64::from(*rpm)),
        _ => None,
    }
}

/// Times of one distance agree within this factor: zones of a disk differ by less.
const AGREE: f64 = 1.25;

impl Curve {
    /// The time of each distance: the median of those that agree, where these are most of them.
    /// Of a document, lines may be labelled with a distance that is not theirs.
    fn line(&self) -> Vec<(f64, f64)> {
        let same = self.points.chunk_by(|a, b| a.distance == b.distance);
        same.filter_map(|group| {
            let near = |of: &Point| -> Vec<f64> {
                let times = group.iter().map(|point| point.ns);
                times
                    .filter(|ns| (ns / of.ns).max(of.ns / ns) <= AGREE)
                    .collect()
            };
            let most = group.iter().map(near).max_by_key(Vec::len)?;
            let ns = median_of(most.iter().copied())?;
            (most.len() * 2 > group.len()).then_some((group[0].distance as f64, ns))
        })
        .collect()
    }
}

impl Strides {
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.curves.iter().flat_map(|curve| &curve.points)
    }

    /// The axes, both logarithmic; `None` without points.
    pub(crate) fn plot(&self) -> Option<Plot> {
        let distances = || self.points().map(|point| point.distance);
        let (near, far) = (distances().min()?, distances().max()?);
        let times = self.points().map(|point| point.ns);
        let ends = self.points().filter_map(|point| point.ends);
        let times: Vec<f64> = times
            .chain(ends.flat_map(|ends| [ends.low, ends.high]))
            .chain(self.revolution_ns)
            .collect();
        let low = times.iter().copied().fold(f64::INFINITY, f64::min);
        let high = times.iter().copied().fold(0.0, f64::max);
        let distance = Scale::logarithmic(near as f64 / 1.5, far as f64 * 1.5);
        let x = Axis::of("from one block to the next", Unit::Bytes, distance);
        let x = x.with_ticks(binary::logarithmic(near, far));
        let y = Axis::logarithmic("time per operation", Unit::Ns, low, high);
        Some(Plot::new(x, y))
    }

    /// Where the time that a distance takes to go by leaves the drawing.
    fn goes_by(&self, plot: &Plot) -> Option<[(f64, f64); 2]> {
        let rate = self.streaming?;
        let (x, y) = plot.scales();
        let near = self.block_size as f64;
        let far = x.domain.1.min(rate * y.domain.1 / 1e9);
        (far > near).then(|| [near, far].map(|distance| (distance, distance / rate * 1e9)))
    }
}

/// The strides as a figure; `None` without points.
pub(crate) fn figure(strides: &Strides, id: String) -> Option<Figure> {
    let plot = strides.plot()?;
    let elements = html! {
        (plot.frame())
        (limits(strides, &plot))
        @for (place, curve) in strides.curves.iter().enumerate() {
            (plot.line(place, &curve.line()))
            @for point in &curve.points {
                @let at = point.distance as f64;
                @if let Some(ends) = point.ends {
                    (plot.interval(place, (at, ends.low, ends.high)))
                }
                (plot.mark(place, (at, point.ns), &format!(
                    "{}: {} at {}", curve.name, Unit::Ns.show(point.ns), show_size(point.distance),
                )))
            }
        }
    };
    let curves = strides.curves.iter().enumerate();
    let mut legend: Vec<Key> = curves
        .map(|(place, curve)| Key::line(place, curve.name))
        .collect();
    let spread = meaning(strides.points().filter_map(|point| point.ends));
    if let (Some(last), Some(spread)) = (legend.last_mut(), spread) {
        last.name = format!("{}. {spread}", last.name);
    }
    Some(Figure {
        id,
        title: format!(
            "{}: {} blocks at rising distances",
            strides.title,
            show_size(strides.block_size)
        ),
        seen: seen(strides),
        drawing: Drawing::Svg(plot.height, elements),
        legend,
        numbers: numbers(strides),
    })
}

/// The time in which a distance goes by while the disk streams, and that of a revolution.
fn limits(strides: &Strides, plot: &Plot) -> Markup {
    let (left, right) = plot.scales().0.domain;
    html! {
        @if let Some(ends) = strides.goes_by(plot) {
            path class="limit" d=(svg::line(ends.map(|point| plot.at(point)))) {}
            @let (x, y) = plot.at(ends[1]);
            (svg::text((x - 14.0, y + 10.0), Anchor::End, "soft", "streams"))
        }
        @if let Some(turn) = strides.revolution_ns {
            @let ends = [(left, turn), (right, turn)].map(|point| plot.at(point));
            path class="limit" d=(svg::line(ends)) {}
            (svg::text((ends[0].0 + 4.0, ends[0].1 - 4.0), Anchor::Start, "soft", &format!(
                "a revolution, {}", LOOK.duration(turn as u64),
            )))
        }
    }
}

/// `Reads take 29 µs at 4 KiB and 12.3 ms at 1 GiB; ... One block after the other streams at
/// 140 MB/s, which is the line from below.`
fn seen(strides: &Strides) -> String {
    let each = strides.curves.iter().filter_map(|curve| {
        let line = curve.line();
        let ((near, first), (far, last)) = (*line.first()?, *line.last()?);
        Some(format!(
            "{} take {} at {} and {} at {}",
            curve.name,
            Unit::Ns.show(first),
            Unit::Bytes.show(near),
            Unit::Ns.show(last),
            Unit::Bytes.show(far)
        ))
    });
    let each: Vec<String> = each.collect();
    let mut text = format!(
        "Of {} blocks {}.",
        show_size(strides.block_size),
        list(&each)
    );
    if let Some(rate) = strides.streaming {
        text = format!(
            "{text} A disk that streams at {} MB/s, as one block after the other does, needs the \
             time of the dashed line.",
            Unit::BytesPerS.show(rate)
        );
    }
    text
}

fn numbers(strides: &Strides) -> Table {
    let heads = ["operation", "distance", "per operation", "low", "high"];
    let mut table = Table::new("distances", &heads);
    for curve in &strides.curves {
        for point in &curve.points {
            table.push(vec![
                Cell::Text(curve.name.to_owned()),
                Cell::Number(show_size(point.distance)),
                Cell::Number(Unit::Ns.show(point.ns)),
                Cell::known(point.ends.map(|ends| Unit::Ns.show(ends.low))),
                Cell::known(point.ends.map(|ends| Unit::Ns.show(ends.high))),
            ]);
        }
    }
    table.without_empty_columns()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn times_are_those_of_the_figures_and_the_streaming_rate_that_of_the_next_block() {
        let run = fixtures::stride();
        let all = strides(&run);
        let [strides] = all.as_slice() else {
            panic!("{all:?}");
        };
        let names: Vec<&str> = strides.curves.iter().map(|curve| curve.name).collect();
        assert_eq!(names, ["reads", "writes", "modifications"]);
        let streaming = strides.streaming.unwrap();
        assert!((streaming - 140e6).abs() < 1.0, "{streaming}");
        assert_eq!(strides.revolution_ns, None);
        for curve in &strides.curves {
            assert_eq!(curve.points.len(), 10);
            for point in &curve.points {
                let of = |figures: &&StageFigures| {
                    let distance = diskfacts_plan::units::parse_size(&figures.settings["distance"]);
                    let what = figures.settings["what"].as_str();
                    distance == Ok(point.distance) && curve.name.starts_with(&what[..3])
                };
                let figures = run.figures.iter().find(of).unwrap();
                assert!((point.ns * figures.iops.median - 1e9).abs() < 1.0);
                let ends = point.ends.unwrap();
                assert!(ends.low < point.ns && point.ns < ends.high);
            }
        }
    }

    #[test]
    fn a_drive_that_states_its_speed_has_a_revolution_and_flash_has_none() {
        let mut run = fixtures::stride();
        run.stack = fixtures::raid_stack();
        for device in &mut run.stack.devices {
            device.rpm = Some(7200);
        }
        let turn = strides(&run)[0].revolution_ns.unwrap();
        assert!((turn - 60e9 / 7200.0).abs() < 1.0);
        for device in &mut run.stack.devices {
            device.rpm = Some(1);
        }
        assert_eq!(strides(&run)[0].revolution_ns, None);
    }

    #[test]
    fn lines_and_marks_are_read_back_as_times_and_distances() {
        let all = strides(&fixtures::stride());
        let plot = all[0].plot().unwrap();
        let (x, y) = plot.scales();
        let Drawing::Svg(_, markup) = figure(&all[0], "s".into()).unwrap().drawing else {
            panic!("a drawing");
        };
        let markup = markup.into_string();
        let lines = svg::attributes(&markup, "line", "d");
        assert_eq!(lines.len(), 3);
        for (path, curve) in lines.iter().zip(&all[0].curves) {
            let points = svg::points(path);
            assert_eq!(points.len(), curve.points.len());
            for ((a, b), point) in points.into_iter().zip(&curve.points) {
                assert!(
                    (x.value(a) / point.distance as f64 - 1.0).abs() < 1e-2,
                    "{point:?}"
                );
                assert!((y.value(b) / point.ns - 1.0).abs() < 1e-2, "{point:?}");
            }
        }
        // On the limit a distance goes by at the rate of the next block.
        for (a, b) in svg::points(&svg::attributes(&markup, "limit", "d")[0]) {
            let rate = x.value(a) / y.value(b) * 1e9;
            assert!(
                (rate / all[0].streaming.unwrap() - 1.0).abs() < 2e-2,
                "{rate}"
            );
        }
        let seen = seen(&all[0]);
        assert!(seen.contains("reads take 29"), "{seen}");
        assert!(seen.contains("streams at 140 MB/s"), "{seen}");
    }

    #[test]
    fn a_distance_of_which_lines_disagree_has_a_point_in_the_line_only_where_most_agree() {
        let point = |distance, ns| Point {
            distance,
            ns,
            ends: None,
        };
        let curve = Curve {
            name: "reads",
            points: vec![
                point(4096, 100.0),
                point(8192, 210.0),
                point(8192, 200.0),
                point(8192, 20.0),
                point(16_384, 400.0),
                point(16_384, 30.0),
            ],
        };
        assert_eq!(curve.line(), [(4096.0, 100.0), (8192.0, 205.0)]);
    }

    #[test]
    fn what_is_no_stride_has_no_curve() {
        assert!(strides(&fixtures::zones()).is_empty());
        assert!(strides(&fixtures::healthy()).is_empty());
        let mut few = fixtures::stride();
        few.figures.truncate(6);
        assert!(strides(&few).is_empty());
    }
}
