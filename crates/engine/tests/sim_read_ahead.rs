//! What a simulated host tells of its read-ahead.

use diskfacts_disk::profile::profile;
use diskfacts_engine::Progress;
use diskfacts_engine::sim::{Computer, Plant};
use diskfacts_plan::{CacheMode, Pattern, Stop, Workload};
use diskfacts_record::evidence::{ReadAhead, ReadAheadPattern as Row};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn told(plant: &Plant, workload: &Workload) -> Option<ReadAhead> {
    let disk = profile("hdd-7200-1tb").expect("a built-in profile");
    let mut computer = Computer::new(&disk, 1, *plant);
    computer.observe_read_ahead(true);
    let trial = computer.run_trial(workload, 7, &Progress::default());
    trial.expect("a trial").1.read_ahead
}

fn stream() -> Workload {
    Workload {
        pattern: Pattern::Sequential,
        block_size: 64 * KIB,
        cache: CacheMode::Cold,
        span: Some(64 * MIB),
        stop: Stop {
            bytes: Some(32 * MIB),
            ..Stop::default()
        },
        ..Workload::default()
    }
}

#[test]
fn a_stream_has_windows_of_the_hosts_limit_and_leaves_the_last_ones_unused() {
    let table = told(&Plant::default(), &stream()).expect("a table");
    let limit = table.limit_pages.expect("a limit");
    assert_eq!(limit * table.page_bytes, 128 * KIB);
    assert_eq!(table.row(Row::Initial0).count, 1);
    assert_eq!(table.row(Row::Subsequent).count + 1, table.all.count);
    assert!(table.at_limit() >= Some(table.windows() - 2), "{table:?}");
    assert_eq!(table.pages.used * table.page_bytes, 32 * MIB);
    assert!(table.pages.unused() <= 2 * limit, "{table:?}");
    assert_eq!((table.broken, table.late), (0, 0));
}

#[test]
fn streams_through_one_descriptor_break_each_other_and_through_two_they_do_not() {
    let mut two = stream();
    two.streams = 2;
    let own = told(&Plant::default(), &two).expect("a table");
    assert_eq!((own.broken, own.shared_descriptors), (0, 0));
    let plant = Plant {
        one_descriptor: true,
        ..Plant::default()
    };
    let shared = told(&plant, &two).expect("a table");
    assert_eq!(shared.shared_descriptors, 1);
    assert!(shared.broken * 4 >= shared.all.count, "{shared:?}");
    assert!(shared.all.sync_count > own.all.sync_count);
}

#[test]
fn nothing_is_told_to_who_did_not_ask() {
    let disk = profile("hdd-7200-1tb").expect("a built-in profile");
    let mut computer = Computer::new(&disk, 1, Plant::default());
    let trial = computer.run_trial(&stream(), 7, &Progress::default());
    assert_eq!(trial.expect("a trial").1.read_ahead, None);
}
