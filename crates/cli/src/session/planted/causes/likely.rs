//! What is said to be likely and was not tested, behind the first explanation too: how much of it
//! is not so.

use super::super::{contradictions, profiles};
use super::Cause;
use diskfacts_record::{Confidence, Limit, Run, StageLimits};

/// Claims of a run that say 'likely' or more, before any test.
pub(super) struct Likely {
    pub(super) claims: usize,
    /// Those that are not so, with where they are said and what is so.
    pub(super) wrong: Vec<String>,
}

impl Likely {
    pub(super) fn of(run: &Run, planted: &Cause) -> Self {
        let said = |limit: &&Limit| limit.confidence >= Confidence::Likely;
        let all = run
            .limits
            .iter()
            .flat_map(|stage| stage.limits.iter().filter(said).map(move |l| (stage, l)));
        let (mut claims, mut wrong) = (0, Vec::new());
        for (stage, limit) in all {
            claims += 1;
            wrong.extend(refutation(run, stage, limit, planted));
        }
        Self { claims, wrong }
    }
}

/// What is not so in a claim: neither is it the cause that was planted, which is known to hold the
/// stage back, nor was half of what it accounts for there.
fn refutation(run: &Run, stage: &StageLimits, limit: &Limit, planted: &Cause) -> Option<String> {
    if limit.limiter == planted.name {
        return None;
    }
    let time = profiles::truth(run, &stage.stage);
    let there = profiles::part(&limit.limiter, &time)
        .or_else(|| contradictions::there(run, stage, &limit.limiter));
    let share = limit.share.unwrap_or(0.0);
    let what = match there {
        Some(there) if there >= contradictions::OFF * share => return None,
        Some(there) => format!("{there:.2} of the time"),
        None => "not planted".to_owned(),
    };
    let (name, claim, evidence) = (&limit.limiter, &limit.claim, limit.evidence.join(" "));
    Some(format!(
        "{} planted, {}: {name} ({share:.2}; {what}): {claim} {evidence}",
        planted.name, stage.stage
    ))
}
