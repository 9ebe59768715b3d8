//! Pages that are lent to JavaScript, and those that have come back.
//!
//! Fresh pages cost the system a fault each, and a mebibyte of them several times what
//! it costs to read one into them. So some of what came back is kept for the next
//! buffers of the same size, and cleared for them; the rest goes back to the system.

use std::sync::{Mutex, MutexGuard, PoisonError};

use directio::AlignedBuffer;

/// How much is kept at most, in bytes: about what comes back at once, as V8 collects
/// after some 64 MiB of buffers.
const SPARE_MAX: usize = 64 << 20;

/// What has come back, the last at the end; some of it may be in the processor's cache
/// yet.
static SPARES: Mutex<Vec<AlignedBuffer>> = Mutex::new(Vec::new());

fn spares() -> MutexGuard<'static, Vec<AlignedBuffer>> {
    // The list is whole between any two calls of its methods.
    SPARES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Zeroed pages of a buffer's own, which come back when this is dropped.
pub(crate) struct Pages(Option<AlignedBuffer>);

impl Pages {
    /// `size` bytes at a multiple of `alignment`, valid for an [`AlignedBuffer`];
    /// `None` when there is no memory.
    pub(crate) fn take(size: usize, alignment: usize) -> Option<Self> {
        let buffer = match spare(size, alignment) {
            Some(mut buffer) => {
                buffer.fill(0);
                buffer
            }
            None => AlignedBuffer::mapped(size, alignment).ok()?,
        };
        Some(Self(Some(buffer)))
    }

    /// Where they begin, to be written by whom they are lent to.
    pub(crate) fn start(&mut self) -> *mut u8 {
        let buffer = self.0.as_mut().expect("only drop takes it");
        buffer.as_mut_ptr()
    }
}

fn spare(size: usize, alignment: usize) -> Option<AlignedBuffer> {
    let mut spares = spares();
    let fits = |spare: &AlignedBuffer| {
        spare.len() == size && spare.as_ptr().addr().is_multiple_of(alignment)
    };
    let at = spares.iter().rposition(fits)?;
    Some(spares.remove(at))
}

impl Drop for Pages {
    fn drop(&mut self) {
        let Some(buffer) = self.0.take() else { return };
        if buffer.len() > SPARE_MAX {
            return;
        }
        let mut spares = spares();
        spares.push(buffer);
        let mut kept: usize = spares.iter().map(|spare| spare.len()).sum();
        // Sizes that nobody asks for any more go first.
        let too_many = spares.iter().take_while(|spare| {
            let over = kept > SPARE_MAX;
            kept -= spare.len();
            over
        });
        let too_many = too_many.count();
        let returned: Vec<_> = spares.drain(..too_many).collect();
        // Given back to the system without the lock.
        drop(spares);
        drop(returned);
    }
}
