//! One decision of read-ahead: which of the kernel's rules made it.
//!
//! The rules are those of `mm/readahead.c` of Linux 6.18, the names those of the
//! patch of 2009. A rule that 6.18 does not have any more (`reverse`, `stride`,
//! `thrash`) is no pattern of a decision.

use super::event::{Call, FileId};
use super::streams::{Continued, Readers};
use diskfacts_record::evidence::ReadAheadPattern as Pattern;

/// A decision, and what it came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// When, nanoseconds on the clock of the trace.
    pub at_ns: u64,
    /// Whose read it was for.
    pub thread: u32,
    /// The file.
    pub file: FileId,
    /// The rule; `None` where it is `subsequent` or `marker` and the events
    /// cannot tell which.
    pub pattern: Option<Pattern>,
    /// The page that was missing, marked or touched.
    pub request: u64,
    /// Pages from there to the end of the read.
    pub request_pages: u64,
    /// First page of the window.
    pub start: u64,
    /// Its pages.
    pub size: u64,
    /// Of these, behind the mark.
    pub async_size: u64,
    /// Pages that entered the page cache.
    pub actual: u64,
    /// What kept reading in order from its window.
    pub trouble: Option<Trouble>,
}

/// Why a stream that goes on in order did not go on with its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The window of the open file was set up for another stream.
    Broken,
    /// It went on through another open file, which knows nothing of its window.
    Scattered,
    /// The window was its own, and the page was missing: the mark should have
    /// brought it, or it was dropped before it was used.
    Late,
}

impl Decision {
    /// Whether the window begins behind the page that was asked for, so that
    /// nobody waits for it: `async=1` of the trace of 2009.
    pub fn is_ahead(&self) -> bool {
        self.start > self.request
    }
}

/// Why read-ahead was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    Missing(Call),
    Marked(Call),
    Touched(u64),
    Told,
}

/// How the pages are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) async_size: u64,
    /// Set up as a window of the file; else only these pages are read.
    pub(super) is_set_up: bool,
}

/// The rule behind a decision. `opened` is the open file where it is known.
pub(super) fn pattern(
    why: Why,
    window: &Window,
    opened: Option<u64>,
    readers: &mut Readers,
    page_bytes: u64,
) -> Option<Pattern> {
    Some(match why {
        Why::Told => Pattern::Fadvise,
        Why::Touched(_) => Pattern::Mmap,
        Why::Marked(call) => {
            let own = opened.and_then(|number| readers.is_own_mark(number, &call, window.start));
            return match own {
                Some(true) => Some(Pattern::Subsequent),
                Some(false) => Some(Pattern::Marker),
                None => by_start(&call, window.start),
            };
        }
        Why::Missing(call) if !window.is_set_up => {
            if call.limit == 0 {
                Pattern::None
            } else if call.index == 0 || follows(&call, page_bytes) {
                // Where the kernel would set up a window it did not: it was told
                // that reads are random, or a control group is congested.
                Pattern::Fadvise
            } else {
                Pattern::Random
            }
        }
        Why::Missing(call) => {
            if call.index == 0 {
                Pattern::Initial0
            } else if window.size < call.request {
                Pattern::Oversize
            } else if follows(&call, page_bytes) {
                Pattern::Initial
            } else {
                Pattern::Trail
            }
        }
    })
}

/// Whether a read begins where the previous one ended: in the same page, or in
/// the next (`page_cache_sync_ra`).
pub(super) fn follows(call: &Call, page_bytes: u64) -> bool {
    let previous = call.prev_pos.cast_unsigned() / page_bytes;
    call.prev_pos >= 0 && call.index.wrapping_sub(previous) <= 1
}

/// What can be told of a marked page without knowing the file's window: when the
/// new window does not begin where that window would end, it is not the file's.
fn by_start(call: &Call, start: u64) -> Option<Pattern> {
    let mark = start.checked_sub(call.async_size);
    let may_be_own = call.size > 0
        && mark.is_some_and(|mark| {
            (0..=call.order.min(30)).any(|order| mark >> order << order == call.index)
        });
    (!may_be_own).then_some(Pattern::Marker)
}

/// What kept a read from its stream's window. It goes on in order as `continued`
/// says; `own` is whether it goes on from the last read of its open file.
pub(super) fn trouble(
    why: Why,
    pattern: Option<Pattern>,
    continued: Continued,
    own: bool,
) -> Option<Trouble> {
    let lost = match pattern {
        Some(Pattern::Marker | Pattern::Trail | Pattern::Random) => true,
        // A first window is opened, not lost: one behind a jump.
        Some(Pattern::Initial) => continued.had_windows && continued.taken,
        _ => false,
    };
    let told = matches!(pattern, Some(Pattern::None | Pattern::Fadvise));
    let missing = matches!(why, Why::Missing(_));
    match continued {
        Continued {
            in_order: false, ..
        } => None,
        Continued { taken: true, .. } => lost.then_some(Trouble::Broken),
        _ if !own => lost.then_some(Trouble::Scattered),
        _ => (missing && continued.had_windows && !told).then_some(Trouble::Late),
    }
}
