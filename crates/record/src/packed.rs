//! Histograms while nobody counts into them.
//!
//! A [`Histogram`] takes 58 KiB, so that counting is quick; what it holds after
//! a trial is a kilobyte or two. A run keeps those of all its trials, and a
//! plan may have thousands.

mod json;

use crate::histogram::{DecodeError, EMPTY_STORED, Histogram, Totals};
use crate::trial::Histograms;
use diskfacts_plan::Workload;
use diskfacts_plan::dd::End;

/// A histogram in its stored form.
#[derive(Clone, PartialEq, Eq)]
pub struct Packed {
    /// Checked when they were taken.
    bytes: Box<[u8]>,
    /// Number of values.
    count: u64,
}

const CHECKED: &str = "the bytes were checked when they were taken";

impl Packed {
    /// Takes bytes that are a stored histogram.
    ///
    /// # Errors
    /// When they are none; see [`Histogram::from_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let count = Totals::of_stored(bytes, |_, _| {})?.count;
        Ok(Self {
            bytes: bytes.into(),
            count,
        })
    }

    /// The stored form.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Occupied buckets in rising order: smallest value, largest value, count.
    ///
    /// # Panics
    /// Never: the bytes were checked when they were taken.
    pub fn buckets(&self) -> Vec<(u64, u64, u64)> {
        Histogram::buckets_of_stored(&self.bytes).expect(CHECKED)
    }

    /// Adds all its counts to `sum`.
    ///
    /// # Panics
    /// Never: the bytes were checked when they were taken.
    pub fn add_to(&self, sum: &mut Histogram) {
        if self.count > 0 {
            sum.add_stored(&self.bytes).expect(CHECKED);
        }
    }

    /// To count and to ask.
    pub fn unpack(&self) -> Histogram {
        let mut histogram = Histogram::new();
        self.add_to(&mut histogram);
        histogram
    }
}

impl From<&Histogram> for Packed {
    fn from(histogram: &Histogram) -> Self {
        Self {
            bytes: histogram.to_bytes().into(),
            count: histogram.count(),
        }
    }
}

impl Default for Packed {
    fn default() -> Self {
        Self {
            bytes: EMPTY_STORED.into(),
            count: 0,
        }
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

    /// Adds all its counts to those of other trials; see [`Histograms::add`].
    pub fn add_to(&self, sum: &mut Histograms) {
        self.read.add_to(&mut sum.read);
        self.write.add_to(&mut sum.write);
        if let Some(service) = &self.service {
            service.add_to(sum.service.get_or_insert_default());
        }
    }

    /// Number of all values.
    pub fn count(&self) -> u64 {
        let service = self.service.as_ref().map_or(0, Packed::count);
        // Each counts less than 2^63, and together they may be more than 2^64.
        let served = self.read.count().saturating_add(self.write.count());
        served.saturating_add(service)
    }

    /// Those of the operations that a workload is measured by; see
    /// [`Histograms::measured`].
    pub fn measured(&self, workload: &Workload) -> impl Iterator<Item = &Packed> {
        let parts = match &workload.copy {
            None => [Some(&self.read), Some(&self.write)],
            Some(copy) if copy.measured == End::Input => [Some(&self.read), None],
            Some(_) => [None, Some(&self.write)],
        };
        parts.into_iter().flatten()
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
    use diskfacts_plan::dd::{Copying, Dd};

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
        assert_eq!(packed.read.count(), 100_000);
        let buckets: Vec<_> = histograms.read.buckets().collect();
        assert_eq!(packed.read.buckets(), buckets);
    }

    #[test]
    fn a_document_has_the_buckets_and_reads_back() {
        let mut histograms = Histograms::default();
        for latency_ns in [3, 50_000, 50_001, u64::MAX] {
            histograms.write.record(latency_ns);
        }
        let packed = PackedHistograms::from(&histograms);
        let text = serde_json::to_string(&packed).unwrap();
        let part = r#""min_ns":3,"max_ns":18446744073709551615,"sum_ns":18446744073709651619"#;
        assert!(text.contains(part), "{text}");
        assert!(text.contains(r#""counts":[1,2,1]"#), "{text}");
        assert_eq!(
            serde_json::from_str::<PackedHistograms>(&text).unwrap(),
            packed
        );
        let none = PackedHistograms::default();
        assert_eq!(serde_json::to_string(&none).unwrap(), "null");
        assert_eq!(
            serde_json::from_str::<PackedHistograms>("null").unwrap(),
            none
        );
        for (from, to) in [
            ("[1,2,1]", "[1,2]"),
            ("[1,2,1]", "[1,2,2]"),
            ("\"min_ns\":3", "\"min_ns\":4"),
            ("[3,", "[49152,"),
            ("\"from_ns\":[3,", "\"from_ns\":[1001,"),
        ] {
            assert!(text.contains(from), "{from}");
            let changed = text.replacen(from, to, 1);
            assert!(
                serde_json::from_str::<PackedHistograms>(&changed).is_err(),
                "{changed}"
            );
        }
    }

    #[test]
    fn what_is_packed_is_added_and_measured_as_what_is_not() {
        let mut one = Histograms::default();
        one.read.record(7);
        one.write.record(11);
        one.write.record(13);
        let mut two = one.clone();
        two.service.get_or_insert_default().record(5);
        let (mut sum, mut packed_sum) = (Histograms::default(), Histograms::default());
        for histograms in [&one, &two, &two] {
            sum.add(histograms);
            PackedHistograms::from(histograms).add_to(&mut packed_sum);
        }
        assert_eq!(packed_sum, sum);

        let packed = PackedHistograms::from(&two);
        let copy = |measured| Workload {
            copy: Some(Copying {
                measured,
                dd: Dd::default(),
            }),
            ..Workload::default()
        };
        for workload in [Workload::default(), copy(End::Input), copy(End::Output)] {
            let mut measured = Histogram::new();
            packed
                .measured(&workload)
                .for_each(|part| part.add_to(&mut measured));
            assert_eq!(measured, two.measured(&workload), "{workload:?}");
        }
    }
}
