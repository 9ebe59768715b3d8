//! Marks of data on the device and on each of its partitions.

use super::{Obstacle, ObstacleKind};
use crate::error::Error;
use crate::parse::diskstats::SECTOR_BYTES;
use crate::roots::Roots;
use crate::signature::{Probed, ReadAt, signatures};
use crate::stack::node_number;
use crate::sysfs::DeviceDir;
use std::fs::File;
use std::io;
use std::path::Path;

pub(super) fn check(
    roots: &Roots,
    device: &DeviceDir,
    path: &Path,
    obstacles: &mut Vec<Obstacle>,
) -> Result<(), Error> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) => {
            obstacles.push(unchecked(
                &device.name,
                &format!("cannot be opened to look for marks of data ({error})"),
                crate::error::hint(&error),
            ));
            return Ok(());
        }
    };
    let whole = Span {
        file: &file,
        start: 0,
        size: sectors(device, "size"),
    };
    look(&device.name, path, &whole, obstacles);
    for partition in device.partitions()? {
        let node = roots.node(&partition.name);
        // Its own node sees what was written through it and is still cached;
        // without one, or with that of another device, the same bytes are read
        // from the disk.
        let own = (node_number(&node) == Some((partition.major, partition.minor)))
            .then(|| open(&node).ok())
            .flatten();
        let span = match &own {
            Some(file) => Span {
                file,
                start: 0,
                size: sectors(&partition, "size"),
            },
            None => Span {
                file: &file,
                start: sectors(&partition, "start"),
                size: sectors(&partition, "size"),
            },
        };
        look(&partition.name, &node, &span, obstacles);
    }
    Ok(())
}

fn sectors(device: &DeviceDir, attribute: &str) -> u64 {
    device
        .number(attribute)
        .unwrap_or(0)
        .saturating_mul(SECTOR_BYTES)
}

fn look(name: &str, path: &Path, span: &Span<'_>, obstacles: &mut Vec<Obstacle>) {
    if span.size == 0 {
        obstacles.push(unchecked(
            name,
            "has a size of 0, or an unknown one, so that nothing can be looked for on it",
            "insert a medium, or attach a file",
        ));
        return;
    }
    let Probed { found, unread } = signatures(span);
    for signature in found {
        obstacles.push(Obstacle {
            device: name.to_owned(),
            what: format!("carries data: {signature}"),
            how_to_go_on: format!(
                "if its data may be lost, `wipefs --all {}` removes the mark",
                path.display()
            ),
            kind: ObstacleKind::Signature(signature),
        });
    }
    if let Some(first) = unread.first() {
        obstacles.push(unchecked(
            name,
            &format!(
                "could not be read at byte {} and {} more places where marks of data may stand ({})",
                first.offset,
                unread.len() - 1,
                first.error
            ),
            crate::error::hint(&first.error),
        ));
    }
}

fn unchecked(name: &str, what: &str, how_to_go_on: &str) -> Obstacle {
    Obstacle {
        kind: ObstacleKind::Unchecked,
        device: name.to_owned(),
        what: what.to_owned(),
        how_to_go_on: how_to_go_on.to_owned(),
    }
}

/// A part of an open device.
struct Span<'a> {
    file: &'a File,
    start: u64,
    size: u64,
}

#[cfg(unix)]
impl ReadAt for Span<'_> {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        use std::os::unix::fs::FileExt;
        let place = self
            .start
            .checked_add(offset)
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        self.file.read_exact_at(buffer, place)
    }
}

#[cfg(not(unix))]
impl ReadAt for Span<'_> {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
        let _ = (self.file, self.start);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Opens for reading only, without waiting for a medium.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}
