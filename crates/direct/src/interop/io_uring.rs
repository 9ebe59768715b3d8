//! The crate `io-uring`: a pool as fixed buffers, operations on its buffers, and
//! completions whose errors are explained.

use std::io;

use io_uring::{Submitter, opcode, types};

use crate::{AsFile, Error, PooledBuffer, SharedPool, Transfer, transfer_error};

/// The largest fixed buffer that the kernel takes, in bytes
/// (`io_uring_register(2)`).
const FIXED_MAX: usize = 1 << 30;

/// How many buffers of a pool are registered as one fixed buffer.
fn per_fixed(pool: &SharedPool) -> usize {
    (FIXED_MAX / pool.stride()).max(1)
}

impl SharedPool {
    /// Registers all buffers with a ring (feature `io-uring`), so that the kernel
    /// looks their pages up once and not for each transfer; for
    /// [`PooledBuffer::read_fixed`] and [`PooledBuffer::write_fixed`].
    ///
    /// They become fixed buffers 0 and following of this ring, one for each GiB;
    /// the ring must have none yet.
    ///
    /// # Errors
    /// What the system reported: `ENOMEM` when more memory would be locked than
    /// allowed (`ulimit -l`), `EBUSY` when the ring has buffers.
    ///
    /// # Safety
    /// A clone of this pool, or a buffer of it, must live until the ring is closed
    /// or the buffers are unregistered.
    pub unsafe fn register(&self, submitter: &Submitter<'_>) -> io::Result<()> {
        let (start, length) = self.region();
        let piece = per_fixed(self) * self.stride();
        let fixed: Vec<libc::iovec> = (0..length)
            .step_by(piece)
            .map(|from| libc::iovec {
                iov_base: start.wrapping_add(from).cast(),
                iov_len: piece.min(length - from),
            })
            .collect();
        // SAFETY: the ranges divide the pool's memory, which is mapped as long as
        // the pool lives: the caller's promise.
        unsafe { submitter.register_buffers(&fixed) }
    }
}

impl PooledBuffer {
    /// A read of all of this buffer from byte `offset` of a file (feature
    /// `io-uring`), by a ring that has [registered](SharedPool::register) the pool.
    ///
    /// To submit it is `unsafe`: the buffer must not be touched or dropped before
    /// its completion.
    pub fn read_fixed(&mut self, file: types::Fd, offset: u64) -> opcode::ReadFixed {
        let (index, length) = (self.fixed_index(), self.fixed_length());
        opcode::ReadFixed::new(file, self.as_mut_ptr(), length, index).offset(offset)
    }

    /// A write of all of this buffer at byte `offset` of a file; otherwise as
    /// [`read_fixed`](Self::read_fixed).
    pub fn write_fixed(&self, file: types::Fd, offset: u64) -> opcode::WriteFixed {
        let (index, length) = (self.fixed_index(), self.fixed_length());
        opcode::WriteFixed::new(file, self.as_ptr(), length, index).offset(offset)
    }

    fn fixed_index(&self) -> u16 {
        let index = self.index() / per_fixed(&self.pool());
        u16::try_from(index).expect("65536 GiB of buffers cannot be registered")
    }

    fn fixed_length(&self) -> u32 {
        u32::try_from(self.len()).expect("a fixed buffer has at most 1 GiB")
    }
}

/// What a completion of a read or write says (feature `io-uring`): the bytes moved,
/// or the error as [`transfer_error`] explains it.
///
/// `result` is [`io_uring::cqueue::Entry::result`]; `buffer` is what was
/// transferred, at byte `offset` of the file.
///
/// # Errors
/// As [`read_at`](crate::read_at).
pub fn completion(
    file: &impl AsFile,
    transfer: Transfer,
    buffer: &[u8],
    offset: u64,
    result: i32,
) -> Result<usize, Error> {
    usize::try_from(result).map_err(|_| {
        let source = io::Error::from_raw_os_error(result.saturating_neg());
        let (address, length) = (buffer.as_ptr().addr(), buffer.len());
        transfer_error(file, transfer, address, length, offset, source)
    })
}
