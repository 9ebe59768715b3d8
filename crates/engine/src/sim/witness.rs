//! The evidence of a trial, as the observers of a real host give it.

use super::machine::Machine;
use super::plant::Plant;
use crate::outcome::TrialOutcome;
use diskfacts_disk::host::{PageTraffic, RateLimits};
use diskfacts_disk::{Extent, Statistics};
use diskfacts_record::Evidence;
use diskfacts_record::evidence::{
    Beside, DeviceCounters, IoLimit, Journal, LimitOf, Pressure, ProcessIo, Processors, Residency,
    ResidencyMethod, Truth, Unseen, WriteBack,
};

/// Processors of a host whose processor time is planted.
const PROCESSORS: u64 = 4;

/// One reading of everything.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    at_ns: u64,
    statistics: Statistics,
    traffic: PageTraffic,
    /// Of the span: bytes in the page cache, and dirty ones.
    resident: (u64, u64),
    /// Bytes that anybody made dirty, and that are dirty or being written.
    dirtied_bytes: u64,
    dirty_bytes: u64,
}

impl Reading {
    pub(super) fn take(machine: &Machine, span: Extent) -> Self {
        let at_ns = machine.now_ns();
        Self {
            at_ns,
            statistics: machine.host.block_statistics(at_ns),
            traffic: machine.host.traffic(),
            resident: machine.host.resident(span),
            dirtied_bytes: machine.host.traffic().dirtied_bytes
                + machine.host.traffic_apart().dirtied_bytes,
            dirty_bytes: machine.host.dirty_bytes(),
        }
    }

    /// What the page cache moved since an earlier reading.
    fn traffic_since(&self, before: &Self) -> PageTraffic {
        let (now, then) = (self.traffic, before.traffic);
        PageTraffic {
            filled_bytes: now.filled_bytes - then.filled_bytes,
            dirtied_bytes: now.dirtied_bytes - then.dirtied_bytes,
            cancelled_bytes: now.cancelled_bytes - then.cancelled_bytes,
            read_from_media_bytes: now.read_from_media_bytes - then.read_from_media_bytes,
            read_from_drive_bytes: now.read_from_drive_bytes - then.read_from_drive_bytes,
            written_back_bytes: now.written_back_bytes - then.written_back_bytes,
            journal_commits: now.journal_commits - then.journal_commits,
            journal_bytes: now.journal_bytes - then.journal_bytes,
        }
    }
}

/// What was seen of a trial between two readings of the machine that did it.
pub(super) fn evidence(
    machine: &Machine,
    (before, after): (&Reading, &Reading),
    span: Extent,
    disk: &str,
    outcome: &TrialOutcome,
    plant: &Plant,
) -> Evidence {
    let traffic = after.traffic_since(before);
    let issued = outcome.issued;
    let residency = |reading: &Reading| {
        Some(Residency {
            span_bytes: span.len(),
            cached_bytes: reading.resident.0,
            dirty_bytes: Some(reading.resident.1),
            writing_bytes: None,
            evicted_bytes: None,
            recently_evicted_bytes: None,
            method: ResidencyMethod::Cachestat,
        })
    };
    let mut evidence = Evidence {
        process_io: Some(ProcessIo {
            rchar: issued.read_bytes,
            wchar: issued.write_bytes,
            read_bytes: machine.direct.read_bytes + traffic.filled_bytes,
            write_bytes: machine.direct.write_bytes + traffic.dirtied_bytes,
            cancelled_write_bytes: traffic.cancelled_bytes,
        }),
        devices: vec![counters(disk, &before.statistics, &after.statistics)],
        residency_before: residency(before),
        residency_after: residency(after),
        write_back: Some(write_back(machine, (before, after), &traffic)),
        io_limits: Some(io_limits(&plant.block.rates, disk)),
        journal: journal(machine, &traffic),
        read_ahead: super::read_ahead::evidence(machine),
        truth: Some(truth(machine, outcome, &traffic)),
        ..Evidence::default()
    };
    let length_ns = (after.at_ns - before.at_ns) as f64;
    let spent = machine.processor;
    let all_ns = PROCESSORS * (after.at_ns - before.at_ns);
    evidence.processors = Some(Processors {
        user_ns: spent.user_ns,
        system_ns: spent.system_ns,
        interrupt_ns: 0,
        idle_ns: all_ns.saturating_sub(spent.user_ns + spent.system_ns),
        ..Processors::default()
    });
    if let Some(processor) = plant.processor {
        evidence.pressure = Some(Pressure {
            cpu_some_ns: (processor.waited * length_ns) as u64,
            ..Pressure::default()
        });
        evidence.cpu_steal_ns = Some((processor.stolen * length_ns) as u64);
    } else {
        let why = "on a simulated host nobody else wants a processor";
        let unseen = ["pressure", "cpu_steal"];
        evidence.unseen.extend(unseen.map(|what| Unseen {
            what: what.to_owned(),
            why: why.to_owned(),
        }));
    }
    evidence
}

