//! Opening on Windows: `FILE_FLAG_NO_BUFFERING`, `FILE_FLAG_WRITE_THROUGH`,
//! share mode 0; read back by `NtQueryInformationFile`.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_NO_INTERMEDIATE_BUFFERING, FILE_WRITE_THROUGH, FileModeInformation, NtQueryInformationFile,
};
use windows_sys::Win32::Foundation::{ERROR_INVALID_PARAMETER, ERROR_WRITE_PROTECT};
use windows_sys::Win32::Storage::FileSystem::{FILE_FLAG_NO_BUFFERING, FILE_FLAG_WRITE_THROUGH};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;
use windows_sys::Win32::System::Ioctl::IOCTL_DISK_IS_WRITABLE;

use super::{control, handle, is};
use crate::error::Subject;
use crate::{Direct, Durability, Error, Exclusivity, Granted, OpenOptions, Opened};

const REFUSED: &str = "the filesystem or its driver refuses FILE_FLAG_NO_BUFFERING";

pub(crate) fn open(options: &OpenOptions, path: &Path) -> Result<Opened, Error> {
    let (file, mut direct_refused) = open_maybe_direct(options, path)?;
    let mode = mode(&file);
    let no_buffering = options.direct != Direct::No && direct_refused.is_none();
    // Where the mode cannot be read back, opening without an error is the best
    // there is to go by, and the caveat says so.
    let (direct, write_through, caveat) = match mode {
        Ok(mode) => (
            mode & FILE_NO_INTERMEDIATE_BUFFERING != 0,
            mode & FILE_WRITE_THROUGH != 0,
            None,
        ),
        Err(error) => (
            no_buffering,
            options.durability != Durability::None,
            no_buffering.then(|| format!("the open file's mode could not be read back: {error}")),
        ),
    };
    if no_buffering && !direct {
        direct_refused = Some("the system did not keep FILE_FLAG_NO_BUFFERING".to_owned());
    }
    if options.direct == Direct::Required {
        if let Some(why) = direct_refused {
            drop(file);
            if options.create_new {
                // This very call has made it; the error below matters more.
                let _ = std::fs::remove_file(path);
            }
            return Err(refused(options, path, &why));
        }
    }
    let protected = options.write
        && control::command(&file, IOCTL_DISK_IS_WRITABLE)
            .is_err_and(|error| is(&error, ERROR_WRITE_PROTECT));
    Ok(Opened {
        file,
        granted: Granted {
            direct,
            direct_refused,
            direct_caveat: caveat,
            // One flag stands for both; it has the metadata written, too.
            durability: if write_through {
                Durability::Full
            } else {
                Durability::None
            },
            exclusive: if options.exclusive {
                Exclusivity::Mandatory
            } else {
                Exclusivity::None
            },
            write: options.write && !protected,
            write_refused: protected.then(|| "the medium is write-protected".to_owned()),
        },
    })
}

fn open_maybe_direct(options: &OpenOptions, path: &Path) -> Result<(File, Option<String>), Error> {
    let plainly = || {
        open_with(options, path, 0).map_err(|error| Error::on_path(describe(options), path, error))
    };
    if options.direct == Direct::No {
        return Ok((plainly()?, None));
    }
    match open_with(options, path, FILE_FLAG_NO_BUFFERING) {
        Ok(file) => Ok((file, None)),
        Err(error)
            if options.direct == Direct::IfPossible && is(&error, ERROR_INVALID_PARAMETER) =>
        {
            Ok((plainly()?, Some(REFUSED.to_owned())))
        }
        Err(error) => Err(Error::on_path(describe(options), path, error)),
    }
}

fn open_with(options: &OpenOptions, path: &Path, flags: u32) -> io::Result<File> {
    let through = match options.durability {
        Durability::None => 0,
        Durability::Data | Durability::Full => FILE_FLAG_WRITE_THROUGH,
    };
    let mut standard = options.standard();
    if options.exclusive {
        standard.share_mode(0);
    }
    standard.custom_flags(flags | through).open(path)
}

/// The mode of the open file, as `FILE_MODE_INFORMATION` of `<ntifs.h>`.
fn mode(file: &File) -> io::Result<u32> {
    let mut mode = 0_u32;
    let mut status = MaybeUninit::<IO_STATUS_BLOCK>::zeroed();
    // SAFETY: the handle is open; the class writes a FILE_MODE_INFORMATION,
    // which is one u32, and the length says so.
    let result = unsafe {
        NtQueryInformationFile(
            handle(file),
            status.as_mut_ptr(),
            (&raw mut mode).cast(),
            4,
            FileModeInformation,
        )
    };
    if result < 0 {
        return Err(io::Error::other(format!(
            "NtQueryInformationFile: status {result:#010x}"
        )));
    }
    Ok(mode)
}

fn refused(options: &OpenOptions, path: &Path, why: &str) -> Error {
    Error::os(
        describe(options),
        Subject::Path(path.to_owned()),
        super::error_of(ERROR_INVALID_PARAMETER),
        Some(format!(
            "{why}; choose another filesystem, or go on without direct I/O (Direct::IfPossible)"
        )),
    )
}

fn describe(options: &OpenOptions) -> String {
    let mut flags = vec![match (options.read, options.write) {
        (true, true) => "GENERIC_READ|GENERIC_WRITE",
        (false, true) => "GENERIC_WRITE",
        _ => "GENERIC_READ",
    }];
    if options.exclusive {
        flags.push("share mode 0");
    }
    if options.direct != Direct::No {
        flags.push("FILE_FLAG_NO_BUFFERING");
    }
    if options.durability != Durability::None {
        flags.push("FILE_FLAG_WRITE_THROUGH");
    }
    format!("CreateFile({})", flags.join(", "))
}
