//! Times in which the process that measures did not run: what is silent then is no device.

use diskfacts_record::Trial;

/// Pauses of one trial or several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pauses {
    /// How many.
    pub(crate) number: u64,
    /// All of them, ns.
    pub(crate) total_ns: u64,
    /// The longest, ns.
    pub(crate) longest_ns: u64,
}

impl Pauses {
    /// Those of these trials, as far as they are known.
    pub(crate) fn of<'a>(trials: impl Iterator<Item = &'a Trial>) -> Self {
        let each = trials.flat_map(|trial| trial.evidence.engine.pauses.iter().flatten());
        each.fold(Self::default(), |sum, pause| Self {
            number: sum.number + 1,
            total_ns: sum.total_ns.saturating_add(pause.ns),
            longest_ns: sum.longest_ns.max(pause.ns),
        })
    }
}

/// How much of the time from `begins_ns` to `ends_ns` of a trial was paused, ns.
pub(crate) fn within(trial: &Trial, begins_ns: u64, ends_ns: u64) -> u64 {
    let each = trial.evidence.engine.pauses.iter().flatten();
    each.map(|pause| {
        let ends = pause.begins_ns.saturating_add(pause.ns).min(ends_ns);
        ends.saturating_sub(pause.begins_ns.max(begins_ns))
    })
    .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use diskfacts_record::evidence::Pause;

    #[test]
    fn what_is_paused_of_a_time_is_what_both_have() {
        let mut trial = testing::healthy().trials.remove(0);
        assert_eq!(within(&trial, 0, 100), 0);
        let pause = |begins_ns, ns| Pause { begins_ns, ns };
        trial.evidence.engine.pauses = Some(vec![pause(10, 20), pause(50, 100)]);
        assert_eq!(within(&trial, 0, 10), 0);
        assert_eq!(within(&trial, 0, 60), 30);
        assert_eq!(within(&trial, 20, 1000), 110);
        let of = Pauses::of([&trial].into_iter());
        assert_eq!((of.number, of.total_ns, of.longest_ns), (2, 120, 100));
    }
}
