//! An error of `directio`, taken apart for JavaScript.

use std::io::ErrorKind;

use directio::{Error, Subject};
use napi_derive::napi;

use crate::system::{libuv_error, name_unlike_libuv};
use crate::words::for_javascript;

/// What went wrong; the JavaScript half makes an `Error` of it.
#[napi(object)]
pub struct Fault {
    /// One sentence with everything.
    pub message: String,
    /// What was tried, as the system's manual calls it.
    pub operation: Option<String>,
    /// What it was tried on, when that has a path.
    pub path: Option<String>,
    /// The system's error as libuv numbers it, which is below 0.
    pub errno: Option<i32>,
    /// The name of the error, when it is not the one that libuv has for the number.
    pub code: Option<String>,
    /// The likely cause and what to do.
    pub hint: Option<String>,
    /// How many bytes of a write had been written before it failed.
    pub bytes_written: Option<f64>,
}

/// A fault on its way: the struct is large, and the good case should not be.
pub(crate) type Failure = Box<Fault>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let path = match error.subject() {
            Some(
                Subject::Path(path)
                | Subject::Open {
                    path: Some(path), ..
                },
            ) => Some(path.to_string_lossy().into_owned()),
            _ => None,
        };
        let code = match error.raw_os_error() {
            Some(code) => name_unlike_libuv(error.operation().unwrap_or_default(), code),
            None => name_without_number(error.kind()),
        };
        Box::new(Fault {
            message: for_javascript(&format!("{error:#}")),
            operation: error.operation().map(for_javascript),
            path,
            errno: error.raw_os_error().map(libuv_error),
            code: code.map(str::to_owned),
            hint: error.hint().map(for_javascript),
            bytes_written: None,
        })
    }
}

/// The name of an error that no system call reported.
fn name_without_number(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::InvalidInput => Some("EINVAL"),
        ErrorKind::OutOfMemory => Some("ENOMEM"),
        ErrorKind::Unsupported => Some("ENOTSUP"),
        _ => None,
    }
}

/// A fault of a system call that `directio` does not make.
#[cfg(target_os = "macos")]
pub(crate) fn system_failure(operation: &str, error: &std::io::Error) -> Failure {
    let code = error.raw_os_error();
    Box::new(Fault {
        message: format!("{operation} failed: {error}"),
        operation: Some(operation.to_owned()),
        path: None,
        errno: code.map(libuv_error),
        code: match code {
            Some(code) => name_unlike_libuv(operation, code),
            None => name_without_number(error.kind()),
        }
        .map(str::to_owned),
        hint: None,
        bytes_written: None,
    })
}

/// A fault that no system call reported.
pub(crate) fn failure(code: &str, message: impl Into<String>) -> Failure {
    Box::new(Fault {
        message: message.into(),
        operation: None,
        path: None,
        errno: None,
        code: Some(code.to_owned()),
        hint: None,
        bytes_written: None,
    })
}

/// What only macOS can do.
#[cfg(not(target_os = "macos"))]
pub(crate) fn macos_only() -> Failure {
    failure("ENOTSUP", "F_NOCACHE is known to macOS only")
}
