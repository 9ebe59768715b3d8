//! A pool as fixed buffers of a ring.
#![cfg(all(target_os = "linux", feature = "io-uring"))]

mod support;

use std::os::fd::AsRawFd;

use directio::{BufferPool, Direct, OpenOptions, Transfer, completion, direct_alignment, set_len};
use io_uring::{IoUring, squeue, types};
use support::OrFail;
use tempfile::tempdir;

/// Submits one operation and gives its result.
fn run(ring: &mut IoUring, operation: &squeue::Entry) -> i32 {
    // SAFETY: the callers keep the file and the buffer until this returns, which
    // is after the completion.
    unsafe { ring.submission().push(operation) }.expect("there is room for one");
    ring.submit_and_wait(1).expect("the kernel takes it");
    ring.completion()
        .next()
        .expect("it was waited for")
        .result()
}

#[test]
fn what_is_written_from_a_fixed_buffer_is_read_into_another() {
    // Before the ring, so that it is dropped after it.
    let pool = BufferPool::new(3, 8192, 4096).or_fail().into_shared();
    let mut ring = match IoUring::new(4) {
        Ok(ring) => ring,
        Err(error) => {
            diskfacts_testkit::skip(&format!("io_uring: {error}"));
            return;
        }
    };
    let folder = tempdir().expect("a temporary folder can be made");
    let options = OpenOptions::new().read(true).write(true).create(true);
    let options = options.direct(Direct::IfPossible);
    let opened = options.open(folder.path().join("file")).or_fail();
    let file = types::Fd(opened.file.as_raw_fd());

    // SAFETY: the pool is dropped after the ring.
    unsafe { pool.register(&ring.submitter()) }.expect("24 KiB may be locked");

    let mut out = pool.check_out().expect("all are in");
    let mut back = pool.check_out().expect("two are in");
    out.fill(7);
    let operation = out.write_fixed(file, 8192).build();
    let result = run(&mut ring, &operation);
    assert_eq!(
        completion(&opened.file, Transfer::Write, &out, 8192, result).or_fail(),
        8192
    );
    let operation = back.read_fixed(file, 8192).build();
    let result = run(&mut ring, &operation);
    assert_eq!(
        completion(&opened.file, Transfer::Read, &back, 8192, result).or_fail(),
        8192
    );
    assert_eq!(back[..], out[..]);

    // An error is explained as that of a call.
    set_len(&opened.file, 1 << 20).or_fail();
    if opened.granted.direct && direct_alignment(&opened.file).or_fail().offset() > 1 {
        let operation = back.read_fixed(file, 1).build();
        let result = run(&mut ring, &operation);
        let error = completion(&opened.file, Transfer::Read, &back, 1, result);
        let error = error.expect_err("it is misaligned");
        assert!(
            error
                .to_string()
                .contains("an offset that is a multiple of"),
            "{error:#}"
        );
    }
    ring.submitter()
        .unregister_buffers()
        .expect("they were registered");
}
