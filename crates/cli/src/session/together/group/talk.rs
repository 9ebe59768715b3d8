//! The thread that speaks with the other hosts: the only one that touches MPI.

use super::lost::LostHosts;
use super::order::{Order, Ordered};
use super::waiting::Waiting;
use super::{Called, Gathered, Introduction, News};
use crate::progress::Display;
use crate::signals::Signals;
use diskfacts_gang::launcher::Launcher;
use diskfacts_gang::mpi::{LIBRARY_VARIABLE, Mpi, MpiError};
use diskfacts_gang::{
    Ending, Judged, Member, Monotonic, Planned, Schedule, SeatWork, Settings, Stopper, Transport,
    Trial, drive,
};
use diskfacts_record::together::Rank;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// How late a host may come to a step that measures nothing: a hundredth of this.
const STEP_NS: u64 = 10_000_000_000;

/// What the thread is given.
pub(super) struct Talk {
    pub(super) launcher: Launcher,
    pub(super) at_least: Option<usize>,
    /// Whether the root tells on standard error whom it waits for.
    pub(super) tells: bool,
    pub(super) signals: Signals,
    pub(super) stopper: Stopper,
    pub(super) work: SeatWork,
    pub(super) lost: Arc<Mutex<LostHosts>>,
    pub(super) news: Sender<News>,
    pub(super) introduction: Receiver<Introduction>,
    /// Closed when the session has done all that it wants to do before the process ends.
    pub(super) released: Receiver<()>,
}

impl Talk {
    /// All of it, until the session lets go.
    ///
    /// # Errors
    /// When MPI could not be ended.
    pub(super) fn run(self) -> Result<(), MpiError> {
        let library = std::env::var_os(LIBRARY_VARIABLE);
        let mut mpi = match Mpi::start(library.as_deref().map(Path::new), Some(&self.launcher)) {
            Ok(mpi) => mpi,
            Err(error) => {
                self.tell(News::NoMpi(error));
                return Ok(());
            }
        };
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.tell(News::Started(Rank {
            rank: number(mpi.rank()),
            of: number(mpi.size()),
        }));
        let Ok(introduction) = self.introduction.recv() else {
            // The call was wrong here, and the launcher ends the others.
            return mpi.close(false);
        };
        let shares = introduction.shares_files;
        let orders = Orders::new(
            introduction.lengths_ns,
            (mpi.size(), shares),
            introduction.called,
        );
        let mut member = Member::new(
            &mpi,
            Settings {
                at_least: self.at_least,
                ..Settings::default()
            },
            concat!("diskfacts ", env!("CARGO_PKG_VERSION")).to_owned(),
            introduction.host,
            introduction.details,
            self.work,
            orders,
        );
        let mut seen = Seen {
            is_root: mpi.rank() == 0,
            waiting: (self.tells && mpi.rank() == 0).then(Waiting::default),
            clock: Instant::now(),
            begun: false,
            stopped: false,
            judged: 0,
            gathering: Gathering::default(),
            order: Some(0),
            lost: 0,
        };
        let ending = drive(&mut member, &mut mpi, &Monotonic, |member| {
            seen.look(member, &self.signals, &self.stopper, &self.lost, &self.news);
        });
        let with_all = member.ends_with_all();
        let all_there = member.lost().is_empty() && with_all;
        // So the session no longer waits for a trial.
        drop(member);
        // Whoever waits for news has ended where it cannot be told.
        let _ended = self.news.send(News::Ended { ending, with_all });
        // Ending MPI waits for the others, so it comes last.
        let _closed = self.released.recv();
        mpi.close(all_there)
    }

    fn tell(&self, news: News) {
        // Whoever waits for news has ended where it cannot be told.
        let _ended = self.news.send(news);
    }
}

/// What was told of the group so far.
struct Seen {
    is_root: bool,
    /// Where this process tells whom it waits for.
    waiting: Option<Waiting>,
    /// From where times of [`Waiting`] count.
    clock: Instant,
    begun: bool,
    stopped: bool,
    judged: usize,
    gathering: Gathering,
    /// Order of the trial that was last under way, from 1; `None` when all are over.
    order: Option<u32>,
    lost: usize,
}

