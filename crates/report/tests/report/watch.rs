//! What `diskfacts watch` prints, of figures that were written by hand.

use diskfacts_record::evidence::{
    BlockLayer, Bucket, DeviceRequests, OperationRequests, RequestKind, Seeks,
};
use diskfacts_record::{Latency, Unseen};
use diskfacts_report::text::{self, Look};

fn latency(samples: u64, p50: u64, p99: Option<u64>, max: u64) -> Latency {
    Latency {
        samples,
        p50: Some(p50),
        p99,
        max: Some(max),
        ..Latency::default()
    }
}

fn bucket(from: u64, to: u64, count: u64) -> Bucket {
    Bucket { from, to, count }
}

fn nothing(operation: RequestKind) -> OperationRequests {
    OperationRequests {
        operation,
        issued: 0,
        completed: 0,
        bytes: 0,
        readahead: 0,
        metadata: 0,
        errors: 0,
        back_merges: 0,
        front_merges: 0,
        request_merges: 0,
        requeues: 0,
        unfinished: 0,
        waiting: 0,
        issue_unseen: 0,
        queued_ns: Latency::default(),
        device_ns: Latency::default(),
        queued_histogram: Vec::new(),
        device_histogram: Vec::new(),
        sizes: Vec::new(),
    }
}

/// A second of a busy disk, one that did nothing, and one whose flush hangs.
pub(crate) fn layer() -> BlockLayer {
    let reads = OperationRequests {
        issued: 12_000,
        completed: 11_998,
        bytes: 12_000 * 131_072,
        readahead: 9_000,
        errors: 2,
        back_merges: 1,
        queued_ns: latency(11_998, 2_100, Some(48_300), 1_210_000),
        device_ns: latency(11_998, 61_400, Some(812_000), 12_300_000),
        queued_histogram: vec![bucket(2048, 2303, 11_998)],
        device_histogram: vec![bucket(57_344, 65_535, 11_000), bucket(65_536, 73_727, 998)],
        sizes: vec![bucket(4096, 4096, 1_200), bucket(131_072, 131_072, 10_800)],
        ..nothing(RequestKind::Read)
    };
    let writes = OperationRequests {
        issued: 3,
        completed: 3,
        bytes: 3 * 1_048_064,
        requeues: 1,
        queued_ns: latency(3, 900, None, 1_000),
        device_ns: latency(3, 125_000_000_000, None, 130_000_000_000),
        sizes: vec![bucket(1_048_064, 1_048_064, 3)],
        ..nothing(RequestKind::Write)
    };
    let device = |name: &str| DeviceRequests {
        name: name.into(),
        in_flight_mean: Some(0.0),
        in_flight_max: Some(0),
        ..DeviceRequests::default()
    };
    BlockLayer {
        devices: vec![
            DeviceRequests {
                operations: vec![reads, writes],
                seeks: Seeks {
                    in_order: 9_002,
                    forward: 2_000,
                    backward: 1_000,
                    forward_p50_sectors: Some(16),
                    backward_p50_sectors: Some(4_096),
                    ..Seeks::default()
                },
                in_flight_mean: Some(3.912),
                in_flight_max: Some(32),
                ..device("nvme0n1")
            },
            device("sda"),
            DeviceRequests {
                operations: vec![OperationRequests {
                    unfinished: 1,
                    ..nothing(RequestKind::Flush)
                }],
                in_flight_mean: None,
                in_flight_max: None,
                ..device("sdb")
            },
        ],
        window_ns: 1_000_000_000,
        followed_ns: 1_000_000_000,
        bursts: 1,
        events: 36_018,
        lost_events: 5,
        reader_cpu_ns: 12_000_000,
        ..BlockLayer::default()
    }
}

const PART: &str = "
12:00:01, in 1 s:
5 events were lost, because they came faster than they were read: counts are too
small, and the number in flight is not known.
                                                  queued           at the device
           per s   MB/s     size     p50     p99     max     p50     p99     max
nvme0n1, 3.91 at the device, 32 at most, 75 % in order:
reads     12,000   1573  128 KiB  2.1 us 48.3 us 1.21 ms 61.4 us  812 us 12.3 ms
writes      3.00   3.14 1024 KiB  900 ns       -    1 us   125 s       -   130 s
  reads: 1 piece of I/O joined to them, 2 failed, 9000 ahead of the reader.
  writes: 1 came back from the device.
sdb:
flushes     0.00                       -       -       -       -       -       -
  flushes: none issued and none done, 1 at the device.
Did nothing: sda.
";

#[test]
fn a_part_is_a_table_and_sentences_in_80_columns() {
    let text = text::watch_part(&layer(), "12:00:01", &Look::default());
    assert_eq!(text, PART);
}

const DISTRIBUTIONS: &str = "
Time at the device, reads of nvme0n1
    57.3 us to 65.5 us      11,000    92 % #####################################
    65.5 us to 73.7 us         998   8.3 % ####

Time queued, reads of nvme0n1
     2.05 us to 2.3 us      11,998   100 % #####################################

Sizes of reads of nvme0n1: 128 KiB 90 %, 4 KiB 10 %.

Sizes of writes of nvme0n1: 1023.5 KiB 100 %.

Requests of nvme0n1: 75 % began where the one before ended; 2000 lay farther on,
half of them by more than 8 KiB; 1000 lay before it, half of them by more than
2 MiB.

36,018 events were read, at the cost of 1.2 % of a processor.
";

#[test]
fn all_of_it_has_distributions_too() {
    let text = text::watch_total(&layer(), &Look::default());
    let (first, _) = PART.split_once("12:00:01").expect("its beginning");
    assert!(
        text.starts_with(&format!("{first}All of it, in 1 s:")),
        "{text}"
    );
    assert!(text.ends_with(DISTRIBUTIONS), "{text}");
}

#[test]
fn many_rows_are_gathered_into_powers_of_two() {
    let mut layer = layer();
    let reads = &mut layer.devices[0].operations[0];
    reads.device_histogram = (64..96)
        .map(|at| bucket(at << 10, (at << 10) + 1023, 2))
        .collect();
    reads.device_histogram.push(bucket(1 << 20, 1 << 20, 1));
    let text = text::watch_total(&layer, &Look::default());
    let rows = "    65.5 us to 131 us          64    98 % #####################################\n\
                \x20    1.05 ms to 2.1 ms           1   1.5 % #\n";
    assert!(text.contains(rows), "{text}");
}

#[test]
fn what_is_watched_and_what_is_not_seen_is_said_first() {
    let devices = ["md0".to_owned(), "sda".to_owned()];
    let unseen = [Unseen {
        what: "md0 block_layer".into(),
        why: "it has no queue of requests".into(),
    }];
    assert_eq!(
        text::watch_opening(&devices, &unseen, &Look::default()),
        "Requests of md0 and sda; Ctrl-C ends it.\n\
         Not seen, md0 block_layer: it has no queue of requests.\n"
    );
}
