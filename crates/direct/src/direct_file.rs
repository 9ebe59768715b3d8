//! Any byte of a file that is open for direct I/O: what does not fill whole
//! blocks goes through a buffer of this module's.

use std::fs::File;
use std::sync::{PoisonError, RwLock};

use crate::as_file::lends_its_file;
use crate::space::length;
use crate::transfer::{all_was_read, read_full, sync, write_all};
use crate::{AlignedBuffer, BufferError, DirectAlignment, Durability, Error, Opened};

/// How much is moved at a time through a buffer of our own, in bytes.
const CHUNK: usize = 256 << 10;

/// A file that is read and written directly, at any offset, in any length and
/// from any memory.
///
/// What is aligned goes straight between the device and the caller's memory.
/// The rest, at most one block at either end where the caller's memory is
/// aligned, goes through a buffer: a read fetches the whole blocks, and a write
/// fetches them, changes its part and writes them back.
///
/// The end of a file need not be the end of a block. A write that ends there is
/// written as a whole block with zeros behind it, and then the file is cut to
/// its length.
///
/// Where direct I/O was not granted everything goes through the page cache as
/// it is.
///
/// ```
/// use directio::{Direct, DirectFile, Durability, OpenOptions};
///
/// let path = std::env::temp_dir().join(format!("directio-bytes-{}", std::process::id()));
/// let options = OpenOptions::new().read(true).write(true).create(true);
/// let file = DirectFile::new(options.direct(Direct::IfPossible).open(&path)?)?;
/// file.write_all_at(b"a length that is no multiple of anything", 0)?;
/// file.write_all_at_durable(b"LENGTH", 2, Durability::Data)?;
/// let mut back = [0; 100];
/// assert_eq!(file.read_at(&mut back, 0)?, 40);
/// assert_eq!(&back[..40], b"a LENGTH that is no multiple of anything");
/// # std::fs::remove_file(&path).expect("it was just made");
/// # Ok::<(), directio::Error>(())
/// ```
///
/// # What it promises, and what not
/// * Bytes outside of the range keep their values, and the file its length, also
///   when many threads write through one `DirectFile`: writes that do not fill
///   whole blocks exclude all others.
/// * Against other open files of the same path, in this process or another,
///   there is no such lock. Two of them that write to one block at a time may
///   undo each other's part, and one that looks at the length while the last
///   block is written may see it rounded up. Open it
///   [exclusively](crate::OpenOptions::exclusive), or have all take
///   [`lock_file`](crate::lock_file).
/// * No write is atomic, neither for a reader, who may see zeros behind the end of
///   the file meanwhile, nor in a crash. A crash may leave a part of it; and a file
///   that was longer than before may have zeros behind it up to the end of the
///   block. Keep the length elsewhere, or a checksum in the data, if that matters. A
///   single aligned block is as atomic as the device makes it;
///   [`TransferFlags::atomic`](crate::TransferFlags::atomic) asks for more.
/// * After an error any part may have been written.
#[derive(Debug)]
pub struct DirectFile {
    file: File,
    rule: DirectAlignment,
    /// What the file was opened for: each write must promise it.
    durability: Durability,
    /// Held alone by a write that changes a part of a block, or the length; shared
    /// by writes of whole blocks.
    blocks: RwLock<()>,
}

/// How a transfer is divided: bytes through our buffer, straight ones, and bytes
/// through our buffer again.
#[derive(Debug, PartialEq, Eq)]
struct Parts {
    head: usize,
    middle: usize,
    tail: usize,
}

lends_its_file!(DirectFile, |direct| &direct.file);

impl DirectFile {
    /// Takes over an open file.
    ///
    /// # Errors
    /// As [`direct_alignment`](crate::direct_alignment).
    pub fn new(opened: Opened) -> Result<Self, Error> {
        Ok(Self {
            rule: opened.alignment()?,
            file: opened.file,
            durability: opened.granted.durability,
            blocks: RwLock::new(()),
        })
    }

    /// What transfers go straight: those that obey this rule.
    pub fn alignment(&self) -> &DirectAlignment {
        &self.rule
    }

    /// The open file. What is written to it itself must be aligned.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The open file, for the caller to keep.
    pub fn into_file(self) -> File {
        self.file
    }

