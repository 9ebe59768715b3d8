//! The hypervisor gave processor time to others while this machine wanted it.

use super::prelude::*;
use crate::processor_wait::STOLEN;

pub(super) const RULE: Rule = Rule {
    name: "cpu-stolen",
    confidence: Confidence::Likely,
    check: Check::Stages(&[StageCheck(is_stolen, stolen)]),
    ..Rule::WARNING
};

fn is_stolen(facts: &StageFacts<'_>) -> Option<Seen> {
    let cpus = f64::from(facts.run().machine.cpus.max(1));
    let stolen = facts.stage.known(|t| t.evidence.cpu_steal_ns)?;
    let share = stolen as f64 / 1e9 / facts.seconds() / cpus;
    let said = percent(share.min(1.0));
    let line = format!("{said} of the processors' time was stolen.");
    (share.is_finite() && share > STOLEN).then(|| (share, vec![line]))
}

fn stolen(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let most = percent(shown.most().min(1.0));
    RULE.claim(format!(
        "The hypervisor took up to {most} of the processors' time during {}: rates and latencies \
         are those of a shared host.",
        shown.list()
    ))
    .headline(format!("the hypervisor took up to {most} of the CPU time"))
    .remedy(format!(
        "Measure at another hour, or longer so that it averages out: `{}`.",
        measure_longer(context.run, 4)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};

    #[test]
    fn stolen_time_counts_over_all_processors() {
        let mut run = testing::healthy();
        run.machine.cpus = 2;
        each(&mut run, "log-write", |t| {
            t.evidence.cpu_steal_ns = Some(200_000_000);
        });
        let finding = only(&run, RULE.name);
        assert!(finding.evidence[0].contains("10 %"), "{finding:?}");
        run.machine.cpus = 8;
        testing::silent(&run);
    }
}
