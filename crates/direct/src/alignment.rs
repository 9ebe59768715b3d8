//! What direct I/O asks of the address, the length and the offset of a
//! transfer.

use crate::as_file::{AsFile, lend};
use crate::buffer::{ALIGNMENT_MAX, ALIGNMENT_MIN, AlignedBuffer, BufferError};
use crate::{Error, os};

/// What direct I/O on one file asks for, in bytes; each is a power of 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectAlignment {
    /// In [1, `ALIGNMENT_MAX`], a power of 2.
    memory: u32,
    /// In [1, 2^31], a power of 2.
    offset: u32,
    /// In [1, 2^31], a power of 2.
    length: u32,
    source: AlignmentSource,
}

/// Who says what direct I/O asks for, the surest first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AlignmentSource {
    /// The kernel, for this very file: `statx` with `STATX_DIOALIGN` (Linux
    /// 6.1 and later), or `FileAlignmentInfo` and `FileStorageInfo` (Windows).
    Kernel,
    /// The logical sector of the device, or of the device under the file,
    /// which satisfies every kernel.
    LogicalSector,
    /// The system has no such rule: it serves misaligned transfers too, if
    /// need be through its cache (macOS files).
    NoRule,
    /// No one: the numbers are a memory page, which satisfies every filesystem
    /// known to ask for less. The text says why nothing better could be found.
    Assumed(String),
}

impl AlignmentSource {
    /// Of two, the one that a rule made of both rests on.
    fn or_less_sure<'a>(&'a self, other: &'a Self) -> &'a Self {
        let doubt = |source: &Self| match source {
            // It asks for nothing, so the other one's rule is all of it.
            Self::NoRule => 0,
            Self::Kernel => 1,
            Self::LogicalSector => 2,
            Self::Assumed(_) => 3,
        };
        if doubt(other) > doubt(self) {
            other
        } else {
            self
        }
    }
}

impl DirectAlignment {
    /// A rule from elsewhere, in bytes; [`direct_alignment`] asks for a file's
    /// own.
    ///
    /// # Errors
    /// [`BufferError::AlignmentZero`], [`BufferError::AlignmentNotPowerOfTwo`],
    /// and [`BufferError::AlignmentTooLarge`] for a `memory` above
    /// [`ALIGNMENT_MAX`], at which no buffer can lie.
    pub fn new(
        memory: u32,
        offset: u32,
        length: u32,
        source: AlignmentSource,
    ) -> Result<Self, Error> {
        for alignment in [memory, offset, length].map(|bytes| bytes as usize) {
            if alignment == 0 {
                return Err(BufferError::AlignmentZero.into());
            }
            if !alignment.is_power_of_two() {
                return Err(BufferError::AlignmentNotPowerOfTwo { alignment }.into());
            }
        }
        if memory as usize > ALIGNMENT_MAX {
            let alignment = memory as usize;
            return Err(BufferError::AlignmentTooLarge { alignment }.into());
        }
        Ok(Self {
            memory,
            offset,
            length,
            source,
        })
    }

    /// The rule of a file that takes anything.
    pub(crate) fn none() -> Self {
        Self {
            memory: 1,
            offset: 1,
            length: 1,
            source: AlignmentSource::NoRule,
        }
    }

    /// What the address of the memory must be a multiple of.
    pub fn memory(&self) -> u32 {
        self.memory
    }

    /// What the offset in the file must be a multiple of.
    pub fn offset(&self) -> u32 {
        self.offset
    }

    /// What the length must be a multiple of.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Who says so.
    pub fn source(&self) -> &AlignmentSource {
        &self.source
    }

    /// What a transfer may be cut at: the largest of the three, and so a
    /// multiple of each. Of an aligned transfer, what begins a multiple of this
    /// behind its start is aligned too, in memory as in the file.
    pub fn step(&self) -> u32 {
        self.memory.max(self.offset).max(self.length)
    }

    /// The first multiple of [`step`](Self::step) that is not below `bytes`;
    /// `None` when it is beyond 64 bits.
    ///
    /// ```
    /// # use directio::{AlignmentSource, DirectAlignment};
    /// let rule = DirectAlignment::new(4, 512, 512, AlignmentSource::Kernel)?;
    /// assert_eq!(rule.round_up(1000), Some(1024));
    /// assert_eq!(rule.round_down(1000), 512);
    /// # Ok::<(), directio::Error>(())
    /// ```
    pub fn round_up(&self, bytes: u64) -> Option<u64> {
        bytes.checked_next_multiple_of(u64::from(self.step()))
    }

