//! Who was lost, and when.

use diskfacts_record::together::LostHost;

/// Hosts that were lost, as the root knows them.
#[derive(Debug, Default)]
pub(super) struct LostHosts {
    /// While there was a trial that they are missing in.
    pub(super) in_trials: Vec<LostHost>,
    /// When all trials were over: they did them, and it may be that their runs have not come.
    pub(super) behind_them: Vec<LostHost>,
}

impl LostHosts {
    /// Notes a host by its rank, with its name and how its loss was seen, while the trial of this
    /// order was under way: 0 before the first, `None` when all are over. Once.
    pub(super) fn note(
        &mut self,
        rank: Option<u32>,
        (host, why): (&str, &str),
        order: Option<u32>,
    ) {
        let mut known = self.in_trials.iter().chain(&self.behind_them);
        if known.any(|known| known.rank == rank) {
            return;
        }
        // Who did all trials is missing in none; in the sum it is where its run did not come.
        let (list, why) = if order.is_some() {
            (&mut self.in_trials, why.to_owned())
        } else {
            let why = format!("{why}, when all was measured and before its run came");
            (&mut self.behind_them, why)
        };
        list.push(LostHost {
            host: host.to_owned(),
            from_order: order.filter(|order| *order > 0),
            why,
            rank,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_did_all_trials_is_missing_in_none_and_known_once() {
        let mut lost = LostHosts::default();
        for (rank, order) in [(3, Some(0)), (4, Some(2)), (5, None), (4, None)] {
            lost.note(Some(rank), ("c", "silent"), order);
        }
        let of = |list: &[LostHost]| -> Vec<_> {
            list.iter()
                .map(|host| (host.rank, host.from_order))
                .collect()
        };
        assert_eq!(of(&lost.in_trials), [(Some(3), None), (Some(4), Some(2))]);
        assert_eq!(of(&lost.behind_them), [(Some(5), None)]);
    }
}
