//! The lines of the write benchmark of `@ronomon/direct-io` 3.0.1:
//!
//! ```text
//! 4096 | /dev/sda | AMORTIZED_FDATASYNC + O_DIRECT | 57.92 MB/s
//! ```
//!
//! Block size in bytes, target, mode, throughput with two decimals. Its MB are
//! 2^20 bytes. Sizes rise, and the modes of a size stand in the order of the
//! benchmark.

use diskfacts_plan::WriteMode;
use diskfacts_record::Run;
use std::fmt::Write as _;

/// What the benchmark calls a MB, bytes.
const MB: f64 = (1_u32 << 20) as f64;

/// A line for each cell of which every operation succeeded.
pub(super) fn lines(run: &Run) -> String {
    let mut cells: Vec<(u64, WriteMode, f64)> = run
        .figures
        .iter()
        .filter(|figures| figures.errors == 0)
        .filter_map(|figures| {
            let stage = run
                .plan
                .stages
                .iter()
                .find(|s| s.name == figures.stage && s.settings == figures.settings)?;
            let mode = WriteMode::of(&stage.workload)?;
            let throughput = figures.throughput_bytes_per_s.median;
            Some((stage.workload.block_size, mode, throughput))
        })
        .collect();
    cells.sort_by_key(|(size, mode, _)| (*size, mode.rank()));
    let mut out = String::new();
    for (size, mode, throughput) in cells {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{size} | {} | {mode} | {:.2} MB/s",
            run.target.given,
            throughput / MB
        );
    }
    out
}
