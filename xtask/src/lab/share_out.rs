//! Which scenarios share a boot.

use super::catalogue::Scenario;
use std::cmp::Reverse;

/// Seconds of work in one boot, at most, unless one scenario takes longer. A
/// boot costs some ten; a guest that is lost costs what is behind it.
const SECONDS: u64 = 120;

/// QEMU's machine has 32 places on its bus, and some are taken.
const DISKS: usize = 20;

/// Cuts the scenarios into parts; the longest come first, so that the short
/// ones fill what is left.
pub(super) fn share_out(mut scenarios: Vec<Scenario>) -> Vec<Vec<Scenario>> {
    scenarios.sort_by_key(|scenario| Reverse(scenario.seconds));
    let mut parts: Vec<Vec<Scenario>> = Vec::new();
    for scenario in scenarios {
        let place = parts.iter_mut().find(|part| fits(part, &scenario));
        match place {
            Some(part) => part.push(scenario),
            None => parts.push(vec![scenario]),
        }
    }
    parts
}

fn fits(part: &[Scenario], scenario: &Scenario) -> bool {
    let all = || part.iter().chain([scenario]);
    let mut disks: Vec<&String> = all().flat_map(|scenario| &scenario.disks).collect();
    disks.sort();
    disks.dedup();
    disks.len() <= DISKS && all().map(|scenario| scenario.seconds).sum::<u64>() <= SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(name: &str, seconds: u64) -> Scenario {
        Scenario {
            name: name.to_owned(),
            about: String::new(),
            short: true,
            every_kernel: false,
            disks: vec![name.to_owned()],
            seconds,
        }
    }

    #[test]
    fn every_scenario_is_in_one_part_and_no_part_is_too_long() {
        let all: Vec<Scenario> = (1..=60).map(|n| scenario(&n.to_string(), n)).collect();
        let parts = share_out(all.clone());
        let mut names: Vec<u64> = parts.iter().flatten().map(|s| s.seconds).collect();
        names.sort_unstable();
        assert_eq!(names, (1..=60).collect::<Vec<u64>>());
        for part in parts {
            assert!(part.len() <= DISKS);
            assert!(part.iter().map(|s| s.seconds).sum::<u64>() <= SECONDS);
        }
    }

    #[test]
    fn what_takes_longer_than_a_part_is_one_by_itself() {
        let parts = share_out(vec![scenario("a", 1), scenario("b", SECONDS + 1)]);
        assert_eq!(parts.len(), 2);
    }
}
