//! Reading a few bytes of a device, with what went wrong kept aside.

use std::cell::RefCell;
use std::io;
use std::ops::Range;

/// Bytes that can be read by their place: a device, a file, an image in memory.
pub trait ReadAt {
    /// Bytes in all.
    fn size_bytes(&self) -> u64;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// When they cannot be read, or not all of them are there.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

impl ReadAt for &[u8] {
    fn size_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let bytes = usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..start.checked_add(buffer.len())?))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
    fn size_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        (&**self).read_at(offset, buffer)
    }
}

/// A place that could not be read.
#[derive(Debug)]
pub struct Unread {
    /// First byte of it.
    pub offset: u64,
    /// How many.
    pub len: u64,
    /// Why not.
    pub error: io::Error,
}

/// Most places of failure that are kept; more would only repeat the first.
const MAX_UNREAD: usize = 16;

/// What the probes read through. A failure looks like bytes that match nothing,
/// and is kept aside, because what could not be read may be a mark.
pub(super) struct Reader<'a> {
    device: &'a dyn ReadAt,
    unread: RefCell<Vec<Unread>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(device: &'a dyn ReadAt) -> Self {
        Self {
            device,
            unread: RefCell::default(),
        }
    }

    pub(super) fn size(&self) -> u64 {
        self.device.size_bytes()
    }

    /// The bytes from `offset` on; `None` beyond the end of the device.
    pub(super) fn array<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(offset, &mut bytes).then_some(bytes)
    }

    /// The same, of a length that is only known now.
    pub(super) fn bytes(&self, offset: u64, len: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.fill(offset, &mut bytes).then_some(bytes)
    }

    fn fill(&self, offset: u64, buffer: &mut [u8]) -> bool {
        let len = buffer.len() as u64;
        if offset
            .checked_add(len)
            .is_none_or(|end| end > self.device.size_bytes())
        {
            return false;
        }
        match self.device.read_at(offset, buffer) {
            Ok(()) => true,
            Err(error) => {
                let mut unread = self.unread.borrow_mut();
                if unread.len() < MAX_UNREAD {
                    unread.push(Unread { offset, len, error });
                }
                false
            }
        }
    }

    /// Every whole piece of `len` bytes of a part of the device, with its place.
    /// It is read in runs of at most 64 KiB, so that a bad sector hides little.
    pub(super) fn scan(&self, part: Range<u64>, len: usize, mut look: impl FnMut(u64, &[u8])) {
        const RUN_BYTES: u64 = 64 << 10;
        let mut offset = part.start;
        while offset < part.end {
            let run = (part.end - offset).min(RUN_BYTES);
            if let Some(bytes) = self.bytes(offset, run as usize) {
                for (index, piece) in bytes.chunks_exact(len).enumerate() {
                    look(offset + (index * len) as u64, piece);
                }
            }
            offset += run;
        }
    }

    pub(super) fn u16_le(&self, offset: u64) -> Option<u16> {
        self.array(offset).map(u16::from_le_bytes)
    }

    pub(super) fn u32_le(&self, offset: u64) -> Option<u32> {
        self.array(offset).map(u32::from_le_bytes)
    }

    /// A name of at most `len` bytes, ended by a NUL or padded with blanks.
    pub(super) fn name(&self, offset: u64, len: usize) -> Option<String> {
        let bytes = self.bytes(offset, len)?;
        let bytes = bytes.split(|byte| *byte == 0).next()?;
        let name: String = String::from_utf8_lossy(bytes)
            .chars()
            .filter(|character| !character.is_control())
            .collect();
        let name = name.trim();
        (!name.is_empty()).then(|| name.to_owned())
    }

    pub(super) fn into_unread(self) -> Vec<Unread> {
        self.unread.into_inner()
    }
}
