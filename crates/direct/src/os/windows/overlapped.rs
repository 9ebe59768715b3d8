//! Calls that take an `OVERLAPPED`, ended before they return.
//!
//! The standard library opens synchronous handles, on which such a call ends by
//! itself. Whoever lends an asynchronous one (`FILE_FLAG_OVERLAPPED`) gets
//! `ERROR_IO_PENDING` from the system instead, which writes into the memory of the
//! caller until the work is done: so it is waited for.

use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::Foundation::ERROR_IO_PENDING;
use windows_sys::Win32::System::IO::{GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::Threading::CreateEventW;

use super::{handle, is};

/// Makes a call on the file, at its byte 0 where that matters, and waits for its end;
/// the bytes that it moved.
///
/// `call` starts it, and says 0 where the system did: what it gives the system stays
/// where it is until this returns.
pub(super) fn completed(file: &File, call: impl FnOnce(*mut OVERLAPPED) -> i32) -> io::Result<u32> {
    // Of its own: the file itself is signalled by any other work on it, too. It
    // is reset by hand, and not set.
    // SAFETY: neither attributes nor a name.
    let event = unsafe { CreateEventW(ptr::null(), 1, 0, ptr::null()) };
    if event.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just made, and is closed once.
    let event = unsafe { OwnedHandle::from_raw_handle(event) };
    let mut overlapped = OVERLAPPED {
        // The lowest bit keeps the end of the work from a completion port that the
        // file may have (GetQueuedCompletionStatus), whose owner did not start it.
        hEvent: event.as_raw_handle().map_addr(|address| address | 1),
        ..OVERLAPPED::default()
    };
    if call(&raw mut overlapped) == 0 {
        let error = io::Error::last_os_error();
        if !is(&error, ERROR_IO_PENDING) {
            return Err(error);
        }
    }
    let mut moved = 0;
    // SAFETY: the handle is open, and the structure is that of the call, which has
    // ended when this returns: the event is valid, so that waiting cannot fail.
    let result =
        unsafe { GetOverlappedResult(handle(file), &raw const overlapped, &raw mut moved, 1) };
    if result == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(moved)
}
