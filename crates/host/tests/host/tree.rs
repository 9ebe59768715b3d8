//! Captured trees, unpacked. Their format is described in `tests/trees`.

use diskfacts_host::{Roots, Subject, SubjectKind};
use diskfacts_testkit::{unpack_tree, write_in_tree};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

pub(crate) struct Tree {
    folder: TempDir,
}

impl Tree {
    pub(crate) fn unpack(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/trees")
            .join(format!("{name}.tree"));
        let text = fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("reading {}: {error}", path.display()));
        let folder = tempfile::tempdir().expect("a temporary folder");
        unpack_tree(&text, folder.path());
        Self { folder }
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots::under(self.folder.path())
    }

    /// Replaces or adds a file.
    pub(crate) fn put(&self, path: &str, content: &str) {
        write_in_tree(self.folder.path(), path, content.as_bytes());
    }

    /// A symbolic link to another place of the tree.
    pub(crate) fn link(&self, path: &str, to: &str) {
        let path = self.folder.path().join(path);
        std::os::unix::fs::symlink(self.folder.path().join(to), &path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Removes a file, or a folder with all that it holds.
    pub(crate) fn remove(&self, path: &str) {
        let path = self.folder.path().join(path);
        let removed = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        removed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// A folder of the captured machine, known by its path alone.
pub(crate) fn folder(path: &str) -> Subject {
    Subject {
        path: path.into(),
        kind: SubjectKind::Folder,
        // A number that no mount has, as a subvolume of btrfs has one.
        filesystem_number: (0, 9999),
        filesystem_uuid: None,
        mount_id: None,
        space: None,
    }
}

/// A block device of the captured machine.
pub(crate) fn device(path: &str, major: u32, minor: u32) -> Subject {
    Subject {
        kind: SubjectKind::BlockDevice { major, minor },
        ..folder(path)
    }
}
