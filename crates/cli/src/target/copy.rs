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
use diskfacts_host::{Pinned, Place, Roots, stack_of_subject};
use diskfacts_plan::dd::{Dd, End, Flags};
use diskfacts_record::{Stack, Target, TargetKind};
use input::Input;
use output::{Cut, Made, Opened, Output};
use std::fs::{File, Metadata};
use std::io::IsTerminal;
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

/// Both ends, open. Dropped before [`begin_output`](Self::begin_output), it takes a new output
/// away again, and an old one is as it was.
pub(crate) struct OpenEnds {
    input: OpenEnd,
    output: OpenEnd,
    /// Keeps others off a device that is written.
    _claim: Option<File>,
    made: Made,
    cut: Option<Cut>,
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
        let stored = match measured {
            End::Output => output.stored()?,
            End::Input => input.stored()?,
        };
        let stack = stored.map_or_else(
            || Ok(Stack::default()),
            |subject| stack_of_subject(&Roots::default(), &subject).or_wrong_call(),
        )?;
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
        if output.is_new() {
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

    /// Opens both ends: makes a new output, and goes to where the copy begins.
    pub(crate) fn open(&mut self, signals: &Signals) -> Result<OpenEnds, Failure> {
        let input = self.input.open(self.dd, signals)?;
        let Opened {
            end: output,
            claim,
            made,
            cut,
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
            cut,
        })
    }
}

impl Ends<'_> {
    /// The path of what is written; and filesystem and inode of a file that is there.
    pub(crate) fn written(&self) -> (&Path, Option<(u64, u64)>) {
        let file = match self.output.id {
            Some(Identity::File(filesystem, inode)) => Some((filesystem, inode)),
            Some(Identity::Device(_)) | None => None,
        };
        (&self.output.path, file)
    }
}

impl OpenEnds {
    /// Something is written to the output from here on: a new one is not taken away any more,
    /// and an old one is cut as dd does.
    ///
    /// # Errors
    /// When it cannot be cut.
    pub(crate) fn begin_output(&mut self) -> Result<(), Failure> {
        self.made.keep();
        match &self.cut {
            Some(cut) => cut.make(&self.output.file),
            None => Ok(()),
        }
    }

    /// Both files as the engine takes them: input, output.
    pub(crate) fn files(&self) -> (CopyFile<'_>, CopyFile<'_>) {
        (self.input.file(), self.output.file())
    }

