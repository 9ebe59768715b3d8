//! How much of the time a thread that does the operations ran, and on what.

use super::StageFacts;
use crate::prelude::*;
use crate::processor_wait::SATURATED;
use diskfacts_record::Run;
use diskfacts_record::evidence::Processors;

/// What [`SATURATED`] is where one operation is in flight at a time: its processor time and its
/// waiting follow on each other, and from here on the processor is the larger part.
const HALF: f64 = 0.5;

/// The processor's part in a stage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Processor {
    /// Share of the time that the busiest thread ran.
    pub(crate) busy: f64,
    /// Processor time per operation in user mode and in the kernel, ns, where it is known.
    pub(crate) user_system_ns: Option<(f64, f64)>,
    /// Whether most of it was in user mode.
    pub(crate) in_user: bool,
    /// Share of the time that the larger of both parts makes up.
    pub(crate) share: f64,
}

impl Processor {
    /// How busy `who` was, and how the time of an operation on the processor divides: the part
    /// first that is larger.
    pub(crate) fn evidence(&self, who: &str) -> Vec<String> {
        let busy = format!("{who} {} of the time.", percent(self.busy));
        let known = self
            .user_system_ns
            .filter(|(user, system)| user + system > 0.0);
        let divided = known.map(|(user_ns, system_ns)| {
            let mut parts = [(user_ns, "in user mode"), (system_ns, "in the kernel")];
            if !self.in_user {
                parts.reverse();
            }
            let [(most_ns, most_in), (rest_ns, rest_in)] = parts;
            let [most, rest] = [most_ns, rest_ns].map(duration);
            let share = percent(most_ns / (user_ns + system_ns));
            format!(
                "An operation took {most} {most_in} and {rest} {rest_in}: {share} of what the \
                 processor did."
            )
        });
        [Some(busy), divided].into_iter().flatten().collect()
    }
}

/// What diskfacts itself takes of a processor for each operation, as it measured before the run.
pub(crate) fn own_cost(run: &Run) -> Option<String> {
    let own = duration(run.run.overhead_ns_per_io?);
    Some(format!(
        "diskfacts itself costs {own} per operation without I/O."
    ))
}

/// Threads of the kernel and of programs that serve a device, of which an operation waits for
/// a turn: one that hands it on (a loop device's, a filesystem's), one that serves it, one that
/// completes it, and the one that measures.
const HAND_OVERS: f64 = 4.0;

/// Share of all processors' time that is idle at most where they are what is waited for.
pub(crate) const IDLE: f64 = 0.05;

/// What the processors of the machine did while a stage ran, ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) user_ns: f64,
    /// In the kernel, its interrupts among it.
    pub(crate) kernel_ns: f64,
    pub(crate) interrupt_ns: f64,
    pub(crate) all_ns: f64,
    /// Share of their time for which they had nothing to do.
    pub(crate) idle: f64,
}

impl Machine {
    /// `None` where that was not counted.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let sum = |of: fn(&Processors) -> u64| {
            facts.sum(|trial| Some(of(&trial.evidence.processors?) as f64))
        };
        let interrupt_ns = sum(|one| one.interrupt_ns)?;
        let (user_ns, kernel_ns) = (sum(|one| one.user_ns)?, sum(|one| one.system_ns)?);
        let (kernel_ns, idle_ns) = (kernel_ns + interrupt_ns, sum(|one| one.idle_ns)?);
        let all_ns = kernel_ns + user_ns + idle_ns;
        Some(Self {
            user_ns,
            kernel_ns,
            interrupt_ns,
            all_ns,
            idle: idle_ns / all_ns,
        })
    }

    /// Share of all processors' time that went to system calls of the process that measures.
    pub(crate) fn own_calls(&self, facts: &StageFacts<'_>) -> Option<f64> {
        let of_operation_ns = facts.figures.cpu_system_ns_per_io?;
        Some(of_operation_ns * facts.iops()? * facts.seconds() / self.all_ns)
    }

    /// How their time divides, a sentence.
    pub(crate) fn evidence(&self, facts: &StageFacts<'_>) -> String {
        let of_all = |ns: f64| percent(ns / self.all_ns);
        let soft = |trial: &Trial| Some(trial.evidence.processors?.soft_interrupt_ns? as f64);
        let soft = facts.sum(soft).filter(|ns| *ns > 0.0);
        let soft = soft.map_or_else(String::new, |ns| format!(", soft ones {}", of_all(ns)));
        format!(
            "The processors of the machine were idle in {} of the time; {} went to the kernel, \
             interrupts ({}{soft}) among it, and {} to programs.",
            percent(self.idle),
            of_all(self.kernel_ns),
            of_all(self.interrupt_ns),
            of_all(self.user_ns)
        )
    }
}

