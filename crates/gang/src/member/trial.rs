//! One trial, from its preparation to its verdict.

use super::edges::Edges;
use super::{Member, Phase, number_of};
use crate::clock::{ClockModel, PINGS, Reading};
use crate::link::Link;
use crate::wire::{Message, Window};
use crate::work::{Outcome, Schedule, Trial, Work};
use std::collections::BTreeSet;
use std::task::Poll;

pub(super) struct Running {
    pub(super) trial: Trial,
    pub(super) step: Step,
    /// Children whose subtrees are where this step waits for them.
    below: BTreeSet<usize>,
    edges: Option<Edges>,
    /// When the parent's pings of this comparison were answered.
    answered_ns: [i64; PINGS as usize],
    pinged: bool,
    before: Option<Reading>,
    after: Option<Reading>,
    /// The longest path in this subtree.
    path_ns: u64,
    pub(super) agreed: Option<Agreed>,
    /// When this host's own work is overdue, on its own clock; `None` where it may last.
    pub(super) overdue_ns: Option<i64>,
    outcome: Option<Outcome>,
    pub(super) summary: Vec<u8>,
    pub(super) windows: Vec<Window>,
    /// Summaries of children that came before this host's own was in.
    gathered: Vec<Vec<u8>>,
}

/// The moment, on the root's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Agreed {
    pub(super) at_ns: i64,
    pub(super) stop_ns: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// What was cancelled still runs.
    Clearing,
    Preparing,
    /// Waiting for the children to be prepared.
    Prepared,
    /// Waiting to hear from the parent how the clocks stand.
    Clock(When),
    /// Comparing the children's clocks, and waiting for what they say then.
    Compare(When),
    /// Waiting for the agreed moment to be told.
    Armed,
    Measuring,
    /// Waiting for the children to have measured.
    Measured,
    /// Waiting for the verdict.
    Gathered,
}

/// Which comparison of the clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Before,
    After,
}

impl Running {
    /// `overdue_ns` is when what was cancelled has to have stopped, where something was.
    pub(super) fn new(trial: Trial, overdue_ns: Option<i64>) -> Self {
        Self {
            trial,
            step: Step::Clearing,
            below: BTreeSet::new(),
            edges: None,
            answered_ns: [0; PINGS as usize],
            pinged: false,
            before: None,
            after: None,
            path_ns: 0,
            agreed: None,
            overdue_ns,
            outcome: None,
            summary: Vec::new(),
            windows: Vec::new(),
            gathered: Vec::new(),
        }
    }

    pub(super) fn clock(&self) -> Option<ClockModel> {
        Some(ClockModel {
            before: self.before?,
            after: self.after,
        })
    }

    pub(super) fn compares_clocks(&self) -> bool {
        let below = self.edges.as_ref().is_some_and(Edges::busy);
        below || self.pinged && matches!(self.step, Step::Clock(_))
    }

    /// Whether this host is ready, and waits for others.
    pub(super) fn is_prepared(&self) -> bool {
        self.step == Step::Prepared
    }

    /// Whether this host has measured, and waits for others.
    pub(super) fn has_measured(&self) -> bool {
        self.step == Step::Measured
    }

    pub(super) fn waits_for_work(&self) -> bool {
        matches!(
            self.step,
            Step::Clearing | Step::Preparing | Step::Measuring
        )
    }

    pub(super) fn own_work_waited_for(&self) -> bool {
        self.waits_for_work()
    }

    pub(super) fn below_waited_for(&self) -> &BTreeSet<usize> {
        &self.below
    }

    fn enter(&mut self, step: Step) {
        self.step = step;
        self.below.clear();
    }

    /// How the clocks stand is known here; now those of the children.
    fn compare(
        &mut self,
        link: &mut Link<'_>,
        epoch: u32,
        when: When,
        own: Reading,
        children: Vec<usize>,
    ) {
        match when {
            When::Before => self.before = Some(own),
            When::After => self.after = Some(own),
        }
        self.path_ns = self.path_ns.max(own.path_ns);
        self.pinged = false;
        let mut edges = Edges::new(own, children);
        edges.start_next(link, epoch);
        self.edges = Some(edges);
        self.enter(Step::Compare(when));
    }
}

