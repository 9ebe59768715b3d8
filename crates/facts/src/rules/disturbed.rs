//! How much a stage loses to what runs beside it: the same workload with and
//! without.

use super::prelude::*;
use crate::beside::cost;

pub(super) const RULE: Rule = Rule {
    name: "disturbed",
    needs: &[Blocks],
    check: Check::Stages(&[StageCheck(
        |facts| cost(facts).map(|(lost, line)| (lost, vec![line])),
        lost,
    )]),
    ..Rule::NOTE
};

fn lost(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let most = percent(shown.most());
    RULE.claim(format!(
        "What runs beside {} costs up to {most} of what it does alone.",
        shown.list()
    ))
    .headline(format!("what runs beside it costs up to {most}"))
    .remedy(remedy(context))
}

fn remedy(context: &Context<'_>) -> String {
    let run = context.run;
    // A document cannot be asked again.
    let again = when(!context.is_imported(), || {
        format!("; then type `{}`", measure_with(run, "--trials", "5"))
    });
    let seeks = "On a disk that seeks, larger pieces at a time lose less: keep such readers apart, \
                 or raise the read-ahead";
    match (
        context.all_turn(),
        edit_profile(run, "set read_ahead = \"1MiB\" under [host]"),
    ) {
        (Some(false), _) => format!(
            "Both share what the device can do: give the one that may wait a limit, or a device \
             of its own{again}."
        ),
        (_, Some(edit)) => format!("{seeks}. {edit}"),
        (_, None) => format!("{seeks} (`blockdev --setra`){again}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn seeks_are_spoken_of_where_a_disk_turns_and_settings_where_there_are_any() {
        let mut run = testing::healthy();
        for device in &mut run.stack.devices {
            device.rotational = Some(false);
        }
        let still = remedy(&Context::new(&run));
        assert!(!still.contains("seek"), "{still}");
        assert!(!still.contains("--setra"), "{still}");
        testing::rotating(&mut run);
        assert!(remedy(&Context::new(&run)).contains("`blockdev --setra`"));
        run.target.kind = diskfacts_record::TargetKind::Simulated;
        run.target.given = "sim:my.toml".into();
        let simulated = remedy(&Context::new(&run));
        assert!(
            simulated.contains("In my.toml, set read_ahead"),
            "{simulated}"
        );
        assert!(!simulated.contains("--setra"), "{simulated}");
    }
}
