//! What a copy writes: a new file, a stream; or what holds data already, and was
//! named as what may be destroyed.

use super::{Identity, Kind, OpenEnd, check_direct, stream_path, stream_place};
use crate::commands::stdout_is_there;
use crate::exit::{Failure, OrFail};
use crate::signals::Signals;
use crate::target::existing::{self, Claimed};
use crate::target::own_name::{Name, Removed};
use anyhow::Context;
use directio::{Direct, Durability, OpenOptions};
use diskfacts_host::{Pinned, Place, Subject};
use diskfacts_plan::dd::Dd;
use diskfacts_plan::units::show_size;
use std::ffi::{CString, OsStr};
use std::fs::{File, Metadata};
use std::io::{Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What a new file may be read and written by, less the umask.
const MODE: u32 = 0o666;

/// The output, looked at.
pub(super) struct Output {
    /// Its real path; of a new file, what that will be.
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) id: Option<Identity>,
    /// Bytes of it, where it has a length.
    pub(super) size: Option<u64>,
    sink: Sink,
}

/// What is opened, or made.
enum Sink {
    /// Standard output, which is open already.
    Open(File),
    /// A file or device that is there.
    Stored(Place),
    /// What lies on no disk.
    Stream(Pinned),
    /// A new file.
    New { folder: Place, name: CString },
}

/// The output, open and placed.
pub(super) struct Opened {
    pub(super) end: OpenEnd,
    /// Keeps others off what is written.
    pub(super) claim: Option<File>,
    pub(super) made: Made,
    pub(super) cut: Option<Cut>,
}

/// The length that a file has before anything is written to it, as dd gives it.
pub(super) struct Cut {
    path: PathBuf,
    bytes: u64,
}

impl Cut {
    /// Gives it that length; what lies behind is lost.
    pub(super) fn make(&self, file: &File) -> Result<(), Failure> {
        file.set_len(self.bytes)
            .with_context(|| {
                format!(
                    "giving {} the length of {} bytes that seek= asks for",
                    self.path.display(),
                    self.bytes
                )
            })
            .or_failed()
    }
}

/// The name of a file that was made here: nothing was written in it, and it is taken away
/// again when this is dropped. None is made where the output was there before.
pub(super) struct Made(Option<Name>);

impl Made {
    /// It stays.
    pub(super) fn keep(&mut self) {
        self.0 = None;
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(name) = &self.0 {
            // What cannot be removed is an empty file of ours: nothing is lost.
            let _: Result<Removed, _> = name.remove();
        }
    }
}

