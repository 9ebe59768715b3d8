//! What the threads of a trial are asleep in, where they are: `/proc/PID/task/TID/wchan`.
//!
//! An operation that waits for nothing but its own request sleeps in one function of the
//! kernel, one that waits for a lock, for memory or for another program's leave in another.
//! No counter tells these apart. The thread that waits for the streams looks at one of them
//! each hundredth of a second, so that its looks are a sample of their time.
//!
//! Source: kernel, `proc_pid_wchan` in fs/proc/base.c: the function outside of the scheduler
//! in which a task sleeps, or `0` while it runs or is ready to; also where the kernel does not
//! tell (no `CONFIG_KALLSYMS`, another user's task).

use diskfacts_record::evidence::Asleep;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek};

/// The tasks of this process.
const TASKS: &str = "/proc/self/task";
/// Looks after which it is asked anew which threads there are: workers of an `io_uring` come
/// and go.
const REFRESH: u32 = 32;
/// Functions of one trial that are kept by name: a thread sleeps in a handful.
const KEPT: usize = 32;
/// Bytes of the longest name (`KSYM_NAME_LEN` of the kernel), and of that of a task.
const NAME_MAX: usize = 512;

/// In which a worker waits for something to do: a server of a pool for its channel, a worker
/// of an `io_uring` (`io_wq_worker` in io_uring/io-wq.c) for a request.
const IDLE: [&str; 2] = ["futex", "io_wq_worker"];
/// In which a stream waits for what others do for it: of an `io_uring`, and of a pool.
const HANDED_OVER: [&str; 2] = ["io_cqring_wait", "futex"];
/// What threads are called that work for a stream.
const WORKERS: [&str; 2] = ["server-", "iou-wrk-"];

/// Looks at the threads of a trial.
pub(crate) struct Sleepers {
    streams: Vec<File>,
    /// Those that work for them.
    workers: Vec<File>,
    next: usize,
    /// Looks until it is asked anew who works.
    fresh: u32,
    seen: BTreeMap<String, u64>,
    looks: u64,
}

impl Sleepers {
    /// Those of these numbers of the kernel, and who works for them.
    pub(crate) fn new(streams: &[u32]) -> Self {
        let open = |thread: &u32| File::open(format!("{TASKS}/{thread}/wchan")).ok();
        Self {
            streams: streams.iter().filter_map(open).collect(),
            workers: Vec::new(),
            next: 0,
            fresh: 0,
            seen: BTreeMap::new(),
            looks: 0,
        }
    }

    /// Looks at one stream, the next each time, or at a worker where the stream waits for it.
    pub(crate) fn look(&mut self) {
        if self.streams.is_empty() {
            return;
        }
        if self.fresh == 0 {
            self.workers = workers();
            self.fresh = REFRESH;
        }
        self.fresh -= 1;
        self.next = self.next.wrapping_add(1);
        // It is gone: the trial ends.
        let Some(stream) = read_one(&mut self.streams, self.next) else {
            return;
        };
        let worker = begins(&stream, &HANDED_OVER)
            .then(|| read_one(&mut self.workers, self.next))
            .flatten()
            .filter(|worker| !begins(worker, &IDLE));
        self.looks += 1;
        let function = worker.unwrap_or(stream);
        // Empty, or `0`: on a processor, or ready to be.
        if !function.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            return;
        }
        if self.seen.len() < KEPT || self.seen.contains_key(&function) {
            *self.seen.entry(function).or_default() += 1;
        }
    }

    /// What was seen; `None` where nobody could be looked at.
    pub(crate) fn seen(self) -> Option<Asleep> {
        (self.looks > 0).then_some(Asleep {
            looks: self.looks,
            functions: self.seen,
        })
    }
}

/// The threads that work for the streams now.
fn workers() -> Vec<File> {
    let Ok(tasks) = std::fs::read_dir(TASKS) else {
        return Vec::new();
    };
    tasks
        .flatten()
        .filter(|task| {
            let name = std::fs::read_to_string(task.path().join("comm"));
            name.is_ok_and(|name| begins(&name, &WORKERS))
        })
        .filter_map(|task| File::open(task.path().join("wchan")).ok())
        .collect()
}

fn begins(name: &str, with: &[&str]) -> bool {
    with.iter().any(|begin| name.starts_with(begin))
}

/// The name of the function in which one of them sleeps; `None` when it is gone, or there is
/// none.
fn read_one(threads: &mut [File], number: usize) -> Option<String> {
    let count = threads.len();
    let thread = threads.get_mut(number % count.max(1))?;
    let mut bytes = [0; NAME_MAX];
    thread.rewind().ok()?;
    let length = thread.read(&mut bytes).ok()?;
    let text = std::str::from_utf8(&bytes[..length]).ok()?;
    // A compiler's suffix of a copy of a function is no part of its name.
    let name = text.trim_end().split('.').next().unwrap_or_default();
    Some(name.to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::path::Path;
    use std::sync::mpsc;

    /// A thread that sleeps, by its number of the kernel, and what wakes it.
    fn sleeper() -> (u32, mpsc::Sender<()>, std::thread::JoinHandle<()>) {
        let (wake, woken) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let number = rustix::thread::gettid().as_raw_nonzero().get();
            tell.send(number.unsigned_abs()).expect("who listens");
            // Until the other end is gone.
            let _ = woken.recv();
        });
        (told.recv().expect("a number"), wake, thread)
    }

    #[test]
    fn who_sleeps_is_seen_in_what_and_who_is_gone_is_not() {
        let (number, wake, thread) = sleeper();
        let mut sleepers = Sleepers::new(&[number]);
        // Servers of tests beside this one work for nobody here.
        sleepers.fresh = u32::MAX;
        for _ in 0..50 {
            sleepers.look();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        drop(wake);
        thread.join().expect("an end");
        // Who was joined may still be on its way out of the kernel.
        while Path::new(&format!("{TASKS}/{number}")).exists() {
            std::thread::yield_now();
        }
        let looks = sleepers.looks;
        sleepers.look();
        assert_eq!(sleepers.looks, looks, "a thread that is gone");
        let seen = sleepers.seen().expect("looks");
        assert_eq!(seen.looks, 50);
        let Some((function, times)) = seen.functions.iter().next() else {
            return diskfacts_testkit::skip("/proc/PID/wchan with the names of functions");
        };
        assert!(function.starts_with("futex"), "{seen:?}");
        // It may not be asleep yet at the first looks.
        assert!(*times > 25, "{seen:?}");
    }

    #[test]
    fn where_nobody_can_be_looked_at_nothing_is_said() {
        let mut nobody = Sleepers::new(&[]);
        nobody.look();
        assert_eq!(nobody.seen(), None);
    }
}
