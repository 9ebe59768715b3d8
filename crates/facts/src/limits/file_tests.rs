//! Causes that lie in a file or in how its filesystem is mounted, each beside the same
//! without it. That they are so on a real kernel is tested with the program (`situations`).

use super::host_tests::{of as of_stage, said};
use super::*;
use crate::limits;
use crate::testing::{self, each};
use diskfacts_plan::{CacheMode, SyncMode};
use diskfacts_record::evidence::{ControlGroup, GroupMemory, WriteBack};
use diskfacts_record::{ExtentMethod, Extents, Run, Trial, Unseen};

const READ: &str = "random-read-qd1";
const WRITE: &str = "random-write-qd1";

/// A file of which so many bytes of 100 are holes, compressed, shared.
fn with_extents(holes: u64, encoded: u64, shared: u64) -> Run {
    let mut run = testing::healthy();
    run.target.extents = Some(Extents {
        span_bytes: 100,
        hole_bytes: holes,
        unwritten_bytes: Some(0),
        encoded_bytes: Some(encoded),
        shared_bytes: Some(shared),
        inline_bytes: Some(0),
        extents: Some(1),
        method: ExtentMethod::Fiemap,
    });
    run
}

#[test]
fn holes_that_are_read_come_before_the_page_cache_and_few_of_them_do_not() {
    let mut run = with_extents(100, 0, 0);
    each(&mut run, READ, |trial| {
        trial
            .evidence
            .process_io
            .as_mut()
            .expect("an account")
            .read_bytes = 0;
        for device in &mut trial.evidence.devices {
            (device.reads, device.read_bytes, device.busy_ms) = (0, 0, 0);
        }
    });
    let limits = limits(&run);
    let of_stage = limits.iter().find(|stage| stage.stage == READ);
    let first = &of_stage.expect("the stage").limits[0];
    assert_eq!(first.limiter, holes::LIMITER.name, "{first:#?}");
    assert!(said(&with_extents(5, 0, 0), READ, holes::LIMITER.name).is_none());
    assert!(said(&run, WRITE, holes::LIMITER.name).is_none());
}

#[test]
fn what_is_compressed_is_said_of_reads_and_what_is_shared_of_writes() {
    let run = with_extents(0, 80, 70);
    let claim = said(&run, READ, compression::LIMITER.name)
        .expect("compressed")
        .claim;
    assert!(
        claim.starts_with("80 % of the file is compressed or encrypted"),
        "{claim}"
    );
    assert!(said(&run, WRITE, compression::LIMITER.name).is_none());
    let claim = said(&run, WRITE, copy_on_write::LIMITER.name)
        .expect("shared")
        .claim;
    assert!(claim.starts_with("70 % of the file is shared"), "{claim}");
    assert!(said(&run, READ, copy_on_write::LIMITER.name).is_none());
    let run = with_extents(0, 5, 5);
    assert!(said(&run, READ, compression::LIMITER.name).is_none());
    assert!(said(&run, WRITE, copy_on_write::LIMITER.name).is_none());
}

#[test]
fn what_the_device_takes_is_no_work_for_new_places_whoever_told_it() {
    let share = |events: bool| {
        let mut run = with_extents(0, 0, 100);
        each(&mut run, WRITE, |trial| {
            let (mean, ops) = (trial.latency_ns.mean.expect("latencies"), trial.ops);
            for device in &mut trial.evidence.devices {
                device.write_ms = (0.95 * mean * ops as f64 / 1e6) as u64;
            }
            if !events {
                trial.evidence.bursts = None;
            }
        });
        let limit = said(&run, WRITE, copy_on_write::LIMITER.name).expect("shared");
        limit.share.expect("a budget")
    };
    for events in [true, false] {
        assert!(share(events) < 0.2, "{events}: {}", share(events));
    }
}

#[test]
fn a_mount_that_syncs_is_named_for_writes_that_do_not_ask_for_it() {
    let mounted = |option: &str| {
        let mut run = testing::healthy();
        let filesystem = run.stack.filesystem.as_mut().expect("a filesystem");
        filesystem.options = vec!["rw".into(), option.into()];
        run
    };
    let run = mounted("sync");
    assert!(said(&run, WRITE, sync_mount::LIMITER.name).is_some());
    assert!(said(&run, READ, sync_mount::LIMITER.name).is_none());
    assert!(said(&run, "log-write", sync_mount::LIMITER.name).is_none());
    assert!(said(&mounted("dirsync"), WRITE, sync_mount::LIMITER.name).is_none());
}

#[test]
fn parts_of_pages_are_named_where_reads_come_with_the_writes() {
    let written = |block_size, reads, own| {
        let mut run = testing::healthy();
        run.trials.retain(|trial| trial.stage == WRITE);
        each(&mut run, WRITE, |trial| {
            trial.workload.block_size = block_size;
            trial.workload.cache = CacheMode::Buffered;
            trial.workload.sync = SyncMode::None;
            trial.evidence.engine.direct = false;
            trial.cpu.system_ns_per_io = Some(1000.0);
            let (mean, ops) = (trial.latency_ns.mean.expect("latencies"), trial.ops);
            let io = trial.evidence.process_io.as_mut().expect("an account");
            io.read_bytes = if own { 4096 * ops } else { 0 };
            for device in &mut trial.evidence.devices {
                device.reads = if reads { ops } else { 0 };
                device.read_ms = (mean * device.reads as f64 / 1e6) as u64;
            }
        });
        said(&run, WRITE, partial_pages::LIMITER.name)
    };
    let claim = written(512, true, true).expect("parts of pages").claim;
    assert!(claim.contains("1 reads for each write"), "{claim}");
    assert!(written(512, false, false).is_none());
    assert!(written(4096, true, true).is_none());
    // Somebody else reads.
    assert!(written(512, true, false).is_none());
}

