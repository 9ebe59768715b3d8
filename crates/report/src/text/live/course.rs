//! What was measured over time: the rate in bars, and below it the latencies, a column for
//! each moment.

use super::super::eighths::eighth;
use super::super::heat::shade;
use super::super::look::{Look, Style};
use super::super::summary::decade;
use super::super::wrap::{columns, cut};
use super::line::Line;
use diskfacts_record::evidence::Bucket;
use std::collections::VecDeque;
use std::sync::Arc;

/// Moments that are kept: as many as any terminal has columns.
const KEPT: usize = 512;
/// Columns before the moments.
const GUTTER: usize = 6;

/// What was seen from one look to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Of what: a stage. A new one begins where this is not the same as before, or
    /// `begins` is set.
    pub of: Arc<str>,
    /// Whether a trial began here.
    pub begins: bool,
    /// Operations per second; absent where that was too short to tell.
    pub per_s: Option<f64>,
    /// Latencies, nanoseconds.
    pub latencies: Vec<Bucket>,
}

/// The last moments, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    moments: VecDeque<Moment>,
}

impl Course {
    /// Adds one, and forgets what no screen shows.
    pub fn push(&mut self, moment: Moment) {
        if self.moments.len() == KEPT {
            self.moments.pop_front();
        }
        self.moments.push_back(moment);
    }

    /// The last of them.
    pub fn last(&self) -> Option<&Moment> {
        self.moments.back()
    }

    /// The rates, the latencies and below them what they are of, in so many rows: none of
    /// fewer than three, and none before there is a moment.
    pub(super) fn lines(&self, look: &Look, width: usize, height: usize) -> Vec<Line> {
        let room = width.saturating_sub(GUTTER);
        let shown: Vec<&Moment> = self
            .moments
            .iter()
            .skip(self.moments.len().saturating_sub(room))
            .collect();
        if height < 3 || shown.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![with_gutter("rate", &rates(&shown, look))];
        let names = names(&shown, look);
        let rows = height - 1 - usize::from(names.is_some());
        if let Some(axis) = Axis::of(&shown, rows) {
            lines.extend((0..rows).rev().map(|row| {
                let cells = shown.iter().map(|moment| axis.shade(moment, row, look));
                with_gutter(&axis.label(row), &cells.collect::<String>())
            }));
        }
        let names = names.map(|names| format!("{:GUTTER$}{names}", ""));
        lines.extend(names.map(|names| Line::of(Style::Minor, &names)));
        lines
    }
}

fn with_gutter(label: &str, text: &str) -> Line {
    let width = GUTTER - 1;
    Line::of(Style::Minor, &format!("{label:>width$} ")).and(Style::Plain, text)
}

/// A bar for each moment, on a linear scale up to the most of its stage: stages differ by
/// factors of thousands.
fn rates(shown: &[&Moment], look: &Look) -> String {
    let most_of = |of: &str| {
        let its = shown.iter().filter(|other| &*other.of == of);
        its.filter_map(|other| other.per_s).fold(0.0, f64::max)
    };
    let bar = |moment: &&Moment| {
        let rate = moment.per_s.unwrap_or(0.0);
        eighth(rate.max(0.0), most_of(&moment.of), look)
    };
    shown.iter().map(bar).collect()
}

/// What each stretch is of, as far as it has room: `|random-read-qd1 |log-write`; `None`
/// where none has.
fn names(shown: &[&Moment], look: &Look) -> Option<String> {
    let is_start = |place: &usize| {
        let moment = shown[*place];
        *place == 0 || moment.begins || moment.of != shown[place - 1].of
    };
    let starts: Vec<usize> = (0..shown.len()).filter(is_start).collect();
    let ends = starts.iter().skip(1).copied().chain([shown.len()]);
    let mut text = String::new();
    let mut is_told = false;
    for (start, end) in starts.iter().zip(ends) {
        let room = (end - start).saturating_sub(1);
        let name = look.clean(&shown[*start].of).into_owned();
        // Less than that tells no stage from another.
        let name = if room >= 4 || columns(&name) <= room {
            cut(&name, room)
        } else {
            String::new()
        };
        is_told |= !name.is_empty();
        let pad = room - columns(&name);
        text.push('|');
        text.push_str(&name);
        text.push_str(&" ".repeat(pad));
    }
    is_told.then_some(text)
}

/// Logarithmic, in whole powers of ten, from bottom to top.
struct Axis {
    from: f64,
    to: f64,
    rows: usize,
}

