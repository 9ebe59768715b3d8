//! A stage that reads from memory had to read from the device: its figure is
//! not one of the page cache.

use super::prelude::*;
use crate::layers::{behind_memory, remote};
use crate::memory_limit::{group_limit, not_warmed, why_not_kept};
use std::iter::once;

pub(super) const RULE: Rule = Rule {
    name: "warm-not-cached",
    needs: &[NoDocument, Blocks, OnlyReads, Warm],
    check: Check::Stages(&[StageCheck(from_device, not_kept)]),
    ..Rule::WARNING
};

fn from_device(facts: &StageFacts<'_>) -> Option<Seen> {
    let share = facts.figures.layers.beyond_memory();
    let share = share.filter(|share| *share > SERVED_FROM_CACHE)?;
    let read = show_size(facts.stage.sum(|t| t.bytes));
    let fetched = percent(share);
    let behind = behind_memory(facts.stack());
    let line = format!("of {read} read, {fetched} were fetched from the {behind}.");
    Some((share, once(line).chain(why_not_kept(facts)).collect()))
}

fn not_kept(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let run = context.run;
    let trials: Vec<&Trial> = run.trials.iter().collect();
    let most = percent(shown.most());
    let behind = behind_memory(&run.stack);
    let short = if remote(&run.stack).is_some() {
        "Another host may have written the file: then what this one kept is read again \
         (close-to-open). Or memory was short: "
    } else {
        "Memory was short, or was taken back by the hypervisor or a cgroup limit: "
    };
    let span = shown.facts().map(StageFacts::span).max().unwrap_or(0);
    let quarter = exact_size((span / 4).max(1 << 20));
    RULE.claim(format!(
        "Up to {most} of the bytes of {} came from the {behind}: the page cache did not keep what \
         had been read into it.",
        shown.list()
    ))
    .headline(format!(
        "up to {most} came from the {behind}, not from memory"
    ))
    .evidence(group_limit(&trials).map(|limit| limit.said()))
    .remedy(if shown.facts().all(|facts| not_warmed(facts).is_none()) {
        format!(
            "{short}`free -h` shows what is available. {}",
            edit_plan(run, &format!("set span = \"{quarter}\" in this stage"))
        )
    } else {
        "Reading into the page cache failed, so this says nothing of memory. Type `dmesg --ctime \
         --level=err,warn | tail -n 30` for what the kernel says about it."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_limit::WARMING;
    use crate::testing::{self, each, only};
    use diskfacts_record::evidence::{ControlGroup, GroupMemory, NfsMount, Unseen};

    fn fetched(run: &mut diskfacts_record::Run, percent: u64) {
        each(run, "cached-random-read", |trial| {
            let bytes = trial.bytes * percent / 100;
            trial.evidence.process_io.as_mut().unwrap().read_bytes = bytes;
            for device in &mut trial.evidence.devices {
                device.read_bytes = bytes;
            }
            trial
                .evidence
                .residency_after
                .as_mut()
                .unwrap()
                .cached_bytes = 200 << 20;
        });
    }

    #[test]
    fn a_cache_that_was_taken_away_is_found() {
        let mut run = testing::healthy();
        fetched(&mut run, 30);
        let finding = only(&run, RULE.name);
        assert!(finding.claim.contains("30 %"), "{finding:?}");
        assert!(
            finding.evidence[1].contains("78 % of its span"),
            "{finding:?}"
        );
        assert!(finding.remedy.contains("span = \"64MiB\""), "{finding:?}");
    }

    #[test]
    fn what_took_it_away_is_evidence() {
        let mut run = testing::healthy();
        fetched(&mut run, 30);
        each(&mut run, "cached-random-read", |trial| {
            let after = trial.evidence.residency_after.as_mut().unwrap();
            after.evicted_bytes = Some(50 << 20);
            trial.evidence.control_group = Some(ControlGroup {
                memory: Some(GroupMemory {
                    limit_bytes: Some(1 << 30),
                    high_bytes: Some(256 << 20),
                    limited_by: "/sys/fs/cgroup/a.slice".into(),
                    ..GroupMemory::default()
                }),
                ..ControlGroup::default()
            });
        });
        let evidence = only(&run, RULE.name).evidence;
        assert!(evidence[2].contains("up to 50 MiB"), "{evidence:?}");
        assert!(
            evidence[3].contains("to 256 MiB: /sys/fs/cgroup/a.slice"),
            "{evidence:?}"
        );
    }

    #[test]
    fn warming_that_failed_is_not_blamed_on_memory() {
        let mut run = testing::healthy();
        fetched(&mut run, 30);
        each(&mut run, "cached-random-read", |trial| {
            trial.evidence.unseen.push(Unseen {
                what: WARMING.into(),
                why: "reading the span beforehand failed: Input/output error (os error 5)".into(),
            });
        });
        let finding = only(&run, RULE.name);
        assert!(
            finding.evidence[1].contains("Input/output error"),
            "{finding:?}"
        );
        assert!(!finding.remedy.contains("Memory was short"), "{finding:?}");
        assert!(finding.remedy.contains("dmesg"), "{finding:?}");
    }

    #[test]
    fn on_nfs_it_came_from_the_server_and_another_host_may_have_written() {
        let mut run = testing::healthy();
        run.stack.devices.clear();
        run.stack.filesystem.as_mut().unwrap().kind = "nfs4".into();
        each(&mut run, "cached-random-read", |trial| {
            trial.evidence.nfs = Some(NfsMount {
                server_read_bytes: trial.bytes * 3 / 10,
                ..NfsMount::default()
            });
        });
        let finding = testing::of_rule(&run, RULE.name).expect("it speaks");
        assert!(
            finding.claim.contains("came from the server"),
            "{finding:?}"
        );
        assert!(finding.remedy.contains("close-to-open"), "{finding:?}");
    }

    #[test]
    fn a_page_or_two_are_left_alone() {
        let mut run = testing::healthy();
        fetched(&mut run, 1);
        testing::silent(&run);
    }
}
