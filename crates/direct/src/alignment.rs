//! What direct I/O asks of the address, the length and the offset of a
//! transfer.

use std::fs::File;

use crate::{AlignedBuffer, Error, buffer, os};

/// What direct I/O on one file asks for, in bytes; each is a power of 2.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DirectAlignment {
    /// What the address of the memory must be a multiple of.
    pub memory: u32,
    /// What the offset in the file must be a multiple of.
    pub offset: u32,
    /// What the length must be a multiple of.
    pub length: u32,
    /// Who says so.
    pub source: AlignmentSource,
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

impl DirectAlignment {
    /// A rule from elsewhere, in bytes; [`direct_alignment`] asks for a file's
    /// own.
    pub fn new(memory: u32, offset: u32, length: u32, source: AlignmentSource) -> Self {
        Self {
            memory,
            offset,
            length,
            source,
        }
    }

    pub(crate) fn uniform(bytes: u32, source: AlignmentSource) -> Self {
        Self::new(bytes, bytes, bytes, source)
    }

    /// A buffer for direct I/O on this file: `size` bytes, rounded up to what
    /// a length must be, at an address as it must be.
    ///
    /// # Errors
    /// As [`AlignedBuffer::new`].
    pub fn buffer(&self, size: usize) -> Result<AlignedBuffer, Error> {
        let size = size
            .checked_next_multiple_of(self.length as usize)
            .ok_or(buffer::BufferError::SizeTooLarge { size })?;
        AlignedBuffer::new(size, (self.memory as usize).max(buffer::ALIGNMENT_MIN))
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
pub fn direct_alignment(file: &File) -> Result<DirectAlignment, Error> {
    os::direct_alignment(file)
}

/// Says which of `address`, `length` and `offset` breaks the rule, and what
/// would be right; `None` when all three are right.
///
/// ```
/// use directio::{AlignmentSource, DirectAlignment, explain_misalignment};
///
/// let rule = DirectAlignment::new(4, 512, 512, AlignmentSource::Kernel);
/// assert_eq!(explain_misalignment(0x1000, 1024, 512, &rule), None);
/// assert_eq!(
///     explain_misalignment(0x1000, 1000, 512, &rule).as_deref(),
///     Some("direct I/O here needs a length that is a multiple of 512: 1000 is not, 512 and 1024 are")
/// );
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
    if multiple == 0 || value.is_multiple_of(multiple) {
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
