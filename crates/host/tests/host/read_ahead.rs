//! Read-ahead's table, from traces that Linux 6.18 wrote; `tests/traces/README.md`
//! says what was done for each.

use diskfacts_host::parse::trace::text::{TraceText, parse_trace_text};
use diskfacts_host::read_ahead::{Decision, Event, FileId, Trouble, Watch, What};
use diskfacts_record::evidence::{ReadAhead, ReadAheadPattern as Pattern};

const PAGE: u64 = 4096;
/// The loop device, read without a filesystem.
const DEVICE: FileId = FileId {
    device: 3,
    inode: 0x70_0000,
};

fn trace(name: &str) -> TraceText {
    let path = format!("{}/tests/traces/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    parse_trace_text(&std::fs::read(path).unwrap(), PAGE).unwrap()
}

fn watched(events: &[Event], length: Option<u64>) -> (ReadAhead, Vec<Decision>) {
    let mut watch = Watch::new(PAGE).keeping_decisions();
    watch.know_file(DEVICE, "loop0", length);
    for event in events {
        watch.take(event);
    }
    let table = watch.end();
    (table, watch.take_decisions())
}

fn of(name: &str) -> (ReadAhead, Vec<Decision>) {
    let events: Vec<Event> = trace(name).events.iter().map(|text| text.event).collect();
    watched(&events, Some(64 << 20))
}

/// Rows that have decisions: how many, and how many of them somebody waited for.
fn counts(table: &ReadAhead) -> Vec<(Pattern, u64, u64)> {
    let rows = table.rows.iter().filter(|row| row.counts.count > 0);
    rows.map(|row| (row.pattern, row.counts.count, row.counts.sync_count))
        .collect()
}

#[test]
fn a_stream_has_one_window_after_the_other_and_each_is_the_limit() {
    let (table, decisions) = of("stream");
    let rows = [(Pattern::Initial0, 1, 1), (Pattern::Subsequent, 16, 0)];
    assert_eq!(counts(&table), rows);
    let row = table.row(Pattern::Subsequent);
    assert_eq!(
        (row.size_pages, row.async_pages, row.actual_pages),
        (512, 512, 512)
    );
    assert_eq!(table.limit_pages, Some(32));
    assert_eq!((table.at_limit(), table.windows()), (Some(17), 17));
    assert!(decisions.windows(2).all(|two| {
        two[0].start + two[0].size == two[1].start && two[1].is_ahead() && two[1].trouble.is_none()
    }));
    // The window behind the last read is the only one that nobody came for.
    assert_eq!((table.pages.added, table.pages.used), (544, 512));
    assert_eq!(table.pages.unused(), 32);
    assert_eq!((table.broken, table.scattered, table.late), (0, 0, 0));
    assert_eq!(table.undecided, 0);
}

#[test]
fn with_read_ahead_off_every_page_is_waited_for_and_none_comes_ahead() {
    let (table, _) = of("off");
    assert_eq!(counts(&table), [(Pattern::None, 16, 16)]);
    assert_eq!(table.row(Pattern::None).size_pages, 16);
    assert_eq!(table.limit_pages, Some(0));
    assert_eq!(table.windows(), 0);
    assert_eq!((table.pages.used, table.pages.unused()), (16, 0));
}

#[test]
fn windows_that_the_end_of_the_file_cuts_off_are_counted_where_its_length_is_known() {
    let (table, _) = of("end");
    let row = table.row(Pattern::Subsequent);
    assert_eq!((row.count, row.eof_count), (2, Some(2)));
    assert_eq!((row.size_pages, row.actual_pages), (192, 32));
    assert_eq!(table.row(Pattern::Initial).eof_count, Some(0));
    let events: Vec<Event> = trace("end").events.iter().map(|text| text.event).collect();
    let (table, _) = watched(&events, None);
    assert_eq!(table.row(Pattern::Subsequent).eof_count, None);
    assert_eq!(table.all.eof_count, None);
}

#[test]
fn two_streams_through_two_descriptors_keep_a_pattern_each() {
    let (table, _) = of("two");
    let rows = [
        (Pattern::Initial0, 1, 1),
        (Pattern::Initial, 1, 1),
        (Pattern::Subsequent, 20, 0),
        (Pattern::Random, 1, 1),
    ];
    assert_eq!(counts(&table), rows);
    assert_eq!((table.broken, table.shared_descriptors), (0, 0));
}

#[test]
fn two_streams_through_one_descriptor_break_each_others_pattern() {
    let (table, decisions) = of("one");
    assert_eq!(table.shared_descriptors, 1);
    // Every marker and trail, and the second stream's second read.
    let lost = |pattern| table.row(pattern).count;
    assert_eq!((lost(Pattern::Marker), lost(Pattern::Trail)), (7, 6));
    assert_eq!(table.broken, 14);
    assert_eq!((table.scattered, table.late, table.undecided), (0, 0, 0));
    // The first read at 32 MiB goes on from nothing: it breaks, it is not broken.
    assert_eq!(decisions[1].pattern, Some(Pattern::Random));
    assert_eq!(decisions[1].trouble, None);
    // Readers of the second table wait more often.
    assert!(table.all.sync_count > of("two").0.all.sync_count);
}

#[test]
fn threads_that_share_a_descriptor_are_one_stream() {
    let (table, _) = of("pool_one");
    let rows = [(Pattern::Initial0, 1, 1), (Pattern::Subsequent, 12, 0)];
    assert_eq!(counts(&table), rows);
    assert_eq!((table.broken, table.scattered, table.late), (0, 0, 0));
    // By the threads that reached the marks.
    assert_eq!(table.threads.len(), 5);
    let pages: u64 = table.threads.iter().map(|of| of.all.actual_pages).sum();
    assert_eq!(pages, table.all.actual_pages);
    assert!(table.files.is_empty(), "{:?}", table.files);
}

#[test]
fn a_stream_through_several_descriptors_is_scattered_and_not_broken() {
    let (table, _) = of("pool_own");
    let rows = [
        (Pattern::Initial0, 1, 1),
        (Pattern::Marker, 10, 0),
        (Pattern::Trail, 5, 5),
    ];
    assert_eq!(counts(&table), rows);
    assert_eq!((table.broken, table.shared_descriptors), (0, 0));
    // All but the marks that a thread reached in the rest of its own read.
    assert!(table.scattered >= 11, "{table:?}");
    assert_eq!(table.late, 0);
}

#[test]
fn pages_of_a_mapped_file_that_were_only_mapped_along_are_told_apart() {
    let (table, _) = of("mmap");
    let rows = [(Pattern::Subsequent, 4, 0), (Pattern::Mmap, 4, 4)];
    assert_eq!(counts(&table), rows);
    let pages = table.pages;
    assert_eq!((pages.added, pages.used + pages.unused()), (256, 256));
    // 103 pages were touched; mapping shows more than that as used.
    assert!(
        pages.used >= 103 && pages.mapped_only >= pages.used - 103,
        "{pages:?}"
    );
}

#[test]
fn what_programs_say_of_their_reads_is_a_row_of_its_own() {
    let (table, decisions) = of("advice");
    let rows = [
        (Pattern::Subsequent, 16, 0),
        (Pattern::Oversize, 1, 1),
        (Pattern::Fadvise, 2, 2),
        (Pattern::Random, 4, 4),
    ];
    assert_eq!(counts(&table), rows);
    // The second read after RANDOM went on in order, and got no window.
    assert_eq!(decisions[2].pattern, Some(Pattern::Fadvise));
    assert_eq!((decisions[2].start, decisions[2].size), (2052, 4));
    // What WILLNEED brought was never read, and the last windows only in part.
    assert_eq!(table.pages.unused(), 32 + 32);
}

#[test]
fn reading_backwards_is_random_and_its_row_is_not_told() {
    let (table, _) = of("back");
    assert_eq!(counts(&table), [(Pattern::Random, 20, 20)]);
    let told: Vec<&str> = table.not_told.iter().map(|row| row.what.as_str()).collect();
    assert_eq!(told, ["reverse", "stride", "thrash"]);
    assert!(table.rows.iter().all(|row| row.pattern != Pattern::Reverse));
    assert_eq!(table.rows.len() + table.not_told.len(), Pattern::ALL.len());
}

#[test]
fn short_runs_leave_most_of_what_was_read_ahead_unused() {
    let (table, _) = of("short");
    assert_eq!((table.pages.added, table.pages.used), (120, 30));
    assert_eq!(table.pages.left_unused, 90);
    assert_eq!((table.late, table.broken, table.scattered), (0, 0, 0));
}

#[test]
fn pages_that_were_dropped_before_they_were_used_are_counted_and_their_reader_is_late() {
    let (table, decisions) = of("drop");
    assert_eq!(table.pages.dropped_unused, 10);
    assert_eq!(table.late, 1);
    assert_eq!(decisions[2].trouble, Some(Trouble::Late));
    assert_eq!(decisions[2].pattern, Some(Pattern::Initial));
}

#[test]
fn a_decision_whose_window_was_set_up_before_the_watching_is_in_no_row() {
    let events: Vec<Event> = trace("stream")
        .events
        .iter()
        .map(|text| text.event)
        .collect();
    let first = events
        .iter()
        .position(|event| matches!(event.what, What::Async(_)));
    let (table, decisions) = watched(&events[first.unwrap()..], Some(64 << 20));
    assert_eq!(decisions[0].pattern, None);
    assert_eq!((table.undecided, table.all.count), (1, 16));
    assert_eq!(counts(&table), [(Pattern::Subsequent, 15, 0)]);
}

#[test]
fn a_line_that_is_cut_off_is_an_error_that_names_it_and_other_lines_are_passed_over() {
    let line = "dd-5908 [001] ..... 35276.204191: page_cache_sync_ra: dev=0:3 ino=700000 index=0";
    let error = parse_trace_text(line.as_bytes(), PAGE).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("line 1: the fields of this event"),
        "{error}"
    );
    let others = "# tracer: nop\n\nCPU:1 [LOST 17 EVENTS]\n\
                  dd-5908 [001] ..... 35276.204191: sched_switch: prev_comm=page_cache_sync_ra\n";
    let text = parse_trace_text(others.as_bytes(), PAGE).unwrap();
    assert_eq!((text.events.len(), text.lost), (0, 17));
}

