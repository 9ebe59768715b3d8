//! Any byte of a file that is open for direct I/O, held against a plain vector.

mod support;

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use directio::{
    AlignedBuffer, Direct, DirectFile, Durability, OpenOptions, read_exact_at, read_full_at,
    set_len, write_all_at, write_all_at_durable,
};
use proptest::prelude::*;
use support::OrFail;
use tempfile::{TempDir, tempdir};

fn folder() -> TempDir {
    tempdir().expect("a temporary folder can be made")
}

/// A file that is opened directly where this filesystem can, else plainly.
fn direct(path: &Path, durability: Durability) -> DirectFile {
    let options = OpenOptions::new().read(true).write(true).create(true);
    let options = options.direct(Direct::IfPossible).durability(durability);
    DirectFile::new(options.open(path).or_fail()).or_fail()
}

/// Bytes that tell where they are from: 251 is prime, so no block looks like the
/// next one.
fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length)
        .map(|index| u8::try_from((index + seed) % 251).expect("below 251"))
        .collect()
}

/// What the file holds, told by the standard library and through the page cache.
fn content(path: &Path) -> Vec<u8> {
    fs::read(path).expect("it is there")
}

/// One thing that is done to a file.
#[derive(Debug, Clone)]
enum Step {
    Write {
        offset: usize,
        length: usize,
        /// How far the memory lies behind an aligned address.
        skew: usize,
        durability: Durability,
    },
    Read {
        offset: usize,
        length: usize,
        skew: usize,
    },
    SetLen(usize),
}

/// Lengths and offsets around blocks, pages and the size of the buffer inside.
fn bytes() -> impl Strategy<Value = usize> {
    prop_oneof![
        0_usize..20_000,
        (0_usize..40).prop_map(|blocks| blocks * 512),
        (0_usize..6).prop_map(|pages| pages * 4096),
        (262_000_usize..263_000),
        (500_000_usize..530_000),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let skew = prop_oneof![Just(0_usize), Just(512), 1_usize..9];
    let durability = prop_oneof![
        8 => Just(Durability::None),
        1 => Just(Durability::Data),
        1 => Just(Durability::Full),
    ];
    prop_oneof![
        4 => (bytes(), bytes(), skew.clone(), durability).prop_map(
            |(offset, length, skew, durability)| Step::Write { offset, length, skew, durability }
        ),
        3 => (bytes(), bytes(), skew)
            .prop_map(|(offset, length, skew)| Step::Read { offset, length, skew }),
        1 => bytes().prop_map(Step::SetLen),
    ]
}

/// Writes as a file is written: zeros where nothing was.
fn write_model(model: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let end = offset + bytes.len();
    if model.len() < end {
        model.resize(end, 0);
    }
    model[offset..end].copy_from_slice(bytes);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_written_where_is_what_the_file_holds(
        steps in proptest::collection::vec(step(), 1..12),
        direct_wish in prop_oneof![Just(Direct::No), Just(Direct::IfPossible)],
    ) {
        let folder = folder();
        let path = folder.path().join("file");
        let options = OpenOptions::new().read(true).write(true).create(true);
        let opened = options.direct(direct_wish).open(&path).or_fail();
        let file = DirectFile::new(opened).or_fail();
        let mut model = Vec::new();
        for (turn, step) in steps.iter().enumerate() {
            match *step {
                Step::Write { offset, length, skew, durability } => {
                    let mut memory = AlignedBuffer::new(length + skew + 1, 4096).or_fail();
                    let memory = &mut memory[skew..skew + length];
                    memory.copy_from_slice(&pattern(length, turn * 7));
                    file.write_all_at_durable(memory, offset as u64, durability).or_fail();
                    write_model(&mut model, offset, memory);
                }
                Step::Read { offset, length, skew } => {
                    let mut memory = AlignedBuffer::new(length + skew + 1, 4096).or_fail();
                    let memory = &mut memory[skew..skew + length];
                    let read = file.read_at(memory, offset as u64).or_fail();
                    let there = &model[offset.min(model.len())..];
                    let there = &there[..length.min(there.len())];
                    prop_assert_eq!(read, there.len());
                    prop_assert!(memory[..read] == *there, "{:?} in {:?}", step, steps);
                }
                Step::SetLen(length) => {
                    file.set_len(length as u64).or_fail();
                    model.resize(length, 0);
                }
            }
            prop_assert_eq!(file.file().metadata().expect("its size").len(), model.len() as u64);
        }
        prop_assert!(content(&path) == model, "{:?}", steps);
    }
}

#[test]
fn writers_of_neighbouring_bytes_do_not_undo_each_other() {
    let folder = folder();
    let path = folder.path().join("file");
    let file = direct(&path, Durability::None);
    let (writers, rounds, piece) = (4, 60, 100);
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let file = &file;
            scope.spawn(move || {
                for round in 0..rounds {
                    let offset = (round * writers + writer) * piece;
                    let bytes = vec![u8::try_from(writer + 1).expect("few"); piece];
                    file.write_all_at(&bytes, offset as u64).or_fail();
                }
            });
        }
    });
    let content = content(&path);
    assert_eq!(content.len(), writers * rounds * piece);
    for (index, piece) in content.chunks(piece).enumerate() {
        let writer = u8::try_from(index % writers + 1).expect("few");
        assert!(piece.iter().all(|&byte| byte == writer), "piece {index}");
    }
}

