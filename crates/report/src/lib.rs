//! Views of a run and of simulated disks: text and pages for people, JSON for programs.
//! Pure: what is shown is what the run says, and how wide, coloured or plain it may be is a parameter.
//!
//! * [`classic`]: the lines of the programs that built-in plans were taken from.
//! * [`export`]: runs and comparisons in the formats of other tools.
//! * [`formats`]: the lines of other programs, one format per file, read and printed.
//! * [`html`]: reports and pages, with drawings.
//! * [`import`]: documents with results of other programs to rows, and these to runs.
//! * [`iostat`]: the reports of `iostat`, in the styles of sysstat and Solaris.
//! * [`json`]: the documents of `--json`, described in `docs/reference/json.md`.
//! * [`permanent`]: what puts settings of the kernel into force.
//! * [`read_ahead`]: the table of read-ahead, in the lines of 2009.
//! * [`text`]: what `measure`, `show`, `runs`, `compare`, `plans`, `devices` and `sim` print.

#![forbid(unsafe_code)]

pub mod classic;
pub mod export;
pub mod formats;
pub mod html;
pub mod import;
pub mod iostat;
pub mod json;
mod notes;
pub mod permanent;
pub mod read_ahead;
pub mod text;

/// The hand-made runs of the tests from outside, for those of drawings, which nobody outside sees.
#[cfg(test)]
#[path = "../tests/report/fixtures/mod.rs"]
mod fixtures;