#[test]
fn names_of_threads_may_hold_blanks_and_brackets_and_trace_cmd_writes_no_flags() {
    let fields = "dev=0:3 ino=700000 index=0 nr_to_read=9 lookahead_size=0";
    let kernel = format!("a [b] -c-17 [001] d..2. 1.000002: page_cache_ra_unbounded: {fields}\n");
    let text = parse_trace_text(kernel.as_bytes(), PAGE).unwrap();
    let first = &text.events[0];
    assert_eq!((first.comm.as_str(), first.event.thread), ("a [b] -c", 17));
    assert_eq!(first.event.at_ns, 1_000_002_000);
    let other = format!("dd-5 [000] 1.5: page_cache_ra_unbounded:   {fields}\n");
    let text = parse_trace_text(other.as_bytes(), PAGE).unwrap();
    assert_eq!(text.events[0].event.at_ns, 1_500_000_000);
    let what = What::Unbounded { index: 0, pages: 9 };
    assert_eq!(
        (text.events[0].event.file, text.events[0].event.what),
        (DEVICE, what)
    );
}

#[test]
fn a_page_that_comes_twice_was_dropped_in_between_though_no_event_said_so() {
    let event = |at_ns, what| Event {
        at_ns,
        thread: 1,
        file: DEVICE,
        what,
    };
    let asked = |at_ns| {
        [
            event(at_ns, What::Unbounded { index: 8, pages: 4 }),
            event(at_ns + 1, What::Added { index: 8, pages: 4 }),
        ]
    };
    let events: Vec<Event> = asked(10).into_iter().chain(asked(20)).collect();
    let (table, _) = watched(&events, None);
    assert_eq!((table.pages.added, table.pages.used), (8, 0));
    assert_eq!(
        (table.pages.dropped_unused, table.pages.left_unused),
        (4, 4)
    );
}
