//! Writes that are synced on a filesystem with a journal: what of its requests is the
//! operation's own, and what it waits for besides.

use super::*;
use diskfacts_record::evidence::{Bucket, Journal};

/// Operations of a trial, and bytes that the journal writes for each: a block that describes
/// another, that other and the commit in one.
const OPERATIONS: u64 = 10_000;
const JOURNAL_BYTES: u64 = 8_192;
/// A write by the counters and by the events, and a flush, ns.
const WRITE_NS: f64 = 20_000.0;
const FLUSH_NS: f64 = 15_000.0;

/// Operations of one write, one sync and one commit, which is so many times two writes and a
/// flush: one time for the operation, the others for somebody else.
fn committed(commits_each: u64, change: impl FnOnce(&mut Trial)) -> Run {
    run(|trial| {
        trial.workload.operation = diskfacts_plan::Operation::Write;
        trial.workload.sync = SyncMode::Fdatasync;
        trial.ops = OPERATIONS;
        let bytes = OPERATIONS * trial.workload.block_size;
        let issued = &mut trial.evidence.issued;
        (issued.reads, issued.read_bytes) = (0, 0);
        (issued.writes, issued.write_bytes) = (OPERATIONS, bytes);
        issued.syncs = OPERATIONS;
        trial
            .evidence
            .process_io
            .as_mut()
            .expect("known")
            .read_bytes = 0;
        let commits = commits_each * OPERATIONS;
        trial.evidence.journal = Some(Journal {
            kind: "jbd2".into(),
            commits,
            bytes: None,
            commit_ms: None,
        });
        let writes = OPERATIONS + 2 * commits;
        for device in &mut trial.evidence.devices {
            (device.reads, device.read_bytes, device.read_ms) = (0, 0, 0);
            device.writes = writes;
            device.write_bytes = bytes + commits * JOURNAL_BYTES;
            device.flushes = Some(commits);
            let flush_ms = commits as f64 * FLUSH_NS / 1e6;
            device.flush_ms = Some(flush_ms as u64);
            device.write_ms = (writes as f64 * WRITE_NS / 1e6 + flush_ms) as u64;
        }
        change(trial);
    })
}

/// So many requests of one time, ns.
fn bucket(ns: u64, count: u64) -> Bucket {
    let (from, to) = (ns, ns);
    Bucket { from, to, count }
}

/// Its requests were followed.
fn follow_writes(trial: &mut Trial) {
    follow(trial, 0.0, WRITE_NS);
    let counted = &trial.evidence.devices[0];
    let (writes, flushes) = (counted.writes, counted.flushes.expect("counted"));
    let layer = trial.evidence.block_layer.as_mut().expect("followed");
    let followed = &mut layer.devices[0].operations;
    (followed[0].operation, followed[0].completed) = (RequestKind::Write, writes);
    followed[0].device_histogram = vec![bucket(WRITE_NS as u64, writes)];
    followed.push(OperationRequests {
        operation: RequestKind::Flush,
        completed: flushes,
        device_ns: latency(FLUSH_NS, flushes),
        ..OperationRequests::default()
    });
}

/// Time of a part, ns.
fn spent(run: &Run, part: Spent) -> u64 {
    let budget = crate::figures(run)[0].budget.clone().expect("a budget");
    budget.mean_ns(part).round() as u64
}

const KERNEL: (Spent, f64) = (Spent::Kernel, 10_000.0);
const PROCESSOR: (Spent, f64) = (Spent::Processor, 5_000.0);
const NOTHING: (Spent, f64) = (Spent::Unexplained, 0.0);

/// The parts of writes one at a time, of which these are not the same for all, ns.
fn of_one(journal_ns: f64, requests: (Spent, f64), flush_ns: f64) -> [(Spent, f64); 6] {
    let journal = (Spent::Journal, journal_ns);
    let flush = (Spent::Flush, flush_ns);
    [KERNEL, PROCESSOR, journal, requests, flush, NOTHING]
}

#[test]
fn blocks_of_the_journal_are_the_journals_and_not_the_device() {
    assert_parts(
        &committed(1, follow_writes),
        &of_one(50_000.0, (Spent::Device, 20_000.0), 15_000.0),
    );
}

#[test]
fn commits_that_others_ask_for_are_no_time_with_the_device() {
    // By all requests it would be 140 us with the device, of 100 us.
    assert_parts(
        &committed(3, follow_writes),
        &of_one(20_000.0, (Spent::Device, 20_000.0), 45_000.0),
    );
}

#[test]
fn counters_alone_say_it_of_scheduler_and_device_together() {
    let parts = |device_ns, flush_ns| {
        let journal_ns = LATENCY_NS - 15_000.0 - device_ns - flush_ns;
        of_one(journal_ns, (Spent::BlockLayer, device_ns), flush_ns)
    };
    assert_parts(&committed(1, |_| {}), &parts(20_000.0, 15_000.0));
    assert_parts(&committed(3, |_| {}), &parts(20_000.0, 45_000.0));
    // A second flush for each commit may have been a write without data, which took no time of
    // the others: then the data took one of two parts of it.
    let twice = committed(1, |trial| {
        for device in &mut trial.evidence.devices {
            let flush_ms = device.flush_ms.expect("counted");
            device.flushes = Some(2 * OPERATIONS);
            device.flush_ms = Some(2 * flush_ms);
            device.write_ms += flush_ms;
        }
    });
    assert_parts(
        &twice,
        &of_one(25_000.0, (Spent::BlockLayer, 30_000.0), 30_000.0),
    );
}

