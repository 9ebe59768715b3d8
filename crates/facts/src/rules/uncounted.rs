//! The kernel was told not to count the I/O of a device, so nobody can say who served the bytes,
//! nor whether others used it.

use super::prelude::*;
use crate::layers::counted::uncounted;

pub(super) const RULE: Rule = Rule {
    name: "uncounted",
    needs: &[NoDocument, Blocks, NotWarm],
    confidence: Confidence::Certain,
    check: Check::Stages(&[StageCheck(stood_still, said)]),
    ..Rule::NOTE
};

fn stood_still(facts: &StageFacts<'_>) -> Option<Seen> {
    unless(uncounted(facts.run()).is_empty())?;
    Some((1.0, Vec::new()))
}

fn said(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let devices = uncounted(context.run);
    let names = list(devices.iter().map(|device| device.name.clone()));
    let each = devices.iter().map(|device| {
        let file = format!("/sys/block/{}/queue/iostats", device.name);
        format!("`echo 1 > {file}`")
    });
    RULE.claim(format!(
        "The kernel does not count the I/O of {names}: who served the bytes of {}, and whether others \
         used it, cannot be told.",
        shown.list()
    ))
    .headline(format!("I/O of {names} is not counted (iostats is 0)"))
    .evidence([format!(
        "queue/iostats is 0, and the counters of {names} stood still while this was measured."
    )])
    .remedy(format!("Type {} as root, and measure again.", list(each)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, of_rule};
    use diskfacts_record::Run;

    /// A disk that was told this, and counted nothing, or as ever.
    fn run(counts_io: Option<bool>, still: bool) -> Run {
        let mut run = testing::healthy();
        for device in &mut run.stack.devices {
            device.counts_io = counts_io;
        }
        for trial in &mut run.trials {
            for device in trial.evidence.devices.iter_mut().filter(|_| still) {
                let name = std::mem::take(&mut device.name);
                *device = diskfacts_record::DeviceCounters {
                    name,
                    leaf: device.leaf,
                    ..Default::default()
                };
            }
        }
        run
    }

    #[test]
    fn a_device_that_was_told_not_to_count_and_does_not_is_named() {
        let finding = of_rule(&run(Some(false), true), RULE.name).expect("it is said");
        assert!(finding.headline.contains("vda"), "{finding:?}");
        assert!(
            finding
                .remedy
                .contains("echo 1 > /sys/block/vda/queue/iostats"),
            "{finding:?}"
        );
        // One that counts all the same, and one of which nothing is known.
        assert_eq!(of_rule(&run(Some(false), false), RULE.name), None);
        assert_eq!(of_rule(&run(None, true), RULE.name), None);
    }
}
