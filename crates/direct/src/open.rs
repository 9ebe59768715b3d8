//! Opening a file or a device for direct, durable or exclusive I/O, and saying
//! what was granted.
//!
//! A system may refuse direct I/O loudly (`EINVAL`), quietly (the flag is
//! accepted and ignored) or not at all; the same holds for exclusivity. So
//! [`Opened::granted`] is what the system says about the open file, read back,
//! and not what was asked.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::as_file::lends_its_file;
use crate::error::Subject;
use crate::space::length;
use crate::{DirectAlignment, Error, os};

/// Whether I/O shall bypass the system's page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Direct {
    /// I/O goes through the page cache.
    #[default]
    No,
    /// I/O bypasses the page cache if the system grants it; if not,
    /// [`Granted::direct_refused`] says why.
    IfPossible,
    /// I/O bypasses the page cache, or opening fails.
    Required,
}

/// What a write promises when it returns.
///
/// None of the three empties the write cache of a drive that lies about it;
/// see [`sync_to_medium`](crate::sync_to_medium).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub enum Durability {
    /// The system has the data.
    #[default]
    None,
    /// The device has the data and what is needed to read them back, such as
    /// the file's new length (`O_DSYNC`).
    Data,
    /// The device has the data and all of the file's metadata, such as its
    /// time of modification (`O_SYNC`).
    Full,
}

/// Whom an exclusive open keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Exclusivity {
    /// No one.
    #[default]
    None,
    /// Those who ask for the same advisory lock (`flock`, `O_EXLOCK`).
    /// Everyone else reads and writes as before.
    Advisory,
    /// The system's own use of a block device (mounting, RAID, swap) and other
    /// exclusive opens; plain opens still succeed (Linux: `O_EXCL`).
    Claim,
    /// Every other open (Windows: share mode 0).
    Mandatory,
}

/// What the system granted, read back from the open file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Granted {
    /// Whether I/O bypasses the page cache.
    pub direct: bool,
    /// Why direct I/O was not granted, when it was asked for.
    pub direct_refused: Option<String>,
    /// What the grant of direct I/O does not mean here, when that is known:
    /// on tmpfs, for example, there is no device to go to directly.
    pub direct_caveat: Option<String>,
    /// What each write promises.
    pub durability: Durability,
    /// Whom the open file keeps out.
    pub exclusive: Exclusivity,
    /// Whether the open file can be written. False, though writing was asked
    /// for, on a block device that is set read-only: Linux opens it, and
    /// refuses each write.
    pub write: bool,
    /// Why the file cannot be written, when writing was asked for.
    pub write_refused: Option<String>,
}

/// An open file, and what was granted.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The open file. Closing it gives up what [`Granted::exclusive`] holds.
    pub file: File,
    /// What the system granted.
    pub granted: Granted,
}

lends_its_file!(Opened, |opened| &opened.file);

impl Opened {
    /// What transfers of this open file must obey: its rule where direct I/O was
    /// granted, and nothing where it was not.
    ///
    /// # Errors
    /// As [`direct_alignment`](crate::direct_alignment).
    pub fn alignment(&self) -> Result<DirectAlignment, Error> {
        if self.granted.direct {
            os::direct_alignment(&self.file)
        } else {
            Ok(DirectAlignment::none())
        }
    }
}

/// How to open a file or a device.
///
/// ```
/// use directio::{Direct, Durability, OpenOptions};
///
/// let path = std::env::temp_dir().join(format!("directio-doc-{}", std::process::id()));
/// let opened = OpenOptions::new()
///     .read(true)
///     .write(true)
///     .create(true)
///     .direct(Direct::IfPossible)
///     .durability(Durability::Data)
///     .open(&path)?;
/// std::fs::remove_file(&path).expect("the file was just made");
/// assert!(opened.granted.durability >= Durability::Data);
/// if !opened.granted.direct {
///     eprintln!("buffered: {}", opened.granted.direct_refused.unwrap_or_default());
/// }
/// # Ok::<(), directio::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent options, as in std::fs::OpenOptions"
)]
pub struct OpenOptions {
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) create: bool,
    pub(crate) create_new: bool,
    pub(crate) truncate: bool,
    pub(crate) direct: Direct,
    pub(crate) durability: Durability,
    pub(crate) exclusive: bool,
    #[cfg(unix)]
    pub(crate) custom_flags: i32,
    #[cfg(unix)]
    pub(crate) mode: Option<u32>,
}

impl OpenOptions {
    /// Nothing is asked for: at least [`read`](Self::read) or
    /// [`write`](Self::write) must follow.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens for reading.
    #[must_use]
    pub fn read(mut self, read: bool) -> Self {
        self.read = read;
        self
    }

