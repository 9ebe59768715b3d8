//! Any look may fail, and then nothing is given up.

use super::*;
use crate::look::failing;

const EMFILE: i32 = 24;
const EACCES: i32 = 13;
const EIO: i32 = 5;
const ENOENT: i32 = 2;

#[test]
fn whichever_look_fails_the_journal_stays_until_all_is_put_back() {
    for errno in [EMFILE, EACCES, EIO] {
        for gone in [false, true] {
            let mut kept = 0;
            for number in 0.. {
                let machine = Machine::new();
                let path = left_behind(&machine, "this-boot");
                if gone {
                    let numbers = machine.root.path().join("sys/dev/block");
                    fs::remove_file(numbers.join("8:0")).expect("a link");
                }
                let restore =
                    || restore_stale(&machine.roots, &machine.folder, &mut Steps::default());
                let (restored, failed) = failing::at(number, errno, restore);
                if !failed {
                    assert_eq!(machine.journals(), 0);
                    break;
                }
                let seen = format!("look {number} with errno {errno}: {restored:?}");
                let as_before =
                    machine.vm("dirty_ratio") == "30" && (gone || machine.queue("nomerges") == "1");
                if !path.exists() {
                    assert!(as_before, "{seen}");
                    continue;
                }
                kept += 1;
                // It is named, or the journal or the folder that could not be read.
                let named = match &restored {
                    Ok(restored) => match &restored[..] {
                        [Restored::PutBack { back, .. }] => back.failed.join(" "),
                        [Restored::Kept { path, .. }] => path.display().to_string(),
                        _ => panic!("{seen}"),
                    },
                    Err(error) => error.to_string(),
                };
                let whole = named.contains(&machine.folder.path().display().to_string());
                for (setting, is) in [
                    ("nomerges", gone || machine.queue("nomerges") == "1"),
                    ("vm/dirty_ratio", machine.vm("dirty_ratio") == "30"),
                ] {
                    let said = named.contains(&format!("`{setting}`"));
                    assert!(is || whole || said, "{setting}: {seen}");
                }
                assert!(!named.is_empty(), "{seen}");
                // And the next one puts it back.
                restore().expect("a folder");
                assert_eq!(machine.vm("dirty_ratio"), "30", "{seen}");
                assert_eq!(machine.journals(), 0, "{seen}");
            }
            assert!(kept >= 10, "{kept}");
        }
    }
}

#[test]
fn a_run_that_cannot_look_when_it_ends_keeps_its_journal() {
    for errno in [EMFILE, EACCES, EIO, ENOENT] {
        for number in 0.. {
            let machine = Machine::new();
            let stages: [&[(&str, &str)]; 1] = [&[("nomerges", "2"), ("vm/dirty_ratio", "11")]];
            let mut changes = machine.begin(&stages).expect("it begins").expect("changes");
            changes.apply(0).expect("it applies");
            let (back, failed) = failing::at(number, errno, || changes.finish());
            if !failed {
                break;
            }
            let as_before = machine.queue("nomerges") == "0" && machine.vm("dirty_ratio") == "20";
            let seen = format!("look {number} with errno {errno}: {back:?}");
            let complete = back.is_ok_and(|back| back.is_complete());
            assert!(as_before || machine.journals() == 1, "{seen}");
            assert!(as_before || !complete, "{seen}");
        }
    }
}

#[test]
fn a_device_is_gone_only_where_a_listing_lacks_it() {
    let machine = Machine::new();
    let path = left_behind(&machine, "this-boot");
    let numbers = machine.root.path().join("sys/dev/block");
    let restore =
        || restore_stale(&machine.roots, &machine.folder, &mut Steps::default()).expect("a folder");
    let failed = |restored: &[Restored]| match restored {
        [Restored::PutBack { back, .. }] => back.failed.clone(),
        _ => panic!("{restored:?}"),
    };
    // No listing at all.
    fs::rename(&numbers, numbers.with_file_name("hidden")).expect("a folder");
    let said = failed(&restore());
    assert!(
        said[0].contains("`nomerges` of sda was 1 and now unknown"),
        "{said:?}"
    );
    assert!(said[0].contains("echo 1 > "), "{said:?}");
    assert!(
        said[0].ends_with("sys/dev/block/8:0/queue/nomerges"),
        "{said:?}"
    );
    assert!(path.exists());
    // Listed, and its folder hidden.
    fs::rename(numbers.with_file_name("hidden"), &numbers).expect("a folder");
    let block = machine.root.path().join("sys/block");
    fs::rename(&block, block.with_file_name("hidden")).expect("a folder");
    let said = failed(&restore());
    assert!(said[0].contains("a part of sysfs is hidden"), "{said:?}");
    assert!(path.exists());
    // Not listed.
    fs::remove_file(numbers.join("8:0")).expect("a link");
    assert_eq!(failed(&restore()), [""; 0]);
    assert!(!path.exists());
}
