//! The limiters on the side of the storage: the device, what its kind of work
//! costs, and what is done to it.

use super::{
    Limiter, alignment, changed_speed, credit_throttle, device_parallelism, flush_per_write,
    garbage_collection, interface, media_rate, network, one_at_a_time, positioning,
    raid_small_write, retries, rotation, seek, stall, thermal_throttle, write_cache_off, zone,
};

pub(super) const LIMITERS: &[Limiter] = &[
    Limiter {
        name: media_rate::NAME,
        about: "rate of the medium",
        check: media_rate::check,
    },
    Limiter {
        name: rotation::NAME,
        about: "rotational latency",
        check: rotation::check,
    },
    Limiter {
        name: seek::NAME,
        about: "seeks: the arm moves for each operation",
        check: seek::check,
    },
    Limiter {
        name: positioning::NAME,
        about: "positioning: seek and rotational latency",
        check: positioning::check,
    },
    Limiter {
        name: one_at_a_time::NAME,
        about: "too few in flight to fill the device",
        check: one_at_a_time::check,
    },
    Limiter {
        name: device_parallelism::NAME,
        about: "device saturated: more in flight only wait",
        check: device_parallelism::check,
    },
    Limiter {
        name: interface::NAME,
        about: "rate of the link",
        check: interface::check,
    },
    Limiter {
        name: flush_per_write::NAME,
        about: "a flush of the drive's cache per write",
        check: flush_per_write::check,
    },
    Limiter {
        name: write_cache_off::NAME,
        about: "write cache off: each write goes to the medium",
        check: write_cache_off::check,
    },
    Limiter {
        name: garbage_collection::NAME,
        about: "garbage collection",
        check: garbage_collection::check,
    },
    Limiter {
        name: thermal_throttle::NAME,
        about: "thermal throttling",
        check: thermal_throttle::check,
    },
    Limiter {
        name: changed_speed::NAME,
        about: "speed changed while it was measured",
        check: changed_speed::check,
    },
    Limiter {
        name: credit_throttle::NAME,
        about: "throttled to a fixed rate",
        check: credit_throttle::check,
    },
    Limiter {
        name: raid_small_write::NAME,
        about: "small-write penalty of parity RAID",
        check: raid_small_write::check,
    },
    Limiter {
        name: alignment::NAME,
        about: "read-modify-write of physical sectors",
        check: alignment::check,
    },
    Limiter {
        name: zone::NAME,
        about: "an inner, slower zone of the disk",
        check: zone::check,
    },
    Limiter {
        name: network::NAME,
        about: "round trip to a remote target",
        check: network::check,
    },
    Limiter {
        name: retries::NAME,
        about: "reads retried by the drive",
        check: retries::check,
    },
    Limiter {
        name: stall::NAME,
        about: "the device stalled",
        check: stall::check,
    },
];