#[test]
fn of_several_writes_at_a_time_a_sync_still_waits_for_the_filesystem() {
    let deep = committed(1, |trial| {
        follow_writes(trial);
        trial.workload.queue_depth = 8;
    });
    assert_parts(
        &deep,
        &[
            KERNEL,
            (Spent::Processor, 40_000.0),
            (Spent::Journal, 50_000.0),
            NOTHING,
        ],
    );
}

#[test]
fn a_block_of_many_requests_has_all_of_them_as_its_own() {
    let cut = |max_request_bytes, each_ns: f64| {
        let mut run = committed(1, |trial| {
            follow_writes(trial);
            trial.workload.block_size = 1 << 20;
            let bytes = OPERATIONS << 20;
            trial.evidence.issued.write_bytes = bytes;
            trial
                .evidence
                .process_io
                .as_mut()
                .expect("known")
                .write_bytes = bytes;
            let writes = 258 * OPERATIONS;
            for device in &mut trial.evidence.devices {
                device.writes = writes;
                device.write_bytes = bytes + OPERATIONS * JOURNAL_BYTES;
            }
            let layer = trial.evidence.block_layer.as_mut().expect("followed");
            let followed = &mut layer.devices[0].operations[0];
            followed.completed = writes;
            followed.device_ns = latency(each_ns, writes);
        });
        for device in &mut run.stack.devices {
            device.max_request_bytes = max_request_bytes;
        }
        spent(&run, Spent::Device)
    };
    assert_eq!(cut(Some(4_096), 200.0), 51_200);
    // Nothing says that it is cut: all but as many as what the journal wrote has sectors.
    assert_eq!(cut(None, 200.0), (258 - 16) * 200);
}

#[test]
fn a_large_write_that_takes_longer_than_the_journals_blocks_has_its_time() {
    let large = |histogram: Option<Vec<Bucket>>| {
        let run = committed(1, |trial| {
            follow_writes(trial);
            trial.workload.block_size = 64 << 10;
            let bytes = OPERATIONS * trial.workload.block_size;
            trial.evidence.issued.write_bytes = bytes;
            trial
                .evidence
                .process_io
                .as_mut()
                .expect("known")
                .write_bytes = bytes;
            for device in &mut trial.evidence.devices {
                device.write_bytes = bytes + OPERATIONS * JOURNAL_BYTES;
            }
            match histogram {
                Some(histogram) => {
                    let layer = trial.evidence.block_layer.as_mut().expect("followed");
                    layer.devices[0].operations[0].device_histogram = histogram;
                }
                None => trial.evidence.block_layer = None,
            }
        });
        spent(&run, Spent::Device) + spent(&run, Spent::BlockLayer)
    };
    let alike = vec![bucket(WRITE_NS as u64, 3 * OPERATIONS)];
    assert_eq!(large(Some(alike)), 20_000);
    // One slow one in three, of 50 us, and two of 5 us.
    let apart = vec![bucket(5_000, 2 * OPERATIONS), bucket(50_000, OPERATIONS)];
    assert_eq!(large(Some(apart)), 50_000);
    // The tail of what a busy machine delays: the slowest third takes five times as long on
    // average, and half of it hardly longer than the rest.
    let tail = vec![
        bucket(10_000, 2 * OPERATIONS),
        bucket(11_000, OPERATIONS / 2),
        bucket(90_000, OPERATIONS / 2),
    ];
    assert_eq!(large(Some(tail)), 20_000);
    // Counters do not tell: at most as much of the time as it has of the bytes.
    assert_eq!(large(None), 60_000 * 64 / 72);
}

/// Others read half as often as is written, as long as a write takes.
fn read_beside(trial: &mut Trial) {
    follow_writes(trial);
    for device in &mut trial.evidence.devices {
        let reads = device.writes / 2;
        (device.reads, device.read_bytes) = (reads, reads * 512);
        device.read_ms = (reads as f64 * WRITE_NS / 1e6) as u64;
    }
    let reads = trial.evidence.devices[0].reads;
    let layer = trial.evidence.block_layer.as_mut().expect("followed");
    layer.devices[0].operations.push(OperationRequests {
        operation: RequestKind::Read,
        completed: reads,
        queued_ns: latency(0.0, reads),
        device_ns: latency(WRITE_NS, reads),
        ..OperationRequests::default()
    });
}

#[test]
fn reads_of_others_make_nothing_the_journals_where_it_was_idle() {
    let quiet = committed(0, |trial| {
        read_beside(trial);
        // Syncs for which nothing has to be committed ask for a flush each.
        for device in &mut trial.evidence.devices {
            (device.flushes, device.flush_ms) = (Some(OPERATIONS), Some(150));
            device.write_ms += 150;
        }
    });
    assert_eq!(spent(&quiet, Spent::Device), 30_000);
}

#[test]
fn reads_of_others_are_neither_the_operations_own_nor_the_journals() {
    assert_parts(
        &committed(1, read_beside),
        &of_one(50_000.0, (Spent::Device, 20_000.0), 15_000.0),
    );
}

#[test]
fn without_a_filesystem_all_requests_stay_with_the_device() {
    let mut raw = committed(1, |trial| {
        follow_writes(trial);
        trial.bytes = 1 << 40;
    });
    raw.stack.filesystem = None;
    assert_eq!(spent(&raw, Spent::Device), 60_000);
    assert_eq!(spent(&raw, Spent::Journal), 0);
}

#[test]
fn who_writes_without_regard_to_our_syncs_is_no_journal_of_ours() {
    // Much in few requests.
    let beside = committed(1, |trial| {
        follow_writes(trial);
        for device in &mut trial.evidence.devices {
            device.write_bytes += 512 << 20;
        }
        trial.bytes = 1 << 40;
    });
    assert_eq!(spent(&beside, Spent::Device), 20_000);
}
