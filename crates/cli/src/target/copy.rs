//! The two ends of a copy: files, devices, pipes and standard streams; opened so
//! that nothing that holds data is written unless it was named.
//!
//! [`Ends::look`] only looks; [`Ends::open`] makes or cuts short the output, and
//! places both files where the copy begins.

mod input;
mod output;

use crate::exit::{Failure, OrFail};
use crate::probe;
use crate::signals::Signals;
use anyhow::Context;
use diskfacts_engine::copy::CopyFile;
use diskfacts_host::{Roots, stack_of};
use diskfacts_plan::dd::{Dd, End, Flags};
use diskfacts_record::{Stack, Target, TargetKind};
use input::Input;
use output::{Made, Opened, Output};
use std::fs::{File, Metadata};
use std::io::IsTerminal;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// Buffers lie at pages even where direct I/O would do with less.
const PAGE_BYTES: usize = 4096;

/// What is at an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A regular file.
    File,
    /// A block device.
    Device,
    /// Bytes that lie on no disk: a pipe, a terminal, `/dev/zero`.
    Stream,
}

impl Kind {
    fn of(metadata: &Metadata) -> Option<Self> {
        let kind = metadata.file_type();
        if kind.is_file() {
            Some(Self::File)
        } else if kind.is_block_device() {
            Some(Self::Device)
        } else if kind.is_dir() {
            None
        } else {
            Some(Self::Stream)
        }
    }

    fn stored(self) -> bool {
        self != Self::Stream
    }

    fn target(self) -> TargetKind {
        match self {
            Self::File => TargetKind::File,
            Self::Device => TargetKind::Device,
            Self::Stream => TargetKind::Stream,
        }
    }
}

/// Both ends, looked at.
pub(crate) struct Ends<'a> {
    dd: &'a Dd,
    input: Input,
    output: Output,
    /// Which end the figures are of.
    pub(crate) measured: End,
    /// That end, for the record.
    pub(crate) target: Target,
    /// What lies under it.
    pub(crate) stack: Stack,
    /// What is worth knowing, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// Both ends, open. Dropped before [`keep_output`](Self::keep_output), it takes a new output
/// away again.
pub(crate) struct OpenEnds {
    input: OpenEnd,
    output: OpenEnd,
    /// Keeps others off a device that is written.
    _claim: Option<File>,
    made: Made,
}

/// A file at an end, open and placed.
struct OpenEnd {
    file: File,
    kind: Kind,
    size_bytes: Option<u64>,
    direct: bool,
    direct_refused: Option<String>,
}

impl<'a> Ends<'a> {
    /// Looks at both ends, and refuses what cannot be or must not be done.
    pub(crate) fn look(
        dd: &'a Dd,
        destroy_data_on: Option<&Path>,
        signals: &Signals,
    ) -> Result<Self, Failure> {
        let input = Input::look(dd, signals)?;
        let output = Output::look(dd, destroy_data_on, signals)?;
        if let (Some(a), Some(b)) = (&input.id, &output.id)
            && a == b
        {
            return Err(Failure::wrong_call(format!(
                "if= and of= are the same, {}: it would be overwritten while it is read. Name \
                 another output",
                output.path.display()
            )));
        }
        let (measured, given, path, kind, size) = if output.kind.stored() || !input.kind.stored() {
            let given = dd.output.as_deref().unwrap_or("standard output");
            (End::Output, given, &output.path, output.kind, output.size)
        } else {
            let given = dd.input.as_deref().unwrap_or("standard input");
            (End::Input, given, &input.path, input.kind, input.size)
        };
        let stack = if kind.stored() {
            let under = if measured == End::Output && output.is_new {
                path.parent().unwrap_or(path)
            } else {
                path
            };
            stack_of(&Roots::default(), under).or_wrong_call()?
        } else {
            Stack::default()
        };
        let target = Target {
            given: given.to_owned(),
            path: path.display().to_string(),
            kind: kind.target(),
            size_bytes: size.unwrap_or(0),
            writable: measured == End::Output,
            obstacles: Vec::new(),
            extents: None,
            direct: None,
        };
        let mut notes = Vec::new();
        if output.is_new {
            notes.push(format!(
                "{} is a new file, and stays; `rm` takes it away.",
                output.path.display()
            ));
        }
        Ok(Self {
            dd,
            input,
            output,
            measured,
            target,
            stack,
            notes,
        })
    }

    /// Opens both ends: makes a new output, cuts an old one as dd does, and goes
    /// to where the copy begins.
    pub(crate) fn open(&mut self, signals: &Signals) -> Result<OpenEnds, Failure> {
        let input = self.input.open(self.dd, signals)?;
        let Opened {
            end: output,
            claim,
            made,
        } = self.output.open(self.dd, signals)?;
        let measured = match self.measured {
            End::Input => &input,
            End::Output => &output,
        };
        self.target.direct = measured
            .kind
            .stored()
            .then(|| directio::direct_alignment(&measured.file).ok())
            .flatten()
            .as_ref()
            .map(super::direct_io);
        let other = match self.measured {
            End::Input => ("of=", &output),
            End::Output => ("if=", &input),
        };
        // Of the end that is measured it is in the evidence.
        if let (name, Some(reason)) = (other.0, &other.1.direct_refused) {
            self.notes
                .push(format!("{name} goes through the page cache: {reason}."));
        }
        Ok(OpenEnds {
            input,
            output,
            _claim: claim,
            made,
        })
    }
}

