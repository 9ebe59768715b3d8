//! Pages of the kernel's ring buffer, as `trace_pipe_raw` gives them.
//!
//! A page begins with the time of its first event and the number of bytes that are
//! events ([`PageLayout`]). Each event has a header of 32 bits: 5 bits `type_len`, 27
//! bits of time since the event before. `type_len` 1 to 28 is the length in words of
//! four bytes; 0 has the length in the word that follows; 29 is padding, 30 adds more
//! time, 31 sets the time anew. Source: kernel, `include/linux/ring_buffer.h`,
//! `rb_read_data_buffer` and `ring_buffer_read_page` in `kernel/trace/ring_buffer.c`.

use super::format::integer_at;
use super::header_page::PageLayout;
use std::ops::Range;

/// In `commit`: events were overwritten before this page could be read.
const MISSED_EVENTS: u64 = 1 << 31;
/// In `commit`: and their number stands behind the events, if there was room.
const MISSED_STORED: u64 = 1 << 30;
/// The other bits of `commit` that may be a length.
const LENGTH: u64 = (1 << 27) - 1;

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

/// An absolute time has 59 bits; the others are those of the time before
/// (`TS_MSB`, `rb_fix_abs_ts`).
const TIME_HIGH_BITS: u64 = 0xf8 << 56;

/// Why a page is not what the kernel writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("byte {at} of a page of trace events: {what}")]
pub struct PageError {
    /// Offset in the page.
    pub at: usize,
    /// What is wrong there.
    pub what: &'static str,
}

/// Events that were lost before a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missed {
    /// None.
    #[default]
    None,
    /// So many.
    Some(u64),
    /// The kernel does not say how many.
    Unknown,
}

/// An event of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageEvent<'a> {
    /// By the clock of the buffer, nanoseconds.
    pub time_ns: u64,
    /// Its fields; [`EventFormat`](super::format::EventFormat) says where.
    pub data: &'a [u8],
}

/// Where one is in a page: all that is needed to go on with the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCursor {
    at: usize,
    end: usize,
    time_ns: u64,
    missed: Missed,
}

impl PageCursor {
    /// The start of a page. Bytes behind its events are not looked at.
    ///
    /// # Errors
    /// When the page is shorter than its header, or than it says.
    pub fn new(layout: &PageLayout, page: &[u8]) -> Result<Self, PageError> {
        let short = |at| PageError {
            at,
            what: "the page ends within its header",
        };
        let time_ns = layout.timestamp.unsigned(page);
        let time_ns = time_ns.ok_or(short(layout.timestamp.offset))?;
        let commit = layout.commit.unsigned(page);
        let commit = commit.ok_or(short(layout.commit.offset))?;
        let length = (commit & LENGTH) as usize;
        let end = layout.data_offset.saturating_add(length);
        if end > page.len() {
            return Err(PageError {
                at: layout.commit.offset,
                what: "it claims more events than it has bytes",
            });
        }
        let missed = if commit & MISSED_EVENTS == 0 {
            Missed::None
        } else if commit & MISSED_STORED == 0 {
            Missed::Unknown
        } else {
            // A long of the kernel, as wide as `commit`.
            integer_at(page, end, layout.commit.size).map_or(Missed::Unknown, Missed::Some)
        };
        Ok(Self {
            at: layout.data_offset,
            end,
            time_ns,
            missed,
        })
    }

    /// Bytes of events that were not given yet, with their headers.
    pub fn bytes_left(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    /// What was lost before this page.
    pub fn missed(&self) -> Missed {
        self.missed
    }

    /// Time of the first event of the page, or of that which [`next`](Self::next)
    /// brought last.
    pub fn time_ns(&self) -> u64 {
        self.time_ns
    }

    /// The next event; `None` at the end of the page.
    ///
    /// # Errors
    /// When an event is longer than the page has bytes; then there is no more to
    /// be had from it.
    #[inline]
    pub fn next<'a>(&mut self, page: &'a [u8]) -> Result<Option<PageEvent<'a>>, PageError> {
        let found = self.next_span(page)?;
        Ok(found.map(|(time_ns, span)| PageEvent {
            time_ns,
            data: &page[span],
        }))
    }

    /// The next event as its time and where its fields lie in the page.
    ///
    /// # Errors
    /// As of [`next`](Self::next).
    #[inline]
    pub fn next_span(&mut self, page: &[u8]) -> Result<Option<(u64, Range<usize>)>, PageError> {
        loop {
            if self.at >= self.end {
                return Ok(None);
            }
            match self.step(page) {
                Ok(Some(span)) => return Ok(Some((self.time_ns, span))),
                Ok(None) => {}
                Err(what) => {
                    let at = self.at;
                    self.end = at;
                    return Err(PageError { at, what });
                }
            }
        }
    }

    /// Goes over one header and what belongs to it.
    #[inline]
    fn step(&mut self, page: &[u8]) -> Result<Option<Range<usize>>, &'static str> {
        let page = page.get(..self.end).ok_or("the page has become shorter")?;
        let (kind, delta) = split(word(page, self.at).ok_or("a header without its 4 bytes")?);
        let second = || word(page, self.at + 4).ok_or("a header without its second word");
        match kind {
            PADDING if delta == 0 => {
                // Nothing but padding until the end.
                self.at = self.end;
                Ok(None)
            }
            PADDING => {
                // An event that was thrown away by a filter. It may have been given
                // a time of 1 only to be told from the other kind.
                let length = second()? as usize;
                if delta != 1 {
                    self.time_ns = self.time_ns.wrapping_add(delta);
                }
                self.go(4_usize.saturating_add(length))?;
                Ok(None)
            }
            TIME_EXTEND => {
                let more = (u64::from(second()?) << 27).wrapping_add(delta);
                self.time_ns = self.time_ns.wrapping_add(more);
                self.go(8)?;
                Ok(None)
            }
            TIME_STAMP => {
                let low = (u64::from(second()?) << 27) | delta;
                let mut time_ns = (self.time_ns & TIME_HIGH_BITS) | low;
                if self.time_ns & TIME_HIGH_BITS != 0 && time_ns < self.time_ns {
                    time_ns = time_ns.wrapping_add(1 << 59);
                }
                self.time_ns = time_ns;
                self.go(8)?;
                Ok(None)
            }
            words => {
                let (header, length) = if words == 0 {
                    // The length counts its own word too.
                    let length = second()? as usize;
                    (
                        8,
                        length
                            .checked_sub(4)
                            .ok_or("an event of less than 0 bytes")?,
                    )
                } else {
                    (4, words as usize * 4)
                };
                let start = self.at + header;
                self.time_ns = self.time_ns.wrapping_add(delta);
                self.go(header.saturating_add(length))?;
                Ok(Some(start..start + length))
            }
        }
    }

    fn go(&mut self, bytes: usize) -> Result<(), &'static str> {
        // Headers stand at multiples of four bytes.
        let bytes = bytes.checked_next_multiple_of(4);
        let next = bytes.and_then(|bytes| self.at.checked_add(bytes));
        match next {
            Some(next) if next <= self.end => {
                self.at = next;
                Ok(())
            }
            _ => Err("an event beyond the end of the page"),
        }
    }
}

#[inline]
fn word(page: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*page.get(at..)?.first_chunk()?))
}

/// `type_len` and the time since the event before. Bit fields begin at the low end
/// on machines that do so with bytes, else at the high one.
#[inline]
fn split(header: u32) -> (u32, u64) {
    if cfg!(target_endian = "little") {
        (header & 31, u64::from(header >> 5))
    } else {
        (header >> 27, u64::from(header & ((1 << 27) - 1)))
    }
}
