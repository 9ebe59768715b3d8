//! Plan files as people write them, and what they are crossed with.

use diskfacts_plan::Plan;
use diskfacts_plan::file::{Varied, parse, parse_crossed, print};

/// What is read prints as a text that reads back as the same plan; what is
/// refused says where and why.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    crossed(text);
    match parse(text) {
        Ok(plan) => reads_back(&plan),
        Err(error) => {
            let lines = 1 + text.bytes().filter(|byte| *byte == b'\n').count();
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(!error.message.is_empty());
        }
    }
}

fn reads_back(plan: &Plan) {
    let printed = print(plan);
    let again = parse(&printed).expect("a printed plan is a plan");
    // Not by `==`: `theta = nan` is read, and refused by the check.
    assert_eq!(format!("{again:?}"), format!("{plan:?}"));
    assert_eq!(print(&again), printed);
}

/// What is typed behind `--vary`: the first line is the key, the others are values. It
/// cannot get out of its place, whatever it holds.
fn crossed(text: &str) {
    const PLAN: &str = "name = \"x\"\n[[stage]]\nname = \"a\"\noperation = \"read\"\n";
    let mut lines = text.lines().map(str::to_owned);
    let axis = Varied {
        name: lines.next().unwrap_or_default(),
        values: lines.collect(),
    };
    match parse_crossed(PLAN, std::slice::from_ref(&axis), &[]) {
        Ok(plan) => {
            assert_eq!(plan.stages.len(), axis.values.len());
            assert_eq!(plan.choose, [axis.name]);
            reads_back(&plan);
        }
        Err(error) => assert!(!error.message.is_empty()),
    }
}
