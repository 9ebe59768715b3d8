//! What macOS and FreeBSD share: opening with `O_EXLOCK`, and asking the mount
//! table. Man pages: open(2), getfsstat(2), statfs(2) of either system.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat, statfs};

use crate::error::Subject;
use crate::parse::bsd_device::{is_within, mountable};
use crate::{DeviceUnder, Direct, Durability, Error, Holder, OpenOptions};

/// Opens with `extra` flags besides those that the options ask for.
pub(super) fn open_with(options: &OpenOptions, path: &Path, extra: i32) -> Result<File, Error> {
    let mut flags = extra | options.custom_flags | durability_flag(options.durability);
    if options.exclusive {
        // Without O_NONBLOCK the call waits until another one's lock is gone.
        flags |= libc::O_EXLOCK | libc::O_NONBLOCK;
    }
    let file = options
        .standard()
        .custom_flags(flags)
        .open(path)
        .map_err(|error| explain(options, path, error))?;
    if options.direct != Direct::No && kind(&file, path)? == FileType::Directory {
        let error = io::Error::from_raw_os_error(libc::EISDIR);
        return Err(Error::on_path(describe(options), path, error));
    }
    if options.exclusive {
        stop_not_blocking(&file, options.custom_flags)
            .map_err(|error| Error::on_path("fcntl(F_SETFL)", path, error))?;
    }
    Ok(file)
}

/// Takes `O_NONBLOCK` off again, which has other effects after opening, unless
/// the caller wanted it.
fn stop_not_blocking(file: &File, wanted: i32) -> io::Result<()> {
    if wanted & libc::O_NONBLOCK == 0 {
        let flags = fcntl_getfl(file)?;
        fcntl_setfl(file, flags.difference(OFlags::NONBLOCK))?;
    }
    Ok(())
}

/// The flags of the open file, as fcntl(2) tells them.
pub(super) fn status_flags(file: &File, path: &Path) -> Result<i32, Error> {
    fcntl_getfl(file)
        .map(flag_bits)
        .map_err(|error| Error::on_path("fcntl(F_GETFL)", path, error))
}

/// As the constants of the libc crate are typed.
#[expect(clippy::cast_possible_wrap, reason = "bits, of which none is the sign")]
fn flag_bits(flags: OFlags) -> i32 {
    flags.bits() as i32
}

pub(super) fn kind(file: &File, path: &Path) -> Result<FileType, Error> {
    let stat = fstat(file).map_err(|error| Error::on_path("fstat", path, error))?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}

pub(super) fn is_device(kind: FileType) -> bool {
    matches!(kind, FileType::BlockDevice | FileType::CharacterDevice)
}

const fn durability_flag(durability: Durability) -> i32 {
    match durability {
        Durability::None => 0,
        Durability::Data => libc::O_DSYNC,
        Durability::Full => libc::O_SYNC,
    }
}

/// What the flags of an open file promise; the stronger one if both are set.
pub(super) const fn durability(flags: i32) -> Durability {
    if flags & libc::O_SYNC != 0 {
        Durability::Full
    } else if flags & libc::O_DSYNC != 0 {
        Durability::Data
    } else {
        Durability::None
    }
}

pub(super) fn describe(options: &OpenOptions) -> String {
    let mut flags = Vec::new();
    if options.create_new {
        flags.push("O_EXCL");
    }
    if options.exclusive {
        flags.push("O_EXLOCK");
    }
    match options.durability {
        Durability::None => {}
        Durability::Data => flags.push("O_DSYNC"),
        Durability::Full => flags.push("O_SYNC"),
    }
    options.describe(&flags)
}

/// The error of an open, with what can be found out about it.
fn explain(options: &OpenOptions, path: &Path, error: io::Error) -> Error {
    let busy = matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EPERM));
    let held = busy
        .then(|| holders(path).ok())
        .flatten()
        .filter(|holders| !holders.is_empty())
        .map(|holders| {
            let clauses: Vec<String> = holders.iter().map(ToString::to_string).collect();
            clauses.join("; ")
        });
    let hint = held.or_else(|| super::unix::hint::hint(&error));
    Error::os(
        describe(options),
        Subject::Path(path.to_owned()),
        error,
        hint,
    )
}

