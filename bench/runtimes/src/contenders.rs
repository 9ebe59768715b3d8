//! What is run, each as its own documentation does it.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use compio::BufResult;
use compio::io::AsyncReadAt;
use directio::{AlignedBuffer, BufferPool, SharedPool, read_at};
use rustix::time::{ClockId, clock_gettime};

use crate::{BLOCK, check, place};

/// One way to read.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    /// How many reads it can have under way.
    pub(crate) depths: &'static [usize],
    /// Does `reads` reads in each of `depth` tasks; the processor time that they took,
    /// in nanoseconds.
    pub(crate) run: fn(path: &Path, depth: usize, reads: usize) -> u64,
}

pub(crate) const CONTENDERS: [Contender; 5] = [
    Contender {
        name: "rustix pread by hand",
        depths: &[1],
        run: by_hand,
    },
    Contender {
        name: "directio read_at",
        depths: &[1],
        run: directio_calls,
    },
    Contender {
        name: "glommio DmaFile",
        depths: &[1, 16],
        run: glommio_file,
    },
    Contender {
        name: "compio File, directio pool",
        depths: &[1, 16],
        run: compio_file,
    },
    Contender {
        name: "monoio File, directio pool",
        depths: &[1, 16],
        run: monoio_file,
    },
];

/// The processor time of this process so far, in nanoseconds.
fn processor_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn open(path: &Path) -> File {
    let mut options = std::fs::OpenOptions::new();
    let options = options.read(true).custom_flags(libc::O_DIRECT);
    options.open(path).expect("it is there")
}

fn pool(depth: usize) -> SharedPool {
    let pool = BufferPool::new(depth, BLOCK, BLOCK);
    pool.expect("there is memory").into_shared()
}

fn by_hand(path: &Path, _depth: usize, reads: usize) -> u64 {
    let file = open(path);
    let mut buffer = AlignedBuffer::new(BLOCK, BLOCK).expect("there is memory");
    let before = processor_ns();
    for number in 0..reads {
        let offset = place(0, number);
        let read = rustix::io::pread(&file, &mut *buffer, offset);
        check(&buffer[..read.expect("it is read")], offset);
    }
    processor_ns() - before
}

fn directio_calls(path: &Path, _depth: usize, reads: usize) -> u64 {
    let file = open(path);
    let mut buffer = AlignedBuffer::new(BLOCK, BLOCK).expect("there is memory");
    let before = processor_ns();
    for number in 0..reads {
        let offset = place(0, number);
        let read = read_at(&file, &mut buffer, offset);
        check(&buffer[..read.expect("it is read")], offset);
    }
    processor_ns() - before
}

fn glommio_file(path: &Path, depth: usize, reads: usize) -> u64 {
    use glommio::io::DmaFile;
    use glommio::{LocalExecutorBuilder, Placement};
    use std::rc::Rc;

    let path = path.to_owned();
    let builder = LocalExecutorBuilder::new(Placement::Unbound);
    let executor = builder.spawn(move || async move {
        let file = Rc::new(DmaFile::open(&path).await.expect("it is there"));
        let before = processor_ns();
        let tasks: Vec<_> = (0..depth)
            .map(|task| {
                let file = Rc::clone(&file);
                glommio::spawn_local(async move {
                    for number in 0..reads {
                        let offset = place(task, number);
                        let read = file.read_at_aligned(offset, BLOCK).await;
                        check(&read.expect("it is read"), offset);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await;
        }
        let spent = processor_ns() - before;
        Rc::into_inner(file)
            .expect("all tasks have ended")
            .close()
            .await
            .expect("it is open");
        spent
    });
    executor
        .expect("the kernel has io_uring, and lets memory be locked (ulimit -l)")
        .join()
        .expect("it does not panic")
}

fn compio_file(path: &Path, depth: usize, reads: usize) -> u64 {
    let pool = pool(depth);
    let runtime = compio::runtime::Runtime::new().expect("the kernel has it");
    runtime.block_on(async {
        let mut options = compio::fs::OpenOptions::new();
        let options = options.read(true).custom_flags(libc::O_DIRECT);
        let file = options.open(path).await.expect("it is there");
        let before = processor_ns();
        let tasks: Vec<_> = (0..depth)
            .map(|task| {
                let (file, mut buffer) = (file.clone(), pool.wait_for_one());
                compio::runtime::spawn(async move {
                    for number in 0..reads {
                        let offset = place(task, number);
                        let BufResult(read, back) = file.read_at(buffer, offset).await;
                        buffer = back;
                        check(&buffer[..read.expect("it is read")], offset);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("it does not panic");
        }
        processor_ns() - before
    })
}

fn monoio_file(path: &Path, depth: usize, reads: usize) -> u64 {
    use std::rc::Rc;

    let pool = pool(depth);
    let builder = monoio::RuntimeBuilder::<monoio::IoUringDriver>::new();
    let mut runtime = builder.build().expect("the kernel has it");
    runtime.block_on(async {
        let file = Rc::new(monoio::fs::File::from_std(open(path)).expect("it is open"));
        let before = processor_ns();
        let tasks: Vec<_> = (0..depth)
            .map(|task| {
                let (file, mut buffer) = (Rc::clone(&file), pool.wait_for_one());
                monoio::spawn(async move {
                    for number in 0..reads {
                        let offset = place(task, number);
                        let (read, back) = file.read_at(buffer, offset).await;
                        buffer = back;
                        check(&buffer[..read.expect("it is read")], offset);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await;
        }
        processor_ns() - before
    })
}