    /// The last multiple of [`step`](Self::step) that is not above `bytes`.
    pub fn round_down(&self, bytes: u64) -> u64 {
        bytes - bytes % u64::from(self.step())
    }

    /// The rule that satisfies both: for memory that is read from one file and
    /// written to the other. Its source is the less sure of the two.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            memory: self.memory.max(other.memory),
            offset: self.offset.max(other.offset),
            length: self.length.max(other.length),
            source: self.source.or_less_sure(&other.source).clone(),
        }
    }

    /// A buffer for direct I/O on this file: `size` bytes, rounded up to what
    /// a length must be, at an address as it must be.
    ///
    /// # Errors
    /// As [`AlignedBuffer::new`].
    pub fn buffer(&self, size: usize) -> Result<AlignedBuffer, Error> {
        let size = size
            .checked_next_multiple_of(self.length as usize)
            .ok_or(BufferError::SizeTooLarge { size })?;
        AlignedBuffer::new(size, (self.memory as usize).max(ALIGNMENT_MIN))
    }
}

/// What direct I/O on this open file asks for.
///
/// A system may let some transfers pass that break the rule: Linux 6.18, for
/// one, does not look at the address of a transfer within one page of memory.
/// Obey the rule all the same; the next kernel or device may look.
///
/// # Errors
/// [`Error::Unsupported`] when the system says that this file cannot be read
/// or written directly, or when it is neither a regular file nor a block
/// device.
pub fn direct_alignment(file: &impl AsFile) -> Result<DirectAlignment, Error> {
    os::direct_alignment(&lend(file))
}

/// Says which of `address`, `length` and `offset` breaks the rule, and what
/// would be right; `None` when all three are right.
///
/// ```
/// use directio::{AlignmentSource, DirectAlignment, explain_misalignment};
///
/// let rule = DirectAlignment::new(4, 512, 512, AlignmentSource::Kernel)?;
/// assert_eq!(explain_misalignment(0x1000, 1024, 512, &rule), None);
/// assert_eq!(
///     explain_misalignment(0x1000, 1000, 512, &rule).as_deref(),
///     Some("direct I/O here needs a length that is a multiple of 512: 1000 is not, 512 and 1024 are")
/// );
/// # Ok::<(), directio::Error>(())
/// ```
pub fn explain_misalignment(
    address: usize,
    length: usize,
    offset: u64,
    rule: &DirectAlignment,
) -> Option<String> {
    let wrong: Vec<String> = [
        fault("address", address as u64, rule.memory, Form::Hexadecimal),
        fault("length", length as u64, rule.length, Form::Decimal),
        fault("offset", offset, rule.offset, Form::Decimal),
    ]
    .into_iter()
    .flatten()
    .collect();
    if wrong.is_empty() {
        None
    } else {
        Some(format!("direct I/O here needs {}", wrong.join("; and ")))
    }
}

#[derive(Clone, Copy)]
enum Form {
    Decimal,
    Hexadecimal,
}

/// What is wrong with one value, and its two right neighbours.
fn fault(name: &str, value: u64, multiple: u32, form: Form) -> Option<String> {
    let multiple = u64::from(multiple);
    if value % multiple == 0 {
        return None;
    }
    let show = |number: u64| match form {
        Form::Decimal => number.to_string(),
        Form::Hexadecimal => format!("{number:#x}"),
    };
    let below = value - value % multiple;
    let article = if name == "length" { "a" } else { "an" };
    // A length of 0 would transfer nothing, so it is no advice.
    let right = match (name == "length" && below == 0, below.checked_add(multiple)) {
        (true, Some(above)) => format!("{} is", show(above)),
        (false, Some(above)) => format!("{} and {} are", show(below), show(above)),
        (_, None) => format!("{} is", show(below)),
    };
    Some(format!(
        "{article} {name} that is a multiple of {multiple}: {} is not, {right}",
        show(value)
    ))
}
