//! What follows from answers that only a real ring gives.

use super::{NoWait, Options, Uring};
use crate::buffers::Buffers;
use crate::clock::{Monotonic, Timescale};
use crate::engine::{Done, Engine, FailedIn, Op, SyncEach, Wait};
use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 64;

/// The kernel cancels the sync that is linked to a write which it did not do: both are handed
/// over again.
#[test]
fn writes_that_are_answered_again_are_written_and_synced_again() {
    let keep = tempfile::NamedTempFile::new().expect("a temporary file");
    keep.as_file().set_len(BLOCKS * BLOCK).expect("a hole");
    let direct = File::options()
        .read(true)
        .write(true)
        .custom_flags(libc::O_DIRECT)
        .open(keep.path());
    let Ok(file) = direct else {
        diskfacts_testkit::skip("direct I/O: TMPDIR on a disk");
        return;
    };
    let options = Options {
        depth: 8,
        nowait: NoWait::Writes,
        ..Options::default()
    };
    let buffers = Buffers::new(8, BLOCK, 4096, Some(7)).expect("memory for a few blocks");
    let time = (Monotonic, Timescale::NANOSECONDS);
    let ring = Uring::new(time, file, buffers, SyncEach::Data, options);
    let mut engine = match ring {
        Ok(ring) => ring,
        Err(error) => {
            diskfacts_testkit::skip(&format!("io_uring: {error}"));
            return;
        }
    };
    let ops: Vec<Op> = (0..8)
        .map(|slot| Op {
            offset: u64::from(slot) * 2 * BLOCK,
            slot,
            write: true,
        })
        .collect();
    for slot in 0..8 {
        engine.prepare_write(slot);
    }
    assert_eq!(engine.submit(&ops).expect("submitting"), 8);
    let mut done = Done::new(8);
    while done.len() < 8 {
        engine.reap(Wait::One, &mut done).expect("reaping");
    }
    if engine.abilities().resubmitted == 0 {
        let why = "a filesystem that answers EAGAIN to a direct write of a hole: TMPDIR on ext4";
        diskfacts_testkit::skip(why);
        return;
    }
    for completion in done.as_slice() {
        assert_eq!(completion.result, 4096);
        assert_eq!(completion.failed_in, FailedIn::Transfer);
    }
    // Each write that was done was held until the sync behind it was.
    assert!(engine.written.iter().all(|moved| *moved == 4096));
    let mut block = [0; BLOCK as usize];
    for block_number in 0..16 {
        let offset = block_number * BLOCK;
        keep.as_file().read_exact_at(&mut block, offset).unwrap();
        let is_written = block.iter().any(|byte| *byte != 0);
        assert_eq!(is_written, block_number % 2 == 0, "block {block_number}");
    }
}
