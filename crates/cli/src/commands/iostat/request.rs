//! What the words behind `diskfacts iostat` ask for.

use crate::args::IostatArgs;
use crate::exit::{Failure, OrFail};
use diskfacts_host::Roots;
use diskfacts_host::activity::{Wanted, device_names, named_device};
use diskfacts_plan::file;
use std::path::Path;
use std::time::Duration;

/// What is read, and how often.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) wanted: Wanted,
    /// None for one report only.
    pub(super) interval: Option<Duration>,
    /// How many reports are printed; none for all until a signal comes.
    pub(super) reports: Option<u64>,
}

impl Request {
    pub(super) fn of(args: &IostatArgs, roots: &Roots) -> Result<Self, Failure> {
        let words = Words::of(&args.words)?;
        let interval = args.interval.map(Duration::from_nanos);
        let interval = once("an interval", "--interval", words.interval, interval)?;
        let reports = once("a count", "--count", words.count, args.count)?;
        if interval.is_none() && reports.is_some_and(|reports| reports > 1) {
            return Err(Failure::wrong_call(
                "more than one report needs an interval: type --interval 1s",
            ));
        }
        Ok(Self {
            wanted: wanted(&words.devices, args.partitions, roots)?,
            reports: interval.map_or(Some(1), |_| reports),
            interval,
        })
    }
}

/// What stands among the words, or as an option, but not both.
fn once<T>(
    what: &str,
    option: &str,
    word: Option<T>,
    given: Option<T>,
) -> Result<Option<T>, Failure> {
    if word.is_some() && given.is_some() {
        return Err(Failure::wrong_call(format!(
            "there is {what} behind {option} and another one among the devices; drop one. A \
             word of digits is an interval in seconds, and the next one a count"
        )));
    }
    Ok(word.or(given))
}

/// The words, told apart as sysstat does: those of digits are the interval and the
/// count, wherever they stand.
#[derive(Debug, Default, PartialEq)]
struct Words<'a> {
    devices: Vec<&'a str>,
    interval: Option<Duration>,
    count: Option<u64>,
}

impl<'a> Words<'a> {
    fn of(words: &'a [String]) -> Result<Self, Failure> {
        let mut sorted = Self::default();
        for word in words {
            if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit()) {
                sorted.devices.push(word);
                continue;
            }
            let number = word.parse::<u32>().map_err(|_| {
                Failure::wrong_call(format!("'{word}' is too large for seconds or a count"))
            })?;
            if sorted.interval.is_none() {
                if number == 0 {
                    return Err(Failure::wrong_call(
                        "an interval of 0 leaves no time between two reports; 1 is usual, and \
                         without one there is one report of the time since the system started",
                    ));
                }
                sorted.interval = Some(Duration::from_secs(number.into()));
            } else if sorted.count.is_none() {
                if number == 0 {
                    return Err(Failure::wrong_call(
                        "a count of 0 asks for no report; leave it out to go on until Ctrl-C",
                    ));
                }
                sorted.count = Some(number.into());
            } else {
                return Err(Failure::wrong_call(format!(
                    "'{word}' is a third number; the first is the interval in seconds, the second \
                     the count of reports, as in `diskfacts iostat sda 1 5`"
                )));
            }
        }
        Ok(sorted)
    }
}

fn wanted(devices: &[&str], partitions: bool, roots: &Roots) -> Result<Wanted, Failure> {
    match (devices.is_empty(), partitions) {
        (true, false) => Ok(Wanted::Disks),
        (true, true) => Ok(Wanted::Everything),
        (false, true) => Err(Failure::wrong_call(
            "--partitions shows all partitions of all devices; name the partitions instead, as in \
             `diskfacts iostat sda sda1`",
        )),
        (false, false) => {
            let names = devices.iter().map(|device| name(device, roots));
            Ok(Wanted::Named(names.collect::<Result<_, _>>()?))
        }
    }
}

/// The kernel's name of a device.
fn name(given: &str, roots: &Roots) -> Result<String, Failure> {
    if let Some(name) = named_device(roots, Path::new(given)).or_wrong_call()? {
        return Ok(name);
    }
    let known = device_names(roots).or_failed()?;
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let word = given.rsplit('/').next().unwrap_or(given);
    let nearest = file::nearest(word, &known)
        .map_or_else(String::new, |near| format!("; did you mean {near}?"));
    let nearest = if nearest.is_empty() { ";" } else { &nearest };
    Err(Failure::wrong_call(format!(
        "there is no device '{given}'{nearest} `diskfacts devices` lists those of this machine"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn numbers_among_the_devices_are_interval_and_count_as_in_sysstat() {
        for text in ["sda 2 5 sdb", "2 sda sdb 5", "2 5 sda sdb"] {
            let words = words(text);
            let sorted = Words::of(&words).unwrap();
            assert_eq!(
                sorted,
                Words {
                    devices: vec!["sda", "sdb"],
                    interval: Some(Duration::from_secs(2)),
                    count: Some(5),
                }
            );
        }
        assert_eq!(Words::of(&[]).unwrap(), Words::default());
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused_with_what_would() {
        for (text, said) in [
            ("0", "without one there is one report"),
            ("1 0", "leave it out"),
            ("1 2 3", "third number"),
            ("99999999999", "too large"),
        ] {
            let words = words(text);
            let failure = Words::of(&words).expect_err(text);
            assert!(failure.sentence().contains(said), "{}", failure.sentence());
        }
    }
}
