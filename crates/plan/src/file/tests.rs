use super::*;
use crate::files::Files;
use crate::observe::OBSERVERS;
use crate::precondition::Precondition;
use crate::{IoContext, IoPriority, Observe, SyncMode};
use proptest::prelude::*;
use std::collections::BTreeMap;

mod stages;

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
        ("buffer = \"odd\"", "\"unaligned\""),
        ("full_bytes = true", "a size"),
        ("time = \"5 parsecs\"", "ms"),
        ("theta = 1.0", "zipf"),
        ("read_percent = 30", "mixed"),
        ("skip = 4", "only pattern = \"stride\" takes it"),
        ("fixed = true", "only pattern = \"stride\" takes it"),
        ("offset0 = false", "only pattern = \"stride\" takes it"),
        ("pattern = \"stride\"", "skip = a number of blocks"),
        ("offset = \"137%\"", "37.5%"),
        ("span = \"a%\"", "37.5%"),
        (
            "modify_percent = 30",
            "only operation = \"modify\" takes it",
        ),
        ("values = \"some\"", "\"fill\""),
        ("values_seed = 3", "values = "),
        ("touch = \"all\"", "\"every\""),
        ("arrivals = \"poisson\"", "rate"),
        ("files = 100", "\"create\""),
        ("io_priority = 3", "a text in quotes"),
        ("io_priority = \"high\"", "\"best-effort:0\""),
        ("folders = 2", "\"create\""),
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

fn any_files() -> impl Strategy<Value = Files> {
    (0..=u64::MAX, 0..=u64::MAX, 0..=u64::MAX, 0..=u64::MAX).prop_map(
        |(count, size_min, size_max, folders)| Files {
            count: count >> 1,
            size_min,
            size_max,
            folders: folders >> 1,
        },
    )
}

fn any_workload() -> impl Strategy<Value = Workload> {
    let pool = prop::option::of(
        (0_u32..=u32::MAX, 0_usize..2).prop_map(|(threads, context)| Pool {
            threads,
            io_context: IO_CONTEXTS[context].1,
        }),
    );
    (
        any_plain_workload(),
        pool,
        prop::option::of(any_plain_workload()),
    )
        .prop_map(|(workload, pool, beside)| Workload {
            pool,
            beside: beside.map(Box::new),
            ..workload
        })
}

fn any_pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Sequential),
        Just(Pattern::Random),
        (0.0_f64..10.0).prop_map(|theta| Pattern::Zipf { theta }),
        (0..=u64::MAX, prop::bool::ANY, prop::bool::ANY).prop_map(
            |(skip_blocks, fixed, from_start)| Pattern::Stride {
                skip_blocks,
                fixed,
                from_start,
            }
        )
    ]
}

fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        Just(Operation::Read),
        Just(Operation::Write),
        (0_u8..=255).prop_map(|read_percent| Operation::Mixed { read_percent }),
        Just(Operation::Create),
        Just(Operation::Stat),
        Just(Operation::Delete),
        (0_u8..=255).prop_map(|percent| Operation::Modify { percent })
    ]
}

fn any_plain_workload() -> impl Strategy<Value = Workload> {
    let share = prop::option::of(
        (0_u32..=100).prop_map(|percent| Share::parse(&format!("{percent}%")).unwrap()),
    );
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
        prop::option::of(0_u64..1 << 60),
    );
    (
        (
            any_operation(),
            any_pattern(),
            size.clone(),
            size.clone(),
            prop::option::of(size),
        ),
        (
            0_u32..=u32::MAX,
            0_u32..=u32::MAX,
            0_usize..4,
            0_usize..7,
            rate,
            stop,
        ),
        (
            0_usize..5,
            prop::bool::ANY,
            prop::bool::ANY,
            0_usize..2,
            0_usize..5,
        ),
        (
            share.clone(),
            share,
            prop::option::of((prop::bool::ANY, prop::option::of(0_u64..1 << 53))),
        ),
        any_files(),
        any_observe(),
    )
        .prop_map(
            |((operation, pattern, block_size, offset, span), b, c, shares, files, observe)| {
                Workload {
                    operation,
                    pattern,
                    block_size,
                    // A position is one or the other.
                    offset: if shares.0.is_some() { 0 } else { offset },
                    span: if shares.1.is_some() { None } else { span },
                    offset_share: shares.0,
                    span_share: shares.1,
                    queue_depth: b.0,
                    streams: b.1,
                    cache: CACHES[b.2].1,
                    sync: SYNCS[b.3].1,
                    buffer: BUFFERS[c.3].1,
                    files: operation.on_files().then_some(files),
                    touch: TOUCHES[c.4].1,
                    values: shares.2.map(|(fill, seed)| Values { fill, seed }),
                    rate: b.4,
                    stop: Stop {
                        time_ns: b.5.0,
                        bytes: b.5.1,
                        operations: b.5.2,
                        fraction: b.5.3,
                    },
                    engine: ENGINES[c.0].1,
                    iopoll: c.1,
                    sqpoll: c.2,
                    pool: None,
                    io_priority: (c.0 > 0).then_some(match c.4 {
                        0 => IoPriority::Idle,
                        1 => IoPriority::Realtime(c.0 as u8),
                        _ => IoPriority::BestEffort(c.4 as u8),
                    }),
                    beside: None,
                    on: ONS[usize::from(c.2)].1,
                    observe,
                    copy: None,
                }
            },
        )
}

