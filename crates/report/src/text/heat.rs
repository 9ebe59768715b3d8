//! A heat map in characters: columns are times, rows are bands of latency on a logarithmic
//! axis, and a cell is darker the more of its column's operations it has.

use super::look::Look;
use diskfacts_record::CoarseHistogram;

/// Most bands of latency.
const BANDS: usize = 12;
/// Columns of a band's label, and of the line beside it.
pub(super) const LABEL: usize = 10;
/// Most characters that a column is wide.
const WIDEST: usize = 4;
/// Share of the operations of a column from which on a cell has the second, the third and
/// the fourth shade; the first has any. A slow one in a hundred is seen.
pub(crate) const LEVELS: [f64; 3] = [0.01, 0.1, 0.5];

/// The bands of an axis, by where each begins, nanoseconds, in rising order.
pub(crate) struct Axis(pub(crate) Vec<u64>);

impl Axis {
    /// The finest axis of at most [`BANDS`] bands that holds all of it; `None` where there is
    /// nothing to hold.
    pub(crate) fn of(all: &CoarseHistogram) -> Option<Self> {
        let middles: Vec<u64> = all.buckets().map(middle).collect();
        let (low, high) = (*middles.first()?, *middles.last()?);
        let buckets = || {
            let [first, last] = [low, high].map(CoarseHistogram::index);
            (first..=last).map(CoarseHistogram::lowest).collect()
        };
        let steps: [&[u64]; 3] = [&[10, 15, 20, 30, 50, 70], &[10, 20, 50], &[10]];
        let axes = std::iter::once(buckets()).chain(steps.map(|steps| edges(steps, low, high)));
        axes.reduce(|finest, next| if finest.len() > BANDS { next } else { finest })
            .map(Self)
    }

    /// Which band holds a latency of it.
    fn band(&self, ns: u64) -> usize {
        self.0.partition_point(|edge| *edge <= ns).saturating_sub(1)
    }

    /// The operations of a column in each band.
    pub(crate) fn counts(&self, column: &CoarseHistogram) -> Vec<u64> {
        let mut counts = vec![0; self.0.len()];
        for bucket in column.buckets() {
            counts[self.band(middle(bucket))] += bucket.2;
        }
        counts
    }
}

/// The latency that stands for a bucket.
fn middle((low, high, _): (u64, u64, u64)) -> u64 {
    low + (high - low) / 2
}

/// Tenths of each power of ten, from the last that is no more than `low` to `high`.
fn edges(tenths: &[u64], low: u64, high: u64) -> Vec<u64> {
    let powers = (0..20).map_while(|power| 10_u64.checked_pow(power));
    let all = powers.flat_map(|power| {
        let each = tenths.iter().copied();
        // Below 10 ns the tenths are no whole nanoseconds; the bands there are as wide as
        // what can be told apart.
        each.filter_map(move |tenth| Some(tenth.checked_mul(power)? / 10))
    });
    let mut edges: Vec<u64> = all.filter(|edge| *edge <= high).collect();
    edges.dedup();
    let below = edges.partition_point(|edge| *edge <= low);
    if below == 0 {
        edges.insert(0, 0);
    }
    edges.split_off(below.saturating_sub(1))
}

/// What the characters mean.
pub(super) fn legend(look: &Look) -> String {
    let shades = shades(look);
    let [second, third, fourth] = LEVELS.map(|share| (share * 100.0).round());
    format!(
        "Share of a column's operations: {} any, {} from {second} %, {} from {third} %, {} from \
         {fourth} %.",
        shades[0], shades[1], shades[2], shades[3]
    )
}

/// The shades in their order, the lightest first.
pub(super) fn shades(look: &Look) -> [char; 4] {
    if look.unicode {
        ['░', '▒', '▓', '█']
    } else {
        ['.', ':', '+', '#']
    }
}

/// The cell of so many of a column's operations: blank where there are none.
pub(super) fn shade(here: u64, all: u64, look: &Look) -> char {
    level(here, all).map_or(' ', |level| shades(look)[level])
}

/// Which of the shades that is, the lightest is 0; `None` of none.
pub(crate) fn level(here: u64, all: u64) -> Option<usize> {
    let share = here as f64 / all as f64;
    (here > 0).then(|| LEVELS.iter().filter(|level| share >= **level).count())
}