impl Seen {
    fn look(
        &mut self,
        member: &Member<SeatWork, Orders>,
        signals: &Signals,
        stopper: &Stopper,
        lost: &Mutex<LostHosts>,
        news: &Sender<News>,
    ) {
        if signals.came().is_some() {
            // A trial that was prepared at that moment has taken it back.
            signals.stop_trial().store(true, Ordering::SeqCst);
        }
        if let Some(by) = signals.came().and_then(crate::exit::Exit::ended_by)
            && !std::mem::replace(&mut self.stopped, true)
        {
            stopper.stop_group(format!("stopped by {by}"));
        }
        if let Some(trial) = member.trial() {
            let ordered = Ordered::parse(&trial.order);
            match ordered.as_ref().map(|ordered| &ordered.order) {
                Some(Order::Trial(index)) => {
                    self.order = Some(u32::try_from(index + 1).unwrap_or(u32::MAX));
                }
                Some(Order::Gather | Order::Part) => self.order = None,
                _ => {}
            }
            if !std::mem::replace(&mut self.begun, true) {
                let called = ordered.map(|ordered| ordered.called);
                // Whoever waits for news has ended where it cannot be told.
                let _ended = news.send(News::Begun(called));
            }
        }
        if let Some(waiting) = &mut self.waiting
            && let Some(line) = waiting.line(waited_for(member), self.clock.elapsed())
        {
            Display::aside(&line);
        }
        // The root alone knows the names of all hosts.
        let now_lost = member.lost();
        if self.is_root && now_lost.len() > self.lost {
            let mut lost = lost.lock().unwrap_or_else(PoisonError::into_inner);
            for (rank, host, why) in &now_lost {
                lost.note(u32::try_from(*rank).ok(), (host, why), self.order);
            }
            self.lost = now_lost.len();
        }
        for judged in &member.judged()[self.judged..] {
            self.gathering.is_over(judged);
        }
        self.judged = member.judged().len();
        if let Some(gathered) = member.trial().and_then(|trial| self.gathering.ends(trial)) {
            // Whoever waits for news has ended where it cannot be told.
            let _ended = news.send(News::Gathered(gathered));
        }
    }
}

/// Whom this host waits for, and what they are not.
fn waited_for(member: &Member<SeatWork, Orders>) -> (Vec<String>, &'static str) {
    let not_ready = member.not_ready();
    if not_ready.is_empty() {
        (member.not_done(), "done")
    } else {
        (not_ready, "ready")
    }
}

/// What was gathered, until it is told; once, when all are about to part.
#[derive(Default)]
struct Gathering {
    last: Option<Gathered>,
}

impl Gathering {
    /// A trial is over. Gathering in which a host is lost gives nothing, and is tried again.
    fn is_over(&mut self, judged: &Judged) {
        let ordered = Ordered::parse(&judged.trial.order);
        if ordered.is_some_and(|ordered| ordered.order == Order::Gather) {
            self.last = Some(Gathered {
                runs: judged.summary.clone(),
                hosts: u32::try_from(judged.windows.len()).unwrap_or(u32::MAX),
            });
        }
    }

    /// What to tell where this trial is under way.
    fn ends(&mut self, trial: &Trial) -> Option<Gathered> {
        let parts = || Ordered::parse(&trial.order).is_some_and(|one| one.order == Order::Part);
        self.last.take_if(|_| parts())
    }
}

/// What the root orders, one after the other.
struct Orders {
    /// Each with its length, nanoseconds.
    steps: Vec<(Order, u64)>,
    hosts: usize,
    called: Called,
}

impl Orders {
    /// The trials, and the steps around them; of so many hosts, which share files or do not.
    fn new(lengths_ns: Vec<u64>, (hosts, share_files): (usize, bool), called: Called) -> Self {
        let before = [Order::Open, Order::Filled].into_iter();
        let before = before.filter(|_| share_files).map(|order| (order, STEP_NS));
        let trials = lengths_ns.into_iter().enumerate();
        let trials = trials.map(|(index, length_ns)| (Order::Trial(index), length_ns));
        let after = [Order::Gather, Order::Part].map(|order| (order, STEP_NS));
        Self {
            steps: before.chain(trials).chain(after).collect(),
            hosts,
            called,
        }
    }