#[test]
fn what_memory_did_not_keep_is_its_groups_where_that_may_have_less() {
    // A read from the device takes so many times as long as the mean operation.
    let limited_at = |bytes: Option<u64>, from_device: f64, longer: f64, warmed: bool| {
        let mut run = testing::healthy();
        each(&mut run, "cached-random-read", |trial: &mut Trial| {
            let fetched = (from_device * trial.bytes as f64) as u64;
            trial
                .evidence
                .process_io
                .as_mut()
                .expect("an account")
                .read_bytes = fetched;
            trial.cpu.system_ns_per_io = Some(100.0);
            if from_device > 0.0 {
                let after = trial.evidence.residency_after.as_mut();
                let after = after.expect("the page cache was asked");
                after.cached_bytes -= (from_device * after.span_bytes as f64) as u64;
            }
            if !warmed {
                trial.evidence.unseen.push(Unseen {
                    what: "warm page cache".into(),
                    why: "an I/O error".into(),
                });
            }
            let (mean, ops) = (trial.latency_ns.mean.expect("latencies"), trial.ops as f64);
            for device in &mut trial.evidence.devices {
                device.reads = (from_device * ops) as u64;
                device.read_bytes = fetched;
                device.read_ms = (from_device * ops * mean * longer / 1e6) as u64;
            }
            trial.evidence.control_group = Some(ControlGroup {
                folder: "/sys/fs/cgroup/small".into(),
                memory: Some(GroupMemory {
                    limit_bytes: bytes,
                    limited_by: "/sys/fs/cgroup/small".into(),
                    ..GroupMemory::default()
                }),
                pressure: None,
            });
        });
        said(&run, "cached-random-read", evicted::LIMITER.name).map(|limit| limit.claim)
    };
    let limited = |bytes, from_device: f64, warmed| limited_at(bytes, from_device, 1.0, warmed);
    let claim = limited(Some(64 << 20), 0.7, true).expect("taken out");
    assert!(
        claim.contains("a control group, 64 MiB, does not hold the 256 MiB"),
        "{claim}"
    );
    let claim = limited(Some(1 << 30), 0.7, true).expect("taken out");
    assert!(claim.contains("was evicted: 70 %"), "{claim}");
    assert_eq!(limited(Some(64 << 20), 0.0, true), None);
    // Few bytes, and most of the time.
    let claim = limited_at(Some(1 << 30), 0.01, 80.0, true).expect("taken out");
    assert!(claim.contains("evicted: 1 % of it"), "{claim}");
    assert_eq!(limited(Some(1 << 30), 0.01, true), None);
    // What was never read into it.
    assert_eq!(limited(Some(64 << 20), 0.7, false), None);
}

/// Writes of btrfs with eight in flight and less than one at the device, in pages or past them. The
/// kernel works for such a share of the time.
fn of_btrfs(in_pages: bool, work: f64) -> Run {
    let mut run = testing::healthy();
    let filesystem = run.stack.filesystem.as_mut();
    filesystem.expect("it has one").kind = "btrfs".to_owned();
    each(&mut run, WRITE, |trial| {
        trial.workload.queue_depth = 8;
        trial.evidence.engine.mean_depth = 8.0;
        let written = trial.evidence.issued.write_bytes;
        let waited_ms = (trial.seconds * 800.0) as u64;
        for device in &mut trial.evidence.devices {
            device.write_ms = waited_ms;
        }
        trial.evidence.write_back = in_pages.then(|| WriteBack {
            dirtied_bytes: written,
            written_bytes: written,
            ..WriteBack::default()
        });
        trial.cpu.system_ns_per_io = Some(work * 1e9 / trial.iops);
    });
    let stages = run.plan.stages.iter_mut();
    for stage in stages.filter(|stage| stage.name == WRITE) {
        stage.workload.queue_depth = 8;
    }
    run
}

#[test]
fn what_goes_through_pages_one_after_the_other_is_told_once() {
    let (through_pages, one) = (direct_as_buffered::LIMITER.name, serialised::LIMITER.name);
    for work in [0.5, 0.05] {
        let through = of_btrfs(true, work);
        let limit = said(&through, WRITE, through_pages).expect("pages");
        let told = "through the page cache, one after the other";
        assert!(limit.claim.contains(told), "{limit:#?}");
        // What one waits for the others, whose device is slow, is of the same cause.
        assert!(limit.share.is_some_and(|share| share > 0.7), "{limit:#?}");
        assert!(said(&through, WRITE, one).is_none());
    }
    let past = of_btrfs(false, 0.5);
    assert!(said(&past, WRITE, through_pages).is_none());
    assert!(
        said(&past, WRITE, one).is_some(),
        "{:#?}",
        of_stage(&past, WRITE)
    );
}
