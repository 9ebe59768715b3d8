//! Ways to write that are the same thing here.
//!
//! Two modes are compared at every block size that both have, by the logarithm of
//! the ratio of their rates. They are the same when the 95 % interval of its
//! median (the sign test's, see [`stats::median_interval`]) lies within 5 %: that
//! shows that they are alike, where a test that finds no difference would only
//! show that there is little data. And a size at which they are further apart
//! must be the exception.

use super::Context;
use crate::stats;
use crate::words::{count, list, measure_with, of_document, percent};
use crate::write_matrix::Matrix;
use diskfacts_plan::WriteMode;
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "same-modes";

/// How near the median ratio must be to 1.
const ALIKE: f64 = 0.05;
/// How far apart single sizes may be, and how many sizes of ten may be further.
const APART: f64 = 0.15;
const EXCEPTIONS: usize = 10;
/// Confidence of the interval of the median.
const CONFIDENCE: f64 = 0.95;

/// How alike two modes are.
#[derive(Debug, Clone, Copy)]
struct Likeness {
    /// Largest distance of a size, as a share.
    furthest: f64,
    /// Sizes that were compared.
    sizes: usize,
}

/// Whether all ways to make each write durable are in this group, of all four calls and
/// flags.
fn syncs_alike(matrix: &Matrix<'_>, group: &[WriteMode]) -> bool {
    use diskfacts_plan::SyncMode::{Fdatasync, Fsync, ODsync, OSync};
    let has = |sync| group.iter().any(|mode| mode.sync == sync);
    let all = [Fdatasync, Fsync, ODsync, OSync].into_iter().all(has);
    let mut synced = matrix.modes().into_iter();
    all && synced.all(|mode| !mode.sync.each_write() || group.contains(&mode))
}

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let Some(matrix) = Matrix::of(context) else {
        return Vec::new();
    };
    let groups = groups(&matrix);
    let same: Vec<&Vec<WriteMode>> = groups.iter().filter(|group| group.len() > 1).collect();
    let untold = untold(&matrix);
    if same.is_empty() {
        return untold
            .map(|said| not_shown(context, &matrix, said))
            .into_iter()
            .collect();
    }
    let alike: usize = same.iter().map(|group| group.len()).sum();
    // What people ask first of such a matrix.
    let synced = if same.iter().any(|group| syncs_alike(&matrix, group)) {
        "; fdatasync, fsync, O_DSYNC and O_SYNC of each write are one thing"
    } else {
        ""
    };
    let claim = match same.as_slice() {
        [only] => format!(
            "{} of the {} ways to write are the same thing here{synced}.",
            only.len(),
            matrix.modes().len()
        ),
        several => format!(
            "{alike} of the {} ways to write are only {} here{synced}.",
            matrix.modes().len(),
            several.len()
        ),
    };
    let in_group = |mode: WriteMode| same.iter().any(|group| group.contains(&mode));
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: format!("{alike} ways to write are the same here"),
        claim,
        evidence: same
            .iter()
            .map(|group| told(&matrix, group))
            .chain(untold)
            .collect(),
        confidence: Confidence::Likely,
        refuted_by: "A repeat with `--trials 5` in which one of a group is faster than another by \
                     more than 5 % at most sizes."
            .into(),
        remedy: "Choose among them by what they promise, not by speed: O_DIRECT leaves the page \
                 cache to others, fdatasync and O_DSYNC leave out metadata that reading does not \
                 need."
            .into(),
        stages: Matrix::stages(matrix.cells.iter().filter(|cell| in_group(cell.mode))),
    }]
}

/// The trials show neither that any two ways are alike nor that all differ.
fn not_shown(context: &Context<'_>, matrix: &Matrix<'_>, said: String) -> Finding {
    Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: "too few trials to tell the ways to write apart".into(),
        claim: format!(
            "Which of the {} ways to write are the same thing here cannot be told from these \
             trials.",
            matrix.modes().len()
        ),
        evidence: vec![said],
        confidence: Confidence::Certain,
        refuted_by: "More trials that agree with each other.".into(),
        remedy: of_document(context.run, "measure more often").unwrap_or_else(|| {
            format!(
                "Type `{}`, while nothing else uses the disk.",
                measure_with(context.run, "--trials", "5")
            )
        }),
        stages: Matrix::stages(&matrix.cells),
    }
}

