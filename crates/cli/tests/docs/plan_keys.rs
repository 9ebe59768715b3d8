//! The keys of plan files: which there are, their examples, defaults, words and ranges,
//! and the plans in all pages.

use super::{PLAN_FILE, only_span, pages, read, rows, section, spans, split};
use diskfacts_plan::units::parse_size;
use diskfacts_plan::{Plan, file, kernel};
use std::collections::BTreeSet;

fn key_of(setting: &str) -> &str {
    setting.split(" = ").next().unwrap_or_default()
}

/// Reads a plan that has these settings, and judges it.
type Build = fn(&[String]) -> Result<Plan, String>;

fn judged(text: &str) -> Result<Plan, String> {
    let plan = file::parse(text).map_err(|error| error.to_string())?;
    match plan.problems().first() {
        None => Ok(plan),
        Some((_, problem)) => Err(problem.to_string()),
    }
}

/// The settings, and those of these that are not among them.
fn with(settings: &[String], needed: &[&str]) -> String {
    let missing = needed
        .iter()
        .copied()
        .filter(|one| settings.iter().all(|s| key_of(s) != key_of(one)));
    let all: Vec<&str> = settings.iter().map(String::as_str).chain(missing).collect();
    all.join("\n")
}

fn a_plan(settings: &[String]) -> Result<Plan, String> {
    let top = with(settings, &["name = \"x\""]);
    judged(&format!(
        "{top}\n[[stage]]\nname = \"s\"\noperation = \"read\"\nvary = {{ streams = [1, 2] }}\n"
    ))
}

fn a_stage(settings: &[String]) -> Result<Plan, String> {
    let stage = with(settings, &["name = \"s\"", "operation = \"read\""]);
    judged(&format!("name = \"x\"\n[[stage]]\n{stage}\n"))
}

fn a_precondition(settings: &[String]) -> Result<Plan, String> {
    let work = with(settings, &["name = \"p\"", "operation = \"write\""]);
    let stage = "[[stage]]\nname = \"s\"\noperation = \"read\"";
    judged(&format!(
        "name = \"x\"\n[[precondition]]\n{work}\n{stage}\n"
    ))
}

/// The three kinds of keys: their section, and how a plan with such keys is made.
const KEYS: [(&str, Build); 3] = [
    ("Keys of the plan", a_plan),
    ("Keys of a precondition", a_precondition),
    ("Keys of a stage", a_stage),
];

/// The keys that the parser knows where a plan with such keys is made.
fn known(build: Build) -> BTreeSet<String> {
    let error = build(&["zzz = 1".to_owned()]).expect_err("it is no key");
    let (_, known) = error
        .split_once("(known keys: ")
        .expect("the keys are named");
    let known = known.trim_end_matches(')').split(", ");
    known.map(str::to_owned).collect()
}

#[test]
fn every_plan_in_the_documentation_is_understood_as_a_whole() {
    let mut plans = 0;
    for page in pages() {
        let (_, fences) = split(&read(&page));
        for fence in fences.iter().filter(|f| f.mark.starts_with("toml")) {
            assert_eq!(fence.mark, "toml plan", "{page}: an example nobody checks");
            let judged = judged(&fence.text);
            assert!(judged.is_ok(), "{page}: {judged:?}\n{}", fence.text);
            plans += 1;
        }
    }
    assert!(plans > 0);
}

#[test]
fn every_key_that_the_parser_knows_is_documented_and_no_other() {
    let (prose, _) = split(&read(PLAN_FILE));
    for (heading, build) in KEYS {
        let mut known = known(build);
        assert!(known.contains("name"), "{known:?}");
        if heading == "Keys of a precondition" {
            // It has those of a stage too, but for its full amount.
            let of_stage = self::known(a_stage);
            let lacks: Vec<&String> = of_stage.difference(&known).collect();
            assert!(
                lacks.iter().all(|key| key.starts_with("full_")),
                "{lacks:?}"
            );
            known.retain(|key| !of_stage.contains(key));
        }
        let documented: Vec<String> = rows(&section(&prose, 2, heading), "key")
            .iter()
            .map(|row| only_span(&row[0]).expect("a key in backticks"))
            .collect();
        let once: BTreeSet<String> = documented.iter().cloned().collect();
        assert_eq!(once.len(), documented.len(), "{heading}: a key twice");
        assert_eq!(once, known, "{heading}");
    }
}

