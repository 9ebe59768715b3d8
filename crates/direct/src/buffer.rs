//! One buffer whose address is a multiple of an alignment.
//!
//! Direct I/O moves data between the device and the caller's own memory, so
//! the device's rules reach into the address of the buffer. The rules checked
//! here are those of the system calls (`posix_memalign`, `_aligned_malloc`)
//! and a sane upper bound; what a given file needs says
//! [`direct_alignment`](crate::direct_alignment).

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::error::Subject;
use crate::os::Mapping;
use crate::{Error, Pages, os};

/// The smallest alignment, in bytes: a pointer on a 64-bit system, so that one
/// program behaves the same on 32 bits.
pub const ALIGNMENT_MIN: usize = 8;

/// The largest alignment, in bytes: no device asks for more than a huge page.
pub const ALIGNMENT_MAX: usize = 4 << 20;

/// The largest size of a buffer or a pool, in bytes: what a pointer can span,
/// less room to align it in.
pub const SIZE_MAX: usize = isize::MAX.unsigned_abs() - ALIGNMENT_MAX;

/// A size or an alignment that no buffer can have.
///
/// The rules are checked in the order of the variants, and the first one that
/// is broken is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BufferError {
    /// A pool of no buffers.
    #[error("count must not be 0")]
    CountZero,
    /// A buffer of no bytes.
    #[error("size must not be 0")]
    SizeZero,
    /// More bytes than a pointer can span.
    #[error("size must be at most {SIZE_MAX} bytes, but is {size}")]
    SizeTooLarge {
        /// The size asked for, in bytes; `usize::MAX` when it overflowed.
        size: usize,
    },
    /// An alignment of 0.
    #[error("alignment must not be 0")]
    AlignmentZero,
    /// An alignment that is no power of 2.
    #[error("alignment must be a power of 2, but is {alignment}; the next is {}", next_power_of_two(*alignment))]
    AlignmentNotPowerOfTwo {
        /// The alignment asked for, in bytes.
        alignment: usize,
    },
    /// An alignment below [`ALIGNMENT_MIN`].
    #[error("alignment must be at least {ALIGNMENT_MIN} bytes, but is {alignment}")]
    AlignmentTooSmall {
        /// The alignment asked for, in bytes.
        alignment: usize,
    },
    /// An alignment above [`ALIGNMENT_MAX`].
    #[error("alignment must be at most {ALIGNMENT_MAX} bytes, but is {alignment}")]
    AlignmentTooLarge {
        /// The alignment asked for, in bytes.
        alignment: usize,
    },
    /// The system has no memory for it.
    #[error(
        "insufficient memory for {size} bytes at a multiple of {alignment}: ask for less, or raise \
         the limit of the process (ulimit -v)"
    )]
    OutOfMemory {
        /// The size asked for, in bytes.
        size: usize,
        /// The alignment asked for, in bytes.
        alignment: usize,
    },
}

/// From this size on the allocator is asked for zeros at any address, and for room
/// to align in, in bytes.
///
/// It knows which of its memory is fresh from the system and zero already
/// (glibc from `M_MMAP_THRESHOLD`, this size, on), but not when it is asked for an
/// alignment of more than its own: then all of it is cleared by hand.
const ROOM_FROM: usize = 128 << 10;

/// How many times larger than its alignment such a buffer is at least, so that the
/// room is a small part of it.
const ROOM_AT_MOST: usize = 16;

/// Zeroed memory whose address is a multiple of an alignment, freed once.
///
/// ```
/// let mut buffer = directio::AlignedBuffer::new(8192, 4096)?;
/// assert_eq!(buffer.as_ptr().addr() % 4096, 0);
/// assert!(buffer.iter().all(|&byte| byte == 0));
/// buffer[..5].copy_from_slice(b"hello");
/// # Ok::<(), directio::Error>(())
/// ```
///
/// # What it costs
/// It comes from the program's allocator, as a `vec![0; size]` does, and costs as
/// much; with up to `alignment` bytes more than `size`. For many buffers take a
/// [`BufferPool`](crate::BufferPool), which reserves once; and keep buffers rather
/// than making them anew for each transfer.
pub struct AlignedBuffer {
    start: NonNull<u8>,
    size: usize,
    alignment: usize,
    owner: Owner,
}

/// What gives the memory back.
enum Owner {
    /// The program's allocator, which gave this memory for this layout.
    Allocator(NonNull<u8>, Layout),
    /// Pages of its own.
    Pages(Mapping),
}

