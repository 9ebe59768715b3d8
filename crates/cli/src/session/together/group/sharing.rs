//! The steps before the first trial in which hosts make, open and fill files that they share.

use super::{LaunchedGroup, Order, Step, refused, unknown};
use crate::exit::Failure;
use diskfacts_gang::{Cancelled, Ending, Go, Outcome};

impl LaunchedGroup {
    /// Makes what this host is to make, and when all have, opens what it is to open.
    ///
    /// # Errors
    /// Where any host could not, for all of them.
    pub(in super::super) fn open_together(
        &mut self,
        make: impl FnOnce() -> Result<(), Failure>,
        open: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.expect(&Order::Open)?;
        let own = make();
        let go = self.seat.ready(Ok(()));
        let opened = own.and_then(|()| open());
        self.object(go, &Order::Open, opened.map_err(|why| why.sentence()))
    }

    /// Says whether this host has filled its part, or why not, and waits for the others.
    ///
    /// # Errors
    /// Where any host has not, for all of them.
    pub(in super::super) fn filled_together(
        &mut self,
        own: Result<(), String>,
    ) -> Result<(), Failure> {
        self.expect(&Order::Filled)?;
        let go = self.seat.ready(Ok(()));
        self.object(go, &Order::Filled, own)
    }

    /// Ends a step that measures nothing, with what this host has against going on, and looks
    /// whether the group does. A step in which a host was lost comes a second time.
    fn object(
        &mut self,
        mut go: Result<Go, Cancelled>,
        step: &Order,
        own: Result<(), String>,
    ) -> Result<(), Failure> {
        let said = match own {
            Ok(()) => Vec::new(),
            Err(why) => format!("rank {}: {why}\0", self.rank.rank).into_bytes(),
        };
        loop {
            if let Ok(go) = go {
                let outcome = Outcome {
                    start_ns: go.at_ns,
                    end_ns: go.at_ns,
                    summary: said.clone(),
                };
                // What was cancelled is asked for again.
                let _cancelled = self.seat.finished(Ok(outcome));
            }
            match self.next_order() {
                Some(again) if again == *step => go = self.seat.ready(Ok(())),
                Some(Order::Refused(objections)) => {
                    self.pass(&[]);
                    self.step = Step::Between;
                    let refused = refused("nothing was measured, and nothing is left", &objections);
                    self.ending = Some(Ending::Refused(objections));
                    return Err(refused);
                }
                Some(next) => {
                    self.step = Step::Between;
                    self.ahead = Some(next);
                    return Ok(());
                }
                None => return Err(self.has_ended()),
            }
        }
    }

    /// Takes the next order, which is to be this one.
    fn expect(&mut self, step: &Order) -> Result<(), Failure> {
        match self.next_order() {
            Some(order) if order == *step => Ok(()),
            Some(order) => Err(unknown(&order)),
            None => Err(self.has_ended()),
        }
    }
}
