//! Where JavaScript's memory lies.

use napi_derive::napi;

/// By how many bytes the address of these bytes misses a multiple of
/// `alignment`, a power of 2.
#[napi]
pub fn misalignment(bytes: &[u8], alignment: u32) -> u32 {
    let beyond = bytes.as_ptr().addr() % alignment as usize;
    // Below `alignment`, so it fits.
    beyond as u32
}
