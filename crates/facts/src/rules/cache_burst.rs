//! A write cache took what was written: the figure is how fast it takes data, and
//! not how fast the medium does ([`cache_burst`]).

use super::prelude::*;
use crate::stage_facts::cache_burst;

pub(super) const RULE: Rule = Rule {
    name: "cache-burst",
    needs: &[NoDocument, Drives, Blocks],
    confidence: Confidence::Likely,
    check: Check::Stages(&[StageCheck(went_in_faster, into_a_cache)]),
    ..Rule::WARNING
};

fn went_in_faster(facts: &StageFacts<'_>) -> Option<Seen> {
    let (read, most) = cache_burst(facts)?;
    let rate = facts.figures.throughput_bytes_per_s.median;
    let written = facts.stage.sum(|t| t.evidence.issued.write_bytes);
    let line = format!(
        "written {}, {} in each trial; {} reads the same place at {}.",
        show_throughput(rate),
        show_size(written / facts.trials().len() as u64),
        read.stage.name,
        show_throughput(most)
    );
    Some((rate / most, vec![line]))
}

fn into_a_cache(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let most = ratio(shown.most());
    let more = longer(context.run, &shown.stages, 10);
    let synced = edit_stages(context.run, "set sync = \"at-end\" in these stages");
    RULE.claim(format!(
        "A write cache took what {} wrote, {most} times as fast as the medium streams: this rate \
         does not last, and what was acknowledged need not be on its medium.",
        shown.list()
    ))
    .headline(format!("write cache: {most}x the rate of the medium"))
    .evidence(["A rotating disk writes in order no faster than it reads.".to_owned()])
    .remedy(format!(
        "Write more than the cache holds: {} Or wait for it: {}",
        lower_first(&more),
        lower_first(&synced)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, of_rule, only};
    use diskfacts_record::Run;

    /// A survey of a disk that turns, which writes in order so many times as fast as
    /// it reads.
    fn written(times: f64) -> Run {
        let mut run = testing::healthy();
        testing::rotating(&mut run);
        each(&mut run, "sequential-write", |trial| {
            trial.throughput_bytes_per_s *= times;
            trial.iops *= times;
        });
        run
    }

    #[test]
    fn what_goes_in_faster_than_the_medium_streams_was_taken_by_a_cache() {
        let finding = only(&written(2.0), RULE.name);
        assert_eq!(finding.severity, Severity::Warning);
        assert_eq!(finding.stages, ["sequential-write"]);
        assert!(
            finding.claim.contains("2 times as fast as the medium"),
            "{finding:#?}"
        );
        assert!(
            finding.evidence[0].contains("sequential-read reads the same place at 2097 MB/s"),
            "{finding:#?}"
        );
        assert!(!finding.remedy.contains(".."), "{finding:#?}");
        testing::silent(&written(1.2));
    }

    #[test]
    fn what_explains_it_keeps_the_rule_silent() {
        for explain in [
            // Flash.
            (|run| run.stack.devices[1].rotational = Some(false)) as fn(&mut Run),
            |run| run.stack.devices[1].rotational = None,
            |run| run.stack.devices.clear(),
            // The medium was waited for.
            |run| {
                each(run, "sequential-write", |t| {
                    t.workload.sync = SyncMode::AtEnd;
                });
            },
            // Read elsewhere, in smaller blocks, or not at all.
            |run| each(run, "sequential-read", |t| t.workload.offset = 1 << 40),
            |run| each(run, "sequential-read", |t| t.workload.block_size = 4096),
            |run| run.trials.retain(|t| t.stage != "sequential-read"),
            |run| each(run, "sequential-read", |t| t.errors = 1),
        ] {
            let mut run = written(2.0);
            explain(&mut run);
            assert_eq!(of_rule(&run, RULE.name), None);
        }
    }
}
