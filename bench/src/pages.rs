//! What a report takes: bytes, and milliseconds beyond those of `diskfacts show --explain`, which
//! reads the store and explains the run as well.

use crate::Options;
use crate::alternate::median;
use crate::ours::Diskfacts;
use anyhow::{Result, bail};
use std::path::Path;
use std::time::Instant;

/// A run, and what its report may take.
struct Case {
    plan: &'static str,
    /// Bytes.
    largest: usize,
}

const CASES: [Case; 2] = [
    Case {
        plan: "survey",
        largest: 400_000,
    },
    Case {
        plan: "write-matrix",
        largest: 1_000_000,
    },
];
/// Milliseconds that a page may take.
const BELOW_MS: f64 = 50.0;
/// A disk of which a survey is simulated in a second.
const TARGET: &str = "sim:ssd-sata";

/// Prints a line for each run, and answers whether all reports are as small and as quick as
/// they are to be.
pub(crate) fn cases(options: &Options) -> Result<bool> {
    let diskfacts = Diskfacts::find()?;
    let folder = tempfile::tempdir()?;
    let store = folder.path().join("runs.db");
    let mut met = true;
    for Case { plan, largest } in CASES {
        let mut measure = diskfacts.command();
        measure
            .args(["measure", TARGET, "--plan", plan, "--quiet", "--store"])
            .arg(&store);
        if options.small {
            measure.args(["--trials", "1"]);
        }
        let measured = measure.output()?;
        if !measured.status.success() {
            let said = String::from_utf8_lossy(&measured.stderr);
            bail!("diskfacts measure failed: {said}");
        }
        let (mut pages_ms, mut shown_ms) = (Vec::new(), Vec::new());
        let mut bytes = 0;
        for _ in 0..options.rounds {
            let shown = timed(&diskfacts, &["show", "--explain"], &store)?.1;
            let (page, reported) = timed(&diskfacts, &["report", "-o", "-"], &store)?;
            if !page.ends_with(b"</html>") {
                bail!("the report of {plan} has no end");
            }
            bytes = page.len();
            pages_ms.push(reported - shown);
            shown_ms.push(shown);
        }
        let (page, shown) = (median(pages_ms.into_iter()), median(shown_ms.into_iter()));
        let is_met = bytes < largest && page < BELOW_MS;
        met &= is_met;
        println!(
            "report of {plan}: {} {} kB, below {}; {page:.1} ms, below {BELOW_MS}, beyond the \
             {shown:.1} ms of show --explain",
            if is_met { "met:   " } else { "MISSED:" },
            bytes / 1000,
            largest / 1000,
        );
    }
    // In the small mode the times mean nothing.
    Ok(met || options.small)
}

/// What a command prints about the last run, and the milliseconds from its call to its end.
fn timed(diskfacts: &Diskfacts, words: &[&str], store: &Path) -> Result<(Vec<u8>, f64)> {
    let began = Instant::now();
    let mut command = diskfacts.command();
    let output = command.args(words).arg("--store").arg(store).output()?;
    let ms = began.elapsed().as_secs_f64() * 1e3;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("diskfacts {} failed: {said}", words.join(" "));
    }
    Ok((output.stdout, ms))
}