fn any_observe() -> impl Strategy<Value = Observe> {
    let names: Vec<&str> = OBSERVERS.iter().map(|observer| observer.name).collect();
    prop_oneof![
        Just(Observe::Auto),
        Just(Observe::None),
        Just(Observe::All),
        prop::collection::btree_set(prop::sample::select(names).prop_map(str::to_owned), 1..4)
            .prop_map(Observe::Only),
    ]
}

/// Some settings of the kernel, each with a value that it takes.
fn any_kernel() -> impl Strategy<Value = BTreeMap<String, String>> {
    let names = prop_oneof![
        prop::sample::select(crate::kernel::names().collect::<Vec<_>>()).prop_map(str::to_owned),
        "iosched/[a-z_]{1,9}",
    ];
    let values = prop_oneof![
        (-1_i64..=i64::from(u32::MAX) + 1).prop_map(|number| number.to_string()),
        (0_i64..=110).prop_map(|number| number.to_string()),
        "[a-z0-9-]{1,5}",
        prop::sample::select(vec!["write through", "slab", "true", "0x7", "007", "64MiB"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec((names, values), 0..9).prop_map(|asked| {
        let written = asked.into_iter();
        let written = written.filter_map(|(name, asked)| {
            let value = crate::kernel::value(&name, &asked).ok()?;
            Some((name, value))
        });
        written.collect()
    })
}

#[test]
fn a_pool_and_what_runs_beside_are_read_and_their_mistakes_have_a_line() {
    let text = format!(
        "{GOOD}threads = 5\nio_context = \"shared\"\n[stage.beside]\noperation = \"read\"\npattern = \"sequential\"\n"
    );
    let plan = parse(&text).unwrap();
    let workload = &plan.stages[0].workload;
    let pool = workload.pool.unwrap();
    assert_eq!((pool.threads, pool.io_context), (5, IoContext::Shared));
    let beside = workload.beside.as_deref().unwrap();
    assert_eq!(beside.pattern, Pattern::Sequential);
    assert_eq!(plan.problems(), []);

    let error = error_of(&format!("{GOOD}io_context = \"shared\"\n"));
    assert!(
        error.starts_with("line 5: io_context: it needs threads"),
        "{error}"
    );
    let error = error_of(&format!("{GOOD}beside = 3\n"));
    assert!(error.contains("as in [stage.beside]"), "{error}");
    let error = error_of(&format!("{text}wibble = 1\n"));
    assert!(
        error.starts_with("line 10: unknown key 'wibble' in the table beside"),
        "{error}"
    );
}

#[test]
fn observers_are_chosen_by_name_and_a_misspelt_one_has_its_line() {
    let plan = parse(&format!("{GOOD}observe = \"devices, block_layer\"\n")).unwrap();
    assert_eq!(
        plan.stages[0].workload.observe.to_string(),
        "block_layer,devices"
    );
    let error = error_of(&format!("{GOOD}observe = \"device\"\n"));
    assert!(
        error.starts_with(
            "line 5: observe: no observer is called 'device'; did you mean 'devices'?"
        ),
        "{error}"
    );
    let varied = format!("{GOOD}[stage.vary]\nobserve = [\"none\", \"all\"]\n");
    let plan = parse(&varied).unwrap();
    let observed: Vec<&Observe> = plan.stages.iter().map(|s| &s.workload.observe).collect();
    assert_eq!(observed, [&Observe::None, &Observe::All]);
    assert_eq!(plan.stages[1].settings["observe"], "all");
}

#[test]
fn what_cannot_run_beside_and_impossible_pools_are_refused() {
    let cases = [
        ("threads = 0", "threads: it is 0"),
        ("threads = 300", "at most 256 for a stream"),
        ("threads = 200\nstreams = 10", "1024 together"),
        ("threads = 5\nengine = \"sync\"", "drop engine"),
        (
            "[stage.beside]\noperation = \"read\"\ntime = \"1s\"",
            "beside: it runs as long as the stage",
        ),
        (
            "[stage.beside]\noperation = \"read\"\nobserve = \"none\"",
            "beside: the stage itself says who observes it",
        ),
        (
            "[stage.beside]\noperation = \"write\"\nsync = \"at-end\"",
            "no end of its own",
        ),
        (
            "[stage.beside]\noperation = \"read\"\nengine = \"null\"",
            "would disturb nothing",
        ),
        (
            "[stage.beside]\noperation = \"read\"\nblock_size = 0",
            "beside: block_size: it is 0",
        ),
        (
            "[stage.beside]\noperation = \"read\"\n[stage.beside.beside]\noperation = \"read\"",
            "nothing can run beside what runs beside",
        ),
    ];
    for (lines, wanted) in cases {
        let plan = parse(&format!("{GOOD}{lines}\n")).expect(lines);
        let problems = plan.problems();
        let said: Vec<String> = problems.iter().map(|(_, p)| p.to_string()).collect();
        assert!(
            said.iter().any(|said| said.contains(wanted)),
            "{lines}: {said:?}"
        );
    }
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_as_the_same_plan(
        about in "\\PC*",
        trials: u32,
        time_ns: Option<u64>,
        workloads in prop::collection::vec(any_workload(), 0..4),
        conditions in prop::collection::vec(
            (any_workload(), any::<u32>(), any::<bool>(), any::<Option<u32>>()),
            0..3,
        ),
        settings in prop::collection::btree_map("(?s).{0,8}", "\\PC*", 0..3),
        kernel in any_kernel(),
        bytes in prop::option::of(0_u64..1 << 60),
        operations in prop::option::of(0_u64..1 << 60),
        percent in prop::option::of(0_u32..=100),
        steady: bool,
        trials_max: Option<u32>,
        choose in prop::collection::vec("\\PC{0,8}", 0..3),
    ) {
        let precision = percent.map(|p| Share::parse(&format!("{p}.5%")).unwrap_or(Share::ALL));
        let until = Until { precision, steady, trials_max };
        let fraction = bytes;
        let full = bytes
            .or(operations)
            .map(|_| Amount { bytes, operations, fraction });
        let stages = workloads
            .into_iter()
            .enumerate()
            .map(|(i, workload)| Stage {
                name: format!("s{i} \"ä\\\n"),
                about: about.clone(),
                workload,
                settings: settings.clone(),
                kernel: kernel.clone(),
                full,
            })
            .collect();
        let precondition = conditions
            .into_iter()
            .enumerate()
            .map(|(i, (mut workload, rounds, steady, rounds_max))| {
                // Without another end it is read as one pass.
                workload.stop.fraction.get_or_insert(1);
                let stage = Stage {
                    name: format!("before {i}"),
                    about: about.clone(),
                    workload,
                    settings: settings.clone(),
                    kernel: kernel.clone(),
                    full: None,
                };
                Precondition { stage, rounds, steady, rounds_max }
            })
            .collect();
        let name = "round-trip-1".into();
        let plan = Plan { name, about, trials, time_ns, until, choose, precondition, stages };
        let text = print(&plan);
        prop_assert_eq!(parse(&text), Ok(plan), "{}", text);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in ".*") {
        let _ = parse(&text);
    }
}

const MATRIX: &str = "name = \"x\"\n[[stage]]\nname = \"a\"\noperation = \"write\"\n\
    [stage.vary]\n\
    block_size = [\"4KiB\", 8192]\n\
    mode = [{ name = \"plain\", cache = \"cold\" }, { name = \"log\", sync = \"fsync\" }]\n";

#[test]
fn axes_multiply_and_the_last_changes_fastest() {
    let plan = parse(MATRIX).unwrap();
    let said: Vec<String> = plan.stages.iter().map(Stage::label).collect();
    assert_eq!(
        said,
        [
            "a (block_size=4KiB, mode=plain)",
            "a (block_size=4KiB, mode=log)",
            "a (block_size=8192, mode=plain)",
            "a (block_size=8192, mode=log)",
        ]
    );
    let last = &plan.stages[3].workload;
    assert_eq!(
        (last.block_size, last.sync, last.cache),
        (8192, SyncMode::Fsync, CacheMode::Direct)
    );
    assert_eq!(plan.stages[2].workload.cache, CacheMode::Cold);
    assert_eq!(plan.problems(), []);
}

#[test]
fn who_serves_a_stream_and_at_which_priority_varies_by_name_as_any_key() {
    let plan = parse(&format!(
        "{GOOD}[stage.vary]\nthreads = [1, 5]\nio_context = [\"separate\", \"shared\"]\n\
         io_priority = [\"idle\", \"realtime:0\"]\n"
    ))
    .unwrap();
    assert_eq!(plan.problems(), []);
    let of = |stage: &Stage| {
        let workload = &stage.workload;
        (workload.pool, workload.io_priority)
    };
    let mut expected = Vec::new();
    for threads in [1, 5] {
        for io_context in [IoContext::Separate, IoContext::Shared] {
            let pool = Some(Pool {
                threads,
                io_context,
            });
            expected.push((pool, Some(IoPriority::Idle)));
            expected.push((pool, Some(IoPriority::Realtime(0))));
        }
    }
    assert_eq!(plan.stages.iter().map(of).collect::<Vec<_>>(), expected);
}

#[test]
fn what_cannot_vary_is_named_with_its_line() {
    let stage = |vary: &str| format!("{GOOD}[stage.vary]\n{vary}\n");
    for (vary, wanted) in [
        ("queue_depth = 4", "should be a list of values"),
        ("queue_depth = []", "with one value or more"),
        ("queue_depth = [[1]]", "not of lists"),
        ("queue_depth = [1, \"1\"]", "has the value \"1\" twice"),
        ("queue_depth = [1, \"many\"]", "whole number"),
        ("depth = [1, 2]", "unknown key 'depth'"),
        ("operation = [\"read\", \"write\"]", "cannot set it too"),
        ("name = [\"b\", \"c\"]", "cannot vary"),
        ("m = [{ name = \"b\", about = \"c\" }]", "cannot vary"),
        ("m = [{ cache = \"warm\" }]", "needs a name"),
        (
            "cache = [\"warm\", \"cold\"]\nm = [{ name = \"b\", cache = \"warm\" }]",
            "is set by the axis cache already",
        ),
    ] {
        let error = error_of(&stage(vary));
        assert!(error.contains(wanted), "{vary}: {error}");
        let line: usize = 6 + vary.matches('\n').count();
        assert!(
            error.starts_with(&format!("line {line}:")),
            "{vary}: {error}"
        );
    }
    assert!(error_of(&format!("{GOOD}vary = 3\n")).contains("a table"));
    assert!(error_of(&format!("{GOOD}settings = {{ a = 3 }}\n")).contains("a text in quotes"));
}

#[test]
fn a_matrix_of_more_stages_than_anybody_waits_for_is_refused() {
    let list = |n: usize| {
        (1..=n)
            .map(|i| i.to_string())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let vary = |depths: usize, streams: usize| {
        let (depths, streams) = (list(depths), list(streams));
        format!("{GOOD}[stage.vary]\nqueue_depth = [{depths}]\nstreams = [{streams}]\n")
    };
    assert_eq!(parse(&vary(64, 64)).unwrap().stages.len(), CELLS_MAX);
    let error = error_of(&vary(65, 64));
    assert!(
        error.contains("65 times 64 values make more than 4096"),
        "{error}"
    );
    assert!(error.starts_with("line 5:"), "{error}");
}

#[test]
fn built_in_plans_survive_printing() {
    for name in crate::builtin::names() {
        let plan = crate::builtin::plan(name).unwrap();
        assert_eq!(parse(&print(&plan)), Ok(plan));
    }
}

#[test]
fn what_is_done_before_the_trials_is_read_with_its_rounds() {
    let plan = parse(
        "name = \"aged\"\n\
         [[precondition]]\nname = \"fill\"\noperation = \"write\"\npattern = \"sequential\"\n\
         block_size = \"128KiB\"\nrounds = 2\n\
         [[precondition]]\nname = \"age\"\noperation = \"write\"\ntime = \"60s\"\n\
         steady = true\nrounds_max = 40\n\
         [[stage]]\nname = \"a\"\noperation = \"read\"\n",
    )
    .unwrap();
    let [fill, age] = plan.precondition.as_slice() else {
        panic!("{plan:?}");
    };
    // A round is one pass over the span where nothing else is said.
    assert_eq!(fill.stage.workload.stop.fraction, Some(1));
    assert_eq!((fill.at_least(), fill.at_most()), (2, 2));
    assert_eq!(age.stage.workload.stop.fraction, None);
    assert_eq!((age.at_least(), age.at_most()), (5, 40));
    assert_eq!(plan.stages.len(), 1);
    let error = error_of(&format!(
        "{GOOD}[[precondition]]\nname = \"f\"\noperation = \"write\"\nfull_bytes = \"1MiB\"\n"
    ));
    assert!(error.contains("'full_bytes' in a precondition"), "{error}");
}
