//! Captured trees, unpacked. Their format is described in `tests/trees`.

use diskfacts_host::{Roots, Subject, SubjectKind};
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
        let mut file: Option<(String, Vec<u8>)> = None;
        for line in text.lines() {
            let (mark, rest) = line.split_at_checked(1).unwrap_or((line, ""));
            if mark == "|" {
                let (_, content) = file.as_mut().expect("a file before its lines");
                content.extend_from_slice(rest.as_bytes());
                content.push(b'\n');
                continue;
            }
            if let Some((_, content)) = &mut file
                && !line.is_empty()
                && line
                    .bytes()
                    .all(|byte| byte == b' ' || byte.is_ascii_hexdigit())
            {
                content.extend(line.split_ascii_whitespace().map(|byte| {
                    u8::from_str_radix(byte, 16).unwrap_or_else(|_| panic!("hex in `{line}`"))
                }));
                continue;
            }
            write(folder.path(), file.take());
            match mark {
                "#" => {}
                ">" | "*" => file = Some((rest.trim().to_owned(), Vec::new())),
                "/" => fs::create_dir_all(folder.path().join(rest.trim())).expect("a folder"),
                "@" => {
                    let (link, target) = rest.trim().split_once(" -> ").expect("a target");
                    let link = folder.path().join(link);
                    fs::create_dir_all(link.parent().expect("a parent")).expect("a folder");
                    std::os::unix::fs::symlink(target, link).expect("a symbolic link");
                }
                _ => panic!("a line that is no entry: `{line}`"),
            }
        }
        write(folder.path(), file);
        Self { folder }
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots::under(self.folder.path())
    }

    /// Replaces or adds a file.
    pub(crate) fn put(&self, path: &str, content: &str) {
        write(
            self.folder.path(),
            Some((path.to_owned(), content.as_bytes().to_vec())),
        );
    }

    pub(crate) fn remove(&self, path: &str) {
        let path = self.folder.path().join(path);
        fs::remove_file(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

fn write(root: &Path, file: Option<(String, Vec<u8>)>) {
    if let Some((path, content)) = file {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// A folder of the captured machine, known by its path alone.
pub(crate) fn folder(path: &str) -> Subject {
    Subject {
        path: path.into(),
        kind: SubjectKind::Folder,
        // A number that no mount has, as a subvolume of btrfs has one.
        filesystem_number: (0, 9999),
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