impl<W: Work, S: Schedule> Member<W, S> {
    pub(super) fn take_prepare(
        &mut self,
        link: &mut Link<'_>,
        (number, attempt, order): (u32, u8, Vec<u8>),
    ) -> Result<(), &'static str> {
        if matches!(self.phase, Phase::Trial(_)) {
            return Err("a trial while another one is measured");
        }
        let prepare = Message::Prepare {
            trial: number,
            attempt,
            order: order.clone(),
        };
        self.pass_down(link, &prepare);
        let trial = Trial {
            number,
            attempt,
            order,
        };
        self.phase = Phase::Trial(Box::new(Running::new(trial, self.overdue_ns)));
        Ok(())
    }

    /// A message that only means something in a trial.
    pub(super) fn take_of_trial(
        &mut self,
        link: &mut Link<'_>,
        (from, is_parent): (usize, bool),
        message: Message,
        now: i64,
    ) -> Result<(), &'static str> {
        let children = self.children();
        let epoch = self.epoch;
        let Phase::Trial(running) = &mut self.phase else {
            return Err("a message of a trial while there is none");
        };
        match (message, running.step, is_parent) {
            (Message::Ready, Step::Clearing | Step::Preparing | Step::Prepared, false)
            | (Message::Finished, Step::Measuring | Step::Measured, false) => {
                running.below.insert(from);
            }
            (Message::Ping { sequence }, Step::Clock(_), true) if sequence < PINGS => {
                running.pinged = true;
                running.answered_ns[usize::from(sequence)] = now;
                let local_ns = now;
                link.send(epoch, from, &Message::Pong { sequence, local_ns });
            }
            (Message::Pong { sequence, local_ns }, Step::Compare(_), false) => {
                let edges = running.edges.as_mut().ok_or("an answer to no ping")?;
                edges.answered(link, epoch, from, (sequence, local_ns, now))?;
            }
            (
                Message::Clock {
                    sequence,
                    ahead_ns,
                    bound_ns,
                    path_ns,
                },
                Step::Clock(when),
                true,
            ) if sequence < PINGS => {
                let own = Reading {
                    local_ns: running.answered_ns[usize::from(sequence)],
                    ahead_ns,
                    bound_ns,
                    path_ns,
                };
                running.compare(link, epoch, when, own, children);
            }
            (Message::Synced { path_ns }, Step::Compare(When::Before), false) => {
                running.path_ns = running.path_ns.max(path_ns);
                running.below.insert(from);
            }
            (go @ Message::Go { .. }, Step::Armed, true) => self.take_go(link, &go),
            (Message::Gathered { summary, windows }, Step::Compare(When::After), false) => {
                running.gathered.push(summary);
                running.windows.extend(windows);
                running.below.insert(from);
            }
            (judged @ Message::Judged { .. }, Step::Gathered, true) => {
                self.take_verdict(link, &judged);
            }
            _ => return Err("a message out of turn"),
        }
        Ok(())
    }

    fn take_verdict(&mut self, link: &mut Link<'_>, judged: &Message) {
        self.pass_down(link, judged);
        let (Phase::Trial(running), Message::Judged { void }) = (&self.phase, judged) else {
            unreachable!("the verdict of a trial")
        };
        let clock = running.clock().expect("both readings are there");
        self.work.judged(&running.trial, void.as_deref(), &clock);
        self.phase = Phase::Between;
    }

    /// Goes on, as far as nobody has to be waited for.
    pub(super) fn advance(&mut self, link: &mut Link<'_>) {
        if let Phase::Hello { .. } = self.phase {
            self.advance_hello(link);
        }
        while self.advance_trial(link) {}
    }

    /// One step on; whether there was one.
    fn advance_trial(&mut self, link: &mut Link<'_>) -> bool {
        let children = self.children();
        let (epoch, is_root) = (self.epoch, self.is_root());
        let Phase::Trial(running) = &mut self.phase else {
            return false;
        };
        let is_overdue = running.overdue_ns.is_some_and(|at| link.now_ns() >= at);
        let all_below = children.iter().all(|child| running.below.contains(child));
        match running.step {
            Step::Clearing if self.work.idle() => {
                self.has_prepared = true;
                self.work.prepare(&running.trial);
                running.step = Step::Preparing;
                running.overdue_ns = None;
                self.overdue_ns = None;
            }
            Step::Clearing if is_overdue => {
                let after_ns = self.settings.overdue_after_ns;
                self.hang(
                    link,
                    "it has not stopped what was cancelled",
                    (after_ns, "ought"),
                );
            }
            Step::Preparing if running.overdue_ns.is_none() && self.work.is_set_up() => {
                let within_ns = self.settings.prepared_within_ns;
                running.overdue_ns = Some(link.now_ns().saturating_add(within_ns));
            }
            Step::Preparing => match self.work.prepared() {
                Poll::Pending if is_overdue => {
                    let within_ns = self.settings.prepared_within_ns;
                    self.hang(link, "it has not prepared its trial", (within_ns, "began"));
                }
                Poll::Pending => return false,
                Poll::Ready(Ok(())) => running.step = Step::Prepared,
                Poll::Ready(Err(why)) => self.fail(link, why),
            },
            Step::Measuring => match self.work.finished() {
                Poll::Pending if is_overdue => {
                    let after_ns = self.settings.overdue_after_ns;
                    self.hang(link, "it has not ended its trial", (after_ns, "ought"));
                }
                Poll::Pending => return false,
                Poll::Ready(Ok(outcome)) => {
                    running.outcome = Some(outcome);
                    running.step = Step::Measured;
                }
                Poll::Ready(Err(why)) => self.fail(link, why),
            },
            Step::Prepared | Step::Measured if all_below => {
                let (when, said) = if running.step == Step::Prepared {
                    (When::Before, Message::Ready)
                } else {
                    (When::After, Message::Finished)
                };
                if is_root {
                    let own = Reading::of_root(link.now_ns());
                    running.compare(link, epoch, when, own, children);
                } else {
                    running.enter(Step::Clock(when));
                    self.pass_up(link, &said);
                }
            }
            Step::Compare(when) if all_below && running.edges.as_ref().is_some_and(Edges::done) => {
                running.edges = None;
                self.compared(link, when);
            }
            _ => return false,
        }
        true
    }

    /// The trial is void. Where the session was at it, it has to stop; one that has not come to it
    /// may have a file to fill before, and one that fills its part of what hosts share goes on.
    pub(super) fn cancel_trial(&mut self, now_ns: i64) {
        if let Phase::Trial(running) = &self.phase {
            self.work.cancel();
            let may_last = match running.step {
                Step::Clearing => true,
                Step::Preparing => !self.work.is_set_up(),
                _ => false,
            };
            if !may_last {
                let overdue_ns = now_ns.saturating_add(self.settings.overdue_after_ns);
                self.overdue_ns = Some(overdue_ns);
            }
        }
    }

    /// Its disk does not answer, so this process may not come to its end: nobody is to wait for
    /// it.
    fn hang(&mut self, link: &mut Link<'_>, what: &str, (limit_ns, it): (i64, &str)) {
        let seconds = limit_ns / 1_000_000_000;
        let why = format!("{what} {seconds} s after it {it} to; its disk may hang");
        if self.is_root() {
            self.lost.insert(self.rank, why.clone());
            self.call_roster(link);
        }
        self.fail(link, why);
    }

    /// All clocks of this subtree are compared, and after a trial all its summaries are here.
    fn compared(&mut self, link: &mut Link<'_>, when: When) {
        let is_root = self.is_root();
        let Phase::Trial(running) = &mut self.phase else {
            unreachable!("clocks are compared in trials")
        };
        let path_ns = running.path_ns;
        match when {
            When::Before => {
                running.enter(Step::Armed);
                if is_root {
                    let go = self.agree_on_start(link, path_ns);
                    self.take_go(link, &go);
                } else {
                    self.pass_up(link, &Message::Synced { path_ns });
                }
            }
            When::After => {
                running.enter(Step::Gathered);
                if let Err(why) = self.gather() {
                    self.fail(link, why);
                } else if is_root {
                    self.judge(link);
                } else if let Phase::Trial(running) = &mut self.phase {
                    let gathered = Message::Gathered {
                        summary: std::mem::take(&mut running.summary),
                        windows: std::mem::take(&mut running.windows),
                    };
                    self.pass_up(link, &gathered);
                }
            }
        }
    }

    /// This host's own summary and window, and those of its children, as one.
    fn gather(&mut self) -> Result<(), String> {
        let Phase::Trial(running) = &mut self.phase else {
            unreachable!("only a trial has summaries")
        };
        let clock = running.clock().expect("both readings are there");
        let outcome = running.outcome.take().expect("it was measured");
        let (start_ns, bound_ns) = clock.to_root(outcome.start_ns);
        let (end_ns, _) = clock.to_root(outcome.end_ns);
        running.windows.push(Window {
            rank: number_of(self.rank),
            start_ns,
            end_ns,
            bound_ns,
        });
        let mut summary = outcome.summary;
        for other in &running.gathered {
            summary = self.work.merge(summary, other)?;
        }
        running.summary = summary;
        Ok(())
    }
}