impl OpenEnds {
    /// A new output is not taken away any more: something is written to it.
    pub(crate) fn keep_output(&mut self) {
        self.made.keep();
    }

    /// Both files as the engine takes them: input, output.
    pub(crate) fn files(&self) -> (CopyFile<'_>, CopyFile<'_>) {
        (self.input.file(), self.output.file())
    }

    /// What addresses of memory must be a multiple of.
    pub(crate) fn alignment(&self) -> usize {
        let of = |end: &OpenEnd| {
            directio::direct_alignment(&end.file).map_or(PAGE_BYTES, |a| a.memory as usize)
        };
        of(&self.input).max(of(&self.output)).max(PAGE_BYTES)
    }

    /// How long the end that was measured is now, bytes.
    pub(crate) fn measured_bytes(&self, measured: End) -> u64 {
        let end = match measured {
            End::Input => &self.input,
            End::Output => &self.output,
        };
        match end.kind {
            Kind::File => end.file.metadata().map_or(0, |metadata| metadata.len()),
            Kind::Device => end.size_bytes.unwrap_or(0),
            Kind::Stream => 0,
        }
    }
}

impl OpenEnd {
    /// Pipes, sockets and terminals wait for their other side.
    fn waits(&self) -> bool {
        let kind = self.file.metadata().map(|metadata| metadata.file_type());
        kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket()) || self.file.is_terminal()
    }

    fn file(&self) -> CopyFile<'_> {
        CopyFile {
            file: &self.file,
            stored: self.kind.stored(),
            waits: self.waits(),
            size_bytes: self.size_bytes,
            direct: self.direct,
            direct_refused: self.direct_refused.clone(),
        }
    }
}

/// How often it is looked whether a signal came while an open waits.
const OPEN_LOOK: Duration = Duration::from_millis(20);

/// Opens a stream for reading, or for writing. With a named pipe that waits until its
/// other side is opened, on a thread of its own: it is left behind when a signal comes
/// first, and ends with the process.
fn open_stream(path: &Path, write: bool, signals: &Signals) -> Result<File, Failure> {
    let (sends, opened) = mpsc::channel();
    let at = path.to_owned();
    std::thread::Builder::new()
        .name("open".to_owned())
        .spawn(move || {
            let file = File::options().read(!write).write(write).open(at);
            // Nobody waits for it any more once a signal came.
            let _ = sends.send(file);
        })
        .or_failed()?;
    loop {
        signals.check()?;
        match opened.recv_timeout(OPEN_LOOK) {
            Ok(file) => {
                let end = if write { "output" } else { "input" };
                return file
                    .with_context(|| format!("opening the {end} {}", path.display()))
                    .or_wrong_call();
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(Failure::failed(format!(
                    "the thread that opens {} ended without an answer; this is a bug",
                    path.display()
                )));
            }
        }
    }
}

/// Bytes of a device, which is asked for an answer before it is opened.
fn device_bytes(path: &Path, signals: &Signals) -> Result<u64, Failure> {
    let stack = stack_of(&Roots::default(), path).or_wrong_call()?;
    probe::must_answer(path, &stack, signals)?;
    let file = File::open(path).or_wrong_call()?;
    Ok(directio::geometry(&file).or_failed()?.size)
}

/// What tells one file or device from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Identity {
    File(u64, u64),
    Device(u64),
}

impl Identity {
    fn of(kind: Kind, metadata: &Metadata) -> Option<Self> {
        match kind {
            Kind::File => Some(Self::File(metadata.dev(), metadata.ino())),
            Kind::Device => Some(Self::Device(metadata.rdev())),
            Kind::Stream => None,
        }
    }
}

/// The file that a standard stream is, by a path that can be looked at.
fn stream_path(file: &File) -> PathBuf {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    std::fs::canonicalize(&link).unwrap_or_else(|_| PathBuf::from(link))
}

/// Direct I/O takes whole sectors only.
fn check_direct(
    dd: &Dd,
    (operand, flags, begins): (&str, Flags, u64),
    file: &File,
    path: &Path,
) -> Result<(), Failure> {
    let Ok(alignment) = directio::direct_alignment(file) else {
        return Ok(());
    };
    let multiple = u64::from(alignment.offset.max(alignment.length));
    if !flags.direct || multiple == 0 {
        return Ok(());
    }
    let fits = |bytes: u64| bytes.is_multiple_of(multiple);
    if fits(dd.block_size) && fits(begins) {
        return Ok(());
    }
    let what = if fits(dd.block_size) {
        let beginning = if operand == "iflag" { "skip=" } else { "seek=" };
        format!("{beginning} begins at byte {begins}, which")
    } else {
        format!("bs={}", dd.block_size)
    };
    Err(Failure::wrong_call(format!(
        "{what} is no multiple of {multiple} bytes, as {operand}=direct needs it on {}; take \
         another, or leave direct away",
        path.display()
    )))
}
