//! Reading, writing and syncing on every system.

mod support;

use std::fs::{self, File};
use std::io::{ErrorKind, IoSlice, IoSliceMut};

use directio::{
    AlignedBuffer, AlignmentSource, BufferError, Direct, DirectAlignment, Durability, Error,
    OpenOptions, Opened, TransferFlags, atomic_write_limits, explain_misalignment, read_at,
    read_at_with, readv_at, sync_all, sync_data, sync_name, sync_to_medium, write_at,
    write_at_durable, write_at_with, writev_at,
};
use proptest::prelude::*;
use support::OrFail;
use tempfile::{TempDir, tempdir};

fn folder() -> TempDir {
    tempdir().expect("a temporary folder can be made")
}

/// A file that is opened directly where this filesystem can, else plainly.
fn direct_file(folder: &TempDir) -> Opened {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .direct(Direct::IfPossible)
        .open(folder.path().join("file"))
        .expect("a new file")
}

/// The rule of this very file, or none where it goes through the page cache.
fn rule(opened: &Opened) -> DirectAlignment {
    opened.alignment().or_fail()
}

/// 251 is prime, so no block of a power of 2 looks like the next one.
fn pattern(buffer: &mut AlignedBuffer) {
    for (index, byte) in buffer.iter_mut().enumerate() {
        *byte = u8::try_from(index % 251).expect("below 251");
    }
}

#[test]
fn what_is_written_directly_is_read_back_and_seen_by_others() {
    let folder = folder();
    let opened = direct_file(&folder);
    let rule = rule(&opened);
    let mut out = rule.buffer(64 << 10).expect("64 KiB");
    pattern(&mut out);
    let step = u64::from(rule.offset());
    for offset in [0, step, 1 << 20] {
        assert_eq!(write_at(&opened.file, &out, offset).or_fail(), out.len());
        let mut back = rule.buffer(out.len()).expect("64 KiB");
        assert_eq!(
            read_at(&opened.file, &mut back, offset).or_fail(),
            out.len()
        );
        assert_eq!(&back[..], &out[..]);
    }
    let content = fs::read(folder.path().join("file")).expect("it is there");
    assert_eq!(&content[1 << 20..], &out[..]);
}

#[test]
fn reading_at_and_after_the_end_gives_fewer_bytes_and_none() {
    let folder = folder();
    let opened = direct_file(&folder);
    let rule = rule(&opened);
    let block = rule.buffer(1).expect("one block");
    write_at(&opened.file, &block, 0).or_fail();
    let mut large = rule.buffer(4 * block.len()).expect("four blocks");
    let read = read_at(&opened.file, &mut large, 0).or_fail();
    assert_eq!(read, block.len());
    let end = u64::try_from(block.len()).expect("small");
    let read = read_at(&opened.file, &mut large, end).or_fail();
    assert_eq!(read, 0);
}

#[test]
fn every_durability_writes_the_same_bytes() {
    let folder = folder();
    let opened = direct_file(&folder);
    let rule = rule(&opened);
    let mut block = rule.buffer(4096).expect("4 KiB");
    pattern(&mut block);
    for (turn, durability) in [Durability::None, Durability::Data, Durability::Full]
        .into_iter()
        .enumerate()
    {
        let offset = (turn * block.len()) as u64;
        let written = write_at_durable(&opened.file, &block, offset, durability)
            .unwrap_or_else(|error| panic!("{durability:?}: {error:#}"));
        assert_eq!(written, block.len());
    }
    let content = fs::read(folder.path().join("file")).expect("it is there");
    assert_eq!(content, [&block[..], &block[..], &block[..]].concat());
}

#[test]
fn the_name_of_a_file_is_brought_down_with_its_folder() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::write(&path, b"x").expect("a new file");
    sync_name(&path).or_fail();
    fs::rename(&path, folder.path().join("other")).expect("it is there");
    sync_name(&path).or_fail();
    sync_name("a-name-alone").or_fail();
    sync_name("/").or_fail();
    if cfg!(unix) {
        let error = sync_name(path.join("below")).expect_err("no folder");
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error:#}");
    }
}

#[test]
fn each_way_to_sync_succeeds_on_a_file() {
    let folder = folder();
    let file = File::create(folder.path().join("file")).expect("a new file");
    write_at(&file, b"data", 0).or_fail();
    sync_data(&file).or_fail();
    sync_all(&file).or_fail();
    match sync_to_medium(&file) {
        Ok(()) => {}
        // macOS on a filesystem without F_FULLFSYNC, and it must say so.
        Err(error) => assert!(error.to_string().contains("F_FULLFSYNC"), "{error:#}"),
    }
}

