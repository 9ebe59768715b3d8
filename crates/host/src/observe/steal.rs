//! Processor time that the hypervisor gave to others.

use super::Observer;
use super::window::Window;
use crate::parse::stat::parse_stat_cpu;
use crate::roots::Roots;
use diskfacts_record::{Evidence, Unseen};

/// Observes `steal` of `/proc/stat`, good to a tick: a hundredth of a second
/// per processor.
pub struct StealObserver {
    window: Window,
}

impl StealObserver {
    /// Opens the file; whether that worked is said by [`Observer::stop`].
    pub fn new(roots: &Roots) -> Self {
        Self {
            window: Window::open(&roots.proc.join("stat")),
        }
    }

    fn difference(&self) -> Result<u64, String> {
        let (before, after) = self.window.parse(parse_stat_cpu)?;
        let (Some(before), Some(after)) = (before.steal_ticks, after.steal_ticks) else {
            return Err("this kernel's /proc/stat has no column for it".to_owned());
        };
        Ok(after
            .saturating_sub(before)
            .saturating_mul(1_000_000_000 / ticks_per_second()))
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
        match self.difference() {
            Ok(ns) => evidence.cpu_steal_ns = Some(ns),
            Err(why) => evidence.unseen.push(Unseen {
                what: self.name().to_owned(),
                why,
            }),
        }
    }
}

#[cfg(unix)]
fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second().clamp(1, 1_000_000_000)
}

#[cfg(not(unix))]
fn ticks_per_second() -> u64 {
    100
}
