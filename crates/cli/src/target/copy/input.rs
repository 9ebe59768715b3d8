//! What a copy reads.

use super::{Identity, Kind, OpenEnd, check_direct, stream_path};
use crate::exit::{Failure, OrFail};
use crate::signals::Signals;
use anyhow::Context;
use directio::{Direct, Durability, OpenOptions};
use diskfacts_host::stdin_was_closed;
use diskfacts_plan::dd::Dd;
use diskfacts_plan::units::show_size;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::fd::AsFd;
use std::path::PathBuf;

/// The input, looked at.
pub(super) struct Input {
    /// Its real path.
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) id: Option<Identity>,
    /// Bytes of it, where it has a length.
    pub(super) size: Option<u64>,
    /// It is open already: a standard stream.
    open: Option<File>,
}

impl Input {
    pub(super) fn look(dd: &Dd, signals: &Signals) -> Result<Self, Failure> {
        let (path, open) = if let Some(given) = dd.input.as_ref().map(PathBuf::from) {
            let path = std::fs::canonicalize(&given)
                .with_context(|| {
                    format!(
                        "the input {} cannot be looked at; if=/dev/zero gives zeros, and \
                         without if= standard input is read",
                        given.display()
                    )
                })
                .or_wrong_call()?;
            (path, None)
        } else if stdin_was_closed() {
            return Err(Failure::failed(
                "reading standard input failed: it was closed before this began; leave it open, \
                 name the input with if=, or begin the command with </dev/null if it shall be empty",
            ));
        } else {
            let stdin = std::io::stdin().as_fd().try_clone_to_owned().or_failed()?;
            let stdin = File::from(stdin);
            (stream_path(&stdin), Some(stdin))
        };
        let metadata = match &open {
            Some(file) => file.metadata(),
            None => std::fs::metadata(&path),
        }
        .or_wrong_call()?;
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
            open,
        };
        if kind == Kind::Device {
            input.size = Some(super::device_bytes(&input.path, signals)?);
        }
        if let Some(size) = input.size.filter(|size| dd.skip_bytes > *size) {
            return Err(Failure::wrong_call(format!(
                "skip= passes over {} bytes, but {} has only {size} ({}): nothing would be \
                 copied. Skip fewer blocks of {} bytes; a B behind the number means bytes",
                dd.skip_bytes,
                input.path.display(),
                show_size(size),
                dd.block_size
            )));
        }
        if let Some(file) = &input.open {
            check_direct(dd, operand(dd), file, &input.path)?;
        }
        Ok(input)
    }

    pub(super) fn open(&mut self, dd: &Dd, signals: &Signals) -> Result<OpenEnd, Failure> {
        let flags = dd.input_flags;
        let mut end = if let Some(file) = self.open.take() {
            let why = "a standard stream is open already; name the file with if=";
            OpenEnd {
                file,
                kind: self.kind,
                size_bytes: self.size,
                direct: false,
                direct_refused: flags.direct.then(|| why.to_owned()),
            }
        } else if self.kind.stored() {
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
                .open(&self.path)
                .or_wrong_call()?;
            check_direct(dd, operand(dd), &opened.file, &self.path)?;
            OpenEnd {
                file: opened.file,
                kind: self.kind,
                size_bytes: self.size,
                direct: opened.granted.direct,
                direct_refused: opened.granted.direct_refused,
            }
        } else {
            let why = "it lies on no disk";
            OpenEnd {
                file: super::open_stream(&self.path, false, signals)?,
                kind: self.kind,
                size_bytes: None,
                direct: false,
                direct_refused: flags.direct.then(|| why.to_owned()),
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
