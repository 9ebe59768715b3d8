//! Reads all of a device, or of a file, past the page cache, and adds it up on
//! another thread meanwhile.

use std::path::Path;
use std::sync::mpsc;

use directio::{BufferPool, Direct, Error, OpenOptions, PooledBuffer, read_full_at};

/// How much is read at a time, in bytes.
const CHUNK: usize = 1 << 20;

/// How many pieces are read ahead of the one that is added up.
const AHEAD: usize = 4;

/// Reads all of it: the bytes, and their checksum (Adler-32, RFC 1950).
pub(crate) fn read(path: &Path) -> Result<(u64, u32), Error> {
    let options = OpenOptions::new().read(true);
    let device = options.direct(Direct::IfPossible).open(path)?;
    // Of memory that suits this device, as much as may be under way.
    let rule = device.alignment()?;
    let chunk = CHUNK.next_multiple_of(rule.step() as usize);
    let alignment = (rule.memory() as usize).max(4096);
    let pool = BufferPool::new(AHEAD, chunk, alignment)?.into_shared();

    let (sender, receiver) = mpsc::channel::<(PooledBuffer, usize)>();
    let adder = std::thread::spawn(move || {
        let mut sum = Adler::default();
        for (buffer, length) in receiver {
            sum.add(&buffer[..length]);
            // The buffer goes back to the pool here.
        }
        sum
    });
    let mut total = 0;
    loop {
        let mut buffer = pool.wait_for_one();
        let read = read_full_at(&device, &mut buffer, total)?;
        total += read as u64;
        sender.send((buffer, read)).expect("it ends after us");
        if read < chunk {
            break;
        }
    }
    drop(sender);
    let sum = adder.join().expect("it only adds");
    Ok((total, sum.value()))
}

struct Adler {
    low: u32,
    high: u32,
}

impl Default for Adler {
    fn default() -> Self {
        Self { low: 1, high: 0 }
    }
}

impl Adler {
    const MODULUS: u32 = 65_521;

    fn add(&mut self, bytes: &[u8]) {
        // As many as can be added before 32 bits overflow.
        for piece in bytes.chunks(5552) {
            for &byte in piece {
                self.low += u32::from(byte);
                self.high += self.low;
            }
            self.low %= Self::MODULUS;
            self.high %= Self::MODULUS;
        }
    }

    fn value(&self) -> u32 {
        self.high << 16 | self.low
    }
}
