//! Pages of the kernel's ring buffer: captured ones, pages written here by the rules
//! of `include/linux/ring_buffer.h`, and anything else.

use diskfacts_host::parse::trace::format::{EventFormat, parse_event_format};
use diskfacts_host::parse::trace::header_page::{PageLayout, parse_header_page};
use diskfacts_host::parse::trace::page::{Missed, PageCursor};
use diskfacts_host::parse::trace::stats::parse_buffer_stats;
use diskfacts_host::trace::{Consumer, CpuPages, Event, Gap, Merge};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn corpus(target: &str, name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    fs::read(folder.join(target).join(name)).expect("an input of the corpus")
}

fn layout() -> PageLayout {
    parse_header_page(&corpus("trace_header_page", "linux-6.18")).expect("a header")
}

fn format(name: &str) -> EventFormat {
    parse_event_format(&corpus("trace_format", name)).expect("a format")
}

/// Times and bytes of all events.
fn events(page: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut cursor = PageCursor::new(&layout(), page).expect("a page");
    let mut found = Vec::new();
    while let Some(event) = cursor.next(page).expect("no damage") {
        found.push((event.time_ns, event.data.to_vec()));
    }
    found
}

#[test]
fn the_description_of_an_event_says_where_its_fields_lie() {
    let issue = format("block_rq_issue");
    assert_eq!((&*issue.name, issue.id), ("block_rq_issue", 2104));
    let sector = issue.field("sector").expect("a field");
    assert_eq!((sector.offset, sector.size, sector.signed), (16, 8, false));
    let pid = issue.field("common_pid").expect("a field");
    assert!(pid.signed);
    assert_eq!(issue.field("comm").map(|field| field.size), Some(16));
    assert_eq!(issue.field("COMM"), None);
    // A text whose place the event itself says: offset 3 and length 4.
    let mut event = [7; 64];
    event[60..].copy_from_slice(&(4_u32 << 16 | 3).to_ne_bytes());
    event[3..7].copy_from_slice(b"ab\0c");
    let command = issue.required("cmd").expect("a field");
    assert_eq!(command.text(&event), Some(&b"ab"[..]));
    event[60..].copy_from_slice(&((40_u32 << 16) + 30).to_ne_bytes());
    assert_eq!(command.text(&event), None, "beyond the end");
    assert_eq!(
        sector.unsigned(&event[..20]),
        None,
        "an event that is too short"
    );
}

#[test]
fn a_captured_page_has_the_events_that_the_kernel_counted() {
    let layout = layout();
    assert_eq!((layout.page_bytes, layout.data_offset), (4096, 16));
    let page = corpus("trace_page", "linux-6.18-0");
    let found = events(&page);
    let known = [
        "block_rq_insert",
        "block_rq_issue",
        "block_rq_complete",
        "block_io_start",
    ];
    let known = known.map(|name| format(name).id);
    assert!(found.len() > 40, "{}", found.len());
    for (index, (time_ns, data)) in found.iter().enumerate() {
        let id = u16::from_ne_bytes([data[0], data[1]]);
        assert!(known.contains(&id), "{id}");
        assert!(index == 0 || found[index - 1].0 <= *time_ns);
    }
    let stats = parse_buffer_stats(&corpus("trace_stats", "linux-6.18-overrun-cpu0"));
    assert!(stats.expect("counts").overrun > 0);
}

#[test]
fn a_captured_page_says_how_many_events_were_lost_before_it() {
    let page = corpus("trace_page", "linux-6.18-missed-0");
    let cursor = PageCursor::new(&layout(), &page).expect("a page");
    let Missed::Some(missed) = cursor.missed() else {
        panic!("{:?}", cursor.missed());
    };
    assert!((100..10_000).contains(&missed), "{missed}");
}

/// What may stand in a page, apart from the time that it comes after the one before.
#[derive(Debug, Clone)]
enum Written {
    /// An event with so many words of data, its length in its header.
    Short(u8),
    /// An event with its length in a word of its own.
    Long(u16),
    /// An event that a filter threw away.
    Discarded(u8),
    /// More time, and how much of it stands in the high bits.
    Extend(u16),
    /// The time anew.
    Stamp,
}

fn put(page: &mut Vec<u8>, kind: u32, delta: u32) {
    page.extend((kind | delta << 5).to_ne_bytes());
}

/// The data of the event with that number.
fn data(number: usize, words: usize) -> Vec<u8> {
    (0..words * 4).map(|i| (number * 31 + i) as u8).collect()
}

