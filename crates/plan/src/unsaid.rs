//! What a document of another program does not say of a workload is `null` in the
//! JSON of its run. Read back it is what stands in memory then, which nothing may
//! take for known: the record lists such keys beside the workload.

use crate::{CacheMode, Operation, Pattern, SyncMode};
use serde::{Deserialize, Deserializer};

fn or<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D, unsaid: T) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(from)?.unwrap_or(unsaid))
}

pub(crate) fn operation<'de, D: Deserializer<'de>>(from: D) -> Result<Operation, D::Error> {
    or(from, Operation::Read)
}

pub(crate) fn pattern<'de, D: Deserializer<'de>>(from: D) -> Result<Pattern, D::Error> {
    or(from, Pattern::Sequential)
}

pub(crate) fn cache<'de, D: Deserializer<'de>>(from: D) -> Result<CacheMode, D::Error> {
    or(from, CacheMode::Buffered)
}

pub(crate) fn sync<'de, D: Deserializer<'de>>(from: D) -> Result<SyncMode, D::Error> {
    or(from, SyncMode::None)
}

pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    or(from, false)
}

pub(crate) fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    or(from, 0)
}

pub(crate) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    or(from, 1)
}