// SAFETY: the buffer owns its memory, which no one else points into, and both
// the allocator and the system take it back from any thread.
unsafe impl Send for AlignedBuffer {}
// SAFETY: a shared reference only gives shared access to plain bytes.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Allocates `size` zeroed bytes at an address that is a multiple of
    /// `alignment`, both in bytes.
    ///
    /// `size` need not be a multiple of `alignment`; but direct I/O needs a
    /// multiple of the sector size, so ask for one.
    ///
    /// # Errors
    /// [`BufferError`], in the order of its variants: a `size` of 0 or above
    /// [`SIZE_MAX`], an `alignment` of 0, not a power of 2, below
    /// [`ALIGNMENT_MIN`] or above [`ALIGNMENT_MAX`]; or no memory.
    #[expect(
        clippy::missing_panics_doc,
        reason = "the assertion is about the allocator, not about the caller"
    )]
    pub fn new(size: usize, alignment: usize) -> Result<Self, Error> {
        check(size, alignment)?;
        let room = if size >= ROOM_FROM && alignment <= size / ROOM_AT_MOST {
            alignment
        } else {
            0
        };
        let (size_asked, align_asked) = match room {
            0 => (size, alignment),
            // No overflow: check() leaves room to align.
            room => (size + room, ALIGNMENT_MIN),
        };
        let out_of_memory = BufferError::OutOfMemory { size, alignment };
        let layout = Layout::from_size_align(size_asked, align_asked).map_err(|_| out_of_memory)?;
        // SAFETY: the layout's size is not 0: check() has refused that.
        let given = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(out_of_memory)?;
        let address = given.as_ptr().addr();
        let skip = address.next_multiple_of(alignment) - address;
        assert!(skip <= room, "the allocator must align to {align_asked}");
        // SAFETY: skip + size is at most the size of the layout, as just asserted.
        let start = unsafe { given.add(skip) };
        Ok(Self {
            start,
            size,
            alignment,
            owner: Owner::Allocator(given, layout),
        })
    }

    /// As [`new`](Self::new), on pages of its own, which come zeroed from the
    /// system and go back to it when the buffer is dropped, where an allocator
    /// might keep them; and which can be [kept from
    /// children](Self::keep_from_children).
    ///
    /// Each page costs a fault when it is first touched, tens of times what it costs
    /// to clear a page that is there: for a buffer that is kept, or whose memory
    /// must not stay.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn mapped(size: usize, alignment: usize) -> Result<Self, Error> {
        check(size, alignment)?;
        let mapping = os::map(size, alignment, Pages::Base)
            .map_err(|_| BufferError::OutOfMemory { size, alignment })?;
        let start = mapping.start;
        Ok(Self {
            start,
            size,
            alignment,
            owner: Owner::Pages(mapping),
        })
    }

    /// The alignment that was asked for, in bytes. The address may by chance
    /// be a multiple of more.
    pub fn alignment(&self) -> usize {
        self.alignment
    }

    /// Keeps the buffer out of child processes (`MADV_DONTFORK`), so that a
    /// `fork` while a direct transfer is under way does not harm it; see "Fork"
    /// in the [guide](crate::guide). The memory does not exist in a child, which
    /// ends with a fault if it touches it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the system has no such advice, and for a buffer
    /// that is not [`mapped`](Self::mapped): it shares its pages with other memory
    /// of the program. What the system reported.
    pub fn keep_from_children(&self) -> Result<(), Error> {
        match &self.owner {
            Owner::Pages(mapping) => os::keep_from_children(mapping),
            Owner::Allocator(..) => Err(Error::unsupported(
                "madvise(MADV_DONTFORK)",
                Subject::System,
                "the buffer shares its pages with other memory of the program; take \
                 AlignedBuffer::mapped or a BufferPool",
            )),
        }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        match self.owner {
            // SAFETY: it came from alloc_zeroed with this very layout, and drop
            // runs once.
            Owner::Allocator(given, layout) => unsafe { dealloc(given.as_ptr(), layout) },
            // Unmapped when it is dropped itself.
            Owner::Pages(_) => {}
        }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` points to `size` initialised (zeroed) bytes that we
        // own, at most isize::MAX of them: check() has refused more.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.size) }
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in deref, and the borrow of self is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.size) }
    }
}

impl AsRef<[u8]> for AlignedBuffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl AsMut<[u8]> for AlignedBuffer {
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}

impl fmt::Debug for AlignedBuffer {
    /// Where, how large and how aligned; not the content, which may be
    /// megabytes or secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedBuffer")
            .field("address", &self.start)
            .field("size", &self.size)
            .field("alignment", &self.alignment)
            .finish_non_exhaustive()
    }
}

/// Checks the rules of sizes and alignments, in their documented order.
pub(crate) fn check(size: usize, alignment: usize) -> Result<(), BufferError> {
    if size == 0 {
        Err(BufferError::SizeZero)
    } else if size > SIZE_MAX {
        Err(BufferError::SizeTooLarge { size })
    } else if alignment == 0 {
        Err(BufferError::AlignmentZero)
    } else if !alignment.is_power_of_two() {
        Err(BufferError::AlignmentNotPowerOfTwo { alignment })
    } else if alignment < ALIGNMENT_MIN {
        Err(BufferError::AlignmentTooSmall { alignment })
    } else if alignment > ALIGNMENT_MAX {
        Err(BufferError::AlignmentTooLarge { alignment })
    } else {
        Ok(())
    }
}

/// The alignment to offer in place of `alignment`.
fn next_power_of_two(alignment: usize) -> usize {
    alignment
        .checked_next_power_of_two()
        .unwrap_or(ALIGNMENT_MAX)
        .clamp(ALIGNMENT_MIN, ALIGNMENT_MAX)
}
