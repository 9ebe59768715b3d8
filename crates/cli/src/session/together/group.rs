//! Meeting by messages: a group of hosts that a launcher of MPI started, one process on each.
//!
//! This is the session's end. It waits where the protocol of `diskfacts-gang` has it wait; a
//! thread of its own ([`talk`]) speaks with the other hosts meanwhile.

mod lost;
mod order;
mod sharing;
mod talk;
#[cfg(test)]
mod tests;
mod waiting;

use super::Agreement;
use super::rendezvous::{Cancelled, Rendezvous, StoppedWaiting};
use crate::exit::{Exit, Failure, OrFail};
use crate::signals::Signals;
use crate::target::MadeFile;
use diskfacts_engine::AgreedStart;
use diskfacts_gang::launcher::Launcher;
use diskfacts_gang::mpi::MpiError;
use diskfacts_gang::wire::FRAME_BYTES_MAX;
use diskfacts_gang::{Clock, Details, Ending, Go, Monotonic, Outcome, Seat, Stops, seat_with};
use diskfacts_record::Machine;
use diskfacts_record::together::{AgreedTrial, LostHost, Rank, VoidKind};
use jiff::Timestamp;
use lost::LostHosts;
use order::{Order, Ordered};
use std::error::Error;
use std::sync::mpsc::{Receiver, RecvError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use talk::{Talk, sentence};

/// Between two looks whether the trial was cancelled.
const NAP: Duration = Duration::from_millis(10);

/// Groups of at most so many hosts gather whole runs at the root.
pub(crate) const GATHERED_HOSTS_MAX: u32 = 64;

/// What all hosts call the group, as the root says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Called {
    group: String,
    /// When it began, RFC 3339, UTC.
    start: String,
    /// The same moment on the root's clock of the protocol.
    origin_ns: i64,
}

/// A group that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Meeting {
    pub(in super::super) group: String,
    pub(in super::super) start: String,
    pub(in super::super) rank: Rank,
    /// The same moment on the root's clock of the protocol.
    pub(super) origin_ns: i64,
}

/// What a host says of itself before anything is written.
struct Introduction {
    host: String,
    details: Details,
    /// Of each trial of the agreement, in its order.
    lengths_ns: Vec<u64>,
    /// Whether hosts use files that others have made or filled.
    shares_files: bool,
    /// What the root calls the group.
    called: Called,
}

/// What the talking thread tells.
enum News {
    NoMpi(MpiError),
    Started(Rank),
    /// All hosts have agreed; `None` where what the root calls it cannot be read.
    Begun(Option<Called>),
    /// The runs of all hosts that were there when they were gathered.
    Gathered(Gathered),
    Ended {
        ending: Ending,
        /// Whether it ended for all hosts, so that none goes on.
        with_all: bool,
    },
}

/// What was gathered at the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Gathered {
    /// A file of runs, in memory. A run that is too large for a message is not in it.
    pub(crate) runs: Vec<u8>,
    /// How many hosts were there.
    pub(crate) hosts: u32,
}

/// What the others wait for.
#[derive(Debug, Clone)]
enum Step {
    Between,
    Preparing(Order),
    Measuring(Go),
}

/// This process in its group.
pub(crate) struct LaunchedGroup {
    seat: Seat,
    rank: Rank,
    several_per_host: bool,
    signals: Signals,
    lost: Arc<Mutex<LostHosts>>,
    news: Receiver<News>,
    introduce: Sender<Introduction>,
    release: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<(), MpiError>>>,
    meeting: Option<Meeting>,
    step: Step,
    /// An order that was looked at before its time.
    ahead: Option<Order>,
    ending: Option<Ending>,
    /// Whether all hosts have ended.
    with_all: bool,
    /// The file that this host has made for the group, which others use until the end.
    made: Option<MadeFile>,
}

