//! Stored latencies over time.

use diskfacts_plan::Workload;
use diskfacts_record::{CoarseHistogram, LatencyOverTime, PackedOverTime};

/// What is read reads back as the same, from bytes and from a document; its intervals lie
/// within 64 bits, and joined they count the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let Ok(over_time) = LatencyOverTime::from_bytes(input) else {
        assert!(PackedOverTime::from_bytes(input).is_err());
        return;
    };
    let packed = PackedOverTime::from_bytes(input).expect("it was just read");
    assert_eq!(packed.unpack(), over_time);
    let stored = over_time.to_bytes();
    let again = LatencyOverTime::from_bytes(&stored).expect("what was just stored");
    assert_eq!(again, over_time);
    assert_eq!(again.to_bytes(), stored);

    let rows = over_time.rows();
    assert!((1..=LatencyOverTime::ROWS_MAX).contains(&rows));
    assert!(over_time.length_ns().checked_mul(rows as u64).is_some());
    let total = |of: &LatencyOverTime| {
        let mut total = CoarseHistogram::new();
        for row in 0..of.rows() {
            total.add(&of.measured(row, &Workload::default()));
        }
        total
    };
    let all = total(&over_time);
    let text = serde_json::to_string(&packed).expect("a document");
    let read: PackedOverTime = serde_json::from_str(&text).expect("its own document");
    assert_eq!(total(&read.unpack()), all);
    if !all.is_empty() {
        assert_eq!(read.unpack(), over_time);
    }
    let mut joined = over_time.clone();
    joined.reach(
        over_time
            .length_ns()
            .saturating_mul(2 * LatencyOverTime::ROWS_MAX as u64 - 1),
    );
    assert_eq!(total(&joined), all);
}
