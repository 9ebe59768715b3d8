//! What lies under the target is not sound: an array without a member or busy filling one,
//! a filesystem without a device, a multipath without a path. Its rates are not those of
//! the same thing when it is sound, and a lost member is data at risk.
//!
//! As the kernel told it when the run began and when it ended.

use super::prelude::*;
use diskfacts_record::{Impairment, ImpairmentKind, Unsound};

pub(super) const RULE: Rule = Rule {
    name: "degraded",
    check: Check::One(check),
    ..Rule::WARNING
};

fn check(context: &Context<'_>) -> Option<Found> {
    let found = context.run.unsound();
    unless(found.is_empty())?;
    let said = found.iter().map(|unsound| {
        let (kind, when) = (unsound.kind.words(), unsound.when());
        let be = if when.is_empty() { "is" } else { "was" };
        format!("{} {be} {kind}{when}", unsound.name)
    });
    let said: Vec<String> = said.collect();
    let said = list(names(said.iter().map(String::as_str)));
    let gone = |unsound: &Unsound<'_>| unsound.kind == ImpairmentKind::Gone;
    let at_risk = |unsound: &Unsound<'_>| unsound.kind.at_risk();
    let changed = found.iter().any(|unsound| !unsound.when().is_empty());
    let changed = when(changed, || ", nor those of one state");
    let risk = found.iter().any(|one| at_risk(one) && !is_over(one));
    let risk = when(risk, || ", and the next failure may lose data");
    let stages = names(context.doing_something().map(|(stage, _)| stage.name));
    Some(
        RULE.claim(if found.iter().all(gone) {
            format!("{said}.")
        } else {
            format!("{said}: its rates are not those of a sound one{changed}{risk}.")
        })
        .severity(if found.iter().any(|one| at_risk(one) || gone(one)) {
            Severity::Error
        } else {
            Severity::Warning
        })
        .headline(said)
        .remedy(remedy(context, &found))
        .stages(stages)
        .evidence(found.iter().flat_map(evidence)),
    )
}

/// Whether it was seen that it is so no more.
fn is_over(unsound: &Unsound<'_>) -> bool {
    unsound.after.is_none() && unsound.looked_again
}

/// What the kernel said, when the run began and when it ended.
fn evidence(unsound: &Unsound<'_>) -> Vec<String> {
    let told = |when: &str, found: &Impairment| {
        let (name, what, source) = (unsound.name, &found.what, &found.source);
        format!("{name}{when}: {what} ({source}).")
    };
    let before = unsound.before.map(|found| told("", found));
    let after = unsound.after.filter(|_| unsound.before != unsound.after);
    let after = after.map(|found| told(" when the run ended", found));
    before.into_iter().chain(after).collect()
}