impl LaunchedGroup {
    /// Starts MPI, and finds this process's place. `tells` is whether the root says on standard
    /// error whom it waits for.
    ///
    /// # Errors
    /// Where there is no MPI, or it does not fit the launcher.
    pub(crate) fn start(
        launcher: Launcher,
        at_least: Option<u32>,
        several_per_host: bool,
        tells: bool,
        signals: &Signals,
    ) -> Result<Self, Failure> {
        let stops = Stops {
            trial: signals.stop_trial(),
            all: signals.stop_filling(),
        };
        let merge = |mut into: Vec<u8>, other: &[u8]| {
            into.extend_from_slice(other);
            Ok(into)
        };
        let (seat, work) = seat_with(Box::new(merge), stops);
        let (tell, news) = channel();
        let (introduce, introduction) = channel();
        let (release, released) = channel();
        let lost = Arc::default();
        let talk = Talk {
            launcher,
            at_least: at_least.map(|hosts| hosts as usize),
            tells,
            signals: signals.clone(),
            stopper: seat.stopper(),
            work,
            lost: Arc::clone(&lost),
            news: tell,
            introduction,
            released,
        };
        let thread = std::thread::Builder::new()
            .name("group".to_owned())
            .spawn(move || talk.run())
            .or_failed()?;
        let rank = match news.recv() {
            Ok(News::Started(rank)) => rank,
            Ok(News::NoMpi(error)) => return Err(no_mpi(&error)),
            _ => return Err(Failure::failed("MPI did not start, and did not say why")),
        };
        Ok(Self {
            seat,
            rank,
            several_per_host,
            signals: signals.clone(),
            lost,
            news,
            introduce,
            release: Some(release),
            thread: Some(thread),
            meeting: None,
            step: Step::Between,
            ahead: None,
            ending: None,
            with_all: false,
            made: None,
        })
    }

    /// Whether this process speaks for the group.
    pub(crate) fn is_root(&self) -> bool {
        self.rank.rank == 0
    }

    /// The place of this process among those that were started.
    pub(in super::super) fn rank(&self) -> Rank {
        self.rank
    }

    /// How many hosts were started.
    pub(crate) fn size(&self) -> u32 {
        self.rank.of
    }

    /// The group, once it has begun.
    pub(in super::super) fn meeting(&self) -> Option<&Meeting> {
        self.meeting.as_ref()
    }

    /// Keeps a file that this host has made until the group has ended.
    pub(super) fn keep(&mut self, made: Option<MadeFile>) {
        self.made = made;
    }

    /// Says who this host is, and what it comes to or why it cannot measure; waits until all
    /// hosts have agreed.
    ///
    /// # Errors
    /// Where one of them has an objection. The root says all of them, and others none.
    pub(in super::super) fn introduce(
        &mut self,
        machine: &Machine,
        group: &str,
        ready: Result<(&Agreement, Option<String>, bool), &Failure>,
    ) -> Result<(), Failure> {
        let (agreement, device, shares_files, objection) = match ready {
            Ok((agreement, device, shares_files)) => (Some(agreement), device, shares_files, None),
            Err(failure) => (None, None, false, Some(failure.sentence())),
        };
        let trials = agreement.iter().flat_map(|agreement| &agreement.trials);
        let introduction = Introduction {
            host: machine
                .host
                .clone()
                .unwrap_or_else(|| "unknown-host".to_owned()),
            details: Details {
                plan: agreement
                    .map_or_else(Vec::new, |agreement| agreement.digest.clone().into_bytes()),
                boot_id: machine.boot_id.clone().unwrap_or_default(),
                device: device.filter(|_| !self.several_per_host),
                objections: objection.into_iter().collect(),
            },
            lengths_ns: trials.map(|trial| trial.length_ns).collect(),
            shares_files,
            called: called(group),
        };
        let agreed = match self.introduce.send(introduction) {
            Ok(()) => self.news.recv(),
            Err(_) => Err(RecvError),
        };
        match agreed {
            Ok(News::Begun(Some(called))) => {
                self.meeting = Some(Meeting {
                    group: called.group,
                    start: called.start,
                    rank: self.rank,
                    origin_ns: called.origin_ns,
                });
                Ok(())
            }
            Ok(News::Ended {
                ending: Ending::Refused(objections),
                with_all,
            }) => {
                self.with_all = with_all;
                let refused = refused("nothing was measured or written", &objections);
                self.ending = Some(Ending::Refused(objections));
                Err(refused)
            }
            Ok(News::Ended { ending, with_all }) => {
                let why = sentence(&ending);
                self.hears_of_end(ending, with_all);
                Err(match self.signals.came() {
                    Some(exit) => Failure::interrupted(exit),
                    None => Failure::failed(format!("nothing was measured: {why}")),
                })
            }
            _ => Err(Failure::failed(
                "nothing was measured: the root said what this host does not understand",
            )),
        }
    }

