//! Threads that serve one stream in turn, as those of a storage server do: each
//! takes the next piece of the same open file.
//!
//! Every thread is a [`Sync`] engine over a duplicate of one descriptor, so that
//! all share one open file and with it the kernel's read-ahead state
//! (`file_ra_state` in `struct file`), and each has an I/O context of its own,
//! by which a fair I/O scheduler tells readers apart. What handing an operation
//! to a sleeping thread and back costs is in the latency: a server pays it too.

use crate::buffers::Buffers;
use crate::clock::{Ticks, Timescale};
use crate::engine::{Abilities, Completion, Done, Engine, Op, SyncEach, Wait, idle_real};
use crate::handling::Handling;
use crate::run_delay::RunDelay;
use crate::sync::Sync;
use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A file served by several threads in turn.
pub struct Pool<T> {
    ticks: T,
    scale: Timescale,
    file: File,
    workers: Vec<Worker>,
    /// Who takes the next operation.
    next: usize,
    ended: Receiver<io::Result<Completion>>,
    depth: u32,
    in_flight: u32,
    /// What the kernel keeps of the waiting of each thread; absent where it keeps none.
    waited: Option<Vec<RunDelay>>,
}

/// One thread, and how it is given operations. Closing the way ends it.
struct Worker {
    inbox: Option<SyncSender<Op>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Ticks + Send + 'static> Pool<T> {
    /// An engine with a thread for each of `buffers`, which hold one block each,
    /// and up to `depth` operations in flight; what is done after each write, and
    /// with the bytes of each block.
    ///
    /// # Errors
    /// When the descriptor could not be duplicated, or a thread not started.
    pub fn new(
        (ticks, scale): (T, Timescale),
        file: File,
        buffers: Vec<Buffers>,
        (sync_each, handling): (SyncEach, Handling),
        depth: u32,
    ) -> io::Result<Self> {
        let (done, ended) = sync_channel(depth as usize);
        let (told, accounts) = sync_channel(buffers.len());
        let mut pool = Self {
            ticks,
            scale,
            file,
            workers: Vec::with_capacity(buffers.len()),
            next: 0,
            ended,
            depth,
            in_flight: 0,
            waited: None,
        };
        for (number, buffers) in buffers.into_iter().enumerate() {
            let file = pool.file.try_clone()?;
            let engine =
                Sync::new((ticks, scale), file, buffers, sync_each, false).handling(handling);
            let (inbox, ops) = sync_channel(depth as usize);
            let done = done.clone();
            let thread = std::thread::Builder::new()
                .name(format!("server-{number}"))
                .spawn({
                    let told = told.clone();
                    move || {
                        // There is room for all, and the pool waits until nobody holds
                        // the sending end any more.
                        let _ = told.send(RunDelay::of_this_thread());
                        drop(told);
                        serve(engine, &ops, &done);
                    }
                })?;
            pool.workers.push(Worker {
                inbox: Some(inbox),
                thread: Some(thread),
            });
        }
        drop(told);
        pool.waited = accounts.iter().collect();
        Ok(pool)
    }
}

/// Says that a thread of the pool ended before its time, when it panics: while others live,
/// the way on which completions come stays open, and who waits for this one's would wait
/// for ever.
struct LastWord<'a>(&'a SyncSender<io::Result<Completion>>);

impl Drop for LastWord<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // There is room: the operation that it had is not completed.
            let _ = self.0.try_send(Err(gone()));
        }
    }
}

/// Does what comes in until nothing more will.
fn serve<E: Engine>(mut engine: E, ops: &Receiver<Op>, done: &SyncSender<io::Result<Completion>>) {
    let _last_word = LastWord(done);
    let mut ended = Done::new(1);
    while let Ok(op) = ops.recv() {
        let completed = one(&mut engine, op, &mut ended);
        // Nobody waits any more when the pool is taken down.
        if done.send(completed).is_err() {
            return;
        }
        if op.write {
            engine.prepare_write(0);
        }
    }
}

/// One operation, in this thread's only slot.
fn one<E: Engine>(engine: &mut E, op: Op, ended: &mut Done) -> io::Result<Completion> {
    ended.clear();
    engine.submit(&[Op { slot: 0, ..op }])?;
    engine.reap(Wait::One, ended)?;
    let completion = ended.as_slice().first().copied();
    completion
        .map(|completion| Completion {
            slot: op.slot,
            ..completion
        })
        .ok_or_else(|| io::Error::other("a system call gave no completion; this is a bug"))
}

