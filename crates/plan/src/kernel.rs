//! Settings of the kernel that a stage may ask for: which there are, what they
//! take, and what cannot be meant.
//!
//! A stage has them as texts by name ([`Stage::kernel`](crate::Stage::kernel)).
//! Here stands what can be known of a value without a machine; which schedulers
//! there are, what a device takes and what it silently does not is the kernel's
//! to say, when the value is written and read back.
//!
//! Names are those of the files: of `/sys/block/NAME/queue` (kernel:
//! `Documentation/ABI/stable/sysfs-block`, `block/blk-sysfs.c`), behind `iosched/`
//! those of its folder `iosched`, and behind `vm/` those of `/proc/sys/vm` (kernel:
//! `Documentation/admin-guide/sysctl/vm.rst`). Two are no files of their own:
//! [`DROP_CACHES`] is done before each trial, and [`IO_WEIGHT`] is a control group.

use crate::check::Problem;
use crate::file::nearest;
use crate::units;
use std::collections::BTreeMap;

/// The page cache of the whole machine is emptied before each trial: `pages`,
/// `slab` (names and attributes of files), or `all`.
pub const DROP_CACHES: &str = "drop_caches";
/// The share of a device that this process gets beside others.
pub const IO_WEIGHT: &str = "io_weight";
/// What the names of a scheduler's own settings begin with.
pub const OF_SCHEDULER: &str = "iosched/";

/// Whose setting it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Of a block device under the target.
    Device,
    /// Of the machine.
    Machine,
    /// Of this process.
    Process,
}

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One word, of letters, digits, `_` and `-`: which ones there are, the kernel says.
    Word,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A whole number of this range, in this unit; the unit is empty where it
    /// counts things.
    Number {
        /// The unit, as people call it: `KiB`.
        unit: &'static str,
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// Bytes, at least so many: a number, or a size with its unit.
    Bytes {
        /// The fewest.
        min: u64,
    },
    /// Yes or no: `1` or `0`, `true` or `false`.
    Flag,
}

/// A setting, or all settings of a scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its name in a plan; [`OF_SCHEDULER`] stands for all that begin so.
    pub name: &'static str,
    /// Whose it is.
    pub scope: Scope,
    /// What it takes.
    pub kind: Kind,
    /// What it is, in a few words.
    pub about: &'static str,
}

/// Largest number that the queue's files take (`queue_var_store` of the kernel's
/// `block/blk-sysfs.c`).
const UINT_MAX: i64 = u32::MAX as i64;

const fn number(unit: &'static str, min: i64, max: i64) -> Kind {
    Kind::Number { unit, min, max }
}

const fn device(name: &'static str, kind: Kind, about: &'static str) -> Setting {
    Setting {
        name,
        scope: Scope::Device,
        kind,
        about,
    }
}

const fn machine(name: &'static str, kind: Kind, about: &'static str) -> Setting {
    Setting {
        name,
        scope: Scope::Machine,
        kind,
        about,
    }
}

/// All settings, in the order in which they are documented.
pub const SETTINGS: [Setting; 18] = [
    device(
        "scheduler",
        Kind::Word,
        "which I/O scheduler orders the requests",
    ),
    device(
        OF_SCHEDULER,
        Kind::Word,
        "a setting of the scheduler that is in force then",
    ),
    device(
        "read_ahead_kb",
        number("KiB", 0, UINT_MAX),
        "how far the kernel reads ahead of a reader in order",
    ),
    device(
        "max_sectors_kb",
        number("KiB", 0, UINT_MAX),
        "the largest request; 0 is the kernel's own choice",
    ),
    device(
        "nr_requests",
        number("requests", 1, UINT_MAX),
        "how many requests may wait in the queue",
    ),
    device(
        "rq_affinity",
        number("", 0, 2),
        "which processor a completion is handled on",
    ),
    device("nomerges", number("", 0, 2), "which merging is left out"),
    device(
        "wbt_lat_usec",
        number("us", -1, i64::MAX / 1000),
        "the latency of reads that write-back is held back for; 0 is never, -1 the kernel's choice",
    ),
    device(
        "write_cache",
        Kind::OneOf(&["write back", "write through"]),
        "whether the kernel takes the drive's cache for volatile",
    ),
    device(
        "rotational",
        Kind::Flag,
        "whether the kernel takes the drive for a rotating one",
    ),
    machine(
        "vm/dirty_ratio",
        number("%", 0, 100),
        "dirty pages, as a share of memory, from which on writers wait",
    ),
    machine(
        "vm/dirty_background_ratio",
        number("%", 0, 100),
        "the same, from which on the kernel writes back",
    ),
    machine(
        "vm/dirty_bytes",
        // The kernel wants two pages (`dirty_bytes_min` in `mm/page-writeback.c`),
        // whose size is the machine's; none are smaller.
        Kind::Bytes { min: 2 * 4096 },
        "dirty pages from which on writers wait, in place of the share",
    ),
    machine(
        "vm/dirty_background_bytes",
        Kind::Bytes { min: 1 },
        "the same, from which on the kernel writes back",
    ),
    machine(
        "vm/dirty_expire_centisecs",
        number("hundredths of a second", 0, i32::MAX as i64),
        "how old a dirty page is that is written back in any case",
    ),
    machine(
        "vm/dirty_writeback_centisecs",
        number("hundredths of a second", 0, i32::MAX as i64),
        "how often the kernel looks for them; 0 is never",
    ),
    machine(
        DROP_CACHES,
        Kind::OneOf(&["pages", "slab", "all"]),
        "what of the machine's caches is dropped before each trial",
    ),
    Setting {
        name: IO_WEIGHT,
        scope: Scope::Process,
        kind: number("", 1, 1000),
        about: "the share of a device that this process gets beside others; 100 is usual",
    },
];

