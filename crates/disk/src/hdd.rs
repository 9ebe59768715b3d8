//! Hard disks.
//!
//! The equations and their sources, file by file: where a byte lies
//! ([`geometry`]), how long the arm takes ([`seek`], [`mechanism`]), what the
//! drive reads on ([`stream`]) and what it writes later ([`write_cache`]), and
//! the machine that puts them together ([`drive`]).

mod command;
pub mod drive;
pub mod geometry;
mod jobs;
pub mod mechanism;
pub mod parameters;
mod pending;
pub mod seek;
mod sorted;
pub mod stream;
pub mod write_cache;
mod writing;

pub use drive::Hdd;
pub use parameters::{
    DestageOrder, HddParameters, ReadAheadParameters, SeekParameters, WriteCacheParameters,
    ZoneRate,
};
