//! Where the time of an operation went, in a line: only a simulated disk knows.

use super::look::Look;
use diskfacts_record::evidence::TimeParts;
use diskfacts_record::{Run, StageFigures};

/// Parts below this share of the whole are left out.
const SHARE_MIN: f64 = 0.01;

/// `of 8.33 ms per operation: rotation 7.9 ms, transfer 0.3 ms`; `None` of a real
/// disk.
pub(super) fn of_stage(run: &Run, figures: &StageFigures, look: &Look) -> Option<String> {
    let trials = run
        .trials
        .iter()
        .filter(|trial| trial.stage == figures.stage && trial.settings == figures.settings);
    let parts: TimeParts = trials
        .filter_map(|trial| trial.evidence.truth?.time)
        .reduce(|a, b| a.plus(&b))?;
    of(&parts, look)
}

fn of(parts: &TimeParts, look: &Look) -> Option<String> {
    let total_ns = parts.total_ns();
    if parts.operations == 0 || total_ns == 0 {
        return None;
    }
    let mut named = parts.named();
    named.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    let each = |ns: u64| look.duration(ns / parts.operations);
    let said: Vec<String> = named
        .iter()
        .filter(|(_, ns)| *ns as f64 >= SHARE_MIN * total_ns as f64)
        .map(|(name, ns)| format!("{name} {}", each(*ns)))
        .collect();
    Some(format!(
        "of {} per operation: {}",
        each(total_ns),
        said.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Look = Look {
        width: 80,
        colour: false,
        unicode: false,
    };

    #[test]
    fn the_largest_part_comes_first_and_what_is_below_a_percent_is_left_out() {
        let parts = TimeParts {
            operations: 100,
            queue_ns: 8_000_000,
            rotation_ns: 790_000_000,
            transfer_ns: 30_000_000,
            overhead_ns: 5_000_000,
            ..TimeParts::default()
        };
        assert_eq!(
            of(&parts, &LOOK).as_deref(),
            Some("of 8.33 ms per operation: rotation 7.9 ms, transfer 300 us")
        );
    }

    #[test]
    fn no_operations_and_no_time_say_nothing() {
        assert_eq!(of(&TimeParts::default(), &LOOK), None);
        let free = TimeParts {
            operations: 5,
            ..TimeParts::default()
        };
        assert_eq!(of(&free, &LOOK), None);
    }
}
