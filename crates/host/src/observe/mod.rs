//! Observers: what the kernel counted during exactly one trial.
//!
//! They bracket the measurement, so that `start` and `halt` do the least that
//! is possible: files stay open from the beginning, each reading is one `pread`
//! into memory that is there already, and parsing waits until the window is
//! closed. A measurement never fails because an observer could not look: it
//! says what was not seen, and why.

mod beside;
pub mod block_layer;
mod control_group;
mod cpu_quota;
mod devices;
mod groups;
mod io_limits;
mod journal;
mod neighbours;
mod nfs;
mod pressure;
mod process_io;
#[cfg(target_os = "linux")]
mod read_ahead;
mod residency;
mod steal;
mod ticks;
mod window;
mod write_back;

pub use beside::BesideObserver;
#[cfg(target_os = "linux")]
pub use block_layer::BlockLayerObserver;
pub use control_group::{AllowedMemory, ControlGroupObserver, allowed_memory};
pub use cpu_quota::CpuQuotaObserver;
pub use devices::DevicesObserver;
pub use io_limits::IoLimitsObserver;
pub use journal::JournalObserver;
pub use neighbours::NeighboursObserver;
pub use nfs::NfsObserver;
pub use pressure::PressureObserver;
pub use process_io::ProcessIoObserver;
#[cfg(target_os = "linux")]
pub use read_ahead::ReadAheadObserver;
pub use residency::ResidencyObserver;
pub use steal::StealObserver;
pub use write_back::WriteBackObserver;

use crate::cpu::CpuTimes;
use crate::roots::Roots;
use crate::trace::Pace;
use diskfacts_record::{Evidence, Stack};
use std::fs::File;

/// Name of the observer of the block layer's trace events.
pub const BLOCK_LAYER: &str = "block_layer";
/// Name of the observer of read-ahead's trace events.
pub const READ_AHEAD: &str = "read_ahead";

/// Name of the observer of what is charged to this process.
const PROCESS_IO: &str = "process_io";

/// Something that looks at the system while a trial runs.
pub trait Observer: Send {
    /// What it observes: `devices`, `pressure`.
    fn name(&self) -> &str;

    /// Opens the window: takes the first reading.
    fn start(&mut self);

    /// Closes the window: takes the last reading, and does nothing else.
    ///
    /// [`Observer::stop`] does it where this was not called; with several
    /// observers all windows are closed before any reading is parsed.
    fn halt(&mut self) {}

    /// Puts what was observed into the evidence, or why it could not be. May
    /// be followed by another `start`.
    fn stop(&mut self, evidence: &mut Evidence);

    /// Processor time that it took while the window was open, on threads of its own;
    /// known after [`Observer::stop`].
    fn own_cpu(&self) -> CpuTimes {
        CpuTimes::default()
    }

