//! Whom the root waits for before a trial and at its end, told while it waits.

use std::time::Duration;

/// A wait that nobody notices.
const SHORT: Duration = Duration::from_secs(2);
/// Between one telling and the next.
const AGAIN: Duration = Duration::from_secs(5);

/// What was told of those that are waited for.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Since when this host is ready and others are not.
    since: Option<Duration>,
    /// When they were told, and who they were.
    told: Option<(Duration, Vec<String>)>,
    /// What they are not, as it was last told.
    state: &'static str,
}

impl Waiting {
    /// What to tell now of those that are waited for, until they are in this state; `now` counts
    /// from anywhere.
    pub(super) fn line(
        &mut self,
        (hosts, state): (Vec<String>, &'static str),
        now: Duration,
    ) -> Option<String> {
        if hosts.is_empty() {
            self.since = None;
            let told = self.told.take();
            return told.map(|_| format!("all hosts are {}", self.state));
        }
        self.state = state;
        let waited = now.saturating_sub(*self.since.get_or_insert(now));
        let due = match &self.told {
            None => waited >= SHORT,
            Some((when, who)) => *who != hosts && now.saturating_sub(*when) >= AGAIN,
        };
        due.then(|| {
            let line = format!(
                "waiting for {}, not {state} for {} s",
                hosts.join(", "),
                waited.as_secs()
            );
            self.told = Some((now, hosts));
            line
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(waiting: &mut Waiting, hosts: &[&str], at: u64) -> Option<String> {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        waiting.line((hosts, "ready"), Duration::from_secs(at))
    }

    #[test]
    fn who_is_late_is_told_after_a_while_and_again_when_that_changes() {
        let mut waiting = Waiting::default();
        assert_eq!(told(&mut waiting, &["c3", "c7"], 10), None);
        assert_eq!(
            told(&mut waiting, &["c3", "c7"], 12).as_deref(),
            Some("waiting for c3, c7, not ready for 2 s")
        );
        assert_eq!(told(&mut waiting, &["c3", "c7"], 60), None);
        assert_eq!(
            told(&mut waiting, &["c7"], 61).as_deref(),
            Some("waiting for c7, not ready for 51 s")
        );
        assert_eq!(
            told(&mut waiting, &[], 62).as_deref(),
            Some("all hosts are ready")
        );
        assert_eq!(told(&mut waiting, &[], 63), None);
    }

    #[test]
    fn who_has_not_ended_a_trial_is_told_so() {
        let mut waiting = Waiting::default();
        let mut told = |hosts: &[&str], at| {
            let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            waiting.line((hosts, "done"), Duration::from_secs(at))
        };
        assert_eq!(told(&["c3"], 10), None);
        let line = told(&["c3"], 13);
        assert_eq!(line.as_deref(), Some("waiting for c3, not done for 3 s"));
        assert_eq!(told(&[], 14).as_deref(), Some("all hosts are done"));
    }

    #[test]
    fn a_wait_that_is_short_is_not_told() {
        let mut waiting = Waiting::default();
        for at in [1, 2, 4] {
            assert_eq!(told(&mut waiting, &["c3"], at), None);
            assert_eq!(told(&mut waiting, &[], at + 1), None);
        }
    }
}
