//! What may stand for an open file in the calls of this crate.

use std::fs::File;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;

#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};
#[cfg(windows)]
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle};

/// An open file or device, as the standard library lends it: whatever has
/// [`AsFd`](std::os::fd::AsFd) on Unix or `AsHandle` on Windows. So a
/// `std::fs::File`, `tokio::fs::File` or `OwnedFd`, an `Arc` of one, and
/// [`DirectFile`](crate::DirectFile), [`FileLock`](crate::FileLock) and
/// [`Claim`](crate::Claim).
#[cfg(unix)]
pub trait AsFile: AsFd {}

#[cfg(unix)]
impl<T: AsFd + ?Sized> AsFile for T {}

/// An open file or device, as the standard library lends it: whatever has
/// [`AsHandle`](std::os::windows::io::AsHandle) on Windows or `AsFd` on Unix.
#[cfg(windows)]
pub trait AsFile: AsHandle {}

#[cfg(windows)]
impl<T: AsHandle + ?Sized> AsFile for T {}

#[cfg(unix)]
type Borrowed<'a> = BorrowedFd<'a>;
#[cfg(windows)]
type Borrowed<'a> = BorrowedHandle<'a>;

/// A file that is lent, in the form that the standard library has methods for.
pub(crate) struct Lent<'a> {
    file: ManuallyDrop<File>,
    owner: PhantomData<Borrowed<'a>>,
}

/// Lends a file for the length of a call.
pub(crate) fn lend(owner: &(impl AsFile + ?Sized)) -> Lent<'_> {
    #[cfg(unix)]
    // SAFETY: the descriptor is open for as long as `owner` is borrowed, which
    // the result remembers; it is never dropped as a File, so it is not closed.
    let file = unsafe { File::from_raw_fd(owner.as_fd().as_raw_fd()) };
    #[cfg(windows)]
    // SAFETY: as on Unix, of the handle.
    let file = unsafe { File::from_raw_handle(owner.as_handle().as_raw_handle()) };
    Lent {
        file: ManuallyDrop::new(file),
        owner: PhantomData,
    }
}

impl Deref for Lent<'_> {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

/// Lets a type that holds a `File` be taken for it: `lends_its_file!(Claim, |claim|
/// &claim.file)`.
macro_rules! lends_its_file {
    ($type:ty, |$holder:ident| $file:expr) => {
        #[cfg(unix)]
        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                let $holder = self;
                std::os::fd::AsFd::as_fd($file)
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsHandle for $type {
            fn as_handle(&self) -> std::os::windows::io::BorrowedHandle<'_> {
                let $holder = self;
                std::os::windows::io::AsHandle::as_handle($file)
            }
        }
    };
}

pub(crate) use lends_its_file;
