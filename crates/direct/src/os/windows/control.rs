//! `DeviceIoControl`, with typed answers.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;

use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl::{
    IOCTL_STORAGE_QUERY_PROPERTY, PropertyStandardQuery, STORAGE_PROPERTY_ID,
    STORAGE_PROPERTY_QUERY,
};

use super::handle;
use super::overlapped::completed;

/// Sends a command that has no input and no answer.
pub(super) fn command(file: &File, code: u32) -> io::Result<()> {
    control(file, code, (ptr::null(), 0), (ptr::null_mut(), 0)).map(drop)
}

/// Sends a command with a structure of plain integers as its input.
pub(super) fn command_with<T>(file: &File, code: u32, input: &T) -> io::Result<()> {
    let size = u32::try_from(size_of::<T>()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let input = (ptr::from_ref(input).cast(), size);
    control(file, code, input, (ptr::null_mut(), 0)).map(drop)
}

/// An answer that is plain integers, so that any bytes are a valid one.
///
/// # Safety
/// Every pattern of bits is a valid value of the type.
pub(super) unsafe trait Answer: Sized {}

/// Asks a question that has no input and the answer `T`.
pub(super) fn get<T: Answer>(file: &File, code: u32) -> io::Result<T> {
    answer(file, code, (ptr::null(), 0))
}

/// Asks for a storage property with the answer `T`.
pub(super) fn property<T: Answer>(file: &File, id: STORAGE_PROPERTY_ID) -> io::Result<T> {
    let query = query(id);
    answer(
        file,
        IOCTL_STORAGE_QUERY_PROPERTY,
        (ptr::from_ref(&query).cast(), input_size()),
    )
}

/// Asks for a storage property whose answer is a header and texts behind it.
pub(super) fn property_bytes(file: &File, id: STORAGE_PROPERTY_ID) -> io::Result<Vec<u8>> {
    let query = query(id);
    // Serial numbers and names are short; what is longer is cut, and the
    // parser takes an offset beyond the end for an absent text.
    let mut bytes = vec![0_u8; 4096];
    let written = control(
        file,
        IOCTL_STORAGE_QUERY_PROPERTY,
        (ptr::from_ref(&query).cast(), input_size()),
        (bytes.as_mut_ptr().cast(), 4096),
    )?;
    bytes.truncate(written);
    Ok(bytes)
}

fn query(id: STORAGE_PROPERTY_ID) -> STORAGE_PROPERTY_QUERY {
    STORAGE_PROPERTY_QUERY {
        PropertyId: id,
        QueryType: PropertyStandardQuery,
        AdditionalParameters: [0],
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a structure of 12 bytes")]
fn input_size() -> u32 {
    size_of::<STORAGE_PROPERTY_QUERY>() as u32
}

fn answer<T: Answer>(file: &File, code: u32, input: (*const c_void, u32)) -> io::Result<T> {
    let size = u32::try_from(size_of::<T>()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut answer = MaybeUninit::<T>::zeroed();
    let written = control(file, code, input, (answer.as_mut_ptr().cast(), size))?;
    if written < size_of::<T>() {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!("the answer has {written} bytes of {}", size_of::<T>()),
        ));
    }
    // SAFETY: all bytes are set, to zero above or by the system, and Answer
    // promises that any bytes are a valid value.
    Ok(unsafe { answer.assume_init() })
}

/// The call itself; returns the bytes written into `output`.
fn control(
    file: &File,
    code: u32,
    (input, input_size): (*const c_void, u32),
    (output, output_size): (*mut c_void, u32),
) -> io::Result<usize> {
    let written = completed(file, |overlapped| {
        // SAFETY: the handle is open; input and output are live for the stated
        // sizes, or null for 0, until the call has ended.
        unsafe {
            DeviceIoControl(
                handle(file),
                code,
                input,
                input_size,
                output,
                output_size,
                ptr::null_mut(),
                overlapped,
            )
        }
    })?;
    usize::try_from(written).map_err(|_| io::ErrorKind::InvalidData.into())
}
