//! Transfers that are longer than a system call moves. The device that takes any
//! length and looks at no byte is `/dev/null`, so the memory is never touched.
#![cfg(target_os = "linux")]

mod support;

use std::fs::{File, OpenOptions};
use std::io::IoSlice;

use directio::{
    AlignedBuffer, Durability, TransferFlags, write_all_at, write_all_at_durable, write_at,
    write_at_with, writev_at,
};
use support::OrFail;

const GIB: usize = 1 << 30;

fn null() -> File {
    let options = OpenOptions::new().write(true).open("/dev/null");
    options.expect("it can be written")
}

/// Longer than a call moves, by one block of any device.
fn large() -> AlignedBuffer {
    AlignedBuffer::mapped(GIB + 65_536, 65_536).or_fail()
}

#[test]
fn a_call_ends_where_a_block_of_every_device_ends() {
    let (file, buffer) = (null(), large());
    assert_eq!(write_at(&file, &buffer, 0).or_fail(), GIB);
    let flags = TransferFlags::new().high_priority(true);
    assert_eq!(write_at_with(&file, &buffer, 0, flags).or_fail(), GIB);
    write_all_at(&file, &buffer, 0).or_fail();
    write_all_at_durable(&file, &buffer, 0, Durability::Data).or_fail();
}

#[test]
fn buffers_go_together_as_far_as_a_call_goes() {
    let (file, buffer) = (null(), large());
    let written = |lengths: &[usize]| {
        let parts: Vec<_> = lengths
            .iter()
            .map(|&n| IoSlice::new(&buffer[..n]))
            .collect();
        writev_at(&file, &parts, 0).or_fail()
    };
    assert_eq!(written(&[GIB / 2, GIB / 2]), GIB);
    assert_eq!(written(&[GIB / 2, 4096, GIB / 2]), GIB / 2 + 4096);
    assert_eq!(written(&[0, GIB, 4096]), GIB);
    assert_eq!(written(&[GIB + 65_536, 4096]), GIB, "a part of the first");
    assert_eq!(written(&[0, GIB + 65_536]), GIB);
}
