//! The I/O priority of the threads that do the I/O, whoever they are, as the kernel
//! tells it; and that the caller's thread keeps its own.
#![cfg(target_os = "linux")]

use diskfacts_engine::buffers::Buffers;
use diskfacts_engine::clock::{Monotonic, Timescale};
use diskfacts_engine::engine::Done;
use diskfacts_engine::io_priority::{allowed, enter, of_this_thread, of_thread};
use diskfacts_engine::uring::{Options, Uring};
use diskfacts_engine::{
    Engine, Op, Prepare, Progress, StreamFile, SyncEach, Trial, TrialError, TrialOutcome, Wait,
    run_trial,
};
use diskfacts_plan::{CacheMode, IoContext, IoPriority, Operation, Pool, Stop, Workload};
use rustix::thread::{CapabilitySet, capabilities, gettid, set_capabilities};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;

const SIZE: u64 = 1 << 20;

fn file() -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    let content = vec![0x5a; usize::try_from(SIZE).expect("it is small")];
    file.write_all(&content).expect("writing the file");
    file
}

fn run(workload: &Workload, prepare: &mut dyn Prepare) -> Result<TrialOutcome, TrialError> {
    let file = file();
    let trial = Trial {
        file: StreamFile {
            path: file.path(),
            size: SIZE,
            alignment: 4096,
        },
        workload,
        seed: 11,
    };
    run_trial(trial, &Progress::default(), prepare)
}

fn reader(priority: IoPriority) -> Workload {
    Workload {
        cache: CacheMode::Buffered,
        io_priority: Some(priority),
        stop: Stop {
            operations: Some(200),
            ..Stop::default()
        },
        ..Workload::default()
    }
}

/// The threads of this process that have this priority, by name.
fn threads_at(priority: IoPriority) -> BTreeMap<String, u32> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("threads");
    tasks
        .filter_map(|task| {
            let task = task.ok()?;
            let number = task.file_name().to_str()?.parse().ok()?;
            let name = std::fs::read_to_string(task.path().join("comm")).ok()?;
            (of_thread(number) == Some(priority)).then(|| (name.trim().to_owned(), number))
        })
        .collect()
}

/// Which threads had these priorities when the window opened.
struct Watch {
    of: IoPriority,
    beside: Option<IoPriority>,
    /// How many threads it waits for: one has its own name only when it runs.
    threads: usize,
    found: Vec<String>,
    found_beside: Vec<u32>,
    numbers_beside: Vec<u32>,
}

impl Watch {
    fn new(of: IoPriority, beside: Option<IoPriority>, threads: usize) -> Self {
        Self {
            of,
            beside,
            threads,
            found: Vec::new(),
            found_beside: Vec::new(),
            numbers_beside: Vec::new(),
        }
    }
}

impl Prepare for Watch {
    fn before(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }

    fn window_opens(&mut self, beside: &[u32]) {
        for _ in 0..1_000_000 {
            self.found = threads_at(self.of).into_keys().collect();
            if self.found.len() >= self.threads {
                break;
            }
            std::thread::yield_now();
        }
        if let Some(priority) = self.beside {
            self.found_beside = threads_at(priority).into_values().collect();
            self.numbers_beside = beside.to_vec();
        }
    }

    fn after(&mut self) {}
}

#[test]
fn streams_and_what_runs_beside_have_each_their_own_and_the_caller_keeps_its_own() {
    let (of, beside) = (IoPriority::BestEffort(1), IoPriority::BestEffort(2));
    let workload = Workload {
        streams: 2,
        beside: Some(Box::new(Workload {
            stop: Stop::default(),
            ..reader(beside)
        })),
        ..reader(of)
    };
    let before = of_this_thread();
    let mut watch = Watch::new(of, Some(beside), 2);
    let outcome = run(&workload, &mut watch).expect("the trial runs");
    assert_eq!(watch.found, ["stream-0", "stream-1"]);
    assert!(!watch.numbers_beside.is_empty());
    assert_eq!(watch.found_beside, watch.numbers_beside);
    assert_eq!(outcome.engine.io_priority, Some(of));
    assert_eq!(outcome.beside.expect("it ran").io_priority, Some(beside));
    assert_eq!(of_this_thread(), before);
    // Nothing asked for: that of the caller.
    let plain = Workload {
        io_priority: None,
        ..reader(of)
    };
    let outcome = run(&plain, &mut ()).expect("the trial runs");
    assert_eq!(outcome.engine.io_priority, before);
}

