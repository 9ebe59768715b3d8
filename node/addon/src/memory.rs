//! Where JavaScript's memory lies, and memory that stays for as long as a
//! transfer needs it.
//!
//! A reference to a buffer keeps the JavaScript object, and not its memory: a
//! script can move that into another `ArrayBuffer` (`transfer`), which frees it
//! when it likes. So what the kernel works on is either memory that is lent to
//! JavaScript from here, which is freed when both JavaScript and the last
//! transfer are done with it, or memory that stays with its object: shared, or
//! where no script can reach it.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::Env;
use napi::bindgen_prelude::{BufferSlice, Result, Uint8Array};
use napi_derive::napi;

use crate::pages::Pages;

/// From this size on a buffer has pages of its own, in bytes.
const OWN_PAGES_FROM: usize = 128 << 10;

/// What smaller buffers are cut from, in bytes. The program's allocator would
/// keep their memory: a gibibyte of dropped buffers of 64 KiB stayed resident
/// with that of glibc.
const CHUNK: usize = 4 * OWN_PAGES_FROM;

/// What a chunk begins at, in bytes: a page. A buffer that asks for more has pages
/// of its own.
const CHUNK_ALIGNMENT: usize = 4096;

/// One buffer that JavaScript has been lent.
struct Lent {
    length: usize,
    /// What it is a part of, which goes when its last part does.
    memory: Arc<Pages>,
}

/// The chunk that small buffers are cut from at present: each byte is lent once,
/// so it is zero when it is, and what was lent is not looked at again.
struct Chunk {
    memory: Arc<Pages>,
    /// Where its memory begins, to be written by whom a part of it is lent to.
    start: *mut u8,
    used: usize,
}

// SAFETY: the pointer is to memory that the chunk owns, which any
// thread may free, and is not followed here.
unsafe impl Send for Chunk {}

impl Chunk {
    /// The next bytes, unless there are too few.
    fn cut(&mut self, length: usize, alignment: usize) -> Option<(*mut u8, Arc<Pages>)> {
        let from = self.used.next_multiple_of(alignment);
        if from + length > CHUNK {
            return None;
        }
        self.used = from + length;
        Some((self.start.wrapping_add(from), Arc::clone(&self.memory)))
    }
}

/// All memory that JavaScript has been lent, by the address where it begins, and
/// what is lent from next.
///
/// One for the process, as the threads of Node (workers) hand memory to each
/// other.
static LENDING: Mutex<Lending> = Mutex::new(Lending {
    lent: BTreeMap::new(),
    chunk: None,
});

struct Lending {
    lent: BTreeMap<usize, Lent>,
    chunk: Option<Chunk>,
}

fn lending() -> MutexGuard<'static, Lending> {
    // It is whole between any two calls of its methods.
    LENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lending {
    /// Zeroed bytes that are lent from now on; their address. `None` when there
    /// is no memory.
    fn lend(&mut self, length: usize, alignment: usize) -> Option<*mut u8> {
        let (start, memory) = if length < OWN_PAGES_FROM && alignment <= CHUNK_ALIGNMENT {
            self.cut(length, alignment)?
        } else {
            let mut pages = Pages::take(length, alignment)?;
            (pages.start(), Arc::new(pages))
        };
        self.lent.insert(start.addr(), Lent { length, memory });
        Some(start)
    }

    /// A part of the present chunk, or of a new one.
    fn cut(&mut self, length: usize, alignment: usize) -> Option<(*mut u8, Arc<Pages>)> {
        if let Some(part) = self
            .chunk
            .as_mut()
            .and_then(|chunk| chunk.cut(length, alignment))
        {
            return Some(part);
        }
        let mut pages = Pages::take(CHUNK, CHUNK_ALIGNMENT)?;
        let chunk = self.chunk.insert(Chunk {
            start: pages.start(),
            memory: Arc::new(pages),
            used: 0,
        });
        chunk.cut(length, alignment)
    }

    /// Takes back what begins here. It is freed by whoever drops the last part.
    fn take_back(&mut self, start: usize) -> Option<Lent> {
        self.lent.remove(&start)
    }

    /// What has all of these bytes.
    fn lender(&self, bytes: &[u8]) -> Option<Arc<Pages>> {
        let from = bytes.as_ptr().addr();
        let (start, lent) = self.lent.range(..=from).next_back()?;
        (from + bytes.len() <= start + lent.length).then(|| Arc::clone(&lent.memory))
    }
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
/// valid for a [`directio::AlignedBuffer`].
///
/// `None` when there is no memory. A runtime that takes no lent memory
/// (Electron) makes a copy, which is neither lent nor aligned.
///
/// # Errors
///
/// What the runtime reports.
#[napi]
pub fn lend(env: &Env, size: u32, alignment: u32) -> Result<Option<BufferSlice<'_>>> {
    let Some(start) = lending().lend(size as usize, alignment as usize) else {
        return Ok(None);
    };
    // SAFETY: the memory is there until it is taken back, which is done when
    // JavaScript is done with it, and nothing here makes a reference to it but for
    // a transfer that JavaScript asks for.
    let slice = unsafe {
        BufferSlice::from_external(env, start, size as usize, start.addr(), |_, start| {
            // Freed here, or by the last transfer that uses it; without the lock.
            let lent = lending().take_back(start);
            drop(lent);
        })
    };
    if slice.is_err() {
        let lent = lending().take_back(start.addr());
        drop(lent);
    }
    slice.map(Some)
}

/// Whether all of these bytes lie in memory that was lent.
#[napi]
pub fn is_lent(bytes: &[u8]) -> bool {
    lending().lender(bytes).is_some()
}

/// The bytes of a transfer, whose memory stays until this is dropped.
pub(crate) struct Kept {
    bytes: Uint8Array,
    /// Lets go of lent memory; `None` for memory that stays with its object.
    _lender: Option<Arc<Pages>>,
}

impl Kept {
    /// Of what the JavaScript half hands over, on its thread.
    pub(crate) fn new(bytes: Uint8Array) -> Self {
        let lender = lending().lender(&bytes);
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
        // SAFETY: the memory is there: it is lent and held; or it is a
        // SharedArrayBuffer's, which cannot be detached and whose object is held; or
        // the JavaScript half made it for this transfer and shows it to nobody. Nor
        // does that half let another transfer use it meanwhile. A script that looks at
        // the memory meanwhile sees bytes of before or after, as with Node's own fs.
        unsafe { self.bytes.as_mut() }
    }
}
