//! Whether a workload makes sense, and whether it does on a given target.
//!
//! Each problem names the key as the plan file writes it, says what is wrong,
//! and what would be right. All problems are found at once, so that nobody has
//! to mend a plan one run at a time.

mod content;
mod precondition;
mod together;

use crate::kernel;
use crate::plan::{Amount, Plan, Stage};
use crate::share::Share;
use crate::units::{exact_size, show_size};
use crate::workload::{
    BufferAlignment, CacheMode, EngineChoice, Operation, Pattern, Stop, SyncMode, Touch, Workload,
};
use std::collections::BTreeSet;

/// Most operations one stream may keep in flight. `io_uring`'s own limit is
/// 32 768 entries (`IORING_MAX_ENTRIES` in `io_uring/io_uring.h` of the
/// kernel); no device profits from a tenth of it.
pub const QUEUE_DEPTH_MAX: u32 = 4096;

/// Most streams: each is a thread with a queue of its own.
pub const STREAMS_MAX: u32 = 1024;

/// Largest block: what one read or write call can move at most is 2 GiB less a
/// page (`MAX_RW_COUNT` in the kernel's `include/linux/fs.h`).
pub const BLOCK_SIZE_MAX: u64 = 1 << 30;

/// Most memory for the buffers of all operations in flight.
pub const BUFFERS_MAX_BYTES: u64 = 4 << 30;

/// Highest rate of an open loop, operations per second.
pub const RATE_MAX: u64 = 100_000_000;
/// Most threads that serve one stream in turn.
pub const POOL_THREADS_MAX: u32 = 256;
/// What is checked as one, bytes: no device writes less.
pub const VALUES_SECTOR: u64 = 512;
/// Most stages of a plan. Ten thousand of the shortest useful trials take hours, and
/// a document of them hundreds of MB.
pub const STAGES_MAX: usize = 10_000;
/// Most trials of each stage.
pub const TRIALS_MAX: u32 = 1000;

/// What is wrong with a workload, in the plan file's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key at fault, `block_size` for example.
    pub key: &'static str,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Problem {
    /// That blocks of the smallest to the largest of these sizes, bytes, are
    /// larger than the target.
    pub fn blocks_too_large((smallest, largest): (u64, u64), target: &Constraints) -> Self {
        let what = if smallest == largest {
            format!("{} does", show_size(smallest))
        } else {
            format!("{} to {} do", show_size(smallest), show_size(largest))
        };
        problem(
            "block_size",
            format!(
                "{what} not fit into the target, which has {}; take a block size of at most that",
                show_size(target.size)
            ),
        )
    }
}

impl Problem {
    /// The same of what runs beside a stage.
    fn beside(self) -> Self {
        problem("beside", self.to_string())
    }

    /// That skips of the shortest to the longest of these numbers of blocks go
    /// beyond a span of so many `blocks` of `block_size` bytes.
    pub fn skip_too_long((shortest, longest): (u64, u64), blocks: u64, block_size: u64) -> Self {
        let what = if shortest == longest {
            format!("{shortest} blocks lead")
        } else {
            format!("{shortest} to {longest} blocks lead")
        };
        problem(
            "skip",
            format!(
                "{what} out of the span, which has {blocks} blocks of {}; at most {blocks}",
                show_size(block_size)
            ),
        )
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

/// What the target imposes on a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constraints {
    /// Size of the target in bytes.
    pub size: u64,
    /// What lengths and offsets of direct I/O must be a multiple of, in bytes;
    /// `None` when the target does not do direct I/O.
    pub direct_multiple: Option<u64>,
}

fn problem(key: &'static str, message: impl Into<String>) -> Problem {
    Problem {
        key,
        message: message.into(),
    }
}

impl Workload {
    /// What is wrong with this workload on any target.
    pub fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        self.check_sizes(&mut found);
        self.check_operation(&mut found);
        self.check_rate_and_stop(&mut found);
        self.check_pool(&mut found);
        self.check_io_priority(&mut found);
        self.check_beside(&mut found);
        found.extend(crate::files::problems(self));
        found
    }

