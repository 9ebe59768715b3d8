//! The first page as people see it: read the whole of a snapshot that changes, as a user
//! would who has ten seconds.

use crate::fixtures;
use diskfacts_record::{Finding, Run, Severity};
use diskfacts_report::text::{self, Closing, Look, StagePart};

const PLAIN: Look = Look {
    width: 80,
    colour: false,
    unicode: false,
};
const UNICODE: Look = Look {
    unicode: true,
    ..PLAIN
};
/// Lines that a person reads.
const LINES: usize = 45;

fn closing(run: &Run) -> Closing {
    Closing {
        stored: "Stored in /home/ada/.local/share/diskfacts/runs.db.".into(),
        show: format!("diskfacts show {}", run.run.id),
        next: Vec::new(),
    }
}

fn of_stage(name: &str) -> StagePart<'_> {
    StagePart { name, trial: None }
}

fn explained(mut run: Run) -> Run {
    let explanation = diskfacts_facts::explain(&run);
    run.findings = explanation.findings;
    run.limits = explanation.limits;
    run.verdicts = explanation.verdicts;
    run
}

fn all() -> Vec<(&'static str, Run)> {
    vec![
        ("healthy", explained(fixtures::healthy())),
        ("failing", fixtures::failing()),
        ("interrupted", fixtures::interrupted()),
        ("killed", fixtures::killed()),
        ("varied", fixtures::varied()),
        ("rare", fixtures::rare()),
        ("tmpfs", fixtures::tmpfs()),
        ("zones", explained(fixtures::zones())),
        ("stride", explained(fixtures::stride())),
        ("streams", fixtures::streams()),
        ("tuned", fixtures::tuned()),
    ]
}

fn shown(run: &Run, look: &Look) -> String {
    text::summary(run, &closing(run), look)
}

#[test]
fn the_first_page_in_four_widths() {
    let run = explained(fixtures::healthy());
    for width in [60, 80, 120, 200] {
        let look = Look { width, ..UNICODE };
        insta::assert_snapshot!(format!("summary_{width}"), shown(&run, &look));
    }
    insta::assert_snapshot!("summary_ascii_80", shown(&run, &PLAIN));
    // Only labels are coloured, in the terminal's own colours: the rest is readable on any
    // background.
    let coloured = Look {
        colour: true,
        ..PLAIN
    };
    insta::assert_snapshot!("summary_colour", shown(&run, &coloured));
}

#[test]
fn what_went_wrong_stands_first() {
    insta::assert_snapshot!("summary_failing", shown(&fixtures::failing(), &PLAIN));
    insta::assert_snapshot!("summary_killed", shown(&fixtures::killed(), &PLAIN));
}

#[test]
fn matrices_are_drawn() {
    let (matrix, tuned) = (explained(fixtures::write_matrix()), fixtures::tuned());
    insta::assert_snapshot!("summary_write_matrix", shown(&matrix, &UNICODE));
    insta::assert_snapshot!("summary_tuned", shown(&tuned, &UNICODE));
}

#[test]
fn what_is_swept_is_drawn_in_the_form_that_shows_most() {
    for (name, run) in [
        ("zones", explained(fixtures::zones())),
        ("stride", explained(fixtures::stride())),
        ("streams", fixtures::streams()),
    ] {
        insta::assert_snapshot!(format!("summary_{name}"), shown(&run, &PLAIN));
    }
    let wide = Look {
        width: 200,
        ..UNICODE
    };
    insta::assert_snapshot!("summary_zones_200", shown(&fixtures::zones(), &wide));
    let narrow = Look { width: 60, ..PLAIN };
    insta::assert_snapshot!("summary_stride_60", shown(&fixtures::stride(), &narrow));
}

#[test]
fn no_row_wraps_and_a_page_is_short() {
    for (name, run) in all() {
        for width in [40, 60, 80, 120, 200] {
            let page = shown(&run, &Look { width, ..PLAIN });
            // Commands and paths are never broken, so that they can be copied.
            let whole = |line: &&str| {
                let mut words = line.split_whitespace();
                let is_typed = [
                    "diskfacts show",
                    "diskfacts report",
                    "echo '",
                    "ACTION==",
                    "/etc/",
                ];
                is_typed.iter().any(|typed| line.contains(typed))
                    || words.any(|word| word.len() >= width)
            };
            let longest = page.lines().filter(|line| !whole(line));
            let longest = longest.map(|line| line.chars().count()).max();
            assert!(longest <= Some(width), "{name} at {width}:\n{page}");
            if width >= 80 {
                let lines = page.lines().count();
                assert!(lines <= LINES, "{name} at {width} has {lines}:\n{page}");
            }
        }
    }
}

