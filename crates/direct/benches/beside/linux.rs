//! The rows, and how they are measured.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::RefCell;
use std::fs::File;
use std::hint::black_box;
use std::io::IoSlice;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::ptr::NonNull;

use directio::{
    AlignedBuffer, Direct, DirectFile, Durability, OpenOptions, direct_alignment, read_at,
    write_at, write_at_durable,
};
use rustix::io::{ReadWriteFlags, pread, pwrite, pwritev2};
use rustix::time::{ClockId, clock_gettime};

/// The file that is read and written, in bytes.
const SIZE: u64 = 64 << 20;

/// What is measured side by side; the first is what the others are held against.
struct Group<'a> {
    name: String,
    /// Calls in one round.
    calls: u32,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    name: &'static str,
    /// One call; its number says where in the file.
    call: Box<dyn FnMut(u64) + 'a>,
}

fn row<'a>(name: &'static str, call: impl FnMut(u64) + 'a) -> Row<'a> {
    Row {
        name,
        call: Box::new(call),
    }
}

/// The processor time of this process so far, in nanoseconds.
fn processor_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // Both are above 0, and centuries fit.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Lower quartile, median and upper quartile.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
}

impl Group<'_> {
    /// Runs the rows by turns, and prints a line for each.
    fn run(mut self, rounds: usize, divisor: u32) {
        let calls = u64::from((self.calls / divisor).max(2));
        let mut spent = vec![Vec::new(); self.rows.len()];
        for round in 0..=rounds {
            // Each is the first in some round; what comes first may pay for it.
            for turn in 0..self.rows.len() {
                let index = (turn + round) % self.rows.len();
                let row = &mut self.rows[index];
                let before = processor_ns();
                for call in 0..calls {
                    (row.call)(call);
                }
                let ns = (processor_ns() - before) as f64 / calls as f64;
                // The first round warms up.
                if round > 0 || rounds == 0 {
                    spent[index].push(ns);
                }
            }
        }
        println!("{}", self.name);
        for (row, ns) in self.rows.iter().zip(&spent) {
            let ratios = ns.iter().zip(&spent[0]).map(|(own, hand)| own / hand);
            let [low, middle, high] = quartiles(ratios.collect());
            let [_, median_ns, _] = quartiles(ns.clone());
            println!(
                "  {:<31} {median_ns:>12.0} ns   {middle:>5.2} ({low:.2} to {high:.2})",
                row.name
            );
        }
    }
}

/// Where call number `call` goes: all over the file, the same for each row.
fn place(call: u64, block: u64) -> u64 {
    call.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (SIZE / block) * block
}

