//! The settings by name: where each stands, and which it takes with it.
//!
//! Sources: kernel, `Documentation/ABI/stable/sysfs-block`,
//! `Documentation/block/switching-sched.rst`, `Documentation/admin-guide/sysctl/vm.rst`,
//! and what a kernel 6.18 was seen to do (`docs/reference/settings.md`).

use std::fmt;

/// Which devices of a stack a setting is written on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// No device: the machine.
    Machine,
    /// The topmost whole device, because its backing device info decides.
    Topmost,
    /// Every device down to the first that has a request queue of its own.
    Every,
    /// On each way down the first device that has a request queue.
    Queue,
}

/// All but the tunables of the schedulers, in the order in which they are
/// written and put back: each before those that it resets.
const TABLE: [(&str, Scope); 15] = [
    ("scheduler", Scope::Queue),
    ("max_sectors_kb", Scope::Every),
    ("rotational", Scope::Queue),
    ("write_cache", Scope::Queue),
    ("nr_requests", Scope::Queue),
    ("wbt_lat_usec", Scope::Queue),
    ("rq_affinity", Scope::Queue),
    ("nomerges", Scope::Queue),
    ("read_ahead_kb", Scope::Topmost),
    // What is counted in bytes stands before what is counted in per cent: a ratio
    // of 0 that is written for a moment would hold all writers back.
    ("vm/dirty_bytes", Scope::Machine),
    ("vm/dirty_background_bytes", Scope::Machine),
    ("vm/dirty_ratio", Scope::Machine),
    ("vm/dirty_background_ratio", Scope::Machine),
    ("vm/dirty_expire_centisecs", Scope::Machine),
    ("vm/dirty_writeback_centisecs", Scope::Machine),
];

/// How the tunables of a scheduler begin.
const IOSCHED: &str = "iosched/";

/// Behind `nr_requests`, which resets some of them.
const RANK_OF_IOSCHED: u8 = 5;

/// Settings of which the kernel zeroes one when the other is written
/// (`mm/page-writeback.c`).
const PAIRS: [(&str, &str); 2] = [
    ("vm/dirty_bytes", "vm/dirty_ratio"),
    ("vm/dirty_background_bytes", "vm/dirty_background_ratio"),
];

/// A setting of the kernel. They are ordered as they are written and put back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Setting {
    rank: u8,
    name: Box<str>,
}

impl Setting {
    /// The setting of this name; `None` when there is none that stands in a file of
    /// the kernel and can be put back. `drop_caches` and `io_weight` are none of
    /// these: the one is an action, the other a control group.
    pub fn parse(name: &str) -> Option<Self> {
        if let Some(tunable) = name.strip_prefix(IOSCHED) {
            // It becomes part of a path.
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            let valid = !tunable.is_empty()
                && tunable.len() <= 64
                && tunable.bytes().all(|byte| plain(byte) || byte == b'_');
            return valid.then(|| Self {
                rank: RANK_OF_IOSCHED,
                name: name.into(),
            });
        }
        let index = TABLE.iter().position(|(known, _)| *known == name)?;
        let index = u8::try_from(index).ok()?;
        Some(Self {
            rank: index + u8::from(index >= RANK_OF_IOSCHED),
            name: name.into(),
        })
    }