#[test]
fn the_threads_of_a_pool_have_that_of_the_stream_that_made_them() {
    let of = IoPriority::BestEffort(3);
    let workload = Workload {
        pool: Some(Pool {
            threads: 3,
            io_context: IoContext::Separate,
        }),
        ..reader(of)
    };
    let mut watch = Watch::new(of, None, 4);
    let outcome = run(&workload, &mut watch).expect("the trial runs");
    assert_eq!(
        watch.found,
        ["server-0", "server-1", "server-2", "stream-0"]
    );
    assert_eq!(outcome.engine.io_priority, Some(of));
}

/// Reads three blocks through a ring that this thread makes at this priority, and
/// answers which threads of the kernel the ring has then.
fn threads_of_a_ring(of: IoPriority, options: Options) -> Option<Vec<String>> {
    let file = file();
    std::thread::spawn(move || {
        enter(Some(of)).expect("it needs no rights");
        let buffers = Buffers::new(3, 4096, 4096, None).expect("memory for three blocks");
        let time = (Monotonic, Timescale::NANOSECONDS);
        let file = file.reopen().expect("the file again");
        let mut ring = match Uring::new(time, file, buffers, SyncEach::None, options) {
            Ok(ring) => ring,
            Err(error) => {
                diskfacts_testkit::skip(&format!("io_uring: {error}"));
                return None;
            }
        };
        let ops = [0, 1, 2].map(|slot| Op {
            offset: u64::from(slot) * 4096,
            slot,
            write: false,
        });
        assert_eq!(ring.submit(&ops).expect("it takes three"), 3);
        let mut done = Done::new(3);
        while done.len() < 3 {
            ring.reap(Wait::One, &mut done).expect("it completes");
        }
        let own = gettid().as_raw_nonzero().get().to_string();
        let threads = threads_at(of).into_keys();
        Some(threads.filter(|name| name.ends_with(&own)).collect())
    })
    .join()
    .expect("the thread ends well")
}

#[test]
fn the_threads_of_a_ring_have_that_of_the_thread_that_made_it() {
    let workers = Options {
        depth: 3,
        workers: Some(3),
        ..Options::default()
    };
    let Some(found) = threads_of_a_ring(IoPriority::BestEffort(5), workers) else {
        return;
    };
    assert!(
        !found.is_empty() && found.iter().all(|name| name.starts_with("iou-wrk")),
        "{found:?}"
    );
    let polling = Options {
        depth: 3,
        sqpoll: true,
        ..Options::default()
    };
    if let Some(found) = threads_of_a_ring(IoPriority::BestEffort(6), polling) {
        assert!(
            found.iter().any(|name| name.starts_with("iou-sqp")),
            "{found:?}"
        );
    }
}

#[test]
fn without_the_right_to_come_first_the_trial_says_what_to_type() {
    // Capabilities are of a thread, and the threads that it makes have no more.
    let ended = std::thread::spawn(|| {
        let mut rights = capabilities(None).expect("the rights of this thread");
        rights.effective -= CapabilitySet::SYS_ADMIN | CapabilitySet::SYS_NICE;
        set_capabilities(None, rights).expect("rights can be given up");
        let asked = IoPriority::Realtime(0);
        let refused = [
            allowed(asked).expect_err("it has no right"),
            run(&reader(asked), &mut ()).expect_err("it has no right"),
        ];
        // All else needs none.
        allowed(IoPriority::Idle).expect("nobody is kept from coming last");
        refused.map(|error| error.to_string())
    });
    for said in ended.join().expect("the thread ends well") {
        for part in ["realtime:0", "sudo", "io_priority = \"best-effort:0\""] {
            assert!(said.contains(part), "{said}");
        }
    }
}

#[test]
fn who_has_the_right_may_come_first_and_last() {
    diskfacts_testkit::or_skip!(diskfacts_testkit::require_root());
    let before = of_this_thread();
    for asked in [IoPriority::Realtime(7), IoPriority::Idle] {
        allowed(asked).expect("root may");
        let workload = Workload {
            operation: Operation::Read,
            ..reader(asked)
        };
        let outcome = run(&workload, &mut ()).expect("the trial runs");
        assert_eq!(outcome.engine.io_priority, Some(asked));
    }
    assert_eq!(of_this_thread(), before);
}
