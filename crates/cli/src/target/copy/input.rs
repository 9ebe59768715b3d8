//! What a copy reads.

use super::{Identity, Kind, OpenEnd, check_direct, stream_path, stream_place};
use crate::exit::{Failure, OrFail};
use crate::signals::Signals;
use anyhow::Context;
use directio::{Direct, Durability, OpenOptions};
use diskfacts_host::{Pinned, Place, Subject, stdin_was_closed};
use diskfacts_plan::dd::Dd;
use diskfacts_plan::units::show_size;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// The input, looked at.
pub(super) struct Input {
    /// Its path, without links.
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) id: Option<Identity>,
    /// Bytes of it, where it has a length.
    pub(super) size: Option<u64>,
    source: Source,
}

/// What is opened.
enum Source {
    /// A standard stream, which is open already.
    Open(File),
    /// A file or device.
    Stored(Place),
    /// What lies on no disk.
    Stream(Pinned),
}

impl Input {
    pub(super) fn look(dd: &Dd, signals: &Signals) -> Result<Self, Failure> {
        let (path, metadata, source) = if let Some(given) = &dd.input {
            let given = Path::new(given);
            let seen = Pinned::at(given)
                .with_context(|| {
                    format!(
                        "the input {} cannot be looked at; if=/dev/zero gives zeros, and \
                         without if= standard input is read",
                        given.display()
                    )
                })
                .or_wrong_call()?;
            let metadata = seen.metadata().or_wrong_call()?;
            if Kind::of(&metadata) == Some(Kind::Stream) {
                let name = seen.name().or_wrong_call()?;
                (name, metadata, Source::Stream(seen))
            } else {
                let place = Place::of(seen, given).or_wrong_call()?;
                (place.subject.path.clone(), metadata, Source::Stored(place))
            }
        } else if stdin_was_closed() {
            return Err(Failure::failed(
                "reading standard input failed: it was closed before this began; leave it open, \
                 name the input with if=, or begin the command with </dev/null if it shall be empty",
            ));
        } else {
            let stdin = std::io::stdin().as_fd().try_clone_to_owned().or_failed()?;
            let stdin = File::from(stdin);
            let metadata = stdin.metadata().or_wrong_call()?;
            (stream_path(&stdin), metadata, Source::Open(stdin))
        };
        let Some(kind) = Kind::of(&metadata) else {
            return Err(Failure::wrong_call(format!(
                "the input {} is a folder; name a file in it, or its device",
                path.display()
            )));
        };
        let mut input = Self {
            size: (kind == Kind::File).then_some(metadata.len()),
            id: Identity::of(kind, &metadata),
            path,
            kind,
            source,
        };
        if kind == Kind::Device {
            input.size = Some(match &input.source {
                Source::Stored(place) => super::device_bytes(place, signals)?,
                Source::Open(file) => super::device_bytes(&stream_place(file)?, signals)?,
                Source::Stream(_) => 0,
            });
        }
        if let Some(size) = input.size.filter(|size| dd.skip_bytes > *size) {
            return Err(Failure::wrong_call(format!(
                "skip= skips {} bytes, but {} has only {size} ({}): nothing would be \
                 copied. Skip fewer blocks of {} bytes; a B behind the number means bytes",
                dd.skip_bytes,
                input.path.display(),
                show_size(size),
                dd.block_size
            )));
        }
        if let Source::Open(file) = &input.source {
            check_direct(dd, operand(dd), file, &input.path)?;
        }
        Ok(input)
    }

    /// What lies on a disk of it.
    pub(super) fn stored(&self) -> Result<Option<Subject>, Failure> {
        Ok(match &self.source {
            Source::Stored(place) => Some(place.subject.clone()),
            Source::Open(file) if self.kind.stored() => Some(stream_place(file)?.subject),
            Source::Open(_) | Source::Stream(_) => None,
        })
    }

    pub(super) fn open(&self, dd: &Dd, signals: &Signals) -> Result<OpenEnd, Failure> {
        let flags = dd.input_flags;
        let mut end = match &self.source {
            Source::Open(file) => {
                let why = "a standard stream is open already; name the file with if=";
                OpenEnd {
                    file: file.try_clone().or_failed()?,
                    kind: self.kind,
                    size_bytes: self.size,
                    direct: false,
                    direct_refused: flags.direct.then(|| why.to_owned()),
                }
            }
            Source::Stored(place) => {
                let opened = OpenOptions::new()
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
                    })
                    .open(place.reach())
                    .with_context(|| format!("opening the input {}", self.path.display()))
                    .or_wrong_call()?;
                check_direct(dd, operand(dd), &opened.file, &self.path)?;
                OpenEnd {
                    file: opened.file,
                    kind: self.kind,
                    size_bytes: self.size,
                    direct: opened.granted.direct,
                    direct_refused: opened.granted.direct_refused,
                }
            }
            Source::Stream(stream) => {
                let why = "it lies on no disk";
                OpenEnd {
                    file: super::open_stream((stream, &self.path), false, signals)?,
                    kind: self.kind,
                    size_bytes: None,
                    direct: false,
                    direct_refused: flags.direct.then(|| why.to_owned()),
                }
            }
        };
        if self.kind.stored() && dd.skip_bytes > 0 {
            let skip = i64::try_from(dd.skip_bytes).unwrap_or(i64::MAX);
            end.file.seek(SeekFrom::Current(skip)).or_failed()?;
        }
        Ok(end)
    }
}

fn operand(dd: &Dd) -> (&'static str, diskfacts_plan::dd::Flags, u64) {
    ("iflag", dd.input_flags, dd.skip_bytes)
}
