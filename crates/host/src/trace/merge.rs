//! Pages of several processors, brought into the order of time.

use super::event::{Consumer, Event, Gap};
use crate::parse::trace::header_page::PageLayout;
use crate::parse::trace::page::{Missed, PageCursor, PageError};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::ops::Range;

/// Bytes that are allocated at once, or a page if that is longer.
const CHUNK_BYTES: usize = 128 << 10;

/// Pages of one processor, in the order in which they were read.
#[derive(Debug)]
pub struct CpuPages {
    cpu: u32,
    layout: PageLayout,
    /// Pages of a chunk.
    chunk_pages: usize,
    /// All but the last one are full.
    chunks: VecDeque<Box<[u8]>>,
    /// For the next chunks, so that memory is not asked for again.
    spare: Vec<Box<[u8]>>,
    /// Page of the first chunk that is being taken apart.
    front: usize,
    /// Pages of the last chunk that are there.
    back: usize,
    cursor: Option<PageCursor>,
    next: Option<(u64, Range<usize>)>,
    /// Bytes of events in all pages that were ever added.
    recorded_bytes: u64,
}

impl CpuPages {
    /// None yet.
    pub fn new(cpu: u32, layout: PageLayout) -> Self {
        let chunk_pages = (CHUNK_BYTES / layout.page_bytes.max(1)).max(1);
        Self {
            cpu,
            layout,
            chunk_pages,
            chunks: VecDeque::new(),
            spare: Vec::new(),
            front: 0,
            back: chunk_pages,
            cursor: None,
            next: None,
            recorded_bytes: 0,
        }
    }

    /// Makes memory for so many bytes of pages ready, so that pages are not mapped
    /// while something is measured.
    pub fn reserve(&mut self, bytes: usize) {
        let chunk_bytes = self.chunk_pages * self.layout.page_bytes;
        while self.spare.len() * chunk_bytes < bytes {
            // Other than zeros, or the system would map them when they are used.
            self.spare.push(vec![0xFF; chunk_bytes].into_boxed_slice());
        }
    }

    /// Pages that are not taken apart yet.
    pub fn pages(&self) -> usize {
        match self.chunks.len() {
            0 => 0,
            full => (full - 1) * self.chunk_pages + self.back - self.front,
        }
    }

    /// Bytes of the chunks in use.
    pub fn held_bytes(&self) -> usize {
        self.chunks.len() * self.chunk_pages * self.layout.page_bytes
    }

    /// Adds a page that `read` puts into the memory given to it. A page that is
    /// shorter than it should be is none.
    ///
    /// # Errors
    /// What `read` says.
    ///
    /// # Panics
    /// Never: there is a chunk with room.
    pub fn push(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<bool> {
        let page_bytes = self.layout.page_bytes;
        if self.back == self.chunk_pages {
            let spare = self.spare.pop();
            let bytes = self.chunk_pages * page_bytes;
            let chunk = spare.unwrap_or_else(|| vec![0; bytes].into_boxed_slice());
            self.chunks.push_back(chunk);
            self.back = 0;
        }
        let start = self.back * page_bytes;
        let chunk = self
            .chunks
            .back_mut()
            .expect("one was just added, or has room");
        let page = &mut chunk[start..start + page_bytes];
        let length = read(page);
        let whole = length.as_ref().is_ok_and(|length| *length == page_bytes);
        if whole {
            self.back += 1;
            // Whether it can be understood is said when it is taken apart.
            let recorded = PageCursor::new(&self.layout, page).map_or(0, |page| page.bytes_left());
            self.recorded_bytes += recorded as u64;
        } else if self.back == 0 {
            self.spare.extend(self.chunks.pop_back());
            self.back = self.chunk_pages;
        }
        length.map(|_| whole)
    }

    fn page(&self) -> Option<&[u8]> {
        let is_last = self.chunks.len() == 1;
        if is_last && self.front >= self.back {
            return None;
        }
        let start = self.front * self.layout.page_bytes;
        self.chunks
            .front()?
            .get(start..start + self.layout.page_bytes)
    }

    /// Goes to the next page.
    fn turn(&mut self) {
        self.cursor = None;
        self.front += 1;
        let is_last = self.chunks.len() == 1;
        if self.front == self.chunk_pages {
            self.spare.extend(self.chunks.pop_front());
            self.front = 0;
        } else if is_last && self.front == self.back {
            // All that is there was taken: begin at the start again.
            self.spare.extend(self.chunks.pop_front());
            self.front = 0;
            self.back = self.chunk_pages;
        }
    }

    /// Loads the next event, if there is none, over as many pages as it takes.
    fn load(&mut self, damage: &mut Damage, consumer: &mut dyn Consumer) {
        while self.next.is_none() {
            let Some(page) = self.page() else { return };
            let mut cursor = match self.cursor {
                Some(cursor) => cursor,
                None => match PageCursor::new(&self.layout, page) {
                    Ok(cursor) => {
                        self.tell(cursor, consumer);
                        cursor
                    }
                    Err(error) => {
                        damage.note(error);
                        self.turn();
                        continue;
                    }
                },
            };
            match cursor.next_span(page) {
                Ok(Some(found)) => {
                    self.next = Some(found);
                    self.cursor = Some(cursor);
                }
                Ok(None) => self.turn(),
                Err(error) => {
                    damage.note(error);
                    self.turn();
                }
            }
        }
    }

    fn tell(&self, cursor: PageCursor, consumer: &mut dyn Consumer) {
        let events = match cursor.missed() {
            Missed::None => return,
            Missed::Some(number) => Some(number),
            Missed::Unknown => None,
        };
        consumer.lost(Gap {
            cpu: self.cpu,
            before_ns: cursor.time_ns(),
            events,
        });
    }
}

/// Pages that were not understood.
#[derive(Debug, Default)]
struct Damage {
    pages: u64,
    first: Option<PageError>,
}

impl Damage {
    fn note(&mut self, error: PageError) {
        self.pages += 1;
        self.first.get_or_insert(error);
    }
}

/// The pages of all processors.
#[derive(Debug)]
pub struct Merge {
    cpus: Vec<CpuPages>,
    damage: Damage,
    /// Time of the last event that was given away.
    given_ns: u64,
    late: u64,
    events: u64,
}

impl Merge {
    /// Of these processors.
    pub fn new(cpus: Vec<CpuPages>) -> Self {
        Self {
            cpus,
            damage: Damage::default(),
            given_ns: 0,
            late: 0,
            events: 0,
        }
    }

