use super::*;
use crate::histogram::Histogram;
use crate::trial::Histograms;
use diskfacts_plan::dd::{Copying, Dd};
use proptest::prelude::*;

/// Operations: when each completed, whether it was a write, its latency.
type Operations = Vec<(u64, bool, u64)>;

fn of(operations: &[(u64, bool, u64)], length_ns: u64) -> LatencyOverTime {
    let mut over_time = LatencyOverTime::new(length_ns);
    for (at_ns, is_write, latency) in operations {
        let row = over_time.reach(*at_ns);
        over_time.count_at(row, *is_write, CoarseHistogram::index(*latency), 1);
    }
    over_time
}

fn operations() -> impl Strategy<Value = Operations> {
    let latency = prop_oneof![0_u64..40, 50_000_u64..90_000, any::<u64>()];
    prop::collection::vec((0_u64..5000, any::<bool>(), latency), 0..200)
}

#[test]
fn a_long_trial_joins_neighbours_and_keeps_their_moments() {
    let operations: Operations = (0..1000).map(|ms| (ms, false, ms)).collect();
    let over_time = of(&operations, 2);
    // 64 intervals of 16 hold 1024.
    assert_eq!((over_time.length_ns(), over_time.rows()), (16, 63));
    for row in 0..over_time.rows() {
        let mut wanted = CoarseHistogram::new();
        for ms in (row as u64 * 16..1000).take(16) {
            wanted.count_at(CoarseHistogram::index(ms), 1);
        }
        assert_eq!(over_time.read(row), wanted, "{row}");
    }
    assert!((0..over_time.rows()).all(|row| over_time.write(row).is_empty()));
}

#[test]
fn an_interval_has_the_operations_that_a_workload_is_measured_by() {
    let over_time = of(&[(0, false, 3), (0, true, 7), (1, true, 9)], 1);
    let copy = |measured| Workload {
        copy: Some(Copying {
            measured,
            dd: Dd::default(),
        }),
        ..Workload::default()
    };
    for workload in [Workload::default(), copy(End::Input), copy(End::Output)] {
        let mut histograms = Histograms::default();
        histograms.read.record(3);
        histograms.write.record(7);
        let wanted = CoarseHistogram::from(&histograms.measured(&workload));
        assert_eq!(over_time.measured(0, &workload), wanted, "{workload:?}");
    }
}

#[test]
fn the_stored_form_never_changes() {
    // Written by version 1; a later version must read it as the same.
    let bytes = [
        1, 20, 4, 2, 3, 0, 0, 2, 0, 1, 4, 1, 0, 2, 1, 50, 1, 0, 1, 129, 1,
    ];
    let mut over_time = LatencyOverTime::new(20);
    over_time.reach(79);
    over_time.count_at(1, false, 3, 2);
    over_time.count_at(0, false, 7, 1);
    over_time.count_at(0, true, 50, 1);
    over_time.count_at(3, true, 50, 129);
    assert_eq!(
        LatencyOverTime::from_bytes(&over_time.to_bytes()),
        Ok(over_time.clone())
    );
    assert_eq!(over_time.to_bytes(), bytes);
}

#[test]
fn damaged_bytes_are_refused() {
    let good = of(&[(0, false, 5), (90, false, 70_000), (90, true, 5)], 20).to_bytes();
    for cut in 0..good.len() {
        assert!(
            LatencyOverTime::from_bytes(&good[..cut]).is_err(),
            "cut at {cut}"
        );
    }
    let refused = |bytes: &[u8]| LatencyOverTime::from_bytes(bytes).expect_err("damaged");
    let mut longer = good.clone();
    longer.push(0);
    assert_eq!(
        refused(&longer),
        DecodeError::Damaged("bytes follow its end")
    );
    let mut newer = good;
    newer[0] = 2;
    assert_eq!(refused(&newer), DecodeError::Version(2));
    for (bytes, why) in [
        (&[1, 0, 1, 0, 0][..], "no such intervals"),
        (
            &[1, 255, 255, 255, 255, 255, 255, 255, 255, 127, 1, 0, 0],
            "no such intervals",
        ),
        (&[1, 20, 0, 0, 0], "no such intervals"),
        (&[1, 20, 65, 0, 0], "no such intervals"),
        (&[1, 20, 1, 1, 5, 0, 0, 0], "a bucket without a count"),
        (&[1, 20, 2, 1, 5, 1, 0, 1, 0], "an interval beyond the last"),
        (&[1, 20, 1, 2, 5, 1, 0, 1, 0], "a bucket occurs twice"),
        (&[1, 20, 1, 1, 240, 3, 1, 0], "a bucket beyond the last"),
    ] {
        assert_eq!(refused(bytes), DecodeError::Damaged(why), "{bytes:?}");
    }
}

#[test]
fn a_document_that_contradicts_itself_is_refused() {
    let read = |text: &str| serde_json::from_str::<PackedOverTime>(text);
    let good =
        r#"{"length_ns":20,"from_ns":[16,18],"to_ns":[17,19],"read":[[1,0],[0,3]],"write":[]}"#;
    assert_eq!(
        serde_json::to_string(&read(good).expect("good")).expect("JSON"),
        good
    );
    for (from, to) in [
        ("\"length_ns\":20", "\"length_ns\":0"),
        ("[16,18]", "[16,17]"),
        ("[16,18]", "[16,18,20]"),
        ("[1,0]", "[1,0,0]"),
        ("[0,3]", "[9223372036854775807,9223372036854775807]"),
        ("[0,3]", "[0,9223372036854775808]"),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good);
        assert!(read(&bad).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn all_intervals_together_count_what_the_histogram_counts(
        operations in operations(),
        length_ns in 1_u64..100,
    ) {
        let over_time = of(&operations, length_ns);
        let mut histogram = Histogram::new();
        for (_, _, latency) in &operations {
            histogram.record(*latency);
        }
        let mut sum = CoarseHistogram::new();
        for row in 0..over_time.rows() {
            sum.add(&over_time.measured(row, &Workload::default()));
        }
        prop_assert_eq!(sum, CoarseHistogram::from(&histogram));
    }

    #[test]
    fn threads_add_up_to_what_one_would_have_counted(
        one in operations(),
        two in operations(),
        length_ns in 1_u64..100,
    ) {
        let mut sum = of(&one, length_ns);
        sum.add(of(&two, length_ns));
        let all: Operations = one.into_iter().chain(two).collect();
        prop_assert_eq!(sum, of(&all, length_ns));
    }

    #[test]
    fn the_stored_form_and_the_document_read_back(operations in operations()) {
        let over_time = of(&operations, 20);
        let bytes = over_time.to_bytes();
        prop_assert_eq!(LatencyOverTime::from_bytes(&bytes), Ok(over_time.clone()));
        let packed = PackedOverTime::from(&over_time);
        let text = serde_json::to_string(&packed).expect("JSON");
        let read: PackedOverTime = serde_json::from_str(&text).expect("its own document");
        let read = read.unpack();
        if !operations.is_empty() {
            prop_assert_eq!(read, over_time);
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = LatencyOverTime::from_bytes(&bytes);
        if bytes.len() > 3 {
            (bytes[0], bytes[1], bytes[2]) = (1, 20, bytes[2] % 64);
            let _ = LatencyOverTime::from_bytes(&bytes);
        }
    }
}
