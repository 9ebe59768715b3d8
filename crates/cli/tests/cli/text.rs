//! What people read: 80 columns, colour only where it is wanted, help that
//! helps.

use crate::support::{Case, diskfacts};
use diskfacts_testkit::Finished;

/// Lines that are wider than a terminal of 80 columns though they could be
/// broken: a path or an address is kept whole on a line of its own, and so is
/// the command that made the run.
fn too_wide(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| line.chars().count() > 80 && line.trim().contains(' '))
        .filter(|line| !line.starts_with("Command "))
        // Nor is the path of the target, which may be longer than a line.
        .filter(|line| line.split(' ').all(|word| word.len() < 60))
        // A command to type is not broken; too long a one has its own line.
        .filter(|line| !line.trim().starts_with("`diskfacts "))
        .collect()
}

fn survey(case: &Case) -> Finished {
    case.folder("data");
    let finished = diskfacts(["measure", "data", "--time", "3s", "--size", "16MiB"])
        .args(["--store", "runs.db"])
        .current_dir(case.path(""))
        .run();
    finished.expect_code(0);
    finished
}

#[test]
fn the_facts_fit_80_columns_in_ascii_without_colour() {
    let case = Case::new();
    let finished = survey(&case);
    assert_eq!(too_wide(&finished.stdout), [""; 0]);
    assert_eq!(too_wide(&finished.stderr), [""; 0]);
    assert!(finished.stdout.is_ascii(), "{finished}");
    assert!(!finished.stdout.contains('\x1b') && !finished.stderr.contains('\x1b'));
    // What it says to type next can be typed as it is.
    let next = &finished.stdout;
    let commands: Vec<&str> = next
        .lines()
        .filter_map(|line| line.trim().strip_prefix("diskfacts "))
        .map(|line| line.split(" #").next().unwrap_or(line))
        .collect();
    // The first claim, all of it, and the page; and what a use needs, where one is judged.
    let of_use = |command: &&str| command.contains("--claim") && !command.ends_with("--claim 1");
    let (uses, rest): (Vec<&str>, Vec<&str>) = commands.iter().partition(|one| of_use(one));
    assert!(rest.len() == 3 && uses.len() <= 1, "{next}");
    let judged =
        next.contains("\nGood for") || next.contains("\nMarginal") || next.contains("\nNot for");
    assert!(judged || uses.is_empty(), "{next}");
    for command in commands {
        diskfacts(command.split_whitespace())
            .current_dir(case.path(""))
            .run()
            .expect_code(0);
    }
}

#[test]
fn throughput_is_in_one_unit_and_the_stages_in_the_order_of_the_plan() {
    let case = Case::new();
    let finished = case
        .diskfacts(["measure", "--explain", "--size", "16MiB", "--plan"])
        .args([case.counted_survey(), case.folder("data")])
        .run();
    finished.expect_code(0);
    let names = [
        "cached-random-read: ",
        "sequential-read: ",
        "buffered-read: ",
        "random-read-qd1: ",
        "random-read-qd4: ",
        "random-read-qd16: ",
        "random-read-qd32: ",
        "sequential-write: ",
        "random-write-qd1: ",
        "random-write-qd32: ",
        "log-write: ",
        "mixed-70-30: ",
    ];
    let (_, figures) = finished
        .stdout
        .split_once("\nFigures")
        .expect("the figures");
    let mut after = figures;
    for name in names {
        let (_, rest) = after
            .split_once(&format!("\n{name}"))
            .unwrap_or_else(|| panic!("no {name} after the one before:\n{finished}"));
        let lines: String = rest.lines().take(4).collect();
        for unit in ["MB/s", "IOPS", "p50", "p99.9", "max", "CPU"] {
            assert!(lines.contains(unit), "{name}: no {unit} in {lines}");
        }
        after = rest;
    }
    let page = case.run(["show", "last"]);
    page.expect_code(0);
    for text in [&finished.stdout, &page.stdout] {
        assert!(!text.contains("MiB/s"), "{text}");
    }
    for name in names {
        let name = name.trim_end_matches(": ");
        // Its row has latencies, which no other line that begins with a name has.
        let rows = page.stdout.lines().filter(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let units = words
                .iter()
                .filter(|word| ["ns", "us", "ms", "s"].contains(*word));
            words.first() == Some(&name) && units.count() >= 1
        });
        assert_eq!(rows.count(), 1, "{name}:\n{}", page.stdout);
    }
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let case = Case::new();
    survey(&case);
    let show = |when: &str, no_color: &str| {
        let shown = case
            .diskfacts(["show", "--color", when])
            .env("NO_COLOR", no_color)
            .run();
        shown.expect_code(0);
        shown.stdout
    };
    let plain = show("auto", "");
    assert!(!plain.contains('\x1b'));
    assert_eq!(show("never", ""), plain);
    let coloured = show("always", "");
    assert!(coloured.contains("\x1b["));
    // Whoever asks for it gets it, and colour adds nothing but colour.
    assert_eq!(show("always", "1"), coloured);
    assert_eq!(without_escapes(&coloured), plain);
    case.run(["show", "--color", "sometimes"])
        .expect_code(2)
        .expect_stderr("always");
}

/// The text without SGR sequences.
fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        let end = escape.find(|c: char| c.is_ascii_alphabetic());
        rest = &escape[end.map_or(escape.len(), |end| end + 1)..];
    }
    plain + rest
}

#[test]
fn every_help_fits_80_columns_and_says_what_the_command_is_for() {
    for (words, said) in [
        (&["--help"][..], "Exit codes"),
        (&["--help"], "Examples:"),
        (&["-h"], "Usage: diskfacts [OPTIONS] <TARGET>"),
        (&["help"], "measure"),
        (&["measure", "--help"], "--destroy-data-on <PATH>"),
        (&["measure", "-h"], "[default: survey]"),
        (&["help", "measure"], "postgres-wal"),
        (&["plans", "--help"], "TOML"),
        (&["devices", "--help"], "--json"),
        (&["runs", "--help"], "--limit"),
        (&["show", "--help"], "last~1"),
        (&["explain", "--help"], "No run is needed"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
    ] {
        let finished = diskfacts(words).run();
        finished.expect_code(0).expect_stdout(said);
        assert_eq!(finished.stderr, "");
        assert_eq!(too_wide(&finished.stdout), [""; 0], "{words:?}");
    }
}
