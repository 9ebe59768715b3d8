//! Who was heard of, and when.

use super::{Member, Phase, number_of};
use crate::link::Link;
use crate::settings::Settings;
use crate::wire::Message;
use crate::work::{Schedule, Work};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct Liveness {
    begun_ns: Option<i64>,
    /// When a rank was last heard of; absent until its first frame, or
    /// until a new tree made it a child.
    heard_ns: BTreeMap<usize, i64>,
    /// When the root was last known to be alive, as this rank and those above know it.
    root_ns: i64,
    /// When this rank last said that it is alive.
    said_ns: Option<i64>,
    /// Ranks that the transport cannot reach.
    gone: BTreeSet<usize>,
}

impl Liveness {
    pub(super) fn begin(&mut self, now_ns: i64) {
        if self.begun_ns.is_none() {
            self.begun_ns = Some(now_ns);
            self.root_ns = now_ns;
        }
    }

    pub(super) fn age_ns(&self, now_ns: i64) -> i64 {
        self.begun_ns
            .map_or(0, |begun| now_ns.saturating_sub(begun))
    }

    pub(super) fn heard(&mut self, rank: usize, now_ns: i64) {
        self.heard_ns.insert(rank, now_ns);
        if rank == 0 {
            self.root_ns = now_ns;
        }
    }

    /// The parent heard of the root so long ago.
    pub(super) fn heard_of_root(&mut self, now_ns: i64, silent_ms: u32) {
        let at = now_ns.saturating_sub(i64::from(silent_ms) * 1_000_000);
        self.root_ns = self.root_ns.max(at);
    }

    /// A new tree: nobody is blamed for what was silent before. A child that is new here may be
    /// lost already, and never be heard: its time runs from now on, too.
    pub(super) fn pardon(&mut self, now_ns: i64, children: &[usize]) {
        for heard in self.heard_ns.values_mut() {
            *heard = now_ns;
        }
        let children = children.iter().map(|child| (*child, now_ns));
        self.heard_ns.extend(children);
    }

    fn was_heard_since(&self, rank: usize, since_ns: i64) -> bool {
        let heard = self.heard_ns.get(&rank);
        heard.is_some_and(|heard| *heard >= since_ns)
    }

    /// Notes that a rank cannot be reached; whether that is new.
    pub(super) fn lose(&mut self, rank: usize) -> bool {
        self.gone.insert(rank)
    }

    pub(super) fn reachable(&self, rank: usize) -> bool {
        !self.gone.contains(&rank)
    }

    /// When something has to be looked at, whatever arrives.
    pub(super) fn next_ns(&self, settings: &Settings) -> i64 {
        self.said_ns
            .map_or(i64::MIN, |said| said.saturating_add(settings.heartbeat_ns))
    }
}

impl<W: Work, S: Schedule> Member<W, S> {
    /// Says that this rank is alive, and looks who is not.
    pub(super) fn watch(&mut self, link: &mut Link<'_>) {
        let now = link.now_ns();
        if self.liveness.next_ns(&self.settings) <= now {
            self.liveness.said_ns = Some(now);
            self.say_alive(link, now);
            if !matches!(self.phase, Phase::Ended { .. }) {
                self.ask_to_stop(link);
            }
        }
        if matches!(self.phase, Phase::Ended { .. }) {
            return;
        }
        if !self.is_root() {
            let silent = now.saturating_sub(self.liveness.root_ns);
            // Until the group has begun, the root's own patience is longer.
            let patience = match self.phase {
                Phase::Hello { .. } => self.settings.hello_within_ns + self.settings.root_silent_ns,
                _ => self.settings.root_silent_ns,
            };
            if silent >= patience {
                let why = format!("nothing was heard of the root for {}", seconds(silent));
                self.end(now, super::Ending::Stopped(why));
                return;
            }
        }
        if matches!(self.phase, Phase::Failed(_)) {
            return;
        }
        for child in self.children() {
            let Some(heard) = self.liveness.heard_ns.get(&child) else {
                continue;
            };
            let silent = now.saturating_sub(*heard);
            if silent >= self.settings.lost_after_ns && !self.lost.contains_key(&child) {
                let why = format!("nothing was heard of it for {}", seconds(silent));
                self.report_lost(link, child, why);
            }
        }
    }

    fn say_alive(&self, link: &mut Link<'_>, now: i64) {
        let silent = if self.is_root() {
            0
        } else {
            now.saturating_sub(self.liveness.root_ns)
        };
        let mut alive = Message::Alive {
            root_silent_ms: u32::try_from(silent / 1_000_000).unwrap_or(u32::MAX),
            waiting_for: Vec::new(),
        };
        let mut below = self.children();
        if self.is_root() {
            // Those that are lost and there, which wait for the end.
            let since = now.saturating_sub(self.settings.lost_after_ns);
            let lost = self.lost.keys();
            below.extend(lost.filter(|rank| self.liveness.was_heard_since(**rank, since)));
        }
        below.retain(|rank| self.liveness.reachable(*rank));
        link.send_all(self.epoch, &below, &alive);
        if let (Some(parent), Message::Alive { waiting_for, .. }) = (self.above(), &mut alive) {
            *waiting_for = self.waited_for();
            if self.liveness.reachable(parent) {
                link.send(self.epoch, parent, &alive);
            }
        }
    }

    /// A child is lost: the root decides what follows.
    pub(super) fn report_lost(&mut self, link: &mut Link<'_>, rank: usize, why: String) {
        if self.is_root() {
            self.lose(link, rank, why);
        } else if let Entry::Vacant(entry) = self.lost.entry(rank) {
            // Told once: the roster has it later.
            entry.insert(why.clone());
            let lost = Message::Lost {
                rank: number_of(rank),
                why,
            };
            self.pass_up(link, &lost);
        }
    }

    /// The parent; the root, where this rank has no place in the tree.
    fn above(&self) -> Option<usize> {
        let parent = self.tree.parent(self.rank);
        parent.or((!self.is_root()).then_some(0))
    }

    pub(super) fn pass_up(&self, link: &mut Link<'_>, message: &Message) {
        if let Some(parent) = self.above() {
            link.send(self.epoch, parent, message);
        }
    }

    pub(super) fn pass_down(&self, link: &mut Link<'_>, message: &Message) {
        let mut below = self.children();
        below.retain(|rank| self.liveness.reachable(*rank));
        link.send_all(self.epoch, &below, message);
    }
}

fn seconds(ns: i64) -> String {
    format!("{:.1} s", ns as f64 / 1e9)
}
