//! Where the blocks of a stage of a document lie: on a device itself, or in a
//! file of a filesystem. A strided line says `ext` or `raw`, dd and hdparm name
//! what they read or write.

use crate::rules::Context;
use crate::stages::Stage;
use diskfacts_plan::{CacheMode, Operation, Pattern};
use diskfacts_record::{StageFigures, TargetKind};
use std::fmt;

/// What a document says of the place of some blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// The device itself, and not a file.
    pub(crate) raw: bool,
    /// Path of the device, the file or the folder; absent where only the kind is
    /// said.
    pub(crate) path: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// Where a stage of an imported run did its I/O; `None` where its document
    /// does not say it.
    pub(crate) fn of(stage: &Stage<'a>) -> Option<Self> {
        let setting = |name: &str| stage.settings.get(name).map(String::as_str);
        if let Some(kind) = setting("place") {
            let raw = kind == "raw";
            return Some(Self {
                raw,
                path: setting("at"),
            });
        }
        let path = setting("target").filter(|path| path.starts_with('/'))?;
        let raw = path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
        Some(Self {
            raw,
            path: Some(path),
        })
    }

    /// Whether both may be the same place: of the same kind, and where both have
    /// a path, one within the other.
    pub(crate) fn may_be(&self, other: &Place<'_>) -> bool {
        let within = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let paths = match (self.path, other.path) {
            (Some(a), Some(b)) => within(a, b) || within(b, a),
            _ => true,
        };
        self.raw == other.raw && paths
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path, self.raw) {
            (Some(path), _) => f.write_str(path),
            (None, true) => f.write_str("raw"),
            (None, false) => f.write_str("ext"),
        }
    }
}

/// Blocks from this on stream also where each is asked for by itself.
const LARGE: u64 = 64 << 10;

/// What a stage of a document streams at: from front to back at a known place, in
/// a way that keeps a disk busy.
#[derive(Debug, Clone)]
pub(crate) struct Streaming<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) operation: Operation,
    /// Bytes per second, the median of its trials; more than 0.
    pub(crate) rate: f64,
    /// Lines of the document.
    pub(crate) lines: Vec<u64>,
    /// Name of its stage.
    pub(crate) stage: &'a str,
}

/// The stages of an imported run that stream at a known place.
pub(crate) fn streaming<'a>(context: &Context<'a>) -> Vec<Streaming<'a>> {
    if context.run.target.kind != TargetKind::Imported {
        return Vec::new();
    }
    let each = context.each();
    each.filter_map(|(stage, figures)| of_stage(stage, figures))
        .collect()
}

fn of_stage<'a>(stage: &Stage<'a>, figures: &StageFigures) -> Option<Streaming<'a>> {
    let place = Place::of(stage)?;
    let workload = stage.workload();
    let in_order = match workload.pattern {
        Pattern::Sequential => true,
        Pattern::Stride { skip_blocks, .. } => skip_blocks == 1,
        _ => false,
    };
    let simple = matches!(workload.operation, Operation::Read | Operation::Write);
    // Small direct blocks wait for each other; through the page cache the kernel
    // reads ahead and writes behind in large pieces.
    let busy = workload.cache != CacheMode::Direct || workload.block_size >= LARGE;
    let alone = workload.beside.is_none() && !workload.sync.each_write();
    let rate = figures.throughput_bytes_per_s.median;
    let usable = in_order && simple && busy && alone && rate.is_finite() && rate > 0.0;
    usable.then(|| Streaming {
        place,
        operation: workload.operation,
        rate,
        lines: stage.lines(),
        stage: stage.name,
    })
}
