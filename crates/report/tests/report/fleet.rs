//! What is said of a fleet, as people see it.

use diskfacts_facts::fleet::{
    Disturbance, Member, Options, Peers, Sample, TooFew, TrialSample, look_once_more, screen,
    second_look, trend, verdict,
};
use diskfacts_record::comparison::Measure;
use diskfacts_report::json::fleet_odd as fleet_odd_json;
use diskfacts_report::text::{Closing, Look, fleet_odd, fleet_suspects, fleet_trend};
use std::collections::BTreeMap;
use std::sync::Arc;

const PLAIN: Look = Look {
    width: 80,
    colour: false,
    unicode: false,
};
const UNICODE: Look = Look {
    width: 80,
    colour: false,
    unicode: true,
};
/// The 27th of November 2026, midnight.
const DAY_S: i64 = 1_795_737_600;

fn peers(model: &str) -> Arc<Peers> {
    let of = [
        ("kernel", "6.12.9-amd64"),
        ("link", "NVMe over PCIe"),
        ("model", model),
        ("plan", "fleet 1f3a52d0c0ffee11"),
    ];
    let of = of.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Arc::new(Peers(of.into()))
}

/// So much that disks and trials differ by, without chance.
fn wobble(at: usize) -> f64 {
    1.0 + 0.004 * ((at * 7 % 11) as f64 - 5.0)
}

/// Two stages of so many hosts, which began one after the other from a time on; those named are
/// slower by a factor in the first stage.
fn fleet(hosts: usize, from_s: i64, factors: &[(usize, f64)]) -> Vec<Sample> {
    let mut samples = Vec::new();
    for host in 0..hosts {
        for (stage, measure, usual) in [
            ("log-write", Measure::Iops, 18_400.0),
            ("sequential-read", Measure::ThroughputBytesPerS, 3.1e9),
        ] {
            let factor = factors.iter().find(|(of, _)| *of == host);
            let factor = factor.filter(|_| measure == Measure::Iops || host == 7);
            let factor = factor.map_or(1.0, |(_, factor)| *factor) * wobble(host);
            samples.push(Sample {
                member: Member {
                    host: format!("c{host:02}"),
                    machine: None,
                    target: "/data".into(),
                },
                run: format!("20261127-000000-{host:04}"),
                started_s: from_s + 60 * i64::try_from(host).expect("few hosts"),
                peers: peers("Datacenter X100"),
                stage: stage.into(),
                measure,
                trials: (0..5)
                    .map(|trial| TrialSample {
                        value: usual * factor * wobble(trial + host),
                        disturbed: None,
                    })
                    .collect(),
            });
        }
    }
    samples
}

/// A fleet with two suspects, a slow hour, a disk of another model and disturbed trials.
fn first_look() -> Vec<Sample> {
    let slow = [(7, 0.71), (21, 0.83), (33, 0.86)];
    let mut samples = fleet(60, DAY_S, &slow);
    for sample in samples
        .iter_mut()
        .filter(|s| s.started_s >= DAY_S + 40 * 60)
    {
        sample.started_s += 3600;
        for trial in &mut sample.trials {
            trial.value *= 0.7;
        }
    }
    samples[16].trials[1].disturbed = Some(Disturbance::OtherIo);
    samples[42].trials[0].disturbed = Some(Disturbance::StolenTime);
    for trial in &mut samples[18].trials {
        trial.disturbed = Some(Disturbance::OtherIo);
    }
    let mut other = samples[8].clone();
    other.member.host = "d01".into();
    other.peers = peers("Datacenter Y200");
    samples.push(other);
    samples
}

fn closing() -> Closing {
    Closing {
        next: vec![(
            "diskfacts fleet odd fleet/ --after-second-look".into(),
            "when they were measured".into(),
        )],
        ..Closing::default()
    }
}

fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn suspects_are_named_the_worst_first_with_what_was_looked_at_and_who_is_measured_again() {
    let screen = screen(&first_look(), &Options::default());
    let again = second_look(&screen, 1);
    let text = fleet_suspects(&screen, &again, &closing(), &PLAIN);
    fits(&text);
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!("fleet_suspects_80", text);
    let text = fleet_suspects(&screen, &again, &closing(), &UNICODE);
    fits(&text);
    insta::assert_snapshot!("fleet_suspects_unicode_80", text);
}

#[test]
fn odd_disks_have_their_interval_and_the_others_what_became_of_them() {
    let screen = screen(&first_look(), &Options::default());
    let again = second_look(&screen, 1);
    let mut later = fleet(60, DAY_S + 86_400, &[(7, 0.72), (33, 0.9)]);
    later.retain(|sample| {
        again
            .members
            .iter()
            .any(|again| again.member == sample.member)
    });
    let verdict = verdict(&screen, &later);
    let once_more = look_once_more(&screen, &verdict, 2);
    let text = fleet_odd(&screen, &verdict, &once_more, &Closing::default(), &PLAIN);
    fits(&text);
    insta::assert_snapshot!("fleet_odd_80", text);
}

#[test]
fn a_fleet_without_suspects_and_one_without_peers_say_so() {
    let look = |samples: &[Sample]| {
        let screen = screen(samples, &Options::default());
        let again = second_look(&screen, 1);
        let text = fleet_suspects(&screen, &again, &Closing::default(), &PLAIN);
        fits(&text);
        text
    };
    insta::assert_snapshot!("fleet_healthy_80", look(&fleet(30, DAY_S, &[])));
    insta::assert_snapshot!("fleet_few_80", look(&fleet(5, DAY_S, &[(2, 0.5)])));
    insta::assert_snapshot!("fleet_none_80", look(&[]));
}

#[test]
fn two_kinds_under_one_name_are_said() {
    let slow: Vec<(usize, f64)> = (0..60)
        .filter(|at| at % 5 < 2)
        .map(|at| (at, 0.7))
        .collect();
    let screen = screen(&fleet(60, DAY_S, &slow), &Options::default());
    let again = second_look(&screen, 1);
    let text = fleet_suspects(&screen, &again, &Closing::default(), &PLAIN);
    fits(&text);
    insta::assert_snapshot!("fleet_kinds_80", text);

    // A fastest kind that is too few has no cell, and nothing is held against it.
    let mut of_slower = screen;
    of_slower.cells.retain(|cell| cell.kind.0 > 1);
    of_slower.suspects.clear();
    let again = second_look(&of_slower, 1);
    let text = fleet_suspects(&of_slower, &again, &Closing::default(), &PLAIN);
    assert!(!text.contains("slower than the fastest kind"), "{text}");
    assert!(text.contains("of kind 2 of 2"), "{text}");

    // Who is too few is so of a kind: the page says of the same peers that they are judged.
    let cell = &of_slower.cells[0];
    of_slower.too_few = vec![TooFew {
        peers: Arc::clone(&cell.peers),
        stage: cell.stage.clone(),
        kind: (1, 2),
        members: vec![cell.values[0].member.clone()],
    }];
    let text = fleet_suspects(&of_slower, &again, &Closing::default(), &PLAIN);
    let words: Vec<&str> = text.split_whitespace().collect();
    let said = words.join(" ");
    assert!(
        said.contains("fewer than 8 peers each of their kind, 1 of 2, no claim"),
        "{text}"
    );
}

