//! Row groups of many files, by several threads.

use super::table::File;
use crate::error::Error;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A row group.
pub(super) struct Part<'a> {
    /// Place of its file among the files.
    pub(super) place: usize,
    pub(super) file: &'a File,
    pub(super) group: usize,
}

/// The row groups that are not read yet, file after file.
struct Queue<'a> {
    files: std::iter::Enumerate<std::slice::Iter<'a, PathBuf>>,
    open: Option<Begun>,
    is_wanted: &'a (dyn Fn(usize) -> bool + Sync),
}

/// A file of which row groups are left.
struct Begun {
    place: usize,
    next: usize,
    row_groups: usize,
}

/// What is next: the place of a file, a row group of it, and the file where it was opened to be asked for these.
type Next = (usize, usize, Option<File>);

impl Queue<'_> {
    fn next(&mut self, files: &[PathBuf]) -> Option<Result<Next, (usize, Error)>> {
        loop {
            if let Some(begun) = &mut self.open
                && begun.next < begun.row_groups
            {
                begun.next += 1;
                return Some(Ok((begun.place, begun.next - 1, None)));
            }
            self.open = None;
            let (place, _) = self.files.find(|(place, _)| (self.is_wanted)(*place))?;
            let file = match File::open(&files[place]) {
                Ok(file) => file,
                Err(error) => return Some(Err((place, error))),
            };
            let row_groups = file.row_groups();
            if row_groups > 0 {
                self.open = Some(Begun {
                    place,
                    next: 1,
                    row_groups,
                });
                return Some(Ok((place, 0, Some(file))));
            }
        }
    }

    /// Nothing is taken any more.
    fn end(&mut self) {
        self.files = [].iter().enumerate();
        self.open = None;
    }
}

/// Reads all row groups of those of the files that are wanted, by their places. What is read comes in any
/// order, one after the other.
///
/// # Errors
/// That of the first file, among those that were looked at.
pub(super) fn each<T: Send>(
    files: &[PathBuf],
    is_wanted: &(dyn Fn(usize) -> bool + Sync),
    read: impl Fn(&Part<'_>) -> Result<T, Error> + Sync,
    take: impl FnMut(&Part<'_>, T) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let queue = Mutex::new(Queue {
        files: files.iter().enumerate(),
        open: None,
        is_wanted,
    });
    let take = Mutex::new(take);
    let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let fail = |place: usize, error: Error| {
        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.as_ref().is_none_or(|(known, _)| place < *known) {
            *failed = Some((place, error));
        }
        queue.lock().unwrap_or_else(PoisonError::into_inner).end();
    };
    let work = || {
        // The crate `parquet` moves the offset of the file that it reads, which copies of a descriptor
        // share: so each thread opens the file for itself.
        let mut own: Option<(usize, File)> = None;
        loop {
            let next = queue
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .next(files);
            let (place, group, opened) = match next {
                None => return,
                Some(Err((place, error))) => return fail(place, error),
                Some(Ok(next)) => next,
            };
            let file = match (opened, own.take()) {
                (Some(file), _) => Ok(file),
                (None, Some((of, file))) if of == place => Ok(file),
                (None, _) => File::open(&files[place]),
            };
            let file = match file {
                Ok(file) => &own.insert((place, file)).1,
                Err(error) => return fail(place, error),
            };
            let part = Part { place, file, group };
            let taken = read(&part).and_then(|read| {
                let mut take = take.lock().unwrap_or_else(PoisonError::into_inner);
                take(&part, read)
            });
            if let Err(error) = taken {
                return fail(place, error);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(()),
        Some((_, error)) => Err(error),
    }
}
