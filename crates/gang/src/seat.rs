//! A session that waits: [`Work`] for a thread that measures in straight lines.
//!
//! The session keeps the [`Seat`] and calls it where it has to wait for the others; the
//! [`SeatWork`] is polled by the thread that talks to them.

use crate::clock::ClockModel;
use crate::work::{Go, Outcome, Trial, Work};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;

/// Adds one summary to another; see [`Work::merge`].
pub type Merge = dyn Fn(Vec<u8>, &[u8]) -> Result<Vec<u8>, String> + Send;

/// What the session's threads look at while they work, to stop it; the group sets it.
#[derive(Debug, Clone, Default)]
pub struct Stops {
    /// The trial is void. Another one takes it back.
    pub trial: Arc<AtomicBool>,
    /// There is no group any more.
    pub all: Arc<AtomicBool>,
}

/// The two ends of one seat.
pub fn seat(merge: Box<Merge>) -> (Seat, SeatWork) {
    seat_with(merge, Stops::default())
}

/// The same with flags that the session has already.
pub fn seat_with(merge: Box<Merge>, stops: Stops) -> (Seat, SeatWork) {
    let (to_session, from_group) = channel();
    let (to_group, from_session) = channel();
    let shared = Arc::new(Shared {
        flags: stops,
        ..Shared::default()
    });
    let seat = Seat {
        from_group,
        to_group,
        shared: Arc::clone(&shared),
    };
    let work = SeatWork {
        to_session,
        from_session,
        shared,
        merge,
    };
    (seat, work)
}

#[derive(Default)]
struct Shared {
    flags: Stops,
    /// Whether the session waits for a trial.
    idle: AtomicBool,
    /// Whether it has done all that is done once.
    set_up: AtomicBool,
    leaves: Mutex<Option<String>>,
    stops: Mutex<Option<String>>,
}

fn locked(why: &Mutex<Option<String>>) -> MutexGuard<'_, Option<String>> {
    // A text is whole, whoever panicked.
    why.lock().unwrap_or_else(PoisonError::into_inner)
}

enum ToSession {
    Prepare(Trial),
    Go(Go),
    Judged(Verdict),
    Cancelled,
}

enum FromSession {
    Prepared(Result<(), String>),
    Finished(Result<Outcome, String>),
}

/// Whether a trial counts, and where this host's times lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Why it does not count; `None` where it does.
    pub void: Option<String>,
    /// This host's clock against the root's.
    pub clock: ClockModel,
}

/// The trial is void, and the group may have ended: stop, clean up, and ask for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the trial was cancelled by the group")]
pub struct Cancelled;

/// Where the session waits for the others.
pub struct Seat {
    from_group: Receiver<ToSession>,
    to_group: Sender<FromSession>,
    shared: Arc<Shared>,
}

