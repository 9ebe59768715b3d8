//! `SIGBUS`, when a page of a mapping cannot be had.
//!
//! The handler puts a page of zeros in the place of the one that failed and
//! makes a note, so that the load or store ends and the operation can be counted
//! as failed; libwayland does the same for its shared memory
//! (`src/wayland-shm.c`). Anything else that raises `SIGBUS` gets what it would
//! have got without us.

use std::cell::Cell;
use std::io;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

thread_local! {
    /// First address and length of the mapping that this thread works in.
    static WATCHED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// Whether a page of it could not be had.
    static FAULTED: Cell<bool> = const { Cell::new(false) };
}

/// What was to be done before there was a handler of ours, and the size of a
/// page; or the number of the error.
static INSTALLED: OnceLock<Result<(Old, usize), i32>> = OnceLock::new();

struct Old(libc::sigaction);

// SAFETY: written once, and then only read; the pointer in it is to code.
unsafe impl Sync for Old {}
// SAFETY: as above.
unsafe impl Send for Old {}

/// That faults in the mapping of an engine are dealt with, on this thread.
#[derive(Debug)]
pub(super) struct Watch {
    start: usize,
}

impl Watch {
    /// Watches over the mapping of `length` bytes from `start`, for the thread
    /// that calls, which is the only one that works in it.
    ///
    /// # Errors
    /// When no handler can be installed.
    pub(super) fn over(start: *mut u8, length: usize) -> io::Result<Self> {
        if let Err(errno) = INSTALLED.get_or_init(install) {
            return Err(io::Error::from_raw_os_error(*errno));
        }
        WATCHED.set((start.addr(), length));
        FAULTED.set(false);
        Ok(Self {
            start: start.addr(),
        })
    }

    /// Whether a page could not be had since this was asked last.
    #[inline]
    pub(super) fn faulted(&self) -> bool {
        WATCHED.get().0 == self.start && FAULTED.replace(false)
    }

    /// Whether a page could not be had, without forgetting it.
    pub(super) fn has_faulted(&self) -> bool {
        WATCHED.get().0 == self.start && FAULTED.get()
    }

    /// The mapping goes away.
    pub(super) fn end(&self) {
        if WATCHED.get().0 == self.start {
            WATCHED.set((0, 0));
        }
    }
}

fn install() -> Result<(Old, usize), i32> {
    let page = rustix::param::page_size();
    let mut old = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all fields of a sigaction may be zero; they are set below.
    let mut ours: libc::sigaction = unsafe { std::mem::zeroed() };
    ours.sa_sigaction = handle as *const () as usize;
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_ONSTACK;
    // SAFETY: the mask is ours; the handler has the form that SA_SIGINFO asks
    // for and does only what a handler may do; `old` is written before it is
    // read.
    unsafe {
        libc::sigemptyset(&raw mut ours.sa_mask);
        if libc::sigaction(libc::SIGBUS, &raw const ours, old.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error().raw_os_error().unwrap_or(0));
        }
        Ok((Old(old.assume_init()), page))
    }
}

/// Puts a page where one could not be had. It allocates nothing and locks
/// nothing: it reads and writes cells of its thread that need no initialising,
/// and makes one system call.
extern "C" fn handle(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // Without SA_RESTORER nothing else is needed to return to the instruction
    // that faulted, which is then repeated.
    let Some(Ok((old, page))) = INSTALLED.get() else {
        return;
    };
    // SAFETY: the kernel hands the handler a valid siginfo; for SIGBUS it has an
    // address.
    let address = unsafe { (*info).si_addr() }.addr();
    let (start, length) = WATCHED.get();
    let inside = address >= start && address - start < length.next_multiple_of(*page);
    if length > 0 && inside {
        let place = std::ptr::without_provenance_mut(address / page * page);
        // SAFETY: a page of the mapping of this thread's own engine, which maps
        // it anew when the operation has ended. mmap is a bare system call.
        let mapped = unsafe {
            libc::mmap(
                place,
                *page,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if mapped != libc::MAP_FAILED {
            FAULTED.set(true);
            return;
        }
    }
    // Not ours: the instruction faults again, and gets what it would have got.
    // SAFETY: what was there before is valid to be there again.
    unsafe { libc::sigaction(libc::SIGBUS, &raw const old.0, std::ptr::null_mut()) };
}