    /// Why there are no orders any more.
    pub(in super::super) fn has_ended(&mut self) -> Failure {
        while self.ending.is_none() {
            match self.news.recv() {
                Ok(News::Ended { ending, with_all }) => self.hears_of_end(ending, with_all),
                Ok(_) => {}
                Err(RecvError) => break,
            }
        }
        let ending = self.ending.clone().unwrap_or(Ending::Over);
        Failure::failed(sentence(&ending))
    }

    /// This host cannot go on; the others may. Answers with what this host fails with: the end
    /// of the group, where that was what called off what it did, and not what followed from this.
    pub(in super::super) fn fails_with(&mut self, failure: Failure) -> Failure {
        let is_called_off = self.signals.is_called_off();
        self.fail(&failure);
        if is_called_off {
            self.has_ended()
        } else {
            failure
        }
    }

    /// The same, where what this host fails with is told elsewhere.
    pub(in super::super) fn fail(&mut self, why: &Failure) {
        let why = why.sentence();
        if matches!(self.step, Step::Between) {
            // A trial that others are about to prepare.
            self.next_order();
        }
        match std::mem::replace(&mut self.step, Step::Between) {
            Step::Between => {}
            Step::Preparing(_) => {
                // It is cancelled, as what fails is.
                let _cancelled = self.seat.ready(Err(why));
            }
            Step::Measuring(_) => {
                let _cancelled = self.seat.finished(Err(why));
            }
        }
    }

    /// Gives the run of this host, a file of runs in memory, to the root. At the root those of
    /// all hosts that are there; `None` elsewhere, and where the group has ended before.
    pub(crate) fn gather(&mut self, own: &[u8]) -> Option<Gathered> {
        let share = FRAME_BYTES_MAX / 2 / self.rank.of.max(1) as usize;
        let is_given = self.rank.of <= GATHERED_HOSTS_MAX && own.len() <= share;
        let own = if is_given { own } else { &[] };
        while let Step::Preparing(Order::Gather) = self.step {
            self.pass(own);
            self.next_order();
        }
        if !self.is_root() || !matches!(self.step, Step::Preparing(Order::Part)) {
            return None;
        }
        // It comes when all are about to part, however often gathering was tried.
        loop {
            match self.news.recv() {
                Ok(News::Gathered(gathered)) => return Some(gathered),
                Ok(News::Ended { ending, with_all }) => {
                    self.hears_of_end(ending, with_all);
                    return None;
                }
                Ok(_) => {}
                Err(RecvError) => return None,
            }
        }
    }