    /// Why the group cannot go on behind this step.
    fn objections(&self, last: &Judged) -> Vec<String> {
        let step = self.steps.get(last.trial.number as usize);
        if !matches!(step, Some((Order::Open | Order::Filled, _))) {
            return Vec::new();
        }
        let said = String::from_utf8_lossy(&last.summary);
        let mut objections: Vec<String> = said.split('\0').map(str::to_owned).collect();
        objections.retain(|one| !one.is_empty());
        objections.sort();
        let there = last.windows.len();
        if there < self.hosts {
            objections.push(format!(
                "{there} of {} hosts are left, and each writes a part of what the others use",
                self.hosts
            ));
        }
        objections
    }
}

impl Schedule for Orders {
    fn next(&mut self, judged: &[Judged]) -> Option<Planned> {
        let last = judged.last();
        let done = last.map_or(0, |last| last.trial.number as usize + 1);
        let objections = last.map_or_else(Vec::new, |last| self.objections(last));
        if !objections.is_empty() {
            self.steps.truncate(done);
            self.steps.push((Order::Refused(objections), STEP_NS));
        }
        let (order, lasts_ns) = self.steps.get(done)?.clone();
        let ordered = Ordered {
            order,
            called: self.called.clone(),
        };
        Some(Planned {
            order: ordered.to_bytes(),
            lasts_ns: Some(lasts_ns),
            // Each host has a seed of its own.
            seed: 0,
        })
    }
}

/// Why there is no group any more, as a sentence.
pub(super) fn sentence(ending: &Ending) -> String {
    match ending {
        Ending::Refused(objections) => objections.join("; "),
        Ending::Over => "the group has ended".to_owned(),
        Ending::Stopped(why) | Ending::Left(why) => why.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_gang::Window;

    fn trial(order: Order) -> Trial {
        let called = Called {
            group: "n42".to_owned(),
            start: "2026-11-27T13:00:00Z".to_owned(),
            origin_ns: 0,
        };
        Trial {
            number: 0,
            attempt: 0,
            order: Ordered { order, called }.to_bytes(),
        }
    }

    fn judged(order: Order, hosts: u32, summary: &[u8]) -> Judged {
        let window = |rank| Window {
            rank,
            start_ns: 0,
            end_ns: 0,
            bound_ns: 0,
        };
        Judged {
            trial: trial(order),
            void: (hosts == 0).then(|| "c3 was lost".to_owned()),
            at_ns: None,
            summary: summary.to_vec(),
            windows: (0..hosts).map(window).collect(),
        }
    }

    #[test]
    fn what_was_gathered_is_told_once_however_many_hosts_were_lost_meanwhile() {
        let mut gathering = Gathering::default();
        let (gather, part) = (trial(Order::Gather), trial(Order::Part));
        gathering.is_over(&judged(Order::Trial(1), 8, b""));
        assert_eq!(gathering.ends(&gather), None);
        for _ in 0..2 {
            gathering.is_over(&judged(Order::Gather, 0, b""));
            assert_eq!(gathering.ends(&gather), None, "it is tried again");
        }
        gathering.is_over(&judged(Order::Gather, 6, b"runs"));
        let gathered = Gathered {
            runs: b"runs".to_vec(),
            hosts: 6,
        };
        assert_eq!(gathering.ends(&part), Some(gathered));
        gathering.is_over(&judged(Order::Part, 0, b""));
        assert_eq!(gathering.ends(&part), None, "once");
    }

    #[test]
    fn that_nothing_was_gathered_is_told_too() {
        let mut gathering = Gathering::default();
        gathering.is_over(&judged(Order::Gather, 0, b""));
        gathering.is_over(&judged(Order::Gather, 0, b""));
        let told = gathering.ends(&trial(Order::Part));
        assert_eq!(told, Some(Gathered::default()), "nobody waits for more");
    }
}
