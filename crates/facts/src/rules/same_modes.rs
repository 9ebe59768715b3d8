//! Ways to write that are the same thing here.
//!
//! Two modes are compared at every block size that both have, by the logarithm of
//! the ratio of their rates. They are the same when the 95 % interval of its
//! median (the sign test's, see [`stats::median_interval`]) lies within 5 %: that
//! shows that they are alike, where a test that finds no difference would only
//! show that there is little data. And a size at which they are further apart
//! must be the exception.

use super::prelude::*;
use crate::write_matrix::{CONFIDENCE, Matrix};
use diskfacts_plan::WriteMode;

pub(super) const RULE: Rule = Rule {
    name: "same-modes",
    needs: &[],
    check: Check::One(check),
    ..Rule::NOTE
};

/// How near the median ratio must be to 1.
const ALIKE: f64 = 0.05;
/// How far apart single sizes may be, and how many sizes of ten may be further.
const APART: f64 = 0.15;
const EXCEPTIONS: usize = 10;

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
    all && matrix.synced().all(|cell| group.contains(&cell.mode))
}

fn check(context: &Context<'_>) -> Option<Found> {
    let matrix = context.matrix.as_ref()?;
    let groups = groups(matrix);
    let same: Vec<&Vec<WriteMode>> = groups.iter().filter(|group| group.len() > 1).collect();
    let untold = untold(matrix);
    let modes = matrix.modes().len();
    if same.is_empty() {
        let stages = names(matrix.cells.iter().map(|cell| cell.stage));
        return untold.map(|said| {
            RULE.claim(format!(
                "Which of the {modes} ways to write are the same thing here cannot be told from \
                 these trials."
            ))
            .headline("too few trials to tell the ways to write apart")
            .confidence(Confidence::Certain)
            .case("few-trials")
            .remedy(
                of_document(context.run, "measure more often").unwrap_or_else(|| {
                    let again = measure_with(context.run, "--trials", "5");
                    format!("Type `{again}`, while nothing else uses the disk.")
                }),
            )
            .stages(stages)
            .evidence(vec![said])
        });
    }
    let alike: usize = same.iter().map(|group| group.len()).sum();
    // What people ask first of such a matrix.
    let synced = if same.iter().any(|group| syncs_alike(matrix, group)) {
        "; fdatasync, fsync, O_DSYNC and O_SYNC of each write are one thing"
    } else {
        ""
    };
    let things = match same.len() {
        1 => "the same thing".to_owned(),
        several => format!("only {several}"),
    };
    let cells = matrix.cells.iter();
    let cells = cells.filter(|cell| same.iter().any(|group| group.contains(&cell.mode)));
    let told = same.iter().map(|group| told(matrix, group));
    Some(
        RULE.claim(format!(
            "{alike} of the {modes} ways to write are {things} here{synced}."
        ))
        .headline(format!("{alike} ways to write are the same here"))
        .stages(names(cells.map(|cell| cell.stage)))
        .evidence(told.chain(untold)),
    )
}

/// The pairs of some modes.
fn pairs(modes: &[WriteMode]) -> impl Iterator<Item = (WriteMode, WriteMode)> {
    let places = 0..modes.len();
    places.flat_map(move |i| modes[..i].iter().map(move |b| (modes[i], *b)))
}

/// How many pairs of ways were neither found alike nor different.
fn untold(matrix: &Matrix<'_>) -> Option<String> {
    let modes = matrix.modes();
    let is_unknown = |(a, b): &(_, _)| matches!(relation(matrix, *a, *b), Relation::Unknown);
    let unknown = pairs(&modes).filter(is_unknown).count();
    let pairs = count(pairs(&modes).count() as u64, "pair");
    (unknown > 0).then(|| {
        format!(
            "Of {pairs} of ways {unknown} were found neither alike nor different: their sizes \
             disagree."
        )
    })
}

/// A group, and how far its members are apart.
fn told(matrix: &Matrix<'_>, group: &[WriteMode]) -> String {
    let each = pairs(group).filter_map(|(a, b)| likeness(matrix, a, b));
    let (furthest, sizes) = each.fold((0.0_f64, usize::MAX), |(furthest, sizes), likeness| {
        (furthest.max(likeness.furthest), sizes.min(likeness.sizes))
    });
    format!(
        "{}: at {sizes} sizes, the rates of any two are within 5 % in the median, and never \
         further apart than {}.",
        list(group.iter().map(ToString::to_string)),
        percent(furthest)
    )
}

/// The modes, each with those before it that it is the same as: each member of a
/// group is the same as every other.
fn groups(matrix: &Matrix<'_>) -> Vec<Vec<WriteMode>> {
    let mut groups: Vec<Vec<WriteMode>> = Vec::new();
    for mode in matrix.modes() {
        let is_same = |other: &WriteMode| likeness(matrix, mode, *other).is_some();
        match groups.iter_mut().find(|group| group.iter().all(is_same)) {
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
    let ratios = matrix.of_mode(a).filter_map(|cell| {
        let other = matrix.cell(b, cell.block_size)?;
        Some((cell.throughput / other.throughput).ln())
    });
    let sorted = stats::finite_sorted(&ratios.collect::<Vec<f64>>());
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
            RULE.name,
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
        let finding = of_rule(&differ, RULE.name).unwrap();
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
        let finding = of_rule(&run, RULE.name).unwrap();
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
        of_rule(&run, RULE.name).is_some_and(|finding| finding.claim.contains("are the same thing"))
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
        assert!(of_rule(&run(|_| None), RULE.name).is_none());
        assert!(of_rule(&crate::testing::healthy(), RULE.name).is_none());
    }

    #[test]
    fn on_the_disk_of_the_benchmark_all_twelve_synced_modes_are_one() {
        let finding = of_rule(&seed_run(), RULE.name).unwrap();
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
