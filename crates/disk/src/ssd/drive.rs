//! The flash drive as a device.
//!
//! Nothing in it moves, so nothing is gained by deciding late: every request
//! is laid on the timelines of the processor, the link, the channels and the
//! dies when it is taken in, and its completion waits for its time.

use super::blocks::{Blocks, NOBODY, hash};
use super::collect::Collector;
use super::flash::{Flash, FlashRead};
use super::link::Link;
use super::map::{Location, Map};
use super::parameters::{SsdParameters, Wear};
use crate::completion::{Breakdown, Completion, IoError, Layer};
use crate::defects::Defects;
use crate::device::{self, Device, Extent};
use crate::fixed;
use crate::outbox::Outbox;
use crate::request::{Kind, Request};
use crate::statistics::{Meter, Statistics};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// What the flash did, in pages programmed and superblocks erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlashCounters {
    /// Units of data that the host wrote.
    pub host_units: u64,
    /// Units that the garbage collection moved.
    pub moved_units: u64,
    /// Units of programmed pages that hold nothing, because a flush could not wait.
    pub padded_units: u64,
    /// Superblocks erased.
    pub erased: u64,
}

impl FlashCounters {
    /// Units programmed for each unit the host wrote; 1 when it wrote none.
    pub fn write_amplification(&self) -> f64 {
        if self.host_units == 0 {
            return 1.0;
        }
        let all = self.host_units + self.moved_units + self.padded_units;
        all as f64 / self.host_units as f64
    }
}

/// Where writes of one kind go: a superblock and the next place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) block: usize,
    pub(super) next: u64,
}

/// A flash drive.
#[derive(Debug, Clone)]
pub struct Ssd {
    pub(super) parameters: SsdParameters,
    pub(super) flash: Flash,
    pub(super) map: Map,
    pub(super) blocks: Blocks,
    pub(super) collector: Collector,
    pub(super) counters: FlashCounters,
    defects: Defects,
    pub(super) lying_flush: bool,
    /// Where the host's data goes.
    pub(super) host: Option<Cursor>,
    /// Units in the page being gathered: logical unit numbers.
    pub(super) gathering: Vec<u64>,
    /// Programs of the host's pages: end, bytes of the buffer they free.
    pub(super) programs: BinaryHeap<Reverse<(u64, u64)>>,
    /// Physical pages in the buffer until their program ends, ns; and some
    /// that are programmed, until there are so many.
    pub(super) buffered: BTreeMap<u64, u64>,
    forget_buffered_at: usize,
    /// Bytes in the write buffer.
    pub(super) occupied: u64,
    /// End of the last program of the host's data, ns.
    pub(super) programmed_ns: u64,
    pub(super) slc_used: u64,
    processor_free_ns: u64,
    pub(super) link_in_free_ns: u64,
    link_out: Link,
    /// End of the last request, to know how long the drive rested, ns.
    last_busy_ns: u64,
    now_ns: u64,

    waiting: VecDeque<(Request, u64)>,
    in_drive: u32,
    outbox: Outbox,
    meter: Meter,
}

impl Ssd {
    /// A drive in the state its parameters say.
    pub fn new(parameters: SsdParameters) -> Self {
        Self::with_faults(parameters, Defects::default(), false)
    }

    /// A drive with bad places, and, if `lying_flush`, a buffer that
    /// acknowledges flushes without doing them.
    pub fn with_faults(parameters: SsdParameters, defects: Defects, lying_flush: bool) -> Self {
        Self {
            flash: Flash::new(&parameters),
            map: Map::new(parameters.capacity.div_ceil(parameters.mapping_unit)),
            blocks: Blocks::new(&parameters),
            collector: Collector::default(),
            counters: FlashCounters::default(),
            defects,
            lying_flush,
            host: None,
            gathering: Vec::with_capacity(parameters.units_per_page() as usize),
            programs: BinaryHeap::new(),
            buffered: BTreeMap::new(),
            forget_buffered_at: 1024,
            occupied: 0,
            programmed_ns: 0,
            slc_used: 0,
            processor_free_ns: 0,
            link_in_free_ns: 0,
            link_out: Link::default(),
            last_busy_ns: 0,
            now_ns: 0,
            waiting: VecDeque::new(),
            in_drive: 0,
            outbox: Outbox::new(),
            meter: Meter::default(),
            parameters,
        }
    }

    /// What the flash did so far.
    pub fn flash_counters(&self) -> FlashCounters {
        self.counters
    }

    /// Memory of the map and the blocks, bytes.
    pub fn map_bytes(&self) -> usize {
        self.map.bytes() + self.blocks.bytes()
    }