/// Warnings have their lines whatever is left out.
#[test]
fn a_page_that_would_be_long_goes_without_notes_and_says_how_many() {
    let mut run = fixtures::healthy();
    let of = |severity| Finding {
        severity,
        ..run.findings[0].clone()
    };
    let (note, warning) = (of(Severity::Note), of(Severity::Warning));
    let but = |i: usize, finding: &Finding, word: &str| Finding {
        headline: format!("{word} number {i}"),
        ..finding.clone()
    };
    run.findings = (0..6).map(|i| but(i, &warning, "warning")).collect();
    run.findings.extend((0..6).map(|i| but(i, &note, "note")));
    run.run.notes = (0..4).map(|i| format!("Did {i} otherwise.")).collect();
    let page = shown(&run, &PLAIN);
    assert!(page.lines().count() <= LINES, "{page}");
    for i in 0..6 {
        assert!(page.contains(&format!("warning number {i}")), "{page}");
    }
    let told = page.matches("note number ").count() + page.matches("-  run").count();
    let left = 10 - told;
    assert!(left > 0, "{page}");
    let said = format!("{left} more notes: --explain has them all.");
    assert!(page.contains(&said), "{page}");
}

#[test]
fn without_unicode_and_colour_everything_is_still_said() {
    for (name, run) in all() {
        let page = shown(&run, &PLAIN);
        assert!(page.is_ascii(), "{name}:\n{page}");
        let words = |text: &str| -> Vec<String> {
            let plain = text.replace('\u{b1}', "+/-").replace("\u{b5}s", "us");
            let kept = plain.split_whitespace().filter(|word| word.is_ascii());
            let drawn = |word: &&str| word.chars().all(|c| ".#=-:+*@|".contains(c));
            kept.filter(|word| !drawn(word))
                .map(str::to_owned)
                .collect()
        };
        assert_eq!(words(&page), words(&shown(&run, &UNICODE)), "{name}");
    }
}

#[test]
fn rows_with_many_numbers_leave_room_for_the_strip() {
    let mut run = fixtures::healthy();
    let finding = run.findings[0].clone();
    run.findings = (0..9).map(|_| finding.clone()).collect();
    let stage = &finding.stages[0];
    let row = |width| {
        let page = shown(&run, &Look { width, ..PLAIN });
        let found = page.lines().find(|line| line.starts_with(stage.as_str()));
        (found.unwrap().to_owned(), page.contains("+ and more"))
    };
    let (narrow, more) = row(80);
    assert!(
        narrow.contains("1,2+") && narrow.contains('#') && more,
        "{narrow}"
    );
    let (wide, more) = row(120);
    assert!(
        wide.contains("1,2,3,4,5,6,7,8,9") && wide.contains('#') && !more,
        "{wide}"
    );
}

#[test]
fn what_is_good_by_a_trial_or_two_says_so() {
    let mut run = explained(fixtures::healthy());
    let good = |run: &Run| {
        let page = shown(
            run,
            &Look {
                width: 200,
                ..PLAIN
            },
        );
        let found = page.lines().find(|line| line.starts_with("Good for"));
        found.expect("uses that pass").to_owned()
    };
    assert!(!good(&run).contains("too few trials"), "{}", good(&run));
    let mut figures = run.figures.iter_mut();
    let figures = figures.find(|figures| figures.stage == "sequential-write");
    figures.expect("the stage").iops.trials = 2;
    let said = good(&run);
    assert!(
        said.contains("(too few trials of sequential-write)"),
        "{said}"
    );
    assert!(said.contains("postgres-wal"), "{said}");
    // Where all stages have too few, that is said once.
    for figures in &mut run.figures {
        figures.iops.trials = 2;
    }
    assert!(!good(&run).contains("too few trials"), "{}", good(&run));
    assert!(shown(&run, &PLAIN).contains("no stage: too few trials"));
}

