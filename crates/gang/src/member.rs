//! The protocol, as one rank sees it: a state machine that is polled.
//!
//! Nothing in it waits, sleeps or asks a clock of its own, so it runs in virtual time
//! ([`crate::channels`]) as it runs over MPI. One thread polls it and owns the transport; the
//! threads that measure never touch it.
//!
//! ```text
//! Hello up -> (objections: Refused down) or, by the root's schedule:
//!   Prepare down, Ready up, clocks by edge, Synced up, Go down, ... measure ...,
//!   Finished up, clocks by edge, Gathered up, Judged down; again
//! End down
//! ```
//!
//! Whoever is lost voids the trial. The root then numbers a new epoch and sends its `Roster` to
//! every rank itself, since those below a lost rank have no parent; frames of an older epoch are
//! dropped, and those of a newer one wait for its roster.

mod alive;
mod edges;
mod handle;
mod hello;
mod loss;
mod root;
mod trial;

use crate::link::Link;
use crate::objections::name_of_rank;
use crate::settings::{NAP_NS, STRAGGLERS_MAX, Settings};
use crate::time::Clock;
use crate::transport::Transport;
use crate::tree::Tree;
use crate::wire::{Card, Details, Message};
use crate::work::{Judged, Schedule, Trial, Work};
use alive::Liveness;
use root::Root;
use std::collections::{BTreeMap, BTreeSet};
use trial::Running;

/// One rank of a group.
pub struct Member<W, S> {
    rank: usize,
    size: usize,
    settings: Settings,
    work: W,
    phase: Phase,
    epoch: u32,
    tree: Tree,
    /// Ranks without a place in the tree, and why.
    lost: BTreeMap<usize, String>,
    /// Frames of an epoch whose roster is not here yet.
    early: Vec<(usize, u32, Message)>,
    liveness: Liveness,
    /// Who is who: of this subtree, so of everybody at the root.
    cards: BTreeMap<usize, Card>,
    /// Ranks below each child that are waited for, as it last said.
    waiting_for: BTreeMap<usize, Vec<u32>>,
    /// Why somebody on this host wants the group to end.
    stops: Option<String>,
    /// Whether the root ended the group for everybody.
    ends_with_all: bool,
    /// When a session that has not stopped what was cancelled is overdue.
    overdue_ns: Option<i64>,
    /// Whether a trial was ever given to the session.
    has_prepared: bool,
    /// What only the root has, and all but rank 0 leave alone.
    root: Root<S>,
}

enum Phase {
    /// Until the first trial: whose children's cards are here.
    Hello {
        below: BTreeSet<usize>,
        sent: bool,
    },
    /// No trial.
    Between,
    Trial(Box<Running>),
    /// It failed here or was lost, and the others go on: it stays until they are done, because
    /// launchers kill all where one process ends.
    Failed(String),
    Ended {
        ending: Ending,
        at_ns: i64,
    },
}

/// How the group ended for a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Nothing was measured, and why: every objection of every host.
    Refused(Vec<String>),
    /// The schedule has come to its end.
    Over,
    /// It ended before, and why.
    Stopped(String),
    /// This host left, or had to; the others may go on.
    Left(String),
}

/// When to poll again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// When a frame is there, and at this moment of the host's clock at the latest.
    Wait {
        /// The moment.
        until_ns: i64,
        /// At once instead: a clock is being compared, and each pause would be in its bound.
        spin: bool,
    },
    /// Never.
    Ended(Ending),
}

/// How long frames of the end are waited for.
const LAST_FRAMES_NS: i64 = 2_000_000_000;

impl<W: Work, S: Schedule> Member<W, S> {
    /// A rank that is about to say who it is. `schedule` is asked at rank 0 alone.
    pub fn new(
        transport: &dyn Transport,
        settings: Settings,
        program: String,
        host: String,
        details: Details,
        work: W,
        schedule: S,
    ) -> Self {
        let (rank, size) = (transport.rank(), transport.size());
        let number = number_of(rank);
        let card = Card::new(number, program, host, details);
        Self {
            rank,
            size,
            settings,
            work,
            phase: Phase::Hello {
                below: BTreeSet::new(),
                sent: false,
            },
            epoch: 0,
            tree: Tree::new(size, &BTreeSet::new()),
            lost: BTreeMap::new(),
            early: Vec::new(),
            liveness: Liveness::default(),
            cards: BTreeMap::from([(rank, card)]),
            waiting_for: BTreeMap::new(),
            stops: None,
            ends_with_all: false,
            overdue_ns: None,
            has_prepared: false,
            root: Root::new(schedule),
        }
    }

    /// Does what can be done now.
    pub fn poll(&mut self, transport: &mut dyn Transport, clock: &dyn Clock) -> Next {
        let mut link = Link::new(transport, clock);
        let now = link.now_ns();
        self.liveness.begin(now);
        if let Phase::Ended { .. } = self.phase {
            return self.ended(&mut link);
        }
        if let Some(why) = self.work.leaves() {
            self.leave(&mut link, why);
        }
        if let Some(why) = self.work.stops() {
            self.stop_all(&mut link, why);
        }
        self.receive(&mut link);
        self.watch(&mut link);
        self.advance(&mut link);
        self.settle(&mut link);
        if let Phase::Ended { .. } = self.phase {
            return self.ended(&mut link);
        }
        let spin = matches!(&self.phase, Phase::Trial(running) if running.compares_clocks());
        let now = link.now_ns();
        let timers = self.liveness.next_ns(&self.settings);
        Next::Wait {
            until_ns: match &self.phase {
                Phase::Trial(running) if running.waits_for_work() => timers.min(now + NAP_NS),
                _ => timers,
            },
            spin,
        }
    }

