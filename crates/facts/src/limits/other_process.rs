//! Others used the device while the stage ran, and took a good part of it; or they
//! had the processors, and operations that were done waited for one.

use super::{Candidate, Standing, Subject};
use crate::layers::in_memory;
use crate::layers::reach::{Direction, count, roots};
use crate::neighbours;
use crate::processor_wait::ProcessorWait;
use crate::rules::{by_others, disturbed};
use crate::simulated::is_simulated;
use crate::stats;
use crate::words::percent;
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::{show_size, show_throughput};
use diskfacts_record::{BlockDevice, Confidence, Trial};

pub(super) const NAME: &str = "other-process";

/// Bytes of others over those of the stage from which on it is worth a word, as for
/// the rule `other-io`.
const SHARE: f64 = 0.05;
/// Bytes per trial below which it is not.
const BYTES: u64 = 64 << 10;
/// Share of all processors' time that is idle at most when they are what is waited
/// for.
const IDLE: f64 = 0.05;
/// Share of the time that operations waited for one, from which on it is worth a
/// word.
const WAITED: f64 = 0.1;

/// Of the time that operations waited, the share that others must have been in user mode.
/// Beside four `dd bs=4k` from `/dev/zero` to `/dev/null` that was half of it, beside
/// loops of a shell all; a `dd bs=1M` is there for a hundredth of its time, and is missed
/// here: then `cpu-kernel` says that the time may be other programs'.
const OTHERS_IN_USER_MODE: f64 = 0.2;
/// Time of others in user mode, nanoseconds: ten ticks of `/proc/stat`, at 100 a second.
const TICKS_NS: f64 = 1e8;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let of_device = device(subject);
    let of_processors = processors(subject);
    // The largest of them.
    [planned(subject), of_device, of_processors]
        .into_iter()
        .flatten()
        .min_by(Candidate::best_first)
}

/// What the plan has run beside it: what that costs was measured, as far as the stage was
/// measured alone too.
fn planned(subject: &Subject<'_>) -> Option<Candidate> {
    let alone = disturbed::alone(subject.context, subject.stage)?;
    let with = &subject.figures.throughput_bytes_per_s;
    let without = &alone.throughput_bytes_per_s;
    let share = disturbed::loss(with, without)?;
    if share < SHARE {
        return None;
    }
    let rates = subject.trials().iter();
    let rates: Vec<f64> = rates
        .filter_map(|trial| Some(trial.evidence.beside.as_ref()?.throughput_bytes_per_s))
        .collect();
    let mut evidence = vec![format!(
        "{} alone, {} beside it: {} less.",
        show_throughput(without.median),
        show_throughput(with.median),
        percent(share)
    )];
    if let Some(other) = stats::median(&rates) {
        evidence.push(format!(
            "What ran beside it moved {}, both together {} of the rate alone.",
            show_throughput(other),
            percent((with.median + other) / without.median)
        ));
    }
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "What ran beside it, as planned, cost {} of the rate that it has alone.",
            percent(share)
        ),
        evidence,
        share: Some(share),
        confidence: Confidence::Certain,
        refuted_by: "Trials of the same stage that do as much with it as without.".into(),
        experiment: subject.again(
            "The same stage with and without what runs beside it, in turn: rates that differ as \
             before speak for it.",
        ),
        remedy: "Nothing is wrong: the plan asks for it. Let both work at different times, or in \
                 larger pieces, which lose less on a disk that seeks."
            .into(),
    })
}

/// Whether others moved so much on the devices that it is worth a word.
pub(super) fn takes_part(subject: &Subject<'_>) -> bool {
    bytes(subject).is_some()
}

