//! The kernel's time on a processor is the limit: system calls and copies of the
//! thread that does the operations, or all that the kernel does on the processors of the
//! machine. Whose that is, its threads' and interrupts' or other programs', the counters
//! of the processors do not tell: `/proc/stat` has one sum of it (`proc_stat(5)`).

use super::processor::{self, Processor};
use super::{Candidate, Standing, Subject};
use crate::words::{edit_plan, percent};
use diskfacts_plan::units::{show_duration, show_throughput};
use diskfacts_plan::{CacheMode, Workload};
use diskfacts_record::Confidence;
use diskfacts_record::evidence::Processors;

pub(super) const NAME: &str = "cpu-kernel";

/// Share of all processors' time that is idle at most when they are the limit.
const IDLE: f64 = 0.05;

/// Threads of the kernel and of programs that serve a device, of which an operation waits for
/// a turn: one that hands it on (a loop device's, a filesystem's), one that serves it, one that
/// completes it, and the one that measures.
const HAND_OVERS: f64 = 4.0;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    match processor::of(subject).filter(|processor| !processor.in_user) {
        Some(processor) => Some(of_thread(subject, &processor)),
        None => of_machine(subject),
    }
}

/// The thread that does the operations.
fn of_thread(subject: &Subject<'_>, processor: &Processor) -> Candidate {
    let mut evidence = vec![format!(
        "{} {} of the time.",
        if subject.imported() {
            "A processor was at work for it"
        } else {
            "The busiest thread ran"
        },
        percent(processor.busy)
    )];
    if let Some((user, system)) = processor.user_ns.zip(processor.system_ns) {
        evidence.push(format!(
            "An operation took {} in the kernel and {} in user mode: {} of what the processor \
             did.",
            show_duration(system as u64),
            show_duration(user as u64),
            percent(system / (user + system))
        ));
        let block = subject.workload().block_size as f64;
        if system > 0.0 && subject.workload().cache != CacheMode::Direct {
            evidence.push(format!(
                "That is {} of kernel time for the data of a block.",
                show_throughput(block / system * 1e9)
            ));
        }
    }
    candidate(
        subject,
        // It is the larger part of the time, whichever way it divides.
        Standing::Cause,
        if subject.imported() && processor.system_ns.is_none() {
            "The limit is a processor, in the program or in the kernel, and not the device; which \
             of the two, the document does not say."
        } else {
            "The limit is a processor at work in the kernel, on calls and copies, not the device."
        }
        .into(),
        evidence,
        processor.share,
    )
}

/// All processors of the machine, when they were busy and mostly in the kernel.
fn of_machine(subject: &Subject<'_>) -> Option<Candidate> {
    let mut sum = Processors {
        soft_interrupt_ns: Some(0),
        ..Processors::default()
    };
    for trial in subject.trials() {
        let processors = trial.evidence.processors?;
        sum.user_ns += processors.user_ns;
        sum.system_ns += processors.system_ns;
        sum.interrupt_ns += processors.interrupt_ns;
        sum.idle_ns += processors.idle_ns;
        let soft = sum.soft_interrupt_ns.zip(processors.soft_interrupt_ns);
        sum.soft_interrupt_ns = soft.map(|(sum, more)| sum + more);
    }
    let kernel = (sum.system_ns + sum.interrupt_ns) as f64;
    let all = kernel + (sum.user_ns + sum.idle_ns) as f64;
    let (kernel, idle) = (kernel / all, sum.idle_ns as f64 / all);
    // Where programs had most of it, somebody else computes: that is not I/O.
    if subject.workload().rate.is_some() || !kernel.is_finite() || idle > IDLE || kernel < 0.5 {
        return None;
    }
    let own = own_calls(subject, all);
    let mut evidence = vec![format!(
        "The processors of the machine were idle in {} of the time; {} went to the kernel, \
         interrupts ({}) among it, and {} to programs.",
        percent(idle),
        percent(kernel),
        interrupts(&sum, all),
        percent(sum.user_ns as f64 / all)
    )];
    evidence.extend(own.map(|own| {
        format!(
            "The calls of this measurement took {} of it. Whose the rest is, the counters of the \
             processors do not tell.",
            percent(own)
        )
    }));
    let share = kernel.min(could_wait(subject).unwrap_or(1.0));
    let standing = Standing::cause(share);
    // What is not known is not taken for its own.
    if own.is_some_and(|own| own >= kernel / 2.0) {
        let claim = "The limit is the kernel's work on the processors of this machine, most of it \
                     in the calls of this measurement, not the device.";
        return Some(candidate(subject, standing, claim.into(), evidence, share));
    }
    let claim = "The limit is the kernel's work on the processors of this machine, most of it in \
                 threads of its own or in calls of other programs, not the device.";
    Some(Candidate {
        refuted_by: "The same rate on a machine with nothing else to do, and with twice the \
                     streams."
            .into(),
        remedy: "`top` tells whose it is: names in brackets are threads of the kernel, which work \
                 for this measurement or for others; programs can be stopped, or given less with \
                 `nice`."
            .into(),
        ..candidate(subject, standing, claim.into(), evidence, share)
    })
}

