//! The contract of an engine, the same suite for each: every operation taken is
//! completed once; as many are taken as fit; what was written is what is read;
//! failures carry their number and disturb nobody.

use diskfacts_engine::buffers::Buffers;
use diskfacts_engine::clock::{Clock, Monotonic, Timescale};
use diskfacts_engine::engine::Done;
#[cfg(target_os = "linux")]
use diskfacts_engine::mmap::Mmap;
use diskfacts_engine::null::Null;
use diskfacts_engine::pool::Pool;
use diskfacts_engine::sim::{Computer, Plant, Sim};
use diskfacts_engine::sync::Sync;
#[cfg(target_os = "linux")]
use diskfacts_engine::uring::{NoWait, Options, Uring};
use diskfacts_engine::{Completion, Engine, FailedIn, Handling, Op, SyncEach, Wait};
use diskfacts_plan::{SyncMode, Workload};
use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 64;
const SCALE: Timescale = Timescale::NANOSECONDS;

/// What the suite needs to know of an engine under test.
struct Subject<E> {
    make: fn(File, u32, SyncEach) -> Option<E>,
    does_io: bool,
    syncs: bool,
}

fn buffers(depth: u32) -> Buffers {
    Buffers::new(depth, BLOCK, 4096, Some(7)).expect("memory for a few blocks")
}

#[expect(clippy::unnecessary_wraps, reason = "the form that all makers share")]
fn null(_: File, depth: u32, _: SyncEach) -> Option<Null<Monotonic>> {
    Some(Null::new(Monotonic, SCALE, depth, BLOCK))
}

#[expect(clippy::unnecessary_wraps, reason = "the form that all makers share")]
fn sync(file: File, depth: u32, sync_each: SyncEach) -> Option<Sync<Monotonic>> {
    Some(Sync::new(
        (Monotonic, SCALE),
        file,
        buffers(depth),
        sync_each,
        false,
    ))
}

/// A ring with these options; skips where the kernel has none, with its reason.
#[cfg(target_os = "linux")]
fn ring(file: File, sync_each: SyncEach, options: Options, what: &str) -> Option<Uring<Monotonic>> {
    let buffers = buffers(options.depth);
    Uring::new((Monotonic, SCALE), file, buffers, sync_each, options)
        .inspect_err(|error| diskfacts_testkit::skip(&format!("{what}: {error}")))
        .ok()
}

#[cfg(target_os = "linux")]
fn uring(file: File, depth: u32, sync_each: SyncEach) -> Option<Uring<Monotonic>> {
    let options = Options {
        depth,
        ..Options::default()
    };
    ring(file, sync_each, options, "io_uring")
}

#[cfg(target_os = "linux")]
fn sqpoll(file: File, depth: u32, sync_each: SyncEach) -> Option<Uring<Monotonic>> {
    let options = Options {
        depth,
        sqpoll: true,
        ..Options::default()
    };
    ring(file, sync_each, options, "io_uring with SQPOLL")
}

/// Three threads that take turns.
#[expect(clippy::unnecessary_wraps, reason = "the form that all makers share")]
fn pool(file: File, depth: u32, sync_each: SyncEach) -> Option<Pool<Monotonic>> {
    let buffers = (0..3).map(|_| buffers(1)).collect();
    let work = (sync_each, Handling::default());
    let pool = Pool::new((Monotonic, SCALE), file, buffers, work, depth);
    Some(pool.expect("three threads"))
}

/// The worker threads of a ring.
#[cfg(target_os = "linux")]
fn workers(file: File, depth: u32, sync_each: SyncEach) -> Option<Uring<Monotonic>> {
    let options = Options {
        depth,
        workers: Some(3),
        ..Options::default()
    };
    ring(file, sync_each, options, "io_uring with worker threads")
}

#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "the form that all makers share")]
fn mmap(file: File, depth: u32, sync_each: SyncEach) -> Option<Mmap<Monotonic>> {
    let handling = Handling::default();
    let mapped = Mmap::new(
        (Monotonic, SCALE),
        file,
        buffers(depth),
        sync_each,
        handling,
    );
    Some(mapped.expect("a file can be mapped"))
}

