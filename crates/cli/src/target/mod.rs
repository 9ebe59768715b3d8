//! What is measured: a folder in which diskfacts makes its own file, an
//! existing file, a block device, or a simulated disk; opened so that nothing
//! that holds data is written.

pub(crate) mod copy;
mod existing;
mod filling;
mod looped;
mod own_file;
mod own_name;
mod shared_file;
pub(crate) mod simulated;

use crate::exit::{Failure, OrFail};
use crate::probe;
use crate::signals::Signals;
use directio::DirectAlignment;
use diskfacts_engine::StreamFile;
use diskfacts_engine::sim::Computer;
use diskfacts_host::{Place, Roots, Subject, SubjectKind, loop_device, stack_of_subject};
use diskfacts_plan::{Constraints, Workload, units};
use diskfacts_record::run::{DirectIo, ExtentMethod, Extents};
use diskfacts_record::{Stack, Target, TargetKind};
use std::borrow::Cow;
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) use filling::{Filling, Stretches};
pub(crate) use own_file::PIECE_BYTES;
use own_name::OwnName;
pub(crate) use shared_file::{MadeFile, OwnPart, SharedFile, sweep_for_shared};

/// Buffers lie at pages even where direct I/O would do with less.
const PAGE_BYTES: u32 = 4096;

/// An open target.
pub(crate) struct Measured {
    /// What it is, for the record.
    pub(crate) target: Target,
    /// Where its bytes are.
    pub(crate) medium: Medium,
    /// What was named, held; nothing of this machine, where the disk is simulated.
    pub(crate) place: Option<Place>,
    /// What is different from what was asked, each a sentence.
    pub(crate) notes: Vec<String>,
    /// The file under a loop device of ours.
    pub(crate) under: Option<File>,
    /// Bytes per second at which a file of ours was filled.
    pub(crate) filled_per_s: Option<f64>,
    /// A file on the filesystem that the target stands on, for the stages that
    /// are done on it; only beside a loop device of ours.
    pub(crate) beside: Option<Beside>,
    /// What is filled instead of the target: this host's part of the files of a group.
    pub(crate) own_part: Option<OwnPart>,
}

/// A file beside the target.
pub(crate) struct Beside {
    pub(crate) file: OpenFile,
    /// What lies under it.
    pub(crate) stack: Stack,
    pub(crate) size_bytes: u64,
}

/// Where the bytes of a target are.
pub(crate) enum Medium {
    /// In a file or a device of this machine.
    File(OpenFile),
    /// Nowhere: on the disk of this simulated computer.
    Simulated(Box<Computer>),
}

/// A file or a device of this machine.
pub(crate) struct OpenFile {
    /// Buffered, for reading; for writing too if that is allowed.
    pub(crate) file: File,
    /// What every stream opens for itself: it leads to `file`, whatever lies at its name.
    path: PathBuf,
    /// What direct I/O needs.
    alignment: Option<DirectAlignment>,
    /// The name that the file was given while it is measured, if it needed one.
    name: Option<OwnName>,
    /// The part of it that is the target, where that is not all of it.
    part: Option<Part>,
}

/// The part of a file that is the target, where other hosts use the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    offset_bytes: u64,
    file_bytes: u64,
}

impl OpenFile {
    fn new(file: File, alignment: Option<DirectAlignment>) -> Self {
        Self {
            path: reach(&file),
            file,
            alignment,
            name: None,
            part: None,
        }
    }

    /// The part of a file of so many bytes that is the target, opened.
    #[cfg(test)]
    pub(crate) fn part_of(file: File, offset_bytes: u64, file_bytes: u64) -> Self {
        let part = Part {
            offset_bytes,
            file_bytes,
        };
        Self {
            part: Some(part),
            ..Self::new(file, None)
        }
    }

    /// Bytes of the target as they lie in the file.
    pub(crate) fn in_file(&self, bytes: Range<u64>) -> Range<u64> {
        let offset = self.part.map_or(0, |part| part.offset_bytes);
        bytes.start.saturating_add(offset)..bytes.end.saturating_add(offset)
    }

    /// A workload on a target of this file as it is done on the file: nothing else where the
    /// file is the target.
    pub(crate) fn placed<'a>(
        &self,
        workload: &'a Workload,
        target: &'a Target,
    ) -> (Cow<'a, Workload>, Cow<'a, Target>) {
        let Some(part) = self.part else {
            return (Cow::Borrowed(workload), Cow::Borrowed(target));
        };
        let target_bytes = target.size_bytes;
        let mut workload = workload.clone();
        let beside = workload.beside.as_deref_mut();
        if let Some(beside) = beside {
            part.place(beside, target_bytes);
        }
        part.place(&mut workload, target_bytes);
        let target = Target {
            size_bytes: part.file_bytes,
            ..target.clone()
        };
        (Cow::Owned(workload), Cow::Owned(target))
    }

    /// What the engine needs to know to measure so many bytes of it.
    pub(crate) fn stream_file(&self, size_bytes: u64) -> StreamFile<'_> {
        let memory = self
            .alignment
            .as_ref()
            .map_or(PAGE_BYTES, DirectAlignment::memory);
        StreamFile {
            path: &self.path,
            size: size_bytes,
            alignment: memory.max(PAGE_BYTES) as usize,
        }
    }
}