/// Writes a page, and says what a reader must find.
fn write(first_ns: u64, entries: &[(u32, Written)]) -> (Vec<u8>, Vec<(u64, Vec<u8>)>) {
    let mut page = vec![0; 16];
    let mut found = Vec::new();
    let mut now = first_ns;
    for (number, (delta, written)) in entries.iter().enumerate() {
        let delta = delta & 0x7ff_ffff;
        match written {
            Written::Short(words) => {
                let words = usize::from(*words % 28) + 1;
                now += u64::from(delta);
                put(&mut page, words as u32, delta);
                page.extend(data(number, words));
                found.push((now, data(number, words)));
            }
            Written::Long(words) => {
                let words = usize::from(*words);
                now += u64::from(delta);
                put(&mut page, 0, delta);
                page.extend((words as u32 * 4 + 4).to_ne_bytes());
                page.extend(data(number, words));
                found.push((now, data(number, words)));
            }
            Written::Discarded(words) => {
                // The kernel writes no 0 here, and 1 where there was one.
                let delta = delta.max(1);
                now += if delta == 1 { 0 } else { u64::from(delta) };
                put(&mut page, 29, delta);
                page.extend((u32::from(*words) * 4 + 4).to_ne_bytes());
                page.extend(vec![0xAA; usize::from(*words) * 4]);
            }
            Written::Extend(high) => {
                now += u64::from(*high) << 27 | u64::from(delta);
                put(&mut page, 30, delta);
                page.extend(u32::from(*high).to_ne_bytes());
            }
            Written::Stamp => {
                now += u64::from(delta);
                put(&mut page, 31, (now & 0x7ff_ffff) as u32);
                page.extend(((now >> 27) as u32).to_ne_bytes());
            }
        }
    }
    let events = (page.len() - 16) as u64;
    page[..8].copy_from_slice(&first_ns.to_ne_bytes());
    page[8..16].copy_from_slice(&events.to_ne_bytes());
    (page, found)
}

fn written() -> impl Strategy<Value = Written> {
    prop_oneof![
        4 => any::<u8>().prop_map(Written::Short),
        1 => (29_u16..200).prop_map(Written::Long),
        1 => any::<u8>().prop_map(Written::Discarded),
        1 => any::<u16>().prop_map(Written::Extend),
        1 => Just(Written::Stamp),
    ]
}

fn entries() -> impl Strategy<Value = Vec<(u32, Written)>> {
    prop::collection::vec((any::<u32>(), written()), 0..60)
}

#[derive(Default)]
struct Seen {
    events: Vec<(u64, u32, Vec<u8>)>,
    gaps: Vec<Gap>,
}

impl Consumer for Seen {
    fn event(&mut self, event: &Event<'_>) {
        self.events
            .push((event.time_ns, event.cpu, event.data.to_vec()));
    }

    fn lost(&mut self, gap: Gap) {
        self.gaps.push(gap);
    }
}

/// Pages of all lengths: as many bytes as the longest has.
fn of_length(page_bytes: usize) -> PageLayout {
    PageLayout {
        page_bytes,
        ..layout()
    }
}

