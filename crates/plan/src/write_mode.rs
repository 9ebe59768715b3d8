//! The ways in which a program can write a file from front to back, by the names
//! of the flags and calls that make them.
//!
//! The 21 modes and their names are those of the write benchmark of
//! `@ronomon/direct-io` 3.0.1, whose results can so be put beside ours.

use crate::workload::{BufferAlignment, CacheMode, Operation, Pattern, SyncMode, Workload};
use std::fmt;

/// Which memory a write goes through, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variant {
    /// Through the page cache, from a buffer that lies anywhere.
    Plain,
    /// Through the page cache, from an aligned buffer.
    Aligned,
    /// Past the page cache, from an aligned buffer.
    Direct,
}

/// One way to write: when it is durable, and which memory it goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteMode {
    /// When written data is made durable.
    pub sync: SyncMode,
    /// Which memory it goes through.
    pub variant: Variant,
}

/// In the order of the benchmark: never, once, after each, by open flags.
const SYNCS: [SyncMode; 7] = [
    SyncMode::None,
    SyncMode::FdatasyncAtEnd,
    SyncMode::AtEnd,
    SyncMode::Fdatasync,
    SyncMode::Fsync,
    SyncMode::ODsync,
    SyncMode::OSync,
];

const VARIANTS: [Variant; 3] = [Variant::Plain, Variant::Aligned, Variant::Direct];

impl WriteMode {
    /// All 21, in the order of the benchmark.
    pub fn all() -> impl Iterator<Item = Self> {
        SYNCS
            .into_iter()
            .flat_map(|sync| VARIANTS.map(|variant| Self { sync, variant }))
    }

    /// The mode of a workload that writes from front to back, one block at a
    /// time; `None` for any other.
    pub fn of(workload: &Workload) -> Option<Self> {
        let one_by_one = workload.operation == Operation::Write
            && workload.pattern == Pattern::Sequential
            && workload.outstanding() == 1
            && workload.rate.is_none()
            && workload.pool.is_none()
            && workload.beside.is_none();
        let variant = match (workload.cache, workload.buffer) {
            (CacheMode::Direct, _) => Variant::Direct,
            (_, BufferAlignment::Aligned) => Variant::Aligned,
            (_, BufferAlignment::Unaligned) => Variant::Plain,
        };
        one_by_one.then_some(Self {
            sync: workload.sync,
            variant,
        })
    }

    /// Its place in [`all`](Self::all).
    pub fn rank(self) -> usize {
        Self::all().position(|mode| mode == self).unwrap_or(0)
    }
}

impl fmt::Display for WriteMode {
    /// As the benchmark names it: `AMORTIZED_FDATASYNC + O_DIRECT`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sync = match self.sync {
            SyncMode::None => match self.variant {
                Variant::Direct => return f.write_str("O_DIRECT"),
                Variant::Plain | Variant::Aligned => "BUFFERED",
            },
            SyncMode::FdatasyncAtEnd => "AMORTIZED_FDATASYNC",
            SyncMode::AtEnd => "AMORTIZED_FSYNC",
            SyncMode::Fdatasync => "FDATASYNC",
            SyncMode::Fsync => "FSYNC",
            SyncMode::ODsync => "O_DSYNC",
            SyncMode::OSync => "O_SYNC",
        };
        f.write_str(sync)?;
        f.write_str(match self.variant {
            Variant::Plain => "",
            Variant::Aligned => " + ALIGNED",
            Variant::Direct => " + O_DIRECT",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modes_have_the_names_and_the_order_of_the_benchmark() {
        let names: Vec<String> = WriteMode::all().map(|mode| mode.to_string()).collect();
        assert_eq!(names.len(), 21);
        assert_eq!(
            names[..6],
            [
                "BUFFERED",
                "BUFFERED + ALIGNED",
                "O_DIRECT",
                "AMORTIZED_FDATASYNC",
                "AMORTIZED_FDATASYNC + ALIGNED",
                "AMORTIZED_FDATASYNC + O_DIRECT",
            ]
        );
        assert_eq!(names[20], "O_SYNC + O_DIRECT");
        for (rank, mode) in WriteMode::all().enumerate() {
            assert_eq!(mode.rank(), rank);
        }
    }

    #[test]
    fn only_writes_from_front_to_back_one_at_a_time_have_a_mode() {
        let write = Workload {
            operation: Operation::Write,
            pattern: Pattern::Sequential,
            ..Workload::default()
        };
        let said = |workload: &Workload| WriteMode::of(workload).map(|mode| mode.to_string());
        assert_eq!(said(&write).as_deref(), Some("O_DIRECT"));
        let plain = Workload {
            cache: CacheMode::Cold,
            buffer: BufferAlignment::Unaligned,
            ..write.clone()
        };
        assert_eq!(said(&plain).as_deref(), Some("BUFFERED"));
        for other in [
            Workload {
                queue_depth: 2,
                ..write.clone()
            },
            Workload {
                pattern: Pattern::Random,
                ..write.clone()
            },
            Workload {
                operation: Operation::Read,
                ..write
            },
        ] {
            assert_eq!(said(&other), None);
        }
    }
}