    /// The kernel's numbers of its own threads, which run until [`Observer::stop`].
    fn own_threads(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// The observers of a run, as one.
///
/// Windows are opened in the order of the list and closed in the opposite
/// order, so that the last one lies closest around the measurement.
#[derive(Default)]
pub struct Observers {
    list: Vec<Box<dyn Observer>>,
}

impl Observers {
    /// All that need nothing but the stack: limits of control groups, the own
    /// group, dirty pages, processors, the journal, the NFS client, pressure, process I/O and, closest to the
    /// measurement, the counters of the devices.
    pub fn for_run(roots: &Roots, stack: &Stack) -> Self {
        let wanted = |name: &str| name != BLOCK_LAYER && name != READ_AHEAD;
        Self::chosen(roots, stack, None, Pace::default(), &wanted)
    }

    /// Those that are wanted, by name; that of read-ahead where there is a `file` that
    /// is read. `pace` is how much of the time requests are followed; read-ahead always
    /// is. Those of trace events make their buffers here, which takes some ten
    /// milliseconds.
    pub fn chosen(
        roots: &Roots,
        stack: &Stack,
        file: Option<&File>,
        pace: Pace,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Self {
        let mut observers = Self::default();
        let mut events: Vec<Box<dyn Observer>> = Vec::new();
        #[cfg(target_os = "linux")]
        if let Some(file) = file.filter(|_| wanted(READ_AHEAD)) {
            events.push(Box::new(ReadAheadObserver::new(roots, file)));
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (file, pace);
        #[cfg(target_os = "linux")]
        if wanted(BLOCK_LAYER) {
            events.push(Box::new(BlockLayerObserver::new(roots, stack, pace)));
        }
        let own_threads = events.iter().flat_map(|observer| observer.own_threads());
        let own_threads: Vec<u32> = own_threads.collect();
        if wanted("neighbours") {
            observers.add(NeighboursObserver::new(roots));
        }
        if wanted("io_limits") {
            observers.add(IoLimitsObserver::new(roots, stack));
        }
        if wanted("control_group") {
            observers.add(ControlGroupObserver::new(roots));
        }
        if wanted("cpu_quota") {
            observers.add(CpuQuotaObserver::new(roots));
        }
        if wanted("write_back") {
            observers.add(WriteBackObserver::new(roots));
        }
        if wanted("cpu_steal") {
            observers.add(StealObserver::new(roots));
        }
        if wanted("journal") {
            observers.add(JournalObserver::new(roots, stack));
        }
        if wanted("nfs") {
            observers.add(NfsObserver::new(roots, stack));
        }
        if wanted("pressure") {
            observers.add(PressureObserver::new(roots));
        }
        if wanted(PROCESS_IO) {
            observers.add(ProcessIoObserver::without(roots, &own_threads));
        }
        observers.list.append(&mut events);
        if wanted("devices") {
            observers.add(DevicesObserver::new(roots, stack));
        }
        observers
    }

    /// The same with the page cache of a span of `file`, looked at before all
    /// other windows open and after they are closed: that takes a while.
    ///
    /// The file is opened a second time by the operating system (`dup`), and
    /// stays open as long as this lives.
    #[must_use]
    pub fn with_residency(mut self, file: &File, offset: u64, len: u64) -> Self {
        self.list
            .insert(0, Box::new(ResidencyObserver::new(file, offset, len)));
        self
    }

    /// Adds one, closer to the measurement than all before it.
    pub fn add(&mut self, observer: impl Observer + 'static) {
        self.list.push(Box::new(observer));
    }

    /// Adds the one that takes what these threads cause out of what is charged to the
    /// process. They do not pause at the edges of a window, and what they cause
    /// between two readings would count for the process: so its window lies right
    /// within that of the process's account, whatever else is observed.
    pub fn add_beside(&mut self, roots: &Roots, threads: &[u32]) {
        let observer = Box::new(BesideObserver::new(roots, threads));
        let mut names = self.list.iter().map(|observer| observer.name());
        let process = names.position(|name| name == PROCESS_IO);
        let place = process.map_or(self.list.len(), |process| process + 1);
        self.list.insert(place, observer);
    }

    /// Names of the observers, in the order in which their windows open.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|observer| observer.name())
    }

    /// Processor time that they took while their windows were open, on threads of
    /// their own; known after [`stop`](Self::stop).
    pub fn own_cpu(&self) -> CpuTimes {
        let each = self.list.iter().map(|observer| observer.own_cpu());
        each.fold(CpuTimes::default(), |sum, one| CpuTimes {
            user_ns: sum.user_ns + one.user_ns,
            system_ns: sum.system_ns + one.system_ns,
            total_ns: sum.total_ns + one.total_ns,
        })
    }

    /// Opens all windows.
    pub fn start(&mut self) {
        for observer in &mut self.list {
            observer.start();
        }
    }

    /// Closes all windows, without parsing anything yet.
    pub fn halt(&mut self) {
        for observer in self.list.iter_mut().rev() {
            observer.halt();
        }
    }

    /// Closes all windows that are open, then puts what was observed into the
    /// evidence.
    pub fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        for observer in &mut self.list {
            observer.stop(evidence);
        }
    }
}
