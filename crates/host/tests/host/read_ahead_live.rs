//! Read-ahead of loop devices, from the events of this machine's kernel.

use crate::alone::alone;
use diskfacts_host::Roots;
use diskfacts_host::observe::{Observer, ReadAheadObserver};
use diskfacts_host::read_ahead::{NEEDED, OF_PAGES};
use diskfacts_host::trace::{Instance, Options, Reader, Tracefs, any_of, device_number};
use diskfacts_record::Evidence;
use diskfacts_record::evidence::{ReadAhead, ReadAheadPattern as Pattern};
use diskfacts_testkit::{LoopDevice, Missing, or_skip, require_root, skip};
use std::fs::File;
use std::os::unix::fs::FileExt;

const MIB: u64 = 1 << 20;
const KIB: u64 = 1 << 10;
const ISSUE: &str = "block/block_rq_issue";

/// Whether this kernel shows its events to this user; else says why not.
fn can_trace() -> bool {
    let events: Vec<String> = NEEDED
        .iter()
        .chain(&OF_PAGES)
        .map(|(group, name)| format!("{group}/{name}"))
        .collect();
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let found = Tracefs::open(&Roots::default()).and_then(|fs| fs.need_events(&events));
    found.map_err(|error| skip(&error.to_string())).is_ok()
}

/// What read-ahead decided while `read` read the device.
fn observed(device: &LoopDevice, read: impl FnOnce(&File)) -> ReadAhead {
    let file = File::open(device.path()).expect("the device");
    let mut observer = ReadAheadObserver::new(&Roots::default(), &file);
    let mut evidence = Evidence::default();
    observer.start();
    read(&file);
    observer.stop(&mut evidence);
    assert_eq!(evidence.unseen, []);
    evidence.read_ahead.expect("a table")
}

fn in_order(file: &File, from: u64, blocks: u64, block: u64) {
    let mut buffer = vec![0; block as usize];
    for i in 0..blocks {
        file.read_exact_at(&mut buffer, from + i * block)
            .expect("a read");
    }
}

/// 8 MiB in order of a device that is new; `None` where the kernel took pages away again
/// before they were used, as DAMON does, in each of several attempts.
fn cold_stream(read_ahead_kb: u64) -> Result<Option<ReadAhead>, Missing> {
    let mut last = None;
    for _ in 0..5 {
        let device = LoopDevice::new(32 * MIB)?;
        device.set("read_ahead_kb", &read_ahead_kb.to_string())?;
        let table = observed(&device, |file| in_order(file, 0, 128, 64 * KIB));
        if table.pages.dropped_unused > 0 {
            continue;
        }
        // Who lists all devices looks for marks of data on this one too, and what it read
        // is cached already: the stream brings that much less. Once in five it does not.
        if table.pages.used * table.page_bytes == 8 * MIB {
            return Ok(Some(table));
        }
        last = Some(table);
    }
    Ok(last)
}

#[test]
fn a_cold_stream_has_windows_of_what_read_ahead_kb_sets() {
    let _alone = alone();
    or_skip!(require_root());
    if !can_trace() {
        return;
    }
    for kib in [0, 16, 128, 1024] {
        let Some(table) = or_skip!(cold_stream(kib)) else {
            return skip("this kernel takes read pages away before they are used, at each attempt");
        };
        let pages = kib * KIB / table.page_bytes;
        assert_eq!(table.limit_pages, Some(pages), "{kib} KiB");
        assert_eq!((table.undecided, table.broken, table.late), (0, 0, 0));
        let row = |pattern| table.row(pattern);
        // 8 MiB of reads, and no page of them twice.
        assert_eq!(
            table.pages.used * table.page_bytes,
            8 * MIB,
            "{kib} KiB: {table:?}"
        );
        if kib == 0 {
            let none = row(Pattern::None);
            assert_eq!((none.count, none.sync_count), (table.all.count, none.count));
            assert_eq!(none.mean(none.size_pages), 1);
            continue;
        }
        assert_eq!(row(Pattern::Initial0).count, 1, "{kib} KiB");
        let subsequent = row(Pattern::Subsequent);
        assert_eq!(subsequent.sync_count, 0, "{kib} KiB");
        assert_eq!(subsequent.count + 1, table.all.count, "{kib} KiB");
        // A request larger than the limit may be read at once: 64 KiB at 16.
        let largest = table.sizes.last().expect("windows").pages;
        assert_eq!(largest, pages.max(64 * KIB / table.page_bytes), "{kib} KiB");
        // The first windows of a stream are smaller; most pages come in the largest.
        let of_largest = largest * table.sizes.last().expect("windows").count;
        let all = table.all.size_pages;
        assert!(of_largest * 2 >= all, "{kib} KiB: {:?}", table.sizes);
    }
}

