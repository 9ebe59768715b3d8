//! Who runs: the stream that holds the machine.
//!
//! The machine is one value, and goes from thread to thread. Whoever holds it
//! runs, and all others wait to be given it. So threads take turns in an order
//! that the machine decides, and what one of them sees cannot depend on how the
//! kernel schedules them.

use super::machine::{Machine, Waiting};
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

/// What a stream is given.
enum Given {
    /// The machine: it runs.
    Machine(Box<Machine>),
    /// Another stream broke: nobody runs any more.
    Broken,
}

/// One stream's part in the passing on of the machine.
pub(super) struct Baton {
    me: usize,
    machine: Option<Box<Machine>>,
    inbox: Receiver<Given>,
    all: Vec<Sender<Given>>,
    home: Sender<Box<Machine>>,
}

/// Batons for so many streams, where the machine comes back when all have
/// ended, and who starts them.
pub(super) fn batons(streams: usize) -> (Vec<Baton>, Receiver<Box<Machine>>, Starter) {
    let (home, returned) = channel();
    let (all, inboxes): (Vec<_>, Vec<_>) = (0..streams).map(|_| channel()).unzip();
    let batons = inboxes
        .into_iter()
        .enumerate()
        .map(|(me, inbox)| Baton {
            me,
            machine: None,
            inbox,
            all: all.clone(),
            home: home.clone(),
        })
        .collect();
    (batons, returned, Starter { all })
}

/// Gives the machine to the first stream.
pub(super) struct Starter {
    all: Vec<Sender<Given>>,
}

impl Starter {
    pub(super) fn start(self, mut machine: Box<Machine>) {
        if let Some(first) = machine.next_to_run() {
            pass(&self.all, first, machine);
        }
    }

    /// Sends everybody home.
    pub(super) fn give_up(self) {
        break_all(&self.all);
    }
}

fn pass(all: &[Sender<Given>], to: usize, machine: Box<Machine>) {
    if all[to].send(Given::Machine(machine)).is_err() {
        break_all(all);
    }
}

fn break_all(all: &[Sender<Given>]) {
    for stream in all {
        // Who is gone already need not be told.
        let _ = stream.send(Given::Broken);
    }
}

impl Baton {
    /// Which stream this is.
    pub(super) fn me(&self) -> usize {
        self.me
    }

    /// Waits to be given the machine.
    ///
    /// # Errors
    /// Another stream broke.
    pub(super) fn receive(&mut self) -> io::Result<()> {
        match self.inbox.recv() {
            Ok(Given::Machine(machine)) => {
                self.machine = Some(machine);
                Ok(())
            }
            Ok(Given::Broken) | Err(_) => Err(io::Error::other(
                "another stream of this trial ended without a record",
            )),
        }
    }

    /// The machine, which only who runs may ask for.
    #[inline]
    pub(super) fn machine(&mut self) -> &mut Machine {
        self.machine
            .as_deref_mut()
            .expect("who runs holds the machine")
    }

    /// Lets others run, and time pass, until this stream can go on.
    ///
    /// # Errors
    /// Another stream broke.
    #[inline]
    pub(super) fn wait(&mut self, waiting: Waiting) -> io::Result<()> {
        let me = self.me;
        let machine = self.machine();
        machine.set_waiting(me, waiting);
        let next = machine.next_to_run();
        if next == Some(me) {
            return Ok(());
        }
        self.hand_over(next);
        self.receive()
    }

    fn hand_over(&mut self, next: Option<usize>) {
        let Some(machine) = self.machine.take() else {
            return;
        };
        match next {
            Some(next) => pass(&self.all, next, machine),
            // Who gave the trial up does not wait for the machine.
            None => drop(self.home.send(machine)),
        }
    }
}

impl Drop for Baton {
    /// The stream has ended, or panicked: then the machine may be in the middle
    /// of something, and nobody gets it.
    fn drop(&mut self) {
        if std::thread::panicking() {
            break_all(&self.all);
            return;
        }
        let me = self.me;
        if let Some(machine) = &mut self.machine {
            machine.set_waiting(me, Waiting::Ended);
            let next = machine.next_to_run();
            self.hand_over(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::access::Access;
    use crate::sim::machine::Outside;
    use diskfacts_disk::host::{Host, HostParameters};
    use diskfacts_disk::profile::{build_disk, profile};

    fn machine() -> Box<Machine> {
        let profile = profile("hdd-7200-1tb").expect("a built-in profile");
        let host = Host::new(HostParameters::linux(), build_disk(&profile, 1));
        let mut machine = Machine::new(host, None, None);
        machine.begin_trial(&[Access::default(); 2], Outside::default());
        machine
    }

    #[test]
    fn streams_run_in_turn_and_the_machine_comes_home() {
        let (mut streams, home, starter) = batons(2);
        starter.start(machine());
        let (mut second, mut first) = (streams.pop().unwrap(), streams.pop().unwrap());
        let waits = std::thread::spawn(move || {
            second.receive().expect("its turn");
            second.wait(Waiting::Time(500)).expect("its time");
            second.machine().now_ns()
        });
        first.receive().expect("the first turn");
        first.wait(Waiting::Time(900)).expect("its time");
        assert_eq!(first.machine().now_ns(), 900);
        drop(first);
        assert_eq!(waits.join().expect("no panic"), 500);
        assert_eq!(home.recv().expect("it comes home").now_ns(), 900);
    }

    #[test]
    fn a_stream_that_panics_sends_the_others_home_and_keeps_the_machine() {
        let (mut streams, home, starter) = batons(2);
        starter.start(machine());
        let (mut second, mut first) = (streams.pop().unwrap(), streams.pop().unwrap());
        let broken = std::thread::spawn(move || {
            first.receive().expect("the first turn");
            panic!("planted");
        });
        assert!(second.receive().is_err());
        assert!(broken.join().is_err());
        drop(second);
        assert!(home.recv().is_err());
    }
}