impl Seat {
    /// Waits for a trial to prepare; `None` when the group has ended.
    pub fn next_trial(&mut self) -> Option<Trial> {
        self.shared.idle.store(true, Ordering::SeqCst);
        loop {
            // What is left of a cancelled trial comes before the next one.
            match self.from_group.recv() {
                Ok(ToSession::Prepare(trial)) => return Some(trial),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// Says that all that is done once is done; see [`Work::is_set_up`].
    pub fn set_up(&self) {
        self.shared.set_up.store(true, Ordering::SeqCst);
    }

    /// Says that the trial is prepared, or why it cannot be, and waits for the agreed moment.
    ///
    /// # Errors
    /// When the trial is cancelled; always, where it could not be prepared.
    pub fn ready(&mut self, prepared: Result<(), String>) -> Result<Go, Cancelled> {
        self.say(FromSession::Prepared(prepared))?;
        match self.from_group.recv() {
            Ok(ToSession::Go(go)) => Ok(go),
            _ => Err(Cancelled),
        }
    }

    /// Says what was measured, or what failed, and waits for the verdict.
    ///
    /// # Errors
    /// When the trial is cancelled; always, where measuring failed.
    pub fn finished(&mut self, outcome: Result<Outcome, String>) -> Result<Verdict, Cancelled> {
        self.say(FromSession::Finished(outcome))?;
        match self.from_group.recv() {
            Ok(ToSession::Judged(verdict)) => Ok(verdict),
            _ => Err(Cancelled),
        }
    }

    /// Whether to stop measuring: the trial is void.
    pub fn is_cancelled(&self) -> bool {
        self.shared.flags.trial.load(Ordering::SeqCst)
    }

    /// Makes this host leave the group; the others may go on.
    pub fn leave(&self, why: String) {
        *locked(&self.shared.leaves) = Some(why);
    }

    /// What ends the group from any thread, also while the session waits.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::downgrade(&self.shared))
    }

    fn say(&self, what: FromSession) -> Result<(), Cancelled> {
        self.to_group.send(what).map_err(|_| Cancelled)
    }
}

/// Ends the group on all hosts, because somebody wants it to: Ctrl-C, SIGTERM.
#[derive(Clone)]
pub struct Stopper(Weak<Shared>);

impl Stopper {
    /// Ends it; nothing where the session has ended.
    pub fn stop_group(&self, why: String) {
        if let Some(shared) = self.0.upgrade() {
            *locked(&shared.stops) = Some(why);
        }
    }
}

/// The session, as the group polls it.
pub struct SeatWork {
    to_session: Sender<ToSession>,
    from_session: Receiver<FromSession>,
    shared: Arc<Shared>,
    merge: Box<Merge>,
}

impl SeatWork {
    /// A session that is gone is noticed where it is waited for.
    fn tell(&self, what: ToSession) {
        let _gone = self.to_session.send(what);
    }

    fn heard(&self) -> Poll<Result<FromSession, String>> {
        match self.from_session.try_recv() {
            Ok(said) => Poll::Ready(Ok(said)),
            Err(TryRecvError::Empty) => Poll::Pending,
            Err(TryRecvError::Disconnected) => {
                Poll::Ready(Err("its measuring session has ended".to_owned()))
            }
        }
    }
}

impl Work for SeatWork {
    fn prepare(&mut self, trial: &Trial) {
        // What a cancelled trial said is for nobody; the session waits, and says nothing more.
        while self.from_session.try_recv().is_ok() {}
        self.shared.flags.trial.store(false, Ordering::SeqCst);
        self.shared.idle.store(false, Ordering::SeqCst);
        self.tell(ToSession::Prepare(trial.clone()));
    }

    fn prepared(&mut self) -> Poll<Result<(), String>> {
        self.heard().map(|said| match said? {
            FromSession::Prepared(prepared) => prepared,
            FromSession::Finished(_) => Err("it measured before the start".to_owned()),
        })
    }

    fn is_set_up(&self) -> bool {
        self.shared.set_up.load(Ordering::SeqCst)
    }

    fn run(&mut self, go: &Go) {
        self.tell(ToSession::Go(*go));
    }

    fn finished(&mut self) -> Poll<Result<Outcome, String>> {
        self.heard().map(|said| match said? {
            FromSession::Finished(outcome) => outcome,
            FromSession::Prepared(_) => Err("it prepared a trial twice".to_owned()),
        })
    }

    fn cancel(&mut self) {
        self.shared.flags.trial.store(true, Ordering::SeqCst);
        self.tell(ToSession::Cancelled);
    }

    fn ended(&mut self) {
        self.shared.flags.trial.store(true, Ordering::SeqCst);
        self.shared.flags.all.store(true, Ordering::SeqCst);
    }

    fn idle(&mut self) -> bool {
        let gone = Arc::strong_count(&self.shared) == 1;
        gone || self.shared.idle.load(Ordering::SeqCst)
    }

    fn judged(&mut self, _: &Trial, void: Option<&str>, clock: &ClockModel) {
        self.tell(ToSession::Judged(Verdict {
            void: void.map(str::to_owned),
            clock: *clock,
        }));
    }

    fn merge(&self, into: Vec<u8>, other: &[u8]) -> Result<Vec<u8>, String> {
        (self.merge)(into, other)
    }

    fn leaves(&mut self) -> Option<String> {
        locked(&self.shared.leaves).take()
    }

    fn stops(&mut self) -> Option<String> {
        locked(&self.shared.stops).take()
    }
}
