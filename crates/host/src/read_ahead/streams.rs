//! Who reads a file through which open file: worked out, because no event says it.
//!
//! The kernel keeps the window in the open file (`struct file_ra_state`), so two
//! streams through one descriptor share it, and through two they do not. An event
//! shows the state before a decision, its window's length and where the previous
//! read through that open file ended; that is enough to find the open file again
//! among those that were seen, unless it was at work before the watching began.

use super::event::Call;

/// Open files and streams that are remembered of a file; of more, those that read
/// longest ago are forgotten.
const REMEMBERED: usize = 64;
/// How far from the end of a stream, in its own requests, a read still counts as
/// its: threads that take the blocks of one stream in turn overtake each other.
const OVERTAKING: u64 = 8;

/// An open file.
#[derive(Debug, Clone, Copy)]
struct Opened {
    number: u64,
    start: u64,
    size: u64,
    async_size: u64,
    /// Last page of the read before; `None` before the first one.
    previous: Option<u64>,
    /// The same of the read that is under way, which the kernel notes at its end.
    reading: Option<u64>,
    /// Whose the window is.
    owner: Option<u64>,
    shared: bool,
}

/// Somebody who reads in order.
#[derive(Debug, Clone, Copy)]
struct Stream {
    number: u64,
    /// Its last page so far.
    last: u64,
    /// Pages of its largest read.
    longest: u64,
    opened: Option<u64>,
    /// Windows set up for it.
    windows: u64,
}

/// What is known of the readers of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct Readers {
    /// Latest last.
    opened: Vec<Opened>,
    streams: Vec<Stream>,
    numbers: u64,
}

/// What is known of a read when it has its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Continued {
    /// A stream goes on with it, where it ended.
    pub in_order: bool,
    /// The window of its open file was set up for another stream.
    pub taken: bool,
    /// Windows were set up for the stream before.
    pub had_windows: bool,
}

impl Readers {
    /// The open file whose state this is, when it was seen before or is new.
    pub(super) fn opened(&mut self, call: &Call, page_bytes: u64) -> Option<u64> {
        if call.prev_pos < 0 && call.size == 0 && call.async_size == 0 {
            return Some(self.open());
        }
        let previous = u64::try_from(call.prev_pos)
            .ok()
            .map(|end| end.saturating_sub(1) / page_bytes);
        let same_window =
            |file: &&Opened| file.size == call.size && file.async_size == call.async_size;
        let mut of_window = self.opened.iter().rev().filter(same_window);
        let same_read = of_window
            .clone()
            .find(|file| file.previous == previous || file.reading == previous);
        if let Some(file) = same_read {
            return Some(file.number);
        }
        // The previous read was not seen; one window of this length is its.
        let only = of_window.next()?.number;
        of_window.next().is_none().then_some(only)
    }

    /// A new open file.
    pub(super) fn open(&mut self) -> u64 {
        self.numbers += 1;
        if self.opened.len() == REMEMBERED {
            self.opened.remove(0);
        }
        self.opened.push(Opened {
            number: self.numbers,
            start: 0,
            size: 0,
            async_size: 0,
            previous: None,
            reading: None,
            owner: None,
            shared: false,
        });
        self.numbers
    }

    fn file(&mut self, number: u64) -> Option<&mut Opened> {
        // Looked for from the latest on, and the latest again from now on.
        let at = self.opened.iter().rposition(|file| file.number == number)?;
        let file = self.opened.remove(at);
        self.opened.push(file);
        self.opened.last_mut()
    }

    /// Whether a marked page is that of the window of this open file: then the
    /// kernel pushes the window forward (`page_cache_async_ra`: the mark lies where
    /// the large page that holds it begins). `None` when the window that was set
    /// up does not follow the one that is known, so that it is not the file's.
    pub(super) fn is_own_mark(&mut self, number: u64, call: &Call, start: u64) -> Option<bool> {
        let file = self.file(number)?;
        if file.size == 0 {
            return None;
        }
        let mark = (file.start + file.size).checked_sub(file.async_size)?;
        let own = (0..=call.order.min(30)).any(|order| mark >> order << order == call.index);
        if own && file.start + file.size != start {
            return None;
        }
        Some(own)
    }

    /// A window was set up through this open file.
    pub(super) fn set_window(&mut self, number: u64, start: u64, size: u64, async_size: u64) {
        if let Some(file) = self.file(number) {
            (file.start, file.size, file.async_size) = (start, size, async_size);
        }
    }

    /// The stream that goes on at `first`, preferably exactly.
    fn going_on(&self, first: u64, pages: u64) -> Option<usize> {
        let exact = |stream: &Stream| stream.last == first || stream.last + 1 == first;
        let near = |stream: &Stream| {
            let reach = OVERTAKING * stream.longest.max(pages);
            (stream.last + 1).abs_diff(first) <= reach
        };
        let exactly = self.streams.iter().rposition(exact);
        exactly.or_else(|| self.streams.iter().rposition(near))
    }

    /// What a read of `first..=last` is to those before it. `opened` is the open
    /// file, when a decision told.
    pub(super) fn continued(&self, opened: Option<u64>, first: u64, last: u64) -> Continued {
        let pages = last.saturating_sub(first) + 1;
        let Some(at) = self.going_on(first, pages) else {
            return Continued::default();
        };
        let stream = self.streams[at];
        let file = self.opened.iter().find(|file| Some(file.number) == opened);
        let owner = file.and_then(|file| file.owner);
        Continued {
            in_order: stream.last == first || stream.last + 1 == first,
            taken: owner.is_some_and(|owner| owner != stream.number),
            had_windows: stream.windows > 0,
        }
    }

    /// The window of this open file was found taken by another stream.
    pub(super) fn mark_shared(&mut self, number: u64) {
        if let Some(file) = self.file(number) {
            file.shared = true;
        }
    }

    /// Open files that several streams read through.
    pub(super) fn shared(&self) -> u64 {
        self.opened.iter().filter(|file| file.shared).count() as u64
    }

    /// A read of `first..=last` has its first pages; `windows` were set up for it.
    pub(super) fn read(&mut self, opened: Option<u64>, first: u64, last: u64, windows: u64) {
        let pages = last.saturating_sub(first) + 1;
        let mut stream = if let Some(at) = self.going_on(first, pages) {
            self.streams.remove(at)
        } else {
            self.numbers += 1;
            if self.streams.len() == REMEMBERED {
                self.streams.remove(0);
            }
            Stream {
                number: self.numbers,
                last: first,
                longest: 0,
                opened: None,
                windows: 0,
            }
        };
        // One that was overtaken does not take the stream back.
        stream.last = if first <= stream.last + 1 && last < stream.last {
            stream.last
        } else {
            last
        };
        stream.longest = stream.longest.max(pages);
        stream.windows += windows;
        stream.opened = opened.or(stream.opened);
        if let Some(file) = stream.opened.and_then(|number| self.file(number)) {
            if file.reading != Some(last) {
                file.previous = file.reading;
                file.reading = Some(last);
            }
            if windows > 0 {
                file.owner = Some(stream.number);
            }
        }
        self.streams.push(stream);
    }
}
