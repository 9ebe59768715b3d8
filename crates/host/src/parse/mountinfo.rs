//! `/proc/self/mountinfo`: what is mounted where, in this mount namespace.
//!
//! Source: kernel, `Documentation/filesystems/proc.rst` section 3.5,
//! `fs/proc_namespace.c`.

use super::{ParseError, lines};

const FORMAT: &str = "mountinfo";

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mount {
    /// The number that `statx` calls `stx_mnt_id`; reused after an unmount.
    pub id: u64,
    /// The mount that this one is mounted on.
    pub parent: u64,
    /// Major number of the superblock; 0 for one without a single block device.
    pub major: u32,
    /// Minor number of the superblock.
    pub minor: u32,
    /// The folder of the filesystem that is seen at the mount point: `/`, or
    /// a folder for a bind mount, or a subvolume.
    pub root: String,
    /// Where it is seen.
    pub mount_point: String,
    /// Options of this mount.
    pub options: Vec<String>,
    /// `ext4`, `tmpfs`, `fuse.sshfs`.
    pub kind: String,
    /// What is mounted, as the filesystem has it: a device, a name, anything.
    pub source: String,
    /// Options of the filesystem.
    pub super_options: Vec<String>,
}

impl Mount {
    /// Mounted for reading only, here or as a whole.
    pub fn read_only(&self) -> bool {
        let is_ro = |option: &String| option == "ro";
        self.options.iter().any(is_ro) || self.super_options.iter().any(is_ro)
    }

    /// The value of the filesystem's option `key=value`.
    pub fn super_option(&self, key: &str) -> Option<&str> {
        self.super_options
            .iter()
            .find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
    }

    /// All values of the filesystem's option `key=value`, in their order.
    pub fn all_super_options<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.super_options
            .iter()
            .filter_map(move |option| option.strip_prefix(key)?.strip_prefix('='))
    }
}

impl Mount {
    /// The folders that an overlay joins: the one that takes the writes first, then
    /// those that unchanged files are read from.
    pub fn overlay_folders(&self) -> impl Iterator<Item = &str> {
        self.super_option("upperdir")
            .into_iter()
            .chain(
                self.all_super_options("lowerdir")
                    .flat_map(|folders| folders.split(':')),
            )
            // Since Linux 6.5 each lower folder has an option of its own.
            .chain(self.all_super_options("lowerdir+"))
            .chain(self.all_super_options("datadir+"))
            .filter(|folder| !folder.is_empty())
    }
}

/// Reads `/proc/self/mountinfo`.
///
/// # Errors
/// When a line lacks one of the ten columns or the ` - ` between the two parts.
pub fn parse_mountinfo(bytes: &[u8]) -> Result<Vec<Mount>, ParseError> {
    lines(bytes)
        .map(|(index, line)| parse_line(index, &line))
        .collect()
}

fn parse_line(index: usize, line: &str) -> Result<Mount, ParseError> {
    let wrong = |expected| ParseError::at(FORMAT, index, expected, line);
    let mut columns = line.split(' ');
    let mut next = |expected| columns.next().ok_or_else(|| wrong(expected));
    let id = next("the number of a mount")?
        .parse()
        .map_err(|_| wrong("the number of a mount"))?;
    let parent = next("the number of the parent mount")?
        .parse()
        .map_err(|_| wrong("the number of the parent mount"))?;
    let (major, minor) = next("major:minor")?
        .split_once(':')
        .ok_or_else(|| wrong("major:minor"))?;
    let major = major.parse().map_err(|_| wrong("a major device number"))?;
    let minor = minor.parse().map_err(|_| wrong("a minor device number"))?;
    let root = unescape(next("the root of the mount")?);
    let mount_point = unescape(next("a mount point")?);
    let options = split_options(next("mount options")?);
    // Any number of optional columns (`shared:1`) until a lone hyphen.
    loop {
        if next("a hyphen after the optional columns")? == "-" {
            break;
        }
    }
    let kind = unescape(next("the type of a filesystem")?);
    // An empty source leaves an empty column, which splitting on one blank keeps.
    let source = unescape(next("the source of a mount")?);
    let super_options = split_options(columns.next().unwrap_or_default());
    Ok(Mount {
        id,
        parent,
        major,
        minor,
        root,
        mount_point,
        options,
        kind,
        source,
        super_options,
    })
}

/// Options are parted by commas; overlayfs writes a comma in a path as `\,`.
fn split_options(text: &str) -> Vec<String> {
    let text = unescape(text);
    let mut options = Vec::new();
    let mut option = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&',') => {
                option.push(',');
                characters.next();
            }
            ',' => options.push(std::mem::take(&mut option)),
            other => option.push(other),
        }
    }
    options.push(option);
    options.retain(|option| !option.is_empty());
    options
}

/// Turns the kernel's `\040` for a blank (and the like for tab, newline, `#`
/// and backslash) back into the character.
pub(crate) fn unescape(text: &str) -> String {
    String::from_utf8_lossy(&unescape_bytes(text.as_bytes())).into_owned()
}

/// The same of bytes that need not be UTF-8.
pub(crate) fn unescape_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        match after {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] if *first == b'\\' => {
                plain.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = tail;
            }
            _ => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    plain
}