    /// What addresses of memory must be a multiple of.
    pub(crate) fn alignment(&self) -> usize {
        let of = |end: &OpenEnd| {
            directio::direct_alignment(&end.file).map_or(PAGE_BYTES, |a| a.memory() as usize)
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
fn open_stream(
    (stream, path): (&Pinned, &Path),
    write: bool,
    signals: &Signals,
) -> Result<File, Failure> {
    let (sends, opened) = mpsc::channel();
    let at = stream.reach();
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
fn device_bytes(place: &Place, signals: &Signals) -> Result<u64, Failure> {
    let stack = stack_of_subject(&Roots::default(), &place.subject).or_wrong_call()?;
    probe::must_answer(place, &stack, signals)?;
    let doing = || format!("opening {}", place.subject.path.display());
    let file = File::open(place.reach())
        .with_context(doing)
        .or_wrong_call()?;
    Ok(directio::geometry(&file).or_failed()?.size)
}

/// What tells one file or device from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Identity {
    /// Filesystem and inode.
    File(u64, u64),
    /// Its number.
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

/// What a standard stream is called: by its name, where that leads to it.
fn stream_path(file: &File) -> PathBuf {
    stream_place(file).map_or_else(|_| super::reach(file), |place| place.subject.path)
}

/// The file or device that a standard stream is.
fn stream_place(file: &File) -> Result<Place, Failure> {
    Place::look(&super::reach(file)).or_wrong_call()
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
    let multiple = u64::from(alignment.offset().max(alignment.length()));
    if !flags.direct {
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
        "{what} is not a multiple of {multiple} bytes, as {operand}=direct needs it on {}; take \
         another, or drop direct",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_testkit::Scratch;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn parsed(input: &Path, output: &Path) -> Dd {
        let (input, output) = (input.display(), output.display());
        let words = [format!("if={input}"), format!("of={output}")];
        diskfacts_plan::dd::parse(&[&words[0], &words[1]]).expect("two operands")
    }

    fn sure<T>(result: Result<T, Failure>) -> T {
        result.unwrap_or_else(|failure| panic!("{}", failure.sentence()))
    }

    #[test]
    fn an_output_that_is_exchanged_after_the_look_leaves_the_other_file_as_it_is() {
        for linked in [false, true] {
            let scratch = Scratch::new().expect("a folder");
            let [input, target, moved, victim] =
                ["input", "target", "moved", "victim"].map(|name| scratch.join(name));
            fs::write(&input, b"new").expect("an input");
            fs::write(&target, b"old").expect("the target");
            fs::write(&victim, b"precious").expect("another file");
            let (dd, signals) = (parsed(&input, &target), Signals::default());
            let mut ends = sure(Ends::look(&dd, Some(&target), &signals));
            fs::rename(&target, &moved).expect("another name for the target");
            if linked {
                symlink(&victim, &target).expect("a link");
            } else {
                fs::rename(&victim, &target).expect("the name of the target");
            }
            let mut opened = sure(ends.open(&signals));
            assert_eq!(fs::read(&moved).expect("the target"), b"old");
            // dd empties what it writes.
            sure(opened.begin_output());
            assert_eq!(opened.output.file.metadata().expect("open").len(), 0);
            assert_eq!(fs::read(&target).expect("the other file"), b"precious");
            assert_eq!(fs::read(&moved).expect("the target"), b"");
        }
    }

    #[test]
    fn a_folder_that_is_exchanged_for_a_link_leads_no_output_elsewhere() {
        let scratch = Scratch::new().expect("a folder");
        let [input, folder, moved, other] =
            ["input", "folder", "moved", "other"].map(|name| scratch.join(name));
        fs::write(&input, b"new").expect("an input");
        for folder in [&folder, &other] {
            fs::create_dir(folder).expect("a folder");
        }
        fs::write(other.join("old"), b"precious").expect("another file");
        fs::write(folder.join("old"), b"old").expect("the target");
        for name in ["old", "new"] {
            let target = folder.join(name);
            let named = target.exists().then_some(target.as_path());
            let (dd, signals) = (parsed(&input, &target), Signals::default());
            let mut ends = sure(Ends::look(&dd, named, &signals));
            fs::rename(&folder, &moved).expect("another name for the folder");
            symlink(&other, &folder).expect("a link");
            let mut opened = sure(ends.open(&signals));
            sure(opened.begin_output());
            assert!(moved.join(name).exists());
            fs::remove_file(&folder).expect("the link");
            fs::rename(&moved, &folder).expect("the folder as before");
        }
        assert_eq!(
            fs::read(other.join("old")).expect("it is there"),
            b"precious"
        );
        assert!(!other.join("new").exists());
    }

    #[test]
    fn a_new_output_is_taken_away_and_nobody_elses_file_of_its_name() {
        let scratch = Scratch::new().expect("a folder");
        let [input, target] = ["input", "target"].map(|name| scratch.join(name));
        fs::write(&input, b"new").expect("an input");
        let (dd, signals) = (parsed(&input, &target), Signals::default());
        let mut ends = sure(Ends::look(&dd, None, &signals));
        let opened = sure(ends.open(&signals));
        assert!(target.exists());
        drop(opened);
        assert!(!target.exists());
        let mut ends = sure(Ends::look(&dd, None, &signals));
        let opened = sure(ends.open(&signals));
        // As long as it is open, no other file has its inode.
        let _open = opened.output.file.try_clone().expect("it is open");
        fs::remove_file(&target).expect("it is there");
        fs::write(&target, b"precious").expect("somebody's file");
        drop(opened);
        assert_eq!(fs::read(&target).expect("it is there"), b"precious");
    }
}
