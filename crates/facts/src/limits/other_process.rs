//! Others used the device while the stage ran, and took a good part of it; or they
//! had the processors, and operations that were done waited for one.

use super::prelude::*;
use crate::beside;
use crate::blocked::{By, Looks};
use crate::cpu_quota;
use crate::journal::Commits;
use crate::layers::counted::{self, Direction, roots};
use crate::layers::in_memory;
use crate::neighbours;
use crate::others::{MATTER_BYTES, MATTERS, by_others};
use crate::processor_wait::ProcessorWait;
use crate::stage_facts::processor::{IDLE, Machine};

pub(super) const LIMITER: Limiter = Limiter {
    name: "other-process",
    find: others_take_part,
    ..Limiter::ANY
};

/// Of the time that operations waited, the share that others must have been in user mode.
/// Beside four `dd bs=4k` from `/dev/zero` to `/dev/null` that was half of it, beside
/// loops of a shell all; a `dd bs=1M` is there for a hundredth of its time, and is missed
/// here: then `cpu-kernel` says that the time may be other programs'.
const OTHERS_IN_USER_MODE: f64 = 0.2;
/// Share of all processors' time that is idle while threads that may run anywhere wait, at most:
/// one that waits is moved to a processor that is idle at the next tick.
const FREE: f64 = 0.25;
/// Time of others in user mode, nanoseconds: ten ticks of `/proc/stat`, at 100 a second.
const TICKS_NS: f64 = 1e8;

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
    let found = cause(share, Certain, claim)
        .evidence([line])
        .case("planned");
    Some(found)
}

/// Whether others moved so much on the devices that it is worth a word.
pub(super) fn takes_part(facts: &StageFacts<'_>) -> bool {
    bytes(facts).is_some()
}

/// Bytes of the stage and of others on its devices, where these are worth a word.
fn bytes(facts: &StageFacts<'_>) -> Option<(u64, u64)> {
    let stack = &facts.run().stack;
    let workload = facts.workload();
    unless(
        facts.imported()
            || !facts.moves_blocks()
            || in_memory(stack)
            || workload.cache == CacheMode::Warm
            || workload.beside.is_some(),
    )?;
    let trials = facts.trials();
    let others = trials.iter().map(|trial| by_others(trial, stack).bytes());
    let others: u64 = others.sum();
    let own = facts.stage.sum(|trial| trial.bytes);
    let matters = own > 0
        && others as f64 >= MATTERS * own as f64
        && others / (trials.len() as u64) >= MATTER_BYTES;
    matters.then_some((own, others))
}

/// The devices on which others were seen: those right under the target, or those at the
/// bottom where only these counted more.
fn used_by_others(facts: &StageFacts<'_>) -> String {
    let stack = facts.stack();
    let above = facts.trials().iter().any(|trial| {
        let others = by_others(trial, &facts.run().stack);
        others.read.saturating_add(others.written) > others.beside
    });
    let name = |device: &BlockDevice| device.name.clone();
    let names: Vec<String> = if above {
        roots(stack).map(name).collect()
    } else {
        stack.leaves().map(name).collect()
    };
    list(&names)
}

/// Seconds for which the busiest device of the stack had something to do, of whatever layer:
/// what a loop device holds up need not reach the disk. `None` where nothing was counted.
fn busiest_s(facts: &StageFacts<'_>) -> Option<f64> {
    let of_leaves = facts.device_work()?.busy_s;
    let devices = facts.stack().devices.iter();
    let each = devices.filter_map(|device| Some(facts.work_of(&device.name)?.busy_s));
    Some(each.fold(of_leaves, f64::max))
}

/// Others used the device.
pub(super) fn on_device(facts: &StageFacts<'_>) -> Option<Candidate> {
    let (own, others) = bytes(facts)?;
    let by_bytes = others as f64 / (others + own) as f64;
    let by_requests = requests(facts);
    // A rotating disk takes as long for a small request as for a large one; flash takes
    // time for both, its commands and its bytes.
    let of_work = match (facts.rotates(), by_requests) {
        (Some(true), Some(by_requests)) => by_requests,
        (Some(false), Some(by_requests)) => f64::midpoint(by_bytes, by_requests),
        _ => by_bytes,
    };
    // While the device had nothing to do, nobody was in the way there.
    let busy = busiest_s(facts)? / facts.seconds();
    let share = of_work * busy.min(1.0);
    let [moved, more] = [own, others].map(show_size);
    let evidence = [
        Some(format!(
            "{moved} were moved by the stage, and {more} more by others: {} of the bytes.",
            percent(by_bytes)
        )),
        (busy < 0.99).then(|| {
            format!(
                "The device was at work in {} of the time, so others account for {} of it.",
                percent(busy),
                percent(share)
            )
        }),
        neighbours::on_storage(facts.trials()),
        by_requests.map(|share| {
            let share = percent(share);
            format!("{share} of the requests that the device completed were not the stage's.")
        }),
    ];
    let claim = format!(
        "Others used {} meanwhile: {} of its work was theirs.",
        used_by_others(facts),
        percent(of_work)
    );
    let planted = "Take the neighbour out of the simulated computer.";
    let found = cause(share, Likely, claim)
        .evidence(evidence.into_iter().flatten())
        .remedy_if(is_simulated(facts.run()).then_some(planted));
    Some(found)
}

