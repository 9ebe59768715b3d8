//! Other processes, and what they had of storage and processors meanwhile.

use super::Observer;
use super::ticks::nanoseconds;
use crate::parse::process_io::parse_process_io;
use crate::parse::process_stat::parse_process_stat;
use crate::roots::Roots;
use diskfacts_record::evidence::Neighbour;
use diskfacts_record::{Evidence, Unseen};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Processes that are looked at, at most: each costs some 20 us before and after a trial.
const PROCESSES: usize = 4096;
/// Processes that are named, at most, of each kind.
const NAMED: usize = 8;
/// Bytes and processor time below which none is: what any daemon does.
const BYTES: u64 = 256 << 10;
const PROCESSOR_NS: u64 = 20_000_000;
/// The process that starts the kernel's own threads.
const KERNEL: u32 = 2;

/// Looks at all processes before and after a trial. What a process moved is known of those
/// of this user, and of all to root. A process that began and ended meanwhile is seen in its
/// parent, once that has waited for it (`wait_task_zombie`, kernel/exit.c).
pub struct NeighboursObserver {
    proc: PathBuf,
    own: u32,
    before: Result<Look, String>,
    after: Option<Result<Look, String>>,
}

/// All processes, by their number and when they began.
type Look = HashMap<(u32, u64), Counted>;

/// What a process has had since it began.
struct Counted {
    name: String,
    ticks: u64,
    /// Read and written, bytes; `None` where this user may not know.
    bytes: Option<(u64, u64)>,
}

impl NeighboursObserver {
    /// Of the processes that `roots` shows.
    pub fn new(roots: &Roots) -> Self {
        Self {
            proc: roots.proc.clone(),
            own: std::process::id(),
            before: Ok(Look::new()),
            after: None,
        }
    }
}

fn look(proc: &Path, own: u32) -> Result<Look, String> {
    let folders = fs::read_dir(proc);
    let folders = folders.map_err(|error| format!("listing {}: {error}", proc.display()))?;
    let numbers =
        folders.filter_map(|folder| folder.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let mut found = Look::new();
    for number in numbers.take(PROCESSES) {
        let folder = proc.join(number.to_string());
        // It may have ended since it was listed.
        let Ok(stat) = fs::read(folder.join("stat")) else {
            continue;
        };
        let Ok(stat) = parse_process_stat(&stat) else {
            continue;
        };
        let is_own = number == own || stat.parent == own;
        if is_own || number == KERNEL || stat.parent == KERNEL {
            continue;
        }
        let io = fs::read(folder.join("io")).ok();
        let io = io.and_then(|io| parse_process_io(&io).ok());
        let counted = Counted {
            name: stat.name,
            ticks: stat.ticks,
            bytes: io.map(|io| (io.read_bytes, io.write_bytes)),
        };
        found.insert((number, stat.start), counted);
    }
    Ok(found)
}

/// What the processes of the second look had since the first, those first that had most.
fn between(before: &Look, after: &Look) -> Vec<Neighbour> {
    let since = after.iter().map(|(id, now)| {
        let then = before.get(id);
        let ticks = then.map_or(0, |then| then.ticks);
        let bytes = now.bytes.map(|(read, written)| {
            let (from, to) = then.and_then(|then| then.bytes).unwrap_or_default();
            (read.saturating_sub(from), written.saturating_sub(to))
        });
        Neighbour {
            process: id.0,
            name: now.name.clone(),
            read_bytes: bytes.map(|(read, _)| read),
            write_bytes: bytes.map(|(_, written)| written),
            processor_ns: nanoseconds(ticks, now.ticks),
        }
    });
    let moved = |one: &Neighbour| one.moved_bytes();
    let mut all: Vec<Neighbour> = since
        .filter(|one| moved(one) >= BYTES || one.processor_ns >= PROCESSOR_NS)
        .collect();
    all.sort_by_key(|one| (Reverse(one.processor_ns), one.process));
    let mut named: Vec<Neighbour> = all.iter().take(NAMED).cloned().collect();
    all.sort_by_key(|one| (Reverse(moved(one)), one.process));
    let most = all
        .into_iter()
        .take(NAMED)
        .filter(|one| moved(one) >= BYTES);
    for one in most {
        if !named.contains(&one) {
            named.push(one);
        }
    }
    named
}

impl Observer for NeighboursObserver {
    fn name(&self) -> &'static str {
        "neighbours"
    }

    fn start(&mut self) {
        self.after = None;
        self.before = look(&self.proc, self.own);
    }

    fn halt(&mut self) {
        if self.after.is_none() {
            self.after = Some(look(&self.proc, self.own));
        }
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        let after = self.after.as_ref().map(Result::as_ref);
        match (&self.before, after) {
            (Ok(before), Some(Ok(after))) => evidence.neighbours = Some(between(before, after)),
            (Err(why), _) | (_, Some(Err(why))) => evidence.unseen.push(Unseen {
                what: self.name().to_owned(),
                why: why.clone(),
            }),
            (Ok(_), None) => {}
        }
    }
}
