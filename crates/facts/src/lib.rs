//! From records to claims. Pure: no file, clock or environment is read, so a
//! stored run gives the same facts again, and newer rules explain older runs.
//!
//! * [`layers()`]: who served the bytes of a trial; called after each trial.
//! * [`figures()`]: the figures of each stage over its trials.
//! * [`effects()`]: what the varied settings of a matrix do, and which are best.
//! * [`findings()`]: what follows, most important first; the tables of rules are
//!   [`rules::all`] and, about documents, [`documents::rules`].
//! * [`limits()`]: what limited each stage, with the arithmetic; the table of
//!   candidates is [`limits::all`].
//! * [`verdicts()`]: how the target does for known uses; the table is [`uses()`].
//! * [`explain()`]: all of these together, which costs little
//!   more than one of them.
//! * [`compare()`]: what changed between two runs, or two sets of runs.
//! * [`advise()`]: which of the options that were measured suits a use.
//! * [`trends()`]: how stages went from run to run, and where their level changed.
//! * [`together`]: runs of several hosts that started at one moment, added up.
//! * [`fleet`]: which disk of many hosts is slower than its peers.
//! * [`moment()`]: what happened at some time of a trial.
//! * [`stats`]: the statistics they rest on, each with its source.
//!
//! A claim carries its evidence. What could not be observed is not guessed: a
//! rule that lacks its evidence stays silent, and a verdict says *unmeasured*.

#![forbid(unsafe_code)]

pub mod advise;
#[cfg(test)]
mod arithmetic;
mod beside;
mod block_sizes;
mod blocked;
mod budget;
mod buffered_fallback;
mod claim;
pub mod compare;
mod context;
mod course;
mod cpu_quota;
mod device_physics;
pub mod device_rates;
mod device_requests;
mod direct_refused;
mod dirty_pages;
pub mod documents;
pub mod effects;
mod experiment;
pub mod explain;
pub mod explanations;
mod figures;
pub mod findings;
pub mod fleet;
mod holes;
mod journal;
mod kept_in_memory;
mod latency_intervals;
pub mod layers;
pub mod limits;
pub mod medium;
mod memory_limit;
mod moment;
mod neighbours;
mod open_loop;
mod operation_errors;
mod others;
mod outliers;
mod pages;
mod pauses;
mod places;
mod planned_trials;
mod positions;
mod prelude;
mod processor_varies;
mod processor_wait;
pub mod read_ahead;
mod resolution;
mod revolution;
mod rewrites;
pub mod rules;
mod share;
mod simulated;
mod spread;
mod stage_facts;
mod stages;
mod stalls;
pub mod stats;
pub mod stopping;
pub mod streams;
mod strides;
mod tested_claims;
#[cfg(test)]
mod testing;
pub mod together;
pub mod trends;
pub mod uses;
pub mod verdicts;
mod words;
mod write_matrix;

pub use advise::advise;
pub use compare::compare;
pub use context::Context;
pub use effects::effects;
pub use explain::{Explanation, explain, explain_document, figures, limits};
pub use figures::figure;
pub use findings::{findings, findings_of_document};
pub use layers::layers;
pub use moment::{Moment, NoMoment, moment, most_unlike};
pub use rules::Rule;
pub use spread::width;
pub use stages::Stage;
pub use stalls::Stall;
pub use trends::trends;
pub use uses::{Limit, Metric, Requirement, Source, Use, uses};
pub use verdicts::verdicts;