/// How many neighbours a column of the drawing joins, and how many characters it is wide, so
/// that `columns` of them keep to the width of the page.
pub(super) fn fitted(columns: usize, look: &Look) -> (usize, usize) {
    let room = look.columns() - LABEL - 1;
    let joined = columns.div_ceil(room).max(1);
    let drawn = columns.div_ceil(joined).max(1);
    (joined, (room / drawn).clamp(1, WIDEST))
}

/// The lines of the map, slowest band first: a label, and a cell of `wide` characters for
/// each column. Empty where no column has an operation.
pub(super) fn lines(columns: &[CoarseHistogram], wide: usize, look: &Look) -> Vec<String> {
    let mut all = CoarseHistogram::new();
    for column in columns {
        all.add(column);
    }
    let Some(axis) = Axis::of(&all) else {
        return Vec::new();
    };
    let mut cells = vec![vec![' '; columns.len()]; axis.0.len()];
    for (place, column) in columns.iter().enumerate() {
        let count = column.count();
        for (band, n) in axis.counts(column).into_iter().enumerate() {
            cells[band][place] = shade(n, count, look);
        }
    }
    let line = if look.unicode { '│' } else { '|' };
    let labels = axis.0.iter().map(|ns| look.duration(*ns));
    let rows = labels.zip(&cells).map(|(label, cells)| {
        let cells = cells
            .iter()
            .flat_map(|cell| std::iter::repeat_n(*cell, wide));
        let cells: String = cells.collect();
        let row = format!("{label:>width$} {line}{cells}", width = LABEL - 1);
        row.trim_end().to_owned()
    });
    rows.rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Look = Look {
        width: 80,
        colour: false,
        unicode: false,
    };

    fn of(latencies: &[(u64, u64)]) -> CoarseHistogram {
        let mut histogram = CoarseHistogram::new();
        for (ns, n) in latencies {
            histogram.count_at(CoarseHistogram::index(*ns), *n);
        }
        histogram
    }

    #[test]
    fn a_cell_is_darker_the_more_operations_of_its_column_it_has() {
        let usual = of(&[(110_000, 995), (210_000, 5)]);
        let columns = [
            usual.clone(),
            of(&[]),
            of(&[(110_000, 40), (55_000_000, 60)]),
            of(&[(110_000, 85), (1_050_000, 15)]),
        ];
        let expected = [
            "    50 ms |    ##",
            "    20 ms |",
            "    10 ms |",
            "     5 ms |",
            "     2 ms |",
            "     1 ms |      ++",
            "   500 us |",
            "   200 us |..",
            "   100 us |##  ++##",
        ];
        assert_eq!(lines(&columns, 2, &LOOK), expected);
        assert_eq!(lines(&[of(&[])], 2, &LOOK), [""; 0]);
    }

    #[test]
    fn the_axis_is_as_fine_as_there_is_room_for() {
        let edges = |low, high| {
            Axis::of(&of(&[(low, 1), (high, 1)]))
                .expect("it holds some")
                .0
        };
        assert_eq!(edges(1_000, 1_000), [960]);
        assert_eq!(edges(1_000, 1_200), [960, 1_024, 1_152]);
        assert_eq!(
            edges(30_000, 170_000),
            [20_000, 30_000, 50_000, 70_000, 100_000, 150_000]
        );
        assert_eq!(edges(1, 2_000_000_000).len(), 10);
        assert_eq!(edges(0, 50_000_000)[..3], [0, 1, 10]);
        let all = Axis::of(&of(&[(0, 1), (u64::MAX, 1)])).expect("it holds some");
        assert!(all.0.len() > BANDS && all.band(u64::MAX) == all.0.len() - 1);
    }

    #[test]
    fn many_columns_are_joined_and_few_are_wide() {
        assert_eq!(fitted(64, &LOOK), (1, 1));
        assert_eq!(fitted(33, &LOOK), (1, 2));
        assert_eq!(fitted(5, &LOOK), (1, 4));
        assert_eq!(fitted(1, &LOOK), (1, 4));
        assert_eq!(fitted(64, &Look { width: 40, ..LOOK }), (3, 1));
        assert_eq!(fitted(64, &Look { width: 200, ..LOOK }), (1, 2));
    }
}
