//! What the calls of an NFS client took that an operation waits for.

use diskfacts_record::Trial;
use diskfacts_record::evidence::NfsCalls;

/// Calls of a trial, for each of its operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Calls {
    /// READ and WRITE calls; COMMIT calls ask for no bytes.
    pub(super) of_data: f64,
    /// Time of all of them in the client before they were sent, ns.
    pub(super) queued_ns: f64,
    /// Time from sending to the answer, ns.
    pub(super) round_trip_ns: f64,
}

/// READ calls of a trial that reads, and WRITE calls of one that writes.
pub(crate) fn calls_of_data(trial: &Trial) -> impl Iterator<Item = NfsCalls> {
    let (nfs, operation) = (trial.evidence.nfs.as_ref(), trial.workload.operation);
    let reads = nfs.and_then(|nfs| nfs.reads.filter(|_| operation.reads()));
    let writes = nfs.and_then(|nfs| nfs.writes.filter(|_| operation.writes()));
    reads.into_iter().chain(writes)
}

impl Calls {
    /// As the client of the target's mount counted them; `None` of other filesystems, and where
    /// no call was made. Those of others who use the mount are among them.
    pub(super) fn of(trial: &Trial) -> Option<Self> {
        let of_data: Vec<NfsCalls> = calls_of_data(trial).collect();
        let commits = trial.evidence.nfs.as_ref()?.commits;
        let commits = commits.filter(|_| trial.workload.operation.writes());
        let sum = |of: fn(&NfsCalls) -> u64| -> f64 {
            of_data
                .iter()
                .chain(&commits)
                .map(|one| of(one) as f64)
                .sum()
        };
        let ops = trial.ops as f64;
        let calls: u64 = of_data.iter().map(|one| one.calls).sum();
        (ops > 0.0 && calls > 0).then(|| Self {
            of_data: calls as f64 / ops,
            queued_ns: sum(|one| one.queued_ns) / ops,
            round_trip_ns: sum(|one| one.round_trip_ns) / ops,
        })
    }
}