#[cfg(target_endian = "little")]
proptest! {
    #[test]
    fn what_was_written_by_the_rules_is_read(
        first_ns in 0_u64..1 << 62,
        entries in entries(),
    ) {
        let (page, found) = write(first_ns, &entries);
        prop_assert_eq!(events(&page), found);
    }

    #[test]
    fn the_rest_of_a_page_is_padding_where_it_says_so(entries in entries()) {
        let (mut page, found) = write(5, &entries);
        put(&mut page, 29, 0);
        page.extend([0xFF; 40]);
        let length = (page.len() - 16) as u64;
        page[8..16].copy_from_slice(&length.to_ne_bytes());
        prop_assert_eq!(events(&page), found);
    }

    #[test]
    fn events_of_several_processors_come_in_order_of_time_and_none_is_left_out(
        cpus in prop::collection::vec(
            prop::collection::vec((1_u64..1000, entries()), 0..4), 1..5),
        steps in prop::collection::vec(any::<u32>(), 0..4),
    ) {
        let mut pages = Vec::new();
        let mut expected = Vec::new();
        for (cpu, written) in cpus.iter().enumerate() {
            let mut now = 0;
            for (later, entries) in written {
                let (page, found) = write(now + later, entries);
                now = found.last().map_or(now + later, |(time_ns, _)| *time_ns);
                // No time goes back, though what comes after the last event may.
                expected.extend(found.into_iter().map(|(t, data)| (t, cpu as u32, data)));
                pages.push((cpu, page));
            }
        }
        expected.sort_by_key(|(time_ns, cpu, _)| (*time_ns, *cpu));
        let longest = pages.iter().map(|(_, page)| page.len()).max().unwrap_or(17);
        let layout = of_length(longest);
        let mut merge = Merge::new((0..cpus.len()).map(|c| CpuPages::new(c as u32, layout)).collect());
        for (cpu, page) in &pages {
            let pushed = merge.cpus_mut()[*cpu].push(|room| {
                room[..page.len()].copy_from_slice(page);
                Ok(room.len())
            });
            prop_assert!(matches!(pushed, Ok(true)));
        }
        let mut seen = Seen::default();
        let mut steps: Vec<u64> = steps.iter().map(|step| u64::from(*step) << 4).collect();
        steps.sort_unstable();
        for until_ns in steps {
            merge.give(until_ns, &mut seen);
            let last = seen.events.last().map_or(0, |(time_ns, ..)| *time_ns);
            prop_assert!(last == 0 || last < until_ns);
            let left = &expected[seen.events.len()..];
            prop_assert!(left.first().is_none_or(|(time_ns, ..)| *time_ns >= until_ns));
        }
        merge.finish(&mut seen);
        prop_assert_eq!(seen.events, expected);
        prop_assert_eq!((merge.late(), merge.damage().0), (0, 0));
    }

    #[test]
    fn no_page_makes_the_reader_panic_or_leave_the_page(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let layout = of_length(bytes.len().max(17));
        let mut pages = CpuPages::new(3, layout);
        let pushed = pages.push(|room| {
            room[..bytes.len()].copy_from_slice(&bytes);
            Ok(room.len())
        });
        prop_assert!(matches!(pushed, Ok(true)));
        let mut merge = Merge::new(vec![pages]);
        merge.finish(&mut |event: &Event<'_>| assert!(event.data.len() <= bytes.len()));
    }
}

#[test]
fn a_gap_is_told_before_the_event_behind_it_and_pages_that_are_damaged_are_counted() {
    let one = [(10, Written::Short(0))];
    let (first, _) = write(1000, &one);
    let (mut second, _) = write(2000, &one);
    // 17 events were lost; the number stands behind the events.
    let length = (second.len() - 16) as u64;
    second[8..16].copy_from_slice(&(length | 3 << 30).to_ne_bytes());
    second.extend(17_u64.to_ne_bytes());
    let (mut third, _) = write(3000, &one);
    third[8..16].copy_from_slice(&(4000_u64 + (1 << 31)).to_ne_bytes());
    let (mut fourth, _) = write(4000, &one);
    let length = (fourth.len() - 16) as u64;
    fourth[8..16].copy_from_slice(&(length | 1 << 31).to_ne_bytes());
    let mut pages = CpuPages::new(6, of_length(second.len()));
    for page in [first, second, third, fourth] {
        let pushed = pages.push(|room| {
            room[..page.len()].copy_from_slice(&page);
            Ok(room.len())
        });
        assert!(pushed.expect("memory"));
    }
    assert_eq!(pages.pages(), 4);
    let mut merge = Merge::new(vec![pages]);
    let mut seen = Seen::default();
    merge.finish(&mut seen);
    let times: Vec<u64> = seen.events.iter().map(|(time_ns, ..)| *time_ns).collect();
    assert_eq!(times, [1010, 2010, 4010]);
    let gap = |before_ns, events| Gap {
        cpu: 6,
        before_ns,
        events,
    };
    assert_eq!(seen.gaps, [gap(2000, Some(17)), gap(4000, None)]);
    let (damaged, why) = merge.damage();
    assert_eq!(damaged, 1);
    assert_eq!(
        why.expect("a reason").to_string(),
        "byte 8 of a page of trace events: it claims more events than it has bytes"
    );
    assert_eq!(merge.held_bytes(), 0);
}

#[test]
fn memory_of_pages_that_were_taken_is_used_again() {
    let (page, _) = write(1, &[(1, Written::Short(0))]);
    // Few of them are allocated at once.
    let layout = of_length(64 << 10);
    let mut merge = Merge::new(vec![CpuPages::new(0, layout)]);
    let mut events = 0;
    for round in 1..=1000_u64 {
        let mut page = page.clone();
        page[..8].copy_from_slice(&round.to_ne_bytes());
        let pushed = merge.cpus_mut()[0].push(|room| {
            room[..page.len()].copy_from_slice(&page);
            Ok(room.len())
        });
        assert!(pushed.expect("memory"));
        // A few always wait, so that the pages never are all taken.
        if round % 7 == 0 {
            merge.give(round - 3, &mut |_: &Event<'_>| events += 1);
        }
        // Ten pages at most wait, over six times two.
        assert!(merge.held_bytes() <= 6 * (128 << 10));
    }
    merge.finish(&mut |_: &Event<'_>| events += 1);
    assert_eq!(events, 1000);
}
