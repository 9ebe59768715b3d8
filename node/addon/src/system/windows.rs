//! Windows.

use std::ffi::CStr;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::windows::io::{FromRawHandle, RawHandle};
use std::path::{Path, PathBuf};
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_INVALID_PARAMETER, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};

use super::Borrowed;
use crate::fault::{Failure, failure};

/// `UV_FS_O_DIRECT` of libuv's `uv/win.h`: `FILE_FLAG_NO_BUFFERING`.
pub(crate) const O_DIRECT: i32 = 0x0200_0000;
/// `UV_FS_O_DSYNC`: `FILE_FLAG_WRITE_THROUGH`.
pub(crate) const O_DSYNC: i32 = 0x0400_0000;
/// `UV_FS_O_SYNC`: `FILE_FLAG_WRITE_THROUGH`.
pub(crate) const O_SYNC: i32 = 0x0800_0000;
/// `UV_FS_O_EXLOCK`: share mode 0.
pub(crate) const O_EXLOCK: i32 = 0x1000_0000;
/// `UV_FS_O_EXCL`: `_O_EXCL` of the C runtime's `fcntl.h`.
pub(crate) const O_EXCL: i32 = 0x0400;

/// The error that the system gives for a misaligned transfer.
pub(crate) const INVALID_ARGUMENT: i32 = ERROR_INVALID_PARAMETER.cast_signed();

/// As on Unix. Descriptors are the C runtime's, and each copy of that runtime
/// has its own; so Node's must be asked, through libuv.
pub(crate) fn borrow(descriptor: i32) -> Result<Borrowed, Failure> {
    type GetOsfhandle = unsafe extern "C" fn(i32) -> RawHandle;
    let address = exported_by_node(c"uv_get_osfhandle").ok_or_else(|| {
        failure(
            "ENOSYS",
            "this runtime does not export uv_get_osfhandle, without which a file descriptor says \
             nothing on Windows; use DirectFile, which opens files itself",
        )
    })?;
    // SAFETY: uv.h declares `uv_os_fd_t uv_get_osfhandle(int fd)`, and
    // uv_os_fd_t is HANDLE.
    let get: GetOsfhandle = unsafe { std::mem::transmute(address) };
    // SAFETY: any number may be asked about.
    let handle = unsafe { get(descriptor) };
    if handle == INVALID_HANDLE_VALUE {
        return Err(failure("EBADF", "EBADF: bad file descriptor"));
    }
    // SAFETY: an open handle, never dropped here, so it is not closed.
    let file = unsafe { File::from_raw_handle(handle) };
    Ok(Borrowed(ManuallyDrop::new(file)))
}

/// A path is text.
pub(crate) fn path_from_bytes(bytes: &[u8]) -> Result<PathBuf, Failure> {
    match str::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(failure(
            "EINVAL",
            format!("a path on Windows is text, and these bytes are no UTF-8: {error}"),
        )),
    }
}

/// A file has a handle here, and no number.
pub(crate) fn descriptor(_file: &File) -> Option<i32> {
    None
}

/// Whether this is a disk or a volume: both lie in the namespace of devices.
pub(crate) fn is_disk(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().starts_with(br"\\.\")
}

pub(crate) fn set_no_cache(_descriptor: i32, _no_cache: bool) -> Result<(), Failure> {
    Err(crate::fault::macos_only())
}

/// A code of `GetLastError` as libuv numbers it; 0 when libuv cannot be asked.
pub(crate) fn libuv_error(code: i32) -> i32 {
    type Translate = unsafe extern "C" fn(i32) -> i32;
    exported_by_node(c"uv_translate_sys_error").map_or(0, |address| {
        // SAFETY: uv.h declares `int uv_translate_sys_error(int sys_errno)`.
        let translate: Translate = unsafe { std::mem::transmute(address) };
        // SAFETY: any number may be asked about.
        unsafe { translate(code) }
    })
}

/// libuv has a name for every code, if only `UNKNOWN`.
pub(crate) fn name_unlike_libuv(_operation: &str, _code: i32) -> Option<&'static str> {
    None
}

/// A function that the program itself exports, as node.exe does libuv's.
fn exported_by_node(name: &CStr) -> Option<unsafe extern "system" fn() -> isize> {
    // SAFETY: no name stands for the program, which stays loaded.
    let program = unsafe { GetModuleHandleW(ptr::null()) };
    // SAFETY: the program's own module, and a text that ends with a NUL.
    unsafe { GetProcAddress(program, name.as_ptr().cast()) }
}
