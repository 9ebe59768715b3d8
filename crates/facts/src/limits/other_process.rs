//! Others used the device while the stage ran, and took a good part of it; or they
//! had the processors, and operations that were done waited for one.

use super::prelude::*;
use crate::beside;
use crate::blocked::By;
use crate::journal::Commits;
use crate::neighbours;
use crate::stage_facts::processor_taken::ProcessorTaken;
use crate::stage_facts::shared_device::{Discards, SharedDevice};

pub(super) const LIMITER: Limiter = Limiter {
    name: "other-process",
    find: others_take_part,
    ..Limiter::ANY
};

/// Share of all processors' time that is idle while threads that may run anywhere wait, at most:
/// one that waits is moved to a processor that is idle at the next tick.
const FREE: f64 = 0.25;
/// Discards of which the mean time is known.
const DISCARDS: u64 = 10;

fn others_take_part(facts: &StageFacts<'_>) -> Option<Candidate> {
    // The largest of them.
    let each = [
        planned,
        on_device,
        on_journal,
        on_log,
        by_discards,
        on_processors,
    ];
    let found = each.into_iter().filter_map(|of| of(facts));
    found.min_by(Candidate::best_first)
}

/// What the plan has run beside it: what that costs was measured, as far as the stage was
/// measured alone too.
fn planned(facts: &StageFacts<'_>) -> Option<Candidate> {
    let (share, line) = beside::cost(facts)?;
    let claim = format!(
        "What ran beside it, as planned, cost {} of the rate that it has alone.",
        percent(share)
    );
    let found = cause(share, Certain, claim);
    Some(found.evidence([line]).case("planned"))
}

/// Others used the device.
fn on_device(facts: &StageFacts<'_>) -> Option<Candidate> {
    let shared = SharedDevice::of(facts)?;
    let claim = format!(
        "Others used {} meanwhile: {} of its work was theirs.",
        shared.names,
        percent(shared.of_work)
    );
    let planted = "Take the neighbour out of the simulated computer.";
    let found = cause(shared.share?, Likely, claim)
        .evidence(shared.evidence)
        .remedy_if(is_simulated(facts.run()).then_some(planted));
    Some(found)
}

/// Others discarded blocks of the devices: their time beside that of reads and writes.
fn by_discards(facts: &StageFacts<'_>) -> Option<Candidate> {
    let Discards {
        names,
        number,
        total_ns,
        share,
    } = Discards::of(facts)?;
    unless(number < DISCARDS || share.is_nan() || share < WORTH_A_WORD)?;
    let claim = format!(
        "Others discarded blocks of {names} (trim): {} of the time of its requests.",
        percent(share)
    );
    let line = format!(
        "{} were counted, {} each on average.",
        count(number, "discard"),
        duration(total_ns / number as f64)
    );
    Some(cause(share, Likely, claim).evidence([line]).case("trims"))
}

/// Others synced files on the same filesystem: a journal commits for all, one commit after the
/// other, each with a flush of its own.
fn on_journal(facts: &StageFacts<'_>) -> Option<Candidate> {
    unless(!facts.only_writes())?;
    let commits = Commits::beside(facts.trials(), facts.run())?;
    let (others, own) = (commits.others() as f64, commits.syncs as f64);
    // A commit of btrfs takes as long as many syncs; one of another journal has flushes of its own.
    let (share, theirs) = if let Some(of_time) = commits.of_time {
        let share = of_time * others / commits.all as f64;
        (share, "of the time it committed for them")
    } else {
        let all = facts.flushes().map(|(_, for_each)| for_each * facts.ops());
        let by_flushes = all.map_or(0.0, |all| 1.0 - (own + commits.own_max as f64) / all);
        let share = by_flushes.max(others / (others + own));
        (share, "of its commits and flushes were theirs")
    };
    let line = format!(
        "The journal committed {} times, of which the {} syncs of the stage and its timer asked for \
         {} at most.",
        commits.all, commits.syncs, commits.own_max
    );
    others_synced(facts, share, theirs, line)
}

/// A sync of the only stream waited for the log of btrfs, which was being written for others: they
/// share one log, and its next part waits for the one before.
fn on_log(facts: &StageFacts<'_>) -> Option<Candidate> {
    let looks = facts.looks().filter(|looks| looks.often(By::LogOfOthers))?;
    let what = "in `wait_log_commit`, where a sync waits for another's.";
    let line = looks.saw(looks.by(By::LogOfOthers), what);
    let theirs = "of the time a sync waited for the log of theirs";
    others_synced(facts, looks.share(By::LogOfOthers), theirs, line)
}

/// Others synced files: so large a share of what the claim names.
fn others_synced(
    facts: &StageFacts<'_>,
    share: f64,
    theirs: &str,
    line: String,
) -> Option<Candidate> {
    let filesystem = facts.run().stack.filesystem.as_ref()?;
    let claim = format!(
        "Others synced files on {} ({}): {} {theirs}.",
        filesystem.mount_point,
        filesystem.kind,
        percent(share)
    );
    let found = cause(share, Likely, claim)
        .evidence([line])
        .evidence(neighbours::on_storage(facts.trials()))
        .case("synced");
    Some(found)
}

/// Others had the processors.
fn on_processors(facts: &StageFacts<'_>) -> Option<Candidate> {
    let taken = ProcessorTaken::of(facts).filter(|taken| taken.share >= WORTH_A_WORD)?;
    let what = if taken.device > 0.0 {
        "operations that the device had done"
    } else {
        "operations"
    };
    let (whose, remedy) = if taken.idle <= FREE {
        (
            "of this machine",
            "Find who it is with `top`, and stop it; or give the measurement precedence with \
             `nice -n -20` as root.",
        )
    } else {
        (
            "that this process may use",
            "Others of the machine are idle: look at `taskset -p PID` and the cpuset of its control \
             group (`cpuset.cpus`), or find who it is with `top`.",
        )
    };
    let claim = format!(
        "Others had the processors {whose}: {what} waited for one in {} of the time.",
        percent(taken.share)
    );
    let found = cause(taken.share, Likely, claim)
        .evidence(taken.evidence)
        .evidence(neighbours::on_processors(facts.trials(), facts.seconds()))
        .case("processors")
        .remedy(remedy);
    Some(found)
}
