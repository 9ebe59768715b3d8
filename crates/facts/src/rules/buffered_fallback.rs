//! Direct writes that the filesystem did through the page cache.

use super::prelude::*;
use crate::buffered_fallback;

pub(super) const RULE: Rule = Rule {
    name: "buffered-fallback",
    needs: &[NoDocument, Blocks],
    check: Check::Stages(&[StageCheck(through_pages, said)]),
    ..Rule::NOTE
};

fn through_pages(facts: &StageFacts<'_>) -> Option<Seen> {
    let through = buffered_fallback::of(facts)?;
    let share = through.dirtied / through.issued;
    let [issued, dirtied, back] = [through.issued, through.dirtied, through.written_back].map(size);
    let line = format!(
        "{issued} were written, {dirtied} of pages became dirty and {back} were written back."
    );
    Some((share, vec![line]))
}

fn said(_: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    RULE.claim(format!(
        "btrfs did the direct writes of {} through the page cache: data with checksums are copied \
         first, and written back before the write ends.",
        shown.list()
    ))
    .headline("direct writes went through the page cache (checksums)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, of_rule};
    use diskfacts_record::Run;
    use diskfacts_record::evidence::WriteBack;

    const STAGE: &str = "sequential-write";
    const LIMITER: &str = "direct-as-buffered";

    /// Direct writes of which so large a share became dirty, on this filesystem.
    fn run(kind: &str, share: f64) -> Run {
        let mut run = testing::healthy();
        run.stack.filesystem.as_mut().expect("it has one").kind = kind.into();
        each(&mut run, STAGE, |trial| {
            let bytes = (share * trial.evidence.issued.write_bytes as f64) as u64;
            trial.evidence.write_back = Some(WriteBack {
                dirtied_bytes: bytes,
                written_bytes: bytes,
                ..WriteBack::default()
            });
        });
        run
    }

    #[test]
    fn pages_that_became_dirty_tell_of_direct_writes_through_them() {
        let finding = of_rule(&run("btrfs", 1.0), RULE.name).expect("it is said");
        assert_eq!(finding.stages, [STAGE]);
        assert!(finding.evidence[0].contains("became dirty"), "{finding:?}");
        // What others made dirty meanwhile, and a filesystem that does no such thing.
        assert_eq!(of_rule(&run("btrfs", 0.1), RULE.name), None);
        assert_eq!(of_rule(&run("ext4", 1.0), RULE.name), None);
    }

    #[test]
    fn they_limit_what_the_kernel_has_much_work_with() {
        let limited = |system_share: f64| {
            let mut run = run("btrfs", 1.0);
            each(&mut run, STAGE, |trial| {
                trial.cpu.system_ns_per_io = Some(system_share * 1e9 / trial.iops);
            });
            let limits = crate::limits(&run);
            let of = limits.into_iter().find(|of| of.stage == STAGE);
            of.and_then(|of| of.limits.into_iter().next())
        };
        let first = limited(0.7).expect("a limiter");
        assert_eq!(first.limiter, LIMITER, "{first:?}");
        assert!(first.claim.contains("70 % of the time"), "{first:?}");
        let first = limited(0.1).map(|limit| limit.limiter);
        assert_ne!(first.as_deref(), Some(LIMITER));
    }
}
