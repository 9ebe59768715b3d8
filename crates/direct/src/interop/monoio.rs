//! `IoBuf` and `IoBufMut` of monoio. All bytes are initialised, always, and none
//! are added; so what a transfer moved is told by its result alone.

use monoio::buf::{IoBuf, IoBufMut};

use crate::{AlignedBuffer, PooledBuffer};

macro_rules! buffer {
    ($type:ty) => {
        // SAFETY: the pointer is to memory outside of the value, so that it stays
        // the same when this is moved, and to as many initialised bytes as stated.
        unsafe impl IoBuf for $type {
            fn read_ptr(&self) -> *const u8 {
                self.as_ptr()
            }

            fn bytes_init(&self) -> usize {
                self.len()
            }
        }

        // SAFETY: as for IoBuf.
        unsafe impl IoBufMut for $type {
            fn write_ptr(&mut self) -> *mut u8 {
                self.as_mut_ptr()
            }

            fn bytes_total(&mut self) -> usize {
                self.len()
            }

            unsafe fn set_init(&mut self, pos: usize) {
                debug_assert!(pos <= self.len(), "{pos} bytes of {}", self.len());
            }
        }
    };
}

buffer!(AlignedBuffer);
buffer!(PooledBuffer);

#[cfg(test)]
mod tests {
    use monoio::buf::{IoBuf, IoBufMut};

    use crate::{AlignedBuffer, BufferPool};

    fn is_lent_whole(mut buffer: impl IoBuf + IoBufMut) {
        assert_eq!((buffer.bytes_init(), buffer.bytes_total()), (4096, 4096));
        assert_eq!(buffer.read_ptr(), buffer.write_ptr().cast_const());
        assert_eq!(buffer.read_ptr().addr() % 4096, 0);
        // SAFETY: within the buffer, whose bytes are all initialised.
        unsafe { buffer.set_init(100) };
        assert_eq!(buffer.bytes_init(), 4096, "the whole stays");
    }

    #[test]
    fn monoio_sees_all_of_a_buffer() {
        is_lent_whole(AlignedBuffer::new(4096, 4096).expect("4 KiB"));
        let pool = BufferPool::new(1, 4096, 4096).expect("4 KiB").into_shared();
        is_lent_whole(pool.check_out().expect("it is in"));
        assert_eq!(pool.available(), 1);
    }
}
