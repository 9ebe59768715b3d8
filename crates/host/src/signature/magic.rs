//! Marks that are a few fixed bytes at a fixed place.

use super::reader::Reader;
use super::{Signature, SignatureKind};

/// Where a mark stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// Bytes from the start of the device.
    Start(u64),
    /// Bytes before its end, counted from the last whole multiple of `unit`.
    End { before: u64, unit: u64 },
}

impl Place {
    fn offset(self, size: u64) -> Option<u64> {
        match self {
            Self::Start(offset) => Some(offset),
            Self::End { before, unit } => (size / unit * unit).checked_sub(before),
        }
    }
}

/// A mark, and where its format is described.
pub(super) struct Magic {
    pub(super) kind: SignatureKind,
    pub(super) name: &'static str,
    pub(super) bytes: &'static [u8],
    pub(super) place: Place,
    /// Where its owner's name stands, if anywhere: bytes from the start of the
    /// device, and the longest length.
    pub(super) label: Option<(u64, usize)>,
    /// Whether `wipefs --all` knows it.
    pub(super) by_wipefs: bool,
    pub(super) source: &'static str,
}

impl Magic {
    /// A mark at a place from the start, without a name beside it.
    pub(super) const fn at(
        kind: SignatureKind,
        name: &'static str,
        offset: u64,
        bytes: &'static [u8],
        source: &'static str,
    ) -> Self {
        Self {
            kind,
            name,
            bytes,
            place: Place::Start(offset),
            label: None,
            by_wipefs: true,
            source,
        }
    }

    /// A mark so many bytes before the end, counted in whole multiples of
    /// `unit`.
    pub(super) const fn before_end(
        kind: SignatureKind,
        name: &'static str,
        (before, unit): (u64, u64),
        bytes: &'static [u8],
        source: &'static str,
    ) -> Self {
        Self {
            kind,
            name,
            bytes,
            place: Place::End { before, unit },
            label: None,
            by_wipefs: true,
            source,
        }
    }

    /// The same mark with a name at `offset`.
    pub(super) const fn named(mut self, offset: u64, len: usize) -> Self {
        self.label = Some((offset, len));
        self
    }

    /// The same mark, which `wipefs --all` leaves: libblkid has no such place in
    /// its tables.
    pub(super) const fn out_of_wipefs(mut self) -> Self {
        self.by_wipefs = false;
        self
    }

    pub(super) fn probe(&self, reader: &Reader<'_>) -> Option<Signature> {
        let offset = self.place.offset(reader.size())?;
        let bytes = reader.bytes(offset, self.bytes.len())?;
        let label = || {
            let (offset, len) = self.label?;
            reader.name(offset, len)
        };
        (bytes == self.bytes).then(|| Signature {
            by_wipefs: self.by_wipefs,
            ..Signature::new(self.kind, self.name, offset, self.source).labelled(label())
        })
    }
}
