//! Which bytes of which file each host of a group writes, and which it uses: the layouts that
//! users of IOR know as file per process, shared file, and reordered tasks (`-F`, none, `-C`).

use crate::args::StartArgs;
use crate::exit::Failure;
use crate::target::PIECE_BYTES;
use diskfacts_plan::{Plan, sha256};
use diskfacts_record::together::{Layout, Rank};
use std::ops::Range;

/// Where this host stands in a layout in which hosts see each other's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Placement {
    pub(in super::super) layout: Layout,
    /// Its rank, plus this, is that whose bytes it uses; 0 where it uses its own.
    pub(in super::super) shift: u32,
    pub(in super::super) rank: Rank,
}

/// A part of a file that the group has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Part {
    /// The rank that makes the file, and removes it.
    pub(in super::super) maker: u32,
    /// Bytes of it.
    pub(in super::super) bytes: Range<u64>,
}

impl Placement {
    /// What the command asks for; `None` where each host has a file that no other sees.
    ///
    /// # Errors
    /// Where hosts would not read what another has written, or the plan writes it anew.
    pub(in super::super) fn of(
        args: &StartArgs,
        rank: Option<Rank>,
        plan: &Plan,
    ) -> Result<Option<Self>, Failure> {
        let layout: Layout = args.layout.map(Layout::from).unwrap_or_default();
        let shift = args.shift.unwrap_or(0);
        let Some(rank) = rank.filter(|_| layout != Layout::Own || shift > 0) else {
            return Ok(None);
        };
        if layout == Layout::Same && shift > 0 {
            return Err(Failure::wrong_call(
                "--layout same has nothing to shift: each host uses the whole file, of which the \
                 others wrote the most; drop --shift, or take --layout slice",
            ));
        }
        if shift > 0 {
            if shift.is_multiple_of(rank.of) {
                return Err(Failure::wrong_call(format!(
                    "--shift={shift} of {} hosts is each host itself: take 1 to {}",
                    rank.of,
                    rank.of.saturating_sub(1)
                )));
            }
            let mut stages = plan.stages.iter().map(|stage| (stage, &stage.workload));
            let writes =
                stages.find(|(_, work)| work.writes_anything() || work.operation.on_files());
            if let Some((stage, _)) = writes {
                return Err(Failure::wrong_call(format!(
                    "--shift is for reading what another host wrote, and the stage {} writes: \
                     from then on a host would read what it wrote itself; name stages that read, \
                     as in --stage random-read",
                    stage.name
                )));
            }
            if !plan.precondition.is_empty() {
                return Err(Failure::wrong_call(
                    "--shift is for reading what another host wrote, and the plan preconditions: \
                     a host would read what it wrote itself; take a plan without it",
                ));
            }
        }
        Ok(Some(Self {
            layout,
            shift,
            rank,
        }))
    }

    /// How many times the size that one host uses lies on the storage.
    pub(in super::super) fn times(&self) -> u32 {
        match self.layout {
            Layout::Own | Layout::Slice => self.rank.of,
            Layout::Same => 1,
        }
    }

    /// Bytes of each file of the group, where each host uses so many.
    pub(in super::super) fn file_bytes(&self, each: u64) -> u64 {
        match self.layout {
            Layout::Own | Layout::Same => each,
            Layout::Slice => each.saturating_mul(u64::from(self.rank.of)),
        }
    }

    /// Whether this host makes a file of the group.
    pub(in super::super) fn makes(&self) -> bool {
        self.layout == Layout::Own || self.rank.rank == 0
    }

    /// What this host fills before the first trial.
    pub(in super::super) fn written(&self, each: u64) -> Part {
        match self.layout {
            Layout::Own | Layout::Slice => self.part_of(self.rank.rank, each),
            Layout::Same => {
                let pieces = u128::from(each / PIECE_BYTES);
                let edge = |rank: u32| {
                    let before = pieces * u128::from(rank) / u128::from(self.rank.of.max(1));
                    u64::try_from(before).unwrap_or(u64::MAX) * PIECE_BYTES
                };
                let (from, to) = (edge(self.rank.rank), edge(self.rank.rank + 1));
                let is_last = self.rank.rank + 1 == self.rank.of;
                Part {
                    maker: 0,
                    bytes: from..if is_last { each } else { to },
                }
            }
        }
    }

    /// What it uses in its trials.
    pub(in super::super) fn used(&self, each: u64) -> Part {
        self.part_of(self.whose(), each)
    }

