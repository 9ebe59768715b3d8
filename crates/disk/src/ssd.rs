//! Flash drives: dies on channels ([`flash`]), a map from logical units to
//! places ([`map`], [`blocks`]), a write buffer and a garbage collection
//! ([`drive`]).

pub mod blocks;
mod collect;
pub mod drive;
pub mod flash;
mod link;
pub mod map;
pub mod parameters;
mod writing;

pub use drive::{FlashCounters, Ssd};
pub use parameters::{SlcParameters, SsdParameters, Wear};