    fn admit(&mut self, now_ns: u64) {
        while self.in_drive < self.parameters.queue_depth
            && let Some((request, submitted_ns)) = self.waiting.pop_front()
        {
            self.in_drive += 1;
            self.rest(now_ns);
            self.release_buffer(now_ns);
            let mut breakdown = Breakdown::default();
            let start_ns = now_ns.max(self.processor_free_ns);
            self.processor_free_ns = start_ns + self.parameters.command_interval_ns;
            breakdown.queue_ns = start_ns - submitted_ns;
            breakdown.overhead_ns = self.parameters.command_ns;
            let ready_ns = start_ns + self.parameters.command_ns;
            let mut result = Ok(());
            match request.kind {
                Kind::Read => result = self.read(ready_ns, &request, &mut breakdown),
                Kind::Write => self.write(ready_ns, &request, &mut breakdown),
                Kind::Flush => self.flush(ready_ns, &mut breakdown),
                Kind::Trim => self.trim(&request, &mut breakdown),
            }
            let mut completion = Completion::of(&request, submitted_ns, breakdown);
            completion.result = result;
            self.last_busy_ns = self.last_busy_ns.max(completion.done_ns);
            self.outbox.push(completion);
        }
    }

    /// What the drive did while it was left alone.
    fn rest(&mut self, now_ns: u64) {
        let rest_ns = now_ns.saturating_sub(self.last_busy_ns);
        if let Some(slc) = self.parameters.slc
            && rest_ns > 0
        {
            let folded = fixed::ns_to_bytes(rest_ns, slc.fold_bytes_per_s);
            self.slc_used = self.slc_used.saturating_sub(folded);
        }
    }

    /// Frees what was programmed by `now_ns`.
    fn release_buffer(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        while let Some(&Reverse((end_ns, bytes))) = self.programs.peek()
            && end_ns <= now_ns
        {
            self.programs.pop();
            self.occupied -= bytes;
        }
        // Now and then, so that it costs little however many there are.
        if self.buffered.len() > self.forget_buffered_at {
            self.buffered.retain(|_, end_ns| *end_ns > now_ns);
            self.forget_buffered_at = 2 * self.buffered.len() + 1024;
        }
    }

    pub(super) fn units(&self, request: &Request) -> std::ops::Range<u64> {
        let unit = self.parameters.mapping_unit;
        request.offset / unit..request.end().div_ceil(unit)
    }

    /// The page and the die of a physical unit.
    pub(super) fn page_of(&self, physical: u32) -> (u64, usize) {
        let page = u64::from(physical) / self.parameters.units_per_page();
        (page, (page % self.flash.dies() as u64) as usize)
    }

    fn read(
        &mut self,
        ready_ns: u64,
        request: &Request,
        breakdown: &mut Breakdown,
    ) -> Result<(), IoError> {
        let unit_bytes = self.parameters.mapping_unit;
        let mut slowest: Option<FlashRead> = None;
        // Units in the same page are read together.
        let mut page_run: Option<(u64, usize, u64)> = None;
        for unit in self.units(request) {
            let place = self.page_to_read(ready_ns, unit);
            page_run = match (page_run, place) {
                (Some((page, die, bytes)), Some((next, _))) if next == page => {
                    Some((page, die, bytes + unit_bytes))
                }
                (run, place) => {
                    if let Some((page, die, bytes)) = run {
                        self.read_page(ready_ns, page, die, bytes, &mut slowest);
                    }
                    place.map(|(page, die)| (page, die, unit_bytes))
                }
            };
        }
        if let Some((page, die, bytes)) = page_run {
            self.read_page(ready_ns, page, die, bytes, &mut slowest);
        }
        let mut at_ns = ready_ns;
        breakdown.layer = Layer::DriveCache;
        if let Some(read) = slowest {
            breakdown.layer = Layer::Media;
            breakdown.queue_ns += read.queue_ns;
            breakdown.program_ns += read.program_wait_ns;
            breakdown.transfer_ns += read.transfer_ns;
            at_ns = read.done_ns;
        }
        let mut result = Ok(());
        if !self.defects.is_empty() {
            let range = Extent {
                start: request.offset,
                end: request.end(),
            };
            let extra = self.defects.read(range, breakdown.transfer_ns);
            let retry_ns = u64::from(extra.retries) * self.parameters.read_ns + extra.slow_ns;
            breakdown.retries += extra.retries;
            breakdown.retry_ns += retry_ns;
            at_ns += retry_ns;
            result = extra.error.map_or(Ok(()), Err);
        }
        let bus_ns = fixed::bytes_to_ns(request.len, self.parameters.link_bytes_per_s);
        let start_ns = self.link_out.take(ready_ns, at_ns, bus_ns);
        breakdown.queue_ns += start_ns - at_ns;
        breakdown.bus_ns += bus_ns;
        result
    }