    /// Reads from byte `offset` until `buffer` is full or the file ends; the
    /// bytes read.
    ///
    /// # Errors
    /// As [`read_at`](crate::read_at); no memory for a buffer.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, Error> {
        let parts = self.parts(buffer, offset);
        let (head, rest) = buffer.split_at_mut(parts.head);
        let (middle, tail) = rest.split_at_mut(parts.middle);
        let mut done = self.read_through(head, offset)?;
        if done == head.len() && !middle.is_empty() {
            done += read_full(&self.file, middle, offset + done as u64)?;
        }
        if done == parts.head + parts.middle {
            done += self.read_through(tail, offset + done as u64)?;
        }
        Ok(done)
    }

    /// Fills `buffer` from byte `offset` of the file.
    ///
    /// # Errors
    /// As [`read_at`](Self::read_at), and `UnexpectedEof` where the file ends
    /// before the buffer does.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        let read = self.read_at(buffer, offset)?;
        all_was_read(&self.file, read, buffer.len(), offset)
    }

    /// Writes all of `bytes` at byte `offset` of the file.
    ///
    /// # Errors
    /// As [`write_all_at`](crate::write_all_at), and as
    /// [`read_at`](crate::read_at) where a block has to be read first: open the
    /// file for reading, too. No memory for a buffer.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        self.write_all_at_durable(bytes, offset, Durability::None)
    }

    /// As [`write_all_at`](Self::write_all_at), and returns when all of it is as
    /// durable as `durability` says, the length of the file included.
    ///
    /// # Errors
    /// As [`write_all_at`](Self::write_all_at), and as
    /// [`sync_data`](crate::sync_data).
    pub fn write_all_at_durable(
        &self,
        bytes: &[u8],
        offset: u64,
        durability: Durability,
    ) -> Result<(), Error> {
        let parts = self.parts(bytes, offset);
        if parts.middle == bytes.len() {
            let _shared = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
            return write_all(&self.file, bytes, offset, durability);
        }
        let _alone = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        let before = length(&self.file)?;
        let end = Ends::new(&self.rule, before, offset, bytes.len())?;
        let (head, rest) = bytes.split_at(parts.head);
        let (middle, tail) = rest.split_at(parts.middle);
        // One write can be durable by itself; several, or one whose padding is cut
        // off again, are brought down together.
        let pieces = [head, middle, tail].map(|part| usize::from(!part.is_empty()));
        let at_once = pieces.iter().sum::<usize>() == 1 && !end.is_padded();
        let each = if at_once {
            durability
        } else {
            Durability::None
        };
        let mut at = offset;
        self.write_through(head, at, before, each)?;
        at += head.len() as u64;
        write_all(&self.file, middle, at, each)?;
        at += middle.len() as u64;
        self.write_through(tail, at, before, each)?;
        if at_once {
            return Ok(());
        }
        // Another one may have made the file longer meanwhile, and keeps it.
        if end.is_padded() && length(&self.file)? == Some(end.of_block) {
            crate::set_len(&self.file, end.of_file)?;
            // The length is not made durable by the flags of the open file.
            return sync(&self.file, durability.max(self.durability));
        }
        sync(&self.file, durability)
    }

    /// Sets the length of the file in bytes, which need not be a multiple of
    /// anything: cuts it, or has zeros read behind its end.
    ///
    /// # Errors
    /// As [`set_len`](crate::set_len).
    pub fn set_len(&self, length: u64) -> Result<(), Error> {
        let _alone = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        crate::set_len(&self.file, length)
    }

    fn parts(&self, bytes: &[u8], offset: u64) -> Parts {
        divide(&self.rule, bytes.as_ptr().addr(), bytes.len(), offset)
    }

    /// A buffer for `bytes` and what is around them in their blocks.
    fn buffer_for(&self, bytes: usize) -> Result<AlignedBuffer, Error> {
        let step = self.rule.step() as usize;
        // The blocks at both ends, at most.
        self.rule
            .buffer(bytes.saturating_add(2 * step).min(CHUNK.max(2 * step)))
    }

    /// Reads into memory or at an offset of any kind; the bytes read.
    fn read_through(&self, bytes: &mut [u8], offset: u64) -> Result<usize, Error> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let mut blocks = self.buffer_for(bytes.len())?;
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let (start, skip, length) = self.span(at, bytes.len() - done, blocks.len());
            let read = read_full(&self.file, &mut blocks[..length], start)?;
            let count = read.saturating_sub(skip).min(bytes.len() - done);
            bytes[done..done + count].copy_from_slice(&blocks[skip..skip + count]);
            done += count;
            if read < length {
                break;
            }
        }
        Ok(done)
    }

    /// Writes from memory or at an offset of any kind, in whole blocks, into a
    /// file that was `before` bytes long.
    fn write_through(
        &self,
        bytes: &[u8],
        offset: u64,
        before: Option<u64>,
        durability: Durability,
    ) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        let step = self.rule.step() as usize;
        let mut blocks = self.buffer_for(bytes.len())?;
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let (start, skip, length) = self.span(at, bytes.len() - done, blocks.len());
            let count = (length - skip).min(bytes.len() - done);
            let filled = skip + count;
            // The first block and the last, where they are not overwritten whole.
            if skip > 0 || filled < step {
                self.read_block(&mut blocks[..step], start, before)?;
            }
            if filled < length && length > step {
                let last = length - step;
                self.read_block(&mut blocks[last..length], start + last as u64, before)?;
            }
            blocks[skip..filled].copy_from_slice(&bytes[done..done + count]);
            write_all(&self.file, &blocks[..length], start, durability)?;
            done += count;
        }
        Ok(())
    }

    /// The blocks that hold `length` bytes from `offset` on, as far as they fit
    /// into `room` bytes: where they start, how far into them `offset` lies, and
    /// their length.
    fn span(&self, offset: u64, length: usize, room: usize) -> (u64, usize, usize) {
        let start = self.rule.round_down(offset);
        // Below one step, which is 32 bits.
        let skip = (offset - start) as usize;
        let step = self.rule.step() as usize;
        let length = (skip + length).next_multiple_of(step);
        (start, skip, length.min(room - room % step))
    }

    /// Reads one block of a file that was `before` bytes long; what lies beyond
    /// its end is zero, and is not read: a file that only gets longer need not be
    /// open for reading.
    fn read_block(&self, block: &mut [u8], offset: u64, before: Option<u64>) -> Result<(), Error> {
        let read = if before.is_some_and(|length| offset >= length) {
            0
        } else {
            read_full(&self.file, block, offset)?
        };
        block[read..].fill(0);
        Ok(())
    }
}

