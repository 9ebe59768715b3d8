//! Stalls of tasks, for the whole system.

use super::Observer;
use super::window::Window;
use crate::parse::pressure::{PressureTotals, parse_pressure};
use crate::roots::Roots;
use diskfacts_record::evidence::Pressure;
use diskfacts_record::{Evidence, Unseen};
use std::path::PathBuf;

/// The three files that count stalls, of the system or of a control group.
pub(super) struct Stalls {
    io: Window,
    memory: Window,
    cpu: Window,
}

impl Stalls {
    /// Opens the file of each of `io`, `memory` and `cpu`.
    pub(super) fn open(path: impl Fn(&str) -> PathBuf) -> Self {
        let window = |name| Window::open(&path(name));
        Self {
            io: window("io"),
            memory: window("memory"),
            cpu: window("cpu"),
        }
    }

    pub(super) fn start(&mut self) {
        self.cpu.start();
        self.memory.start();
        self.io.start();
    }

    pub(super) fn halt(&mut self) {
        self.io.halt();
        self.memory.halt();
        self.cpu.halt();
    }

    pub(super) fn difference(&self) -> Result<Pressure, String> {
        let (io_before, io_after) = self.io.parse(parse_pressure)?;
        let (memory_before, memory_after) = self.memory.parse(parse_pressure)?;
        let (cpu_before, cpu_after) = self.cpu.parse(parse_pressure)?;
        let some = |before: PressureTotals, after: PressureTotals| {
            nanoseconds(before.some_us, after.some_us)
        };
        let (Some(full_before), Some(full_after)) = (io_before.full_us, io_after.full_us) else {
            return Err("the file of io has no line `full`".to_owned());
        };
        Ok(Pressure {
            io_some_ns: some(io_before, io_after),
            io_full_ns: nanoseconds(full_before, full_after),
            memory_some_ns: some(memory_before, memory_after),
            cpu_some_ns: some(cpu_before, cpu_after),
        })
    }
}

/// Observes `/proc/pressure`.
pub struct PressureObserver {
    stalls: Stalls,
}

impl PressureObserver {
    /// Opens the three files; whether that worked is said by
    /// [`Observer::stop`].
    pub fn new(roots: &Roots) -> Self {
        Self {
            stalls: Stalls::open(|name| roots.proc.join("pressure").join(name)),
        }
    }
}

impl Observer for PressureObserver {
    fn name(&self) -> &'static str {
        "pressure"
    }

    fn start(&mut self) {
        self.stalls.start();
    }

    fn halt(&mut self) {
        self.stalls.halt();
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        match self.stalls.difference() {
            Ok(pressure) => evidence.pressure = Some(pressure),
            Err(why) => evidence.unseen.push(Unseen {
                what: self.name().to_owned(),
                why: format!(
                    "{why} (pressure needs Linux 4.20 with CONFIG_PSI; where it is built in but \
                     off, `psi=1` on the kernel's command line switches it on)"
                ),
            }),
        }
    }
}

fn nanoseconds(before_us: u64, after_us: u64) -> u64 {
    after_us.saturating_sub(before_us).saturating_mul(1_000)
}
