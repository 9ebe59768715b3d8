//! A log: each record is durable when `append` returns, and what a crash leaves of
//! a record is found out when the log is opened.
//!
//! A record takes whole blocks of its own. So an append is one write that changes
//! no other record, which a device with FUA makes durable without flushing its
//! cache. The space is filled with zeros beforehand, so that neither the length of
//! the file nor its map of blocks has to be made durable with each record.

use std::fs::File;
use std::path::Path;

use directio::{
    AlignmentSource, Direct, DirectAlignment, Durability, Error, FileLock, LockKind, OpenOptions,
    Patience, read_full_at, sync_all, sync_name, write_all_at, write_all_at_durable,
};

/// By how much the file is made longer when it is full, in bytes.
const GROWTH: usize = 1 << 20;

/// What a record takes at least, in bytes: the largest sector of disks, so that the
/// log can be moved to any other.
const BLOCK: u32 = 4096;

/// Length (4 bytes), 4 zeros, number (8), checksum (8); little-endian.
const HEADER: usize = 24;

/// An open log, which nobody else has open.
pub(crate) struct Log {
    file: FileLock,
    rule: DirectAlignment,
    /// Where the next record goes.
    end: u64,
    /// The next record's number.
    number: u64,
    /// How long the file is.
    length: u64,
}

impl Log {
    /// Opens or makes a log; its records, in their order.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<Vec<u8>>), Error> {
        let options = OpenOptions::new().read(true).write(true).create(true);
        let opened = options.direct(Direct::IfPossible).open(path)?;
        let blocks = DirectAlignment::new(1, BLOCK, BLOCK, AlignmentSource::NoRule)?;
        let rule = opened.alignment()?.union(&blocks);
        let file = FileLock::acquire(opened.file, LockKind::Exclusive, Patience::Fail)?;
        // It may be new: then no record is durable before its name is.
        sync_name(path)?;
        let mut log = Self {
            length: length_of(&file, &rule),
            file,
            rule,
            end: 0,
            number: 0,
        };
        let records = log.recover()?;
        Ok((log, records))
    }

    /// Appends a record, and returns when it is durable.
    pub(crate) fn append(&mut self, record: &[u8]) -> Result<(), Error> {
        // Zeroed, and rounded up to whole blocks.
        let mut blocks = self.rule.buffer(HEADER + record.len())?;
        let length = u32::try_from(record.len()).expect("a record is below 4 GiB");
        blocks[..4].copy_from_slice(&length.to_le_bytes());
        blocks[8..16].copy_from_slice(&self.number.to_le_bytes());
        blocks[HEADER..HEADER + record.len()].copy_from_slice(record);
        let sum = checksum(self.number, record);
        blocks[16..HEADER].copy_from_slice(&sum.to_le_bytes());

        self.make_room(blocks.len() as u64)?;
        write_all_at_durable(&self.file, &blocks, self.end, Durability::Data)?;
        self.end += blocks.len() as u64;
        self.number += 1;
        Ok(())
    }

    /// Reads all records, up to the first that is not whole: there a crash has
    /// stopped an append, or the log ends.
    fn recover(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let mut records = Vec::new();
        let mut block = self.rule.buffer(HEADER)?;
        while read_full_at(&self.file, &mut block, self.end)? == block.len() {
            let field = |from| u64::from_le_bytes(block[from..from + 8].try_into().expect("8"));
            let (length, number, sum) = (field(0), field(8), field(16));
            if number != self.number || length > self.length - self.end {
                break;
            }
            // At most the file's length, which has been read into memory before.
            let mut blocks = self.rule.buffer(HEADER + length as usize)?;
            if read_full_at(&self.file, &mut blocks, self.end)? < blocks.len() {
                break;
            }
            let record = &blocks[HEADER..HEADER + length as usize];
            if checksum(number, record) != sum {
                break;
            }
            records.push(record.to_vec());
            self.end += blocks.len() as u64;
            self.number += 1;
        }
        Ok(records)
    }

    /// Makes the file long enough, and writes it: space that is only reserved has
    /// to be marked as written with the first write into it.
    fn make_room(&mut self, bytes: u64) -> Result<(), Error> {
        if self.end + bytes <= self.length {
            return Ok(());
        }
        let zeros = self.rule.buffer(GROWTH.max(bytes as usize))?;
        write_all_at(&self.file, &zeros, self.length)?;
        sync_all(&self.file)?;
        self.length += zeros.len() as u64;
        Ok(())
    }
}

/// The length of the file in whole blocks.
fn length_of(file: &File, rule: &DirectAlignment) -> u64 {
    let metadata = file.metadata().expect("an open file tells its length");
    rule.round_down(metadata.len())
}

/// FNV-1a over number, length and record. It tells a record from what is left of
/// one; a log that is kept for long takes CRC-32C.
fn checksum(number: u64, record: &[u8]) -> u64 {
    let head = [number.to_le_bytes(), (record.len() as u64).to_le_bytes()].concat();
    let all = head.iter().chain(record);
    all.fold(0xcbf2_9ce4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