#[test]
fn writing_what_was_opened_for_reading_says_so() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::write(&path, b"x").expect("the folder can be written");
    let file = File::open(&path).expect("it is there");
    let error = write_at(&file, b"y", 0).expect_err("it is read-only");
    let text = format!("{error:#}");
    assert!(text.contains("not opened for writing"), "{text}");
    assert!(text.contains("write of 1 bytes at offset 0"), "{text}");
}

#[test]
fn an_offset_beyond_all_files_is_explained() {
    let folder = folder();
    let opened = direct_file(&folder);
    let rule = rule(&opened);
    let block = rule.buffer(1).expect("one block");
    let offset = u64::MAX - u64::from(rule.offset()) + 1;
    let error = write_at(&opened.file, &block, offset).expect_err("there is no such offset");
    assert!(error.hint().is_some(), "{error:#}");
}

fn stated(memory: u32, offset: u32, length: u32) -> DirectAlignment {
    DirectAlignment::new(memory, offset, length, AlignmentSource::Kernel).or_fail()
}

#[test]
fn an_explanation_names_each_wrong_value_and_its_right_neighbours() {
    let rule = stated(4, 512, 512);
    assert_eq!(explain_misalignment(0x1000, 512, 512, &rule), None);
    assert_eq!(
        explain_misalignment(0x1002, 512, 0, &rule).as_deref(),
        Some(
            "direct I/O here needs an address that is a multiple of 4: 0x1002 is not, 0x1000 and \
             0x1004 are"
        )
    );
    assert_eq!(
        explain_misalignment(0x1000, 100, 513, &rule).as_deref(),
        Some(
            "direct I/O here needs a length that is a multiple of 512: 100 is not, 512 is; and an \
             offset that is a multiple of 512: 513 is not, 512 and 1024 are"
        )
    );
    assert_eq!(
        explain_misalignment(0, 512, u64::MAX, &rule).as_deref(),
        Some(
            "direct I/O here needs an offset that is a multiple of 512: 18446744073709551615 is \
             not, 18446744073709551104 is"
        )
    );
}

#[test]
fn a_buffer_of_a_rule_obeys_it() {
    let rule = stated(512, 4096, 4096);
    let buffer = rule.buffer(1).expect("4 KiB");
    assert_eq!((buffer.len(), buffer.alignment()), (4096, 512));
    let byte = stated(1, 1, 1).buffer(3).expect("3 bytes");
    assert_eq!((byte.len(), byte.alignment()), (3, 8));
    assert!(rule.buffer(usize::MAX).is_err());
    assert!(rule.buffer(0).is_err());
}

#[test]
fn a_rule_that_no_system_has_is_refused() {
    let refused = |memory, offset, length| match DirectAlignment::new(
        memory,
        offset,
        length,
        AlignmentSource::Kernel,
    ) {
        Err(Error::Buffer(error)) => error,
        other => panic!("({memory}, {offset}, {length}) gave {other:?}"),
    };
    for (memory, offset, length) in [(0, 512, 512), (512, 0, 512), (512, 512, 0)] {
        assert_eq!(refused(memory, offset, length), BufferError::AlignmentZero);
    }
    let three = BufferError::AlignmentNotPowerOfTwo { alignment: 3 };
    for (memory, offset, length) in [(3, 512, 512), (512, 3, 512), (512, 512, 3)] {
        assert_eq!(refused(memory, offset, length), three);
    }
    let large = BufferError::AlignmentTooLarge { alignment: 8 << 20 };
    assert_eq!(refused(8 << 20, 512, 512), large);
    // A stripe may well be larger than any alignment of memory.
    assert_eq!(stated(512, 8 << 20, 8 << 20).step(), 8 << 20);
}

#[test]
fn a_step_is_a_multiple_of_all_three_and_rounding_is_to_it() {
    let rule = stated(4096, 512, 1024);
    assert_eq!(rule.step(), 4096);
    assert_eq!(rule.round_down(0), 0);
    assert_eq!(rule.round_down(4095), 0);
    assert_eq!(rule.round_down(u64::MAX), u64::MAX - 4095);
    assert_eq!(rule.round_up(0), Some(0));
    assert_eq!(rule.round_up(1), Some(4096));
    assert_eq!(rule.round_up(4096), Some(4096));
    assert_eq!(rule.round_up(u64::MAX - 4095), Some(u64::MAX - 4095));
    assert_eq!(rule.round_up(u64::MAX - 4094), None);
}

