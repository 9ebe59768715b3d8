//! What the kernel itself does with settings of the machine that are put back.

use diskfacts_host::Roots;
use diskfacts_host::settings::{Journal, Old, Setting, Steps, put_back};
use diskfacts_testkit::{or_skip, require_root};
use std::fs;
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new("/proc/sys").join(name)
}

fn read(name: &str) -> String {
    let text = fs::read_to_string(file(name)).expect("a setting of the machine");
    text.trim().to_owned()
}

/// Values that are written back at the end, in a panic too.
struct AsBefore(Vec<(&'static str, String)>);

impl Drop for AsBefore {
    fn drop(&mut self) {
        for (name, value) in &self.0 {
            // 0 bytes are not taken: the ratio that is written zeroes them.
            if value != "0" && read(name) != *value {
                let _ = fs::write(file(name), value);
            }
        }
    }
}

/// For a moment write-back begins at another share of the memory, and that is all.
#[test]
fn of_a_share_and_its_bytes_the_one_that_was_in_force_comes_back() {
    const RATIO: &str = "vm/dirty_background_ratio";
    const BYTES: &str = "vm/dirty_background_bytes";
    or_skip!(require_root());
    let before = AsBefore(vec![(BYTES, read(BYTES)), (RATIO, read(RATIO))]);
    let old = |name: &str| Old {
        device: None,
        setting: Setting::parse(name).expect("a setting"),
        value: read(name),
    };
    let journal = || Journal {
        boot_id: String::new(),
        process: 1,
        start_ticks: 1,
        began: String::new(),
        command: String::new(),
        devices: Vec::new(),
        set: Vec::new(),
        // The reverse of the order in which they are put back.
        old: vec![old(RATIO), old(BYTES)],
    };
    let restore = |journal: &Journal| put_back(&Roots::default(), journal, &mut Steps::default());
    let as_found = journal();

    // The share in force, and bytes set.
    fs::write(file(RATIO), "11").expect("root may set it");
    let of_share = journal();
    fs::write(file(BYTES), "1073741824").expect("root may set it");
    assert_eq!(read(RATIO), "0", "the kernel zeroes the other");
    let back = restore(&of_share);
    assert!(back.is_complete(), "{back:?}");
    assert_eq!((&*read(RATIO), &*read(BYTES)), ("11", "0"));

    // Bytes in force, and the share set.
    fs::write(file(BYTES), "1073741824").expect("root may set it");
    let of_bytes = journal();
    fs::write(file(RATIO), "12").expect("root may set it");
    assert_eq!(read(BYTES), "0", "the kernel zeroes the other");
    let back = restore(&of_bytes);
    assert!(back.is_complete(), "{back:?}");
    assert_eq!((&*read(RATIO), &*read(BYTES)), ("0", "1073741824"));

    assert!(restore(&as_found).is_complete());
    for (name, value) in &before.0 {
        assert_eq!(read(name), *value, "{name}");
    }
}
