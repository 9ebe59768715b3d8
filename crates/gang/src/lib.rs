//! Hosts that start at one moment.
//!
//! A group is as many processes as a launcher of MPI started, usually one on each host. They agree
//! that nothing speaks against measuring, compare their clocks, start each trial at one moment,
//! and gather what they measured at rank 0, the root. [`Member`] is that protocol,
//! [`Transport`] what it asks of MPI, and [`Work`] what it asks of those who measure.
//!
//! # Promises
//! * Nothing is prepared before every host has agreed, and every objection of every host is said
//!   at once.
//! * The difference between two hosts' clocks is known with a bound, and the true one lies within
//!   it, however unequal the ways between them are.
//! * A trial counts only when all hosts that are in the group started it in time.
//! * No step waits for ever for a host that is gone: it is lost after 5 s of silence, the trial is
//!   void, and the others go on; without the root they stop after 10 s.
//! * Nor for one whose disk does not answer: it is lost a quarter of an hour after its trial ought
//!   to have ended, and two hours after it began to prepare one. Before its first trial, as long as it
//!   fills files or preconditions its target, it may take any time ([`Work::is_set_up`]).
//! * No collective operation, no signal and no port is used, and threads that measure never touch
//!   the transport.
//!
//! # What it does not promise
//! That the others go on where the launcher kills them: Open MPI and MPICH end all processes of a
//! job when one dies, unless they are told otherwise (`--enable-recovery` in Open MPI 4.1,
//! `--with-ft ulfm` in 5). So each finished trial has to be stored before the next one.

#![deny(unsafe_code)]

pub mod channels;
mod clock;
mod drive;
pub mod launcher;
mod link;
mod member;
#[cfg(unix)]
pub mod mpi;
mod objections;
mod seat;
mod settings;
mod time;
mod transport;
mod tree;
pub mod wire;
mod work;

pub use clock::{ClockModel, PINGS, Reading, RoundTrip};
pub use drive::drive;
pub use member::{Ending, Member, Next};
pub use seat::{Cancelled, Merge, Seat, SeatWork, Stopper, Stops, Verdict, seat, seat_with};
pub use settings::{SPIN_NS, STRAGGLERS_MAX, Settings};
#[cfg(unix)]
pub use time::Monotonic;
pub use time::{Clock, wait_until};
pub use transport::{Transport, TransportError};
pub use tree::{ARITY, Tree};
pub use wire::{Card, Details, Window};
pub use work::{Go, Judged, NoSchedule, Outcome, Planned, Schedule, Trial, Work};