    /// All of this host is done: waits for the end of the group, and ends MPI.
    pub(crate) fn end(&mut self) -> Result<Ending, Failure> {
        loop {
            match self.step {
                Step::Preparing(Order::Part) => self.pass(&[]),
                Step::Preparing(_) => {
                    let why = "its session has ended".to_owned();
                    let _cancelled = self.seat.ready(Err(why));
                }
                Step::Between | Step::Measuring(_) => {}
            }
            if self.next_order().is_none() {
                break;
            }
        }
        while self.ending.is_none() {
            match self.news.recv() {
                Ok(News::Ended { ending, with_all }) => self.hears_of_end(ending, with_all),
                Ok(_) => {}
                Err(RecvError) => {
                    let why = "the thread that speaks with the other hosts has ended";
                    self.ending = Some(Ending::Stopped(why.to_owned()));
                }
            }
        }
        match self.made.take() {
            Some(made) if self.others_go_on() => made.stays(),
            made => drop(made),
        }
        drop(self.release.take());
        if let Some(thread) = self.thread.take() {
            let closed = thread.join();
            let closed = closed.map_err(|_| Failure::failed("the thread that speaks panicked"))?;
            closed.or_failed()?;
        }
        Ok(self.ending.clone().unwrap_or(Ending::Over))
    }

    fn hears_of_end(&mut self, ending: Ending, with_all: bool) {
        self.ending = Some(ending);
        self.with_all = with_all;
    }

    /// Whether others still read what this host has made. Who could not go on, or was taken for
    /// lost, has left too, but waits for the end of all.
    fn others_go_on(&self) -> bool {
        matches!(self.ending, Some(Ending::Left(_))) && !self.with_all
    }

    /// Whether the root says why this host does not measure.
    pub(crate) fn is_said_elsewhere(&self) -> bool {
        !self.is_root() && matches!(self.ending, Some(Ending::Refused(_) | Ending::Stopped(_)))
    }

    /// Hosts that were lost while it measured, or when all was measured.
    pub(crate) fn missing_hosts(&self) -> Vec<LostHost> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        [&lost.in_trials[..], &lost.behind_them].concat()
    }

    /// A step that measures nothing.
    fn pass(&mut self, summary: &[u8]) {
        let Ok(go) = self.seat.ready(Ok(())) else {
            return;
        };
        let outcome = Outcome {
            start_ns: go.at_ns,
            end_ns: go.at_ns,
            summary: summary.to_vec(),
        };
        // What was cancelled is asked for again.
        let _cancelled = self.seat.finished(Ok(outcome));
    }

    fn next_order(&mut self) -> Option<Order> {
        self.step = Step::Between;
        let order = if let Some(order) = self.ahead.take() {
            order
        } else {
            let trial = self.seat.next_trial()?;
            let order = Ordered::parse(&trial.order).map(|ordered| ordered.order);
            // One that cannot be read is refused by whoever sees that it is not what comes next.
            order.unwrap_or(Order::Trial(usize::MAX))
        };
        self.step = Step::Preparing(order.clone());
        Some(order)
    }

    /// Why a trial is not done, or not to its end.
    fn cancelled(&mut self) -> Box<dyn Error + Send + Sync> {
        self.step = Step::Between;
        if self.signals.came().is_some() {
            return StoppedWaiting.into();
        }
        Cancelled(CANCELLED.to_owned()).into()
    }

    fn since_start(&self, root_ns: i64) -> i64 {
        let origin_ns = self.meeting.as_ref().map_or(0, |meeting| meeting.origin_ns);
        root_ns.saturating_sub(origin_ns)
    }
}

const CANCELLED: &str = "the group called it off, because a host was lost or stopped";

impl Rendezvous for LaunchedGroup {
    fn next(&mut self, agreement: &Agreement) -> Result<Option<usize>, Failure> {
        // Files are filled, and the target is preconditioned.
        self.seat.set_up();
        match self.next_order() {
            Some(Order::Trial(index)) if index < agreement.trials.len() => Ok(Some(index)),
            Some(Order::Gather) => Ok(None),
            Some(order) => Err(unknown(&order)),
            None => Err(self.has_ended()),
        }
    }

    fn ahead_ns(&self, _: &AgreedTrial) -> Option<i64> {
        None
    }

