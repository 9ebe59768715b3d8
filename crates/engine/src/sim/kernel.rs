//! Settings of the kernel on a simulated host: those that it has, by their names in a
//! plan file.

use diskfacts_disk::host::{BlockLimits, HostParameters, Scheduler};
use diskfacts_record::evidence::SettingInForce;
use std::collections::BTreeMap;
use thiserror::Error;

/// The settings that a simulated host has.
const KNOWN: [&str; 8] = [
    "scheduler",
    "read_ahead_kb",
    "max_sectors_kb",
    "nr_requests",
    "nomerges",
    "vm/dirty_bytes",
    "vm/dirty_background_bytes",
    "vm/dirty_expire_centisecs",
];

/// The page of a simulated host, bytes.
const PAGE: u64 = 4096;

/// A setting that a simulated host does not take.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{name} = {value}: {why}")]
pub struct KernelError {
    /// Name of the setting.
    pub name: String,
    /// The value that was asked for.
    pub value: String,
    /// What is wrong, and what would be right.
    pub why: String,
}

/// The names of the schedulers that a host has whose own is `own`: those of today's
/// kernels, and an older one where it is in force.
pub(super) fn schedulers(own: Scheduler) -> Vec<&'static str> {
    let mut names = vec!["none", "mq-deadline", "bfq"];
    if !names.contains(&name_of(own)) {
        names.push(name_of(own));
    }
    names
}

/// As the kernel calls it.
pub(super) fn name_of(scheduler: Scheduler) -> &'static str {
    match scheduler {
        Scheduler::Noop => "none",
        Scheduler::Deadline { .. } => "mq-deadline",
        Scheduler::Fair { .. } if scheduler == Scheduler::bfq() => "bfq",
        Scheduler::Fair { .. } => "cfq",
    }
}

/// The host of these parameters and limits under these settings.
///
/// # Errors
/// The first setting that a simulated host does not have, or not with this value.
pub(super) fn under(
    base: HostParameters,
    limits: BlockLimits,
    settings: &BTreeMap<String, String>,
) -> Result<(HostParameters, BlockLimits), KernelError> {
    let (mut host, mut limits) = (base, limits);
    for (name, value) in settings {
        let wrong = |why: String| KernelError {
            name: name.clone(),
            value: value.clone(),
            why,
        };
        let number = || -> Result<u64, KernelError> {
            value
                .parse()
                .map_err(|_| wrong("it should be a whole number, 0 or more".to_owned()))
        };
        match name.as_str() {
            "scheduler" => {
                host.block.scheduler = match value.as_str() {
                    own if own == name_of(base.block.scheduler) => base.block.scheduler,
                    "none" => Scheduler::Noop,
                    "mq-deadline" => Scheduler::deadline(),
                    "bfq" => Scheduler::bfq(),
                    _ => {
                        let has = schedulers(base.block.scheduler).join(", ");
                        return Err(wrong(format!("this simulated host has {has}")));
                    }
                };
            }
            "read_ahead_kb" => host.read_ahead = number()?.saturating_mul(1024) / PAGE * PAGE,
            "max_sectors_kb" => {
                let bytes = number()?.saturating_mul(1024);
                if bytes > 0 && bytes < PAGE {
                    return Err(wrong("a request has a page of 4 KiB at least".to_owned()));
                }
                // 0 is the kernel's own choice.
                if bytes > 0 {
                    host.block.max_request = bytes / PAGE * PAGE;
                }
                limits.splits = true;
            }
            "nr_requests" => {
                let count = usize::try_from(number()?).ok().filter(|count| *count > 0);
                limits.requests = Some(count.ok_or_else(|| wrong("1 or more".to_owned()))?);
            }
            "nomerges" => {
                limits.no_merges = match value.as_str() {
                    "0" => false,
                    "2" => true,
                    _ => {
                        let why = "a simulated host joins neighbours (0) or does not (2); it has \
                                   no searches that 1 could leave out";
                        return Err(wrong(why.to_owned()));
                    }
                };
            }
            "vm/dirty_bytes" => host.dirty_limit = number()?.min(base.memory),
            "vm/dirty_background_bytes" => host.dirty_background = number()?,
            "vm/dirty_expire_centisecs" => {
                host.dirty_expire_ns = number()?.saturating_mul(10_000_000);
            }
            _ => {
                return Err(wrong(format!(
                    "a simulated host has no such setting; it has {}",
                    KNOWN.join(", ")
                )));
            }
        }
    }
    // As the kernel does it (`domain_dirty_limits`, mm/page-writeback.c).
    if host.dirty_background >= host.dirty_limit {
        host.dirty_background = host.dirty_limit / 2;
    }
    Ok((host, limits))
}

