//! The limiters on the side of the host: memory, processors, the kernel's queues
//! and limits, and who else is there.

use super::{
    Limiter, cgroup_throttle, cpu_generator, cpu_kernel, device_queue, dirty_throttling, journal,
    mislabelled, offered_load, other_process, page_cache, read_ahead, request_splitting,
};

pub(super) const LIMITERS: &[Limiter] = &[
    Limiter {
        name: mislabelled::NAME,
        about: "the figures contradict each other by a factor",
        check: mislabelled::check,
    },
    Limiter {
        name: offered_load::NAME,
        about: "no more was asked for, and that was done",
        check: offered_load::check,
    },
    Limiter {
        name: page_cache::NAME,
        about: "memory served the bytes, or took them",
        check: page_cache::check,
    },
    Limiter {
        name: cgroup_throttle::NAME,
        about: "a limit of a control group",
        check: cgroup_throttle::check,
    },
    Limiter {
        name: dirty_throttling::NAME,
        about: "writers wait for write-back",
        check: dirty_throttling::check,
    },
    Limiter {
        name: read_ahead::NAME,
        about: "a read-ahead window that is too small",
        check: read_ahead::check,
    },
    Limiter {
        name: request_splitting::NAME,
        about: "requests are split, and the pieces cost",
        check: request_splitting::check,
    },
    Limiter {
        name: device_queue::NAME,
        about: "the kernel's queue lets too few requests through",
        check: device_queue::check,
    },
    Limiter {
        name: journal::NAME,
        about: "a sync writes the filesystem's journal too",
        check: journal::check,
    },
    Limiter {
        name: other_process::NAME,
        about: "others use the device",
        check: other_process::check,
    },
    Limiter {
        name: cpu_generator::NAME,
        about: "the processor time of the measuring",
        check: cpu_generator::check,
    },
    Limiter {
        name: cpu_kernel::NAME,
        about: "the processor time of the kernel",
        check: cpu_kernel::check,
    },
];
