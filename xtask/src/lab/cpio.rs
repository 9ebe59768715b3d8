//! Archives that the kernel unpacks into its first root filesystem: cpio in
//! its "new ASCII" form (Documentation/driver-api/early-userspace/buffer-format.rst).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Component, Path};

/// Types of `st_mode`, as `stat(2)` has them.
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

/// What the kernel takes for the end of an archive.
const TRAILER: &str = "TRAILER!!!";

/// An archive that is being written. Folders above an entry are made by
/// themselves, once.
pub(super) struct Archive<W> {
    out: W,
    written: u64,
    inode: u32,
    folders: BTreeSet<String>,
    entries: BTreeSet<String>,
}

impl<W: Write> Archive<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            written: 0,
            inode: 0,
            folders: BTreeSet::new(),
            entries: BTreeSet::new(),
        }
    }

    /// A file; `path` has no slash in front. The first of a name counts, so
    /// that a library that many programs need is in there once.
    ///
    /// # Errors
    /// When the archive cannot be written, or the file has 4 GiB.
    pub(super) fn file(&mut self, path: &str, mode: u32, content: &[u8]) -> io::Result<()> {
        self.entry(path, FILE | mode, content)
    }

    /// A symbolic link.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub(super) fn link(&mut self, path: &str, to: &str) -> io::Result<()> {
        self.entry(path, LINK | 0o777, to.as_bytes())
    }

    /// A folder.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub(super) fn folder(&mut self, path: &str) -> io::Result<()> {
        for above in Path::new(path).ancestors().collect::<Vec<_>>().iter().rev() {
            let plain: Vec<_> = above
                .components()
                .filter(|part| matches!(part, Component::Normal(_)))
                .collect();
            let name = above.to_string_lossy().into_owned();
            if !plain.is_empty() && self.folders.insert(name.clone()) {
                self.record(&name, FOLDER | 0o755, &[])?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) -> io::Result<()> {
        if !self.entries.insert(path.to_owned()) {
            return Ok(());
        }
        if let Some(above) = Path::new(path).parent() {
            self.folder(&above.to_string_lossy())?;
        }
        self.record(path, mode, content)
    }

    /// Ends the archive, at a multiple of 512 bytes: another may follow it.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.record(TRAILER, 0, &[])?;
        self.pad(512)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn record(&mut self, name: &str, mode: u32, content: &[u8]) -> io::Result<()> {
        let size = u32::try_from(content.len()).map_err(io::Error::other)?;
        self.inode += 1;
        let fields = [
            self.inode,
            mode,
            0, // user
            0, // group
            1, // links
            0, // time of change
            size,
            0, // device
            0,
            0, // the device that it stands for
            0,
            u32::try_from(name.len() + 1).map_err(io::Error::other)?,
            0, // checksum, of another form only
        ];
        let mut header = String::from("070701");
        for field in fields {
            // Writing to a String cannot fail.
            let _ = write!(header, "{field:08X}");
        }
        self.write(format!("{header}{name}\0").as_bytes())?;
        self.pad(4)?;
        self.write(content)?;
        self.pad(4)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn pad(&mut self, to: u64) -> io::Result<()> {
        let missing = self.written.next_multiple_of(to) - self.written;
        self.write(&vec![
            0;
            usize::try_from(missing).map_err(io::Error::other)?
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names and contents, read back by a slow reader of our own.
    fn read(bytes: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
        let mut found = Vec::new();
        let mut at = 0;
        loop {
            assert_eq!(&bytes[at..at + 6], b"070701");
            let field = |n: usize| {
                let text = &bytes[at + 6 + n * 8..at + 14 + n * 8];
                u32::from_str_radix(std::str::from_utf8(text).expect("text"), 16).expect("hex")
            };
            let (mode, size, name) = (field(1), field(6) as usize, field(11) as usize);
            let start = at + 110;
            let text = String::from_utf8(bytes[start..start + name - 1].to_vec()).expect("text");
            if text == TRAILER {
                return found;
            }
            let content = (start + name).next_multiple_of(4);
            found.push((text, mode, bytes[content..content + size].to_vec()));
            at = (content + size).next_multiple_of(4);
        }
    }

    #[test]
    fn what_was_put_in_comes_out_with_the_folders_above_it_first() {
        let mut archive = Archive::new(Vec::new());
        archive.file("usr/bin/a", 0o755, b"abcde").expect("a file");
        archive.file("usr/bin/a", 0o755, b"other").expect("again");
        archive.link("bin", "usr/bin").expect("a link");
        let bytes = archive.finish().expect("an end");
        assert_eq!(bytes.len() % 512, 0);
        let shown: Vec<(String, u32, Vec<u8>)> = read(&bytes);
        let entry = |name: &str, mode, content: &[u8]| (name.to_owned(), mode, content.to_vec());
        assert_eq!(
            shown,
            [
                entry("usr", 0o040_755, b""),
                entry("usr/bin", 0o040_755, b""),
                entry("usr/bin/a", 0o100_755, b"abcde"),
                entry("bin", 0o120_777, b"usr/bin"),
            ]
        );
    }
}
