//! What tests left on the machine though they ended.
//!
//! Each test makes what it needs in a folder of its own, `diskfacts-test-…`, and takes it
//! down. A loop device that is over a file in such a folder when the folder is gone
//! belongs to nobody: it would stay until the machine is started again.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How the folders of tests begin (`diskfacts-testkit`).
const PREFIX: &str = "diskfacts-test-";
/// The kernel detaches a device some time after the last process closed it.
const LOOKS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// Loop devices over files of tests that are gone: `loop3 over /tmp/diskfacts-test-a/file`.
pub(super) fn behind() -> BTreeSet<String> {
    loop_devices(Path::new("/sys/block"))
}

/// What was left since `before`, as failures; empty when nothing was.
pub(super) fn since(before: &BTreeSet<String>) -> Vec<String> {
    let mut left = Vec::new();
    for _ in 0..LOOKS {
        left = behind().difference(before).cloned().collect();
        if left.is_empty() {
            break;
        }
        thread::sleep(PAUSE);
    }
    let left = left.into_iter();
    left.map(|what| format!("a test left {what} (`losetup --detach` removes it)"))
        .collect()
}

fn loop_devices(sys_block: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(sys_block).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let backing = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
            let backing = backing.trim_end().trim_end_matches(" (deleted)");
            is_of_nobody(Path::new(backing)).then(|| {
                let device = entry.file_name();
                format!("{} over {backing}", device.to_string_lossy())
            })
        })
        .collect()
}

/// Whether it lies in the folder of a test, and that is gone.
fn is_of_nobody(backing: &Path) -> bool {
    let is_of_test = |folder: &&Path| {
        let name = folder.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with(PREFIX)
    };
    let folder = backing.ancestors().skip(1).find(is_of_test);
    folder.is_some_and(|folder| !folder.exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A folder that is removed at the end.
    struct Tree(PathBuf);

    impl Drop for Tree {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn only_devices_over_files_of_tests_that_are_gone_are_told() {
        let root = std::env::temp_dir().join(format!("xtask-left-{}", std::process::id()));
        let tree = Tree(root);
        let alive = tree.0.join("diskfacts-test-alive");
        fs::create_dir_all(&alive).expect("a folder");
        let gone = tree.0.join("diskfacts-test-gone");
        let elsewhere = tree.0.join("gone");
        for (device, backing) in [
            ("loop0", alive.join("file")),
            ("loop1", gone.join("data/#12")),
            ("loop2", elsewhere.join("file")),
        ] {
            let folder = tree.0.join("sys").join(device).join("loop");
            fs::create_dir_all(&folder).expect("a folder");
            let shown = format!("{} (deleted)\n", backing.display());
            fs::write(folder.join("backing_file"), shown).expect("a file");
        }
        fs::create_dir_all(tree.0.join("sys/vda")).expect("a folder");
        let told = loop_devices(&tree.0.join("sys"));
        let shown = format!("loop1 over {}", gone.join("data/#12").display());
        assert_eq!(told, BTreeSet::from([shown]));
    }
}
