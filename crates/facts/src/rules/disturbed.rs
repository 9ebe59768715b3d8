//! How much a stage loses to what runs beside it: the same workload with and
//! without.

use super::prelude::*;
use crate::beside::{alone, loss};

pub(super) const RULE: Rule = Rule {
    name: "disturbed",
    about: "what a stage loses to what runs beside it",
    needs: &[],
    refuted_by: "Trials of the same stage that do as much with it as without.",
    check: Check::Stages(&[StageCheck(IO, loses, lost)]),
    ..Rule::NOTE
};

/// Share that must be lost at least to be worth a word.
const SHARE: f64 = 0.05;

fn loses(facts: &StageFacts<'_>) -> Option<Seen> {
    let with = &facts.figures.throughput_bytes_per_s;
    let without = &alone(facts.context, facts.stage)?.throughput_bytes_per_s;
    let lost = loss(with, without).filter(|lost| *lost >= SHARE)?;
    let line = sentence(facts.stage, with.median, without.median);
    Some(Seen::line(lost, line))
}

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

fn sentence(stage: &Stage<'_>, with: f64, without: f64) -> String {
    let (own, alone) = (show_throughput(with), show_throughput(without));
    match stage.median(|trial| Some(trial.evidence.beside.as_ref()?.throughput_bytes_per_s)) {
        // Of an import it is not known what the other did.
        None => format!("{own} with it, {alone} alone."),
        Some(other) => format!(
            "{own} beside {}, {alone} alone; both together {} of that.",
            show_throughput(other),
            percent((with + other) / without)
        ),
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
