//! Arrays of disks: striping, mirrors, parity.

pub mod array;
mod gather;
pub mod layout;
mod nodes;
pub mod stripe;

pub use array::Raid;
pub use layout::{Layout, Level};