/// Others discarded blocks of the devices, which no workload does: their time beside that of reads
/// and writes, where the filesystem does not discard what is deleted.
fn by_discards(facts: &StageFacts<'_>) -> Option<Candidate> {
    const LEAST: u64 = 10;
    let filesystem = facts.run().stack.filesystem.as_ref();
    unless(filesystem.is_some_and(|one| one.options.iter().any(|of| of.starts_with("discard"))))?;
    let tops: Vec<&BlockDevice> = roots(facts.stack()).collect();
    let counters = facts
        .trials()
        .iter()
        .flat_map(|trial| &trial.evidence.devices);
    let counters = counters.filter(|one| tops.iter().any(|top| top.name == one.name));
    let (mut number, mut discard_ms, mut all_ms) = (0, 0, 0);
    for one in counters {
        number += one.discards?;
        discard_ms += one.discard_ms?;
        all_ms += one.discard_ms? + one.read_ms + one.write_ms;
    }
    let share = discard_ms as f64 / all_ms as f64;
    unless(number < LEAST || share.is_nan() || share < WORTH_A_WORD)?;
    let names: Vec<String> = tops.iter().map(|top| top.name.clone()).collect();
    let claim = format!(
        "Others discarded blocks of {} (trim): {} of the time of its requests.",
        list(&names),
        percent(share)
    );
    let line = format!(
        "{} were counted, {} each on average.",
        count(number, "discard"),
        duration(discard_ms as f64 * 1e6 / number as f64)
    );
    Some(cause(share, Likely, claim).evidence([line]).case("trims"))
}

/// Commits of the journal while each write is synced, where others asked for a good part of them.
pub(super) fn commits(facts: &StageFacts<'_>) -> Option<Commits> {
    Commits::of(facts.trials(), facts.run()).filter(Commits::are_of_others)
}

