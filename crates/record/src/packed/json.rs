//! Whole distributions in the JSON document: the buckets that occur; `null` where nothing was
//! counted, and in documents that leave them out.

use super::{Packed, PackedHistograms};
use crate::histogram::Histogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
struct JsonHistograms {
    read: JsonHistogram,
    write: JsonHistogram,
    service: Option<JsonHistogram>,
}

#[derive(Serialize, Deserialize)]
struct JsonHistogram {
    min_ns: Option<u64>,
    max_ns: Option<u64>,
    sum_ns: u128,
    /// The smallest latency of each bucket that occurs, in rising order.
    from_ns: Vec<u64>,
    /// The largest.
    to_ns: Vec<u64>,
    counts: Vec<u64>,
}

impl Serialize for PackedHistograms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.count() == 0 {
            return serializer.serialize_none();
        }
        let histograms = JsonHistograms {
            read: (&self.read).into(),
            write: (&self.write).into(),
            service: self.service.as_ref().map(JsonHistogram::from),
        };
        histograms.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PackedHistograms {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Some(read) = Option::<JsonHistograms>::deserialize(deserializer)? else {
            return Ok(Self::default());
        };
        let packed = |histogram: JsonHistogram| histogram.read().map_err(D::Error::custom);
        Ok(Self {
            read: packed(read.read)?,
            write: packed(read.write)?,
            service: read.service.map(packed).transpose()?,
        })
    }
}

impl From<&Packed> for JsonHistogram {
    fn from(packed: &Packed) -> Self {
        let histogram = packed.unpack();
        let buckets: Vec<(u64, u64, u64)> = histogram.buckets().collect();
        Self {
            min_ns: histogram.min(),
            max_ns: histogram.max(),
            sum_ns: histogram.sum(),
            from_ns: buckets.iter().map(|(from, _, _)| *from).collect(),
            to_ns: buckets.iter().map(|(_, to, _)| *to).collect(),
            counts: buckets.iter().map(|(_, _, n)| *n).collect(),
        }
    }
}

impl JsonHistogram {
    fn read(self) -> Result<Packed, String> {
        if self.from_ns.len() != self.counts.len() {
            return Err("a histogram has not a count for each bucket".to_owned());
        }
        let min = self.min_ns.unwrap_or(u64::MAX);
        let limits = (min, self.max_ns.unwrap_or(0), self.sum_ns);
        let buckets = self.from_ns.into_iter().zip(self.counts);
        let stored = Histogram::stored_of(limits, buckets)
            .ok_or("a histogram has latencies at which no bucket begins, or not in rising order")?;
        Packed::from_bytes(&stored).map_err(|error| error.to_string())
    }
}