#[test]
fn a_file_that_only_gets_longer_need_not_be_open_for_reading() {
    let folder = folder();
    let path = folder.path().join("file");
    let options = OpenOptions::new().write(true).create(true);
    let opened = options.direct(Direct::IfPossible).open(&path).or_fail();
    let direct = opened.granted.direct;
    let file = DirectFile::new(opened).or_fail();
    let bytes = pattern(10_000, 0);
    file.write_all_at(&bytes, 0).or_fail();
    assert_eq!(content(&path), bytes);
    // A part of a block that holds something else must be read.
    let error = file.write_all_at(b"x", 3);
    if direct && file.alignment().step() > 1 {
        let error = error.expect_err("it cannot be read");
        assert!(
            error.to_string().contains("not opened for reading"),
            "{error:#}"
        );
    } else {
        error.or_fail();
    }
}

#[test]
fn what_others_append_meanwhile_is_not_cut_off() {
    let folder = folder();
    let path = folder.path().join("file");
    let file = direct(&path, Durability::None);
    file.write_all_at(&pattern(1000, 0), 0).or_fail();
    // The block that is written ends before what the other one has made of it.
    set_len(file.file(), 100_000).or_fail();
    file.write_all_at(b"middle", 50_001).or_fail();
    assert_eq!(content(&path).len(), 100_000);
}

#[test]
fn a_durable_write_of_a_tail_leaves_the_length_it_should_have() {
    let folder = folder();
    for durability in [Durability::None, Durability::Data, Durability::Full] {
        let path = folder.path().join(format!("{durability:?}"));
        let file = direct(&path, durability);
        for (offset, length) in [(0, 3), (3, 700), (703, 5000)] {
            file.write_all_at_durable(&pattern(length, offset), offset as u64, durability)
                .or_fail();
        }
        let written = content(&path);
        assert_eq!(written.len(), 5703);
        assert_eq!(written[703..], pattern(5000, 703));
    }
}

#[test]
fn reading_beyond_the_end_says_where_it_is() {
    let folder = folder();
    let path = folder.path().join("file");
    let file = direct(&path, Durability::None);
    file.write_all_at(&pattern(1000, 0), 0).or_fail();
    let mut memory = [0; 300];
    assert_eq!(file.read_at(&mut memory, 900).or_fail(), 100);
    assert_eq!(file.read_at(&mut memory, 1000).or_fail(), 0);
    assert_eq!(file.read_at(&mut memory, 1 << 40).or_fail(), 0);
    let error = file
        .read_exact_at(&mut memory, 900)
        .expect_err("100 are there");
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    assert!(
        error.to_string().contains("the file ends at byte 1000"),
        "{error:#}"
    );
    file.read_exact_at(&mut memory, 700).or_fail();
    assert_eq!(memory[..], pattern(1000, 0)[700..]);
    // The end lies before the first whole block, which would begin at 1024 and at
    // an aligned address.
    let mut memory = AlignedBuffer::new(8192, 4096).or_fail();
    assert_eq!(file.read_at(&mut memory[188..], 700).or_fail(), 300);
    assert_eq!(memory[188..488], pattern(1000, 0)[700..]);
}

#[test]
fn an_offset_that_no_file_has_is_refused() {
    let folder = folder();
    let file = direct(&folder.path().join("file"), Durability::None);
    for offset in [i64::MAX.unsigned_abs(), u64::MAX - 700, u64::MAX] {
        file.write_all_at(b"x", offset).expect_err("no such offset");
        let mut byte = [0];
        // At the last offset that a file can have there is nothing.
        if let Ok(read) = file.read_at(&mut byte, offset) {
            assert_eq!((read, offset), (0, i64::MAX.unsigned_abs()));
        }
    }
    assert_eq!(file.into_file().metadata().expect("its size").len(), 0);
}

#[test]
fn whole_transfers_stop_at_the_end_of_the_file_only() {
    let folder = folder();
    let path = folder.path().join("file");
    let file = direct(&path, Durability::None);
    let mut block = AlignedBuffer::new(1 << 20, 4096).or_fail();
    block.copy_from_slice(&pattern(1 << 20, 0));
    write_all_at(&file, &block, 0).or_fail();
    write_all_at_durable(&file, &block, 1 << 20, Durability::Data).or_fail();
    set_len(&file, (2 << 20) - 100).or_fail();
    block.fill(0);
    read_exact_at(&file, &mut block, 0).or_fail();
    assert_eq!(block[..], pattern(1 << 20, 0));
    assert_eq!(
        read_full_at(&file, &mut block, 1 << 20).or_fail(),
        (1 << 20) - 100
    );
    let error = read_exact_at(&file, &mut block, 1 << 20).expect_err("100 are missing");
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    let end = format!("the file ends at byte {}", (2 << 20) - 100);
    assert!(error.to_string().contains(&end), "{error:#}");
}
