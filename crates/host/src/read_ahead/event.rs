//! The kernel's trace events that tell of read-ahead, as data.
//!
//! Those of the group `readahead` (since Linux 6.18,
//! `include/trace/events/readahead.h`) and of `filemap`
//! (`include/trace/events/filemap.h`). Positions and lengths are in pages.

/// A file, as the kernel's events name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// Device of its filesystem, `major << 20 | minor`, as it is inside the kernel.
    pub device: u32,
    /// Its number there; of a block device that is read itself, that device's
    /// number, as it is inside the kernel.
    pub inode: u64,
}

impl FileId {
    /// Major number of the filesystem's device.
    pub fn major(self) -> u32 {
        self.device >> 20
    }

    /// Minor number of the filesystem's device.
    pub fn minor(self) -> u32 {
        self.device & 0xf_ffff
    }
}

/// A device number, as it is inside the kernel (`MKDEV`, `include/linux/kdev_t.h`).
pub fn kernel_device(major: u32, minor: u32) -> u32 {
    major << 20 | (minor & 0xf_ffff)
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When, nanoseconds on the clock of the trace.
    pub at_ns: u64,
    /// The thread that did it.
    pub thread: u32,
    /// The file that it was done to.
    pub file: FileId,
    /// What was done.
    pub what: What,
}

/// What read-ahead was called for, and what the file's state was before: it is
/// that of an open file, which the event does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The page that is missing, or that bears the mark.
    pub index: u64,
    /// Pages from there to the end of the read.
    pub request: u64,
    /// Order of the large pages of the window, at most.
    pub order: u32,
    /// Pages of the window.
    pub size: u64,
    /// Of these, behind the mark.
    pub async_size: u64,
    /// The limit on windows; 0 when read-ahead is off.
    pub limit: u64,
    /// Where the previous read ended, bytes; -1 before the first one.
    pub prev_pos: i64,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// `page_cache_sync_ra`: a page is missing.
    Sync(Call),
    /// `page_cache_async_ra`: a marked page was reached.
    Async(Call),
    /// `page_cache_ra_order`: a window was set up, and is read now.
    Order {
        /// Its first page.
        index: u64,
        /// Its pages.
        size: u64,
        /// Of these, behind the mark.
        async_size: u64,
        /// The limit on windows.
        limit: u64,
    },
    /// `page_cache_ra_unbounded`: pages are read, without a window or as the rest
    /// of one.
    Unbounded {
        /// The first.
        index: u64,
        /// How many, not beyond the end of the file.
        pages: u64,
    },
    /// `mm_filemap_add_to_page_cache`.
    Added {
        /// First page.
        index: u64,
        /// Pages.
        pages: u64,
    },
    /// `mm_filemap_delete_from_page_cache`.
    Deleted {
        /// First page.
        index: u64,
        /// Pages.
        pages: u64,
    },
    /// `mm_filemap_get_pages`: a read has the first of its pages.
    Got {
        /// The first.
        first: u64,
        /// The last page of the read.
        last: u64,
    },
    /// `mm_filemap_fault`: a page of a mapped file was touched and is not mapped.
    Faulted {
        /// Which.
        index: u64,
    },
    /// `mm_filemap_map_pages`: pages that are in the page cache were mapped.
    Mapped {
        /// The first that was looked for.
        first: u64,
        /// The last one.
        last: u64,
    },
}

/// What the events are called, by group: those without which there is no table,
/// and those that tell what became of the pages.
pub const NEEDED: [(&str, &str); 4] = [
    ("readahead", "page_cache_sync_ra"),
    ("readahead", "page_cache_async_ra"),
    ("readahead", "page_cache_ra_order"),
    ("readahead", "page_cache_ra_unbounded"),
];

/// See [`NEEDED`].
pub const OF_PAGES: [(&str, &str); 5] = [
    ("filemap", "mm_filemap_add_to_page_cache"),
    ("filemap", "mm_filemap_delete_from_page_cache"),
    ("filemap", "mm_filemap_get_pages"),
    ("filemap", "mm_filemap_fault"),
    ("filemap", "mm_filemap_map_pages"),
];

/// The largest order of a page that the kernel has, the last page of a file, and the
/// most pages of a read; greater ones in an event are damage.
const ORDER_MAX: u64 = 30;
const INDEX_MAX: u64 = 1 << 52;
const PAGES_MAX: u64 = 1 << 32;

impl What {
    /// From the name of an event and its fields, as its format calls them; `None`
    /// for other events, or when a field is missing.
    pub fn from_fields(name: &str, field: impl Fn(&str) -> Option<u64>) -> Option<Self> {
        let pages = || Some(1 << field("order").unwrap_or(0).min(ORDER_MAX));
        let small = |name: &str| field(name).and_then(|value| u32::try_from(value).ok());
        let index = || field("index").filter(|index| *index <= INDEX_MAX);
        let last = || field("last_index").filter(|index| *index <= INDEX_MAX);
        let length = |name: &str| field(name).filter(|pages| *pages <= PAGES_MAX);
        Some(match name {
            "page_cache_sync_ra" | "page_cache_async_ra" => {
                let call = Call {
                    index: index()?,
                    request: length("req_count")?,
                    order: small("order")?,
                    size: length("size")?,
                    async_size: length("async_size")?,
                    limit: length("ra_pages")?,
                    prev_pos: field("prev_pos")?.cast_signed(),
                };
                if name == "page_cache_sync_ra" {
                    Self::Sync(call)
                } else {
                    Self::Async(call)
                }
            }
            "page_cache_ra_order" => Self::Order {
                index: index()?,
                size: length("size")?,
                async_size: length("async_size")?,
                limit: length("ra_pages")?,
            },
            "page_cache_ra_unbounded" => Self::Unbounded {
                index: index()?,
                pages: length("nr_to_read")?,
            },
            "mm_filemap_add_to_page_cache" => Self::Added {
                index: index()?,
                pages: pages()?,
            },
            "mm_filemap_delete_from_page_cache" => Self::Deleted {
                index: index()?,
                pages: pages()?,
            },
            "mm_filemap_get_pages" => Self::Got {
                first: index()?,
                last: last()?,
            },
            "mm_filemap_fault" => Self::Faulted { index: index()? },
            "mm_filemap_map_pages" => Self::Mapped {
                first: index()?,
                last: last()?,
            },
            _ => return None,
        })
    }
}