    /// The page and the die that a read of `unit` needs; `None` when the
    /// controller knows the data without the flash.
    pub(super) fn page_to_read(&self, now_ns: u64, unit: u64) -> Option<(u64, usize)> {
        match self.map.get(unit) {
            Location::Trimmed => None,
            Location::Untouched if self.parameters.wear == Wear::Fresh => None,
            Location::Untouched => {
                // Written before the simulation: in sequence, as far as pages
                // go, at a place that its number selects.
                let page = hash(unit / self.parameters.units_per_page());
                let die = (page % self.flash.dies() as u64) as usize;
                Some((page | 1 << 63, die))
            }
            Location::At(physical) => {
                let (page, die) = self.page_of(physical);
                let buffered = self
                    .buffered
                    .get(&page)
                    .is_some_and(|end_ns| *end_ns > now_ns);
                let gathered = self.host.is_some_and(|host| {
                    self.physical(host.block, host.next) / self.parameters.units_per_page() == page
                        && !self.gathering.is_empty()
                });
                (!buffered && !gathered).then_some((page, die))
            }
        }
    }

    fn read_page(
        &mut self,
        ready_ns: u64,
        page: u64,
        die: usize,
        bytes: u64,
        slowest: &mut Option<FlashRead>,
    ) {
        let read = self.flash.read(ready_ns, die, page, bytes, 0);
        if slowest.is_none_or(|slowest| read.done_ns > slowest.done_ns) {
            *slowest = Some(read);
        }
    }

    /// The number of a place in a superblock.
    pub(super) fn physical(&self, block: usize, unit: u64) -> u64 {
        block as u64 * self.blocks.units_per_block() + unit
    }
}

impl Device for Ssd {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        self.meter.begin(now_ns);
        match device::check(
            request,
            self.parameters.capacity,
            self.parameters.logical_sector,
        ) {
            Ok(()) => {
                self.waiting.push_back((*request, now_ns));
                self.admit(now_ns);
            }
            Err(error) => {
                let mut completion = Completion::of(request, now_ns, Breakdown::default());
                completion.result = Err(error);
                self.in_drive += 1;
                self.outbox.push(completion);
            }
        }
    }

    fn next_event(&self) -> Option<u64> {
        self.outbox.next_ns()
    }

    fn advance(&mut self, to_ns: u64, out: &mut Vec<Completion>) {
        while let Some(completion) = self.outbox.pop_due(to_ns) {
            let done_ns = completion.done_ns;
            self.in_drive -= 1;
            self.meter.end(
                done_ns,
                completion.kind,
                completion.len,
                completion.submitted_ns,
            );
            out.push(completion);
            self.admit(done_ns);
        }
        self.release_buffer(to_ns);
    }

    fn capacity(&self) -> u64 {
        self.parameters.capacity
    }

    fn logical_sector(&self) -> u64 {
        self.parameters.logical_sector
    }

    fn queue_depth_limit(&self) -> u32 {
        self.parameters.queue_depth
    }

    fn statistics(&self, now_ns: u64) -> Statistics {
        self.meter.at(now_ns)
    }

    fn volatile(&self) -> Vec<Extent> {
        if self.parameters.power_loss_protection {
            return Vec::new();
        }
        let unit_bytes = self.parameters.mapping_unit;
        let mut units = self.gathering.clone();
        for (&page, _) in self.buffered.iter().filter(|(_, end)| **end > self.now_ns) {
            let first = page * self.parameters.units_per_page();
            for physical in first..first + self.parameters.units_per_page() {
                let block = (physical / self.blocks.units_per_block()) as usize;
                let place = (physical % self.blocks.units_per_block()) as usize;
                let owner = self.blocks.block(block).owners.get(place).copied();
                if let Some(owner) = owner.filter(|owner| *owner != NOBODY)
                    && self.map.get(u64::from(owner)) == Location::At(physical as u32)
                {
                    units.push(u64::from(owner));
                }
            }
        }
        units.sort_unstable();
        units.dedup();
        units
            .into_iter()
            .map(|unit| Extent {
                start: unit * unit_bytes,
                end: ((unit + 1) * unit_bytes).min(self.parameters.capacity),
            })
            .collect()
    }
}
