//! How many stages a plan may have.

use super::*;

#[test]
fn more_stages_than_a_plan_may_have_are_refused_with_the_bound() {
    let many = |count: usize| {
        let stage = |number| format!("[[stage]]\nname = \"s{number}\"\noperation = \"read\"\n");
        let stages: String = (0..count).map(stage).collect();
        format!("name = \"many\"\n{stages}")
    };
    let refused = parse(&many(300_000)).unwrap_err().to_string();
    assert!(
        refused.contains("300000 are more than the 10000"),
        "{refused}"
    );
    // Matrices add up.
    let cells = "[[stage]]\nname = \"m\"\noperation = \"read\"\nvary = { queue_depth = [DEPTHS], block_size = [SIZES] }\n";
    let list = |step: usize| {
        let values: Vec<String> = (1..=64).map(|value| (value * step).to_string()).collect();
        values.join(", ")
    };
    let cells = cells
        .replace("DEPTHS", &list(1))
        .replace("SIZES", &list(512));
    let text = format!("name = \"many\"\n{}", cells.repeat(3));
    let refused = parse(&text).unwrap_err().to_string();
    assert!(
        refused.contains("12288 are more than the 10000"),
        "{refused}"
    );
    // As many as there may be are read, and each looked at once.
    let plan = parse(&many(10_000)).unwrap();
    let same = plan
        .problems()
        .into_iter()
        .any(|(_, problem)| problem.key == "name");
    assert!(!same);
}
