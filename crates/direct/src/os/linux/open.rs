//! Opening on Linux: `O_DIRECT`, `O_DSYNC`, `O_SYNC`, `O_EXCL`.
//!
//! The flags are those of the libc crate. (rustix 1.1 gives `OFlags::DSYNC`
//! the value of `O_SYNC` on Linux, and so cannot tell the two apart.)

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat, fstatfs};

use super::alignment::{STATX_SAYS_NO, Stated, by_statx};
use super::{geometry, holders, mounts};
use crate::error::Subject;
use crate::os::unix::lock::lock_file;
use crate::{
    Direct, Durability, Error, Exclusivity, Granted, LockKind, OpenOptions, Opened, Patience,
};

/// `TMPFS_MAGIC` of `<linux/magic.h>`.
const TMPFS_MAGIC: u64 = 0x0102_1994;

pub(crate) fn open(options: &OpenOptions, path: &Path) -> Result<Opened, Error> {
    let claim = options.exclusive
        && std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device());
    let (file, mut direct_refused) = open_maybe_direct(options, path, claim)?;
    let stat = fstat(&file).map_err(|error| Error::on_path("fstat", path, error))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    let is_device = kind == FileType::BlockDevice;
    if kind == FileType::Directory && options.direct != Direct::No {
        return Err(is_a_folder(options, path, claim));
    }
    if options.exclusive && claim != is_device {
        return Err(Error::os(
            describe(options, claim),
            Subject::Path(path.to_owned()),
            io::Error::from_raw_os_error(libc::EAGAIN),
            Some("another file took this name while it was being opened; try again".to_owned()),
        ));
    }
    let exclusive = take_exclusively(options, &file, claim)?;
    if direct_refused.is_none() && options.direct != Direct::No {
        direct_refused = settle_direct(options, path, &file)?;
    }
    let flags = status_flags(&file, path)?;
    let direct = flags & libc::O_DIRECT != 0;
    let read_only_device = options.write && is_device && geometry::read_only(&file) == Some(true);
    let granted = Granted {
        direct,
        // The node of a device lies on a tmpfs itself, and its content does not.
        direct_caveat: (direct && !is_device).then(|| caveat(&file)).flatten(),
        direct_refused,
        durability: durability(flags),
        exclusive,
        write: flags & libc::O_ACCMODE != libc::O_RDONLY && !read_only_device,
        write_refused: read_only_device.then(|| {
            format!(
                "the device is set read-only, and each write will fail with EPERM (blockdev \
                 --setrw {})",
                Subject::of(&file)
            )
        }),
    };
    Ok(Opened { file, granted })
}

/// Opens with `O_DIRECT` if it is wanted, else or if that is refused and may
/// be, without; and then says why.
fn open_maybe_direct(
    options: &OpenOptions,
    path: &Path,
    claim: bool,
) -> Result<(File, Option<String>), Error> {
    // The kernel makes a new file before it looks whether the filesystem can
    // do O_DIRECT, and leaves it behind when it cannot. So a new file is opened
    // plainly, and made direct afterwards (settle_direct).
    let at_once = options.direct != Direct::No && !options.create_new;
    if at_once {
        match open_with(options, path, claim, libc::O_DIRECT) {
            // A folder refuses it on every filesystem; it is no file without a
            // name that shall be made in it.
            Err(error)
                if error.raw_os_error() == Some(libc::EINVAL)
                    && options.custom_flags & libc::O_TMPFILE != libc::O_TMPFILE
                    && path.is_dir() =>
            {
                return Err(is_a_folder(options, path, claim));
            }
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                let why = refusal(path);
                if options.direct == Direct::Required {
                    return Err(Error::os(
                        describe(options, claim),
                        Subject::Path(path.to_owned()),
                        error,
                        Some(format!(
                            "{why}; choose another file or filesystem, or go on without direct \
                             I/O (Direct::IfPossible)"
                        )),
                    ));
                }
                let file = open_with(options, path, claim, 0)
                    .map_err(|error| explain(options, path, claim, error))?;
                return Ok((file, Some(why)));
            }
            Err(error) => return Err(explain(options, path, claim, error)),
            Ok(file) => return Ok((file, None)),
        }
    }
    let file =
        open_with(options, path, claim, 0).map_err(|error| explain(options, path, claim, error))?;
    Ok((file, None))
}

fn open_with(options: &OpenOptions, path: &Path, claim: bool, flags: i32) -> io::Result<File> {
    let mut flags = flags | options.custom_flags | durability_flag(options.durability);
    if claim {
        flags |= libc::O_EXCL;
    }
    options.standard().custom_flags(flags).open(path)
}

fn is_a_folder(options: &OpenOptions, path: &Path, claim: bool) -> Error {
    Error::on_path(
        describe(options, claim),
        path,
        io::Error::from_raw_os_error(libc::EISDIR),
    )
}

/// Locks a file, where `O_EXCL` says nothing; a device was claimed by opening.
fn take_exclusively(options: &OpenOptions, file: &File, claim: bool) -> Result<Exclusivity, Error> {
    if claim {
        return Ok(Exclusivity::Claim);
    }
    if !options.exclusive {
        return Ok(Exclusivity::None);
    }
    lock_file(file, LockKind::Exclusive, Patience::Fail)?;
    Ok(Exclusivity::Advisory)
}

