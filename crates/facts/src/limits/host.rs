//! The limiters on the side of the host: memory, processors, the kernel's queues
//! and limits, and who else is there.

use super::Limiter;

pub(super) const LIMITERS: &[Limiter] = &[];