impl Part {
    fn place(self, workload: &mut Workload, target_bytes: u64) {
        let left = target_bytes.saturating_sub(workload.offset);
        workload.span = Some(workload.span.unwrap_or(u64::MAX).min(left));
        workload.offset = workload.offset.saturating_add(self.offset_bytes);
    }
}

/// The path by which an open file is opened again: it leads to that file.
fn reach(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

impl Measured {
    /// What workloads have to respect.
    pub(crate) fn constraints(&self) -> Constraints {
        let direct_multiple = match &self.medium {
            Medium::File(OpenFile { alignment, .. }) => alignment
                .as_ref()
                .map(|alignment| u64::from(alignment.offset().max(alignment.length()))),
            Medium::Simulated(computer) => Some(computer.sector_bytes()),
        };
        Constraints {
            size: self.target.size_bytes,
            direct_multiple,
        }
    }

    /// So many bytes of a file of ours, and of the one beside it, have content: what lies
    /// behind them is cut off.
    pub(crate) fn is_filled(&mut self, bytes: u64, beside: Option<u64>) -> Result<(), Failure> {
        if let Some((beside, bytes)) = self.beside.as_mut().zip(beside)
            && bytes < beside.size_bytes
        {
            beside.file.file.set_len(bytes).or_failed()?;
            beside.size_bytes = bytes;
        }
        let Medium::File(open) = &self.medium else {
            return Ok(());
        };
        let file = self.under.as_ref().unwrap_or(&open.file);
        if bytes < self.target.size_bytes {
            file.set_len(bytes).or_failed()?;
            if self.under.is_some() {
                loop_device::follow_size(&open.file).or_failed()?;
            }
            self.notes.push(format!(
                "The file is {} instead of {}: filling it is given a third of the time, and this \
                 disk was not faster.",
                size(bytes),
                size(self.target.size_bytes)
            ));
            self.target.size_bytes = bytes;
        }
        self.target.extents = extents_of(file);
        Ok(())
    }

    /// Looks again how the file lies, when others have filled their parts of it.
    pub(crate) fn sees_extents(&mut self) {
        if let Medium::File(open) = &self.medium {
            self.target.extents = extents_of(&open.file);
        }
    }

    /// The path by which a folder that was named is opened: it leads to that folder,
    /// whatever lies at its name by now.
    pub(crate) fn folder(&self) -> PathBuf {
        match &self.place {
            Some(place) => place.reach(),
            None => PathBuf::from(&self.target.path),
        }
    }

    /// Nanoseconds of its time, real or virtual, since the run began.
    pub(crate) fn elapsed_ns(&self, began: Instant) -> u64 {
        match &self.medium {
            Medium::File(_) => u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
            Medium::Simulated(computer) => computer.now_ns(),
        }
    }
}

/// What to open, and what may be done to it.
pub(crate) struct Wanted<'a> {
    /// As it was given.
    pub(crate) given: &'a Path,
    /// Size of the file that is made in a folder.
    pub(crate) size: Option<u64>,
    /// Whether a loop device is made over that file.
    pub(crate) looped: bool,
    /// Whether a second file is made beside it.
    pub(crate) beside: bool,
    /// Whether any stage writes.
    pub(crate) writes: bool,
    /// Whose data may be destroyed.
    pub(crate) destroy_data_on: Option<&'a Path>,
    /// Of the random choices of a simulated disk.
    pub(crate) seed: u64,
    /// How many times the size lies on the storage, where a group of hosts makes its files
    /// together: then a stand-in is opened, until they are made.
    pub(crate) shared: Option<u32>,
    /// When a file of ours takes its room.
    pub(crate) room: Room,
}

/// When a file of ours takes its room, and what killed processes left is removed for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// When it is opened.
    AtOnce,
    /// When the other hosts of a group have agreed ([`Measured::take_room`]).
    WhenAgreed,
}

