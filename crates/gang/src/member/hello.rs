//! Who is there, and what they have against it: before anything is written.

use super::{Ending, Member, Phase};
use crate::link::Link;
use crate::objections::{name_of_rank, names, objections};
use crate::wire::{Card, Message};
use crate::work::{Schedule, Work};

impl<W: Work, S: Schedule> Member<W, S> {
    /// The cards of a child's subtree.
    pub(super) fn take_cards(&mut self, from: usize, cards: Vec<Card>) -> Result<(), &'static str> {
        let Phase::Hello { below, .. } = &mut self.phase else {
            return Err("cards after the group had begun");
        };
        below.insert(from);
        let subtree = self.tree.subtree(from);
        for card in cards {
            let rank = card.rank as usize;
            if !subtree.contains(&rank) {
                return Err("a card of a rank that is not below it");
            }
            self.cards.insert(rank, card);
        }
        Ok(())
    }

    /// Passes the cards of this subtree on; at the root, decides whether to begin.
    pub(super) fn advance_hello(&mut self, link: &mut Link<'_>) {
        let Phase::Hello { below, sent } = &mut self.phase else {
            return;
        };
        let lost = &self.lost;
        let accounted = |child: &usize| below.contains(child) || lost.contains_key(child);
        let complete = self.tree.children(self.rank).iter().all(accounted);
        let age = self.liveness.age_ns(link.now_ns());
        if self.rank == 0 {
            if complete && self.everybody_is_accounted_for() || age >= self.settings.hello_within_ns
            {
                self.decide_to_begin(link);
            }
        // A child that does not come must not keep the others of this subtree from the root's
        // list: the root waits a quarter longer.
        } else if !*sent && (complete || age >= self.settings.hello_within_ns / 4 * 3) {
            *sent = true;
            let cards = self.cards.values().cloned().collect();
            self.pass_up(link, &Message::Hello { cards });
        }
    }

    /// Whether each rank has a card, is lost, or is below one that was lost before it passed its
    /// cards on.
    fn everybody_is_accounted_for(&self) -> bool {
        let unreachable: Vec<usize> = self
            .lost
            .keys()
            .filter(|rank| !self.cards.contains_key(rank))
            .flat_map(|rank| self.tree.subtree(*rank))
            .collect();
        (0..self.size).all(|rank| {
            self.cards.contains_key(&rank)
                || self.lost.contains_key(&rank)
                || unreachable.contains(&rank)
        })
    }

    fn decide_to_begin(&mut self, link: &mut Link<'_>) {
        let missing: Vec<usize> = (0..self.size)
            .filter(|rank| !self.cards.contains_key(rank) || self.lost.contains_key(rank))
            .collect();
        let there = self.size - missing.len();
        let mut present = self.cards.clone();
        present.retain(|rank, _| !missing.contains(rank));
        let mut found = objections(&present);
        if there < self.settings.at_least.unwrap_or(self.size) {
            found.insert(0, self.missing_hosts(&missing, there));
        }
        if !missing.is_empty() {
            for rank in missing {
                let why = "it did not say who it is".to_owned();
                self.lost.entry(rank).or_insert(why);
            }
            // Also where nothing is measured: whoever waits for all when it ends has to know that
            // they do not come.
            self.call_roster(link);
        }
        if !found.is_empty() {
            let refused = Message::Refused {
                objections: found.clone(),
            };
            // To each one: a host in the tree's middle may be the one that is missing.
            let everybody: Vec<usize> = (1..self.size).collect();
            link.send_all(self.epoch, &everybody, &refused);
            self.ends_with_all = true;
            self.end(link.now_ns(), Ending::Refused(found));
            return;
        }
        self.phase = Phase::Between;
        self.begin_next(link);
    }

    /// The root does not begin: told to each host by itself. Its form never changes, but its epoch
    /// may be one whose roster this version cannot read.
    pub(super) fn take_refused(&mut self, objections: Vec<String>, now_ns: i64) {
        let has_begun = self.has_prepared || matches!(self.phase, Phase::Trial(_));
        if !has_begun && !matches!(self.phase, Phase::Ended { .. }) {
            self.ends_with_all = true;
            self.end(now_ns, Ending::Refused(objections));
        }
    }

    fn missing_hosts(&self, missing: &[usize], there: usize) -> String {
        let named: Vec<String> = missing
            .iter()
            .map(|rank| match self.lost.get(rank) {
                Some(why) => format!("{} ({why})", name_of_rank(&self.cards, *rank)),
                None => name_of_rank(&self.cards, *rank),
            })
            .collect();
        format!(
            "{there} of {} hosts are there; missing: {}; --at-least {there} goes on without them",
            self.size,
            names(&named)
        )
    }
}