    /// The rank that wrote what this one uses; its own where all use the same.
    pub(in super::super) fn whose(&self) -> u32 {
        let whose = u64::from(self.rank.rank) + u64::from(self.shift);
        u32::try_from(whose % u64::from(self.rank.of.max(1))).unwrap_or(0)
    }

    fn part_of(&self, rank: u32, each: u64) -> Part {
        match self.layout {
            Layout::Own => Part {
                maker: rank,
                bytes: 0..each,
            },
            Layout::Slice => {
                let from = each.saturating_mul(u64::from(rank));
                Part {
                    maker: 0,
                    bytes: from..from.saturating_add(each),
                }
            }
            Layout::Same => Part {
                maker: 0,
                bytes: 0..each,
            },
        }
    }
}

/// What the name of the file of this maker is drawn from, the same on all hosts of one group and
/// on those of no other.
pub(in super::super) fn name_of_file(group: &str, start: &str, origin_ns: i64, maker: u32) -> u64 {
    sha256::number(format!("{group}\n{start}\n{origin_ns}\n{maker}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placement(layout: Layout, shift: u32, rank: u32, of: u32) -> Placement {
        Placement {
            layout,
            shift,
            rank: Rank { rank, of },
        }
    }

    const LAYOUTS: [Layout; 3] = [Layout::Own, Layout::Slice, Layout::Same];

    /// Each byte of each file is written by one host.
    #[test]
    fn hosts_write_each_byte_once() {
        for layout in LAYOUTS {
            for (of, pieces) in (1..40).flat_map(|of| [4_u64, 5, 41, 200].map(|it| (of, it))) {
                let each = pieces * PIECE_BYTES;
                let hosts = (0..of).map(|rank| placement(layout, 0, rank, of));
                let makers = hosts.clone().filter(Placement::makes);
                for maker in makers {
                    let mut written: Vec<Part> = hosts
                        .clone()
                        .map(|host| host.written(each))
                        .filter(|part| part.maker == maker.rank.rank)
                        .collect();
                    written.sort_by_key(|part| part.bytes.start);
                    let mut at = 0;
                    for part in written {
                        assert_eq!(part.bytes.start, at, "{layout:?} {of} {pieces}");
                        at = part.bytes.end;
                    }
                    assert_eq!(at, maker.file_bytes(each), "{layout:?} {of} {pieces}");
                }
            }
        }
    }

    #[test]
    fn what_is_used_was_written_and_is_nobody_elses() {
        let each = 5 * PIECE_BYTES;
        for layout in LAYOUTS {
            for (of, shift) in (1..12).flat_map(|of| (0..14).map(move |shift| (of, shift))) {
                let shift = if layout == Layout::Same { 0 } else { shift };
                let hosts = (0..of).map(|rank| placement(layout, shift, rank, of));
                let mut used: Vec<(u32, u64)> = Vec::new();
                for host in hosts {
                    let part = host.used(each);
                    assert!(placement(layout, 0, part.maker, of).makes());
                    assert_eq!(part.bytes.end - part.bytes.start, each);
                    assert!(part.bytes.end <= host.file_bytes(each));
                    assert_eq!(part.bytes.start % PIECE_BYTES, 0);
                    used.push((part.maker, part.bytes.start));
                }
                used.sort_unstable();
                used.dedup();
                let wanted = if layout == Layout::Same { 1 } else { of };
                assert_eq!(used.len(), wanted as usize, "{layout:?} {of} {shift}");
            }
        }
    }

    #[test]
    fn a_shifted_host_uses_what_another_wrote() {
        for layout in [Layout::Own, Layout::Slice] {
            for rank in 0..3 {
                let host = placement(layout, 1, rank, 3);
                let other = placement(layout, 0, host.whose(), 3);
                assert_ne!(host.written(1 << 22), host.used(1 << 22));
                assert_eq!(host.used(1 << 22), other.written(1 << 22));
            }
        }
    }

    #[test]
    fn names_differ_by_group_moment_and_maker() {
        let name = name_of_file("g", "2026-11-27T13:00:00Z", 5, 0);
        assert_ne!(name, name_of_file("h", "2026-11-27T13:00:00Z", 5, 0));
        assert_ne!(name, name_of_file("g", "2026-11-27T13:00:01Z", 5, 0));
        assert_ne!(name, name_of_file("g", "2026-11-27T13:00:00Z", 6, 0));
        assert_ne!(name, name_of_file("g", "2026-11-27T13:00:00Z", 5, 1));
    }
}