/// Each number and letter of the page, each limiter, rule and use leads to the whole of it.
#[test]
fn all_that_is_left_out_is_reached_by_what_the_page_prints() {
    for (name, run) in all() {
        let of = |what: &str| {
            text::claim(&run, what, "diskfacts show last", &PLAIN)
                .unwrap_or_else(|why| panic!("{name}, {what}: {why}"))
        };
        let unwrapped = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = |text: &str, part: &str| unwrapped(text).contains(&unwrapped(part));
        let mut all = text::run(&run, &closing(&run), &PLAIN);
        all = unwrapped(&all);
        for (i, finding) in run.findings.iter().enumerate() {
            for what in [(i + 1).to_string(), finding.rule.clone()] {
                let whole = of(&what);
                for part in [&finding.claim, &finding.refuted_by, &finding.remedy] {
                    assert!(said(&whole, part), "{name}, {what}:\n{whole}");
                    assert!(said(&all, part), "{name}, {what}");
                }
            }
        }
        let mut letters = b'a'..=b'z';
        let mut known: Vec<&str> = Vec::new();
        for stage in &run.limits {
            if let Some(first) = stage.limits.first()
                && !known.contains(&first.limiter.as_str())
            {
                known.push(&first.limiter);
                let letter = char::from(letters.next().unwrap()).to_string();
                assert_eq!(of(&letter), of(&first.limiter), "{name}");
            }
            for limit in &stage.limits {
                assert!(
                    said(&of(&limit.limiter), &limit.claim),
                    "{name}, {}",
                    limit.limiter
                );
            }
            let whole =
                text::stage(&run, of_stage(&stage.stage), "diskfacts show last", &PLAIN).unwrap();
            let first = stage.limits.first();
            assert!(
                first.is_none_or(|limit| said(&whole, &limit.claim)),
                "{name}:\n{whole}"
            );
        }
        for verdict in &run.verdicts {
            assert!(said(&of(&verdict.profile), &verdict.needed), "{name}");
        }
    }
}

#[test]
fn a_name_that_nothing_has_is_answered_with_what_there_is() {
    let run = explained(fixtures::healthy());
    let why = text::claim(&run, "nonsense", "diskfacts show last", &PLAIN).unwrap_err();
    assert!(why.starts_with("it has ") && why.contains("etcd"), "{why}");
    let why = text::stage(&run, of_stage("nonsense"), "diskfacts show last", &PLAIN).unwrap_err();
    assert!(why.contains("random-read-qd1"), "{why}");
}

#[test]
fn where_the_time_went_is_a_bar_of_the_width_of_its_parts() {
    use diskfacts_record::{Budget, BudgetPart, Spent};
    let part = |part, mean_ns| BudgetPart {
        part,
        mean_ns,
        range_ns: [mean_ns, mean_ns],
        source: String::new(),
    };
    let mut run = fixtures::healthy();
    run.figures.truncate(1);
    run.figures[0].budget = Some(Budget {
        latency_ns: 100_000.0,
        parts: vec![
            part(Spent::Kernel, 25_000.0),
            part(Spent::Device, 70_000.0),
            part(Spent::Unexplained, 5_000.0),
        ],
        slowest: None,
    });
    let text = text::budgets(&run, &PLAIN);
    let bar = text.split(['[', ']']).nth(1).unwrap();
    let count = |c| bar.chars().filter(|other| *other == c).count() as f64 / bar.len() as f64;
    assert!((count('K') - 0.25).abs() < 0.02, "{text}");
    assert!((count('D') - 0.70).abs() < 0.02, "{text}");
    assert!(text.contains("device 70 us (70 %)"), "{text}");
}

#[test]
fn what_a_run_is_called_stands_in_its_last_line_and_in_the_whole() {
    let mut run = explained(fixtures::healthy());
    let unnamed = shown(&run, &PLAIN);
    run.run.labels.name = Some("nightly".into());
    run.run.labels.tags = ["fw-7".into(), "ci".into()].into();
    run.run.labels.note = Some("after the firmware:\nslower\u{1b}[2J".into());
    let page = shown(&run, &PLAIN);
    let first = format!("Run {} (nightly; ci, fw-7): ", run.run.id);
    assert!(page.contains(&first), "{page}");
    assert!(
        page.contains("\nNote: after the firmware:\n      slower\\u{1b}[2J\n"),
        "{page}"
    );
    assert!(
        unnamed.contains(&format!("Run {}: ", run.run.id)),
        "{unnamed}"
    );
    run.run.labels.name = None;
    let page = shown(&run, &PLAIN);
    assert!(
        page.contains(&format!("Run {} (ci, fw-7): ", run.run.id)),
        "{page}"
    );
    run.run.labels.name = Some("nightly".into());
    let whole = text::run(&run, &closing(&run), &PLAIN);
    for row in [
        "\nName      nightly\n",
        "\nTags      ci, fw-7\n",
        "\nNote      after the firmware:\n          slower\\u{1b}[2J\n",
    ] {
        assert!(whole.contains(row), "{row}\n{whole}");
    }
}
