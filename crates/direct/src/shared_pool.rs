//! A pool whose buffers are checked out, one by one, and come back by themselves.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::BufferPool;

/// A [`BufferPool`] whose buffers are owned by whoever has checked them out, on
/// any thread. Clones share the buffers.
///
/// ```
/// use directio::BufferPool;
///
/// let pool = BufferPool::new(2, 4096, 4096)?.into_shared();
/// let mut first = pool.check_out().expect("both are in");
/// first[..5].copy_from_slice(b"hello");
/// let second = pool.check_out().expect("one is in");
/// assert!(pool.check_out().is_none());
/// std::thread::spawn(move || drop(second)).join().expect("it only drops");
/// assert_eq!(pool.available(), 1);
/// # Ok::<(), directio::Error>(())
/// ```
#[derive(Clone)]
pub struct SharedPool {
    shared: Arc<Shared>,
}

struct Shared {
    pool: BufferPool,
    /// The buffers that are in; the last one that came back is the next to go
    /// out, as most of it may still be in the processor's cache.
    free: Mutex<Vec<usize>>,
    came_back: Condvar,
}

impl Shared {
    fn free(&self) -> MutexGuard<'_, Vec<usize>> {
        // The list is whole between any two calls of its methods.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedPool {
    pub(crate) fn new(pool: BufferPool) -> Self {
        Self {
            shared: Arc::new(Shared {
                free: Mutex::new((0..pool.len()).rev().collect()),
                came_back: Condvar::new(),
                pool,
            }),
        }
    }

    /// Takes a buffer; `None` when all are out.
    ///
    /// It holds what its last user left there: zeros only the first time.
    pub fn check_out(&self) -> Option<PooledBuffer> {
        let index = self.shared.free().pop()?;
        Some(self.buffer(index))
    }

    /// Takes a buffer, and waits for one when all are out.
    pub fn wait_for_one(&self) -> PooledBuffer {
        let mut free = self.shared.free();
        loop {
            if let Some(index) = free.pop() {
                return self.buffer(index);
            }
            let waited = self.shared.came_back.wait(free);
            free = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn buffer(&self, index: usize) -> PooledBuffer {
        PooledBuffer {
            shared: Arc::clone(&self.shared),
            index,
        }
    }

    /// How many buffers are in, at this moment.
    pub fn available(&self) -> usize {
        self.shared.free().len()
    }

    /// How many buffers there are, in and out; at least 1.
    #[expect(
        clippy::len_without_is_empty,
        reason = "a pool is never empty: CountZero"
    )]
    pub fn len(&self) -> usize {
        self.shared.pool.len()
    }

    /// The size of each buffer in bytes.
    pub fn buffer_size(&self) -> usize {
        self.shared.pool.buffer_size()
    }

    /// The distance from one buffer's start to the next one's, in bytes.
    pub fn stride(&self) -> usize {
        self.shared.pool.stride()
    }

    /// Start and length in bytes of all buffers together, to be registered with
    /// the kernel in one piece. Their bytes belong to those who have them out.
    pub fn region(&self) -> (*mut u8, usize) {
        self.shared.pool.region()
    }
}

impl fmt::Debug for SharedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedPool")
            .field("pool", &self.shared.pool)
            .field("available", &self.available())
            .finish()
    }
}

/// A buffer of a [`SharedPool`], which goes back when it is dropped.
pub struct PooledBuffer {
    shared: Arc<Shared>,
    /// Not in the list of those that are in, as long as this lives.
    index: usize,
}

impl PooledBuffer {
    /// Its place in the pool, below [`SharedPool::len`].
    pub fn index(&self) -> usize {
        self.index
    }

    /// The pool that it goes back to.
    pub fn pool(&self) -> SharedPool {
        SharedPool {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        self.shared.free().push(self.index);
        self.shared.came_back.notify_one();
    }
}

impl Deref for PooledBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // Only buffers that are out are looked at, each by the one who has it.
        self.shared.pool.get(self.index)
    }
}

impl DerefMut for PooledBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let (start, size) = (
            self.shared.pool.as_mut_ptr(self.index),
            self.shared.pool.buffer_size(),
        );
        // SAFETY: `size` initialised bytes of the pool, which lives as long as
        // self. No other slice of them is alive: an index is out once at a time,
        // the pool itself can be reached through it only, and the borrow of self
        // is exclusive.
        unsafe { std::slice::from_raw_parts_mut(start, size) }
    }
}

impl AsRef<[u8]> for PooledBuffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl AsMut<[u8]> for PooledBuffer {
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}

impl fmt::Debug for PooledBuffer {
    /// Which one; not the content, which may be megabytes or secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PooledBuffer")
            .field("index", &self.index)
            .field("size", &self.len())
            .finish_non_exhaustive()
    }
}
