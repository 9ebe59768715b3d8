//! Rules: each looks at a run for one thing that makes a figure mean something
//! else than it seems to, and says so with its evidence.
//!
//! A rule is a row of the table in [`all`] and one file. It speaks only when
//! what it needs was observed (`Need`), names what would refute it, and says what
//! to type. Stages that show the same (`Shown`) are one finding that names them all. A
//! healthy run gets no finding of severity warning or above.

mod beside_ended;
mod buffered_fallback;
mod bytes_disagree;
mod cache_burst;
mod clock;
mod cpu_bound;
mod cpu_pressure;
mod cpu_stolen;
mod cpu_varies;
mod degraded;
mod depth_not_reached;
mod direct_refused;
mod direct_small_blocks;
mod disturbed;
mod drive_cache;
mod early_acknowledgement;
mod engine_fell_back;
mod flush_not_to_medium;
pub(crate) mod found;
mod holes;
mod interrupted;
mod io_errors;
mod no_figure;
mod not_durable;
mod other_io;
pub(crate) mod prelude;
mod rate_missed;
mod rate_patterns;
mod read_ahead_trials;
pub(crate) mod requests;
pub(crate) mod rewrite_rate;
mod rule;
mod same_modes;
pub(crate) mod served_by;
mod served_from_cache;
mod shown;
mod stalled;
mod stride_curve;
mod sync_block_size;
mod sync_without_flush;
mod too_few_trials;
mod too_noisy;
mod too_short;
mod uncounted;
mod unfair_streams;
mod warm_not_cached;
mod warm_up;
mod whole_revolutions;
mod write_choice;
mod zones;

use crate::stage_facts::{Need, StageFacts};
use rule::Check;
pub use rule::Rule;
pub(crate) use rule::{Part, Shared};

/// All rules; among findings of the same severity and confidence, those of
/// earlier rules come first.
pub fn all() -> &'static [Rule] {
    RULES
}

/// Whether what a rule finds is seen of this stage under these settings; of a rule that looks at the
/// run as a whole nothing tells stages apart.
pub(crate) fn sees(rule: &str, facts: &StageFacts<'_>) -> bool {
    let rule = all().iter().find(|one| one.name == rule);
    rule.is_some_and(|rule| match rule.check {
        Check::Stages(all) => {
            Need::are_met(rule.needs, facts) && all.iter().any(|one| one.0(facts).is_some())
        }
        _ => rule.name != other_io::RULE.name || other_io::sees(facts),
    })
}

const RULES: &[Rule] = &[
    degraded::RULE,
    io_errors::RULE,
    interrupted::RULE,
    beside_ended::RULE,
    served_from_cache::RULE,
    holes::RULE,
    direct_refused::RULE,
    buffered_fallback::RULE,
    uncounted::RULE,
    bytes_disagree::RULE,
    sync_without_flush::RULE,
    flush_not_to_medium::RULE,
    cache_burst::RULE,
    other_io::RULE,
    warm_not_cached::RULE,
    cpu_bound::RULE,
    depth_not_reached::RULE,
    engine_fell_back::RULE,
    rate_missed::RULE,
    disturbed::RULE,
    served_by::RULE,
    read_ahead_trials::PATTERN,
    read_ahead_trials::LIMIT,
    read_ahead_trials::UNUSED,
    unfair_streams::RULE,
    stalled::RULE,
    cpu_varies::RULE,
    warm_up::RULE,
    rate_patterns::CHANGE,
    rate_patterns::DRIFT,
    rate_patterns::MODES,
    too_noisy::RULE,
    too_short::RULE,
    no_figure::RULE,
    too_few_trials::RULE,
    clock::RULE,
    cpu_pressure::RULE,
    cpu_stolen::RULE,
    not_durable::RULE,
    requests::RULE,
    write_choice::RULE,
    sync_block_size::RULE,
    rewrite_rate::RULE,
    whole_revolutions::RULE,
    early_acknowledgement::RULE,
    same_modes::RULE,
    stride_curve::RULE,
    zones::RULE,
    direct_small_blocks::RULE,
    drive_cache::RULE,
];

#[cfg(test)]
mod tests;