/// Two ways to say one thing: the kernel forgets the one when the other is written.
const ONE_OF_TWO: [(&str, &str); 2] = [
    ("vm/dirty_ratio", "vm/dirty_bytes"),
    ("vm/dirty_background_ratio", "vm/dirty_background_bytes"),
];

/// The setting of this name; that of all of a scheduler for one that begins with
/// [`OF_SCHEDULER`] and goes on with the name of a file.
pub fn setting(name: &str) -> Option<&'static Setting> {
    let known = match name.strip_prefix(OF_SCHEDULER) {
        Some(own) if is_word(own) => OF_SCHEDULER,
        Some(_) => return None,
        None => name,
    };
    SETTINGS.iter().find(|setting| setting.name == known)
}

/// The names of all settings but those of a scheduler.
pub fn names() -> impl Iterator<Item = &'static str> {
    let names = SETTINGS.iter().map(|setting| setting.name);
    names.filter(|name| *name != OF_SCHEDULER)
}

/// A sentence about a name that is no setting, with what may be meant.
pub fn unknown(name: &str) -> String {
    let known: Vec<&str> = names().collect();
    let hint = nearest(name, &known)
        .map(|known| format!("; did you mean '{known}'?"))
        .unwrap_or_default();
    let all = SETTINGS.map(|setting| match setting.name {
        OF_SCHEDULER => "iosched/NAME",
        name => name,
    });
    format!(
        "unknown setting of the kernel '{name}'{hint} (known settings: {})",
        all.join(", ")
    )
}

