//! How much of the time a thread that does the operations ran, and on what.

use super::Subject;
use crate::stats;

/// Share of the time that the busiest thread ran from which on it is the limit, as
/// for the rule `cpu-bound`: a tenth is left to what the kernel's ticks hide.
const SATURATED: f64 = 0.9;
/// The same where one operation is in flight at a time: its processor time and its
/// waiting follow on each other, and from here on the processor is the larger part.
const HALF: f64 = 0.5;

/// The processor's part in a stage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Processor {
    /// Share of the time that the busiest thread ran.
    pub(super) busy: f64,
    /// Processor time per operation in user mode, ns, where it is known.
    pub(super) user_ns: Option<f64>,
    /// The same in the kernel.
    pub(super) system_ns: Option<f64>,
    /// Whether most of it was in user mode.
    pub(super) in_user: bool,
    /// Share of the time that the larger of both parts makes up.
    pub(super) share: f64,
}

/// The processor's part, where it is the limit. Polling spins by design, and an
/// open loop may spin while it waits for the next operation to be due.
pub(super) fn of(subject: &Subject<'_>) -> Option<Processor> {
    let workload = subject.workload();
    if workload.iopoll || workload.sqpoll || workload.rate.is_some() {
        return None;
    }
    let shares: Vec<f64> = subject
        .trials()
        .iter()
        .filter_map(|trial| trial.cpu.busiest_thread)
        .collect();
    let busy = stats::median(&shares)?;
    let limit = if workload.queue_depth == 1 {
        HALF
    } else {
        SATURATED
    };
    if busy < limit {
        return None;
    }
    let figures = subject.figures;
    let (user_ns, system_ns) = (figures.cpu_user_ns_per_io, figures.cpu_system_ns_per_io);
    let in_user_share = match user_ns.zip(system_ns) {
        Some((user, system)) if user + system > 0.0 => user / (user + system),
        // What diskfacts itself costs without any I/O is known; all else is the
        // kernel's.
        _ => {
            let own = subject.run().run.overhead_ns_per_io.unwrap_or(0.0);
            let each = subject.each_ns()? * f64::from(workload.streams.max(1));
            (own / (busy * each)).clamp(0.0, 1.0)
        }
    };
    let in_user = in_user_share > 0.5;
    Some(Processor {
        busy,
        user_ns,
        system_ns,
        in_user,
        share: busy.min(1.0) * in_user_share.max(1.0 - in_user_share),
    })
}