/// Makes sure that the open file is direct, or says why it is not.
///
/// A filesystem may accept `O_DIRECT` and then serve a file through the page
/// cache all the same (ext4 with journalled data, for one); since 6.1 `statx`
/// tells. Then the flag is taken off again, so that it does not lie.
fn settle_direct(options: &OpenOptions, path: &Path, file: &File) -> Result<Option<String>, Error> {
    let flags = status_flags(file, path)?;
    let silent = matches!(by_statx(file), Some(Stated::Unsupported));
    let refused = if silent {
        set_direct(file, flags, false).map_err(|error| on_setfl(path, error))?;
        Some((libc::EOPNOTSUPP, STATX_SAYS_NO.to_owned()))
    } else if flags & libc::O_DIRECT != 0 {
        None
    } else {
        match set_direct(file, flags, true) {
            Ok(()) => None,
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                Some((libc::EINVAL, refusal(path)))
            }
            Err(error) => return Err(on_setfl(path, error)),
        }
    };
    match refused {
        Some((code, why)) if options.direct == Direct::Required => {
            if options.create_new {
                // This very call has made it, so nobody misses it. If removing
                // fails, the error below is still the one that matters.
                let _ = std::fs::remove_file(path);
            }
            Err(Error::os(
                "open with O_DIRECT",
                Subject::Path(path.to_owned()),
                io::Error::from_raw_os_error(code),
                Some(format!(
                    "{why}; choose another file or filesystem, or go on without direct I/O \
                     (Direct::IfPossible)"
                )),
            ))
        }
        refused => Ok(refused.map(|(_, why)| why)),
    }
}

fn set_direct(file: &File, flags: i32, direct: bool) -> io::Result<()> {
    let flags = if direct {
        flags | libc::O_DIRECT
    } else {
        flags & !libc::O_DIRECT
    };
    Ok(fcntl_setfl(file, OFlags::from_bits_retain(flags as u32))?)
}

fn status_flags(file: &File, path: &Path) -> Result<i32, Error> {
    fcntl_getfl(file)
        .map(flag_bits)
        .map_err(|error| Error::on_path("fcntl(F_GETFL)", path, error))
}

/// As the constants of the libc crate are typed.
#[expect(clippy::cast_possible_wrap, reason = "bits, of which none is the sign")]
fn flag_bits(flags: OFlags) -> i32 {
    flags.bits() as i32
}

fn on_setfl(path: &Path, error: io::Error) -> Error {
    Error::on_path("fcntl(F_SETFL)", path, error)
}

const fn durability_flag(durability: Durability) -> i32 {
    match durability {
        Durability::None => 0,
        Durability::Data => libc::O_DSYNC,
        Durability::Full => libc::O_SYNC,
    }
}

/// `O_SYNC` contains the bit of `O_DSYNC`, so it is looked for first.
const fn durability(flags: i32) -> Durability {
    if flags & libc::O_SYNC == libc::O_SYNC {
        Durability::Full
    } else if flags & libc::O_DSYNC == libc::O_DSYNC {
        Durability::Data
    } else {
        Durability::None
    }
}

/// Why direct I/O was refused: by what is no file, or by the filesystem, in its
/// name.
fn refusal(path: &Path) -> String {
    if let Some(kind) = std::fs::metadata(path)
        .ok()
        .and_then(|metadata| other_kind(metadata.file_type()))
    {
        return format!("this is {kind}, and only files and block devices have O_DIRECT");
    }
    let file_system = mounts::of_path(path).map_or_else(
        || "the filesystem".to_owned(),
        |mount| format!("{} on {}", mount.file_system, mount.mount_point.display()),
    );
    format!("{file_system} does not support O_DIRECT")
}

/// What lies on a filesystem and is no part of its storage.
fn other_kind(kind: std::fs::FileType) -> Option<&'static str> {
    if kind.is_char_device() {
        Some("a character device")
    } else if kind.is_fifo() {
        Some("a pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else {
        None
    }
}

/// What a grant of direct I/O does not mean on this filesystem.
fn caveat(file: &File) -> Option<String> {
    let magic = u64::try_from(fstatfs(file).ok()?.f_type).ok()?;
    (magic == TMPFS_MAGIC).then(|| {
        "tmpfs keeps its files in memory: it accepts O_DIRECT, and there is no device to go to"
            .to_owned()
    })
}

fn describe(options: &OpenOptions, claim: bool) -> String {
    let mut flags = Vec::new();
    if options.create_new || claim {
        flags.push("O_EXCL");
    }
    if options.direct != Direct::No {
        flags.push("O_DIRECT");
    }
    match options.durability {
        Durability::None => {}
        Durability::Data => flags.push("O_DSYNC"),
        Durability::Full => flags.push("O_SYNC"),
    }
    options.describe(&flags)
}

/// Whether names there are those of devices, which nobody creates; `/dev/shm` is a folder
/// of files in memory.
fn is_of_devices(path: &Path) -> bool {
    path.starts_with("/dev") && !path.starts_with("/dev/shm")
}

/// The error of an open, with what can be found out about it.
fn explain(options: &OpenOptions, path: &Path, claim: bool, error: io::Error) -> Error {
    let hint = match error.raw_os_error() {
        Some(libc::EBUSY) if claim => Some(holders::explain_busy(path)),
        Some(libc::ENOENT) if is_of_devices(path) => Some(
            "no device has this name: it was unplugged, or was never there (dmesg tells); check \
             the path"
                .to_owned(),
        ),
        _ => super::hint(&error),
    };
    Error::os(
        describe(options, claim),
        Subject::Path(path.to_owned()),
        error,
        hint,
    )
}
