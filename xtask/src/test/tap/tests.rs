use super::*;

const SUCCESS: Exit = Exit {
    success: true,
    text: String::new(),
    left_something_running: false,
    was_stuck: false,
};

fn failure() -> Exit {
    Exit {
        success: false,
        text: "exit status: 1".to_owned(),
        left_something_running: false,
        was_stuck: false,
    }
}

fn read(text: &str, exit: &Exit) -> Outcome {
    let mut reader = Reader::of("node");
    for line in text.lines() {
        reader.line(line);
    }
    reader.finish(exit)
}

fn skips(outcome: &Outcome) -> Vec<(&str, &str)> {
    outcome
        .skipped
        .iter()
        .map(|skip| (&*skip.test, &*skip.reason))
        .collect()
}

/// The closing lines of Node 18.20 and 20.20.
fn closing(numbers: [u64; 6]) -> String {
    let [tests, pass, fail, cancelled, skipped, todo] = numbers;
    format!(
        "1..6\n# tests {tests}\n# suites 0\n# pass {pass}\n# fail {fail}\n\
         # cancelled {cancelled}\n# skipped {skipped}\n# todo {todo}\n# duration_ms 209727.1\n"
    )
}

/// As Node 20.20 prints it, shortened.
const POINTS: &str = "\
TAP version 13
# \\# pass 99
# Subtest: plain \\# hash
ok 1 - plain \\# hash
  ---
  duration_ms: 34.233476
  ...
# Subtest: skips
ok 2 - skips # SKIP root: run the tests as root
  ---
  duration_ms: 0.150434
  ...
# Subtest: parent
    # Subtest: child
    not ok 1 - child
      ---
      error: 'x'
      ...
    # Subtest: kid
    ok 2 - kid # SKIP wine64: apt-get install wine64
    1..2
not ok 3 - parent
# Subtest: later
not ok 4 - later # TODO
# Subtest: slow \\\\ \\# 2
not ok 5 - slow \\\\ \\# 2
";

#[test]
fn numbers_come_from_the_closing_lines_and_names_from_the_points() {
    let outcome = read(
        &(POINTS.to_owned() + &closing([7, 1, 2, 1, 2, 1])),
        &failure(),
    );
    assert_eq!(outcome.passed, 1);
    assert_eq!(
        outcome.failed,
        ["node: child", "node: parent", "node: slow \\ # 2"]
    );
    assert_eq!(
        skips(&outcome),
        [
            ("node: skips", "root: run the tests as root"),
            ("node: kid", "wine64: apt-get install wine64"),
            ("node: later", "marked as to be done"),
        ]
    );
}

#[test]
fn a_good_run_has_passed_and_nothing_else() {
    let text = "ok 1 - a\nok 2 - b\n".to_owned() + &closing([2, 2, 0, 0, 0, 0]);
    let outcome = read(&text, &SUCCESS);
    assert_eq!(outcome.passed, 2);
    assert_eq!(outcome.failed, Vec::<String>::new());
    assert_eq!(outcome.skipped, Vec::new());
}

#[test]
fn a_run_without_closing_lines_is_a_failure_whatever_it_ended_with() {
    for exit in [&SUCCESS, &failure()] {
        for text in [
            "",
            "ok 1 - a\n",
            "ok 1 - a\n# tests 1\n# pass 1\n# fail 0\n",
        ] {
            let outcome = read(text, exit);
            assert_eq!(outcome.passed, 0, "{text}");
            assert_eq!(outcome.failed.len(), 1, "{text}");
            assert!(
                outcome.failed[0].contains("before their closing lines"),
                "{text}"
            );
        }
    }
}

#[test]
fn a_test_whose_line_was_lost_still_counts() {
    let outcome = read(&closing([3, 0, 1, 1, 1, 0]), &failure());
    assert_eq!(outcome.failed, ["node: a test", "node: a test"]);
    assert_eq!(
        skips(&outcome),
        [("node: a test", "its reason was not printed")]
    );
}

#[test]
fn closing_lines_that_do_not_add_up_are_a_failure() {
    let outcome = read(&closing([5, 2, 0, 0, 0, 0]), &SUCCESS);
    assert_eq!(outcome.failed, ["node: the closing lines do not add up"]);
}

#[test]
fn a_bad_end_without_a_failed_test_is_a_failure() {
    let outcome = read(&closing([1, 1, 0, 0, 0, 0]), &failure());
    assert_eq!(
        outcome.failed,
        ["node --test did not get to the end (exit status: 1)"]
    );
}

#[test]
fn a_run_without_any_test_is_a_failure() {
    let outcome = read(&closing([0; 6]), &SUCCESS);
    assert_eq!(outcome.failed, ["node --test ran no test"]);
}

#[test]
fn a_process_left_behind_is_a_failure() {
    let exit = Exit {
        left_something_running: true,
        was_stuck: false,
        ..SUCCESS
    };
    let outcome = read(&closing([1, 1, 0, 0, 0, 0]), &exit);
    assert_eq!(outcome.failed.len(), 1);
    assert!(outcome.failed[0].contains("left a process running"));
}

#[test]
fn what_only_looks_like_a_point_is_none() {
    let text = "ok then - nothing\nnot ok at all\nok 1\n  # pass 7\n".to_owned()
        + &closing([1, 1, 0, 0, 0, 0]);
    let outcome = read(&text, &SUCCESS);
    assert_eq!(
        (outcome.passed, outcome.failed.len(), outcome.skipped.len()),
        (1, 0, 0)
    );
}
