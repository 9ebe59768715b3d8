//! Many buffers of one size in one mapping.
//!
//! A measuring loop wants its buffers before it starts, in one piece (so that
//! they can be registered with the kernel at once), on as few pages as
//! possible (each page costs the kernel a lookup per I/O), and touched (so
//! that no page fault is measured as latency).

use std::fmt;

use crate::buffer::{BufferError, SIZE_MAX, check};
use crate::os::Mapping;
use crate::{Error, SharedPool, os};

/// Which pages to ask the system for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Pages {
    /// The system's base pages (4 KiB on most machines), and nothing else.
    Base,
    /// Base pages for a small pool; for one of at least 2 MiB the system is
    /// advised to use huge pages if it can (`madvise(MADV_HUGEPAGE)`, Linux).
    #[default]
    Auto,
    /// Reserved huge pages (`MAP_HUGETLB` on Linux, `MEM_LARGE_PAGES` on
    /// Windows); where there are none, as [`Pages::Auto`].
    Huge,
}

/// Which pages were granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backing {
    /// Base pages.
    Base {
        /// Their size in bytes.
        page_size: usize,
    },
    /// Base pages that the system has been advised to join into huge ones. It
    /// promises nothing: [`BufferPool::resident_huge_bytes`] says what it did.
    Advised {
        /// The size of the base page in bytes.
        page_size: usize,
    },
    /// Huge pages, reserved and pinned.
    Huge {
        /// Their size in bytes.
        page_size: usize,
    },
}

/// `count` zeroed buffers of `buffer_size` bytes, `stride` bytes apart, in one
/// contiguous mapping that starts at a multiple of the page size and of the
/// alignment.
///
/// ```
/// use directio::BufferPool;
///
/// let mut pool = BufferPool::new(32, 4096, 4096)?;
/// assert_eq!((pool.len(), pool.buffer_size(), pool.stride()), (32, 4096, 4096));
/// pool.get_mut(3)[0] = 7;
/// assert_eq!(pool.get(3)[0], 7);
/// let (start, length) = pool.region();
/// assert_eq!(pool.as_mut_ptr(3), start.wrapping_add(3 * 4096));
/// assert_eq!(length, 32 * 4096);
/// # Ok::<(), directio::Error>(())
/// ```
pub struct BufferPool {
    mapping: Mapping,
    count: usize,
    buffer_size: usize,
    stride: usize,
    alignment: usize,
}

// SAFETY: the pool owns its mapping, and any thread may read, write and unmap it.
unsafe impl Send for BufferPool {}
// SAFETY: through a shared reference bytes are only read; as_mut_ptr gives a
// raw pointer, whose use is the caller's to make sound.
unsafe impl Sync for BufferPool {}

impl BufferPool {
    /// Maps `count` buffers of `size` bytes each, at multiples of `alignment`
    /// bytes, on the pages of [`Pages::Auto`].
    ///
    /// # Errors
    /// As [`AlignedBuffer::new`](crate::AlignedBuffer::new), and
    /// [`BufferError::CountZero`].
    pub fn new(count: usize, size: usize, alignment: usize) -> Result<Self, Error> {
        Self::with_pages(count, size, alignment, Pages::Auto)
    }

