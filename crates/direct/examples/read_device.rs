//! Reads all of a device, or of a file, past the page cache, and adds it up on
//! another thread meanwhile.
//!
//! `cargo run --example read_device -- /dev/sdb` as root; any file will do.

use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;

use directio::{
    BufferPool, Direct, Error, OpenOptions, PooledBuffer, direct_alignment, geometry, read_full_at,
};

/// How much is read at a time, in bytes.
const CHUNK: usize = 1 << 20;

/// How many pieces are read ahead of the one that is added up.
const AHEAD: usize = 4;

/// Reads all of it: the bytes, and their checksum (Adler-32, RFC 1950).
pub(crate) fn read(path: &Path) -> Result<(u64, u32), Error> {
    let options = OpenOptions::new().read(true);
    let device = options.direct(Direct::IfPossible).open(path)?.file;
    // Of memory that suits this device, as much as may be under way.
    let rule = direct_alignment(&device)?;
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

#[cfg_attr(test, expect(dead_code, reason = "a test calls read"))]
fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: read_device DEVICE");
        return ExitCode::from(2);
    };
    let path: &Path = path.as_ref();
    // A file has no geometry; then there is nothing to say of it.
    let device = OpenOptions::new().read(true).open(path);
    if let Ok(device) = device.and_then(|opened| geometry(&opened)) {
        println!(
            "{} of {} bytes in sectors of {}",
            device.model.as_deref().unwrap_or("a device"),
            device.size,
            device.logical_sector_size
        );
    }
    match read(path) {
        Ok((bytes, sum)) => {
            println!("{bytes} bytes, Adler-32 {sum:08x}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("read_device: {error:#}");
            ExitCode::FAILURE
        }
    }
}