/// How many pairs of ways were neither found alike nor different.
fn untold(matrix: &Matrix<'_>) -> Option<String> {
    let modes = matrix.modes();
    let (mut pairs, mut unknown) = (0_u64, 0_u64);
    for (i, a) in modes.iter().enumerate() {
        for b in &modes[..i] {
            pairs += 1;
            unknown += u64::from(matches!(relation(matrix, *a, *b), Relation::Unknown));
        }
    }
    (unknown > 0).then(|| {
        format!(
            "Of {} of ways {unknown} were found neither alike nor different: their sizes disagree.",
            count(pairs, "pair")
        )
    })
}

/// A group, and how far its members are apart.
fn told(matrix: &Matrix<'_>, group: &[WriteMode]) -> String {
    let names: Vec<String> = group.iter().map(ToString::to_string).collect();
    let mut furthest = 0.0_f64;
    let mut sizes = usize::MAX;
    for (i, a) in group.iter().enumerate() {
        for b in &group[..i] {
            if let Some(likeness) = likeness(matrix, *a, *b) {
                furthest = furthest.max(likeness.furthest);
                sizes = sizes.min(likeness.sizes);
            }
        }
    }
    format!(
        "{}: at {sizes} sizes, the rates of any two are within 5 % in the median, and never \
         further apart than {}.",
        list(&names),
        percent(furthest)
    )
}

/// The modes, each with those before it that it is the same as: each member of a
/// group is the same as every other.
fn groups(matrix: &Matrix<'_>) -> Vec<Vec<WriteMode>> {
    let mut groups: Vec<Vec<WriteMode>> = Vec::new();
    for mode in matrix.modes() {
        let fitting = groups.iter_mut().find(|group| {
            group
                .iter()
                .all(|other| likeness(matrix, mode, *other).is_some())
        });
        match fitting {
            Some(group) => group.push(mode),
            None => groups.push(vec![mode]),
        }
    }
    groups
}

/// What two modes are to each other.
#[derive(Debug, Clone, Copy)]
enum Relation {
    /// The same thing.
    Same(Likeness),
    /// Two things, or at too few sizes to ask.
    Different,
    /// The interval of the median holds both.
    Unknown,
}

/// How alike two modes are; `None` when they are not shown to be the same.
fn likeness(matrix: &Matrix<'_>, a: WriteMode, b: WriteMode) -> Option<Likeness> {
    match relation(matrix, a, b) {
        Relation::Same(likeness) => Some(likeness),
        Relation::Different | Relation::Unknown => None,
    }
}