/// On a disk of its own; data has no content there.
#[expect(clippy::unnecessary_wraps, reason = "the form that all makers share")]
fn sim(_: File, depth: u32, sync_each: SyncEach) -> Option<Sim> {
    let profile = diskfacts_disk::profile::profile("hdd-7200-1tb").expect("a built-in profile");
    let workload = Workload {
        queue_depth: depth,
        sync: match sync_each {
            SyncEach::None => SyncMode::None,
            SyncEach::Data => SyncMode::Fdatasync,
            SyncEach::Full => SyncMode::Fsync,
        },
        ..Workload::default()
    };
    let computer = Computer::new(&profile, 1, Plant::default());
    Some(computer.into_engine(&workload).expect("an engine"))
}

/// A file of numbered blocks: each holds its own index, over and over.
fn numbered() -> (tempfile::NamedTempFile, File) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    for block in 0..BLOCKS {
        file.as_file()
            .write_all_at(&block.to_le_bytes().repeat(512), block * BLOCK)
            .expect("writing the file");
    }
    let open = File::options()
        .read(true)
        .write(true)
        .open(file.path())
        .expect("opening the file again");
    (file, open)
}

fn reap_all<E: Engine>(engine: &mut E, count: usize) -> Vec<Completion> {
    let mut all = Vec::new();
    let mut done = Done::new(count);
    while all.len() < count {
        done.clear();
        engine.reap(Wait::One, &mut done).expect("reaping");
        assert!(!done.is_empty(), "a reap that waits for one brings one");
        all.extend_from_slice(done.as_slice());
    }
    all
}

/// Hands over all operations and reaps until all have come back.
fn run<E: Engine>(engine: &mut E, ops: &[Op]) -> Vec<Completion> {
    let mut completions = Vec::new();
    let mut rest = ops;
    while !rest.is_empty() {
        let taken = engine.submit(rest).expect("submitting");
        assert!(taken > 0, "an idle engine takes at least one");
        completions.extend(reap_all(engine, taken));
        rest = &rest[taken..];
    }
    completions
}

fn op(slot: u32, block: u64, write: bool) -> Op {
    Op {
        offset: block * BLOCK,
        slot,
        write,
    }
}

fn every_operation_completes_once<E: Engine>(subject: &Subject<E>) {
    for depth in [1_u32, 3, 32] {
        let (_keep, file) = numbered();
        let Some(mut engine) = (subject.make)(file, depth, SyncEach::None) else {
            return;
        };
        for round in 0..10 {
            let ops: Vec<Op> = (0..depth)
                .map(|slot| op(slot, u64::from(slot * 7 + round) % BLOCKS, slot % 3 == 0))
                .collect();
            let completions = run(&mut engine, &ops);
            let slots: BTreeSet<u32> = completions.iter().map(|c| c.slot).collect();
            assert_eq!(slots.len(), depth as usize);
            for completion in completions {
                assert_eq!(completion.result, 4096);
                assert_eq!(completion.failed_in, FailedIn::Transfer);
            }
        }
    }
}

fn it_takes_as_many_as_fit<E: Engine>(subject: &Subject<E>) {
    let (_keep, file) = numbered();
    let Some(mut engine) = (subject.make)(file, 4, SyncEach::None) else {
        return;
    };
    let depth = engine.abilities().depth;
    let ops: Vec<Op> = (0..4)
        .map(|slot| op(slot, u64::from(slot), false))
        .collect();
    let taken = engine.submit(&ops).expect("submitting");
    assert_eq!(taken, depth as usize);
    assert_eq!(
        engine
            .submit(&ops[..1])
            .expect("submitting to a full engine"),
        0
    );
    assert_eq!(reap_all(&mut engine, taken).len(), taken);
    assert_eq!(engine.submit(&ops[..1]).expect("submitting"), 1);
    reap_all(&mut engine, 1);
}

