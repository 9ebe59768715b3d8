//! The limiters on the side of the host: memory, processors, the kernel's queues
//! and limits, and who else is there.

use super::{
    Limiter, blocked, buffered_depth, cgroup_throttle, compression, copy_on_write, cpu_generator,
    cpu_kernel, cpu_quota, device_queue, dirty_throttling, evicted, holes, journal, memory_disk,
    mislabelled, offered_load, other_process, page_cache, partial_pages, read_ahead,
    request_splitting, serialised, stopped, sync_mount,
};

pub(super) const LIMITERS: &[Limiter] = &[
    Limiter {
        name: mislabelled::NAME,
        about: "the figures contradict each other by a factor",
        check: mislabelled::check,
    },
    Limiter {
        name: stopped::NAME,
        about: "diskfacts itself was stopped",
        check: stopped::check,
    },
    Limiter {
        name: blocked::NAME,
        about: "blocked in the kernel",
        check: blocked::check,
    },
    Limiter {
        name: offered_load::NAME,
        about: "no more was asked for",
        check: offered_load::check,
    },
    Limiter {
        name: holes::NAME,
        about: "holes: no data on a device",
        check: holes::check,
    },
    Limiter {
        name: memory_disk::NAME,
        about: "memory that poses as a disk",
        check: memory_disk::check,
    },
    Limiter {
        name: page_cache::NAME,
        about: "memory, not the disk",
        check: page_cache::check,
    },
    Limiter {
        name: evicted::NAME,
        about: "memory too small to keep what was read",
        check: evicted::check,
    },
    Limiter {
        name: cgroup_throttle::NAME,
        about: "I/O limit of a control group",
        check: cgroup_throttle::check,
    },
    Limiter {
        name: cpu_quota::NAME,
        about: "CPU quota of a control group",
        check: cpu_quota::check,
    },
    Limiter {
        name: dirty_throttling::NAME,
        about: "dirty limit: writers wait for write-back",
        check: dirty_throttling::check,
    },
    Limiter {
        name: sync_mount::NAME,
        about: "mounted sync: each write waits for the disk",
        check: sync_mount::check,
    },
    Limiter {
        name: partial_pages::NAME,
        about: "read-modify-write of pages",
        check: partial_pages::check,
    },
    Limiter {
        name: compression::NAME,
        about: "compressed data: CPU time",
        check: compression::check,
    },
    Limiter {
        name: copy_on_write::NAME,
        about: "shared extents: copy on write",
        check: copy_on_write::check,
    },
    Limiter {
        name: buffered_depth::NAME,
        about: "the page cache passes on few reads at a time",
        check: buffered_depth::check,
    },
    Limiter {
        name: read_ahead::NAME,
        about: "read-ahead window too small",
        check: read_ahead::check,
    },
    Limiter {
        name: request_splitting::NAME,
        about: "requests split into small ones",
        check: request_splitting::check,
    },
    Limiter {
        name: device_queue::NAME,
        about: "the kernel's queue lets too few through",
        check: device_queue::check,
    },
    Limiter {
        name: serialised::NAME,
        about: "a layer passes on one request at a time",
        check: serialised::check,
    },
    Limiter {
        name: journal::NAME,
        about: "the filesystem's journal, at each sync",
        check: journal::check,
    },
    Limiter {
        name: other_process::NAME,
        about: "others use the device or the processors",
        check: other_process::check,
    },
    Limiter {
        name: cpu_generator::NAME,
        about: "CPU time of the measuring itself",
        check: cpu_generator::check,
    },
    Limiter {
        name: cpu_kernel::NAME,
        about: "CPU time of the kernel",
        check: cpu_kernel::check,
    },
];
