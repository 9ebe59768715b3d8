//! What a process finds of its standard streams when it starts, and how a write
//! past the limit of file sizes ends.

#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

/// Of standard input and standard output. Set before `main`, and never after.
#[cfg(target_os = "linux")]
static WAS_CLOSED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

/// Run by the C library before Rust's runtime, which opens `/dev/null` in the
/// place of a standard stream that is closed (std, `sys/pal/unix/mod.rs`, `init`).
/// After that nothing tells such a stream from one that was pointed at `/dev/null`
/// on purpose, which `subprocess.DEVNULL` of Python opens in the same way.
#[cfg(target_os = "linux")]
#[used]
// SAFETY: the section holds pointers to functions without a result, and the one
// here takes none of the arguments that glibc passes; that is so in the C ABI of
// every architecture.
#[unsafe(link_section = ".init_array")]
static LOOK_BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn look() {
        for (stream, was_closed) in (libc::STDIN_FILENO..).zip(&WAS_CLOSED) {
            // SAFETY: the call takes no pointer and changes nothing, and needs nothing that
            // the runtime sets up.
            let flags = unsafe { libc::fcntl(stream, libc::F_GETFD) };
            was_closed.store(flags == -1, Ordering::Relaxed);
        }
    }
    look
};

/// Whether standard output was closed when the process began (`>&-`). What is
/// written to it since then goes nowhere, without an error.
pub fn stdout_was_closed() -> bool {
    was_closed(1)
}

/// Whether standard input was closed when the process began (`<&-`). Since then it is
/// empty, without an error.
pub fn stdin_was_closed() -> bool {
    was_closed(0)
}

#[cfg(target_os = "linux")]
fn was_closed(stream: usize) -> bool {
    WAS_CLOSED[stream].load(Ordering::Relaxed)
}

#[cfg(not(target_os = "linux"))]
fn was_closed(_: usize) -> bool {
    false
}

/// Has a write past the limit of file sizes (`ulimit -f`) fail with `EFBIG`, which
/// is told and cleaned up after, where SIGXFSZ would end the process without a word.
///
/// The signal is caught and not ignored, because programs that are started from
/// here would inherit that; a handler is taken off when they begin.
///
/// # Errors
/// What the system reported.
#[cfg(unix)]
pub fn let_large_writes_fail() -> std::io::Result<()> {
    extern "C" fn nothing(_signal: libc::c_int) {}
    // SAFETY: a sigaction of zeros is one without flags; the mask is made by the
    // call for that.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: both pointers are to a live sigaction or null, and the handler does
    // nothing, which every signal handler may.
    let result = unsafe {
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGXFSZ, &raw const action, std::ptr::null_mut())
    };
    if result == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}