#[test]
fn a_trend_has_its_levels_and_what_changed_there() {
    let nights = |factor: fn(usize, usize) -> f64| -> Vec<Sample> {
        let mut all = Vec::new();
        for (night, from_s) in (0_usize..12).zip((DAY_S..).step_by(86_400)) {
            let of_night = fleet(12, from_s, &[]);
            for mut sample in of_night.into_iter().filter(|s| s.stage == "log-write") {
                let host: usize = sample.member.host[1..].parse().expect("as we named it");
                sample.run = format!("202611{:02}-000000-{host:04}", 10 + night);
                for trial in &mut sample.trials {
                    trial.value *= factor(night, host) * wobble(night + host);
                }
                if night >= 7 && host == 3 {
                    let mut keys = BTreeMap::clone(&sample.peers.0);
                    keys.insert("kernel".into(), "6.13.1-amd64".into());
                    sample.peers = Arc::new(Peers(keys));
                }
                all.push(sample);
            }
        }
        all
    };
    let all = nights(|night, host| if host == 3 && night >= 7 { 0.8 } else { 1.0 });
    let own: Vec<Sample> = all
        .iter()
        .filter(|s| s.member.host == "c03")
        .cloned()
        .collect();
    let trend = trend(&own, &all).expect("it has figures");
    let text = fleet_trend(
        &own[0].member,
        "log-write",
        &trend,
        &Closing::default(),
        &PLAIN,
    );
    fits(&text);
    insta::assert_snapshot!("fleet_trend_80", text);
}

#[test]
fn machines_of_one_name_are_said_and_each_is_called_by_its_id() {
    let mut samples = fleet(12, DAY_S, &[(7, 0.7)]);
    for sample in &mut samples {
        let host = std::mem::replace(&mut sample.member.host, "localhost".into());
        sample.member.machine = Some(format!("{}0d3f41-4c1e", &host[1..]));
    }
    let screen = screen(&samples, &Options::default());
    let again = second_look(&screen, 1);
    let text = fleet_suspects(&screen, &again, &Closing::default(), &PLAIN);
    fits(&text);
    assert!(
        text.contains("One name: 12 machines are called localhost"),
        "{text}"
    );
    assert!(text.contains("  localhost (machine 070d3f41)\n"), "{text}");
    let document = fleet_odd_json(&screen, None, &again);
    let document: serde_json::Value = serde_json::from_str(&document).expect("a document");
    assert_eq!(document["suspects"][0]["machine"], "070d3f41-4c1e");
}

#[test]
fn what_is_typed_again_measures_what_was_measured() {
    let typed = |plan: &str, file: Option<&str>, stages: &[&str]| {
        let mut samples = Vec::new();
        for stage in stages {
            let of_stage = fleet(12, DAY_S, &[(7, 0.7)]).into_iter();
            samples.extend(
                of_stage
                    .filter(|s| s.stage == "log-write")
                    .map(|mut sample| {
                        let mut keys = BTreeMap::clone(&sample.peers.0);
                        keys.insert("plan".into(), format!("{plan} 1f3a52d0c0ffee11"));
                        keys.extend(file.map(|file| ("file".into(), file.into())));
                        sample.peers = Arc::new(Peers(keys));
                        (*stage).clone_into(&mut sample.stage);
                        sample
                    }),
            );
        }
        let screen = screen(&samples, &Options::default());
        let again = second_look(&screen, 1);
        let text = fleet_suspects(&screen, &again, &Closing::default(), &PLAIN);
        let (_, typed) = text.split_once("type:\n").expect("what is typed");
        typed.trim().to_owned()
    };
    let all = [
        "read-latency",
        "commit-latency",
        "short-read",
        "short-write",
    ];
    assert_eq!(
        typed("fleet", Some("4GiB"), &all),
        "diskfacts measure /data --plan fleet --size 4GiB --trials 12"
    );
    // Some of its stages are another plan.
    assert_eq!(
        typed("fleet", None, &["short-read", "commit-latency"]),
        "diskfacts measure /data --plan fleet --stage commit-latency --stage short-read --trials 12"
    );
    assert_eq!(
        typed("of mine", Some("1GiB"), &["log-write"]),
        "diskfacts measure /data --plan 'of mine.toml' --size 1GiB --trials 12\n  \
         The plan of mine is of a file: name that file there."
    );
}