fn remedy(context: &Context<'_>, found: &[Unsound<'_>]) -> String {
    let run = context.run;
    let again = format!("then type `{}`.", measure(run));
    if is_simulated(run) {
        return format!("Take what was planted out of the profile, {again}");
    }
    // What is over asks for nothing but another run.
    let open = found.iter().find(|unsound| !is_over(unsound));
    let Some(Unsound { name, kind, .. }) = open else {
        return format!("It is over: type `{}` again.", measure(run));
    };
    let look = match run.stack.device(name) {
        Some(device) if *kind == ImpairmentKind::Gone => format!(
            "Type `dmesg --ctime | grep {}` for when and why it went",
            shell(&device.name)
        ),
        None => run.stack.filesystem.as_ref().map_or_else(
            || "Look at it".to_owned(),
            |filesystem| match filesystem.kind.as_str() {
                "zfs" => "Type `zpool status`".to_owned(),
                kind => format!(
                    "Type `{kind} device stats {}`",
                    shell(&filesystem.mount_point)
                ),
            },
        ),
        Some(device) => match device.kind {
            DeviceKind::SoftwareRaid => format!("Type `mdadm --detail {}`", shell(&device.path)),
            DeviceKind::DeviceMapper => {
                format!("Type `dmsetup status {}` as root", shell(&device.path))
            }
            _ => format!("Look for {name} in `dmesg`"),
        },
    };
    let until = match kind {
        ImpairmentKind::Failed | ImpairmentKind::Degraded => "replace what failed",
        ImpairmentKind::MemberFailed => "take the failed member out",
        ImpairmentKind::Suspended => "resume it",
        ImpairmentKind::Gone => "bring it back",
        ImpairmentKind::Rebuilding
        | ImpairmentKind::Resyncing
        | ImpairmentKind::Reshaping
        | ImpairmentKind::Checking => "wait until it is done",
    };
    format!("{look}, {until}, {again}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, only};
    use diskfacts_record::{HealthAfter, ImpairedAfter};

    fn impairment(kind: ImpairmentKind) -> Impairment {
        Impairment {
            kind,
            what: "1 of its 4 members is missing".into(),
            source: "md/degraded is 1".into(),
        }
    }

    #[test]
    fn an_array_that_is_not_sound_is_the_first_thing_that_is_said() {
        let mut run = testing::healthy();
        testing::silent(&run);
        // Beside it, the worst of another kind: an operation failed.
        testing::each(&mut run, "random-read-qd1", |trial| trial.errors = 1);
        run.stack.devices[0].impaired = vec![impairment(ImpairmentKind::Degraded)];
        let findings = crate::findings(&run);
        assert_eq!(findings[0].rule, RULE.name, "{findings:#?}");
        assert_eq!(findings[0].severity, Severity::Error);
        assert!(
            findings[0].claim.starts_with("vda1 is degraded: "),
            "{findings:#?}"
        );
        assert_eq!(
            findings[0].evidence,
            ["vda1: 1 of its 4 members is missing (md/degraded is 1)."]
        );
    }

    fn after(found: &[ImpairmentKind]) -> HealthAfter {
        let named = |kind: &ImpairmentKind| ImpairedAfter {
            name: "vda1".into(),
            found: Impairment {
                what: "2 of its 4 members are missing".into(),
                source: "md/degraded is 2".into(),
                ..impairment(*kind)
            },
        };
        HealthAfter {
            impaired: found.iter().map(named).collect(),
            unseen: Vec::new(),
        }
    }

    #[test]
    fn what_fails_is_rebuilt_or_goes_on_while_a_run_measures_it_is_told_with_when_that_was() {
        use ImpairmentKind::{Degraded, Rebuilding};
        let mut run = testing::healthy();
        run.health_after = Some(after(&[]));
        testing::silent(&run);

        run.health_after = Some(after(&[Degraded]));
        let began = only(&run, RULE.name);
        assert_eq!(began.severity, Severity::Error);
        assert_eq!(
            began.claim,
            "vda1 was degraded when the run ended, and not when it began: its rates are not \
             those of a sound one, nor those of one state, and the next failure may lose data."
        );
        let told = "vda1 when the run ended: 2 of its 4 members are missing (md/degraded is 2).";
        assert_eq!(began.evidence, [told]);

        run.stack.devices[0].impaired = vec![impairment(Degraded)];
        let went_on = only(&run, RULE.name);
        assert!(
            went_on.claim.starts_with("vda1 is degraded: "),
            "{went_on:#?}"
        );
        assert_eq!(went_on.evidence.len(), 2, "{went_on:#?}");
        assert_eq!(went_on.evidence[1], told);

        run.stack.devices[0].impaired = vec![impairment(Rebuilding)];
        run.health_after = Some(after(&[]));
        let ended = only(&run, RULE.name);
        assert_eq!(
            ended.claim,
            "vda1 was rebuilding when the run began, and not when it ended: its rates are not \
             those of a sound one, nor those of one state."
        );
        assert!(ended.remedy.starts_with("It is over: "), "{ended:#?}");
    }

    #[test]
    fn what_could_not_be_looked_at_when_the_run_ended_is_not_taken_for_over() {
        let mut run = testing::healthy();
        run.stack.devices[0].impaired = vec![impairment(ImpairmentKind::Rebuilding)];
        run.health_after = Some(HealthAfter {
            impaired: Vec::new(),
            unseen: vec![diskfacts_record::Unseen {
                what: "vda1 health".into(),
                why: "when the run ended: the kernel does not show it any more".into(),
            }],
        });
        let finding = only(&run, RULE.name);
        assert!(
            finding.claim.starts_with("vda1 is rebuilding: "),
            "{finding:#?}"
        );
        assert!(finding.claim.ends_with("may lose data."), "{finding:#?}");
    }

    #[test]
    fn what_only_takes_time_of_the_disks_is_a_warning() {
        use ImpairmentKind::{Checking, Failed, MemberFailed, Rebuilding, Reshaping, Resyncing};
        for (kind, severity) in [
            (Failed, Severity::Error),
            (Rebuilding, Severity::Error),
            (Resyncing, Severity::Warning),
            (Reshaping, Severity::Warning),
            (Checking, Severity::Warning),
            (MemberFailed, Severity::Warning),
        ] {
            let mut run = testing::healthy();
            run.stack.devices[1].impaired = vec![impairment(kind)];
            assert_eq!(only(&run, RULE.name).severity, severity, "{kind:?}");
        }
    }

    #[test]
    fn a_filesystem_or_pool_without_a_device_is_named_by_its_mount() {
        let mut run = testing::healthy();
        let filesystem = run.stack.filesystem.as_mut().expect("there is one");
        filesystem.kind = "btrfs".into();
        filesystem.impaired = vec![impairment(ImpairmentKind::Degraded)];
        let finding = only(&run, RULE.name);
        assert!(finding.claim.starts_with("/ is degraded"), "{finding:#?}");
        assert!(
            finding.remedy.contains("btrfs device stats /"),
            "{finding:#?}"
        );
    }
}