fn relation(matrix: &Matrix<'_>, a: WriteMode, b: WriteMode) -> Relation {
    let ratios: Vec<f64> = matrix
        .of_mode(a)
        .filter_map(|cell| {
            let other = matrix.cell(b, cell.block_size)?;
            Some((cell.throughput / other.throughput).ln())
        })
        .collect();
    let sorted = stats::finite_sorted(&ratios);
    let Some(ranks) = stats::median_interval(sorted.len(), CONFIDENCE) else {
        return Relation::Different;
    };
    let limit = ALIKE.ln_1p();
    let (lower, upper) = (sorted[ranks.lower - 1], sorted[ranks.upper - 1]);
    let inside = lower >= -limit && upper <= limit;
    let exceptions = sorted.iter().filter(|r| r.abs() > APART.ln_1p()).count();
    let furthest = sorted.iter().map(|r| r.abs().exp_m1()).fold(0.0, f64::max);
    if inside && exceptions <= sorted.len() / EXCEPTIONS {
        Relation::Same(Likeness {
            furthest,
            sizes: sorted.len(),
        })
    } else if inside || lower > limit || upper < -limit {
        Relation::Different
    } else {
        Relation::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{matrix_run, of_rule, seed_run, wobble};
    use diskfacts_plan::write_mode::Variant;

    /// Every mode has a rate of its own, but for what `same` says.
    fn run(same: impl Fn(WriteMode) -> Option<usize>) -> diskfacts_record::Run {
        matrix_run(|mode, size| {
            let rank = same(mode).unwrap_or(mode.rank());
            let rate = 1e8 * 1.2_f64.powi(i32::try_from(rank).unwrap());
            rate * wobble(mode, size, 0.02)
        })
    }

    #[test]
    fn modes_with_the_same_rates_are_one_and_others_are_not() {
        let finding = of_rule(
            &run(|mode| (mode.variant == Variant::Direct && mode.sync.each_write()).then_some(30)),
            NAME,
        )
        .unwrap();
        assert!(
            finding.claim.starts_with("4 of the 21 ways to write"),
            "{finding:#?}"
        );
        // Only with O_DIRECT.
        assert!(!finding.claim.contains("one thing"), "{finding:#?}");
        assert_eq!(finding.evidence.len(), 1);
        assert!(
            finding.evidence[0].contains("O_SYNC + O_DIRECT"),
            "{finding:#?}"
        );
    }

    #[test]
    fn modes_that_differ_at_some_sizes_are_not_the_same() {
        let differ = matrix_run(|mode, size| {
            let slow = mode.variant == Variant::Direct && size < 32 << 10;
            1e8 * wobble(mode, size, 0.02)
                * if slow { 0.5 } else { 1.0 }
                * 1.3_f64.powi(i32::try_from(mode.rank() / 3).unwrap())
        });
        let finding = of_rule(&differ, NAME).unwrap();
        // Plain and aligned are the same everywhere; direct is not, and whether it
        // differs from these, and from its neighbours, its sizes do not agree on.
        let (untold, same) = finding.evidence.split_last().unwrap();
        assert_eq!(same.len(), 7, "{finding:#?}");
        assert!(!same.iter().any(|e| e.contains("O_DIRECT")));
        assert!(
            untold.starts_with("Of 210 pairs of ways 36 were"),
            "{untold}"
        );
    }

    #[test]
    fn noise_that_hides_what_is_alike_is_said() {
        let run = matrix_run(|mode, size| 1e8 * wobble(mode, size, 0.8));
        let finding = of_rule(&run, NAME).unwrap();
        assert!(finding.claim.contains("cannot be told"), "{finding:#?}");
        assert!(finding.remedy.contains("--trials 5"), "{finding:#?}");
    }

    /// Whether two modes are the same whose ratio at a size this gives.
    fn same(ratio: impl Fn(u64) -> f64) -> bool {
        let run = matrix_run(|mode, size| match mode.to_string().as_str() {
            "FSYNC" => 1e8,
            "O_SYNC" => 1e8 * ratio(size),
            _ => 1e9 * 1.3_f64.powi(i32::try_from(mode.rank()).unwrap()),
        });
        of_rule(&run, NAME).is_some_and(|finding| finding.claim.contains("are the same thing"))
    }

    #[test]
    fn the_median_and_all_sizes_but_one_have_to_be_alike() {
        assert!(same(|_| 1.04));
        assert!(!same(|_| 1.06));
        assert!(!same(|_| 0.92));
        let odd = |sizes: &'static [u64]| move |size| if sizes.contains(&size) { 2.0 } else { 1.0 };
        assert!(same(odd(&[4096])));
        assert!(!same(odd(&[4096, 8192])));
    }

    #[test]
    fn where_all_modes_differ_nothing_is_said() {
        assert!(of_rule(&run(|_| None), NAME).is_none());
        assert!(of_rule(&crate::testing::healthy(), NAME).is_none());
    }

    #[test]
    fn on_the_disk_of_the_benchmark_all_twelve_synced_modes_are_one() {
        let finding = of_rule(&seed_run(), NAME).unwrap();
        let twelve = WriteMode::all().filter(|mode| mode.sync.each_write());
        let group = finding
            .evidence
            .iter()
            .find(|e| e.contains("O_DSYNC"))
            .unwrap();
        for mode in twelve {
            assert!(group.contains(&mode.to_string()), "{mode}: {finding:#?}");
        }
        assert!(group.contains("at 14 sizes"), "{group}");
        // Buffered writes only reach memory: they are nothing like these.
        assert!(!group.contains("BUFFERED"), "{group}");
    }
}