    fn check_sizes(&self, found: &mut Vec<Problem>) {
        if self.block_size == 0 {
            found.push(problem("block_size", "it is 0; 4KiB is usual"));
        } else if self.block_size > BLOCK_SIZE_MAX {
            found.push(problem(
                "block_size",
                format!(
                    "{} is more than one system call moves; at most {}",
                    show_size(self.block_size),
                    show_size(BLOCK_SIZE_MAX)
                ),
            ));
        }
        if let Some(span) = self.span
            && span < self.block_size
        {
            found.push(problem(
                "block_size",
                format!(
                    "{} does not fit into the span of {}; take a smaller block or a larger span",
                    show_size(self.block_size),
                    show_size(span)
                ),
            ));
        }
        if self.queue_depth == 0 {
            found.push(problem(
                "queue_depth",
                "it is 0; with 1 each operation waits for the one before",
            ));
        } else if self.queue_depth > QUEUE_DEPTH_MAX {
            found.push(problem(
                "queue_depth",
                format!(
                    "{} is more than the {QUEUE_DEPTH_MAX} that a stream may keep in flight; \
                     use several streams if more is meant",
                    self.queue_depth
                ),
            ));
        }
        if self.streams == 0 {
            found.push(problem("streams", "it is 0; at least 1 is needed"));
        } else if self.streams > STREAMS_MAX {
            found.push(problem(
                "streams",
                format!("{} is more than {STREAMS_MAX}", self.streams),
            ));
        }
        let buffers = u128::from(self.outstanding()) * u128::from(self.block_size);
        if self.queue_depth <= QUEUE_DEPTH_MAX
            && self.streams <= STREAMS_MAX
            && self.block_size <= BLOCK_SIZE_MAX
            && buffers > u128::from(BUFFERS_MAX_BYTES)
        {
            found.push(problem(
                "queue_depth",
                format!(
                    "{} operations of {} in flight need more than {} of memory; lower \
                     queue_depth, streams or block_size",
                    self.outstanding(),
                    show_size(self.block_size),
                    show_size(BUFFERS_MAX_BYTES)
                ),
            ));
        }
    }

    fn check_operation(&self, found: &mut Vec<Problem>) {
        if let Operation::Mixed { read_percent } = self.operation
            && !(1..=99).contains(&read_percent)
        {
            found.push(problem(
                "read_percent",
                format!("{read_percent} is not between 1 and 99; for only reads or writes use operation = \"read\" or \"write\""),
            ));
        }
        if let Operation::Modify { percent } = self.operation
            && !(1..=100).contains(&percent)
        {
            found.push(problem(
                "modify_percent",
                format!(
                    "{percent} is not between 1 and 100; to change nothing use operation = \"read\""
                ),
            ));
        }
        if let Pattern::Stride { skip_blocks: 0, .. } = self.pattern {
            found.push(problem(
                "skip",
                "it is 0, so the same block would be done for ever; 1 does every block",
            ));
        }
        self.check_mmap(found);
        self.check_values(found);
        if self.operation.modifies() && self.engine == EngineChoice::IoUring {
            found.push(problem(
                "operation",
                "\"modify\" is a read and then a write of what was read, which one io_uring \
                 operation cannot do; use engine = \"auto\", which does both with system calls",
            ));
        }
        if let Pattern::Zipf { theta } = self.pattern
            && !(0.01..=5.0).contains(&theta)
        {
            found.push(problem(
                "theta",
                format!("{theta} is not between 0.01 and 5; 0.99 is usual"),
            ));
        }
        if self.sync != SyncMode::None && !self.operation.writes() {
            found.push(problem(
                "sync",
                "reads have nothing to make durable; drop it, or use operation = \"write\"",
            ));
        }
        if self.engine == EngineChoice::Sync && self.queue_depth > 1 {
            found.push(problem(
                "queue_depth",
                format!(
                    "the sync engine has one operation in flight per stream; use engine = \
                     \"auto\", or queue_depth = 1 with streams = {}",
                    self.outstanding()
                ),
            ));
        }
        if (self.iopoll || self.sqpoll)
            && matches!(self.engine, EngineChoice::Sync | EngineChoice::Null)
        {
            let key = if self.iopoll { "iopoll" } else { "sqpoll" };
            found.push(problem(key, "only the io_uring engine can poll"));
        }
        if self.operation.modifies() && (self.iopoll || self.sqpoll) {
            let key = if self.iopoll { "iopoll" } else { "sqpoll" };
            found.push(problem(
                key,
                "operation = \"modify\" is done with system calls, and only io_uring can poll",
            ));
        }
        if self.touch != Touch::None && self.engine == EngineChoice::Null {
            found.push(problem(
                "touch",
                "the null engine reads nothing that could be touched; drop it",
            ));
        }
        if self.touch.by_character()
            && (self.queue_depth > 1
                || !matches!(self.operation, Operation::Read | Operation::Write)
                || !matches!(self.engine, EngineChoice::Auto | EngineChoice::Sync)
                || self.iopoll
                || self.sqpoll)
        {
            found.push(problem(
                "touch",
                "characters pass through one buffer, which is read or written by one system call \
                 at a time; use operation = \"read\" or \"write\", engine = \"auto\" and \
                 queue_depth = 1",
            ));
        }
        if self.buffer == BufferAlignment::Unaligned && self.cache == CacheMode::Direct {
            found.push(problem(
                "buffer",
                "direct I/O needs an aligned one; drop it, or use cache = \"buffered\"",
            ));
        }
        if self.iopoll && self.cache != CacheMode::Direct {
            found.push(problem("iopoll", "polled I/O needs cache = \"direct\""));
        }
    }

