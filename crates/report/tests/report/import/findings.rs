//! What follows from the documents: rules, numbers and lines; and how a finding
//! goes when the document is mended.

use super::{DOCUMENTS, runs_of};
use diskfacts_facts::findings_of_document;
use diskfacts_record::{Confidence, Finding, Severity};

/// All findings of the runs of a document, each once.
fn found(text: &str) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    for finding in findings_of_document(&runs_of(text)).into_iter().flatten() {
        if !all.contains(&finding) {
            all.push(finding);
        }
    }
    all
}

fn of_rule<'f>(found: &'f [Finding], rule: &str) -> Vec<&'f Finding> {
    found.iter().filter(|finding| finding.rule == rule).collect()
}

/// The one finding of a rule.
fn only<'f>(found: &'f [Finding], rule: &str) -> &'f Finding {
    let of_rule = of_rule(found, rule);
    let [only] = of_rule[..] else {
        panic!("{rule}: {of_rule:#?}");
    };
    only
}

fn all() {
    for (i, text) in DOCUMENTS.iter().enumerate() {
        for finding in found(text) {
            println!("\n{i} {} {:?} {:?}: {}", finding.rule, finding.severity, finding.confidence, finding.claim);
            for line in &finding.evidence { println!("   E {line}"); }
            println!("   R {}\n   D {}\n   S {:?}", finding.refuted_by, finding.remedy, finding.stages);
        }
    }
}

#[test]
fn print_all() { all(); }