    /// As [`BufferPool::new`], on pages of the caller's choice.
    ///
    /// Huge pages that cannot be had are no error: [`BufferPool::backing`]
    /// tells what was granted and [`BufferPool::refused`] why it was not more.
    ///
    /// # Errors
    /// As [`BufferPool::new`].
    #[expect(
        clippy::missing_panics_doc,
        reason = "the assertion is about the mapping, not about the caller"
    )]
    pub fn with_pages(
        count: usize,
        size: usize,
        alignment: usize,
        pages: Pages,
    ) -> Result<Self, Error> {
        if count == 0 {
            return Err(BufferError::CountZero.into());
        }
        check(size, alignment)?;
        // No overflow: size is at most SIZE_MAX, which leaves room to align.
        let stride = size.next_multiple_of(alignment);
        let length = stride
            .checked_mul(count)
            .filter(|&length| length <= SIZE_MAX)
            .ok_or(BufferError::SizeTooLarge {
                size: stride.saturating_mul(count),
            })?;
        let mapping = os::map(length, alignment, pages).map_err(|_| BufferError::OutOfMemory {
            size: length,
            alignment,
        })?;
        assert!(
            mapping.start.as_ptr().addr() % alignment == 0,
            "the mapping must start at a multiple of the alignment {alignment}"
        );
        assert!(
            mapping.length >= length,
            "the mapping must hold all buffers"
        );
        Ok(Self {
            mapping,
            count,
            buffer_size: size,
            stride,
            alignment,
        })
    }

    /// Has the buffers checked out and given back, by many threads, in place of
    /// indexed.
    pub fn into_shared(self) -> SharedPool {
        SharedPool::new(self)
    }

    /// How many buffers there are; at least 1.
    #[expect(
        clippy::len_without_is_empty,
        reason = "a pool is never empty: CountZero"
    )]
    pub fn len(&self) -> usize {
        self.count
    }

    /// The size of each buffer in bytes.
    pub fn buffer_size(&self) -> usize {
        self.buffer_size
    }

    /// The distance from one buffer's start to the next one's, in bytes: the
    /// size rounded up to the alignment.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// What each buffer's address is a multiple of, in bytes.
    pub fn alignment(&self) -> usize {
        self.alignment
    }

    /// Start and length in bytes of all buffers together, to be registered
    /// with the kernel in one piece.
    pub fn region(&self) -> (*mut u8, usize) {
        (self.mapping.start.as_ptr(), self.stride * self.count)
    }

    /// Where buffer `index` starts.
    ///
    /// The pointer is valid for `buffer_size` bytes as long as the pool lives.
    /// Whoever writes through it (the kernel included) must see to it that no
    /// slice of [`get`](Self::get) or [`get_mut`](Self::get_mut) of the same
    /// buffer is alive meanwhile.
    ///
    /// # Panics
    /// When `index` is not below [`len`](Self::len).
    pub fn as_mut_ptr(&self, index: usize) -> *mut u8 {
        assert!(
            index < self.count,
            "buffer {index} of a pool of {}",
            self.count
        );
        // SAFETY: index < count, so the offset stays inside the mapping, whose
        // length is at least count * stride and at most isize::MAX.
        unsafe { self.mapping.start.as_ptr().add(index * self.stride) }
    }

    /// The bytes of buffer `index`.
    ///
    /// # Panics
    /// When `index` is not below [`len`](Self::len).
    pub fn get(&self, index: usize) -> &[u8] {
        // SAFETY: as_mut_ptr checks the index; the bytes are mapped, zeroed and
        // live as long as self. No one writes them through a pointer meanwhile:
        // that is the condition of as_mut_ptr.
        unsafe { std::slice::from_raw_parts(self.as_mut_ptr(index), self.buffer_size) }
    }

    /// The bytes of buffer `index`, to be written.
    ///
    /// # Panics
    /// When `index` is not below [`len`](Self::len).
    pub fn get_mut(&mut self, index: usize) -> &mut [u8] {
        // SAFETY: as in get, and the borrow of self is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(index), self.buffer_size) }
    }

    /// Writes a zero to each page that has not been touched yet, by touching
    /// all of them: the content of all buffers becomes zero, and no later
    /// access costs a page fault.
    pub fn prefault(&mut self) {
        let (start, length) = self.region();
        // SAFETY: the region is mapped, writable and borrowed exclusively.
        unsafe { start.write_bytes(0, length) }
    }

    /// Keeps all buffers out of child processes (`MADV_DONTFORK`), so that a
    /// `fork` while a direct transfer is under way does not harm it; see "Fork"
    /// in the [guide](crate::guide). The memory does not exist in a child, which
    /// ends with a fault if it touches it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the system has no such advice; what the
    /// system reported.
    pub fn keep_from_children(&self) -> Result<(), Error> {
        os::keep_from_children(&self.mapping)
    }

    /// Which pages were granted.
    pub fn backing(&self) -> Backing {
        self.mapping.backing
    }

    /// Why better pages were not granted, when they were asked for.
    pub fn refused(&self) -> Option<&str> {
        self.mapping.refused.as_deref()
    }

    /// How many bytes of the pool lie on huge pages now, where the system
    /// tells it (Linux: `/proc/self/smaps`). Untouched pages lie nowhere yet:
    /// call [`prefault`](Self::prefault) first.
    pub fn resident_huge_bytes(&self) -> Option<u64> {
        os::resident_huge_bytes(&self.mapping)
    }
}

impl fmt::Debug for BufferPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferPool")
            .field("address", &self.mapping.start)
            .field("count", &self.count)
            .field("buffer_size", &self.buffer_size)
            .field("stride", &self.stride)
            .field("backing", &self.mapping.backing)
            .finish_non_exhaustive()
    }
}