    /// All frames that are there, of those that this rank hears.
    fn receive(&mut self, link: &mut Link<'_>) {
        for from in self.peers() {
            while let Some(frame) = link.receive(from) {
                self.take_frame(link, from, &frame);
                // A new roster changes who is heard.
                if !self.hears(from) {
                    break;
                }
            }
        }
    }

    /// The root, the parent and the children.
    fn peers(&self) -> Vec<usize> {
        let mut peers: Vec<usize> = match self.phase {
            Phase::Failed(_) => Vec::new(),
            _ => self.tree.children(self.rank).to_vec(),
        };
        peers.extend(self.tree.parent(self.rank));
        if self.is_root() {
            // They may be there again.
            let lost = self.lost.keys().copied();
            peers.extend(lost.filter(|rank| self.tree.parent(*rank).is_none()));
        } else if !peers.contains(&0) {
            peers.push(0);
        }
        peers.retain(|peer| self.liveness.reachable(*peer));
        peers
    }

    fn hears(&self, rank: usize) -> bool {
        !matches!(self.phase, Phase::Ended { .. }) && self.peers().contains(&rank)
    }

    fn is_root(&self) -> bool {
        self.rank == 0
    }

    fn children(&self) -> Vec<usize> {
        self.tree.children(self.rank).to_vec()
    }

    fn end(&mut self, now_ns: i64, ending: Ending) {
        if matches!(self.phase, Phase::Trial(_)) {
            self.work.cancel();
        }
        self.work.ended();
        self.phase = Phase::Ended {
            ending,
            at_ns: now_ns,
        };
    }

    /// Stays until the last frames are away and nothing measures any more.
    fn ended(&mut self, link: &mut Link<'_>) -> Next {
        let Phase::Ended { ending, at_ns } = &self.phase else {
            unreachable!("only asked when it has ended")
        };
        let now = link.now_ns();
        // A session that never had a trial is not asked for one.
        let idle = !self.has_prepared || self.work.idle();
        let waited = now.saturating_sub(*at_ns) >= LAST_FRAMES_NS;
        if idle && (waited || link.unsent() == 0) {
            return Next::Ended(ending.clone());
        }
        Next::Wait {
            until_ns: now + NAP_NS,
            spin: false,
        }
    }

    /// The trial that is under way; the first one tells that all hosts have agreed.
    pub fn trial(&self) -> Option<&Trial> {
        match &self.phase {
            Phase::Trial(running) => Some(&running.trial),
            _ => None,
        }
    }

    /// Whether the root ended the group, so that all hosts that are not lost end with this one.
    pub fn ends_with_all(&self) -> bool {
        self.ends_with_all
    }

    /// Trials that are over; at the root alone.
    pub fn judged(&self) -> &[Judged] {
        &self.root.judged
    }

    /// Ranks without a place in the group, each with its host's name, and why.
    pub fn lost(&self) -> Vec<(usize, String, &str)> {
        self.lost
            .iter()
            .map(|(rank, why)| (*rank, name_of_rank(&self.cards, *rank), why.as_str()))
            .collect()
    }

    /// Who is in the group, as they said; at the root everybody.
    pub fn cards(&self) -> &BTreeMap<usize, Card> {
        &self.cards
    }

    /// Whom this rank and those below it wait for, by name, at most
    /// [`STRAGGLERS_MAX`]; empty where nobody is waited for.
    pub fn stragglers(&self) -> Vec<String> {
        let name = |rank: &u32| name_of_rank(&self.cards, *rank as usize);
        self.waited_for().iter().map(name).collect()
    }

    /// Those of them that are to be ready for the next trial, where this host itself is.
    pub fn not_ready(&self) -> Vec<String> {
        match &self.phase {
            Phase::Trial(running) if running.is_prepared() => self.stragglers(),
            _ => Vec::new(),
        }
    }

    /// Those of them that have not ended the trial, where this host itself has.
    pub fn not_done(&self) -> Vec<String> {
        match &self.phase {
            Phase::Trial(running) if running.has_measured() => self.stragglers(),
            _ => Vec::new(),
        }
    }

    /// The session of this host.
    pub fn work(&self) -> &W {
        &self.work
    }

    fn waited_for(&self) -> Vec<u32> {
        let (own, below) = match &self.phase {
            Phase::Hello { below, .. } => (false, below),
            Phase::Trial(running) => (running.own_work_waited_for(), running.below_waited_for()),
            _ => return Vec::new(),
        };
        let mut found: Vec<u32> = own.then(|| number_of(self.rank)).into_iter().collect();
        for child in self.tree.children(self.rank) {
            if !below.contains(child) {
                match self.waiting_for.get(child).filter(|said| !said.is_empty()) {
                    Some(said) => found.extend(said),
                    None => found.push(number_of(*child)),
                }
            }
        }
        found.truncate(STRAGGLERS_MAX);
        found
    }
}

/// A rank as frames have it.
fn number_of(rank: usize) -> u32 {
    u32::try_from(rank).expect("MPI's ranks are positive C ints")
}