    /// The processors, to add pages to.
    pub fn cpus_mut(&mut self) -> &mut [CpuPages] {
        &mut self.cpus
    }

    /// Bytes of events in all pages that were ever added.
    pub fn recorded_bytes(&self) -> u64 {
        self.cpus.iter().map(|cpu| cpu.recorded_bytes).sum()
    }

    /// Bytes of pages that are held.
    pub fn held_bytes(&self) -> usize {
        self.cpus.iter().map(CpuPages::held_bytes).sum()
    }

    /// Gives all events before `until_ns` away, in order of time; those of the same
    /// time in the order of the processors.
    ///
    /// # Panics
    /// Never: an event that was found lies in a page.
    pub fn give(&mut self, until_ns: u64, consumer: &mut dyn Consumer) {
        let mut heads = BinaryHeap::with_capacity(self.cpus.len());
        for (index, cpu) in self.cpus.iter_mut().enumerate() {
            cpu.load(&mut self.damage, consumer);
            heads.extend(
                cpu.next
                    .as_ref()
                    .map(|(time_ns, _)| Reverse((*time_ns, index))),
            );
        }
        while let Some(Reverse((first_ns, index))) = heads.pop() {
            if first_ns >= until_ns {
                return;
            }
            // This processor is the first until another one's head is older.
            let others = heads
                .peek()
                .map_or((u64::MAX, usize::MAX), |Reverse(head)| *head);
            let cpu = &mut self.cpus[index];
            while let Some((time_ns, span)) = cpu.next.take() {
                if time_ns >= until_ns || (time_ns, index) > others {
                    cpu.next = Some((time_ns, span));
                    heads.push(Reverse((time_ns, index)));
                    break;
                }
                let page = cpu.page().expect("its next event lies in a page");
                self.late += u64::from(time_ns < self.given_ns);
                self.given_ns = self.given_ns.max(time_ns);
                self.events += 1;
                consumer.event(&Event {
                    time_ns,
                    cpu: cpu.cpu,
                    data: &page[span],
                });
                cpu.load(&mut self.damage, consumer);
            }
        }
    }

    /// Gives away all that is left.
    pub fn finish(&mut self, consumer: &mut dyn Consumer) {
        self.give(u64::MAX, consumer);
    }

    /// Events that were given away.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Events that came after younger ones.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Pages that were not understood, and why the first was not.
    pub fn damage(&self) -> (u64, Option<PageError>) {
        (self.damage.pages, self.damage.first)
    }
}
