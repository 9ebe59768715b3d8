//! Latency over the time of a trial as people see it, and what they ask of it.

use crate::fixtures::{self, UNEVEN};
use diskfacts_record::Run;
use diskfacts_record::evidence::Pause;
use diskfacts_report::text::{self, Look, StagePart};

const ASCII: Look = Look {
    width: 80,
    colour: false,
    unicode: false,
};
const MS: u64 = 1_000_000;

fn part(trial: Option<u32>) -> StagePart<'static> {
    StagePart {
        name: UNEVEN,
        trial,
    }
}

fn drawn(run: &Run, trial: Option<u32>, look: &Look) -> String {
    text::stage(run, part(trial), "diskfacts show 7f3a", look).expect("a stage of the run")
}

#[test]
fn a_stage_is_drawn_over_the_time_of_its_least_usual_trial() {
    let run = fixtures::uneven();
    for (name, width, unicode) in [
        ("stage_ascii_40", 40, false),
        ("stage_ascii_80", 80, false),
        ("stage_80", 80, true),
        ("stage_200", 200, true),
    ] {
        let look = Look {
            width,
            unicode,
            ..ASCII
        };
        let text = drawn(&run, None, &look);
        // A command is never broken.
        let drawing = text
            .lines()
            .skip_while(|line| !line.starts_with("Latency over"));
        let mut lines = drawing.filter(|line| !line.contains('`'));
        let keeps = lines.all(|line| line.chars().count() <= width);
        assert!(keeps, "{name}:\n{text}");
        insta::assert_snapshot!(name, text);
    }
    let other = drawn(&run, Some(2), &ASCII);
    assert!(
        other.contains("Latency over time: trial 2 of 5\n"),
        "{other}"
    );
    assert!(!other.contains("100 ms |"), "{other}");
}

#[test]
fn a_time_is_held_against_the_rest_of_its_trial() {
    let run = fixtures::uneven();
    let at = |from_ms: u64, to_ms: u64, look: &Look| {
        text::moment(&run, part(None), (from_ms * MS, to_ms * MS), look).expect("it is known")
    };
    insta::assert_snapshot!("moment_stall", at(500, 620, &ASCII));
    insta::assert_snapshot!(
        "moment_usual",
        at(
            65,
            65,
            &Look {
                unicode: true,
                ..ASCII
            }
        )
    );
    let mut paused = run.clone();
    for trial in &mut paused.trials {
        trial.evidence.engine.pauses = Some(vec![Pause {
            begins_ns: 430 * MS,
            ns: 150 * MS,
        }]);
    }
    let text = text::moment(&paused, part(Some(3)), (500 * MS, 500 * MS), &ASCII);
    let text = text.expect("it is known");
    assert!(
        text.contains("did not run for 150 ms from 0.43 s on"),
        "{text}"
    );
}

#[test]
fn what_is_not_there_is_answered_with_what_there_is() {
    let run = fixtures::uneven();
    let refused = |part, at_ms: u64| {
        text::moment(&run, part, (at_ms * MS, at_ms * MS), &ASCII).expect_err("it is not there")
    };
    let stage = refused(
        StagePart {
            name: "scan",
            trial: None,
        },
        1,
    );
    assert!(stage.starts_with("has no stage 'scan'; it has "), "{stage}");
    assert_eq!(
        refused(part(Some(9)), 1),
        "has no trial 9 of random-read-qd32; its trials are 1 to 5"
    );
    assert_eq!(
        refused(part(None), 1500),
        "has nothing of that time: trial 3 of random-read-qd32 ended after 1 s"
    );
    let older = StagePart {
        name: "log-write",
        trial: None,
    };
    assert_eq!(
        refused(older, 1),
        "has no latencies over time of log-write: an older diskfacts stored it"
    );
    let undrawn = text::stage(&run, older, "diskfacts show 7f3a", &ASCII).expect("a stage");
    assert!(!undrawn.contains("Latency over time"), "{undrawn}");
}
