//! Whole runs in a file, to be brought to another machine: `.dfrun`.
//!
//! # Form
//! For each run a member of gzip (RFC 1952), which ends with a checksum (CRC-32) and the
//! length of what is in it. Unpacked it is lines of JSON, each an object:
//!
//! 1. the head: `dfrun` (version of this form, [`VERSION`]), `id`, `number` and `of` (which of
//!    how many runs of the file), `schema`, `trials`, `labels`, `writer`;
//! 2. the run as it is stored: the document of `docs/reference/json.md` without its trials;
//! 3. for each trial, in their order: `histograms` (`read`, `write`, and `service`,
//!    `over_time` and `bursts`, or null; their stored form in base64, RFC 4648), `trial` (its
//!    document).
//!
//! So `zcat FILE.dfrun | jq` reads one, files can be put behind each other with `cat`, and the
//! same runs always make the same bytes. Keys may be added within a version; what is not known
//! is passed over in the head and kept in the documents.
//!
//! # What is trusted
//! Nothing: a file may come from anywhere. What is taken into memory of one run is limited
//! ([`RUN_BYTES_MAX`] and what is within it), whatever the packed bytes say, and so is that of all
//! runs of a file for who keeps them ([`Reader::limit`]); documents have to
//! be read as what they are said to be, histograms and labels to be valid, ids to be ids. The
//! checksum finds damage, not intent: who can write a file can write its checksum.

mod error;
mod read;
mod write;

pub use error::Error;
pub use read::Reader;
pub use write::write;

use crate::writer::Writer;
use diskfacts_record::Labels;
use serde::{Deserialize, Serialize};

/// Version of the form.
pub const VERSION: u32 = 1;

/// Bytes of the head of a run, at most.
pub const HEAD_BYTES_MAX: u64 = 64 << 10;
/// Bytes of the document of a run without its trials, at most: of a matrix with thousands of
/// cells it has some 10 MB.
pub const DOCUMENT_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a trial with its histograms, at most: most have 10 KB.
pub const TRIAL_BYTES_MAX: u64 = 16 << 20;
/// Bytes of a run, unpacked, at most: 25 000 trials as they mostly are.
pub const RUN_BYTES_MAX: u64 = 256 << 20;
/// Bytes of all runs of a file, unpacked, at most, where they are in memory at once.
pub const RUNS_BYTES_MAX: u64 = 512 << 20;

/// The first line of a run.
#[derive(Serialize, Deserialize)]
struct Head {
    dfrun: u32,
    id: String,
    number: u32,
    of: u32,
    schema: u32,
    trials: usize,
    labels: Labels,
    writer: Option<Writer>,
}

/// The stored forms of the histograms of a trial, in base64.
#[derive(Serialize, Deserialize)]
struct Histograms {
    read: String,
    write: String,
    service: Option<String>,
    /// Latencies over time; absent of files of before they were kept.
    #[serde(default)]
    over_time: Option<String>,
    /// Single requests; absent of files of before they were kept.
    #[serde(default)]
    bursts: Option<String>,
}

#[cfg(test)]
mod tests;
