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
            sectors: Some(131_072),
            serial: None,
            backing_file: Some("/tmp/a file\n100 %".to_owned()),
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

proptest! {
    #[test]
    fn any_text_in_it_comes_back(command in any::<String>(), value in any::<String>()) {
        let mut journal = journal();
        journal.command = command;
        journal.old[0].value = value;
        let text = journal.encode();
        prop_assert!(text.is_ascii());
        prop_assert_eq!(Journal::parse(text.as_bytes()), Ok(journal));
    }
}