impl Output {
    pub(super) fn look(
        dd: &Dd,
        destroy_data_on: Option<&Path>,
        signals: &Signals,
    ) -> Result<Self, Failure> {
        let Some(given) = dd.output.as_ref().map(PathBuf::from) else {
            return stdout(dd, destroy_data_on);
        };
        let seen = match Pinned::at(&given) {
            Ok(seen) => seen,
            Err(error) if error.is_not_found() => return new(&given, destroy_data_on),
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("the output {} cannot be looked at", given.display()))
                    .or_wrong_call();
            }
        };
        let metadata = seen.metadata().or_wrong_call()?;
        let Some(kind) = Kind::of(&metadata) else {
            return Err(Failure::wrong_call(format!(
                "the output {} is a folder; name a new file in it: of={}/dd.out",
                given.display(),
                given.display().to_string().trim_end_matches('/')
            )));
        };
        if kind == Kind::Stream {
            return stream((seen, &given), &metadata, destroy_data_on);
        }
        let place = Place::of(seen, &given).or_wrong_call()?;
        match destroy_data_on {
            Some(named) => existing::same_target(named, &place)?,
            None => return Err(not_named(&given, kind)),
        }
        let size = match kind {
            Kind::Device => {
                let size = super::device_bytes(&place, signals)?;
                if dd.seek_bytes >= size {
                    return Err(Failure::wrong_call(format!(
                        "seek= begins at byte {}, but {} ends at {size} ({}). Seek over fewer \
                         blocks of {} bytes; a B behind the number means bytes",
                        dd.seek_bytes,
                        place.subject.path.display(),
                        show_size(size),
                        dd.block_size
                    )));
                }
                size
            }
            _ => metadata.len(),
        };
        Ok(Self {
            id: Identity::of(kind, &metadata),
            path: place.subject.path.clone(),
            kind,
            size: Some(size),
            sink: Sink::Stored(place),
        })
    }

    /// Whether it has to be made.
    pub(super) fn is_new(&self) -> bool {
        matches!(self.sink, Sink::New { .. })
    }

    /// What lies on a disk of it: of a new file, its folder.
    pub(super) fn stored(&self) -> Result<Option<Subject>, Failure> {
        Ok(match &self.sink {
            Sink::Stored(place) | Sink::New { folder: place, .. } => Some(place.subject.clone()),
            Sink::Open(file) if self.kind.stored() => Some(stream_place(file)?.subject),
            Sink::Open(_) | Sink::Stream(_) => None,
        })
    }

    pub(super) fn open(&mut self, dd: &Dd, signals: &Signals) -> Result<Opened, Failure> {
        let flags = dd.output_flags;
        let options = OpenOptions::new()
            .write(true)
            // The page cache can be asked only about what may be read.
            .read(true)
            .direct(if flags.direct {
                Direct::IfPossible
            } else {
                Direct::No
            })
            .durability(match (flags.sync, flags.dsync) {
                (true, _) => Durability::Full,
                (false, true) => Durability::Data,
                (false, false) => Durability::None,
            });
        let doing = || format!("opening the output {}", self.path.display());
        // What is wrong from here on leaves nothing of ours behind.
        let (opened, claim, made) = match &self.sink {
            Sink::Open(file) => {
                let file = file.try_clone().or_failed()?;
                let why = "standard output is open already; name the file with of=";
                let refused = flags.direct.then(|| why.to_owned());
                return self.placed(dd, (file, false, refused), None, Made(None));
            }
            Sink::Stream(stream) => {
                let file = super::open_stream((stream, &self.path), true, signals)?;
                let refused = flags.direct.then(|| "it lies on no disk".to_owned());
                return self.placed(dd, (file, false, refused), None, Made(None));
            }
            Sink::Stored(place) => {
                let Claimed { file, path } = existing::claim(place)?;
                let opened = options.open(path).with_context(doing).or_wrong_call()?;
                (opened, Some(file), Made(None))
            }
            Sink::New { folder, name } => {
                let at = folder.reach().join(OsStr::from_bytes(name.to_bytes()));
                let options = options.create_new(true).mode(MODE);
                let opened = options.open(at).with_context(doing).or_wrong_call()?;
                let parent = folder.file().try_clone().or_failed()?;
                let name = Name::of(&opened.file, parent.into(), name.clone(), self.path.clone());
                (opened, None, Made(Some(name.or_failed()?)))
            }
        };
        check_direct(
            dd,
            ("oflag", flags, dd.seek_bytes),
            &opened.file,
            &self.path,
        )?;
        if !opened.granted.write {
            return Err(Failure::wrong_call(format!(
                "{} cannot be written: {}",
                self.path.display(),
                opened.granted.write_refused.unwrap_or_default()
            )));
        }
        let granted = opened.granted;
        let file = (opened.file, granted.direct, granted.direct_refused);
        let cut = (self.kind == Kind::File && !dd.keeps_length).then(|| Cut {
            path: self.path.clone(),
            bytes: dd.seek_bytes,
        });
        Ok(Opened {
            cut,
            ..self.placed(dd, file, claim, made)?
        })
    }

    /// At the place where the copy begins: a file, whether it does direct I/O, and why not.
    fn placed(
        &self,
        dd: &Dd,
        (mut file, direct, direct_refused): (File, bool, Option<String>),
        claim: Option<File>,
        made: Made,
    ) -> Result<Opened, Failure> {
        if self.kind.stored() && dd.seek_bytes > 0 {
            let seek = i64::try_from(dd.seek_bytes).unwrap_or(i64::MAX);
            file.seek(SeekFrom::Current(seek)).or_failed()?;
        }
        let end = OpenEnd {
            file,
            kind: self.kind,
            size_bytes: self.size,
            direct,
            direct_refused,
        };
        Ok(Opened {
            end,
            claim,
            made,
            cut: None,
        })
    }
}

/// `--destroy-data-on` beside an output that destroys nothing.
fn nothing_destroyed(named: Option<&Path>, output: &str) -> Result<(), Failure> {
    match named {
        None => Ok(()),
        Some(named) => Err(Failure::wrong_call(format!(
            "--destroy-data-on names {}, but the output is {output}: nothing was written. Leave \
             --destroy-data-on away, or name with of= what it names",
            named.display()
        ))),
    }
}