/// The same of what ran beside, as far as it was observed from outside.
pub(super) fn beside(machine: &Machine, did: &Beside) -> Beside {
    let traffic = machine.host.traffic_apart();
    Beside {
        process_io: Some(ProcessIo {
            rchar: did.read_bytes,
            wchar: did.write_bytes,
            read_bytes: machine.direct_beside.read_bytes + traffic.filled_bytes,
            write_bytes: machine.direct_beside.write_bytes + traffic.dirtied_bytes,
            cancelled_write_bytes: 0,
        }),
        ..Beside::default()
    }
}

/// Dirty pages, as `/proc/vmstat` has them.
fn write_back(
    machine: &Machine,
    (before, after): (&Reading, &Reading),
    traffic: &PageTraffic,
) -> WriteBack {
    let parameters = machine.host.parameters();
    let dirtied_bytes = after.dirtied_bytes - before.dirtied_bytes;
    let gone_bytes = (before.dirty_bytes + dirtied_bytes).saturating_sub(after.dirty_bytes);
    WriteBack {
        dirty_limit_bytes: parameters.dirty_limit,
        dirty_background_bytes: parameters.dirty_background,
        dirty_before_bytes: before.dirty_bytes,
        dirty_after_bytes: after.dirty_bytes,
        dirtied_bytes,
        written_bytes: gone_bytes.saturating_sub(traffic.cancelled_bytes),
    }
}

/// Limits of the control group, as `io.max` has them.
fn io_limits(rates: &RateLimits, disk: &str) -> Vec<IoLimit> {
    let all = [
        (LimitOf::ReadBytes, rates.read_bytes_per_s),
        (LimitOf::WriteBytes, rates.write_bytes_per_s),
        (LimitOf::Reads, rates.reads_per_s),
        (LimitOf::Writes, rates.writes_per_s),
    ];
    let set = all.into_iter().filter_map(|(of, per_s)| {
        Some(IoLimit {
            device: disk.to_owned(),
            of,
            per_s: per_s?,
            file: "/sys/fs/cgroup/simulated/io.max".to_owned(),
        })
    });
    set.collect()
}

/// Of the journal, where the host has one.
fn journal(machine: &Machine, traffic: &PageTraffic) -> Option<Journal> {
    if machine.host.has_journal() {
        // jbd2 counts its transactions, and does not tell their bytes.
        return Some(Journal {
            kind: "jbd2".to_owned(),
            commits: traffic.journal_commits,
            bytes: None,
            commit_ms: None,
        });
    }
    (machine.host.parameters().journal_bytes > 0).then(|| Journal {
        kind: "simulated".to_owned(),
        commits: traffic.journal_commits,
        bytes: Some(traffic.journal_bytes),
        commit_ms: None,
    })
}

fn truth(machine: &Machine, outcome: &TrialOutcome, traffic: &PageTraffic) -> Truth {
    let volatile = if outcome.issued.write_bytes > 0 {
        let extents = machine.host.device_volatile();
        extents.iter().map(Extent::len).sum()
    } else {
        0
    };
    Truth {
        layers: machine.served.layers(&outcome.issued, traffic, volatile),
        time: Some(machine.spent),
    }
}

/// The difference of two lines of `/proc/diskstats`, in its units: the kernel
/// rounds every counter down to milliseconds, and so do we. What asks for a flush is a
/// request without data there, which counts as a write too, with the time of the flush
/// (`blk_account_io_done` in `block/blk-mq.c`).
fn counters(disk: &str, before: &Statistics, after: &Statistics) -> DeviceCounters {
    let ms = |of: fn(&Statistics) -> u64| of(after) / 1_000_000 - of(before) / 1_000_000;
    let difference = |of: fn(&Statistics) -> u64| of(after) - of(before);
    DeviceCounters {
        name: disk.to_owned(),
        leaf: true,
        reads: difference(|s| s.read.ios),
        read_merges: difference(|s| s.read.merges),
        read_bytes: difference(|s| s.read.sectors) * 512,
        read_ms: ms(|s| s.read.ticks_ns),
        writes: difference(|s| s.write.ios + s.flush.ios),
        write_merges: difference(|s| s.write.merges),
        write_bytes: difference(|s| s.write.sectors) * 512,
        write_ms: ms(|s| s.write.ticks_ns + s.flush.ticks_ns),
        busy_ms: ms(|s| s.busy_ns),
        weighted_ms: ms(|s| s.weighted_ns),
        discards: Some(difference(|s| s.discard.ios)),
        discard_merges: Some(difference(|s| s.discard.merges)),
        discard_bytes: Some(difference(|s| s.discard.sectors) * 512),
        discard_ms: Some(ms(|s| s.discard.ticks_ns)),
        flushes: Some(difference(|s| s.flush.ios)),
        flush_ms: Some(ms(|s| s.flush.ticks_ns)),
        in_flight_before: before.in_flight,
    }
}
