//! Marks of data on the device, on each of its partitions, and on other devices that
//! have bytes of it.

use super::reach::{How, Share};
use super::{Obstacle, ObstacleKind, open_device, unchecked};
use crate::error::{Error, hint};
use crate::parse::diskstats::SECTOR_BYTES;
use crate::roots::Roots;
use crate::signature::{Probed, ReadAt, SignatureKind, signatures};
use crate::stack::node_number;
use crate::sysfs::DeviceDir;
use std::fs::File;
use std::io;
use std::path::Path;

/// Looks at the target, open as `file` and seen at `path`, and at what shares bytes
/// with it.
pub(super) fn check(
    roots: &Roots,
    (target, path, file): (&DeviceDir, &Path, &File),
    shares: &[Share],
    obstacles: &mut Vec<Obstacle>,
) -> Result<(), Error> {
    let whole = Span {
        file,
        start: 0,
        size: sectors(target, "size"),
    };
    look(&target.name, path, &whole, obstacles);
    for partition in target.partitions()? {
        let node = roots.node(&partition.name);
        // Its own node sees what was written through it and is still cached;
        // without one, or with that of another device, the same bytes are read
        // from the disk.
        let own = (node_number(&node) == Some((partition.major, partition.minor)))
            .then(|| open_device(&node, (partition.major, partition.minor)).ok())
            .flatten();
        let span = match &own {
            Some(file) => Span {
                file,
                start: 0,
                size: sectors(&partition, "size"),
            },
            None => Span {
                file,
                start: sectors(&partition, "start"),
                size: sectors(&partition, "size"),
            },
        };
        look(&partition.name, &node, &span, obstacles);
    }
    for share in shares {
        // What other paths to the disk carry is what the target carries.
        let How::Beside { more, .. } = share.how else {
            continue;
        };
        beside(roots, &share.device, more, obstacles);
    }
    Ok(())
}

/// Looks at another device that has some of the bytes.
fn beside(roots: &Roots, device: &DeviceDir, more: bool, obstacles: &mut Vec<Obstacle>) {
    let node = roots.node(&device.name);
    let file = match open_device(&node, (device.major, device.minor)) {
        Ok(file) => file,
        Err(error) => {
            obstacles.push(cannot_be_opened(&device.name, &error));
            return;
        }
    };
    let span = Span {
        file: &file,
        start: 0,
        size: sectors(device, "size"),
    };
    let mut found = Vec::new();
    look(&device.name, &node, &span, &mut found);
    // Where it has more bytes than the target, its table says what lies where, and
    // need not say it of the target's bytes.
    found.retain(|obstacle| match &obstacle.kind {
        ObstacleKind::Signature(mark) => !more || mark.kind != SignatureKind::PartitionTable,
        _ => true,
    });
    obstacles.append(&mut found);
}

/// A device on which no mark can be looked for.
pub(super) fn cannot_be_opened(name: &str, error: &io::Error) -> Obstacle {
    unchecked(
        name,
        &format!("cannot be opened to look for marks of data ({error})"),
        hint(error),
    )
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
                "if its data may be lost, `{}` removes the mark",
                signature.removal(path)
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
            hint(&first.error),
        ));
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