/// Opens the target, and says what lies under it. A folder still has to be
/// given its file's content: [`Filling`].
pub(crate) fn open(wanted: &Wanted<'_>, signals: &Signals) -> Result<(Measured, Stack), Failure> {
    if let Some(name) = simulated::name(wanted.given) {
        if wanted.looped {
            return Err(no_folder(wanted.given));
        }
        return simulated::open(wanted, &name);
    }
    let place = look(wanted.given)?;
    let stack = stack_of_subject(&Roots::default(), &place.subject).or_wrong_call()?;
    if let Some(named) = wanted.destroy_data_on {
        existing::same_target(named, &place)?;
    }
    if let SubjectKind::BlockDevice { .. } = place.subject.kind {
        probe::must_answer(&place, &stack, signals)?;
    }
    let is_folder = place.subject.kind == SubjectKind::Folder;
    if wanted.shared.is_some() && (wanted.looped || !is_folder) {
        return Err(shared_file::no_shared_folder(wanted.given));
    }
    let mut measured = match place.subject.kind {
        SubjectKind::Folder if wanted.looped => {
            let (mut measured, stack) = looped::open(wanted, &place, stack)?;
            measured.place = Some(place);
            return Ok((measured, stack));
        }
        SubjectKind::Folder => {
            let filesystem = stack.filesystem.as_ref();
            let mount_point = filesystem.map(|f| f.mount_point.as_str());
            own_file::open(wanted, &place, mount_point)
        }
        _ if wanted.looped => Err(no_folder(wanted.given)),
        SubjectKind::File | SubjectKind::BlockDevice { .. } => existing::open(wanted, &place),
    }?;
    if measured.target.kind == TargetKind::Device {
        measured.target.extents = behind_loop(&stack);
    }
    measured.place = Some(place);
    Ok((measured, stack))
}

/// How the file behind a loop device lies on its filesystem; `None` of other devices, and
/// where its path could not be followed: a filesystem that does not answer is not asked again.
fn behind_loop(stack: &Stack) -> Option<Extents> {
    let device = stack.top()?;
    device.backing_filesystem.as_ref()?;
    let file = File::open(device.backing_file.as_ref()?).ok()?;
    extents_of(&file)
}

fn no_folder(given: &Path) -> Failure {
    Failure::wrong_call(format!(
        "--loop makes a loop device over a file in a folder, and {} is not one; name a folder, as in \
         `diskfacts measure . --loop 4GiB`, or drop --loop",
        given.display()
    ))
}

/// Looks at a path, and says what may have been meant when nothing is there.
pub(crate) fn look(given: &Path) -> Result<Place, Failure> {
    let looked = Place::look(given);
    match crate::args::mistyped_command(&given.to_string_lossy()) {
        Some(hint) if looked.is_err() => Err(Failure::wrong_call(hint)),
        _ => looked.or_wrong_call(),
    }
}

/// A target for `devices`: what it is and what lies under it, without opening
/// it for measuring.
pub(crate) fn describe(given: &Path) -> Result<(Target, Stack), Failure> {
    if let Some(name) = simulated::name(given) {
        return simulated::describe(given, &name);
    }
    let place = look(given)?;
    let subject = &place.subject;
    let stack = stack_of_subject(&Roots::default(), subject).or_wrong_call()?;
    let (kind, size_bytes) = match subject.kind {
        SubjectKind::Folder => (TargetKind::Folder, 0),
        SubjectKind::File => {
            let metadata = place.file().metadata().or_failed()?;
            (TargetKind::File, metadata.len())
        }
        SubjectKind::BlockDevice { .. } => {
            let size = stack.top().and_then(|device| device.size_bytes);
            (TargetKind::Device, size.unwrap_or(0))
        }
    };
    let silence = match kind {
        TargetKind::Device => probe::silence(&place, &stack)?,
        _ => None,
    };
    let silent = silence.is_some();
    let mut obstacles: Vec<String> = match kind {
        TargetKind::Device if silent => {
            let used = diskfacts_host::usage_by_tables(&Roots::default(), subject).or_failed()?;
            let used = used.obstacles.iter().map(|obstacle| format!("{obstacle}"));
            let unchecked = silence.map(|why| {
                format!(
                    "unchecked: {why}, so that nothing of it was looked at; the kernel log \
                     (`dmesg`) may say what it waits for"
                )
            });
            used.chain(unchecked).collect()
        }
        TargetKind::Device | TargetKind::File => {
            diskfacts_host::usage_of(&Roots::default(), &place)
                .or_failed()?
                .obstacles
                .iter()
                .map(|obstacle| format!("{obstacle}"))
                .collect()
        }
        _ => Vec::new(),
    };
    if kind != TargetKind::Device {
        obstacles.extend(why_read_only(subject));
    }
    // Who opened a silent device would wait with it; and whether others have a file
    // open is asked before it is opened here.
    let opened = if silent {
        None
    } else {
        File::open(place.reach()).ok()
    };
    let target = Target {
        given: given.display().to_string(),
        path: subject.path.display().to_string(),
        kind,
        size_bytes,
        writable: obstacles.is_empty(),
        obstacles,
        extents: None,
        direct: opened
            .and_then(|file| directio::direct_alignment(&file).ok())
            .as_ref()
            .map(direct_io),
    };
    Ok((target, stack))
}

