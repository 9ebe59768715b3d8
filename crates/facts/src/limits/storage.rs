//! The limiters on the side of the storage: the device, what its kind of work
//! costs, and what is done to it.

use super::Limiter;

pub(super) const LIMITERS: &[Limiter] = &[];
