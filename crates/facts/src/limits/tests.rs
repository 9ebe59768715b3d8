//! The frame: which of several limits is named first.

use super::*;
use diskfacts_record::{Confidence, Experiment};
use std::cmp::Ordering;

fn candidate(standing: Standing, share: Option<f64>, confidence: Confidence) -> Candidate {
    Candidate {
        standing,
        claim: "It is so.".into(),
        evidence: vec!["1 is 1.".into()],
        share,
        confidence,
        refuted_by: "2.".into(),
        experiment: Experiment {
            question: "Is it?".into(),
            command: "diskfacts .".into(),
            plan: None,
        },
        remedy: "None.".into(),
    }
}

#[test]
fn a_cause_comes_before_the_nature_of_the_device_and_that_before_the_load() {
    let order = [
        candidate(Standing::NotTheDevice, None, Confidence::Possible),
        candidate(Standing::cause(0.4), Some(0.4), Confidence::Likely),
        candidate(Standing::Nature, Some(0.9), Confidence::Likely),
        candidate(Standing::Load, Some(1.0), Confidence::Certain),
        candidate(Standing::cause(0.3), Some(0.3), Confidence::Certain),
    ];
    for pair in order.windows(2) {
        assert_eq!(pair[0].best_first(&pair[1]), Ordering::Less, "{pair:#?}");
        assert_eq!(pair[1].best_first(&pair[0]), Ordering::Greater);
    }
}

#[test]
fn among_causes_the_larger_comes_first_unless_it_is_less_sure() {
    let of = |share, confidence| candidate(Standing::Cause, share, confidence);
    let larger = of(Some(0.9), Confidence::Likely);
    let smaller = of(Some(0.5), Confidence::Likely);
    assert_eq!(larger.best_first(&smaller), Ordering::Less);
    let unsure = of(Some(0.9), Confidence::Possible);
    assert_eq!(
        unsure.best_first(&of(Some(0.5), Confidence::Certain)),
        Ordering::Greater
    );
    // What cannot say its share counts for half.
    let unknown = of(None, Confidence::Likely);
    assert_eq!(unknown.best_first(&smaller), Ordering::Equal);
    assert_eq!(
        of(Some(f64::NAN), Confidence::Likely).best_first(&smaller),
        Ordering::Equal
    );
}

#[test]
fn every_limiter_has_a_name_of_its_own_and_says_what_it_is_about() {
    let limiters: Vec<&Limiter> = all().collect();
    for (i, limiter) in limiters.iter().enumerate() {
        assert!(!limiter.about.is_empty());
        let plain = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(limiter.name.chars().all(plain), "{}", limiter.name);
        assert!(limiters[..i].iter().all(|other| other.name != limiter.name));
    }
}