/// The processor's part, where it is the limit. Polling spins by design, and an
/// open loop may spin while it waits for the next operation to be due.
pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Processor> {
    let workload = facts.workload();
    unless(workload.iopoll || workload.sqpoll || workload.rate.is_some())?;
    let least = if workload.queue_depth == 1 {
        HALF
    } else {
        SATURATED
    };
    let busy = facts.stage.median(|trial| trial.cpu.busiest_thread);
    let busy = busy.filter(|busy| *busy >= least)?;
    let figures = facts.figures;
    let user_system_ns = figures.cpu_user_ns_per_io.zip(figures.cpu_system_ns_per_io);
    let in_user = match user_system_ns {
        Some((user, system)) if user + system > 0.0 => user / (user + system),
        // What diskfacts itself costs without any I/O is known; all else is the
        // kernel's.
        _ => {
            let own = facts.run().run.overhead_ns_per_io.unwrap_or(0.0);
            let each = facts.each_ns()? * f64::from(workload.streams.max(1));
            (own / (busy * each)).clamp(0.0, 1.0)
        }
    };
    Some(Processor {
        busy,
        user_system_ns,
        in_user: in_user > 0.5,
        share: busy.min(1.0) * in_user.max(1.0 - in_user),
    })
}

/// Mean time for which the threads of an operation were ready to run and had no processor, ns;
/// `None` where the kernel did not account for it in some trial.
pub(crate) fn wait_ns(facts: &StageFacts<'_>) -> Option<f64> {
    let waited = facts.sum(|trial| Some(trial.cpu.wait_ns_per_io? * trial.ops as f64))?;
    Some(waited / facts.ops())
}

/// Share of an operation's time that processors without a moment to spare can have cost it at
/// most: the threads of the kernel on its way wait for one as long as the threads that measure
/// do at each turn, and these have the work of their own. `None` where that is not known.
///
/// Others may keep the processors busy in the kernel (`dd` between `/dev/zero` and `/dev/null`)
/// while operations wait for a device and hardly ever for a processor.
pub(crate) fn could_wait(facts: &StageFacts<'_>) -> Option<f64> {
    let each_ns = wait_ns(facts)? + facts.processor_ns()?;
    Some((HAND_OVERS * each_ns / facts.each_ns()?).min(1.0))
}

/// Bytes per second that the threads of the stage could take if they never waited for the
/// device: by their time on a processor, and that for which they were ready and had none.
pub(crate) fn rate_without_device(facts: &StageFacts<'_>) -> Option<f64> {
    let each_ns = facts.processor_ns()? + wait_ns(facts).unwrap_or(0.0);
    let streams = f64::from(facts.workload().streams.max(1));
    let rate = streams * facts.workload().block_size as f64 / each_ns * 1e9;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

/// What a device seems to have done may be the work of others on the processors, where tasks
/// waited for a processor for so much of the time that was lost. Threads of the
/// kernel that work for the stage (loop devices, encryption) have no account of their own, so
/// all who waited count; half, because others may have waited at the same moment.
const WAITED_OF_LOST: f64 = 0.5;
/// The same where only the stage's own threads are known to have waited. Whoever keeps those
/// of the kernel from a processor keeps these too, when they want one: the one who asks for
/// little waits for a small part of what the others do.
const OWN_WAITED_OF_LOST: f64 = 0.05;

/// Whether it is known of so much of the time that others on the processors did not lose it: there
/// were processors enough in all trials. `None` where more wanted them than there were, so that
/// others may have made it.
pub(crate) fn not_of_others(facts: &StageFacts<'_>, lost_s: f64) -> Option<bool> {
    if facts.run().target.kind == TargetKind::Simulated {
        return Some(true);
    }
    let own = |trial: &Trial| trial.cpu.wait_ns_per_io.unwrap_or(0.0) * trial.ops as f64 / 1e9;
    let own_s = facts.sum(|trial| Some(own(trial)))?;
    let pressure = |trial: &Trial| Some(trial.evidence.pressure?.cpu_some_ns as f64 / 1e9);
    let seen_s: f64 = facts.trials().iter().filter_map(|t| pressure(t)).sum();
    let all_seen = facts.sum(pressure).is_some();
    let wanted =
        seen_s > WAITED_OF_LOST * lost_s || own_s > OWN_WAITED_OF_LOST * lost_s && !all_seen;
    (!wanted).then_some(all_seen)
}