/// Others synced files on the same filesystem: a journal commits for all, one commit after the
/// other, each with a flush of its own.
fn on_journal(facts: &StageFacts<'_>) -> Option<Candidate> {
    unless(!facts.only_writes())?;
    let commits = commits(facts)?;
    let (others, own) = (commits.others() as f64, commits.syncs as f64);
    // A commit of btrfs takes as long as many syncs; one of another journal has flushes of its own.
    let timed = commits
        .of_time
        .map(|of_time| of_time * others / commits.all as f64);
    let (share, theirs) = timed.map_or_else(
        || {
            let all = facts.flushes().map(|(_, for_each)| for_each * facts.ops());
            let by_flushes = all.map_or(0.0, |all| 1.0 - (own + commits.own_max as f64) / all);
            let share = by_flushes.max(others / (others + own));
            (share, "of its commits and flushes were theirs")
        },
        |share| (share, "of the time it committed for them"),
    );
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
    let looks = Looks::of(facts.trials().iter().copied())?;
    let (seen, share) = (looks.by(By::LogOfOthers), looks.share(By::LogOfOthers));
    unless(seen < crate::blocked::SEEN_MIN || share < DETAIL)?;
    let line = format!(
        "Of {} looks at the threads, one each 10 ms, {seen} saw one in `wait_log_commit`, where a \
         sync waits for another's.",
        looks.number
    );
    let theirs = "of the time a sync waited for the log of theirs";
    others_synced(facts, share, theirs, line)
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

/// Whether others synced on the same filesystem, by its commits or by its log.
pub(super) fn sync_too(facts: &StageFacts<'_>) -> bool {
    commits(facts).is_some() || on_log(facts).is_some()
}

/// Share of the requests of the devices under the filesystem that were not the
/// stage's, where each of its operations is one request; `None` where that is not
/// known.
fn requests(facts: &StageFacts<'_>) -> Option<f64> {
    let tops: Vec<&BlockDevice> = roots(facts.stack()).collect();
    let largest = tops.iter().filter_map(|device| device.max_request_bytes);
    let workload = facts.workload();
    let is_one = workload.block_size <= largest.min()? && !workload.sync.each_write();
    let trials = facts.trials();
    unless(!is_one || facts.direct() != Some(true))?;
    let counters = trials.iter().flat_map(|trial| &trial.evidence.devices);
    let of_tops = counters.filter(|device| tops.iter().any(|top| top.name == device.name));
    let counted: u64 = of_tops.map(|device| device.reads + device.writes).sum();
    // The devices must have counted at all.
    counted::count(&tops, Direction::Read, &trials.first()?.evidence)?;
    let own = |trial: &Trial| trial.evidence.issued.reads + trial.evidence.issued.writes;
    let own = facts.stage.sum(own);
    (counted > own).then(|| (counted - own) as f64 / counted as f64)
}

/// Others had the processors: the machine was not idle, what this process used of it
/// is a small part, and tasks waited for their turn.
///
/// How long its threads waited is their own account, where the kernel keeps one. Else:
/// a closed loop always has operations in flight, and while the device has none of them
/// and the thread does not run, they wait for a processor, if nothing else holds them. Threads of the kernel that
/// work for the stage (encryption, arrays, completions) are nobody else, and are never in
/// user mode: so others must have been there, for longer than the ticks of `/proc/stat`
/// can be wrong about.
fn on_processors(facts: &StageFacts<'_>) -> Option<Candidate> {
    let workload = facts.workload();
    let own_wait = ProcessorWait::of(facts.stage);
    // Where only the pressure of the machine is known, several streams may wait for each
    // other. And they may wait for the next period of their own group.
    unless(
        workload.rate.is_some()
            || (workload.streams > 1 && own_wait.is_none())
            || cpu_quota::holds_back(facts.stage),
    )?;
    // Threads that are bound to some processors wait while others are idle.
    let machine = Machine::of(facts).filter(|one| own_wait.is_some() || one.idle <= IDLE)?;
    let waited = facts.sum(|trial| Some(trial.evidence.pressure?.cpu_some_ns as f64))?;
    let time = facts.seconds() * 1e9;
    let iops = facts.iops()?;
    let own_user = facts.figures.cpu_user_ns_per_io? * iops / 1e9;
    let own = own_user + facts.figures.cpu_system_ns_per_io? * iops / 1e9;
    let device = (facts.device_work()?.busy_s / facts.seconds()).min(1.0);
    let waited = (waited / time).min(1.0);
    let rest = 1.0 - own - device;
    let share = own_wait.map_or(rest.min(waited), |wait| wait.share);
    let others_user = machine.user_ns / time - own_user;
    unless(
        !share.is_finite()
            || share < WORTH_A_WORD
            || others_user < OTHERS_IN_USER_MODE * share
            || others_user * time < TICKS_NS,
    )?;
    let how_long = match own_wait {
        Some(wait) => format!(
            "The threads that did the operations were ready to run and had no processor for {} of \
             the time: the kernel's account of each of them.",
            percent(wait.share)
        ),
        None => format!(
            "An operation used {} of its time on a processor, the device worked in {}: the \
             remaining {} it waited for its turn, or for what others held.",
            percent(own),
            percent(device),
            percent(rest.max(0.0))
        ),
    };
    let processors = format!(
        "The processors of the machine were idle in {} of the time, and somebody waited for \
         one in {}.",
        percent(machine.idle),
        percent(waited)
    );
    let what = if device > 0.0 {
        "operations that the device had done"
    } else {
        "operations"
    };
    let whose = if machine.idle <= FREE {
        "of this machine"
    } else {
        "that this process may use"
    };
    let claim = format!(
        "Others had the processors {whose}: {what} waited for one in {} of the time.",
        percent(share)
    );
    let found = cause(share, Likely, claim)
        .evidence([processors, how_long])
        .evidence(neighbours::on_processors(
            facts.trials(),
            facts.seconds(),
        ))
        .case("processors")
        .remedy(if machine.idle <= FREE {
            "Find who it is with `top`, and stop it; or give the measurement precedence with \
             `nice -n -20` as root."
        } else {
            "Others of the machine are idle: look at `taskset -p PID` and the cpuset of its control \
             group (`cpuset.cpus`), or find who it is with `top`."
        });
    Some(found)
}
