//! `diskfacts plans`.

use crate::support::Case;

#[test]
fn the_built_in_plans_are_listed_and_printed() {
    let case = Case::new();
    let listed = case.run(["plans"]);
    listed.expect_code(0).expect_stdout("survey");
    for name in ["survey", "overhead"] {
        listed.expect_stdout(name);
        let printed = case.run(["plans", name]);
        printed
            .expect_code(0)
            .expect_stdout(&format!("name = \"{name}\""))
            .expect_stdout("[[stage]]");
        assert_eq!(printed.stderr, "");
    }
    assert!(!case.store().exists());
}

#[test]
fn an_unknown_plan_is_answered_with_the_nearest() {
    let case = Case::new();
    case.refuses(
        &case.diskfacts(["plans", "servey"]),
        &["no plan is called 'servey'", "did you mean 'survey'?"],
    );
}
