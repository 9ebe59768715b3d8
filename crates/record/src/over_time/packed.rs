//! Latencies over time while nobody counts into them: a kilobyte or two in place of half a
//! mebibyte.

use super::{LatencyOverTime, of_stored};
use crate::histogram::DecodeError;

/// [`LatencyOverTime`] in its stored form.
#[derive(Clone, PartialEq, Eq)]
pub struct PackedOverTime {
    /// Checked when they were taken.
    bytes: Box<[u8]>,
}

impl PackedOverTime {
    /// Takes bytes that are a stored form.
    ///
    /// # Errors
    /// When they are none; see [`LatencyOverTime::from_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        of_stored(bytes, |_, _, _, _| {})?;
        Ok(Self {
            bytes: bytes.into(),
        })
    }

    /// The stored form.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// To ask.
    ///
    /// # Panics
    /// Never: the bytes were checked when they were taken.
    pub fn unpack(&self) -> LatencyOverTime {
        LatencyOverTime::from_bytes(&self.bytes)
            .expect("the bytes were checked when they were taken")
    }
}

impl From<&LatencyOverTime> for PackedOverTime {
    fn from(over_time: &LatencyOverTime) -> Self {
        Self {
            bytes: over_time.to_bytes().into(),
        }
    }
}

impl std::fmt::Debug for PackedOverTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.unpack().fmt(f)
    }
}
