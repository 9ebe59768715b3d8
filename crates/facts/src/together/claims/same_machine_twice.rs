//! Several of the hosts are one machine.

use diskfacts_record::together::Merged;
use diskfacts_record::{Confidence, Finding, Severity};
use std::collections::BTreeMap;

pub(super) fn claim(merged: &Merged) -> Option<Finding> {
    let mut boots: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for host in &merged.hosts {
        if let Some(boot) = &host.boot_id {
            boots.entry(boot).or_default().push(host.host.clone());
        }
    }
    let shared = || boots.iter().filter(|(_, hosts)| hosts.len() > 1);
    let machines = boots.len();
    let named = merged.hosts.iter().filter(|host| host.boot_id.is_some());
    let named = named.count();
    shared().next()?;
    let evidence =
        shared().map(|(boot, hosts)| format!("{} have the boot id {boot}.", super::some(hosts)));
    Some(Finding {
        rule: String::new(),
        severity: Severity::Warning,
        headline: format!("{named} hosts are {machines} machines"),
        claim: format!(
            "{named} hosts are {machines} {}: they share its processors, its memory and its link, \
             and the sum is not that of {named} machines",
            if machines == 1 { "machine" } else { "machines" }
        ),
        evidence: evidence.collect(),
        confidence: Confidence::Certain,
        refuted_by: "Machines that were cloned while they ran have one boot id".to_owned(),
        remedy: "Place one of them on each machine: `--ntasks-per-node=1` of Slurm, \
                 `topologySpreadConstraints` of Kubernetes"
            .to_owned(),
        stages: Vec::new(),
    })
}