    /// Opens for writing.
    #[must_use]
    pub fn write(mut self, write: bool) -> Self {
        self.write = write;
        self
    }

    /// Makes the file if it does not exist. Needs [`write`](Self::write).
    #[must_use]
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Makes the file, and fails if it exists already. Needs
    /// [`write`](Self::write).
    #[must_use]
    pub fn create_new(mut self, create_new: bool) -> Self {
        self.create_new = create_new;
        self
    }

    /// Makes the file empty, after everything else was granted: a refusal leaves
    /// what it holds. Needs [`write`](Self::write).
    #[must_use]
    pub fn truncate(mut self, truncate: bool) -> Self {
        self.truncate = truncate;
        self
    }

    /// Asks to bypass the page cache: `O_DIRECT`, on macOS `F_NOCACHE`, on
    /// Windows `FILE_FLAG_NO_BUFFERING`.
    #[must_use]
    pub fn direct(mut self, direct: Direct) -> Self {
        self.direct = direct;
        self
    }

    /// Asks that each write waits for the device: `O_DSYNC` or `O_SYNC`, on
    /// Windows `FILE_FLAG_WRITE_THROUGH` for both.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Asks to keep others out, as far as the system can: see
    /// [`Exclusivity`] and [`Granted::exclusive`]. Never waits: when another
    /// one has it, opening fails.
    #[must_use]
    pub fn exclusive(mut self, exclusive: bool) -> Self {
        self.exclusive = exclusive;
        self
    }

    /// Adds flags of `open(2)`, such as `O_TMPFILE` or `O_NOATIME`.
    #[cfg(unix)]
    #[must_use]
    pub fn custom_flags(mut self, flags: i32) -> Self {
        self.custom_flags = flags;
        self
    }

    /// The permissions of a file that is made here; 0o666 less the umask if
    /// not given.
    #[cfg(unix)]
    #[must_use]
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Opens `path`.
    ///
    /// # Errors
    /// What the system refused, with the likely cause: direct I/O that was
    /// [`Direct::Required`]; a device that is in use, and by whom; a directory
    /// where a file was meant; a read-only filesystem. A file that this very
    /// call has made with [`create_new`](Self::create_new) is removed again.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Opened, Error> {
        let path = path.as_ref();
        self.check(path)?;
        let opened = os::open(self, path)?;
        if self.empties_last() {
            empty(&opened.file)?;
        }
        Ok(opened)
    }

    /// Whether the file is emptied once all that was asked for was granted, and
    /// not by the system while it opens it: what may be refused after the file is
    /// open, a lock or direct I/O, must not cost its content.
    fn empties_last(&self) -> bool {
        // A file that this call makes is empty.
        self.truncate && !self.create_new && (self.exclusive || self.direct != Direct::No)
    }

    /// Refuses what makes no sense on any system, before the system does so
    /// with an error that could mean many things.
    fn check(&self, path: &Path) -> Result<(), Error> {
        let hint = if !self.read && !self.write {
            "neither reading nor writing was asked for; call read(true) or write(true)"
        } else if (self.create || self.create_new || self.truncate) && !self.write {
            "creating and truncating need write(true)"
        } else {
            return Ok(());
        };
        Err(Error::os(
            "open",
            Subject::Path(path.to_owned()),
            io::ErrorKind::InvalidInput,
            Some(hint.to_owned()),
        ))
    }

    /// What was asked, in the flags of the manual, for messages.
    #[cfg(unix)]
    pub(crate) fn describe(&self, flags: &[&'static str]) -> String {
        let mut names = vec![match (self.read, self.write) {
            (true, true) => "O_RDWR",
            (false, true) => "O_WRONLY",
            _ => "O_RDONLY",
        }];
        if self.create || self.create_new {
            names.push("O_CREAT");
        }
        if self.truncate {
            names.push("O_TRUNC");
        }
        names.extend(flags);
        format!("open({})", names.join("|"))
    }

    /// The part of opening that the standard library does alike on all
    /// systems.
    pub(crate) fn standard(&self) -> std::fs::OpenOptions {
        let mut options = std::fs::OpenOptions::new();
        options
            .read(self.read)
            .write(self.write)
            .create(self.create)
            .create_new(self.create_new)
            .truncate(self.truncate && !self.empties_last());
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            if let Some(mode) = self.mode {
                options.mode(mode);
            }
        }
        options
    }
}

/// Empties an open file; a device or a pipe keeps what it has, as with `O_TRUNC`.
fn empty(file: &File) -> Result<(), Error> {
    if length(file)?.is_some() {
        file.set_len(0)
            .map_err(|error| Error::on_file("truncating", file, error))?;
    }
    Ok(())
}
