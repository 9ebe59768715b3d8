//! `directio` beside runtimes that do direct I/O themselves: processor time per read,
//! in alternation. See the manifest for how to run it; the tests are its small mode.

mod contenders;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use contenders::{CONTENDERS, Contender};
use directio::{AlignedBuffer, Direct, OpenOptions, sync_all, write_all_at};

/// The file that is read, in bytes.
const SIZE: u64 = 64 << 20;

/// What one read takes, in bytes.
const BLOCK: usize = 4096;

/// A file of which each block begins with its own offset.
fn make_file(folder: &Path) -> Result<PathBuf, directio::Error> {
    let path = folder.join("file");
    let options = OpenOptions::new().write(true).create(true);
    let opened = options.direct(Direct::Required).open(&path)?;
    let mut buffer = AlignedBuffer::new(1 << 20, BLOCK)?;
    for offset in (0..SIZE).step_by(buffer.len()) {
        for (block, at) in buffer.chunks_mut(BLOCK).zip((offset..).step_by(BLOCK)) {
            block[..8].copy_from_slice(&at.to_le_bytes());
        }
        write_all_at(&opened.file, &buffer, offset)?;
    }
    sync_all(&opened.file)?;
    Ok(path)
}

/// Where read number `number` of task `task` goes: all over the file.
fn place(task: usize, number: usize) -> u64 {
    let mixed = ((task as u64) << 32 | number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 16) % (SIZE / BLOCK as u64) * BLOCK as u64
}

/// Fails unless a block is the one from `offset`.
fn check(block: &[u8], offset: u64) {
    assert_eq!(block.len(), BLOCK);
    assert_eq!(block[..8], offset.to_le_bytes(), "the block at {offset}");
}

/// Lower quartile, median and upper quartile.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
}

/// Runs all that can do it at this depth by turns.
fn side_by_side(path: &Path, depth: usize, reads: usize, rounds: usize) {
    println!("reads of 4 KiB, {depth} under way");
    let able: Vec<&Contender> = CONTENDERS
        .iter()
        .filter(|one| one.depths.contains(&depth))
        .collect();
    let mut spent = vec![Vec::new(); able.len()];
    for round in 0..=rounds {
        for turn in 0..able.len() {
            let index = (turn + round) % able.len();
            let ns = (able[index].run)(path, depth, reads / depth);
            // The first round warms up.
            if round > 0 {
                spent[index].push(ns as f64 / reads as f64);
            }
        }
    }
    for (one, ns) in able.iter().zip(&spent) {
        let ratios = ns.iter().zip(&spent[0]).map(|(own, first)| own / first);
        let [low, middle, high] = quartiles(ratios.collect());
        let [_, median, _] = quartiles(ns.clone());
        println!(
            "  {:<34} {median:>8.0} ns   {middle:>5.2} ({low:.2} to {high:.2})",
            one.name
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => std::env::temp_dir(),
        ["--folder", folder] => folder.into(),
        _ => {
            eprintln!("usage: diskfacts-bench-runtimes [--folder FOLDER]");
            std::process::exit(2);
        }
    };
    let folder = tempfile::tempdir_in(folder).expect("the folder can be written");
    let path = make_file(folder.path()).unwrap_or_else(|error| {
        eprintln!("{error:#}");
        std::process::exit(1);
    });
    println!("processor time per read, and its ratio to the first row: median (quartiles)");
    for depth in [1, 16] {
        side_by_side(&path, depth, 16_000, 21);
    }
}