fn writes_reach_their_place_and_no_other<E: Engine>(subject: &Subject<E>, sync_each: SyncEach) {
    let (keep, file) = numbered();
    let Some(mut engine) = (subject.make)(file, 4, sync_each) else {
        return;
    };
    let written = [3_u64, 9, 10, 63];
    let ops: Vec<Op> = (0..4_u32)
        .map(|i| op(i, written[i as usize], true))
        .collect();
    for completion in run(&mut engine, &ops) {
        assert_eq!(completion.result, 4096);
    }
    engine.sync_all().expect("syncing");
    engine.sync_data().expect("syncing data");
    let mut block = vec![0; 4096];
    for index in 0..BLOCKS {
        keep.as_file()
            .read_exact_at(&mut block, index * BLOCK)
            .expect("reading back");
        let untouched = block == index.to_le_bytes().repeat(512);
        assert_eq!(untouched, !written.contains(&index), "block {index}");
    }
    assert_eq!(
        keep.as_file().metadata().expect("its size").len(),
        BLOCKS * BLOCK
    );
}

fn a_read_beyond_the_end_is_short_and_disturbs_nobody<E: Engine>(subject: &Subject<E>) {
    let (keep, file) = numbered();
    keep.as_file()
        .set_len(BLOCKS * BLOCK - 1000)
        .expect("cutting the file");
    let Some(mut engine) = (subject.make)(file, 4, SyncEach::None) else {
        return;
    };
    let ops = [
        op(0, 0, false),
        op(1, BLOCKS - 1, false),
        op(2, BLOCKS + 5, false),
        op(3, 1, false),
    ];
    let mut results = [0; 4];
    for completion in run(&mut engine, &ops) {
        results[completion.slot as usize] = completion.result;
    }
    assert_eq!(results, [4096, 3096, 0, 4096]);
}

fn a_failed_write_carries_its_number<E: Engine>(subject: &Subject<E>, sync_each: SyncEach) {
    let (keep, _) = numbered();
    let read_only = File::open(keep.path()).expect("opening for reading");
    let Some(mut engine) = (subject.make)(read_only, 2, sync_each) else {
        return;
    };
    let mut results = [0; 2];
    for completion in run(&mut engine, &[op(0, 1, true), op(1, 1, false)]) {
        assert_eq!(completion.failed_in, FailedIn::Transfer);
        results[completion.slot as usize] = completion.result;
    }
    assert_eq!(results, [-libc::EBADF, 4096]);
}

fn a_wait_with_a_deadline_ends<E: Engine>(subject: &Subject<E>) {
    let (_keep, file) = numbered();
    let Some(mut engine) = (subject.make)(file, 1, SyncEach::None) else {
        return;
    };
    engine.submit(&[op(0, 0, false)]).expect("submitting");
    let mut done = Done::new(1);
    while done.is_empty() {
        let until = engine.now() + engine.timescale().ticks(1_000_000);
        engine
            .reap(Wait::Until(until), &mut done)
            .expect("reaping with a deadline");
        if done.is_empty() {
            engine.reap(Wait::Poll, &mut done).expect("polling");
        }
    }
    let tick = engine.now() + engine.timescale().ticks(300_000);
    engine.idle_until(tick).expect("idling");
    assert!(engine.now() >= tick);
}

fn suite<E: Engine>(subject: &Subject<E>) {
    every_operation_completes_once(subject);
    it_takes_as_many_as_fit(subject);
    a_wait_with_a_deadline_ends(subject);
    if !subject.does_io {
        return;
    }
    writes_reach_their_place_and_no_other(subject, SyncEach::None);
    a_read_beyond_the_end_is_short_and_disturbs_nobody(subject);
    a_failed_write_carries_its_number(subject, SyncEach::None);
    if subject.syncs {
        for sync_each in [SyncEach::Data, SyncEach::Full] {
            writes_reach_their_place_and_no_other(subject, sync_each);
            a_failed_write_carries_its_number(subject, sync_each);
        }
    }
}

#[test]
fn the_null_engine_keeps_the_contract() {
    suite(&Subject {
        make: null,
        does_io: false,
        syncs: false,
    });
}

/// `tests/sim.rs` has its failures.
#[test]
fn the_simulated_engine_keeps_the_contract() {
    suite(&Subject {
        make: sim,
        does_io: false,
        syncs: true,
    });
}

