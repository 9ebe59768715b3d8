use super::*;
use crate::workload::{Arrivals, Rate};
use std::collections::BTreeMap;

fn keys(workload: &Workload) -> Vec<&'static str> {
    workload.problems().iter().map(|p| p.key).collect()
}

#[test]
fn a_usual_workload_has_no_problem() {
    assert_eq!(Workload::default().problems(), []);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of one case a line")]
fn each_impossible_value_is_named_by_its_key() {
    let base = Workload::default;
    for (workload, key) in [
        (
            Workload {
                block_size: 0,
                ..base()
            },
            "block_size",
        ),
        (
            Workload {
                block_size: 2 << 30,
                ..base()
            },
            "block_size",
        ),
        (
            Workload {
                span: Some(512),
                ..base()
            },
            "block_size",
        ),
        (
            Workload {
                queue_depth: 0,
                ..base()
            },
            "queue_depth",
        ),
        (
            Workload {
                queue_depth: 100_000,
                ..base()
            },
            "queue_depth",
        ),
        (
            Workload {
                streams: 0,
                ..base()
            },
            "streams",
        ),
        (
            Workload {
                queue_depth: 4096,
                block_size: 1 << 30,
                ..base()
            },
            "queue_depth",
        ),
        (
            Workload {
                operation: Operation::Mixed { read_percent: 100 },
                ..base()
            },
            "read_percent",
        ),
        (
            Workload {
                pattern: Pattern::Zipf { theta: f64::NAN },
                ..base()
            },
            "theta",
        ),
        (
            Workload {
                sync: SyncMode::Fsync,
                ..base()
            },
            "sync",
        ),
        (
            Workload {
                engine: EngineChoice::Sync,
                queue_depth: 8,
                ..base()
            },
            "queue_depth",
        ),
        (
            Workload {
                buffer: BufferAlignment::Unaligned,
                ..base()
            },
            "buffer",
        ),
        (
            Workload {
                iopoll: true,
                cache: CacheMode::Buffered,
                ..base()
            },
            "iopoll",
        ),
        (
            Workload {
                sqpoll: true,
                engine: EngineChoice::Null,
                ..base()
            },
            "sqpoll",
        ),
        (
            Workload {
                rate: Some(Rate {
                    operations_per_s: 0,
                    arrivals: Arrivals::Fixed,
                }),
                ..base()
            },
            "rate",
        ),
        (
            Workload {
                stop: Stop {
                    time_ns: Some(0),
                    ..Stop::default()
                },
                ..base()
            },
            "time",
        ),
        (
            Workload {
                stop: Stop {
                    bytes: Some(100),
                    ..Stop::default()
                },
                ..base()
            },
            "bytes",
        ),
    ] {
        assert_eq!(keys(&workload), [key], "{workload:?}");
    }
}

#[test]
fn a_target_refuses_what_does_not_fit_or_align() {
    let target = Constraints {
        size: 1 << 20,
        direct_multiple: Some(512),
    };
    let on = |workload: Workload| -> Vec<&'static str> {
        workload
            .problems_on(&target)
            .iter()
            .map(|p| p.key)
            .collect()
    };
    let base = Workload::default;
    assert_eq!(on(base()), [""; 0]);
    assert_eq!(
        on(Workload {
            block_size: 2 << 20,
            ..base()
        }),
        ["block_size"]
    );
    assert_eq!(
        on(Workload {
            block_size: 1000,
            ..base()
        }),
        ["block_size"]
    );
    assert_eq!(
        on(Workload {
            block_size: 1000,
            cache: CacheMode::Buffered,
            ..base()
        }),
        [""; 0]
    );
    assert_eq!(
        on(Workload {
            offset: 1 << 20,
            ..base()
        }),
        ["offset"]
    );
    assert_eq!(
        on(Workload {
            offset: 100,
            ..base()
        }),
        ["offset"]
    );
    assert_eq!(
        on(Workload {
            span: Some(2 << 20),
            ..base()
        }),
        ["span"]
    );
}