#[test]
fn a_union_satisfies_both_rules_and_rests_on_the_less_sure_one() {
    let kernel = stated(4, 4096, 512);
    let new = |bytes, source| DirectAlignment::new(bytes, bytes, bytes, source).or_fail();
    let sector = new(512, AlignmentSource::LogicalSector);
    let none = new(1, AlignmentSource::NoRule);
    let assumed = new(4096, AlignmentSource::Assumed("nobody tells".to_owned()));
    let both = kernel.union(&sector);
    assert_eq!(
        (both.memory(), both.offset(), both.length()),
        (512, 4096, 512)
    );
    assert_eq!(both.source(), &AlignmentSource::LogicalSector);
    assert_eq!(both, sector.union(&kernel));
    assert_eq!(none.union(&kernel), kernel);
    assert_eq!(kernel.union(&none), kernel);
    assert_eq!(sector.union(&assumed).source(), assumed.source());
}

#[test]
fn the_alignment_of_a_file_says_where_it_comes_from() {
    let folder = folder();
    let opened = direct_file(&folder);
    let rule = rule(&opened);
    for part in [rule.memory(), rule.offset(), rule.length()] {
        assert!(part.is_power_of_two(), "{rule:?}");
    }
    if let AlignmentSource::Assumed(why) = rule.source() {
        assert!(!why.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_is_explained_exactly_when_it_is_wrong_and_its_advice_is_right(
        address in 0_usize..1 << 31,
        length in 0_usize..1 << 24,
        offset: u64,
        memory in 0_u32..13,
        block in 0_u32..13,
    ) {
        let (memory, block) = (1_u32 << memory, 1_u32 << block);
        let rule = stated(memory, block, block);
        let right = address.is_multiple_of(memory as usize)
            && length.is_multiple_of(block as usize)
            && offset.is_multiple_of(u64::from(block));
        let said = explain_misalignment(address, length, offset, &rule);
        prop_assert_eq!(said.is_none(), right, "{:?}", said);
        // Each piece of advice is "... is not, A and B are" or "..., A is".
        for clause in said.iter().flat_map(|said| said.split("; and ")) {
            let multiple = if clause.contains("address") { memory } else { block };
            let (_, advice) = clause.rsplit_once("is not, ").expect("advice");
            for word in advice.split(' ') {
                let number = match word.strip_prefix("0x") {
                    Some(digits) => u64::from_str_radix(digits, 16).ok(),
                    None => word.parse().ok(),
                };
                if let Some(number) = number {
                    prop_assert_eq!(number % u64::from(multiple), 0, "{}", clause);
                }
            }
        }
    }
}

#[test]
fn an_offset_that_no_file_has_is_refused_and_writes_nowhere() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::write(&path, b"untouched").expect("a new file");
    let options = OpenOptions::new().read(true).write(true);
    let file = options.open(&path).or_fail().file;
    for offset in [1 << 63, u64::MAX - 1, u64::MAX] {
        let mut refusals = vec![
            write_at(&file, b"X", offset),
            read_at(&file, &mut [0], offset),
        ];
        for durability in [Durability::None, Durability::Data, Durability::Full] {
            refusals.push(write_at_durable(&file, b"X", offset, durability));
        }
        for refused in refusals {
            let error = refused.expect_err("no file has this offset");
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error:#}");
            assert!(
                error
                    .to_string()
                    .contains("beyond what a file offset can hold"),
                "{error:#}"
            );
        }
    }
    assert_eq!(fs::read(&path).expect("the file"), b"untouched");
}

#[test]
fn many_buffers_are_written_and_read_in_one_transfer() {
    let folder = folder();
    let opened = direct_file(&folder);
    let rule = rule(&opened);
    let mut out = [rule.buffer(1).or_fail(), rule.buffer(8192).or_fail()];
    out[0].fill(1);
    out[1].fill(2);
    let slices = [IoSlice::new(&out[0]), IoSlice::new(&out[1])];
    let all = out[0].len() + out[1].len();
    let written = writev_at(&opened.file, &slices, 0).or_fail();
    // Windows takes the first one only.
    let expected = if cfg!(windows) { out[0].len() } else { all };
    assert_eq!(written, expected);
    let mut back = [rule.buffer(1).or_fail(), rule.buffer(8192).or_fail()];
    let [first, second] = &mut back;
    let slices = &mut [IoSliceMut::new(first), IoSliceMut::new(second)];
    assert_eq!(readv_at(&opened.file, slices, 0).or_fail(), expected);
    assert_eq!(back[0][..], out[0][..]);
    if !cfg!(windows) {
        assert_eq!(back[1][..], out[1][..]);
    }
    assert_eq!(writev_at(&opened.file, &[], 0).or_fail(), 0);
    let refused = writev_at(&opened.file, &[IoSlice::new(&out[0])], u64::MAX);
    let error = refused.expect_err("no file has this offset");
    assert!(error.to_string().contains("in 1 buffers"), "{error:#}");
    assert!(
        error.to_string().contains("beyond what a file offset"),
        "{error:#}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn of_many_buffers_the_misaligned_one_is_named() {
    let folder = folder();
    let opened = direct_file(&folder);
    let rule = rule(&opened);
    let block = rule.buffer(1).or_fail();
    let slices = [
        IoSlice::new(&block),
        IoSlice::new(&block[..block.len() / 2]),
    ];
    match writev_at(&opened.file, &slices, 0) {
        Err(error) => assert!(
            error
                .to_string()
                .contains("buffer 2 of 2: direct I/O here needs a length"),
            "{error:#}"
        ),
        Ok(_) => assert!(!opened.granted.direct, "half a block was written directly"),
    }
}

#[test]
fn a_transfer_with_flags_does_the_same_or_says_that_it_cannot() {
    let folder = folder();
    let opened = direct_file(&folder);
    let rule = rule(&opened);
    let mut block = rule.buffer(4096).or_fail();
    pattern(&mut block);
    let done = |result: Result<usize, Error>| match result {
        Ok(moved) => {
            assert_eq!(moved, block.len());
            true
        }
        Err(error) => {
            let kinds = [ErrorKind::Unsupported, ErrorKind::WouldBlock];
            assert!(kinds.contains(&error.kind()), "{error:#}");
            assert!(error.to_string().contains("RWF_"), "{error:#}");
            assert!(error.hint().is_some(), "{error:#}");
            false
        }
    };
    let plain = TransferFlags::new();
    assert!(done(write_at_with(&opened.file, &block, 0, plain)));
    let durable = plain.durability(Durability::Data);
    assert!(done(write_at_with(&opened.file, &block, 0, durable)));
    let flags = [plain.no_wait(true), plain.high_priority(true)];
    for flags in flags {
        done(write_at_with(&opened.file, &block, 0, flags));
    }
    for flags in [plain, flags[0], flags[1]] {
        let mut back = rule.buffer(4096).or_fail();
        if done(read_at_with(&opened.file, &mut back, 0, flags)) {
            assert_eq!(back[..], block[..], "{flags:?}");
        }
    }
    let mut back = rule.buffer(4096).or_fail();
    for flags in [plain.atomic(true), durable] {
        let error = read_at_with(&opened.file, &mut back, 0, flags).expect_err("of a write");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("for writes"), "{error:#}");
    }
}

#[test]
fn an_atomic_write_keeps_to_its_limits_or_says_that_there_is_none() {
    let folder = folder();
    let opened = direct_file(&folder);
    let rule = rule(&opened);
    let block = rule.buffer(4096).or_fail();
    let atomic = TransferFlags::new().atomic(true);
    match atomic_write_limits(&opened.file) {
        Ok(limits) => {
            assert!(limits.unit_min.is_power_of_two() && limits.unit_max.is_power_of_two());
            let length = limits.unit_max as usize;
            let unit = AlignedBuffer::new(length, length.max(4096)).or_fail();
            assert_eq!(
                write_at_with(&opened.file, &unit, 0, atomic).or_fail(),
                length
            );
            let error = write_at_with(&opened.file, &unit, length as u64 / 2, atomic);
            let error = error.expect_err("in the middle of a unit");
            assert!(
                error.to_string().contains("multiple of its length"),
                "{error:#}"
            );
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.hint().is_some(), "{error:#}");
            let error = write_at_with(&opened.file, &block, 0, atomic).expect_err("it is none");
            assert!(error.hint().is_some(), "{error:#}");
        }
    }
}
