//! Text for a terminal, a pipe, or a screen reader.
//!
//! Words carry all the meaning: colour and Unicode are added only where
//! [`Look`] allows them, every number stands beside its name, and nothing has
//! to be read across the lines of a drawing. Lines keep to the width, except
//! for a word that is longer, such as a path: it is never broken, so that it
//! can be copied.
//!
//! Names that come from outside (paths, models, messages) are shown with their
//! control characters escaped, so that none can move the cursor or change what
//! the terminal shows.

pub(crate) mod advise;
mod apart;
mod block_layer;
pub(crate) mod budget;
mod cells;
pub(crate) mod compare;
mod copy;
pub(crate) mod devices;
pub(crate) mod effects;
mod eighths;
mod files;
pub(crate) mod findings;
pub(crate) mod fleet;
pub(crate) mod heading;
pub(crate) mod heat;
pub(crate) mod imports;
mod iostat;
pub(crate) mod limits;
pub mod live;
mod look;
pub(crate) mod marks;
pub(crate) mod matrix;
mod names;
pub(crate) mod over_time;
mod page;
mod part;
mod parts;
pub(crate) mod pivot;
mod plans;
mod progress;
mod read_ahead;
mod reproduction;
mod requests;
mod run;
mod runs;
mod sim;
pub(crate) mod stages;
mod streams;
pub(crate) mod summary;
pub(crate) mod together;
pub(crate) mod unseen;
pub(crate) mod verdicts;
mod watch;
pub(crate) mod words;
mod wrap;

pub use advise::advice;
pub use compare::comparison;
pub use devices::devices;
pub use fleet::{fleet_odd, fleet_suspects, fleet_trend};
pub use imports::{formats, imports};
pub use iostat::iostat;
pub use look::Look;
pub(crate) use look::{Style, is_harmless};
pub use part::{StagePart, budgets, claim, moment, stage};
pub use plans::plans;
pub use progress::{Done, Left, Standing, amount, progress, stage_done};
pub use read_ahead::{Watched, read_ahead};
pub use reproduction::{missed, reproduction};
pub use run::{Closing, run};
pub use runs::{RunRow, deleted, runs};
pub use sim::{filled, profiles};
pub use summary::summary;
pub use together::together;
pub use watch::{watch_opening, watch_part, watch_total};
pub(crate) use words::list;
pub use words::workload;
pub(crate) use wrap::{columns, cut};