#[test]
fn stages_need_names_of_their_own() {
    let stage = crate::Stage {
        name: "a".into(),
        about: String::new(),
        workload: Workload::default(),
        settings: BTreeMap::new(),
        kernel: BTreeMap::new(),
        full: None,
    };
    let mut plan = Plan {
        name: "p".into(),
        about: String::new(),
        trials: 1,
        time_ns: None,
        until: crate::Until::default(),
        precondition: Vec::new(),
        stages: vec![stage.clone(), stage],
    };
    assert_eq!(plan.problems().len(), 1);
    // Cells of a matrix share their name and differ in their settings.
    plan.stages[1].settings.insert("mode".into(), "x".into());
    assert_eq!(plan.problems(), []);
}

#[test]
fn a_full_amount_of_nothing_is_refused() {
    let mut plan = crate::builtin::plan("write-matrix").unwrap();
    plan.stages.truncate(2);
    plan.stages[0].full.as_mut().unwrap().bytes = Some(4095);
    let keys =
        |plan: &Plan| -> Vec<&'static str> { plan.problems().iter().map(|(_, p)| p.key).collect() };
    assert_eq!(keys(&plan), ["full_bytes"]);
    plan.stages[0].full.as_mut().unwrap().bytes = Some(4096);
    plan.stages[1].full.as_mut().unwrap().operations = Some(0);
    plan.time_ns = Some(0);
    assert_eq!(keys(&plan), ["time", "full_operations"]);
}

#[test]
fn a_precision_of_nothing_and_a_limit_without_one_are_refused() {
    let mut plan = crate::builtin::plan("survey").unwrap();
    let keys =
        |plan: &Plan| -> Vec<&'static str> { plan.problems().iter().map(|(_, p)| p.key).collect() };
    assert_eq!(keys(&plan), [""; 0]);
    plan.until.precision = None;
    plan.until.trials_max = Some(20);
    assert_eq!(keys(&plan), ["trials_max"]);
    plan.until.precision = Share::parse("0%").ok();
    assert_eq!(keys(&plan), ["precision"]);
    plan.until.precision = Share::parse("3%").ok();
    assert_eq!(keys(&plan), [""; 0]);
    plan.until.trials_max = Some(plan.trials - 1);
    assert_eq!(keys(&plan), ["trials_max"]);
    assert_eq!(plan.until.precision(), Some(0.03));
}

#[test]
fn what_is_done_before_the_trials_writes_the_target_and_has_a_name_and_an_end() {
    let text = |keys: &str| {
        format!(
            "name = \"x\"\n[[precondition]]\nname = \"p\"\n{keys}\n\
             [[stage]]\nname = \"a\"\noperation = \"read\"\n"
        )
    };
    let keys = |keys: &str| -> Vec<&'static str> {
        let plan = crate::file::parse(&text(keys)).unwrap();
        plan.problems().iter().map(|(_, p)| p.key).collect()
    };
    assert_eq!(keys("operation = \"write\""), [""; 0]);
    assert_eq!(keys("operation = \"write\"\nsteady = true"), [""; 0]);
    for (wrong, key) in [
        ("operation = \"read\"", "operation"),
        ("operation = \"write\"\nengine = \"null\"", "operation"),
        ("operation = \"write\"\nrounds = 0", "rounds"),
        ("operation = \"write\"\nrounds = 1001", "rounds"),
        ("operation = \"write\"\nrounds_max = 9", "rounds_max"),
        (
            "operation = \"write\"\nsteady = true\nrounds_max = 4",
            "rounds_max",
        ),
        ("operation = \"write\"\nvalues = \"fill\"", "values"),
        ("operation = \"write\"\nqueue_depth = 0", "queue_depth"),
    ] {
        assert!(keys(wrong).contains(&key), "{wrong}: {:?}", keys(wrong));
    }
    let same = text("operation = \"write\"").replace("\"p\"", "\"a\"");
    let problems = crate::file::parse(&same).unwrap().problems();
    assert_eq!(problems[0].1.key, "name");
}