#[test]
fn examples_defaults_words_and_ranges_of_keys_are_the_parsers_own() {
    let (prose, _) = split(&read(PLAN_FILE));
    for (heading, build) in KEYS {
        for row in rows(&section(&prose, 2, heading), "key") {
            let [key, kind, default, range, example] = &row[..] else {
                panic!("{heading}: not five cells: {row:?}");
            };
            let key = only_span(key).expect("a key in backticks");
            if kind.starts_with("tables") {
                continue;
            }
            let example = spans(example);
            assert!(
                example.iter().any(|s| key_of(s) == key),
                "{key}: no example"
            );
            let plan = build(&example);
            assert!(plan.is_ok(), "{key}: {plan:?}");
            // What else the key needs.
            let base: Vec<String> = example.into_iter().filter(|s| key_of(s) != key).collect();
            let set = |value: &str| {
                let mut settings = base.clone();
                settings.push(format!("{key} = {value}"));
                build(&settings)
            };
            if let Some(default) = only_span(default) {
                assert_eq!(set(&default), build(&base), "{key}: its default");
            }
            if kind == "word" {
                let error = set("\"no such word\"").expect_err("it is no such word");
                let (_, taken) = error.split_once("It takes ").expect("the words are named");
                let words: Vec<&str> = taken.split(", ").collect();
                assert_eq!(spans(range), words, "{key}");
            }
            if let [low, high] = &spans(range)[..]
                && range.contains("` to `")
            {
                for end in [low, high] {
                    let plan = set(end);
                    assert!(plan.is_ok(), "{key} = {end}: {plan:?}");
                }
                for beyond in [next(low, false), next(high, true)] {
                    let plan = set(&beyond);
                    assert!(plan.is_err(), "{key} = {beyond} is not refused");
                }
            }
        }
    }
}

/// The value just beyond this one.
fn next(value: &str, up: bool) -> String {
    if value.starts_with('"') {
        let bytes = parse_size(value.trim_matches('"')).expect("a size");
        format!("\"{}B\"", if up { bytes + 1 } else { bytes - 1 })
    } else if value.contains('.') {
        let number: f64 = value.parse().expect("a number");
        format!("{:?}", number * if up { 1.001 } else { 0.999 })
    } else {
        let number: u64 = value.parse().expect("a whole number");
        format!("{}", if up { number + 1 } else { number - 1 })
    }
}

#[test]
fn every_setting_of_the_kernel_is_documented_with_what_it_takes() {
    let (prose, _) = split(&read(PLAN_FILE));
    let expected: Vec<Vec<String>> = kernel::SETTINGS
        .iter()
        .map(|setting| {
            let name = match setting.name {
                kernel::OF_SCHEDULER => "iosched/NAME",
                name => name,
            };
            let of = match setting.scope {
                kernel::Scope::Device => "device",
                kernel::Scope::Machine => "machine",
                kernel::Scope::Process => "process",
            };
            let takes = setting.kind.wanted();
            vec![format!("`{name}`"), of.into(), takes, setting.about.into()]
        })
        .collect();
    let of_stage = section(&prose, 3, "What the kernel is set to");
    assert_eq!(rows(&of_stage, "setting"), expected);
}

#[test]
fn what_the_documentation_calls_refused_is_refused() {
    let (prose, _) = split(&read(PLAN_FILE));
    let refused = rows(&prose, "refused");
    assert!(refused.len() > 5, "{refused:?}");
    for row in refused {
        let plan = a_stage(&spans(&row[0]));
        assert!(plan.is_err(), "{} is not refused", row[0]);
    }
}
