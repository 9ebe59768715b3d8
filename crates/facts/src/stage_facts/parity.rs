//! Writes to an array with parity that cover no stripe: what they make its disks do.

use super::StageFacts;
use crate::prelude::*;

/// A stripe of data of the smallest usual array, bytes: below it, no write covers a
/// stripe (three disks with chunks of 64 KiB; md's own default is 512 KiB).
const STRIPE_MIN: u64 = 128 << 10;
/// What md handles a stripe in (`RAID5_STRIPE_SIZE`).
const PAGE_BYTES: u64 = 4096;
/// Requests to the disks for each write from which on the penalty is seen: one is none.
const SEEN: f64 = 1.5;

/// What the small writes of a stage make the disks of an array with parity do.
#[derive(Debug)]
pub(crate) struct ParityWrites {
    /// Requests to the disks for each operation.
    pub(crate) each: f64,
    /// Whether these were counted; else they follow from the level.
    pub(crate) is_counted: bool,
    /// Bytes of a stripe of data.
    pub(crate) stripe: u64,
    /// What the level makes of a write, and what was counted.
    pub(crate) evidence: Vec<String>,
}

impl ParityWrites {
    /// Of a stage that writes less than a stripe at a time; `None` where nothing has to be read
    /// before that, or that is not known.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let workload = facts.workload();
        let devices = facts.run().stack.devices.iter();
        let (array, level) = devices
            .filter_map(|device| Some((device, device.layout.as_deref()?)))
            .find(|(_, layout)| ["raid4", "raid5", "raid6"].contains(layout))?;
        let stripe = array.optimal_request_bytes.unwrap_or(STRIPE_MIN);
        // Writes in order may be gathered into whole stripes, unless each is synced.
        let gathered = facts.in_order() && !facts.syncs_each();
        unless(gathered || !(1..stripe).contains(&workload.block_size))?;
        let cost = Cost::of(array, level, workload.block_size)?;
        let requests = cost.reads + cost.writes;
        let writes = match workload.operation {
            Operation::Mixed { read_percent } => 1.0 - f64::from(read_percent) / 100.0,
            _ => 1.0,
        };
        let members = array.array.as_ref().map(|made| made.members);
        let members = members.map_or_else(String::new, |members| format!(" of {members} disks"));
        let by_level = format!(
            "{} is {level}{members}: a write of {} that covers no stripe is {requests} requests to \
             the disks, {} {} ({}) and {} writes, and its reads have to come before its writes.",
            array.name,
            exact_size(workload.block_size),
            cost.reads,
            if cost.reads == 1 { "read" } else { "reads" },
            cost.way,
            cost.writes
        );
        let counted = counted(facts, &array.name);
        let seen = counted.as_ref().map(|(each, _)| *each);
        unless(seen.is_some_and(|each| each <= SEEN))?;
        let lines = [by_level].into_iter().chain(counted.map(|(_, line)| line));
        Some(Self {
            each: seen.unwrap_or(writes * requests as f64 + (1.0 - writes)),
            is_counted: seen.is_some(),
            stripe,
            evidence: lines.collect(),
        })
    }
}

/// The requests to the disks of a write within a stripe.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cost {
    reads: u64,
    writes: u64,
    /// What is read.
    way: &'static str,
}

impl Cost {
    /// As md does it (kernel, `handle_stripe_dirtying` in `drivers/md/raid5.c`): what is
    /// overwritten and the old parity is read (read-modify-write), or the data that stays
    /// (reconstruct-write), whichever are fewer reads. Of as many the second is taken, and
    /// always where `md/rmw_level` is 0; where it is 2 the first.
    ///
    /// RAID 6 of four disks: two hold data, so one is read and three are written, 4
    /// requests. Of eight disks: three reads and three writes, 6 (Patterson, Gibson and
    /// Katz, "A Case for Redundant Arrays of Inexpensive Disks", SIGMOD 1988, have 4 for one
    /// parity). Where the members are not known it is taken for a large array.
    ///
    /// `None` when the array is not sound or has a journal: then it does something else.
    fn of(array: &BlockDevice, level: &str, block_size: u64) -> Option<Self> {
        const MODIFY: &str = "what it replaces and the old parity";
        const RECONSTRUCT: &str = "the data of the stripe that stays";
        let parities: u64 = if level == "raid6" { 2 } else { 1 };
        unless(!array.impaired.is_empty())?;
        let large = Self {
            reads: 1 + parities,
            writes: 1 + parities,
            way: MODIFY,
        };
        let Some(made) = &array.array else {
            return Some(large);
        };
        unless(matches!(
            made.consistency.as_deref(),
            Some("journal" | "ppl")
        ))?;
        let data = made.members.checked_sub(parities);
        let data = data.filter(|data| *data > 0)?;
        let chunk = made.chunk_bytes.unwrap_or(block_size).max(1);
        let chunks = block_size.div_ceil(chunk).clamp(1, data);
        let modify = chunks + parities;
        // Less than a page leaves a part of the page that is written to be read, too.
        let partial = u64::from(block_size < PAGE_BYTES);
        let reconstruct = data - chunks + partial;
        let (reads, way) = match made.rmw_level.unwrap_or(1) {
            0 => (reconstruct, RECONSTRUCT),
            2 if modify == reconstruct => (modify, MODIFY),
            _ if modify < reconstruct => (modify, MODIFY),
            _ => (reconstruct, RECONSTRUCT),
        };
        Some(Self {
            reads,
            writes: chunks + parities,
            way,
        })
    }
}

