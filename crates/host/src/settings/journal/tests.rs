//! A journal is read as it was written, or not at all.

use super::*;
use proptest::prelude::*;

pub(crate) fn journal() -> Journal {
    let setting = |name: &str| Setting::parse(name).expect("a setting");
    Journal {
        boot_id: "0e96c943-b902-46e5-b74b-74722769f0bd".to_owned(),
        process: 4711,
        start_ticks: 88_123,
        began: "2026-11-21T20:00:00Z".to_owned(),
        command: "diskfacts tune '/dev/disk with blanks'".to_owned(),
        devices: vec![Identity {
            name: "loop0".to_owned(),
            major: 7,
            minor: 0,
            diskseq: Some(6313),
            queue: Some(6924),
            sectors: Some(131_072),
            serial: None,
            backing_file: Some("/tmp/a file\n100 %".to_owned()),
        }],
        set: vec![Old {
            device: Some(0),
            setting: setting("read_ahead_kb"),
            value: "17".to_owned(),
        }],
        old: vec![
            Old {
                device: Some(0),
                setting: setting("write_cache"),
                value: "write back".to_owned(),
            },
            Old {
                device: None,
                setting: setting("vm/dirty_ratio"),
                value: "20".to_owned(),
            },
        ],
    }
}

#[test]
fn a_journal_is_read_as_it_was_written() {
    let text = journal().encode();
    assert_eq!(Journal::parse(text.as_bytes()), Ok(journal()), "{text}");
}

#[test]
fn the_hash_is_that_of_the_published_vectors() {
    // http://www.isthe.com/chongo/src/fnv/test_fnv.c
    assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
}

#[test]
fn a_journal_that_was_cut_anywhere_is_torn() {
    let text = journal().encode();
    for length in 0..text.len() {
        let read = Journal::parse(&text.as_bytes()[..length]);
        assert_eq!(read, Err(Unreadable::Torn), "cut at {length}");
    }
}

#[test]
fn a_journal_in_which_anything_was_changed_is_not_believed() {
    let text = journal().encode().into_bytes();
    for index in 0..text.len() {
        let mut changed = text.clone();
        changed[index] ^= 1;
        let read = Journal::parse(&changed);
        assert!(read.is_err(), "byte {index}: {read:?}");
    }
}

#[test]
fn a_journal_of_a_newer_version_is_kept_and_not_taken_for_torn() {
    let body = "diskfacts settings journal 2\nboot x\n";
    let text = format!("{body}end 0 {:016x}\n", fnv1a(body.as_bytes()));
    let read = Journal::parse(text.as_bytes());
    assert!(matches!(read, Err(Unreadable::Damaged(_))), "{read:?}");
}

/// A journal with this line in the place of its first old value, with a fitting hash.
fn forged(line: &str) -> Result<Journal, Unreadable> {
    let text = journal().encode();
    let lines = text.lines().filter(|line| !line.starts_with("end "));
    let body: String = lines
        .map(|old| if old.starts_with("old 0 ") { line } else { old })
        .flat_map(|line| [line, "\n"])
        .collect();
    let text = format!("{body}end 2 {:016x}\n", fnv1a(body.as_bytes()));
    Journal::parse(text.as_bytes())
}

#[test]
fn whoever_writes_a_journal_names_known_settings_with_values_that_they_have() {
    assert!(forged("old 0 write_cache write through").is_ok());
    assert!(forged("old 0 iosched/slice_idle -1").is_ok());
    for line in [
        "old 0 ../../../../etc/passwd 1",
        "old 0 iosched/../../nomerges 1",
        "old 0 write_cache maybe",
        "old 0 write_cache",
        "old 0 nomerges 1%0Aecho",
        "old 0 nomerges -1",
        "old 0 scheduler /bin/sh",
        "old 0 scheduler ",
        "old 0 kernel/core_pattern |/bin/sh",
        // A setting of the machine on a device, and the other way round.
        "old 0 vm/dirty_ratio 20",
        "old - nomerges 1",
        "old 1 nomerges 1",
        "device 8:0 ../etc/passwd",
        "device 8:0 .hidden",
        "device 8:0 a//b",
    ] {
        let read = forged(line);
        assert!(
            matches!(read, Err(Unreadable::Damaged(_))),
            "{line}: {read:?}"
        );
    }
    assert!(
        forged("device 8:0 cciss/c0d0").is_err(),
        "one old value is missing"
    );
}

#[test]
fn what_the_kernel_makes_of_a_value_is_what_was_set_too() {
    let journal = journal();
    let of = |device, now: &str| {
        let mut of = journal.set[0].clone();
        of.device = device;
        journal.has_set(&of, now)
    };
    assert!(of(Some(0), "17") && of(Some(0), "16"), "whole pages");
    assert!(!of(Some(0), "128") && !of(None, "17"));
}

proptest! {
    #[test]
    fn any_text_in_it_comes_back(command in any::<String>(), file in any::<String>(), value: u64) {
        let mut journal = journal();
        journal.command = command;
        journal.devices[0].backing_file = Some(file);
        journal.old[1].value = value.to_string();
        let text = journal.encode();
        prop_assert!(text.is_ascii());
        prop_assert_eq!(Journal::parse(text.as_bytes()), Ok(journal));
    }
}