impl<T> Pool<T> {
    fn take(&mut self, completion: io::Result<Completion>, done: &mut Done) -> io::Result<()> {
        done.push(completion?);
        self.in_flight -= 1;
        Ok(())
    }
}

fn gone() -> io::Error {
    io::Error::other("a thread that serves the stream ended before its time")
}

impl<T: Ticks> Engine for Pool<T> {
    fn abilities(&self) -> Abilities {
        Abilities {
            name: "pool",
            depth: self.depth,
            features: vec![
                format!("{}-threads", self.workers.len()),
                "io-context-separate".to_owned(),
            ],
            fallbacks: Vec::new(),
            ..Abilities::default()
        }
    }

    #[inline]
    fn now(&mut self) -> u64 {
        self.ticks.now()
    }

    fn timescale(&self) -> Timescale {
        self.scale
    }

    /// Nothing: each thread makes its own buffer new after it has written it.
    #[inline]
    fn prepare_write(&mut self, _: u32) {}

    fn submit(&mut self, ops: &[Op]) -> io::Result<usize> {
        let room = (self.depth - self.in_flight) as usize;
        let taken = ops.len().min(room);
        for op in &ops[..taken] {
            let worker = &self.workers[self.next];
            self.next = (self.next + 1) % self.workers.len();
            let inbox = worker.inbox.as_ref().ok_or_else(gone)?;
            inbox.send(*op).map_err(|_| gone())?;
        }
        // At most the depth.
        self.in_flight += taken as u32;
        Ok(taken)
    }

    fn reap(&mut self, wait: Wait, done: &mut Done) -> io::Result<()> {
        let first = match wait {
            Wait::One => Some(self.ended.recv().map_err(|_| gone())?),
            Wait::Until(tick) => {
                let left = tick.saturating_sub(self.ticks.now());
                let left = Duration::from_nanos(self.scale.ns(left));
                match self.ended.recv_timeout(left) {
                    Ok(completion) => Some(completion),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => return Err(gone()),
                }
            }
            Wait::Poll => None,
        };
        if let Some(completion) = first {
            self.take(completion, done)?;
        }
        loop {
            match self.ended.try_recv() {
                Ok(completion) => self.take(completion, done)?,
                Err(TryRecvError::Empty) => return Ok(()),
                Err(TryRecvError::Disconnected) => return Err(gone()),
            }
        }
    }

    fn servers_waited_ns(&mut self) -> Option<u64> {
        self.waited.as_mut()?.iter_mut().map(RunDelay::ns).sum()
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn idle_until(&mut self, tick: u64) -> io::Result<()> {
        idle_real(self.ticks, self.scale, tick);
        Ok(())
    }
}

impl<T> Drop for Pool<T> {
    /// Ends all threads, and waits for them: they use memory and a descriptor
    /// that belong to the trial.
    fn drop(&mut self) {
        for worker in &mut self.workers {
            worker.inbox = None;
        }
        for worker in &mut self.workers {
            if let Some(thread) = worker.thread.take() {
                // A panic of one was told to whoever waited for its completion.
                let _ = thread.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An engine with a bug.
    struct Panics;

    impl Engine for Panics {
        fn abilities(&self) -> Abilities {
            Abilities::default()
        }

        fn now(&mut self) -> u64 {
            0
        }

        fn timescale(&self) -> Timescale {
            Timescale::NANOSECONDS
        }

        fn prepare_write(&mut self, _: u32) {}

        fn submit(&mut self, _: &[Op]) -> io::Result<usize> {
            panic!("an engine with a bug, as the test wants it")
        }

        fn reap(&mut self, _: Wait, _: &mut Done) -> io::Result<()> {
            Ok(())
        }

        fn sync_all(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn idle_until(&mut self, _: u64) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_waits_for_a_thread_that_panicked_is_told_while_others_live() {
        let (done, ended) = sync_channel(1);
        let (inbox, ops) = sync_channel(1);
        let of_another_thread = done.clone();
        let thread = std::thread::spawn(move || serve(Panics, &ops, &done));
        inbox.send(Op::default()).expect("the thread lives");
        assert!(thread.join().is_err(), "it panics");
        let told = ended.try_recv().expect("it left a word");
        assert!(told.is_err_and(|error| error.to_string().contains("before its time")));
        drop(of_another_thread);
    }
}
