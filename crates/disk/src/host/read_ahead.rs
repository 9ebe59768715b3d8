//! The host's read-ahead window: how much to read when a program asks for
//! pages one after the other.
//!
//! The rules of Linux (mm/readahead.c, `ondemand_readahead`): a window grows
//! from a few times the first request to its limit, and a marked page in it,
//! once reached, starts the reading of the next window before it is needed.

/// State of one stream, in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    start: u64,
    size: u64,
    /// So many pages before the end of the window lies the mark.
    ahead: u64,
    /// One past the last page that was asked for.
    expected: u64,
    /// Which rule read last.
    rule: Rule,
}

/// Which rule decided what to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// Read-ahead is off.
    #[default]
    Off,
    /// A window is opened at the first page.
    Initial0,
    /// A window is opened behind the read before.
    Initial,
    /// The window is pushed forward.
    Subsequent,
    /// As much is asked for as a window may have.
    Oversize,
    /// A jump.
    Random,
}

/// Pages to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pages {
    /// First page.
    pub first: u64,
    /// One past the last page.
    pub end: u64,
}

impl Window {
    /// The window of a reader that has been reading in sequence for long: the
    /// pages from `start` on are there, all of them behind the mark.
    pub fn steady(start: u64, size: u64) -> Self {
        Self {
            start,
            size,
            ahead: size,
            expected: start,
            rule: Rule::Subsequent,
        }
    }

    /// A page in `first..end` that is asked for is missing: what to read now.
    pub fn missed(&mut self, first: u64, end: u64, pages_max: u64) -> Pages {
        let asked = end - first;
        let is_next =
            first == self.start + self.size - self.ahead || first == self.start + self.size;
        if pages_max <= asked {
            self.expected = end;
            self.rule = if pages_max == 0 {
                Rule::Off
            } else {
                Rule::Oversize
            };
            return Pages { first, end };
        }
        if self.size > 0 && is_next {
            self.grow(pages_max);
        } else if first == 0 || first == self.expected || first + 1 == self.expected {
            self.rule = if first == 0 {
                Rule::Initial0
            } else {
                Rule::Initial
            };
            self.start = first;
            self.size = initial(asked, pages_max);
            self.ahead = if self.size > asked {
                self.size - asked
            } else {
                self.size
            };
        } else {
            // A jump: only what is asked for, and a new start.
            *self = Self {
                expected: end,
                rule: Rule::Random,
                ..Self::default()
            };
            return Pages { first, end };
        }
        self.expected = end;
        // A window that is all mark is followed by the next one at once.
        let mut window_end = self.start + self.size;
        if first == self.start && self.ahead == self.size {
            let more = next(self.size, pages_max);
            self.ahead = more;
            self.size += more;
            window_end = self.start + self.size;
        }
        Pages {
            first,
            end: window_end.max(end),
        }
    }

    /// Pages `first..end` are asked for and are there or on their way: what
    /// to read ahead, if the mark is among them.
    pub fn reached(&mut self, first: u64, end: u64, pages_max: u64) -> Option<Pages> {
        self.expected = end;
        if self.size == 0 || pages_max == 0 {
            return None;
        }
        let mark = self.start + self.size - self.ahead;
        if !(first..end).contains(&mark) {
            return None;
        }
        self.grow(pages_max);
        Some(Pages {
            first: self.start,
            end: self.start + self.size,
        })
    }

    /// The rule that decided last.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Pages of the window behind its mark; none where only what was asked for is
    /// read.
    pub fn behind_mark(&self) -> u64 {
        match self.rule {
            Rule::Initial0 | Rule::Initial | Rule::Subsequent => self.ahead,
            Rule::Off | Rule::Oversize | Rule::Random => 0,
        }
    }

    fn grow(&mut self, pages_max: u64) {
        self.rule = Rule::Subsequent;
        self.start += self.size;
        self.size = next(self.size, pages_max);
        self.ahead = self.size;
    }
}

/// The first window: `get_init_ra_size`.
fn initial(asked: u64, pages_max: u64) -> u64 {
    let rounded = asked.next_power_of_two();
    if rounded <= pages_max / 32 {
        rounded * 4
    } else if rounded <= pages_max / 4 {
        rounded * 2
    } else {
        pages_max
    }
}

/// The window after one of `size`: `get_next_ra_size`.
fn next(size: u64, pages_max: u64) -> u64 {
    if size < pages_max / 16 {
        size * 4
    } else if size <= pages_max / 2 {
        size * 2
    } else {
        pages_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequential_reader_gets_windows_that_grow_to_the_limit() {
        let mut window = Window::default();
        let first = window.missed(0, 1, 32);
        assert_eq!(first, Pages { first: 0, end: 4 });
        // The mark is the second page: 4 - 3.
        assert_eq!(window.reached(1, 2, 32), Some(Pages { first: 4, end: 12 }));
        assert_eq!(window.reached(2, 3, 32), None);
        assert_eq!(window.reached(4, 5, 32), Some(Pages { first: 12, end: 28 }));
        assert_eq!(
            window.reached(12, 13, 32),
            Some(Pages { first: 28, end: 60 })
        );
        assert_eq!(
            window.reached(28, 29, 32),
            Some(Pages { first: 60, end: 92 })
        );
    }

    #[test]
    fn the_steady_state_is_that_of_the_kernel_trace_of_seed_001() {
        // readahead-marker(req=10596+1, ra=10628+32-32, async=1) = 32
        let mut window = Window::steady(10_596, 32);
        let pages = window.reached(10_596, 10_597, 32);
        assert_eq!(
            pages,
            Some(Pages {
                first: 10_628,
                end: 10_660
            })
        );
        assert_eq!((window.start, window.size, window.ahead), (10_628, 32, 32));
    }

    #[test]
    fn a_jump_reads_only_what_is_asked() {
        let mut window = Window::default();
        window.missed(0, 1, 32);
        assert_eq!(
            window.missed(1000, 1002, 32),
            Pages {
                first: 1000,
                end: 1002
            }
        );
        // And the page behind it starts a window again.
        assert_eq!(
            window.missed(1002, 1003, 32),
            Pages {
                first: 1002,
                end: 1006
            }
        );
    }
}
