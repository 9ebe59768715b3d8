//! Buffers of this crate in the hands of runtimes, each behind a feature of its
//! name.

#[cfg(feature = "compio")]
mod compio;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
pub(crate) mod io_uring;
#[cfg(all(feature = "monoio", any(target_os = "linux", target_os = "macos")))]
mod monoio;
