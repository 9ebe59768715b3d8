//! The limiters on the side of the storage: the device, what its kind of work
//! costs, and what is done to it.

use super::{
    Limiter, alignment, changed_speed, credit_throttle, device_parallelism, flush_per_write,
    garbage_collection, interface, media_rate, network, one_at_a_time, raid_small_write, retries,
    rotation, seek, stall, thermal_throttle, write_cache_off, zone,
};

pub(super) const LIMITERS: &[Limiter] = &[
    Limiter {
        name: media_rate::NAME,
        about: "large transfers run at the rate of the medium",
        check: media_rate::check,
    },
    Limiter {
        name: rotation::NAME,
        about: "operations wait for the platter to come round",
        check: rotation::check,
    },
    Limiter {
        name: seek::NAME,
        about: "operations wait for the arm to get to their place",
        check: seek::check,
    },
    Limiter {
        name: one_at_a_time::NAME,
        about: "too few operations are in flight to fill the device",
        check: one_at_a_time::check,
    },
    Limiter {
        name: device_parallelism::NAME,
        about: "the device is full: more in flight only wait longer",
        check: device_parallelism::check,
    },
    Limiter {
        name: interface::NAME,
        about: "large transfers stop at the rate of a link",
        check: interface::check,
    },
    Limiter {
        name: flush_per_write::NAME,
        about: "each write pays for a flush of the drive's cache",
        check: flush_per_write::check,
    },
    Limiter {
        name: write_cache_off::NAME,
        about: "the drive keeps no writes back: each goes to the medium",
        check: write_cache_off::check,
    },
    Limiter {
        name: garbage_collection::NAME,
        about: "writes wait while flash moves valid data and erases",
        check: garbage_collection::check,
    },
    Limiter {
        name: thermal_throttle::NAME,
        about: "the rate steps down under load and stays down",
        check: thermal_throttle::check,
    },
    Limiter {
        name: changed_speed::NAME,
        about: "the speed changed for good while it was measured",
        check: changed_speed::check,
    },
    Limiter {
        name: credit_throttle::NAME,
        about: "a burst first, then exactly a base rate",
        check: credit_throttle::check,
    },
    Limiter {
        name: raid_small_write::NAME,
        about: "small writes make an array with parity read first",
        check: raid_small_write::check,
    },
    Limiter {
        name: alignment::NAME,
        about: "writes cover parts of physical sectors, which are read first",
        check: alignment::check,
    },
    Limiter {
        name: zone::NAME,
        about: "the place is in a slower zone of the disk",
        check: zone::check,
    },
    Limiter {
        name: network::NAME,
        about: "the way to a remote target and back is most of an operation",
        check: network::check,
    },
    Limiter {
        name: retries::NAME,
        about: "a few reads take several revolutions more",
        check: retries::check,
    },
    Limiter {
        name: stall::NAME,
        about: "the device stood still for a part of the time",
        check: stall::check,
    },
];
