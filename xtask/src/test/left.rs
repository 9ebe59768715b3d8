//! What tests left on the machine though they ended.
//!
//! Each test makes what it needs in a folder of its own, `diskfacts-test-…`, and takes it
//! down. A loop device over a removed file of such a folder that is gone, too, belongs to
//! nobody, and would stay until the machine is started again; unless the kernel detaches
//! it by itself when its last process closes it (`autoclear`).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// How the folders of tests begin (`diskfacts-testkit`).
const PREFIX: &str = "diskfacts-test-";

/// Loop devices over files of tests that are gone: `loop3 over /tmp/diskfacts-test-a/file`.
pub(super) fn behind() -> BTreeSet<String> {
    loop_devices(Path::new("/sys/block"))
}

/// What was left since `before`, as failures; empty when nothing was.
pub(super) fn since(before: &BTreeSet<String>) -> Vec<String> {
    let now = behind();
    let left = now.difference(before);
    left.map(|what| format!("a test left {what} (`losetup --detach` removes it)"))
        .collect()
}

fn loop_devices(sys_block: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(sys_block).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let read = |name: &str| fs::read_to_string(entry.path().join("loop").join(name)).ok();
            let backing = read("backing_file")?;
            let removed = backing.trim_end().strip_suffix(" (deleted)")?;
            let stays = read("autoclear")?.trim() == "0";
            (stays && is_of_nobody(Path::new(removed))).then(|| {
                let device = entry.file_name();
                format!("{} over {removed}", device.to_string_lossy())
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
        let removed = |path: &Path| format!("{} (deleted)\n", path.display());
        for (device, backing, autoclear) in [
            ("loop0", removed(&alive.join("file")), "0\n"),
            ("loop1", removed(&gone.join("data/file")), "0\n"),
            ("loop2", removed(&elsewhere.join("file")), "0\n"),
            // Gone with its process.
            ("loop3", removed(&gone.join("#12")), "1\n"),
            // Of another container, where its file is.
            ("loop4", format!("{}\n", gone.join("file").display()), "0\n"),
        ] {
            let folder = tree.0.join("sys").join(device).join("loop");
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("backing_file"), backing).expect("a file");
            fs::write(folder.join("autoclear"), autoclear).expect("a file");
        }
        fs::create_dir_all(tree.0.join("sys/vda")).expect("a folder");
        let told = loop_devices(&tree.0.join("sys"));
        let shown = format!("loop1 over {}", gone.join("data/file").display());
        assert_eq!(told, BTreeSet::from([shown]));
    }
}
