//! What the processors of the machine did, and processor time that the hypervisor
//! gave to others.

use super::Observer;
use super::ticks::nanoseconds;
use super::window::Window;
use crate::parse::ParseError;
use crate::parse::stat::{SystemCpu, parse_stat_block_softirqs, parse_stat_cpu};
use crate::roots::Roots;
use diskfacts_record::evidence::Processors;
use diskfacts_record::{Evidence, Unseen};

/// Bytes of `/proc/stat` that are read: its lines of processors and interrupts come
/// before that of soft interrupts, and are some 70 KiB on a server with 256
/// processors. What lies beyond is not seen.
const CAPACITY: usize = 256 << 10;

/// Observes the times of all processors together in `/proc/stat`, good to a tick (a
/// hundredth of a second per processor), and its count of soft interrupts.
pub struct StealObserver {
    window: Window,
}

impl StealObserver {
    /// Opens the file; whether that worked is said by [`Observer::stop`].
    pub fn new(roots: &Roots) -> Self {
        Self {
            window: Window::open_long(&roots.proc.join("stat"), CAPACITY),
        }
    }
}

/// What of the file is used.
struct Reading {
    cpu: SystemCpu,
    block_softirqs: Option<u64>,
}

impl Reading {
    fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        Ok(Self {
            cpu: parse_stat_cpu(bytes)?,
            block_softirqs: parse_stat_block_softirqs(bytes)?,
        })
    }
}

fn processors(before: &Reading, after: &Reading) -> Processors {
    let since = |of: fn(&SystemCpu) -> u64| nanoseconds(of(&before.cpu), of(&after.cpu));
    let softirqs = before.block_softirqs.zip(after.block_softirqs);
    Processors {
        user_ns: since(|cpu| cpu.user_ticks),
        system_ns: since(|cpu| cpu.system_ticks),
        interrupt_ns: since(|cpu| cpu.interrupt_ticks),
        idle_ns: since(|cpu| cpu.idle_ticks.saturating_add(cpu.iowait_ticks)),
        soft_interrupt_ns: Some(since(|cpu| cpu.soft_interrupt_ticks)),
        // Each processor counts in 32 bits, and their sum is printed (kernel,
        // kstat_softirqs_cpu in fs/proc/stat.c): it may fall.
        block_soft_interrupts: softirqs.and_then(|(before, after)| after.checked_sub(before)),
    }
}

fn steal(before: &SystemCpu, after: &SystemCpu) -> Result<u64, String> {
    match (before.steal_ticks, after.steal_ticks) {
        (Some(before), Some(after)) => Ok(nanoseconds(before, after)),
        _ => Err("this kernel's /proc/stat has no column for it".to_owned()),
    }
}

impl Observer for StealObserver {
    fn name(&self) -> &'static str {
        "cpu_steal"
    }

    fn start(&mut self) {
        self.window.start();
    }

    fn halt(&mut self) {
        self.window.halt();
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        let seen = self.window.parse(Reading::parse);
        if let Ok((before, after)) = &seen {
            evidence.processors = Some(processors(before, after));
        }
        match seen.and_then(|(before, after)| steal(&before.cpu, &after.cpu)) {
            Ok(ns) => evidence.cpu_steal_ns = Some(ns),
            Err(why) => evidence.unseen.push(Unseen {
                what: self.name().to_owned(),
                why,
            }),
        }
    }
}
