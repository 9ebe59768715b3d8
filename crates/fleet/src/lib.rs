//! The runs of many hosts, in one folder of Parquet files.
//!
//! # Promises
//! * A file is written once, by [`Adding`], and never changed. It appears by a rename, so whoever
//!   reads the folder meanwhile sees whole files alone, and two that add at once do not disturb each
//!   other.
//! * A row is a trial ([`COLUMNS`]); `docs/reference/fleet.md` has their meaning and units. Any
//!   program that reads Parquet reads them; files that such a program has put together anew are
//!   read here, too, as long as they have the columns.
//! * A run counts once, however often it was added: what is known is not added again, and of what two
//!   added at once the first file counts when it is read.
//!
//! * Memory goes by the runs that the files have, some hundred bytes each, and by the disks that are asked about:
//!   not by rows. As few files are open at once as there are processors.
//!
//! # What it does not promise
//! Nothing is deleted, and no file is merged with another. Evidence stays in the runs' own stores.

mod add;
mod column;
mod columns;
mod error;
mod folder;
mod read;
mod rows;

pub use add::{Added, Adding};
pub use column::{Column, Kind};
pub use columns::COLUMNS;
pub use error::Error;
pub use read::{Chosen, Fleet, Runs, SharedNames};
