//! The words of a plan file for what can be chosen, for reading and printing.

use crate::workload::{
    Arrivals, BufferAlignment, CacheMode, EngineChoice, IoContext, On, SyncMode, Touch,
};

pub(super) const OPERATIONS: [(&str, Kind); 7] = [
    ("read", Kind::Read),
    ("write", Kind::Write),
    ("mixed", Kind::Mixed),
    ("modify", Kind::Modify),
    ("create", Kind::Create),
    ("stat", Kind::Stat),
    ("delete", Kind::Delete),
];
pub(super) const PATTERNS: [(&str, Order); 4] = [
    ("sequential", Order::Sequential),
    ("random", Order::Random),
    ("zipf", Order::Zipf),
    ("stride", Order::Stride),
];
pub(super) const CACHES: [(&str, CacheMode); 4] = [
    ("buffered", CacheMode::Buffered),
    ("warm", CacheMode::Warm),
    ("cold", CacheMode::Cold),
    ("direct", CacheMode::Direct),
];
pub(super) const SYNCS: [(&str, SyncMode); 7] = [
    ("none", SyncMode::None),
    ("fdatasync", SyncMode::Fdatasync),
    ("fsync", SyncMode::Fsync),
    ("at-end", SyncMode::AtEnd),
    ("fdatasync-at-end", SyncMode::FdatasyncAtEnd),
    ("o-dsync", SyncMode::ODsync),
    ("o-sync", SyncMode::OSync),
];
pub(super) const BUFFERS: [(&str, BufferAlignment); 2] = [
    ("aligned", BufferAlignment::Aligned),
    ("unaligned", BufferAlignment::Unaligned),
];
pub(super) const TOUCHES: [(&str, Touch); 5] = [
    ("none", Touch::None),
    ("first", Touch::First),
    ("every", Touch::Every),
    ("character", Touch::Character),
    ("character-unlocked", Touch::CharacterUnlocked),
];
pub(super) const VALUES: [(&str, bool); 2] = [("check", false), ("fill", true)];
pub(super) const ARRIVALS: [(&str, Arrivals); 2] =
    [("fixed", Arrivals::Fixed), ("poisson", Arrivals::Poisson)];
pub(super) const ENGINES: [(&str, EngineChoice); 5] = [
    ("auto", EngineChoice::Auto),
    ("sync", EngineChoice::Sync),
    ("io_uring", EngineChoice::IoUring),
    ("mmap", EngineChoice::Mmap),
    ("null", EngineChoice::Null),
];
pub(super) const ONS: [(&str, On); 2] = [("target", On::Target), ("file", On::File)];

pub(super) const IO_CONTEXTS: [(&str, IoContext); 2] = [
    ("separate", IoContext::Separate),
    ("shared", IoContext::Shared),
];

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Read,
    Write,
    Mixed,
    Create,
    Stat,
    Delete,
    Modify,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Order {
    Sequential,
    Random,
    Zipf,
    Stride,
}

impl CacheMode {
    /// Its word in a plan file: `direct`.
    pub fn word(self) -> &'static str {
        word(&CACHES, self)
    }
}

impl SyncMode {
    /// Its word in a plan file: `fdatasync-at-end`.
    pub fn word(self) -> &'static str {
        word(&SYNCS, self)
    }
}

pub(super) fn word<T: PartialEq + Copy>(choices: &[(&'static str, T)], value: T) -> &'static str {
    choices
        .iter()
        .find(|(_, known)| *known == value)
        .map_or("", |(word, _)| word)
}
