//! The lines that other programs print about storage, read and written.
//!
//! One format per file: a row type whose fields are what the line says, in the
//! units of its own program, read with [`FromStr`](std::str::FromStr) and
//! printed, to the character, with [`Display`](std::fmt::Display). What is
//! printed reads back as the same row. Nothing is converted here: each format
//! says what its MB is, and who wants bytes asks the row.
//!
//! A line that is not of the format, or of which a part is missing, is an
//! error that says at which column it ceased to be understood
//! ([`NotUnderstood`]).

pub mod bonnie;
pub mod dd;
pub mod hdparm;
pub mod iostat_linux;
pub mod iostat_solaris;
mod printf;
pub mod readahead;
mod scan;
pub mod stride;
pub mod write_matrix;

pub use printf::percent_g;
pub use scan::NotUnderstood;
