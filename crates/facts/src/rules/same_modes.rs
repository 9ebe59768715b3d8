//! Ways to write that are the same thing here ([`Alike`]).

use super::prelude::*;
use crate::write_matrix::Alike;

pub(super) const RULE: Rule = Rule {
    name: "same-modes",
    needs: &[],
    check: Check::One(check),
    ..Rule::NOTE
};

fn check(context: &Context<'_>) -> Option<Found> {
    let matrix = context.matrix.as_ref()?;
    let same = matrix.alike();
    let untold = matrix.unknown_pairs();
    let modes = matrix.modes().len();
    let is_alike = |mode| same.iter().any(|group| group.modes.contains(mode));
    let cells = matrix.cells.iter();
    let cells = cells.filter(|cell| same.is_empty() || is_alike(&cell.mode));
    let stages = names(cells.map(|cell| cell.stage));
    if same.is_empty() {
        return untold.map(|said| {
            few_trials(context.run, modes)
                .stages(stages)
                .evidence([said])
        });
    }
    let alike: usize = same.iter().map(|group| group.modes.len()).sum();
    // What people ask first of such a matrix.
    let synced = if same.iter().any(|group| group.has_all_syncs(matrix)) {
        "; fdatasync, fsync, O_DSYNC and O_SYNC of each write are one thing"
    } else {
        ""
    };
    let things = match same.len() {
        1 => "the same thing".to_owned(),
        several => format!("only {several}"),
    };
    let told = same.iter().map(Alike::said);
    Some(
        RULE.claim(format!(
            "{alike} of the {modes} ways to write are {things} here{synced}."
        ))
        .headline(format!("{alike} ways to write are the same here"))
        .stages(stages)
        .evidence(told.chain(untold)),
    )
}

/// None are alike, and of some it cannot be told.
fn few_trials(run: &Run, modes: usize) -> Found {
    RULE.claim(format!(
        "Which of the {modes} ways to write are the same thing here cannot be told from these \
         trials."
    ))
    .headline("too few trials to tell the ways to write apart")
    .confidence(Certain)
    .case("few-trials")
    .remedy(format!(
        "Type `{}`, while nothing else uses the disk.",
        measure_with(run, "--trials", "5")
    ))
    .of_document(run, "measure more often")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{matrix_run, of_rule, seed_run, wobble};
    use diskfacts_plan::WriteMode;
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