impl Axis {
    fn of(shown: &[&Moment], rows: usize) -> Option<Self> {
        let seen = shown.iter().flat_map(|moment| &moment.latencies);
        let seen = seen.filter(|bucket| bucket.count > 0);
        let (low, high) = seen.fold((u64::MAX, 0), |(low, high), bucket| {
            (low.min(bucket.from), high.max(bucket.to))
        });
        if low > high {
            return None;
        }
        let from = (low.max(1) as f64).log10().floor();
        let to = (high.max(1) as f64).log10().ceil().max(from + 1.0);
        Some(Self { from, to, rows })
    }

    fn row(&self, ns: f64) -> usize {
        let share = (ns.max(1.0).log10() - self.from) / (self.to - self.from);
        ((share * self.rows as f64) as usize).min(self.rows - 1)
    }

    /// The power of ten that lies in a row, if one does: `.1ms`.
    fn label(&self, row: usize) -> String {
        let powers = self.from as i32..self.to as i32;
        let mut within = powers.filter(|power| self.row(10_f64.powi(*power) * 1.0001) == row);
        within.next().map_or_else(String::new, decade)
    }

    fn shade(&self, moment: &Moment, row: usize, look: &Look) -> char {
        let all: u64 = moment.latencies.iter().map(|bucket| bucket.count).sum();
        // What lies across rows counts for that of its middle, on the axis.
        let middle = |bucket: &Bucket| ((bucket.from.max(1) as f64) * bucket.to as f64).sqrt();
        let here = moment.latencies.iter();
        let here = here.filter(|bucket| self.row(middle(bucket)) == row);
        let here = here.map(|bucket| bucket.count).sum();
        shade(here, all, look)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(of: &str, per_s: f64, latencies: &[(u64, u64)]) -> Moment {
        Moment {
            of: of.into(),
            begins: false,
            per_s: Some(per_s),
            latencies: latencies
                .iter()
                .map(|(ns, count)| Bucket {
                    from: *ns,
                    to: *ns,
                    count: *count,
                })
                .collect(),
        }
    }

    fn shown(course: &Course, width: usize, height: usize) -> Vec<String> {
        let lines = course.lines(&Look::default(), width, height);
        let text =
            |line: &Line| {
                let mut buffer = ratatui_core::buffer::Buffer::empty(
                    ratatui_core::layout::Rect::new(0, 0, width as u16, 1),
                );
                line.draw(&Look::default(), &mut buffer, 0);
                let cells = buffer.content().iter();
                let text: String = cells.map(ratatui_core::buffer::Cell::symbol).collect();
                text.trim_end().to_owned()
            };
        lines.iter().map(text).collect()
    }

    #[test]
    fn each_latency_stands_in_the_row_of_its_time_and_the_rate_above_it() {
        let mut course = Course::default();
        course.push(moment("a", 50.0, &[(20_000, 100)]));
        course.push(moment("a", 100.0, &[(20_000, 98), (5_000_000, 2)]));
        course.push(moment("b", 10.0, &[(300_000, 1), (400_000, 1)]));
        assert_eq!(
            shown(&course, 12, 5),
            [
                " rate =@@",
                "  1ms  :",
                " .1ms   #",
                " 10us ##",
                "      |a|"
            ]
        );
        // A name has room, or at least its beginning.
        for _ in 0..4 {
            course.push(moment("random", 1.0, &[]));
        }
        assert_eq!(shown(&course, 20, 5)[4], "      |a||");
        course.push(moment("random", 1.0, &[]));
        assert_eq!(shown(&course, 20, 5)[4], "      |a||rand");
    }

    #[test]
    fn only_the_last_moments_that_have_room_are_shown() {
        let mut course = Course::default();
        for rate in 1..=600 {
            course.push(moment("a", f64::from(rate), &[(1_000, 1)]));
        }
        assert_eq!(course.moments.len(), KEPT);
        let lines = shown(&course, 16, 4);
        assert_eq!(lines[0], " rate @@@@@@@@@@");
        assert!(shown(&course, 16, 2).is_empty());
        assert!(shown(&Course::default(), 16, 8).is_empty());
    }

    #[test]
    fn what_is_rare_is_seen_and_what_is_often_is_darker() {
        let mut course = Course::default();
        let all = [(1_000, 1), (10_000, 30), (100_000, 200), (1_000_000, 769)];
        course.push(moment("a", 1.0, &all));
        let rows = shown(&course, 10, 5);
        let cells: Vec<&str> = rows[1..5].iter().map(|row| &row[6..]).collect();
        assert_eq!(cells, ["#", "+", ":", "."]);
    }
}