    fn ready(
        &mut self,
        trial: &mut AgreedTrial,
        lead_ns: u64,
    ) -> Result<AgreedStart, Box<dyn Error + Send + Sync>> {
        let Ok(go) = self.seat.ready(Ok(())) else {
            return Err(self.cancelled());
        };
        self.step = Step::Measuring(go);
        // It may be the second time.
        *trial = AgreedTrial {
            at_ns: u64::try_from(self.since_start(go.agreed_ns)).unwrap_or(0),
            started_ns: None,
            ended_ns: None,
            late_ns: None,
            void: None,
            void_kind: None,
            ..trial.clone()
        };
        let lead_ns = i64::try_from(lead_ns).unwrap_or(i64::MAX);
        loop {
            let ahead_ns = go
                .at_ns
                .saturating_sub(Monotonic.now_ns())
                .saturating_sub(lead_ns);
            if ahead_ns <= 0 {
                return Ok(AgreedStart {
                    monotonic_ns: u64::try_from(go.at_ns).unwrap_or(0),
                    late_ns_max: trial.late_ns_max(),
                });
            }
            if self.seat.is_cancelled() || self.signals.came().is_some() {
                return Err(self.cancelled());
            }
            std::thread::sleep(Duration::from_nanos(ahead_ns.unsigned_abs()).min(NAP));
        }
    }

    fn done(&mut self, trial: &mut AgreedTrial, (started_ns, ended_ns): (u64, u64)) -> bool {
        let local = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
        let outcome = Outcome {
            start_ns: local(started_ns),
            end_ns: local(ended_ns),
            summary: Vec::new(),
        };
        self.step = Step::Between;
        let Ok(verdict) = self.seat.finished(Ok(outcome)) else {
            trial.make_void(VoidKind::CalledOff, CANCELLED.to_owned());
            return false;
        };
        let (start, start_bound_ns) = verdict.clock.to_root(local(started_ns));
        let (end, end_bound_ns) = verdict.clock.to_root(local(ended_ns));
        let started = self.since_start(start);
        trial.started_ns = Some(started);
        trial.ended_ns = Some(self.since_start(end));
        trial.clock_error_ns = start_bound_ns.max(end_bound_ns);
        let late_ns = i128::from(started) - i128::from(trial.at_ns);
        trial.late_ns = Some(u64::try_from(late_ns).unwrap_or(0));
        // The root looks at nothing but when each host began.
        trial.void_kind = verdict.void.as_ref().map(|_| VoidKind::Late);
        trial.void = verdict.void;
        trial.void.is_none()
    }

    fn missed(&mut self, _: &AgreedTrial, late_ns: u64) {
        let Step::Measuring(go) = std::mem::replace(&mut self.step, Step::Between) else {
            return;
        };
        let start_ns = go.at_ns.saturating_add_unsigned(late_ns);
        let outcome = Outcome {
            start_ns,
            end_ns: go.stop_ns.unwrap_or(start_ns).max(start_ns),
            summary: Vec::new(),
        };
        // It is void either way.
        let _void = self.seat.finished(Ok(outcome));
    }

    fn lost(&self) -> Vec<LostHost> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.in_trials.clone()
    }

    fn speaks(&self) -> bool {
        self.is_root()
    }
}

/// What the root calls the group; of the others nobody asks.
fn called(group: &str) -> Called {
    let now = Timestamp::now();
    let origin_ns = Monotonic.now_ns();
    let group = match group {
        "" => format!("mpi-{}", now.strftime("%Y%m%d-%H%M%S")),
        named => named.to_owned(),
    };
    Called {
        group,
        start: now.to_string(),
        origin_ns,
    }
}

fn unknown(order: &Order) -> Failure {
    Failure::failed(format!(
        "the root ordered {order:?}, which this host does not know"
    ))
}

fn no_mpi(error: &MpiError) -> Failure {
    Failure::wrong_call(format!("--together: {error}"))
}

/// All objections of all hosts, and what has not happened because of them.
fn refused(what: &str, objections: &[String]) -> Failure {
    let listed: Vec<String> = objections.iter().map(|one| format!("\n  {one}")).collect();
    Failure::of(
        Exit::WrongCall,
        anyhow::anyhow!("{what} on any host:{}", listed.concat()),
    )
}