fn not_named(given: &Path, kind: Kind) -> Failure {
    let (what, instead) = match kind {
        Kind::Device => ("a device", "write to a new file"),
        _ => ("a file that exists", "name a new file"),
    };
    let given = given.display();
    Failure::wrong_call(format!(
        "{given} is {what}, and is not written: {instead}; or, if what it holds may be destroyed, \
         add --destroy-data-on {given}"
    ))
}

fn new(given: &Path, destroy_data_on: Option<&Path>) -> Result<Output, Failure> {
    let shown = given.display();
    nothing_destroyed(destroy_data_on, &format!("{shown}, a new file"))?;
    let (Some(name), Some(folder)) = (given.file_name(), given.parent()) else {
        return Err(Failure::wrong_call(format!(
            "the output {shown} names no file"
        )));
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let folder = Place::look(folder)
        .with_context(|| format!("there is no folder {} for the output", folder.display()))
        .or_wrong_call()?;
    let path = &folder.subject.path;
    let new_path = path.join(name);
    // Where a device is meant by a name that is not there, a file would fill
    // the memory that the folder lies in.
    if path.starts_with("/dev") && !path.starts_with("/dev/shm") {
        return Err(Failure::wrong_call(format!(
            "there is no device {shown}; a file of that name would lie in memory. `diskfacts \
             devices` lists the devices"
        )));
    }
    Ok(Output {
        path: new_path,
        kind: Kind::File,
        id: None,
        size: None,
        sink: Sink::New {
            name: CString::new(name.as_bytes()).or_wrong_call()?,
            folder,
        },
    })
}

/// Character devices that hold no data, by their numbers (kernel:
/// `Documentation/admin-guide/devices.txt`): null, zero, full; terminals.
fn holds_nothing(metadata: &Metadata) -> bool {
    let number = metadata.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    matches!((major, minor), (1, 3 | 5 | 7) | (4 | 5 | 136..=143, _))
}

fn stream(
    (stream, given): (Pinned, &Path),
    metadata: &Metadata,
    destroy_data_on: Option<&Path>,
) -> Result<Output, Failure> {
    let shown = given.display();
    let kind = metadata.file_type();
    if !(kind.is_fifo() || kind.is_char_device() && holds_nothing(metadata)) {
        return Err(Failure::wrong_call(format!(
            "the output {shown} is neither a file nor a block device, and may hold data; of \
             other devices only /dev/null, /dev/zero, /dev/full and terminals are written"
        )));
    }
    nothing_destroyed(destroy_data_on, &format!("{shown}, which holds no data"))?;
    Ok(Output {
        path: stream.name().or_wrong_call()?,
        kind: Kind::Stream,
        id: None,
        size: None,
        sink: Sink::Stream(stream),
    })
}

/// Standard output. A shell may have pointed it at what holds data.
fn stdout(dd: &Dd, destroy_data_on: Option<&Path>) -> Result<Output, Failure> {
    nothing_destroyed(destroy_data_on, "standard output")?;
    stdout_is_there()?;
    let stdout = std::io::stdout().as_fd().try_clone_to_owned().or_failed()?;
    let mut file = File::from(stdout);
    let metadata = file.metadata().or_failed()?;
    let path = stream_path(&file);
    let kind = Kind::of(&metadata).unwrap_or(Kind::Stream);
    let holds = match kind {
        Kind::Device => true,
        Kind::File => file.stream_position().or_failed()? < metadata.len(),
        Kind::Stream => metadata.file_type().is_char_device() && !holds_nothing(&metadata),
    };
    if holds {
        return Err(Failure::wrong_call(format!(
            "standard output is {}, which holds data, and is not written; name it: of={} \
             --destroy-data-on {}",
            path.display(),
            path.display(),
            path.display()
        )));
    }
    if dd.seek_bytes > 0 && kind == Kind::Stream {
        return Err(Failure::wrong_call(
            "seek= needs a seekable output: name a file with of=, or drop seek=",
        ));
    }
    Ok(Output {
        id: Identity::of(kind, &metadata),
        size: (kind == Kind::File).then_some(metadata.len()),
        path,
        kind,
        sink: Sink::Open(file),
    })
}