    /// All but the tunables of schedulers, in the order in which they are written.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|(name, _)| *name)
    }

    /// The name, as a plan has it.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn scope(&self) -> Scope {
        let listed = TABLE.iter().find(|(name, _)| **name == *self.name);
        listed.map_or(Scope::Queue, |(_, scope)| *scope)
    }

    pub(super) fn is(&self, name: &str) -> bool {
        &*self.name == name
    }

    pub(super) fn is_scheduler(&self) -> bool {
        self.is("scheduler")
    }

    /// The name of a scheduler's tunable.
    pub(super) fn tunable(&self) -> Option<&str> {
        self.name.strip_prefix(IOSCHED)
    }

    /// Whether the kernel gives it a value of its own when the scheduler changes.
    pub(super) fn follows_scheduler(&self) -> bool {
        self.tunable().is_some() || self.is("nr_requests") || self.is("wbt_lat_usec")
    }

    /// What the kernel may change with it; `None` stands for all tunables of the
    /// scheduler in use.
    pub(super) fn takes_along(&self) -> Vec<Option<Self>> {
        let one = |name: &str| Self::parse(name).map(Some);
        match &*self.name {
            "scheduler" => [one("nr_requests"), one("wbt_lat_usec"), Some(None)]
                .into_iter()
                .flatten()
                .collect(),
            // mq-deadline works its async_depth out anew.
            "nr_requests" => vec![None],
            // A change of the limits of a queue sets its read-ahead to what the
            // kernel thinks fit (`blk_apply_bdi_limits`).
            "max_sectors_kb" | "rotational" | "write_cache" => {
                one("read_ahead_kb").into_iter().collect()
            }
            _ if self.tunable().is_some() => vec![None],
            _ => self.partner().map(Some).into_iter().collect(),
        }
    }

    /// Another name of the same thing in another unit: of the two, one is in force.
    pub(super) fn partner(&self) -> Option<Self> {
        let pair = |(bytes, ratio): &(&'static str, &'static str)| {
            if self.is(bytes) {
                Some(*ratio)
            } else {
                self.is(ratio).then_some(*bytes)
            }
        };
        if let Some(other) = PAIRS.iter().find_map(pair) {
            return Self::parse(other);
        }
        // bfq's slice_idle in milliseconds, and slice_idle_us.
        self.tunable()?;
        match self.name.strip_suffix("_us") {
            Some(short) => Self::parse(short),
            None => Self::parse(&format!("{}_us", self.name)),
        }
    }

    /// Whether this can be a value of it: what the kernel prints, and nothing else is
    /// written to it from a journal.
    pub(super) fn takes(&self, value: &str) -> bool {
        match &*self.name {
            "scheduler" => {
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
                (1..=32).contains(&value.len()) && value.bytes().all(plain)
            }
            "write_cache" => ["write back", "write through", "none"].contains(&value),
            "wbt_lat_usec" => value.parse::<i64>().is_ok(),
            _ if self.tunable().is_some() => value.parse::<i64>().is_ok(),
            _ => value.parse::<u64>().is_ok(),
        }
    }

    /// Whether the kernel sets it when a device gets another file or medium.
    pub(super) fn is_chosen_anew(&self) -> bool {
        self.is("read_ahead_kb") || self.is("rotational")
    }

    /// Whether 0 says that its partner is in force, and cannot be written.
    pub(super) fn is_off(&self, value: &str) -> bool {
        value == "0" && PAIRS.iter().any(|(bytes, _)| self.is(bytes))
    }

    /// Whether two values mean the same: numbers may be written in several ways.
    pub(super) fn same(one: &str, other: &str) -> bool {
        let number = |text: &str| text.parse::<u64>().ok();
        one == other || number(one).is_some_and(|one| Some(one) == number(other))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str) -> Setting {
        Setting::parse(name).unwrap_or_else(|| panic!("{name} is no setting"))
    }

    #[test]
    fn every_setting_is_written_before_those_that_it_resets() {
        for name in Setting::names().chain(["iosched/low_latency"]) {
            let first = setting(name);
            for taken in first.takes_along().into_iter().flatten() {
                let pair = taken.partner().as_ref() == Some(&first);
                assert!(first < taken || pair, "{first} resets {taken}");
            }
        }
        let tunable = setting("iosched/slice_idle");
        assert!(setting("scheduler") < tunable && setting("nr_requests") < tunable);
        assert!(tunable < setting("wbt_lat_usec"));
    }

    #[test]
    fn names_that_would_lead_elsewhere_are_no_settings() {
        for name in [
            "",
            "iosched/",
            "iosched/../scheduler",
            "iosched/a/b",
            "iosched/a b",
            "vm/swappiness",
            "queue/scheduler",
            "drop_caches",
            "io_weight",
            "../scheduler",
        ] {
            assert_eq!(Setting::parse(name), None, "{name}");
        }
        for name in Setting::names() {
            assert_eq!(setting(name).name(), name);
        }
    }

    #[test]
    fn each_of_a_pair_knows_the_other() {
        for (bytes, ratio) in PAIRS {
            assert_eq!(setting(bytes).partner(), Setting::parse(ratio));
            assert_eq!(setting(ratio).partner(), Setting::parse(bytes));
            assert!(setting(bytes).is_off("0") && !setting(ratio).is_off("0"));
        }
        let idle = setting("iosched/slice_idle");
        assert_eq!(idle.partner(), Setting::parse("iosched/slice_idle_us"));
        assert_eq!(idle.partner().and_then(|us| us.partner()), Some(idle));
        assert_eq!(setting("nomerges").partner(), None);
    }

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        assert!(Setting::same("0128", "128") && Setting::same("none", "none"));
        assert!(!Setting::same("128", "129") && !Setting::same("none", "bfq"));
    }
}
