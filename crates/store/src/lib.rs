//! Runs in an embedded `SQLite` database, the only crate that knows SQL; and whole runs in files,
//! on their way to another database ([`dfrun`]).
//!
//! # Promises
//! * What [`Store::begin`], [`Store::add_trial`] and [`Store::finish`] were
//!   given is on the medium when they return, as far as the filesystem and the
//!   drive keep their own promises: each is one transaction, synced. A process
//!   killed in the middle loses at most the call it was in.
//! * A loaded [`Run`](diskfacts_record::Run) equals the stored one, whole
//!   latency histograms included. Only a figure that is not a number comes back
//!   as absent, where its field can be absent.
//! * A run that is exported and imported is kept there as it was here, to the last byte.
//! * A database that may only be read is read, whatever keeps it from being written; an older
//!   one from a copy.
//! * Several processes may read and write at once; each waits for the others.
//! * A database of a newer version, of another program, or a file that is no
//!   database is never written to.
//!
//! # One file at rest
//! The journal is `SQLite`'s rollback journal, not its write-ahead log. A log
//! needs memory shared between processes, so it does not work on network
//! filesystems, where home folders often are, and its database cannot be read
//! from a place that is read-only. The rollback journal leaves one file, which
//! can be copied, and read from anywhere. It costs more syncs for each
//! transaction (0.8 ms against 0.3 ms on a virtual SSD with ext4), and a
//! transaction happens once per trial, between measurements.
//! `synchronous = EXTRA` also syncs the folder after the journal is deleted:
//! without it a power cut could roll a finished transaction back
//! (<https://www.sqlite.org/pragma.html#pragma_synchronous>).
//!
//! # Tables
//! `run` and `trial`, one row each, and `stage`, one for each stage of a run; see
//! `migrations/`. The `document` columns hold the JSON of `docs/reference/json.md` (a run's
//! without its trials, a trial's without its latencies over time) and are what is read back, with what people call a run (`name`, `note`,
//! `tags`), which is in columns alone. The other columns repeat a part of the documents for
//! queries with any `SQLite` client, with the units in their names; the view `stage_figures`
//! is documented for that (`docs/reference/sql.md`).

mod delete;
pub mod dfrun;
mod error;
mod figures;
mod find;
mod group;
mod intake;
mod kept;
mod labels;
mod location;
mod open;
mod read;
mod schema;
mod selector;
mod write;
mod writer;

pub use error::{Candidate, Candidates, Error};
pub use intake::{Intake, Taken};
pub use kept::{Kept, Parcel};
pub use location::default_path;
pub use open::Store;
pub use read::RunSummary;
pub use selector::Selector;
pub use writer::Writer;