#[test]
fn the_sync_engine_keeps_the_contract() {
    suite(&Subject {
        make: sync,
        does_io: true,
        syncs: true,
    });
}

#[test]
#[cfg(target_os = "linux")]
fn the_mmap_engine_keeps_the_contract() {
    suite(&Subject {
        make: mmap,
        does_io: true,
        syncs: true,
    });
}

#[test]
#[cfg(target_os = "linux")]
fn the_io_uring_engine_keeps_the_contract() {
    suite(&Subject {
        make: uring,
        does_io: true,
        syncs: true,
    });
}

#[test]
#[cfg(target_os = "linux")]
fn the_io_uring_engine_with_a_polling_kernel_thread_keeps_the_contract() {
    suite(&Subject {
        make: sqpoll,
        does_io: true,
        syncs: true,
    });
}

#[test]
fn threads_that_take_turns_keep_the_contract() {
    suite(&Subject {
        make: pool,
        does_io: true,
        syncs: true,
    });
}

#[test]
#[cfg(target_os = "linux")]
fn the_worker_threads_of_a_ring_keep_the_contract() {
    suite(&Subject {
        make: workers,
        does_io: true,
        syncs: true,
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_ring_dropped_with_operations_in_flight_waits_for_them() {
    let (_keep, file) = numbered();
    let Some(mut engine) = uring(file, 32, SyncEach::None) else {
        return;
    };
    let ops: Vec<Op> = (0..32)
        .map(|slot| op(slot, u64::from(slot), slot % 2 == 0))
        .collect();
    assert_eq!(engine.submit(&ops).expect("submitting"), 32);
    drop(engine);
}

#[test]
#[cfg(target_os = "linux")]
fn the_io_uring_engine_says_which_abilities_it_got() {
    let (_keep, file) = numbered();
    let Some(mut engine) = uring(file, 8, SyncEach::None) else {
        return;
    };
    engine.probe(0).expect("a read through the ring");
    let abilities = engine.abilities();
    assert_eq!((abilities.name, abilities.depth), ("io_uring", 8));
    assert!(
        abilities.features.iter().any(|f| f == "registered-files")
            || !abilities.fallbacks.is_empty(),
        "{abilities:?}"
    );
}

/// A ring whose first attempts must not wait.
#[cfg(target_os = "linux")]
fn impatient(file: File, depth: u32, sync_each: SyncEach) -> Option<Uring<Monotonic>> {
    let options = Options {
        depth,
        nowait: NoWait::Reads,
        ..Options::default()
    };
    ring(file, sync_each, options, "io_uring")
}

#[test]
#[cfg(target_os = "linux")]
fn a_ring_whose_first_attempts_must_not_wait_keeps_the_contract() {
    suite(&Subject {
        make: impatient,
        does_io: true,
        syncs: true,
    });
}

/// What a device answers whose queue is full when a throttle lets a bio go: the ring's own
/// first attempt must not wait, and the kernel leaves it to the program to try again.
#[test]
#[cfg(target_os = "linux")]
fn reads_that_are_answered_again_are_submitted_again_and_counted() {
    use rustix::fs::{Advice, fadvise};
    let (keep, file) = numbered();
    keep.as_file().sync_all().expect("on the disk");
    fadvise(keep.as_file(), 0, None, Advice::DontNeed).expect("out of the page cache");
    let Some(mut engine) = impatient(file, 32, SyncEach::None) else {
        return;
    };
    let ops: Vec<Op> = (0..32)
        .map(|slot| op(slot, u64::from(slot) * 2, false))
        .collect();
    for completion in run(&mut engine, &ops) {
        assert_eq!(completion.result, 4096);
        assert_eq!(completion.failed_in, FailedIn::Transfer);
    }
    if engine.abilities().resubmitted == 0 {
        diskfacts_testkit::skip("a page cache that lets go of a file: TMPDIR on a disk");
        return;
    }
    assert!(engine.abilities().resubmitted <= 32, "each read but once");
}

#[test]
fn the_best_clock_is_known_by_name() {
    assert!(["tsc", "monotonic"].contains(&Clock::get().name()));
}
