//! Hosts read what a neighbour wrote, so that their own memory does not serve it; and the
//! neighbour is the same machine, whose memory did.

use crate::words::percent;
use diskfacts_record::together::{Merged, MergedHost};
use diskfacts_record::{Confidence, Finding, Severity};

/// Share of a stage that came from the page cache from which on it is said: a tenth is more than
/// metadata.
const SERVED: f64 = 0.1;

pub(super) fn claim(merged: &Merged) -> Option<Finding> {
    if merged.shift == 0 {
        return None;
    }
    let of_rank = |rank: u32| merged.hosts.iter().find(|host| host.rank == Some(rank));
    let neighbour = |host: &MergedHost| {
        let whose = (u64::from(host.rank?) + u64::from(merged.shift))
            % u64::from(merged.hosts_expected.max(1));
        of_rank(u32::try_from(whose).ok()?)
    };
    let pairs: Vec<String> = merged
        .hosts
        .iter()
        .filter_map(|host| {
            let other = neighbour(host)?;
            let one = host.boot_id.is_some() && host.boot_id == other.boot_id;
            one.then(|| format!("{} and {}", host.host, other.host))
        })
        .collect();
    let served: Vec<_> = merged
        .stages
        .iter()
        .filter(|stage| stage.layers.page_cache >= SERVED)
        .collect();
    if pairs.is_empty() || served.is_empty() {
        return None;
    }
    let lines = served.iter().map(|stage| {
        let share = percent(stage.layers.page_cache);
        format!(
            "{share} of the bytes of {} came from the page cache.",
            stage.stage
        )
    });
    Some(Finding {
        rule: String::new(),
        severity: Severity::Warning,
        headline: "what was read lay in the readers' own memory".to_owned(),
        claim: format!(
            "{} are one machine each time, so what one wrote the other read from the page cache \
             that both have",
            super::some(&pairs)
        ),
        evidence: lines.collect(),
        confidence: Confidence::Certain,
        refuted_by: "The same rate with direct I/O, which no page cache serves".to_owned(),
        remedy:
            "Shift by as many ranks as a machine has, `--shift=N`, or start one on each machine"
                .to_owned(),
        stages: served.iter().map(|stage| stage.stage.clone()).collect(),
    })
}