/// Bytes of the stage and of others on its devices, where these are worth a word.
fn bytes(subject: &Subject<'_>) -> Option<(u64, u64)> {
    let stack = &subject.run().stack;
    if subject.imported()
        || !subject.moves_blocks()
        || in_memory(stack)
        || subject.workload().cache == CacheMode::Warm
        || subject.workload().beside.is_some()
    {
        return None;
    }
    let trials = subject.trials();
    let others: u64 = trials
        .iter()
        .map(|trial| by_others(trial, stack).bytes())
        .sum();
    let own = subject.stage.sum(|trial| trial.bytes);
    let matters =
        own > 0 && others as f64 >= SHARE * own as f64 && others / (trials.len() as u64) >= BYTES;
    matters.then_some((own, others))
}

/// The devices on which others were seen: those right under the target, or those at the
/// bottom where only these counted more.
fn used_by_others<'a>(subject: &'a Subject<'_>) -> Vec<&'a BlockDevice> {
    let stack = subject.stack();
    let mut trials = subject.trials().iter();
    let above = trials.any(|trial| {
        let others = by_others(trial, &subject.run().stack);
        others.read.saturating_add(others.written) > others.beside
    });
    if above {
        roots(stack).collect()
    } else {
        stack.leaves().collect()
    }
}

/// Seconds for which the busiest device of the stack had something to do, of whatever layer:
/// what a loop device holds up need not reach the disk. `None` where nothing was counted.
fn busiest_s(subject: &Subject<'_>) -> Option<f64> {
    let of_leaves = subject.device_work()?.busy_s;
    let devices = subject.stack().devices.iter();
    let each = devices.filter_map(|device| Some(subject.work_of(&device.name)?.busy_s));
    Some(each.fold(of_leaves, f64::max))
}

/// Others used the device.
fn device(subject: &Subject<'_>) -> Option<Candidate> {
    let (own, others) = bytes(subject)?;
    let by_bytes = others as f64 / (others + own) as f64;
    let by_requests = requests(subject);
    // A rotating disk takes as long for a small request as for a large one; flash takes
    // time for both, its commands and its bytes.
    let of_work = match (subject.rotates(), by_requests) {
        (Some(true), Some(by_requests)) => by_requests,
        (Some(false), Some(by_requests)) => f64::midpoint(by_bytes, by_requests),
        _ => by_bytes,
    };
    // While the device had nothing to do, nobody was in the way there.
    let busy = busiest_s(subject)? / subject.seconds();
    let share = of_work * busy.min(1.0);
    let names = used_by_others(subject);
    let names: Vec<&str> = names.iter().map(|device| device.name.as_str()).collect();
    let names = crate::words::list(&names);
    let mut evidence = vec![format!(
        "{} were moved by the stage, and {} more by others: {} of the bytes.",
        show_size(own),
        show_size(others),
        percent(by_bytes)
    )];
    if busy < 0.99 {
        evidence.push(format!(
            "The device was at work in {} of the time, so others account for {} of it.",
            percent(busy),
            percent(share)
        ));
    }
    evidence.extend(neighbours::on_storage(subject.trials()));
    if let Some(by_requests) = by_requests {
        evidence.push(format!(
            "{} of the requests that the device completed were not the stage's.",
            percent(by_requests)
        ));
    }
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "Others used {names} meanwhile: {} of its work was theirs.",
            percent(of_work)
        ),
        evidence,
        share: Some(share),
        confidence: Confidence::Likely,
        refuted_by: "The same rate while nothing else uses the device.".into(),
        experiment: subject.again(
            "The same measurement with nothing else running, as `iostat -x 1` shows before it: a \
             higher rate speaks for it, the same rate against it.",
        ),
        remedy: if is_simulated(subject.run()) {
            "Take the neighbour out of the simulated computer.".into()
        } else {
            "Find who it is with `pidstat -d 1` or `iotop -o`, and let it wait, or give it a \
             lower weight: `ionice -c 3 -p PID` (schedulers bfq and mq-deadline), `io.max` of its \
             control group."
                .into()
        },
    })
}

