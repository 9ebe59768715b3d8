use super::*;
use proptest::prelude::*;

fn error_of(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

const GOOD: &str = "name = \"x\"\n[[stage]]\nname = \"a\"\noperation = \"read\"\n";

#[test]
fn a_stage_needs_only_a_name_and_an_operation() {
    let plan = parse(GOOD).unwrap();
    assert_eq!(plan.trials, 3);
    assert_eq!(plan.stages[0].workload, Workload::default());
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
    let error = error_of(&format!("{GOOD}blok_size = \"4k\"\n"));
    assert!(
        error.starts_with("line 5: unknown key 'blok_size'"),
        "{error}"
    );
    assert!(error.contains("did you mean 'block_size'?"), "{error}");
    let error = error_of(&format!("trails = 3\n{GOOD}"));
    assert!(
        error.starts_with("line 1:") && error.contains("'trials'"),
        "{error}"
    );
    let error = error_of(&format!("{GOOD}wibble = 3\n"));
    assert!(!error.contains("did you mean"), "{error}");
}

#[test]
fn a_wrong_type_is_named_with_its_line() {
    for (line, wanted) in [
        ("queue_depth = \"eight\"", "whole number"),
        ("queue_depth = -1", "out of range"),
        ("queue_depth = 5000000000", "out of range"),
        ("block_size = true", "a size"),
        ("block_size = \"4 apples\"", "unknown unit"),
        ("cache = 3", "\"direct\""),
        ("cache = \"dirct\"", "did you mean \"direct\"?"),
        ("iopoll = 1", "true or false"),
        ("time = \"5 parsecs\"", "ms"),
        ("theta = 1.0", "zipf"),
        ("read_percent = 30", "mixed"),
        ("arrivals = \"poisson\"", "rate"),
    ] {
        let error = error_of(&format!("{GOOD}{line}\n"));
        assert!(error.starts_with("line 5:"), "{line}: {error}");
        assert!(error.contains(wanted), "{line}: {error}");
    }
}

#[test]
fn a_stage_without_an_operation_says_what_to_write() {
    let error = error_of("name = \"x\"\n[[stage]]\nname = \"a\"\n");
    assert!(error.starts_with("line 2:"), "{error}");
    assert!(error.contains("operation = \"read\""), "{error}");
}

#[test]
fn what_is_not_toml_is_said_with_its_line() {
    let error = error_of("name = \"x\"\n[[stage\n");
    assert!(error.starts_with("line 2: not TOML"), "{error}");
    assert!(error_of("stage = 3\nname = \"x\"").contains("[[stage]]"));
    assert!(error_of("name = \"Not Lower\"").contains("lower-case"));
}

fn any_workload() -> impl Strategy<Value = Workload> {
    let operation = prop_oneof![
        Just(Operation::Read),
        Just(Operation::Write),
        (0_u8..=255).prop_map(|read_percent| Operation::Mixed { read_percent })
    ];
    let pattern = prop_oneof![
        Just(Pattern::Sequential),
        Just(Pattern::Random),
        (0.0_f64..10.0).prop_map(|theta| Pattern::Zipf { theta })
    ];
    let rate = prop::option::of(
        (0_u64..1 << 40, prop::bool::ANY).prop_map(|(n, fixed)| Rate {
            operations_per_s: n,
            arrivals: if fixed {
                Arrivals::Fixed
            } else {
                Arrivals::Poisson
            },
        }),
    );
    let size = prop_oneof![
        0_u64..=u64::MAX,
        (0_u64..100_000, 0_u32..40).prop_map(|(n, s)| n << s)
    ];
    let stop = (
        prop::option::of(0_u64..u64::MAX),
        prop::option::of(size.clone()),
        prop::option::of(0_u64..1 << 60),
    );
    (
        (
            operation,
            pattern,
            size.clone(),
            size.clone(),
            prop::option::of(size),
        ),
        (
            0_u32..=u32::MAX,
            0_u32..=u32::MAX,
            0_usize..4,
            0_usize..6,
            rate,
            stop,
        ),
        (0_usize..4, prop::bool::ANY, prop::bool::ANY),
    )
        .prop_map(
            |((operation, pattern, block_size, offset, span), b, c)| Workload {
                operation,
                pattern,
                block_size,
                offset,
                span,
                queue_depth: b.0,
                streams: b.1,
                cache: CACHES[b.2].1,
                sync: SYNCS[b.3].1,
                rate: b.4,
                stop: Stop {
                    time_ns: b.5.0,
                    bytes: b.5.1,
                    operations: b.5.2,
                },
                engine: ENGINES[c.0].1,
                iopoll: c.1,
                sqpoll: c.2,
            },
        )
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_as_the_same_plan(
        about in "\\PC*",
        trials: u32,
        workloads in prop::collection::vec(any_workload(), 0..4),
    ) {
        let stages = workloads
            .into_iter()
            .enumerate()
            .map(|(i, workload)| Stage { name: format!("s{i} \"ä\\\n"), about: about.clone(), workload })
            .collect();
        let plan = Plan { name: "round-trip-1".into(), about, trials, stages };
        let text = print(&plan);
        prop_assert_eq!(parse(&text), Ok(plan), "{}", text);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in ".*") {
        let _ = parse(&text);
    }
}

#[test]
fn built_in_plans_survive_printing() {
    for name in crate::builtin::names() {
        let plan = crate::builtin::plan(name).unwrap();
        assert_eq!(parse(&print(&plan)), Ok(plan));
    }
}