/// What is in force of the settings that were asked for, on the host whose disk is
/// called `device`.
pub(super) fn in_force(
    device: &str,
    before: &(HostParameters, BlockLimits),
    now: &(HostParameters, BlockLimits),
    asked: &BTreeMap<String, String>,
) -> Vec<SettingInForce> {
    let of_machine = |name: &str| name.starts_with("vm/");
    asked
        .iter()
        .map(|(name, asked)| {
            let in_force = value(name, now);
            let changed = in_force.as_ref().is_some_and(|value| value != asked);
            SettingInForce {
                device: (!of_machine(name)).then(|| device.to_owned()),
                name: name.clone(),
                asked: asked.clone(),
                before: value(name, before),
                note: changed.then(|| "a simulated host counts in pages of 4 KiB".to_owned()),
                in_force,
            }
        })
        .collect()
}

/// What a setting is on a host, as its file would say; `None` of a limit that there is
/// not.
fn value(name: &str, (host, limits): &(HostParameters, BlockLimits)) -> Option<String> {
    Some(match name {
        "scheduler" => name_of(host.block.scheduler).to_owned(),
        "read_ahead_kb" => (host.read_ahead / 1024).to_string(),
        "max_sectors_kb" => (host.block.max_request / 1024).to_string(),
        "nr_requests" => limits.requests?.to_string(),
        "nomerges" => if limits.no_merges { "2" } else { "0" }.to_owned(),
        "vm/dirty_bytes" => host.dirty_limit.to_string(),
        "vm/dirty_background_bytes" => host.dirty_background.to_string(),
        "vm/dirty_expire_centisecs" => (host.dirty_expire_ns / 10_000_000).to_string(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_force_is_read_back_from_the_host() {
        let before = (HostParameters::linux(), BlockLimits::default());
        let asked = [
            ("read_ahead_kb", "130"),
            ("scheduler", "none"),
            ("nr_requests", "7"),
            ("vm/dirty_expire_centisecs", "100"),
        ];
        let asked = asked.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let asked = BTreeMap::from(asked);
        let now = under(before.0, before.1, &asked).unwrap();
        let seen = in_force("d", &before, &now, &asked);
        let of = |name: &str| seen.iter().find(|one| one.name == name).unwrap();
        let read_ahead = of("read_ahead_kb");
        assert_eq!(read_ahead.before.as_deref(), Some("128"));
        assert_eq!(read_ahead.in_force.as_deref(), Some("128"));
        assert!(read_ahead.note.is_some() && of("scheduler").note.is_none());
        assert_eq!(of("scheduler").device.as_deref(), Some("d"));
        assert_eq!(of("nr_requests").before, None);
        assert_eq!(of("nr_requests").in_force.as_deref(), Some("7"));
        assert_eq!(of("vm/dirty_expire_centisecs").device, None);
    }

    fn with(settings: &[(&str, &str)]) -> Result<(HostParameters, BlockLimits), KernelError> {
        let settings = settings
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        under(
            HostParameters::linux(),
            BlockLimits::default(),
            &settings.collect(),
        )
    }

    #[test]
    fn each_setting_changes_what_it_is_called_after() {
        let plain = HostParameters::linux();
        let none = BlockLimits::default();
        assert_eq!(with(&[]), Ok((plain, none)));
        let (host, limits) = with(&[
            ("scheduler", "bfq"),
            ("read_ahead_kb", "4096"),
            ("max_sectors_kb", "1280"),
            ("nr_requests", "7"),
            ("nomerges", "2"),
        ])
        .unwrap();
        assert_eq!(host.block.scheduler, Scheduler::bfq());
        assert_eq!(
            (host.read_ahead, host.block.max_request),
            (4 << 20, 1280 << 10)
        );
        assert!(limits.splits && limits.no_merges && limits.requests == Some(7));
        let (host, _) = with(&[("vm/dirty_bytes", "1048576")]).unwrap();
        assert_eq!(
            (host.dirty_limit, host.dirty_background),
            (1 << 20, 1 << 19)
        );
    }

    #[test]
    fn what_is_in_force_is_no_change_whatever_its_name() {
        let mut base = HostParameters::linux();
        for scheduler in [Scheduler::cfq(), Scheduler::Noop, Scheduler::deadline()] {
            base.block.scheduler = scheduler;
            let name = name_of(scheduler).to_owned();
            assert!(schedulers(scheduler).contains(&name.as_str()));
            let settings = BTreeMap::from([("scheduler".to_owned(), name)]);
            let (host, _) = under(base, BlockLimits::default(), &settings).unwrap();
            assert_eq!(host, base);
        }
    }

    #[test]
    fn what_it_does_not_have_is_refused_with_what_it_has() {
        for (name, value, said) in [
            ("scheduler", "kyber", "none, mq-deadline, bfq"),
            ("wbt_lat_usec", "0", "it has scheduler, read_ahead_kb"),
            ("nomerges", "1", "(0) or does not (2)"),
            ("nr_requests", "0", "1 or more"),
            ("read_ahead_kb", "much", "whole number"),
            ("max_sectors_kb", "1", "a page of 4 KiB"),
        ] {
            let error = with(&[(name, value)]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name} = {value}: ")), "{error}");
            assert!(error.contains(said), "{error}");
        }
    }
}
