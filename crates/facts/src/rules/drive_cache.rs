//! How much the cache of a drive keeps ([`Kept`]).

use super::prelude::*;
use crate::write_matrix::{Kept, mb};

pub(super) const RULE: Rule = Rule {
    name: "drive-cache",
    needs: &[Drives],
    confidence: Possible,
    check: Check::One(check),
    ..Rule::NOTE
};

fn check(context: &Context<'_>) -> Option<Found> {
    // Elsewhere a sync may take its time for other things than bytes.
    context.revolution()?;
    let kept = Kept::of(context.run, context.matrix.as_ref()?)?;
    let about = mb(kept.bytes);
    let upper = kept.most.map(mb);
    let upper = upper.map_or_else(String::new, |most| format!(" to {most}"));
    Some(
        RULE.claim(format!(
            "The drive's cache keeps about {about}{upper} MB: so much of direct writes is not on \
             the medium when the last of them comes back."
        ))
        .headline(format!("the drive's cache keeps about {about}{upper} MB"))
        .stages(names(kept.stages))
        .evidence(kept.evidence),
    )
}