    fn check_rate_and_stop(&self, found: &mut Vec<Problem>) {
        if let Some(rate) = self.rate
            && !(1..=RATE_MAX).contains(&rate.operations_per_s)
        {
            found.push(problem(
                "rate",
                format!(
                    "{} operations per second is not between 1 and {RATE_MAX}",
                    rate.operations_per_s
                ),
            ));
        }
        let Stop {
            time_ns,
            bytes,
            operations,
            fraction,
        } = self.stop;
        if fraction == Some(0) {
            found.push(problem(
                "fraction",
                "it is 0; with 1 a trial does as many operations as the span has blocks, with 64 a 64th of them",
            ));
        }
        if let Some((offset, span)) = self.offset_share.zip(self.span_share)
            && offset.checked_add(span).is_none()
        {
            found.push(problem(
                "span",
                format!("{span} from {offset} goes beyond the end of the target"),
            ));
        }
        for (key, value) in [
            ("time", time_ns),
            ("bytes", bytes),
            ("operations", operations),
        ] {
            if value == Some(0) {
                found.push(problem(
                    key,
                    "it is 0, so nothing would be measured; leave it out for the stage's share of the time",
                ));
            }
        }
        if let Some(bytes) = bytes
            && bytes < self.block_size
            && bytes > 0
        {
            found.push(problem(
                "bytes",
                format!(
                    "{} is less than one block of {}",
                    show_size(bytes),
                    show_size(self.block_size)
                ),
            ));
        }
    }

    /// What is wrong on a span of so many blocks; 0 is another problem's.
    fn check_blocks(&self, blocks: u64, found: &mut Vec<Problem>) {
        if blocks == 0 {
            return;
        }
        if let Some(fraction) = self.stop.fraction
            && fraction > blocks
        {
            found.push(problem(
                "fraction",
                format!(
                    "1/{fraction} of the span, which has {blocks} blocks of {}, leaves no \
                     operation to do; at most {blocks}",
                    show_size(self.block_size)
                ),
            ));
        }
        if let Pattern::Stride { skip_blocks, .. } = self.pattern
            && skip_blocks > blocks
        {
            found.push(Problem::skip_too_long(
                (skip_blocks, skip_blocks),
                blocks,
                self.block_size,
            ));
        }
    }

    /// What is wrong with this workload on a target with these constraints, on
    /// top of [`problems`](Self::problems).
    pub fn problems_on(&self, target: &Constraints) -> Vec<Problem> {
        let mut found = Vec::new();
        if self.operation.on_files() {
            // They are files of their own, and no block of the target is touched.
            return found;
        }
        let left = target.size.saturating_sub(self.offset);
        if let Some(share) = self.span_share
            && self.span.is_some_and(|span| span < self.block_size)
        {
            found.push(problem(
                "span",
                format!(
                    "{share} of the target, which has {}, is less than one block of {}",
                    show_size(target.size),
                    show_size(self.block_size)
                ),
            ));
            return found;
        }
        self.check_blocks(self.blocks_on(target.size), &mut found);
        if self.offset > 0 && left < self.block_size {
            found.push(problem(
                "offset",
                format!(
                    "{} leaves no whole block before the end of the target ({})",
                    exact_size(self.offset),
                    show_size(target.size)
                ),
            ));
        } else if self.block_size > target.size {
            found.push(Problem::blocks_too_large(
                (self.block_size, self.block_size),
                target,
            ));
        }
        if let Some(span) = self.span
            && span > left
            && left >= self.block_size
        {
            found.push(problem(
                "span",
                format!(
                    "{} from {} goes beyond the end of the target ({})",
                    show_size(span),
                    exact_size(self.offset),
                    show_size(target.size)
                ),
            ));
        }
        if self.cache == CacheMode::Direct
            && let Some(multiple) = target.direct_multiple
            && multiple > 0
        {
            for (key, value) in [("block_size", self.block_size), ("offset", self.offset)] {
                if !value.is_multiple_of(multiple) {
                    found.push(problem(
                        key,
                        format!(
                            "{value} is not a multiple of {multiple} bytes, which direct I/O \
                             needs on this target; {} is, or use cache = \"buffered\"",
                            exact_size(value.next_multiple_of(multiple))
                        ),
                    ));
                }
            }
        }
        let beside = self.beside.iter();
        found.extend(
            beside
                .flat_map(|beside| beside.problems_on(target))
                .map(Problem::beside),
        );
        found
    }
}