/// Share of an operation's time that processors without a moment to spare can have cost it at
/// most: the threads of the kernel on its way wait for one as long as the threads that measure
/// do at each turn, and these have the work of their own. `None` where that is not known.
///
/// Others may keep the processors busy in the kernel (`dd` between `/dev/zero` and `/dev/null`)
/// while operations wait for a device and hardly ever for a processor.
fn could_wait(subject: &Subject<'_>) -> Option<f64> {
    let trials = subject.trials();
    let ops: f64 = trials.iter().map(|trial| trial.ops as f64).sum();
    let waited_ns = trials
        .iter()
        .map(|trial| Some(trial.cpu.wait_ns_per_io? * trial.ops as f64))
        .sum::<Option<f64>>()?;
    let figures = subject.figures;
    let own_ns = figures.cpu_system_ns_per_io? + figures.cpu_user_ns_per_io?;
    Some((HAND_OVERS * (waited_ns / ops + own_ns) / subject.each_ns()?).min(1.0))
}

/// Share of all processors' time (`all`, ns) that went to system calls of the process
/// that measures.
fn own_calls(subject: &Subject<'_>, all: f64) -> Option<f64> {
    let of_operation = subject.figures.cpu_system_ns_per_io?;
    Some(of_operation * subject.iops()? * subject.seconds() / all)
}

/// Share of the interrupts, and of the soft ones where that is known.
fn interrupts(sum: &Processors, all: f64) -> String {
    let share = percent(sum.interrupt_ns as f64 / all);
    let soft = sum.soft_interrupt_ns.filter(|ns| *ns > 0);
    soft.map_or(share.clone(), |ns| {
        format!("{share}, soft ones {}", percent(ns as f64 / all))
    })
}

fn candidate(
    subject: &Subject<'_>,
    standing: Standing,
    claim: String,
    evidence: Vec<String>,
    share: f64,
) -> Candidate {
    let workload = subject.workload();
    let streams = workload.streams.saturating_mul(2);
    let larger = workload.block_size.saturating_mul(4);
    let fits = workload.span.is_none_or(|span| larger <= span) && larger <= 1 << 26;
    let mut stages = vec![
        ("as-it-was", workload.clone()),
        (
            "twice-the-streams",
            Workload {
                streams,
                ..workload.clone()
            },
        ),
    ];
    if fits {
        stages.push((
            "larger-blocks",
            Workload {
                block_size: larger,
                ..workload.clone()
            },
        ));
    }
    Candidate {
        standing,
        claim,
        evidence,
        share: Some(share),
        confidence: Confidence::Likely,
        refuted_by: "The same rate with twice the streams, on a machine with a processor to \
                     spare."
            .into(),
        experiment: subject.experiment(
            "With twice the streams, or with larger blocks: more bytes a second speak for the \
             processor, as many for the device.",
            &stages,
        ),
        remedy: edit_plan(
            subject.run(),
            &format!("set streams = {streams}, or larger blocks (fewer calls), in this stage"),
        ),
    }
}
