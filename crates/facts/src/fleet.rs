//! Which disk of a fleet is slower than its peers.
//!
//! [`screen()`] looks at one run of each host and names suspects; [`second_look`] says who is
//! measured again, at another time; [`verdict()`] holds both looks together. [`trend()`] follows
//! one host over time, and [`compare_groups()`] holds all hosts at one time against the same at another. What each of them promises, and how often it errs, is in
//! `docs/fleet-statistics.md`, with the simulated fleets that it was measured on.
//!
//! All arithmetic is on logarithms, because disturbances multiply a rate: a difference of
//! logarithms is a factor, and *20 % slower* is a rate of 0.8 times the peers', or a latency of
//! 1 / 0.8 times theirs.
//!
//! Peers are equal in all of [`Peers`]; below [`Options::peers_min`] of them nothing is claimed.
//!
//! Others' rules, and why not theirs: HDFS calls a data node slow above the largest of a floor,
//! three times the median and the median plus three MAD, and so finds nothing below three times
//! (`OutlierDetector.java`). IASO (Panda et al., USENIX ATC 2019) and Perseus (Lu et al., USENIX
//! FAST 2023) watch the latency of production traffic for weeks; a measurement has its workload in
//! its own hand, needs no model of the load, and gets its second opinion by asking again.

mod cells;
mod generations;
mod groups;
mod kinds;
mod of_run;
mod sample;
mod screen;
mod second_look;
mod tail;
mod times;
mod trend;
mod verdict;

pub use groups::{GroupOfFleet, compare_groups};
pub use of_run::{peers_of, samples_of};
pub use sample::{Disturbance, Member, Options, Peers, Sample, TrialSample};
pub use screen::{Cell, Missing, Screen, SlowTime, Suspect, TooFew, Value, WhyMissing, screen};
pub use second_look::{Again, SecondLook, Why, look_once_more, second_look};
pub use trend::{Level, Trend, TrendPoint, TrendStep, trend};
pub use verdict::{Judged, Outcome, Verdict, WhyCleared, WhyUndecided, verdict};
