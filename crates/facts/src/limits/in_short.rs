//! What to do about a limiter, in as few words as a first page has room for. Its remedy says it
//! with the names and the numbers of the run.

/// A clause of at most 36 columns, by the name of a limiter; `None` of one about which
/// nothing can be done, or something else each time.
pub fn in_short(limiter: &str) -> Option<&'static str> {
    let found = IN_SHORT.iter().find(|(name, _)| *name == limiter);
    found.map(|(_, clause)| *clause)
}

const IN_SHORT: [(&str, &str); 27] = [
    ("alignment", "align partition and blocks"),
    ("buffered-depth", "direct I/O, or more threads"),
    ("cgroup-throttle", "raise io.max of the group"),
    ("changed-speed", "see dmesg, smartctl"),
    ("compression", "measure without compression"),
    ("copy-on-write", "write over all of it once first"),
    ("cpu-generator", "more streams"),
    ("cpu-quota", "raise cpu.max of the group"),
    ("credit-throttle", "larger volume, or another class"),
    ("device-queue", "raise nr_requests"),
    ("dirty-throttling", "as fast as the disk in the long run"),
    ("evicted", "find what drops the cache"),
    ("flush-per-write", "share a sync among commits"),
    ("garbage-collection", "trim; leave spare area"),
    ("holes", "fill the file first"),
    ("interface", "check the negotiated link"),
    ("journal", "fdatasync over allocated blocks"),
    ("media-rate", "more drives side by side"),
    ("network", "more in flight, or larger blocks"),
    ("other-process", "find it with pidstat -d 1"),
    ("partial-pages", "write whole pages"),
    ("positioning", "keep data together; queue deeper"),
    ("raid-small-write", "full stripes, or mirrors"),
    ("retries", "save the data, replace the disk"),
    ("rotation", "share a sync among commits"),
    ("seek", "keep data together; queue deeper"),
    ("thermal-throttle", "cool the drive"),
];

#[cfg(test)]
mod tests {
    use super::super::all;
    use super::*;

    /// What a page of 80 columns has beside the longest name.
    const MOST: usize = 36;

    #[test]
    fn each_is_of_a_limiter_that_there_is_and_has_room() {
        for (name, clause) in IN_SHORT {
            assert!(all().any(|limiter| limiter.name == name), "{name}");
            assert!(clause.len() <= MOST, "{clause}");
        }
    }
}
