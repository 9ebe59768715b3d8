//! Writes that go in faster than the medium can take them.
//!
//! A disk that turns writes a track in the revolutions in which it reads one, so in
//! order it writes at most as fast as it reads (both are one number in data sheets).
//! What goes in faster lies in a cache, of the drive or of a controller, and goes on
//! only until that is full. Flash has caches of its own, of which reads tell nothing.

use super::StageFacts;
use crate::prelude::unless;
use diskfacts_plan::SyncMode;

/// Written over read from which on it was the cache. Between the outermost and the
/// innermost track rates differ by more, so only reads from the same place count;
/// within a span of some GiB they differ by a few per cent.
const TIMES: f64 = 1.3;

/// Of a stage whose writes in order went in faster than the medium streams: the stage that read the
/// same place, and its rate, bytes per second.
pub(crate) fn cache_burst<'a>(facts: &StageFacts<'a>) -> Option<(StageFacts<'a>, f64)> {
    let writes = facts.workload();
    let unhindered = writes.rate.is_none() && writes.beside.is_none();
    let asked = unhindered && writes.sync == SyncMode::None && facts.direct() == Some(true);
    unless(!asked || facts.rotates() != Some(true))?;
    let (read, most) = facts.read_of_its_place()?;
    (facts.rate()? > TIMES * most).then_some((read, most))
}
