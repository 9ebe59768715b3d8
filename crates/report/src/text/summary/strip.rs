//! A latency distribution in a strip of characters, on one logarithmic axis for all stages:
//! from the shortest to the median, to the 99th percentile, to the 99.9th, to the longest.

use super::super::look::Look;
use diskfacts_record::Latency;

/// From where to where the axis goes, as powers of ten of a nanosecond.
pub(super) struct Axis {
    from: f64,
    to: f64,
    width: usize,
}

/// Characters of the parts of a strip.
struct Pen {
    thin: char,
    median: char,
    thick: char,
    line: char,
}

const DRAWN: Pen = Pen {
    thin: '·',
    median: '█',
    thick: '━',
    line: '─',
};
const ASCII: Pen = Pen {
    thin: '.',
    median: '#',
    thick: '=',
    line: '-',
};

impl Axis {
    /// An axis on which all of these have room; `None` where none is known.
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a Latency>, width: usize) -> Option<Self> {
        let ends = all.flat_map(|latency| {
            let all = [latency.min, latency.p50, latency.max];
            all.into_iter().flatten()
        });
        let (from, to) = ends.fold((u64::MAX, 0), |(low, high), ns| (low.min(ns), high.max(ns)));
        // Without a part of a decade there is nothing to draw.
        let (from, to) = ((from.max(1) as f64).log10(), (to.max(1) as f64).log10());
        (width > 1 && to >= from).then(|| Self {
            from: from.floor(),
            to: to.ceil().max(from.floor() + 1.0),
            width,
        })
    }

    fn column(&self, ns: f64) -> usize {
        let share = (ns.max(1.0).log10() - self.from) / (self.to - self.from);
        let last = (self.width - 1) as f64;
        // Within the axis by how it was made.
        (share * last).round().clamp(0.0, last) as usize
    }

    /// Labels of the decades, as many as have room, each beginning in the column of its decade.
    pub(super) fn head(&self) -> String {
        let mut head = vec![' '; self.width];
        let mut free = 0;
        let decades = self.from as i32..=self.to as i32;
        for power in decades {
            let label = label(power);
            let start = self.column(10_f64.powi(power));
            if start < free || start + label.len() > self.width {
                continue;
            }
            for (i, c) in label.chars().enumerate() {
                head[start + i] = c;
            }
            free = start + label.len() + 1;
        }
        head.into_iter().collect()
    }

    /// The strip of a distribution; empty where nothing is known of it.
    pub(super) fn draw(&self, latency: &Latency, look: &Look) -> String {
        let pen = if look.unicode { &DRAWN } else { &ASCII };
        let mut strip = vec![' '; self.width];
        let at = |ns: Option<u64>| ns.map(|ns| self.column(ns as f64));
        let Some(median) = at(latency.p50) else {
            return String::new();
        };
        let mut from = median;
        for (to, c) in [
            (at(latency.p99), pen.thick),
            (at(latency.p99_9), pen.line),
            (at(latency.max), pen.thin),
        ] {
            if let Some(to) = to {
                strip[from..=to.max(from)].fill(c);
                from = to.max(from);
            }
        }
        // What a later part began on belongs to the one before.
        for (to, c) in [(at(latency.p99_9), pen.line), (at(latency.p99), pen.thick)] {
            if let Some(to) = to {
                strip[to] = c;
            }
        }
        if let Some(min) = at(latency.min) {
            strip[min.min(median)..median].fill(pen.thin);
        }
        strip[median] = pen.median;
        strip.into_iter().collect()
    }
}

/// A power of ten of a nanosecond: `10us`, `.1ms`.
pub(in crate::text) fn label(power: i32) -> String {
    let unit = ["ns", "us", "ms", "s", "ks"];
    let (thousands, rest) = (power.div_euclid(3), power.rem_euclid(3));
    let of = |thousands: i32| unit[(thousands.max(0) as usize).min(unit.len() - 1)];
    match rest {
        0 => format!("1{}", of(thousands)),
        1 => format!("10{}", of(thousands)),
        _ => format!(".1{}", of(thousands + 1)),
    }
}

/// What the characters mean, for a legend.
pub(super) fn legend(look: &Look) -> String {
    let pen = if look.unicode { &DRAWN } else { &ASCII };
    format!(
        "latency: {} from the least, {} median, {} to p99, {} to p99.9, {} to the most",
        pen.thin, pen.median, pen.thick, pen.line, pen.thin
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Look = Look {
        width: 80,
        colour: false,
        unicode: false,
    };

    fn latency(min: u64, p50: u64, p99: u64, p99_9: u64, max: u64) -> Latency {
        Latency {
            min: Some(min),
            p50: Some(p50),
            p99: Some(p99),
            p99_9: Some(p99_9),
            max: Some(max),
            ..Latency::default()
        }
    }

    #[test]
    fn each_percentile_stands_in_the_column_of_its_time() {
        let wide = latency(100, 1_000, 10_000, 100_000, 1_000_000);
        let axis = Axis::of([&wide].into_iter(), 13).unwrap();
        assert_eq!(axis.head(), ".1us  10us   ");
        assert_eq!(axis.draw(&wide, &LOOK), "...#===---...");
    }

    #[test]
    fn what_is_always_the_same_is_a_point_and_what_is_unknown_nothing() {
        let same = latency(1_530, 1_530, 1_530, 1_530, 1_530);
        let axis = Axis::of([&same].into_iter(), 9).unwrap();
        assert_eq!(axis.draw(&same, &LOOK).trim(), "#");
        assert_eq!(axis.draw(&Latency::default(), &LOOK), "");
        assert!(Axis::of([&Latency::default()].into_iter(), 9).is_none());
    }

    #[test]
    fn a_percentile_that_is_not_known_is_left_out() {
        let few = Latency {
            p99: None,
            p99_9: None,
            ..latency(1_000, 10_000, 0, 0, 100_000)
        };
        let axis = Axis::of([&few].into_iter(), 9).unwrap();
        assert_eq!(axis.draw(&few, &LOOK), "....#....");
    }

    #[test]
    fn powers_of_ten_are_labelled_as_times() {
        let labels = [0, 1, 2, 3, 4, 5, 6, 9, 10].map(label);
        let expected = [
            "1ns", "10ns", ".1us", "1us", "10us", ".1ms", "1ms", "1s", "10s",
        ];
        assert_eq!(labels, expected);
    }
}