/// Where a write leaves the end of a file.
struct Ends {
    /// What it is to be.
    of_file: u64,
    /// What the write of whole blocks makes it.
    of_block: u64,
}

impl Ends {
    fn new(
        rule: &DirectAlignment,
        before: Option<u64>,
        offset: u64,
        length: usize,
    ) -> Result<Self, Error> {
        let beyond = || Error::from(BufferError::SizeTooLarge { size: length });
        let end = offset.checked_add(length as u64).ok_or_else(beyond)?;
        let block = rule.round_up(end).ok_or_else(beyond)?;
        // A device keeps its length, whatever is written.
        Ok(before.map_or(
            Self {
                of_file: block,
                of_block: block,
            },
            |before| Self {
                of_file: before.max(end),
                of_block: before.max(block),
            },
        ))
    }

    fn is_padded(&self) -> bool {
        self.of_block > self.of_file
    }
}

/// Divides a transfer so that the middle obeys the rule; where no part of the
/// memory does, all of it goes through our buffer.
fn divide(rule: &DirectAlignment, address: usize, length: usize, offset: u64) -> Parts {
    let through = Parts {
        head: length,
        middle: 0,
        tail: 0,
    };
    let step = u64::from(rule.step());
    // Below one step, which is 32 bits.
    let head = ((step - offset % step) % step) as usize;
    if head >= length || (address + head) % rule.memory() as usize != 0 {
        return through;
    }
    let tail = (length - head) % step as usize;
    Parts {
        head,
        middle: length - head - tail,
        tail,
    }
}

#[cfg(test)]
mod tests {
    use super::{DirectFile, Parts, divide};
    use crate::{AlignmentSource, DirectAlignment, OpenOptions};

    fn parts(head: usize, middle: usize, tail: usize) -> Parts {
        Parts { head, middle, tail }
    }

    #[test]
    fn only_what_is_no_whole_block_leaves_the_straight_way() {
        let rule = DirectAlignment::new(4, 512, 512, AlignmentSource::Kernel).expect("a rule");
        let divided = |address, length, offset| divide(&rule, address, length, offset);
        assert_eq!(divided(0x1000, 2048, 512), parts(0, 2048, 0));
        assert_eq!(divided(0x1000, 2049, 512), parts(0, 2048, 1));
        assert_eq!(divided(0x1000, 2048, 500), parts(12, 1536, 500));
        // The middle's address counts, not the beginning's.
        assert_eq!(divided(0x1002, 2048, 510), parts(2, 1536, 510));
        assert_eq!(divided(0x1001, 2048, 512), parts(2048, 0, 0));
        // Within one block.
        assert_eq!(divided(0x1000, 100, 0), parts(0, 0, 100));
        assert_eq!(divided(0x1000, 100, 1), parts(100, 0, 0));
        assert_eq!(divided(0x1000, 0, 0), parts(0, 0, 0));
        assert_eq!(divided(0x1003, 7, 9), parts(7, 0, 0));
    }

    #[test]
    fn what_pads_a_block_is_zero_whatever_the_buffer_held() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("file");
        std::fs::write(&path, [7; 100]).expect("a new file");
        let opened = OpenOptions::new()
            .read(true)
            .open(&path)
            .expect("it is there");
        let file = DirectFile::new(opened).expect("no rule is needed");
        let mut block = [9; 512];
        file.read_block(&mut block, 0, Some(100))
            .expect("100 bytes");
        assert_eq!(block[..100], [7; 100]);
        assert_eq!(block[100..], [0; 412]);
        block.fill(9);
        file.read_block(&mut block, 512, Some(100)).expect("none");
        assert_eq!(block, [0; 512]);
    }

    #[test]
    fn a_file_without_a_rule_goes_straight() {
        let divided = divide(&DirectAlignment::none(), 0x1003, 77, 9);
        assert_eq!(divided, parts(0, 77, 0));
    }
}