/// Requests that the members did for each write to the array, where they are seen.
fn counted(facts: &StageFacts<'_>, array: &str) -> Option<(f64, String)> {
    let (mut above, mut below) = (0_u64, 0_u64);
    for trial in facts.trials() {
        above += trial.evidence.device(array)?.writes;
        let leaves = trial.evidence.devices.iter().filter(|d| d.leaf);
        let members = leaves.filter(|d| d.name != array);
        below += members.map(|d| d.reads + d.writes).sum::<u64>();
    }
    unless(above == 0 || below == 0 || !facts.only_writes())?;
    let each = below as f64 / above as f64;
    let line = format!(
        "The disks below did {below} requests for {above} writes to {array}: {} each.",
        ratio(each)
    );
    Some((each, line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::{Array, Impairment, ImpairmentKind};

    fn array(level: &str, members: u64) -> BlockDevice {
        let mut device = BlockDevice::unknown("md0", 9, 0, DeviceKind::SoftwareRaid);
        device.array = Some(Array {
            level: level.to_owned(),
            members,
            chunk_bytes: Some(64 << 10),
            ..Array::default()
        });
        device
    }

    fn requests(array: &BlockDevice, block_size: u64) -> Option<(u64, u64)> {
        let level = array.array.as_ref().map_or("raid6", |made| &made.level);
        Cost::of(array, level, block_size).map(|cost| (cost.reads, cost.writes))
    }

    #[test]
    fn md_reads_what_is_fewer_the_replaced_or_the_rest_of_the_stripe() {
        for (level, members, block_size, expected) in [
            ("raid5", 3, 4096, (1, 2)),
            // As many either way: the rest of the stripe is read.
            ("raid5", 4, 4096, (2, 2)),
            ("raid5", 8, 4096, (2, 2)),
            ("raid6", 4, 4096, (1, 3)),
            ("raid6", 5, 4096, (2, 3)),
            ("raid6", 6, 4096, (3, 3)),
            ("raid6", 8, 4096, (3, 3)),
            // Two chunks of two: the whole stripe, nothing is read.
            ("raid6", 4, 128 << 10, (0, 4)),
            // A part of a page: the page itself is read, too.
            ("raid6", 4, 512, (2, 3)),
        ] {
            let found = requests(&array(level, members), block_size);
            assert_eq!(found, Some(expected), "{level} of {members}, {block_size}");
        }
    }

    #[test]
    fn members_that_did_one_request_a_write_show_no_penalty() {
        let seen = |below: u64| {
            let mut run = crate::testing::healthy();
            let mut md = array("raid5", 4);
            md.layout = Some("raid5".to_owned());
            run.stack.devices.push(md);
            crate::testing::each(&mut run, "random-write-qd1", |trial| {
                let mut above = trial.evidence.devices[0].clone();
                for device in &mut trial.evidence.devices {
                    (device.reads, device.writes) = (0, if device.leaf { below } else { 0 });
                }
                (above.name, above.leaf, above.writes) = ("md0".to_owned(), false, 1000);
                trial.evidence.devices.push(above);
            });
            let context = crate::context::Context::new(&run);
            let facts = context
                .facts()
                .find(|facts| facts.stage.name == "random-write-qd1");
            ParityWrites::of(&facts.expect("the stage")).map(|found| found.each)
        };
        assert_eq!(seen(4000), Some(4.0));
        assert_eq!(seen(1000), None);
    }

    #[test]
    fn the_level_of_read_modify_write_is_heeded() {
        let mut array = array("raid5", 4);
        let mut with = |level| {
            array.array.as_mut().expect("an array").rmw_level = Some(level);
            Cost::of(&array, "raid5", 4096).map(|cost| (cost.reads, cost.way))
        };
        assert_eq!(with(1), Some((2, "the data of the stripe that stays")));
        assert_eq!(with(2), Some((2, "what it replaces and the old parity")));
        let mut large = self::array("raid6", 12);
        large.array.as_mut().expect("an array").rmw_level = Some(0);
        assert_eq!(requests(&large, 4096), Some((9, 3)));
    }

    #[test]
    fn an_array_that_is_not_sound_or_has_a_journal_is_not_reckoned() {
        let mut degraded = array("raid6", 4);
        degraded.impaired.push(Impairment {
            kind: ImpairmentKind::Degraded,
            what: String::new(),
            source: String::new(),
        });
        assert_eq!(requests(&degraded, 4096), None);
        let mut journal = array("raid6", 4);
        journal.array.as_mut().expect("an array").consistency = Some("journal".into());
        assert_eq!(requests(&journal, 4096), None);
        // What an older record does not say is taken for a large array.
        let mut unsaid = array("raid6", 4);
        unsaid.array = None;
        assert_eq!(requests(&unsaid, 4096), Some((3, 3)));
    }
}
