//! What a frame leads to.

use super::{Ending, Member, Phase};
use crate::link::Link;
use crate::objections::name_of_rank;
use crate::wire::{Frame, Message, decode};
use crate::work::{Schedule, Work};

/// Frames of epochs to come that are kept; a rank sends a handful before its roster is here.
const EARLY_MAX: usize = 4096;

impl<W: Work, S: Schedule> Member<W, S> {
    pub(super) fn take_frame(&mut self, link: &mut Link<'_>, from: usize, frame: &[u8]) {
        // First of all: a clock may be compared by this frame.
        let now = link.now_ns();
        self.liveness.heard(from, now);
        // What a rank without a place in the tree says is of another time.
        let is_lost = self.is_root() && !self.tree.present().contains(&from);
        let taken = match decode(frame) {
            Ok(Frame::Known {
                message: Message::Stop { rank, why },
                ..
            }) if is_lost => {
                self.take_stop(link, rank, why);
                Ok(())
            }
            _ if is_lost => Ok(()),
            Ok(Frame::Known { epoch, message }) => self.take(link, from, (epoch, message), now),
            // It says so on its card, too, which refuses the group.
            Ok(Frame::Foreign { .. }) if matches!(self.phase, Phase::Hello { .. }) => Ok(()),
            Ok(Frame::Foreign { protocol }) => Err(format!("a frame of protocol {protocol}")),
            Err(error) => Err(format!("{} bytes that are no frame: {error}", frame.len())),
        };
        if let Err(what) = taken {
            self.blame(link, from, &what);
        }
    }

    fn take(
        &mut self,
        link: &mut Link<'_>,
        from: usize,
        (epoch, message): (u32, Message),
        now: i64,
    ) -> Result<(), String> {
        match message {
            Message::Roster { lost } if from == 0 && epoch > self.epoch => {
                self.take_roster(link, epoch, lost);
                Ok(())
            }
            // Of an older tree, too: whoever is lost stays lost.
            Message::Lost { rank, why } if epoch <= self.epoch => {
                self.take_lost(link, from, (rank as usize, why));
                Ok(())
            }
            Message::Stop { rank, why } if epoch <= self.epoch && from != 0 => {
                self.take_stop(link, rank, why);
                Ok(())
            }
            Message::Refused { objections } if from == 0 => {
                self.take_refused(objections, now);
                Ok(())
            }
            _ if epoch < self.epoch => Ok(()),
            message if epoch > self.epoch => {
                if self.early.len() >= EARLY_MAX {
                    return Err("more frames than there can be before a roster".to_owned());
                }
                self.early.push((from, epoch, message));
                Ok(())
            }
            message => self
                .take_of_this_epoch(link, from, message, now)
                .map_err(str::to_owned),
        }
    }

    fn take_of_this_epoch(
        &mut self,
        link: &mut Link<'_>,
        from: usize,
        message: Message,
        now: i64,
    ) -> Result<(), &'static str> {
        let from_above = from == 0 || self.tree.parent(self.rank) == Some(from);
        let from_below = self.tree.children(self.rank).contains(&from);
        match message {
            Message::Alive {
                root_silent_ms,
                waiting_for,
            } => {
                if from_above {
                    self.liveness.heard_of_root(now, root_silent_ms);
                } else {
                    self.waiting_for.insert(from, waiting_for);
                }
                Ok(())
            }
            Message::End { why } if from_above => {
                self.take_end(link, why);
                Ok(())
            }
            _ if matches!(self.phase, Phase::Failed(_)) => Ok(()),
            Message::Hello { cards } if from_below => self.take_cards(from, cards),
            Message::Prepare {
                trial,
                attempt,
                order,
            } if from_above => self.take_prepare(link, (trial, attempt, order)),
            message if from_above || from_below => {
                let parent = !from_below;
                self.take_of_trial(link, (from, parent), message, now)
            }
            _ => Err("a message that is not its to send"),
        }
    }

    fn take_end(&mut self, link: &mut Link<'_>, why: Option<String>) {
        self.ends_with_all = true;
        let ending = match (&self.phase, why) {
            (Phase::Failed(own), _) => Ending::Left(own.clone()),
            (_, why) => {
                self.pass_down(link, &Message::End { why: why.clone() });
                why.map_or(Ending::Over, Ending::Stopped)
            }
        };
        self.end(link.now_ns(), ending);
    }

    /// Frames that waited for this epoch.
    pub(super) fn take_early(&mut self, link: &mut Link<'_>) {
        for (from, epoch, message) in std::mem::take(&mut self.early) {
            let now = link.now_ns();
            if let Err(what) = self.take(link, from, (epoch, message), now) {
                self.blame(link, from, &what);
            }
        }
    }

    /// A rank does not speak this protocol, whatever it says.
    fn blame(&mut self, link: &mut Link<'_>, from: usize, what: &str) {
        if self.tree.children(self.rank).contains(&from) {
            self.report_lost(link, from, format!("it sent {what}"));
        } else {
            let host = name_of_rank(&self.cards, from);
            self.leave(link, format!("{host} sent {what}"));
        }
    }
}
