//! Events in the order of time, sorted into decisions.
//!
//! What a thread does to a file between two of its decisions belongs to the first:
//! the window that was set up, the pages that entered the page cache, and the read
//! that then has them.

use super::decision::{self, Decision, Trouble, Why, Window};
use super::event::{Call, Event, FileId, What};
use super::pages::Unused;
use super::scope::Scope;
use super::streams::Readers;
use super::tally::{self, Tally};
use diskfacts_record::evidence::{
    ReadAhead, ReadAheadFile, ReadAheadPages, ReadAheadPattern as Pattern, ReadAheadThread,
    WindowSize,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Files and threads that are listed, those with most pages first.
const LISTED: usize = 20;

/// What a thread is about.
#[derive(Debug, Clone, Copy, Default)]
struct Thread {
    pending: Option<Pending>,
    /// The read that is under way or was the last one: file, first and last page.
    read: Option<(FileId, u64, u64)>,
    /// The page of a mapped file that it touched, not read yet.
    touched: Option<(FileId, u64)>,
}

/// A decision that is being carried out.
#[derive(Debug, Clone, Copy)]
struct Pending {
    at_ns: u64,
    file: FileId,
    why: Why,
    window: Option<Window>,
    pattern: Option<Pattern>,
    opened: Option<u64>,
    actual: u64,
}

/// A file that was read.
#[derive(Debug, Default)]
struct File {
    name: String,
    /// Its length, pages.
    pages: Option<u64>,
    /// A thread that a decision was made for.
    reader: Option<u32>,
    readers: Readers,
    unused: Unused,
    tally: Tally,
}

/// Everything that the events have told so far.
#[derive(Debug)]
pub struct Watch {
    page_bytes: u64,
    threads: HashMap<u32, Thread>,
    files: HashMap<FileId, File>,
    /// Names and lengths of files that have not been seen yet.
    expected: Vec<(Scope, String, Option<u64>)>,
    by_thread: HashMap<u32, (String, Tally)>,
    all: Tally,
    pages: ReadAheadPages,
    sizes: BTreeMap<u64, u64>,
    limit: Option<u64>,
    without_window: u64,
    wait_ns: u64,
    events: u64,
    /// Decisions in their order, when they are asked for.
    decisions: Option<Vec<Decision>>,
}

impl Watch {
    /// Before the first event. Pages have `page_bytes`, a power of two.
    pub fn new(page_bytes: u64) -> Self {
        Self {
            page_bytes: page_bytes.max(1),
            threads: HashMap::new(),
            files: HashMap::new(),
            expected: Vec::new(),
            by_thread: HashMap::new(),
            all: Tally::default(),
            pages: ReadAheadPages::default(),
            sizes: BTreeMap::new(),
            limit: None,
            without_window: 0,
            wait_ns: 0,
            events: 0,
            decisions: None,
        }
    }

    /// Keeps each decision, for [`Watch::take_decisions`].
    #[must_use]
    pub fn keeping_decisions(mut self) -> Self {
        self.decisions = Some(Vec::new());
        self
    }

    /// What a file is called, and its length in bytes where that is known: without
    /// it, it is not known which windows the end of the file cut off.
    pub fn know_file(&mut self, id: FileId, name: &str, bytes: Option<u64>) {
        let page_bytes = self.page_bytes;
        let file = self.file(id);
        name.clone_into(&mut file.name);
        file.pages = bytes.map(|bytes| bytes.div_ceil(page_bytes));
    }

    /// The same of whatever file of a scope is seen: of a block device, whose number
    /// is known only when it is.
    #[must_use]
    pub fn expecting(mut self, scope: Scope, name: &str, bytes: Option<u64>) -> Self {
        self.expected.push((scope, name.to_owned(), bytes));
        self
    }

    /// A file, with what was said of it.
    fn file(&mut self, id: FileId) -> &mut File {
        let (page_bytes, expected) = (self.page_bytes, &self.expected);
        self.files.entry(id).or_insert_with(|| {
            let said = expected.iter().find(|(scope, ..)| scope.holds(id));
            said.map_or_else(File::default, |(_, name, bytes)| File {
                name: name.clone(),
                pages: bytes.map(|bytes| bytes.div_ceil(page_bytes)),
                ..File::default()
            })
        })
    }

    /// What a thread is called.
    pub fn know_thread(&mut self, thread: u32, name: &str) {
        name.clone_into(&mut self.by_thread.entry(thread).or_default().0);
    }

    /// What a thread was said to be called; empty when nobody said.
    pub fn thread_name(&self, thread: u32) -> &str {
        self.by_thread.get(&thread).map_or("", |(name, _)| name)
    }

    /// Whether a thread made a decision.
    pub fn knows_thread(&self, thread: u32) -> bool {
        self.by_thread.contains_key(&thread)
    }

    /// Threads that made decisions, and that nobody named.
    pub fn nameless_threads(&self) -> Vec<u32> {
        let nameless = self
            .by_thread
            .iter()
            .filter(|(_, (name, _))| name.is_empty());
        nameless.map(|(thread, _)| *thread).collect()
    }

    /// Files that decisions were made for and that nobody named, each with a thread
    /// that read it.
    pub fn nameless_files(&self) -> Vec<(FileId, u32)> {
        let read = |(id, file): (&FileId, &File)| Some((*id, file.reader?));
        let files = self.files.iter().filter(|(_, file)| file.name.is_empty());
        files.filter_map(read).collect()
    }

    /// What a file was said to be called; empty when nobody said.
    pub fn file_name(&self, id: FileId) -> &str {
        self.files.get(&id).map_or("", |file| &file.name)
    }

    /// Whether the file has been in an event or was named.
    pub fn knows_file(&self, id: FileId) -> bool {
        self.files.contains_key(&id)
    }

    /// The decisions that were made since the last call, in their order.
    pub fn take_decisions(&mut self) -> Vec<Decision> {
        self.decisions
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Takes the next event. Those of one thread must come in the order of time;
    /// those of different ones nearly so.
    pub fn take(&mut self, event: &Event) {
        self.events += 1;
        let Event {
            at_ns,
            thread,
            file,
            what,
        } = *event;
        if !matches!(what, What::Added { .. } | What::Deleted { .. }) {
            // From here on it is there, with what is known of it.
            self.file(file);
        }
        match what {
            What::Sync(call) | What::Async(call) => {
                self.finish(thread, None);
                self.limit = Some(call.limit);
                let why = if matches!(what, What::Sync(_)) {
                    Why::Missing(call)
                } else {
                    Why::Marked(call)
                };
                let last = call.index.saturating_add(call.request.saturating_sub(1));
                let of = self.threads.entry(thread).or_default();
                if matches!(why, Why::Missing(_)) {
                    of.begin_read(file, call.index, last);
                }
                let opened = self
                    .files
                    .entry(file)
                    .or_default()
                    .readers
                    .opened(&call, self.page_bytes);
                of.pending = Some(Pending {
                    opened,
                    ..Pending::new(at_ns, file, why)
                });
            }
            What::Order {
                index,
                size,
                async_size,
                limit,
            } => {
                self.limit = Some(limit);
                let window = Window {
                    start: index,
                    size,
                    async_size,
                    is_set_up: true,
                };
                self.window(at_ns, thread, file, window);
            }
            What::Unbounded { index, pages } => {
                let window = Window {
                    start: index,
                    size: pages,
                    async_size: 0,
                    is_set_up: false,
                };
                self.window(at_ns, thread, file, window);
            }
            What::Added { index, pages } => self.added(thread, file, index, pages),
            What::Deleted { index, pages } => {
                if let Some(of) = self.files.get_mut(&file) {
                    self.pages.dropped_unused +=
                        of.unused.remove(index, index.saturating_add(pages));
                }
            }
            What::Got { first, last } => {
                let of = self.threads.entry(thread).or_default();
                of.begin_read(file, first, last);
                let (_, from, _) = of.read.unwrap_or((file, first, last));
                let decided = of.pending.is_some_and(|pending| pending.file == file);
                if decided {
                    self.finish(thread, Some((at_ns, from, last)));
                } else {
                    let readers = &mut self.files.entry(file).or_default().readers;
                    readers.read(None, from, last, 0);
                }
                self.used(file, first, last.saturating_add(1));
            }
            What::Faulted { index } => {
                self.finish(thread, None);
                self.threads.entry(thread).or_default().touched = Some((file, index));
                self.used(file, index, index.saturating_add(1));
            }
            What::Mapped { first, last } => {
                self.pages.mapped_only += self.used(file, first, last.saturating_add(1));
            }
        }
    }

    /// Pages that are asked for; how many of them had not been.
    fn used(&mut self, file: FileId, first: u64, end: u64) -> u64 {
        let Some(of) = self.files.get_mut(&file) else {
            return 0;
        };
        let used = of.unused.remove(first, end);
        self.pages.used += used;
        used
    }

    /// A thread reads these pages, by a decision of its own or as the rest of one.
    fn window(&mut self, at_ns: u64, thread: u32, id: FileId, window: Window) {
        let of = self.threads.entry(thread).or_default();
        let goes_on = of.pending.filter(|pending| pending.file == id);
        let mut pending = match goes_on {
            // The file's window has gaps, or no large pages: what is left of it.
            Some(Pending {
                window: Some(old), ..
            }) if !window.is_set_up && old.is_set_up && old.holds(window.start) => return,
            // The next piece of many pages that a program asked for.
            Some(mut pending)
                if let (Why::Missing(_), Some(old)) = (pending.why, pending.window)
                    && !old.is_set_up
                    && !window.is_set_up
                    && old.start.saturating_add(old.size) == window.start =>
            {
                pending.window = Some(Window {
                    size: old.size + window.size,
                    ..old
                });
                of.pending = Some(pending);
                return;
            }
            Some(pending) if pending.window.is_none() => pending,
            _ => {
                self.finish(thread, None);
                let of = self.threads.entry(thread).or_default();
                let touched = of.touched.take().filter(|(file, _)| *file == id);
                let why = match touched {
                    _ if !window.is_set_up => Why::Told,
                    Some((_, index)) => Why::Touched(index),
                    None => Why::Touched(window.start),
                };
                Pending::new(at_ns, id, why)
            }
        };
        let file = self.files.entry(id).or_default();
        if matches!(pending.why, Why::Touched(_)) {
            // Which open file was mapped is not told; the next decision shows its
            // state.
            pending.opened = Some(file.readers.open());
        }
        pending.pattern = decision::pattern(
            pending.why,
            &window,
            pending.opened,
            &mut file.readers,
            self.page_bytes,
        );
        if window.is_set_up {
            let number = *pending.opened.get_or_insert_with(|| file.readers.open());
            let Window {
                start,
                size,
                async_size,
                ..
            } = window;
            file.readers.set_window(number, start, size, async_size);
        }
        pending.window = Some(window);
        self.threads.entry(thread).or_default().pending = Some(pending);
    }

    /// Pages entered the page cache: by the thread's decision, or by a write.
    fn added(&mut self, thread: u32, id: FileId, index: u64, pages: u64) {
        let Some(of) = self.threads.get_mut(&thread) else {
            return;
        };
        let end = index.saturating_add(pages);
        if let Some(pending) = of.pending.as_mut()
            && pending.file == id
            && let Some(window) = pending.window
            && index < window.start.saturating_add(window.size)
            && window.start < end
        {
            pending.actual += pages;
            let unused = &mut self.files.entry(id).or_default().unused;
            // A page that is there cannot be added; where it seems so, the event
            // of its end was lost.
            let new = unused.add(index, end);
            self.pages.added += pages;
            self.pages.dropped_unused += pages - new;
        }
    }

    /// What the thread was about is done; `read` is the read that has its pages,
    /// and when.
    fn finish(&mut self, thread: u32, read: Option<(u64, u64, u64)>) {
        let Some(pending) = self
            .threads
            .get_mut(&thread)
            .and_then(|of| of.pending.take())
        else {
            return;
        };
        let file = self.files.entry(pending.file).or_default();
        let (request, pages) = match pending.why {
            Why::Missing(call) | Why::Marked(call) => (call.index, call.request),
            Why::Touched(index) => (index, 1),
            Why::Told => {
                let window = pending.window;
                window.map_or((0, 0), |window| (window.start, window.size))
            }
        };
        let Some(window) = pending.window else {
            self.without_window += u64::from(matches!(pending.why, Why::Marked(_)));
            if let Some((_, first, last)) = read {
                file.readers.read(pending.opened, first, last, 0);
            }
            return;
        };
        let set_up = u64::from(pending.pattern.is_none_or(Pattern::in_order));
        let mut trouble = None;
        if let Why::Missing(call) | Why::Marked(call) = pending.why {
            let (first, last) = read.map_or_else(
                || (request, request.saturating_add(pages.saturating_sub(1))),
                |(_, first, last)| (first, last),
            );
            let continued = file.readers.continued(pending.opened, first, last);
            let from = Call {
                index: first,
                ..call
            };
            let own = decision::follows(&from, self.page_bytes);
            trouble = decision::trouble(pending.why, pending.pattern, continued, own);
            if trouble == Some(Trouble::Broken)
                && let Some(number) = pending.opened
            {
                file.readers.mark_shared(number);
            }
            if read.is_some() {
                file.readers.read(pending.opened, first, last, set_up);
            }
        }
        let decision = Decision {
            at_ns: pending.at_ns,
            thread,
            file: pending.file,
            pattern: pending.pattern,
            request,
            request_pages: pages,
            start: window.start,
            size: window.size,
            async_size: window.async_size,
            actual: pending.actual,
            trouble,
        };
        if let Some((at_ns, ..)) = read
            && !decision.is_ahead()
        {
            let waited_ns = at_ns.saturating_sub(pending.at_ns);
            self.wait_ns = self.wait_ns.saturating_add(waited_ns);
        }
        let length = file.pages;
        file.reader.get_or_insert(thread);
        file.tally.count(&decision, length);
        self.all.count(&decision, length);
        let of_thread = self.by_thread.entry(thread).or_default();
        of_thread.1.count(&decision, length);
        if decision.pattern.is_none_or(Pattern::in_order) {
            *self.sizes.entry(decision.size).or_default() += 1;
        }
        if let Some((_, index)) = of_touched(&pending) {
            self.used(pending.file, index, index.saturating_add(1));
        }
        if let Some(decisions) = &mut self.decisions {
            decisions.push(decision);
        }
    }

    /// The table, when no more events come.
    pub fn end(&mut self) -> ReadAhead {
        let threads: Vec<u32> = self.threads.keys().copied().collect();
        for thread in threads {
            self.finish(thread, None);
        }
        let count = |file: &File| file.unused.count();
        let left_unused = self.files.values().map(count).sum();
        ReadAhead {
            page_bytes: self.page_bytes,
            rows: self.all.table(),
            all: self.all.all,
            not_told: tally::not_told(),
            undecided: self.all.undecided,
            without_window: self.without_window,
            limit_pages: self.limit,
            sizes: self
                .sizes
                .iter()
                .map(|(&pages, &count)| WindowSize { pages, count })
                .collect(),
            pages: ReadAheadPages {
                left_unused,
                ..self.pages
            },
            broken: self.all.broken,
            scattered: self.all.scattered,
            shared_descriptors: self.files.values().map(|file| file.readers.shared()).sum(),
            late: self.all.late,
            sync_wait_ns: Some(self.wait_ns),
            files: self.listed_files(),
            threads: self.listed_threads(),
            cost: None,
        }
    }

    /// Events that were taken.
    pub fn events(&self) -> u64 {
        self.events
    }

    fn listed_files(&self) -> Vec<ReadAheadFile> {
        let read = self.files.iter().filter(|(_, of)| of.tally.all.count > 0);
        let files = read.map(|(&id, of)| of.tally.of_file(id, &of.name));
        listed(files.collect(), |of| {
            (Reverse(of.all.actual_pages), of.device.clone(), of.inode)
        })
    }

    fn listed_threads(&self) -> Vec<ReadAheadThread> {
        let read = self.by_thread.iter();
        let read = read.filter(|(_, (_, tally))| tally.all.count > 0);
        let threads = read.map(|(&thread, (name, tally))| tally.of_thread(thread, name));
        listed(threads.collect(), |of| {
            (Reverse(of.all.actual_pages), of.thread)
        })
    }
}

/// The page that was touched in a mapped file.
fn of_touched(pending: &Pending) -> Option<(FileId, u64)> {
    match pending.why {
        Why::Touched(index) => Some((pending.file, index)),
        _ => None,
    }
}

/// Those with most pages; nothing when there is only one, which is all.
fn listed<T, K: Ord>(mut parts: Vec<T>, order: impl Fn(&T) -> K) -> Vec<T> {
    if parts.len() < 2 {
        return Vec::new();
    }
    parts.sort_by_key(order);
    parts.truncate(LISTED);
    parts
}

impl Thread {
    /// A read of `..=last` has come to `index`: the same one, when it is to end at
    /// the same page.
    fn begin_read(&mut self, file: FileId, index: u64, last: u64) {
        let same = self
            .read
            .is_some_and(|(of, first, end)| of == file && end == last && first <= index);
        if !same {
            self.read = Some((file, index, last));
        }
    }
}

impl Pending {
    fn new(at_ns: u64, file: FileId, why: Why) -> Self {
        Self {
            at_ns,
            file,
            why,
            window: None,
            pattern: None,
            opened: None,
            actual: 0,
        }
    }
}

impl Window {
    /// Whether a page is in it.
    fn holds(&self, page: u64) -> bool {
        self.start <= page && page < self.start.saturating_add(self.size)
    }
}
