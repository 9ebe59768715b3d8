//! Where JavaScript's memory lies, and memory that stays for as long as a
//! transfer needs it.
//!
//! A reference to a buffer keeps the JavaScript object, and not its memory: a
//! script can move that into another `ArrayBuffer` (`transfer`), which frees it
//! when it likes. So what the kernel works on is either memory that is lent to
//! JavaScript from here, which is freed when both JavaScript and the last
//! transfer are done with it, or memory that no script can reach.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use directio::AlignedBuffer;
use napi::Env;
use napi::bindgen_prelude::{BufferSlice, Result, Uint8Array};
use napi_derive::napi;

/// All memory that JavaScript has been lent, by the address where it begins.
///
/// One for the process, as the threads of Node (workers) hand memory to each
/// other.
static LENT: Mutex<BTreeMap<usize, Arc<AlignedBuffer>>> = Mutex::new(BTreeMap::new());

fn lent() -> MutexGuard<'static, BTreeMap<usize, Arc<AlignedBuffer>>> {
    // The map is whole between any two calls of its methods.
    LENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lent memory that has all of these bytes.
fn lender(bytes: &[u8]) -> Option<Arc<AlignedBuffer>> {
    let from = bytes.as_ptr().addr();
    let lent = lent();
    let (start, memory) = lent.range(..=from).next_back()?;
    (from + bytes.len() <= start + memory.len()).then(|| Arc::clone(memory))
}

/// By how many bytes the address of these bytes misses a multiple of
/// `alignment`, a power of 2.
#[napi]
pub fn misalignment(bytes: &[u8], alignment: u32) -> u32 {
    let beyond = bytes.as_ptr().addr() % alignment as usize;
    // Below `alignment`, so it fits.
    beyond as u32
}

/// A `Buffer` of zeros over memory that is lent; `size` and `alignment` are
/// valid for an [`AlignedBuffer`].
///
/// `None` when there is no memory. A runtime that takes no lent memory
/// (Electron) makes a copy, which is neither lent nor aligned.
///
/// # Errors
///
/// What the runtime reports.
#[napi]
pub fn lend(env: &Env, size: u32, alignment: u32) -> Result<Option<BufferSlice<'_>>> {
    let Ok(mut memory) = AlignedBuffer::new(size as usize, alignment as usize) else {
        return Ok(None);
    };
    let start = memory.as_mut_ptr();
    let length = memory.len();
    lent().insert(start.addr(), Arc::new(memory));
    // SAFETY: the memory is there until it is taken out of the map, which is done
    // when JavaScript is done with it, and nothing here makes a reference to it
    // but for a transfer that JavaScript asks for.
    let slice = unsafe {
        BufferSlice::from_external(env, start, length, start.addr(), |_, start| {
            // Freed here, or by the last transfer that uses it; without the lock.
            let memory = lent().remove(&start);
            drop(memory);
        })
    };
    if slice.is_err() {
        lent().remove(&start.addr());
    }
    slice.map(Some)
}

/// Whether all of these bytes lie in memory that was lent.
#[napi]
pub fn is_lent(bytes: &[u8]) -> bool {
    lender(bytes).is_some()
}

/// The bytes of a transfer, whose memory stays until this is dropped.
pub(crate) struct Kept {
    bytes: Uint8Array,
    /// Lets go of lent memory; `None` for memory that no script can reach.
    _lender: Option<Arc<AlignedBuffer>>,
}

impl Kept {
    /// Of what the JavaScript half hands over, on its thread.
    pub(crate) fn new(bytes: Uint8Array) -> Self {
        let lender = lender(&bytes);
        Self {
            bytes,
            _lender: lender,
        }
    }
}

impl Deref for Kept {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Kept {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the memory is there: it is lent and held, or the JavaScript half
        // made it for this transfer and shows it to nobody. Nor does that half let
        // another transfer use it meanwhile. A script that looks at lent memory
        // meanwhile sees bytes of before or after, as with Node's own fs.
        unsafe { self.bytes.as_mut() }
    }
}