/// What is written of a setting when this is asked for: `128` for `0128`, `1` for
/// `true`, `67108864` for `64MiB` of a size.
///
/// # Errors
/// A sentence that begins with the name: there is no such setting, or it does not
/// take this.
pub fn value(name: &str, asked: &str) -> Result<String, String> {
    let Some(setting) = setting(name) else {
        return Err(unknown(name));
    };
    setting
        .kind
        .value(asked)
        .map_err(|wanted| format!("{name}: it should be {wanted}, not \"{asked}\""))
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

impl Kind {
    /// What is written for what is asked, or what should be asked.
    fn value(self, asked: &str) -> Result<String, String> {
        let found = match self {
            Self::Word => is_word(asked).then(|| asked.to_owned()),
            Self::OneOf(words) => words.contains(&asked).then(|| asked.to_owned()),
            Self::Number { min, max, .. } => {
                let number = asked.parse::<i64>().ok();
                let number = number.filter(|number| (min..=max).contains(number));
                number.map(|number| number.to_string())
            }
            Self::Bytes { min } => {
                let bytes = units::parse_size(asked).ok();
                let bytes = bytes.filter(|bytes| *bytes >= min);
                bytes.map(|bytes| bytes.to_string())
            }
            Self::Flag => match asked {
                "1" | "true" => Some("1".to_owned()),
                "0" | "false" => Some("0".to_owned()),
                _ => None,
            },
        };
        found.ok_or_else(|| self.wanted())
    }

    /// What it takes, in words.
    pub fn wanted(self) -> String {
        match self {
            Self::Word => "one word, of letters, digits, '_' and '-'".to_owned(),
            Self::OneOf(words) => format!("\"{}\"", words.join("\" or \"")),
            Self::Number { unit, min, max } => {
                let of = match unit {
                    "" => String::new(),
                    unit => format!(" of {unit}, without the unit"),
                };
                if max >= UINT_MAX {
                    format!("a whole number{of}, at least {min}")
                } else {
                    format!("a whole number{of}, {min} to {max}")
                }
            }
            Self::Bytes { min } => {
                format!(
                    "a size such as \"64MiB\", at least {}",
                    units::exact_size(min)
                )
            }
            Self::Flag => "1 or 0".to_owned(),
        }
    }
}

/// What is wrong with what a stage asks of the kernel, on any machine.
pub(crate) fn problems(asked: &BTreeMap<String, String>) -> Vec<Problem> {
    let problem = |message| Problem {
        key: "kernel",
        message,
    };
    let mut found: Vec<Problem> = asked
        .iter()
        .filter_map(|(name, text)| value(name, text).err())
        .map(problem)
        .collect();
    for (ratio, bytes) in ONE_OF_TWO {
        if asked.contains_key(ratio) && asked.contains_key(bytes) {
            found.push(problem(format!(
                "{ratio} and {bytes} say the same in two ways, and the kernel forgets the one \
                 when the other is set; keep one"
            )));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_takes_what_it_is_made_of_and_says_what_that_is() {
        for (name, asked, written) in [
            ("scheduler", "mq-deadline", Ok("mq-deadline")),
            ("scheduler", "two words", Err("one word")),
            ("scheduler", "", Err("one word")),
            ("scheduler", "../none", Err("one word")),
            ("iosched/slice_idle", "8", Ok("8")),
            ("read_ahead_kb", "0128", Ok("128")),
            ("read_ahead_kb", "0", Ok("0")),
            ("read_ahead_kb", "4294967295", Ok("4294967295")),
            ("read_ahead_kb", "4294967296", Err("a whole number of KiB")),
            ("read_ahead_kb", "-1", Err("at least 0")),
            ("read_ahead_kb", "128k", Err("without the unit")),
            ("read_ahead_kb", "much", Err("a whole number of KiB")),
            ("nr_requests", "0", Err("at least 1")),
            ("rq_affinity", "2", Ok("2")),
            ("nomerges", "3", Err("0 to 2")),
            ("wbt_lat_usec", "-1", Ok("-1")),
            ("wbt_lat_usec", "-2", Err("at least -1")),
            ("write_cache", "write through", Ok("write through")),
            (
                "write_cache",
                "none",
                Err("\"write back\" or \"write through\""),
            ),
            ("rotational", "true", Ok("1")),
            ("rotational", "0", Ok("0")),
            ("rotational", "no", Err("1 or 0")),
            ("vm/dirty_ratio", "100", Ok("100")),
            ("vm/dirty_ratio", "101", Err("0 to 100")),
            ("vm/dirty_background_ratio", "101", Err("0 to 100")),
            ("vm/dirty_bytes", "64MiB", Ok("67108864")),
            ("vm/dirty_bytes", "4096", Err("at least 8KiB")),
            ("vm/dirty_background_bytes", "0", Err("a size")),
            ("vm/dirty_expire_centisecs", "3000", Ok("3000")),
            ("vm/dirty_writeback_centisecs", "0", Ok("0")),
            ("drop_caches", "all", Ok("all")),
            ("drop_caches", "3", Err("\"pages\" or \"slab\" or \"all\"")),
            ("io_weight", "1000", Ok("1000")),
            ("io_weight", "0", Err("1 to 1000")),
            ("io_weight", "1001", Err("1 to 1000")),
        ] {
            match (value(name, asked), written) {
                (Ok(value), Ok(written)) => assert_eq!(value, written, "{name} = {asked}"),
                (Err(said), Err(wanted)) => {
                    assert!(
                        said.starts_with(&format!("{name}: it should be ")),
                        "{said}"
                    );
                    assert!(said.contains(wanted), "{name} = {asked}: {said}");
                }
                (found, wanted) => panic!("{name} = {asked}: {found:?}, not {wanted:?}"),
            }
        }
    }

    #[test]
    fn what_is_written_is_taken_again_as_it_is() {
        for setting in SETTINGS {
            let name = match setting.name {
                OF_SCHEDULER => "iosched/fifo_batch",
                name => name,
            };
            for asked in ["1", "100", "8192", "true", "all", "write back", "1MiB"] {
                if let Ok(written) = value(name, asked) {
                    assert_eq!(value(name, &written), Ok(written.clone()), "{name}");
                }
            }
        }
    }

    #[test]
    fn an_unknown_name_is_told_with_the_nearest_setting_and_all_of_them() {
        let said = value("read_ahead", "128").expect_err("it is no setting");
        assert!(said.contains("did you mean 'read_ahead_kb'?"), "{said}");
        assert!(said.contains("iosched/NAME, read_ahead_kb"), "{said}");
        let said = value("qqq", "128").expect_err("it is no setting");
        assert!(!said.contains("did you mean"), "{said}");
        for no_file in [
            "iosched/",
            "iosched/../scheduler",
            "iosched/a b",
            "vm/swappiness",
        ] {
            assert_eq!(setting(no_file), None, "{no_file}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_named_once_for_each_pair() {
        let asked = |names: &[&str]| -> BTreeMap<String, String> {
            let of = |name: &&str| ((*name).to_owned(), "50".to_owned());
            names.iter().map(of).collect()
        };
        assert_eq!(problems(&asked(&["vm/dirty_ratio", "read_ahead_kb"])), []);
        let both = asked(&["vm/dirty_background_ratio", "vm/dirty_background_bytes"]);
        let said: Vec<String> = problems(&both).iter().map(ToString::to_string).collect();
        let [one] = said.as_slice() else {
            panic!("{said:?}");
        };
        assert!(one.contains("keep one"), "{one}");
        let unknown: BTreeMap<String, String> = [("speed".to_owned(), "9".to_owned())].into();
        assert!(problems(&unknown)[0].message.contains("'speed'"));
    }
}