impl Stage {
    /// What is wrong with the amount that it does in full.
    fn full_problems(&self) -> Vec<Problem> {
        let Some(Amount {
            bytes,
            operations,
            fraction,
        }) = self.full
        else {
            return Vec::new();
        };
        let mut found = Vec::new();
        if bytes.is_some_and(|bytes| bytes < self.workload.block_size) {
            found.push(problem(
                "full_bytes",
                format!(
                    "it is less than one block of {}",
                    show_size(self.workload.block_size)
                ),
            ));
        }
        if operations == Some(0) {
            found.push(problem(
                "full_operations",
                "it is 0, so nothing would be measured",
            ));
        }
        if fraction == Some(0) {
            found.push(problem(
                "full_fraction",
                "it is 0; 1 is the whole span, 64 a 64th of it",
            ));
        }
        found
    }
}

impl Plan {
    /// What is wrong with the plan on any target, each with its stage.
    pub fn problems(&self) -> Vec<(String, Problem)> {
        let mut found: Vec<(String, Problem)> = Vec::new();
        if self.trials == 0 {
            found.push((self.name.clone(), problem("trials", "it is 0; at least 1")));
        } else if self.trials > TRIALS_MAX {
            let said = format!("it is {}; at most {TRIALS_MAX}", self.trials);
            found.push((self.name.clone(), problem("trials", &said)));
        }
        if self.until.precision.is_some_and(Share::is_zero) {
            let said = "it is 0, which no number of trials reaches; 3% is usual";
            found.push((self.name.clone(), problem("precision", said)));
        }
        if let Some(most) = self.until.trials_max {
            let said = if !self.until.is_adaptive() {
                "it needs precision or steady, until which trials are repeated".to_owned()
            } else if most < self.trials || most > TRIALS_MAX {
                format!(
                    "it is {most}; at least trials = {}, at most {TRIALS_MAX}",
                    self.trials
                )
            } else {
                String::new()
            };
            if !said.is_empty() {
                found.push((self.name.clone(), problem("trials_max", &said)));
            }
        }
        let axes = || self.stages.iter().flat_map(|stage| stage.settings.keys());
        for name in &self.choose {
            if !axes().any(|axis| axis == name) {
                let known: BTreeSet<&str> = axes().map(String::as_str).collect();
                let known: Vec<&str> = known.into_iter().collect();
                let said = match known.as_slice() {
                    [] => format!("'{name}' does not vary; no stage varies anything"),
                    known => format!("'{name}' does not vary; what does is {}", known.join(", ")),
                };
                found.push((self.name.clone(), problem("choose", &said)));
            }
        }
        if self.time_ns == Some(0) {
            found.push((
                self.name.clone(),
                problem("time", "it is 0, so nothing would be measured"),
            ));
        }
        if self.stages.is_empty() {
            found.push((
                self.name.clone(),
                problem("stage", "the plan has none; begin one with [[stage]]"),
            ));
        }
        for work in &self.precondition {
            let label = work.stage.label();
            let problems = precondition::problems(work).into_iter();
            found.extend(problems.map(|problem| (label.clone(), problem)));
        }
        let before = self.precondition.iter().map(|work| &work.stage);
        let stages: Vec<&Stage> = before.chain(&self.stages).collect();
        let mut names = BTreeSet::new();
        for stage in &stages {
            if !names.insert((&stage.name, &stage.settings)) {
                found.push((
                    stage.label(),
                    problem("name", "another stage has the same name"),
                ));
            }
            found.extend(
                stage
                    .full_problems()
                    .into_iter()
                    .map(|problem| (stage.label(), problem)),
            );
            let of_stage = stage.workload.problems().into_iter();
            let of_stage = of_stage.chain(kernel::problems(&stage.kernel));
            found.extend(of_stage.map(|problem| (stage.label(), problem)));
        }
        found
    }
}

#[cfg(test)]
mod tests;
