//! What one transfer is asked for beyond its bytes (`RWF_*` of preadv2(2)).

use std::fs::File;
use std::io::{self, ErrorKind};

use super::{CALL_MAX, Transfer, explain, read_one, within_range, write_one};
use crate::as_file::{AsFile, lend};
use crate::error::Subject;
use crate::{Durability, Error, atomic_write_limits, os};

/// What one transfer is asked for. Nothing, unless it is said.
///
/// Only Linux knows these, but for [`durability`](Self::durability).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransferFlags {
    pub(crate) no_wait: bool,
    pub(crate) high_priority: bool,
    pub(crate) atomic: bool,
    pub(crate) durability: Durability,
}

impl TransferFlags {
    /// Nothing is asked for.
    pub fn new() -> Self {
        Self::default()
    }

    /// Fails with `WouldBlock` where the transfer would have to wait for
    /// something else than the device: a lock of the file, blocks to be found or
    /// allocated, a full queue (`RWF_NOWAIT`, Linux 4.14). So that a thread that
    /// serves many files tries, and leaves to others what would hold it up.
    #[must_use]
    pub fn no_wait(mut self, no_wait: bool) -> Self {
        self.no_wait = no_wait;
        self
    }

    /// Waits for the device by asking it, in place of sleeping until it interrupts
    /// (`RWF_HIPRI`, Linux 4.6), for files that are open for direct I/O: a shorter
    /// latency, paid for with a processor. Where the driver has no queues for it
    /// (`nvme.poll_queues`) it is an ordinary transfer.
    #[must_use]
    pub fn high_priority(mut self, high_priority: bool) -> Self {
        self.high_priority = high_priority;
        self
    }

    /// Writes all of it or nothing, also when the power fails (`RWF_ATOMIC`, Linux
    /// 6.11), within the limits of [`atomic_write_limits`]. It is not durable by
    /// that.
    #[must_use]
    pub fn atomic(mut self, atomic: bool) -> Self {
        self.atomic = atomic;
        self
    }

    /// Returns when what was written is as durable as that, as
    /// [`write_at_durable`](crate::write_at_durable) does.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Whether something is asked for that only Linux knows.
    fn needs_linux(self) -> bool {
        self.no_wait || self.high_priority || self.atomic
    }

    /// In the words of preadv2(2).
    fn names(self) -> String {
        let all = [
            (self.no_wait, "RWF_NOWAIT"),
            (self.high_priority, "RWF_HIPRI"),
            (self.atomic, "RWF_ATOMIC"),
            (self.durability == Durability::Data, "RWF_DSYNC"),
            (self.durability == Durability::Full, "RWF_SYNC"),
        ];
        let set = all.iter().filter(|(set, _)| *set).map(|(_, name)| *name);
        set.collect::<Vec<_>>().join("|")
    }
}

/// As [`read_at`](crate::read_at), with what `flags` ask for.
///
/// # Errors
/// As [`read_at`](crate::read_at); `WouldBlock` as
/// [`no_wait`](TransferFlags::no_wait) says; [`Error::Unsupported`] where the
/// system, the filesystem or the device does not know a flag; invalid input when a
/// flag is for writes.
pub fn read_at_with(
    file: &impl AsFile,
    buffer: &mut [u8],
    offset: u64,
    flags: TransferFlags,
) -> Result<usize, Error> {
    let file = &*lend(file);
    let memory = (buffer.as_ptr().addr(), buffer.len());
    if flags.atomic || flags.durability != Durability::None {
        return Err(Error::os(
            Transfer::Read.of(buffer.len(), offset),
            Subject::of(file),
            ErrorKind::InvalidInput,
            Some("atomic and durability are for writes".to_owned()),
        ));
    }
    if !flags.needs_linux() {
        return read_one(file, buffer, offset);
    }
    let part = &mut buffer[..memory.1.min(CALL_MAX)];
    within_range(offset)
        .and_then(|()| os::read_at_with(file, part, offset, flags))
        .map_err(|error| explain_flags(file, Transfer::Read, memory, offset, flags, error))
}

/// As [`write_at`](crate::write_at), with what `flags` ask for.
///
/// # Errors
/// As [`read_at_with`] and [`write_at`](crate::write_at).
pub fn write_at_with(
    file: &impl AsFile,
    buffer: &[u8],
    offset: u64,
    flags: TransferFlags,
) -> Result<usize, Error> {
    let file = &*lend(file);
    if !flags.needs_linux() {
        return write_one(file, buffer, offset, flags.durability);
    }
    // A part of it would not be all or nothing.
    let part = if flags.atomic {
        buffer
    } else {
        &buffer[..buffer.len().min(CALL_MAX)]
    };
    within_range(offset)
        .and_then(|()| os::write_at_with(file, part, offset, flags))
        .map_err(|error| {
            let memory = (buffer.as_ptr().addr(), buffer.len());
            explain_flags(file, Transfer::Write, memory, offset, flags, error)
        })
}

fn explain_flags(
    file: &File,
    transfer: Transfer,
    (address, length): (usize, usize),
    offset: u64,
    flags: TransferFlags,
    source: io::Error,
) -> Error {
    let operation = || format!("{} with {}", transfer.of(length, offset), flags.names());
    match os::kind_of(&source) {
        ErrorKind::WouldBlock if flags.no_wait => Error::os(
            operation(),
            Subject::of(file),
            source,
            Some("it would have to wait; do it where it may, without no_wait".to_owned()),
        ),
        ErrorKind::Unsupported => Error::unsupported(
            operation(),
            Subject::of(file),
            "the system, the filesystem or the device does not know it; leave the flags out",
        ),
        _ if flags.atomic && os::is_invalid_argument(&source) => {
            let why = match atomic_write_limits(file) {
                Ok(limits) => limits.explain(length, offset),
                Err(error) => error.hint().map(str::to_owned),
            };
            match why {
                Some(why) => Error::os(operation(), Subject::of(file), source, Some(why)),
                None => explain(file, transfer, address, length, offset, source),
            }
        }
        _ => explain(file, transfer, address, length, offset, source),
    }
}
