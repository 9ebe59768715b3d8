//! `IoBuf` and `IoBufMut` of compio. All bytes are initialised, always, and none
//! are added; so what a transfer moved is told by its result alone, as for an
//! array.

use std::mem::MaybeUninit;

use compio_buf::{IoBuf, IoBufMut, SetLen};

use crate::{AlignedBuffer, PooledBuffer};

macro_rules! buffer {
    ($type:ty) => {
        impl IoBuf for $type {
            fn as_init(&self) -> &[u8] {
                self
            }
        }

        impl SetLen for $type {
            unsafe fn set_len(&mut self, len: usize) {
                debug_assert!(len <= self.len(), "{len} bytes of {}", self.len());
            }
        }

        impl IoBufMut for $type {
            fn as_uninit(&mut self) -> &mut [MaybeUninit<u8>] {
                let bytes: &mut [u8] = self;
                // SAFETY: the same bytes, borrowed for as long. compio writes only
                // initialised ones into them, as IoBufMut asks of those who use it.
                unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) }
            }
        }
    };
}

buffer!(AlignedBuffer);
buffer!(PooledBuffer);

#[cfg(test)]
mod tests {
    use compio_buf::{IoBuf, IoBufMut};

    use crate::{AlignedBuffer, BufferPool};

    fn is_lent_whole(mut buffer: impl IoBufMut) {
        assert_eq!(buffer.buf_len(), 4096);
        let (start, room) = (buffer.buf_ptr(), buffer.as_uninit().len());
        assert_eq!((start.addr() % 4096, room), (0, 4096));
        for (index, byte) in buffer.as_uninit().iter_mut().enumerate() {
            byte.write(u8::try_from(index % 251).expect("below 251"));
        }
        // SAFETY: within the buffer, whose bytes are all initialised.
        unsafe { buffer.set_len(100) };
        assert_eq!(buffer.as_init().len(), 4096, "the whole stays");
        assert_eq!(buffer.as_init()[252], 1);
        assert_eq!(buffer.slice(512..1024).as_init()[0], 10);
    }

    #[test]
    fn compio_sees_all_of_a_buffer() {
        is_lent_whole(AlignedBuffer::new(4096, 4096).expect("4 KiB"));
        let pool = BufferPool::new(1, 4096, 4096).expect("4 KiB").into_shared();
        is_lent_whole(pool.check_out().expect("it is in"));
        assert_eq!(pool.available(), 1);
    }
}