#[test]
fn the_device_is_sent_requests_of_what_max_sectors_kb_sets() {
    let _alone = alone();
    or_skip!(require_root());
    let tracefs = match Tracefs::open(&Roots::default()) {
        Ok(tracefs) => tracefs,
        Err(error) => return skip(&error.to_string()),
    };
    for kib in [4, 64, 512] {
        let device = or_skip!(LoopDevice::new(16 * MIB));
        or_skip!(device.set("read_ahead_kb", "1024"));
        or_skip!(device.set("max_sectors_kb", &kib.to_string()));
        let (major, minor) = device.device_number();
        let mut instance = Instance::create(&tracefs, Options::default()).expect("an instance");
        let filter = any_of("dev", [device_number(major, minor)]);
        let issue = instance.enable(ISSUE, Some(&filter)).expect("the event");
        let bytes = issue.required("bytes").expect("it");
        let mut reader = Reader::new(instance).expect("a reader");
        let file = File::open(device.path()).expect("the device");
        reader.switch().on().expect("on");
        in_order(&file, 0, 64, 64 * KIB);
        let mut sizes = Vec::new();
        let mut take = |event: &diskfacts_host::trace::Event<'_>| {
            sizes.push(bytes.unsigned(event.data).expect("bytes"));
        };
        reader.drain(&mut take).expect("events");
        let losses = reader.finish(&mut take).expect("events");
        assert!(losses.is_none(), "{losses:?}");
        assert_eq!(sizes.iter().max(), Some(&(kib * KIB)), "{kib} KiB");
        // Where a window is shorter, and at its end, requests are.
        let full = sizes.iter().filter(|size| **size == kib * KIB).sum::<u64>();
        assert!(
            full * 4 >= sizes.iter().sum::<u64>() * 3,
            "{kib} KiB: {sizes:?}"
        );
    }
}

#[test]
fn a_second_stream_breaks_the_pattern_through_one_descriptor_and_not_through_two() {
    let _alone = alone();
    or_skip!(require_root());
    if !can_trace() {
        return;
    }
    let interleaved = |shared: bool| {
        let made = LoopDevice::new(32 * MIB).and_then(|device| {
            device.set("read_ahead_kb", "128")?;
            Ok(device)
        });
        let device = made.map_err(|why| skip(&why.to_string())).ok()?;
        let table = observed(&device, |first| {
            let second = File::open(device.path()).expect("the device");
            let second = if shared { first } else { &second };
            for i in 0..256 {
                in_order(first, i * 16 * KIB, 1, 16 * KIB);
                in_order(second, 16 * MIB + i * 16 * KIB, 1, 16 * KIB);
            }
        });
        Some(table)
    };
    let (Some(own), Some(shared)) = (interleaved(false), interleaved(true)) else {
        return;
    };
    // What seed 001 saw of one stream: windows that follow one another, at the limit.
    let row = own.row(Pattern::Subsequent);
    assert!(row.count * 10 >= own.all.count * 9, "{own:?}");
    assert_eq!((own.broken, own.shared_descriptors), (0, 0));
    assert_eq!(own.row(Pattern::Marker).count, 0);
    // And of two that know nothing of each other, through one window.
    assert_eq!(shared.shared_descriptors, 1);
    let lost = shared.row(Pattern::Marker).count + shared.row(Pattern::Trail).count;
    assert!(lost * 4 >= shared.all.count, "{shared:?}");
    assert!(shared.broken * 4 >= shared.all.count, "{shared:?}");
    assert!(shared.all.sync_count > own.all.sync_count, "{shared:?}");
    assert_eq!((shared.undecided, own.undecided), (0, 0));
}
