//! Trace events of the block layer, as the kernel's source has them
//! (`include/trace/events/block.h`, `blk_fill_rwbs` in `kernel/trace/blktrace.c`).

use crate::parse::trace::format::{EventFormat, Field};
use crate::trace::{Event, TraceError};
use diskfacts_record::evidence::RequestKind;

/// What happened to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It was made (`block_io_start`).
    Start,
    /// It was put into a queue (`block_rq_insert`).
    Insert,
    /// It was given to the device (`block_rq_issue`).
    Issue,
    /// All or a part of it is done (`block_rq_complete`).
    Complete,
    /// It was joined to another one (`block_rq_merge`).
    Merge,
    /// It came back from the device (`block_rq_requeue`).
    Requeue,
    /// An I/O was joined to the end of a waiting request (`block_bio_backmerge`).
    BackMerge,
    /// An I/O was joined to its start (`block_bio_frontmerge`).
    FrontMerge,
}

impl Step {
    /// The event that tells of it.
    pub fn event(self) -> &'static str {
        match self {
            Self::Start => "block/block_io_start",
            Self::Insert => "block/block_rq_insert",
            Self::Issue => "block/block_rq_issue",
            Self::Complete => "block/block_rq_complete",
            Self::Merge => "block/block_rq_merge",
            Self::Requeue => "block/block_rq_requeue",
            Self::BackMerge => "block/block_bio_backmerge",
            Self::FrontMerge => "block/block_bio_frontmerge",
        }
    }

    /// Whether it names the device that the I/O was for, which may be a partition;
    /// requests always name the whole disk. The sector is the disk's in both.
    pub fn is_of_bio(self) -> bool {
        matches!(self, Self::BackMerge | Self::FrontMerge)
    }
}

/// An event of the block layer.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags of a request are independent of one another"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestEvent {
    /// What happened.
    pub step: Step,
    /// Number of the device, as of [`device_number`](crate::trace::device_number).
    pub device: u64,
    /// What it asks for.
    pub kind: RequestKind,
    /// First sector of 512 bytes, of the whole disk.
    pub sector: u64,
    /// Sectors; of a completion, those that are done.
    pub sectors: u64,
    /// For data that nobody asked for yet.
    pub readahead: bool,
    /// Of a filesystem's own structures.
    pub metadata: bool,
    /// It came with a flush, so that it is done in several steps.
    pub flushes: bool,
    /// It failed; of a completion.
    pub failed: bool,
    /// The thread in which it happened; of a worker of `io_uring`, the thread that it works for.
    pub thread: u32,
}

/// Where the fields of one event lie.
#[derive(Debug, Clone, Copy)]
struct Fields {
    id: u16,
    step: Step,
    device: Field,
    sector: Field,
    sectors: Field,
    flags: Field,
    error: Option<Field>,
    thread: Field,
    /// Name of the thread, of the events that have it.
    thread_name: Option<Field>,
}

/// Understands the events that it was told of.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    known: Vec<Fields>,
}

impl Decoder {
    /// From here on understands the events of this form.
    ///
    /// # Errors
    /// When it lacks a field.
    pub fn add(&mut self, step: Step, format: &EventFormat) -> Result<(), TraceError> {
        let error = match step {
            // `error` since Linux 4.13, `errors` before.
            Step::Complete => Some(
                format
                    .field("errors")
                    .map_or_else(|| format.required("error"), Ok)?,
            ),
            _ => None,
        };
        self.known.push(Fields {
            id: format.id,
            step,
            device: format.required("dev")?,
            sector: format.required("sector")?,
            sectors: format.required("nr_sector")?,
            flags: format.required("rwbs")?,
            error,
            thread: format.required("common_pid")?,
            thread_name: format.field("comm"),
        });
        Ok(())
    }

    /// What an event says; `None` of one that it was not told of, or that is shorter
    /// than its form.
    #[inline]
    pub fn decode(&self, event: &Event<'_>) -> Option<RequestEvent> {
        let id = event.id()?;
        let fields = self.known.iter().find(|fields| fields.id == id)?;
        let sectors = fields.sectors.unsigned(event.data)?;
        let flags = fields.flags.text(event.data)?;
        let error = fields
            .error
            .map_or(Some(0), |field| field.integer(event.data))?;
        let kind = kind(flags, sectors);
        let sector = fields.sector.unsigned(event.data)?;
        Some(RequestEvent {
            step: fields.step,
            device: fields.device.unsigned(event.data)?,
            kind,
            // A flush lies nowhere: 0 when it is issued, the largest number when done.
            sector: if kind == RequestKind::Flush {
                0
            } else {
                sector
            },
            sectors,
            readahead: flags.contains(&b'A') && !flags.contains(&b'Z'),
            metadata: flags.contains(&b'M'),
            flushes: flags.contains(&b'F'),
            failed: error != 0,
            thread: fields.thread(event)?,
        })
    }
}

impl Fields {
    #[inline]
    fn thread(&self, event: &Event<'_>) -> Option<u32> {
        let name = self.thread_name.and_then(|field| field.text(event.data));
        let thread = u32::try_from(self.thread.unsigned(event.data)?).ok()?;
        Some(name.and_then(works_for).unwrap_or(thread))
    }
}

/// The thread whose `io_uring` a thread of this name serves (kernel, `io_uring/io-wq.c`:
/// `iou-wrk-PID`).
fn works_for(name: &[u8]) -> Option<u32> {
    let number = name.strip_prefix(b"iou-wrk-")?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// What the letters ask for. `F` at the start is a flush before; behind the operation
/// it forces the data through the cache.
fn kind(flags: &[u8], sectors: u64) -> RequestKind {
    match flags {
        // A write of nothing is all that a flush is to the one who asks for it. When it is
        // done, it has lost its `F` (`blk_insert_flush` in block/blk-flush.c).
        [b'F' | b'W', ..] if sectors == 0 => RequestKind::Flush,
        [b'F', rest @ ..] => kind(rest, sectors),
        [b'R', ..] => RequestKind::Read,
        // Zeros are written without data.
        [b'W', b'Z', ..] => RequestKind::Other,
        [b'W', ..] => RequestKind::Write,
        [b'D', ..] => RequestKind::Discard,
        _ => RequestKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_of_io_uring_is_named_after_the_thread_that_it_works_for() {
        for (name, thread) in [
            ("iou-wrk-4711", Some(4711)),
            ("iou-wrk-", None),
            ("iou-sqp-4711", None),
            ("iou-wrk-47x", None),
            ("stream-0", None),
        ] {
            assert_eq!(works_for(name.as_bytes()), thread, "{name}");
        }
    }

    #[test]
    fn the_letters_of_the_kernel_are_understood() {
        for (flags, sectors, expected) in [
            ("R", 8, RequestKind::Read),
            ("RA", 8, RequestKind::Read),
            ("RSM", 8, RequestKind::Read),
            ("WS", 8, RequestKind::Write),
            ("WFS", 8, RequestKind::Write),
            ("FWFS", 8, RequestKind::Write),
            ("FWS", 0, RequestKind::Flush),
            ("WS", 0, RequestKind::Flush),
            ("FF", 0, RequestKind::Flush),
            ("D", 8, RequestKind::Discard),
            ("DE", 8, RequestKind::Discard),
            ("WZ", 8, RequestKind::Other),
            ("ZA", 8, RequestKind::Other),
            ("N", 0, RequestKind::Other),
            ("", 8, RequestKind::Other),
        ] {
            assert_eq!(kind(flags.as_bytes(), sectors), expected, "{flags}");
        }
    }
}
