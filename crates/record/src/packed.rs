//! Histograms while nobody counts into them.
//!
//! A [`Histogram`] takes 58 KiB, so that counting is quick; what it holds after
//! a trial is a kilobyte or two. A run keeps those of all its trials, and a
//! plan may have thousands.

use crate::histogram::{DecodeError, Histogram};
use crate::trial::Histograms;

/// A histogram in its stored form.
#[derive(Clone, PartialEq, Eq)]
pub struct Packed(Box<[u8]>);

impl Packed {
    /// Takes bytes that are a stored histogram.
    ///
    /// # Errors
    /// When they are none; see [`Histogram::from_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        Histogram::from_bytes(bytes)?;
        Ok(Self(bytes.into()))
    }

    /// The stored form.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// To count and to ask.
    ///
    /// # Panics
    /// Never: the bytes were checked when they were taken.
    pub fn unpack(&self) -> Histogram {
        Histogram::from_bytes(&self.0).expect("the bytes were checked when they were taken")
    }
}

impl From<&Histogram> for Packed {
    fn from(histogram: &Histogram) -> Self {
        Self(histogram.to_bytes().into())
    }
}

impl Default for Packed {
    fn default() -> Self {
        Self::from(&Histogram::new())
    }
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.unpack().fmt(f)
    }
}

/// The [`Histograms`] of a trial, packed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackedHistograms {
    /// Of the reads.
    pub read: Packed,
    /// Of the writes.
    pub write: Packed,
    /// From submission, when the others count from the intended start.
    pub service: Option<Packed>,
}

impl PackedHistograms {
    /// To count and to ask.
    pub fn unpack(&self) -> Histograms {
        Histograms {
            read: self.read.unpack(),
            write: self.write.unpack(),
            service: self.service.as_ref().map(Packed::unpack),
        }
    }
}

impl From<&Histograms> for PackedHistograms {
    fn from(histograms: &Histograms) -> Self {
        Self {
            read: (&histograms.read).into(),
            write: (&histograms.write).into(),
            service: histograms.service.as_ref().map(Packed::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_and_takes_little() {
        let mut histograms = Histograms::default();
        for latency_ns in 50_000..150_000 {
            histograms.read.record(latency_ns);
        }
        let packed = PackedHistograms::from(&histograms);
        assert_eq!(packed.unpack(), histograms);
        assert_eq!(PackedHistograms::default().unpack(), Histograms::default());
        assert!(packed.read.as_bytes().len() < 1000, "{packed:?}");
        let bytes = packed.read.as_bytes();
        assert_eq!(Packed::from_bytes(bytes), Ok(packed.read.clone()));
        assert!(Packed::from_bytes(&bytes[1..]).is_err());
    }
}
