//! Operations within a window of time, from counters over intervals.
//!
//! An interval that lies partly within the window counts for that part, as if its operations had
//! completed evenly. They may have completed all on one side of the edge: the uncertainty is how
//! many that would be, at most.

use diskfacts_record::evidence::Intervals;

/// Operations within a window.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Counted {
    pub(super) ops: f64,
    /// By how many it may be wrong, either way.
    pub(super) uncertainty: f64,
}

impl Counted {
    /// The operations of a host that measured over `span`, and counted them in `intervals` from
    /// its beginning on, within `window`. Both are nanoseconds on one clock, first and last.
    pub(super) fn of(intervals: &Intervals, span: [i64; 2], window: [i64; 2]) -> Self {
        let [start, end] = span.map(i128::from);
        let [from, to] = window.map(i128::from);
        let length = i128::from(intervals.length_ns.max(1));
        let mut counted = Self::default();
        let mut begins = start;
        let last = intervals.operations.len().saturating_sub(1);
        for (place, n) in intervals.operations.iter().enumerate() {
            let mut ends = begins.saturating_add(length);
            if place == last {
                // The trial ended in it; what ended behind it is a sync, and no operation.
                ends = ends.min(end.max(begins + 1));
            }
            let within = ends.min(to) - begins.max(from);
            if within > 0 {
                let n = *n as f64;
                let share = within as f64 / (ends - begins) as f64;
                counted.ops += n * share;
                if share < 1.0 {
                    counted.uncertainty += n * share.max(1.0 - share);
                }
            }
            begins = ends;
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn intervals(operations: &[u64]) -> Intervals {
        Intervals {
            length_ns: 20,
            operations: operations.to_vec(),
        }
    }

    #[test]
    fn what_lies_within_counts_whole_and_what_an_edge_cuts_in_part() {
        let intervals = intervals(&[10, 20, 30]);
        let of = |from, to| Counted::of(&intervals, [1000, 1060], [from, to]);
        assert_eq!(
            (of(1000, 1060).ops, of(1000, 1060).uncertainty),
            (60.0, 0.0)
        );
        assert_eq!(
            (of(1020, 1040).ops, of(1020, 1040).uncertainty),
            (20.0, 0.0)
        );
        // A quarter of the second: it was all of it, or none.
        assert_eq!(
            (of(1020, 1025).ops, of(1020, 1025).uncertainty),
            (5.0, 15.0)
        );
        assert_eq!(of(0, 1000), Counted::default());
        assert_eq!(of(1060, 2000), Counted::default());
    }

    #[test]
    fn the_last_interval_ends_where_the_trial_does() {
        let counted = Counted::of(&intervals(&[10, 6]), [0, 25], [20, 25]);
        assert_eq!((counted.ops, counted.uncertainty), (6.0, 0.0));
        // The final sync took longer, and has no operations.
        let counted = Counted::of(&intervals(&[10, 6]), [0, 500], [0, 30]);
        assert_eq!((counted.ops, counted.uncertainty), (13.0, 3.0));
    }

    proptest! {
        #[test]
        fn windows_side_by_side_have_all_operations(
            operations in prop::collection::vec(0_u64..1000, 1..50),
            length_ns in 1_u64..1_000_000,
            start in -1_000_000_000_i64..1_000_000_000,
            cut in 0.0_f64..1.0,
        ) {
            let intervals = Intervals { length_ns, operations };
            let all: u64 = intervals.operations.iter().sum();
            let number = i64::try_from(intervals.operations.len()).expect("at most 50");
            let length = length_ns.cast_signed() * number;
            let (end, at) = (start + length, start + (length as f64 * cut) as i64);
            let left = Counted::of(&intervals, [start, end], [start, at]);
            let right = Counted::of(&intervals, [start, end], [at, end]);
            prop_assert!((left.ops + right.ops - all as f64).abs() < 1e-6);
            let whole = Counted::of(&intervals, [start, end], [start, end]);
            prop_assert_eq!((whole.ops, whole.uncertainty), (all as f64, 0.0));
        }

        #[test]
        fn no_times_are_too_wild(
            operations in prop::collection::vec(any::<u64>(), 0..10),
            length_ns in any::<u64>(), span in any::<[i64; 2]>(),
            window in any::<[i64; 2]>(),
        ) {
            let counted = Counted::of(&Intervals { length_ns, operations }, span, window);
            prop_assert!(counted.ops.is_finite() && counted.uncertainty.is_finite());
            prop_assert!(counted.ops >= 0.0);
        }
    }
}
