//! A rank is gone, or leaves: the trial is void, and the others go on.

use super::{Ending, Member, Phase, number_of};
use crate::link::Link;
use crate::objections::name_of_rank;
use crate::tree::Tree;
use crate::wire::Message;
use crate::work::{Schedule, Work};
use std::collections::BTreeMap;

impl<W: Work, S: Schedule> Member<W, S> {
    /// Somebody below said that a rank is lost.
    pub(super) fn take_lost(
        &mut self,
        link: &mut Link<'_>,
        from: usize,
        (rank, why): (usize, String),
    ) {
        // Nobody is lost by the word of one that stands beside or above it.
        if rank == 0 || rank >= self.size || !self.tree.subtree(from).contains(&rank) {
            return;
        }
        if self.is_root() {
            self.lose(link, rank, why);
        } else {
            let rank = number_of(rank);
            self.pass_up(link, &Message::Lost { rank, why });
        }
    }

    /// The root goes on without a rank.
    pub(super) fn lose(&mut self, link: &mut Link<'_>, rank: usize, why: String) {
        let ended = matches!(self.phase, Phase::Ended { .. });
        if ended || rank == 0 || self.lost.contains_key(&rank) {
            return;
        }
        let host = name_of_rank(&self.cards, rank);
        let void = format!("{host} was lost: {why}");
        self.lost.insert(rank, why);
        if let Phase::Hello { .. } = self.phase {
            // Whether that is an objection is decided when all others are there.
            return;
        }
        self.call_roster(link);
        self.cancel_trial(link.now_ns());
        if let Phase::Trial(running) = std::mem::replace(&mut self.phase, Phase::Between) {
            self.root.lost_in(*running, void.clone());
        }
        let there = self.tree.present().len();
        if there < self.settings.at_least.unwrap_or(2).min(self.size) {
            let of = self.size;
            self.end_group(
                link,
                Some(format!("{there} of {of} hosts are left: {void}")),
            );
        } else {
            self.begin_next(link);
        }
    }

    /// A new epoch: the root tells everybody itself, those without a place too.
    pub(super) fn call_roster(&mut self, link: &mut Link<'_>) {
        self.epoch += 1;
        let lost = |(rank, why): (&usize, &String)| (number_of(*rank), why.clone());
        let roster = Message::Roster {
            lost: self.lost.iter().map(lost).collect(),
        };
        let mut everybody: Vec<usize> = (1..self.size).collect();
        everybody.retain(|rank| self.liveness.reachable(*rank));
        link.send_all(self.epoch, &everybody, &roster);
        self.plant_tree(link.now_ns());
    }

    pub(super) fn take_roster(
        &mut self,
        link: &mut Link<'_>,
        epoch: u32,
        lost: Vec<(u32, String)>,
    ) {
        self.epoch = epoch;
        self.lost = lost
            .into_iter()
            .map(|(rank, why)| (rank as usize, why))
            .collect::<BTreeMap<_, _>>();
        self.plant_tree(link.now_ns());
        let own = self.lost.get(&self.rank).cloned();
        match (&self.phase, own) {
            (Phase::Failed(why), None) => {
                // The one that was to pass it on is lost itself.
                let why = why.clone();
                self.say_lost(link, why);
            }
            (Phase::Failed(_), Some(_)) | (Phase::Ended { .. }, _) => {}
            // It was silent, and is there again.
            (_, Some(why)) => {
                let why = format!("the others went on without this host: {why}");
                self.cancel_trial(link.now_ns());
                self.work.ended();
                self.early.clear();
                self.phase = Phase::Failed(why);
            }
            (_, None) => {
                self.cancel_trial(link.now_ns());
                self.phase = Phase::Between;
                for child in self.children() {
                    if !self.liveness.reachable(child) {
                        let why = "it cannot be reached".to_owned();
                        self.report_lost(link, child, why);
                    }
                }
                self.take_early(link);
            }
        }
    }

    fn plant_tree(&mut self, now_ns: i64) {
        self.tree = Tree::new(self.size, &self.lost.keys().copied().collect());
        self.waiting_for.clear();
        self.liveness.pardon(now_ns, self.tree.children(self.rank));
    }

    /// What the transport found out during this poll.
    pub(super) fn settle(&mut self, link: &mut Link<'_>) {
        while let Some((rank, why)) = link.gone.pop() {
            if !self.liveness.lose(rank) || matches!(self.phase, Phase::Ended { .. }) {
                continue;
            }
            if rank == 0 {
                let why = format!("the root cannot be reached: {why}");
                self.end(link.now_ns(), Ending::Stopped(why));
            } else if self.is_root() {
                self.lose(link, rank, why);
            } else if self.tree.children(self.rank).contains(&rank) {
                self.report_lost(link, rank, why);
            }
            // A parent that is gone is told by the root, to everybody.
        }
        if let Some(why) = link.broken.take() {
            self.end(link.now_ns(), Ending::Stopped(why));
        }
    }

    /// This host ends now.
    pub(super) fn leave(&mut self, link: &mut Link<'_>, why: String) {
        if self.is_root() {
            self.end_group(link, Some(why));
        } else if !matches!(self.phase, Phase::Ended { .. }) {
            self.say_lost(link, why.clone());
            self.end(link.now_ns(), Ending::Left(why));
        }
    }

    /// Somebody on this host wants the group to end.
    pub(super) fn stop_all(&mut self, link: &mut Link<'_>, why: String) {
        if self.is_root() {
            let host = name_of_rank(&self.cards, self.rank);
            self.end_group(link, Some(format!("{host}: {why}")));
        } else if !matches!(self.phase, Phase::Ended { .. }) {
            self.stops = Some(why);
            self.ask_to_stop(link);
        }
    }

    /// Said again with each heartbeat, since whoever was to pass it on may be lost.
    pub(super) fn ask_to_stop(&self, link: &mut Link<'_>) {
        if let Some(why) = self.stops.clone() {
            let rank = number_of(self.rank);
            self.pass_up(link, &Message::Stop { rank, why });
        }
    }

    pub(super) fn take_stop(&mut self, link: &mut Link<'_>, rank: u32, why: String) {
        if matches!(self.phase, Phase::Ended { .. }) {
            return;
        }
        if self.is_root() {
            let host = name_of_rank(&self.cards, rank as usize);
            self.end_group(link, Some(format!("{host}: {why}")));
        } else {
            self.pass_up(link, &Message::Stop { rank, why });
        }
    }

    /// This host cannot measure; it stays until the others are done.
    pub(super) fn fail(&mut self, link: &mut Link<'_>, why: String) {
        if self.is_root() {
            let host = name_of_rank(&self.cards, self.rank);
            self.end_group(link, Some(format!("{host}: {why}")));
        } else {
            self.work.cancel();
            self.work.ended();
            self.say_lost(link, why.clone());
            self.phase = Phase::Failed(why);
        }
    }

    fn say_lost(&self, link: &mut Link<'_>, why: String) {
        let rank = number_of(self.rank);
        self.pass_up(link, &Message::Lost { rank, why });
    }
}