pub(crate) fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test` runs benches without `--bench`.
    let small = !arguments.iter().any(|argument| argument == "--bench");
    let folder = arguments
        .iter()
        .position(|argument| argument == "--folder")
        .and_then(|at| arguments.get(at + 1))
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(folder).expect("the folder can be written");
    let path = folder.path().join("file");

    let options = OpenOptions::new().read(true).write(true).create(true);
    let opened = options
        .direct(Direct::IfPossible)
        .open(&path)
        .expect("a new file");
    if let Some(why) = &opened.granted.direct_refused {
        println!("all rows go through the page cache: {why}");
    }
    let flag = if opened.granted.direct {
        libc::O_DIRECT
    } else {
        0
    };
    let rule = direct_alignment(&opened.file).expect("it has a rule");
    let mut fill = rule.buffer(1 << 20).expect("1 MiB");
    fill.fill(7);
    for offset in (0..SIZE).step_by(1 << 20) {
        directio::write_all_at(&opened.file, &fill, offset).expect("there is room");
    }
    directio::sync_all(&opened.file).expect("it can be synced");
    let ours = DirectFile::new(opened).expect("it has a rule");
    let hand = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flag)
        .open(&path)
        .expect("it is there");

    let (rounds, divisor) = if small { (0, 1000) } else { (31, 1) };
    println!("processor time per call, and its ratio to the first row: median (quartiles)");
    transfers(ours.file(), &hand, rounds, divisor);
    bytes(&ours, &hand, rounds, divisor);
    memory(rounds, divisor);
}

/// Aligned transfers, one call each.
fn transfers(ours: &File, hand: &File, rounds: usize, divisor: u32) {
    for (size, calls) in [(4 << 10, 2000), (1 << 20, 100)] {
        // One for all rows: how far its pages lie together in memory decides in how
        // many pieces the device gets it.
        let buffer = AlignedBuffer::new(size, 4096).expect("1 MiB");
        let buffer = RefCell::new(buffer);
        let block = size as u64;
        Group {
            name: format!("direct read of {} KiB", size >> 10),
            calls,
            rows: vec![
                row("rustix pread by hand", |call| {
                    let read = pread(hand, &mut **buffer.borrow_mut(), place(call, block));
                    assert_eq!(read.expect("it is read"), size);
                }),
                row("std FileExt::read_at", |call| {
                    let read = FileExt::read_at(hand, &mut buffer.borrow_mut(), place(call, block));
                    assert_eq!(read.expect("it is read"), size);
                }),
                row("directio read_at", |call| {
                    let read = read_at(ours, &mut buffer.borrow_mut(), place(call, block));
                    assert_eq!(read.expect("it is read"), size);
                }),
            ],
        }
        .run(rounds, divisor);
        Group {
            name: format!("direct write of {} KiB", size >> 10),
            calls,
            rows: vec![
                row("rustix pwrite by hand", |call| {
                    let written = pwrite(hand, &buffer.borrow(), place(call, block));
                    assert_eq!(written.expect("it is written"), size);
                }),
                row("std FileExt::write_at", |call| {
                    let written = FileExt::write_at(hand, &buffer.borrow(), place(call, block));
                    assert_eq!(written.expect("it is written"), size);
                }),
                row("directio write_at", |call| {
                    let written = write_at(ours, &buffer.borrow(), place(call, block));
                    assert_eq!(written.expect("it is written"), size);
                }),
            ],
        }
        .run(rounds, divisor);
    }
    let block = AlignedBuffer::new(4096, 4096).expect("4 KiB");
    Group {
        name: "durable direct write of 4 KiB".to_owned(),
        calls: 200,
        rows: vec![
            row("rustix pwritev2 RWF_DSYNC", |call| {
                let slices = [IoSlice::new(&block)];
                let offset = place(call, 4096);
                let written = pwritev2(hand, &slices, offset, ReadWriteFlags::DSYNC);
                assert_eq!(written.expect("it is written"), 4096);
            }),
            row("std write_at, sync_data", |call| {
                let written = FileExt::write_at(hand, &block, place(call, 4096));
                assert_eq!(written.expect("it is written"), 4096);
                hand.sync_data().expect("it is synced");
            }),
            row("directio write_at_durable", |call| {
                let offset = place(call, 4096);
                let written = write_at_durable(ours, &block, offset, Durability::Data);
                assert_eq!(written.expect("it is written"), 4096);
            }),
        ],
    }
    .run(rounds, divisor);
}

/// Bytes that are not whole blocks.
fn bytes(ours: &DirectFile, hand: &File, rounds: usize, divisor: u32) {
    let mut bounce = AlignedBuffer::new(8192, 4096).expect("8 KiB");
    let (mut a, mut b) = (vec![0; 4096], vec![0; 4096]);
    Group {
        name: "direct read of 4096 bytes, 100 bytes into a block".to_owned(),
        calls: 2000,
        rows: vec![
            row("rustix, bounced by hand", |call| {
                let offset = place(call, 8192);
                let read = pread(hand, &mut *bounce, offset);
                assert_eq!(read.expect("it is read"), 8192);
                a.copy_from_slice(&bounce[100..4196]);
            }),
            row("directio DirectFile", |call| {
                let read = ours.read_at(&mut b, place(call, 8192) + 100);
                assert_eq!(read.expect("it is read"), 4096);
            }),
        ],
    }
    .run(rounds, divisor);
}

/// What becomes of a buffer that was made.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Use {
    /// It is dropped.
    Dropped,
    /// It is filled, and dropped.
    Filled,
    /// It is kept until the next round, so that no other one gets its memory.
    Kept,
}

impl Use {
    fn of<B: AsMut<[u8]>>(self, mut buffer: B, call: u64, kept: &mut Vec<B>) {
        match self {
            Self::Dropped => {
                black_box(buffer.as_mut());
            }
            Self::Filled => buffer.as_mut().fill(call as u8 | 1),
            Self::Kept => {
                if call == 0 {
                    kept.clear();
                }
                kept.push(buffer);
            }
        }
    }
}

/// What an allocator gives for an alignment of its caller's.
struct Aligned(NonNull<u8>, Layout);

impl Aligned {
    fn new(size: usize) -> Self {
        let layout = Layout::from_size_align(size, 4096).expect("a power of 2");
        // SAFETY: the size is not 0.
        let start = unsafe { alloc_zeroed(layout) };
        Self(NonNull::new(start).expect("there is memory"), layout)
    }
}

impl AsMut<[u8]> for Aligned {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as many zeroed bytes, borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_ptr(), self.1.size()) }
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        // SAFETY: it came from alloc_zeroed with this layout.
        unsafe { dealloc(self.0.as_ptr(), self.1) }
    }
}

/// Zeroed buffers.
fn memory(rounds: usize, divisor: u32) {
    for size in [4 << 10, 64 << 10, 128 << 10, 1 << 20, 16 << 20] {
        let calls = (400 << 20) / (size + (1 << 20));
        for becomes in [Use::Dropped, Use::Filled, Use::Kept] {
            let (mut a, mut b, mut c, mut d) = (vec![], vec![], vec![], vec![]);
            Group {
                name: format!("a zeroed buffer of {} KiB, {becomes:?}", size >> 10),
                calls: u32::try_from(calls).expect("at most 400"),
                rows: vec![
                    row("vec![0; n]", |call| {
                        becomes.of(vec![0_u8; black_box(size)], call, &mut a);
                    }),
                    row("alloc_zeroed, aligned", |call| {
                        becomes.of(Aligned::new(black_box(size)), call, &mut b);
                    }),
                    row("directio AlignedBuffer::new", |call| {
                        let buffer = AlignedBuffer::new(black_box(size), 4096);
                        becomes.of(buffer.expect("there is memory"), call, &mut c);
                    }),
                    row("directio AlignedBuffer::mapped", |call| {
                        let buffer = AlignedBuffer::mapped(black_box(size), 4096);
                        becomes.of(buffer.expect("there is memory"), call, &mut d);
                    }),
                ],
            }
            .run(rounds, divisor);
        }
    }
}