/// Why nothing can be written on the filesystem of a folder or file.
fn why_read_only(subject: &Subject) -> Vec<String> {
    match &subject.space {
        Some(space) if !space.read_only => Vec::new(),
        Some(_) => vec!["its filesystem is mounted for reading only".to_owned()],
        None => vec!["its filesystem did not say whether it can be written".to_owned()],
    }
}

fn direct_io(alignment: &DirectAlignment) -> DirectIo {
    DirectIo {
        memory_alignment_bytes: alignment.memory(),
        offset_alignment_bytes: alignment.offset().max(alignment.length()),
    }
}

/// How a file lies on its filesystem; `None` where that cannot be told.
fn extents_of(file: &File) -> Option<Extents> {
    let seen = diskfacts_host::extents(file).ok()?;
    let fiemap = seen.method == diskfacts_host::ExtentsMethod::Fiemap;
    Some(Extents {
        span_bytes: seen.size_bytes,
        hole_bytes: seen.hole_bytes,
        unwritten_bytes: seen.unwritten_bytes,
        encoded_bytes: seen.encoded_bytes,
        shared_bytes: seen.shared_bytes,
        inline_bytes: seen.inline_bytes,
        extents: fiemap.then_some(seen.count),
        method: if fiemap {
            ExtentMethod::Fiemap
        } else {
            ExtentMethod::SeekHole
        },
    })
}

/// An open target, with everything that its file alone can tell.
fn measured(
    wanted: &Wanted<'_>,
    subject: &Subject,
    kind: TargetKind,
    file: File,
    size_bytes: u64,
    writable: bool,
) -> Measured {
    let mut notes = Vec::new();
    let alignment = match directio::direct_alignment(&file) {
        Ok(alignment) => Some(alignment),
        Err(error) => {
            notes.push(format!("What direct I/O needs here is not known: {error}."));
            None
        }
    };
    Measured {
        target: Target {
            given: wanted.given.display().to_string(),
            path: subject.path.display().to_string(),
            kind,
            size_bytes,
            writable,
            obstacles: Vec::new(),
            extents: None,
            direct: alignment.as_ref().map(direct_io),
        },
        medium: Medium::File(OpenFile::new(file, alignment)),
        place: None,
        notes,
        under: None,
        filled_per_s: None,
        beside: None,
        own_part: None,
    }
}

/// `1.5 GiB`, for messages.
fn size(bytes: u64) -> String {
    units::show_size(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(size_bytes: u64) -> Target {
        Target {
            given: "folder".to_owned(),
            path: "/folder".to_owned(),
            kind: TargetKind::Folder,
            size_bytes,
            writable: true,
            obstacles: Vec::new(),
            extents: None,
            direct: None,
        }
    }

    fn open() -> OpenFile {
        OpenFile::new(File::open("/dev/null").expect("it is there"), None)
    }

    #[test]
    fn a_workload_on_a_part_lies_in_that_part() {
        const SLICE: u64 = 1 << 20;
        let mut file = open();
        file.part = Some(Part {
            offset_bytes: 3 * SLICE,
            file_bytes: 8 * SLICE,
        });
        let target = target(SLICE);
        let place = |offset, span| {
            let beside = Workload {
                offset: 512,
                span: None,
                ..Workload::default()
            };
            let workload = Workload {
                offset,
                span,
                beside: Some(Box::new(beside)),
                ..Workload::default()
            };
            let (placed, whole) = file.placed(&workload, &target);
            assert_eq!(whole.size_bytes, 8 * SLICE);
            let beside = placed.beside.as_ref().expect("it has one");
            assert_eq!(
                (beside.offset, beside.span),
                (3 * SLICE + 512, Some(SLICE - 512))
            );
            (placed.offset, placed.span)
        };
        assert_eq!(place(0, None), (3 * SLICE, Some(SLICE)));
        assert_eq!(place(4096, None), (3 * SLICE + 4096, Some(SLICE - 4096)));
        assert_eq!(place(4096, Some(8192)), (3 * SLICE + 4096, Some(8192)));
        // Never beyond the slice, whatever a plan says.
        assert_eq!(place(0, Some(u64::MAX)), (3 * SLICE, Some(SLICE)));
        assert_eq!(place(2 * SLICE, Some(1)), (5 * SLICE, Some(0)));
    }

    #[test]
    fn a_workload_on_a_whole_file_is_as_it_was() {
        let workload = Workload::default();
        let target = target(1 << 20);
        let file = open();
        let (placed, whole) = file.placed(&workload, &target);
        assert_eq!((&*placed, &*whole), (&workload, &target));
    }
}
