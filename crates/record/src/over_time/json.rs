//! Latencies over time in the JSON document: a matrix of the buckets that occur.

use super::{BUCKETS, LatencyOverTime, PackedOverTime, Rows};
use crate::coarse::CoarseHistogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
struct Json {
    /// Length of each interval.
    length_ns: u64,
    /// The smallest latency of each bucket, in rising order.
    from_ns: Vec<u64>,
    /// The largest.
    to_ns: Vec<u64>,
    /// Of each interval the reads in each bucket; empty without any read.
    read: Vec<Vec<u64>>,
    /// The writes.
    write: Vec<Vec<u64>>,
}

impl Serialize for PackedOverTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json::from(&self.unpack()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PackedOverTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let over_time = Json::deserialize(deserializer)?
            .read()
            .map_err(D::Error::custom)?;
        // The bytes are checked for what any stored form must keep to.
        Self::from_bytes(&over_time.to_bytes()).map_err(D::Error::custom)
    }
}

impl From<&LatencyOverTime> for Json {
    fn from(of: &LatencyOverTime) -> Self {
        let sides = [&of.read, &of.write];
        let occurs = |bucket: &usize| {
            (0..of.rows).any(|row| sides.iter().any(|side| side.at(row, *bucket) > 0))
        };
        let buckets: Vec<usize> = (0..BUCKETS).filter(occurs).collect();
        let rows = |side: &Rows| {
            let rows = if side.is_empty() { 0 } else { of.rows };
            (0..rows)
                .map(|row| buckets.iter().map(|bucket| side.at(row, *bucket)).collect())
                .collect()
        };
        let each = |edge: fn(usize) -> u64| buckets.iter().copied().map(edge).collect();
        Self {
            length_ns: of.length_ns,
            from_ns: each(CoarseHistogram::lowest),
            to_ns: each(CoarseHistogram::highest),
            read: rows(&of.read),
            write: rows(&of.write),
        }
    }
}

impl Json {
    fn read(self) -> Result<LatencyOverTime, &'static str> {
        let rows = self.read.len().max(self.write.len()).max(1);
        if self.length_ns == 0 || rows > LatencyOverTime::ROWS_MAX {
            return Err("latency_over_time has no such intervals");
        }
        let buckets: Vec<usize> = (self.from_ns.iter().copied())
            .map(CoarseHistogram::index)
            .collect();
        let are_edges = buckets.iter().zip(&self.from_ns);
        if !are_edges
            .clone()
            .all(|(bucket, from)| CoarseHistogram::lowest(*bucket) == *from)
        {
            return Err("from_ns of latency_over_time has latencies at which no bucket begins");
        }
        let mut over_time = LatencyOverTime::new(self.length_ns);
        over_time.rows = rows;
        let mut total = 0_u64;
        for (is_write, side) in [(false, &self.read), (true, &self.write)] {
            for (row, counts) in side.iter().enumerate() {
                if counts.len() != buckets.len() {
                    return Err("an interval of latency_over_time has not a count for each bucket");
                }
                for (bucket, n) in buckets.iter().zip(counts).filter(|(_, n)| **n > 0) {
                    total = (total.checked_add(*n)).ok_or("latency_over_time counts too much")?;
                    over_time.count_at(row, is_write, *bucket, *n);
                }
            }
        }
        Ok(over_time)
    }
}
