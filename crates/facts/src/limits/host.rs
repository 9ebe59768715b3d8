//! The limiters on the side of the host: memory, processors, the kernel's queues
//! and limits, and who else is there.

use super::{
    Limiter, buffered_depth, cgroup_throttle, compression, copy_on_write, cpu_generator,
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
        about: "the process that measures did not run",
        check: stopped::check,
    },
    Limiter {
        name: offered_load::NAME,
        about: "no more was asked for, and that was done",
        check: offered_load::check,
    },
    Limiter {
        name: holes::NAME,
        about: "what is read has no data on a device",
        check: holes::check,
    },
    Limiter {
        name: memory_disk::NAME,
        about: "what poses as a disk is memory",
        check: memory_disk::check,
    },
    Limiter {
        name: page_cache::NAME,
        about: "memory served the bytes, or took them",
        check: page_cache::check,
    },
    Limiter {
        name: evicted::NAME,
        about: "memory did not keep what was read into it",
        check: evicted::check,
    },
    Limiter {
        name: cgroup_throttle::NAME,
        about: "a limit of a control group",
        check: cgroup_throttle::check,
    },
    Limiter {
        name: cpu_quota::NAME,
        about: "a control group's quota of processor time",
        check: cpu_quota::check,
    },
    Limiter {
        name: dirty_throttling::NAME,
        about: "writers wait for write-back",
        check: dirty_throttling::check,
    },
    Limiter {
        name: sync_mount::NAME,
        about: "a mount option has each write wait for the disk",
        check: sync_mount::check,
    },
    Limiter {
        name: partial_pages::NAME,
        about: "writes of parts of pages read the rest first",
        check: partial_pages::check,
    },
    Limiter {
        name: compression::NAME,
        about: "what is read is compressed",
        check: compression::check,
    },
    Limiter {
        name: copy_on_write::NAME,
        about: "what is written over is shared, and goes elsewhere",
        check: copy_on_write::check,
    },
    Limiter {
        name: buffered_depth::NAME,
        about: "through the page cache few reads get to the device",
        check: buffered_depth::check,
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
        name: serialised::NAME,
        about: "a layer hands on one request at a time",
        check: serialised::check,
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
