//! How the page cache is kept from serving what is meant to come from the disk.
//!
//! Plans say `cache = "cold"` for that: emptied before each trial. Here the same
//! stages are measured in another of the usual ways, and which one it was stands
//! in the notes of the run.

use crate::args::CacheProof;
use crate::exit::{Failure, OrFail};
use crate::target::Measured;
use diskfacts_host::{MemoryLimit, Roots};
use diskfacts_plan::units::{exact_size, show_size};
use diskfacts_plan::{CacheMode, Plan, Stage};
use diskfacts_record::TargetKind;
use std::path::Path;

/// The limit is an eighth of the file, so that at most that much of it lies in
/// memory.
const SHARE: u64 = 8;
/// No less than the process needs for itself, and its buffers.
const LEAST_BYTES: u64 = 64 << 20;

/// The size of the file that a way asks for in a folder.
pub(super) fn size(way: Option<CacheProof>, target: &Path) -> Result<Option<u64>, Failure> {
    // All else has the size that it has.
    if way != Some(CacheProof::TwiceMemory) || !target.is_dir() {
        return Ok(None);
    }
    Ok(Some(memory()?.saturating_mul(2).next_multiple_of(1 << 20)))
}

fn memory() -> Result<u64, Failure> {
    let bytes = diskfacts_host::machine(&Roots::default()).memory_bytes;
    bytes.ok_or_else(|| {
        Failure::failed(
            "--cache-proof twice-memory: how much memory there is could not be read from /proc/meminfo; give a --size and --cache-proof drop",
        )
    })
}

/// The plan measured in this way.
pub(super) fn applied(plan: &Plan, way: Option<CacheProof>) -> Result<Plan, Failure> {
    let mut plan = plan.clone();
    let Some(way) = way else {
        return Ok(plan);
    };
    if !plan.stages.iter().any(is_cold) {
        return Err(Failure::wrong_call(format!(
            "--cache-proof is for stages with cache = \"cold\", and {} has none; `diskfacts plans bonnie` has",
            plan.name
        )));
    }
    for stage in plan.stages.iter_mut().filter(|stage| is_cold(stage)) {
        stage.workload.cache = match way {
            CacheProof::Direct if fits_direct(stage) => CacheMode::Direct,
            CacheProof::Drop | CacheProof::Direct => CacheMode::Cold,
            CacheProof::MemoryLimit | CacheProof::TwiceMemory => CacheMode::Buffered,
        };
    }
    Ok(plan)
}

fn is_cold(stage: &Stage) -> bool {
    stage.workload.cache == CacheMode::Cold
}

/// Direct I/O moves whole sectors; what the target needs is found out later.
fn fits_direct(stage: &Stage) -> bool {
    stage.workload.block_size.is_multiple_of(512)
}

/// Makes the way work, for as long as the answer lives, and says in a note which
/// it is. `asked` is the plan before.
pub(super) fn begin(
    way: Option<CacheProof>,
    asked: &Plan,
    measured: &mut Measured,
) -> Result<Option<MemoryLimit>, Failure> {
    // A plan that speaks of it says what it does.
    let told = way.or((asked.name == "bonnie").then_some(CacheProof::Drop));
    let Some(way) = told.filter(|_| asked.stages.iter().any(is_cold)) else {
        return Ok(None);
    };
    let size = measured.target.size_bytes;
    let mut limit = None;
    let how = match way {
        CacheProof::Drop => "it is emptied before each trial (--cache-proof drop)".to_owned(),
        CacheProof::Direct => {
            let mut said = "it is bypassed by direct I/O (--cache-proof direct)".to_owned();
            let cold = asked.stages.iter().filter(|stage| is_cold(stage));
            let others: Vec<&str> = cold
                .filter(|stage| !fits_direct(stage))
                .map(|stage| stage.name.as_str())
                .collect();
            if !others.is_empty() {
                said.push_str("; and emptied before each trial of ");
                said.push_str(&others.join(", "));
                said.push_str(", whose blocks are not multiples of the sector size");
            }
            said
        }
        CacheProof::MemoryLimit => {
            if measured.target.kind == TargetKind::Simulated {
                return Err(Failure::wrong_call(
                    "--cache-proof memory-limit limits the memory of this process, and a simulated disk has a simulated page cache; use --cache-proof drop or direct",
                ));
            }
            let bytes = (size / SHARE).max(LEAST_BYTES);
            if bytes.saturating_mul(2) > size {
                return Err(Failure::wrong_call(format!(
                    "--cache-proof memory-limit: {} of {} would fit into the least memory that diskfacts can do with, {}; take a file of at least --size {}, or --cache-proof drop",
                    show_size(size.min(bytes)),
                    show_size(size),
                    show_size(LEAST_BYTES),
                    exact_size(2 * LEAST_BYTES)
                )));
            }
            let entered = MemoryLimit::enter(&Roots::default(), bytes).or_failed()?;
            let said = format!(
                "diskfacts works in a control group of {} ({}, --cache-proof memory-limit), which holds at most that much of the {}",
                show_size(bytes),
                entered.group().display(),
                show_size(size)
            );
            limit = Some(entered);
            said
        }
        CacheProof::TwiceMemory => {
            twice_memory(measured)?;
            format!(
                "the {} are twice the memory of this machine, of which it may hold a half (--cache-proof twice-memory)",
                show_size(size)
            )
        }
    };
    let note = format!("Page cache kept from serving what is meant to come from the disk: {how}.");
    measured.notes.push(note);
    Ok(limit)
}

/// The target must really be so large; a file that took too long to fill is not.
pub(super) fn check(way: Option<CacheProof>, measured: &Measured) -> Result<(), Failure> {
    if way == Some(CacheProof::TwiceMemory) {
        twice_memory(measured)?;
    }
    Ok(())
}

fn twice_memory(measured: &Measured) -> Result<(), Failure> {
    if measured.target.kind == TargetKind::Simulated {
        return Err(Failure::wrong_call(
            "--cache-proof twice-memory goes by the memory of this machine, and a simulated disk has a simulated page cache; use --cache-proof drop or direct",
        ));
    }
    let (size, wanted) = (measured.target.size_bytes, memory()?.saturating_mul(2));
    if size >= wanted {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "--cache-proof twice-memory needs {} to measure, and {} has {}; give it more with --time if filling took too long, name a larger target, or use --cache-proof drop",
        show_size(wanted),
        measured.target.path,
        show_size(size)
    )))
}
