//! Direct writes that the filesystem does through the page cache, with the lock of the file held:
//! they are copied, given their checksums and written back one after the other.

use super::prelude::*;
use crate::buffered_fallback;

pub(super) const LIMITER: Limiter = Limiter {
    name: "direct-as-buffered",
    needs: &[NoDocument, Blocks, OnlyWrites],
    find: copied_and_written_back,
    ..Limiter::ANY
};

fn copied_and_written_back(facts: &StageFacts<'_>) -> Option<Candidate> {
    let through = buffered_fallback::of(facts)?;
    // The lock makes them one after the other, whoever does them.
    let work_ns = facts.figures.cpu_system_ns_per_io? * facts.mean_iops()?;
    let share = (work_ns / 1e9).min(1.0);
    unless(facts.workload().streams > 1)?;
    let claim = format!(
        "btrfs does these direct writes through the page cache, one after the other: copies and \
         checksums take {} of the time.",
        percent(share)
    );
    let [issued, dirtied, back] = [through.issued, through.dirtied, through.written_back].map(size);
    let lines = [
        format!(
            "{issued} were written past the page cache, as was asked; {dirtied} of pages became \
             dirty and {back} were written back meanwhile."
        ),
        format!(
            "A write takes {} in the kernel, {} of them a second.",
            duration(facts.figures.cpu_system_ns_per_io?),
            rate_digits(facts.mean_iops()?)
        ),
    ];
    Some(cause(share, Likely, claim).evidence(lines))
}