/// The mounts of a disk and its partitions; who else holds it, these systems
/// do not tell.
pub(crate) fn holders(path: &Path) -> Result<Vec<Holder>, Error> {
    let metadata = std::fs::metadata(path).map_err(|error| Error::on_path("stat", path, error))?;
    let kind = metadata.file_type();
    if !kind.is_block_device() && !kind.is_char_device() {
        return Err(Error::os(
            "looking for holders",
            Subject::Path(path.to_owned()),
            io::Error::from_raw_os_error(libc::ENOTBLK),
            Some("only a disk device has holders".to_owned()),
        ));
    }
    let mounts = mounts().map_err(|error| Error::os("getfsstat", Subject::System, error, None))?;
    let disk = mountable(&path.to_string_lossy());
    Ok(mounts
        .into_iter()
        .filter(|(from, _)| is_within(&disk, from))
        .map(|(from, on)| Holder::Mount {
            device: PathBuf::from(from),
            mount_point: PathBuf::from(on),
            namespace_of: None,
        })
        .collect())
}

/// What is mounted, and where.
fn mounts() -> io::Result<Vec<(String, String)>> {
    // SAFETY: a null pointer asks for the number of mounts only.
    let count = unsafe { libc::getfsstat(std::ptr::null_mut(), 0, libc::MNT_NOWAIT) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    // Room for mounts that appear between the two calls.
    let mut table: Vec<libc::statfs> = Vec::with_capacity(count + 8);
    let bytes = table.capacity() * size_of::<libc::statfs>();
    let bytes = bytes.try_into().map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the table has room for `bytes` bytes, and the system writes
    // whole entries into it, at most as many as fit.
    let filled = unsafe { libc::getfsstat(table.as_mut_ptr(), bytes, libc::MNT_NOWAIT) };
    let filled = usize::try_from(filled).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the system has written that many entries; more than the capacity
    // is never claimed here, even if the mounts have grown past the room.
    unsafe { table.set_len(filled.min(table.capacity())) };
    Ok(table
        .iter()
        .map(|entry| (text(&entry.f_mntfromname), text(&entry.f_mntonname)))
        .collect())
}

/// A field of `struct statfs`: text up to a NUL.
fn text(field: &[libc::c_char]) -> String {
    // c_char is a byte whose sign does not matter here.
    let bytes: Vec<u8> = field
        .iter()
        .map(|&unit| unit.to_ne_bytes()[0])
        .take_while(|&byte| byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(crate) fn geometry_under(path: &Path) -> Result<DeviceUnder, Error> {
    let stat = statfs(path).map_err(|error| Error::on_path("statfs", path, error))?;
    let (from, file_system) = (text(&stat.f_mntfromname), text(&stat.f_fstypename));
    if !from.starts_with("/dev/") {
        return Err(Error::unsupported(
            "finding the device",
            Subject::Path(path.to_owned()),
            format!("{file_system} filesystem: what is mounted ({from}) is no single device"),
        ));
    }
    let device = PathBuf::from(from);
    let file = File::open(&device).map_err(|error| Error::on_path("open", &device, error))?;
    let geometry = crate::os::geometry(&file)?;
    Ok(DeviceUnder {
        device,
        number: None,
        file_system: Some(file_system),
        geometry,
    })
}

/// The type of the filesystem that holds the file.
#[cfg(target_os = "freebsd")]
pub(super) fn file_system(path: &Path) -> Option<String> {
    let stat = statfs(path).ok()?;
    Some(text(&stat.f_fstypename))
}

/// Neither system tells who holds a lock of `flock`.
pub(crate) fn lock_holder(_file: &File) -> Option<String> {
    None
}

/// Neither system tells on which pages a mapping lies.
pub(crate) fn resident_huge_bytes(_mapping: &super::Mapping) -> Option<u64> {
    None
}

/// Neither system has one.
pub(crate) fn write_at_durable(
    _file: &File,
    _buffer: &[u8],
    _offset: u64,
    _durability: Durability,
) -> Option<io::Result<usize>> {
    None
}