/// Share of the requests of the devices under the filesystem that were not the
/// stage's, where each of its operations is one request; `None` where that is not
/// known.
fn requests(subject: &Subject<'_>) -> Option<f64> {
    let stack = subject.stack();
    let tops: Vec<&BlockDevice> = roots(stack).collect();
    let largest = tops
        .iter()
        .filter_map(|device| device.max_request_bytes)
        .min()?;
    let workload = subject.workload();
    let is_one = |trial: &&Trial| {
        trial.evidence.engine.direct
            && workload.block_size <= largest
            && !workload.sync.each_write()
    };
    if !subject.trials().iter().all(is_one) {
        return None;
    }
    let counted: u64 = subject
        .trials()
        .iter()
        .flat_map(|trial| &trial.evidence.devices)
        .filter(|device| tops.iter().any(|top| top.name == device.name))
        .map(|device| device.reads + device.writes)
        .sum();
    // The devices must have counted at all.
    count(&tops, Direction::Read, &subject.trials().first()?.evidence)?;
    let own = subject.stage.sum(|trial| {
        let issued = &trial.evidence.issued;
        issued.reads + issued.writes
    });
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
fn processors(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    let own_wait = ProcessorWait::of(subject.stage);
    // Where only the pressure of the machine is known, several streams may wait for each
    // other.
    if workload.rate.is_some() || (workload.streams > 1 && own_wait.is_none()) {
        return None;
    }
    // They wait for the next period of their own group.
    if super::cpu_quota::holds_back(subject.stage) {
        return None;
    }
    let (mut idle, mut all, mut waited, mut in_user_mode) = (0.0, 0.0, 0.0, 0.0);
    for trial in subject.trials() {
        let used = trial.evidence.processors?;
        in_user_mode += used.user_ns as f64;
        idle += used.idle_ns as f64;
        all += (used.user_ns + used.system_ns + used.interrupt_ns + used.idle_ns) as f64;
        waited += trial.evidence.pressure?.cpu_some_ns as f64;
    }
    let time = subject.seconds() * 1e9;
    let own_user = subject.figures.cpu_user_ns_per_io? * subject.iops()? / 1e9;
    let own = own_user + subject.figures.cpu_system_ns_per_io? * subject.iops()? / 1e9;
    let device = (subject.device_work()?.busy_s / subject.seconds()).min(1.0);
    let (idle, waited) = (idle / all, (waited / time).min(1.0));
    let share = own_wait.map_or((1.0 - own - device).min(waited), |wait| wait.share);
    if !share.is_finite() || idle > IDLE || share < WAITED {
        return None;
    }
    let others_user = in_user_mode / time - own_user;
    if others_user < OTHERS_IN_USER_MODE * share || others_user * time < TICKS_NS {
        return None;
    }
    let by_account = own_wait.map(|wait| {
        format!(
            "The threads that did the operations were ready to run and had no processor for {} of \
             the time: the kernel's account of each of them.",
            percent(wait.share)
        )
    });
    let by_rest = || {
        format!(
            "An operation used {} of its time on a processor, the device worked in {}: the \
             remaining {} it waited for its turn, or for what others held.",
            percent(own),
            percent(device),
            percent((1.0 - own - device).max(0.0))
        )
    };
    let mut evidence = vec![
        format!(
            "The processors of the machine were idle in {} of the time, and somebody waited for \
             one in {}.",
            percent(idle),
            percent(waited)
        ),
        by_account.unwrap_or_else(by_rest),
    ];
    evidence.extend(neighbours::on_processors(
        subject.trials(),
        subject.seconds(),
    ));
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "Others had the processors of this machine: {} waited for one in {} of the time.",
            if device > 0.0 {
                "operations that the device had done"
            } else {
                "operations"
            },
            percent(share)
        ),
        evidence,
        share: Some(share),
        confidence: Confidence::Likely,
        refuted_by: "The same rate on an idle machine.".into(),
        experiment: subject.again(
            "The same measurement with nothing else running, as `vmstat 1` shows before it: a \
             higher rate speaks for it, the same rate against it.",
        ),
        remedy: "Find who it is with `top`, and stop it; or give the measurement precedence with \
                 `nice -n -20` as root."
            .into(),
    })
}
