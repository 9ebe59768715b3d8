//! What two workloads have in common.

use diskfacts_plan::units::exact_size;
use diskfacts_plan::{EngineChoice, Operation, Pattern, Workload};
use diskfacts_record::Trial;

/// Keys of a workload that are another measurement when they differ, each with
/// its value in the words of a plan file.
pub(super) fn keys(workload: &Workload) -> Vec<(&'static str, String)> {
    let operation = match workload.operation {
        Operation::Read => "read".to_owned(),
        Operation::Write => "write".to_owned(),
        Operation::Mixed { read_percent } => format!("mixed, {read_percent} % reads"),
        Operation::Modify { percent } => format!("modify, {percent} %"),
        Operation::Create => "create".to_owned(),
        Operation::Stat => "stat".to_owned(),
        Operation::Delete => "delete".to_owned(),
    };
    let pattern = match workload.pattern {
        Pattern::Sequential => "sequential".to_owned(),
        Pattern::Random => "random".to_owned(),
        Pattern::Zipf { theta } => format!("zipf, theta {theta}"),
        Pattern::Stride {
            skip_blocks,
            fixed,
            from_start,
        } => format!(
            "stride of {skip_blocks} blocks{}{}",
            if fixed { ", fixed" } else { "" },
            if from_start { ", from the start" } else { "" }
        ),
    };
    let mut keys = vec![
        ("operation", operation),
        ("pattern", pattern),
        ("block_size", exact_size(workload.block_size)),
        ("queue_depth", workload.queue_depth.to_string()),
        ("streams", workload.streams.to_string()),
        ("cache", workload.cache.word().to_owned()),
        ("sync", workload.sync.word().to_owned()),
    ];
    keys.extend([
        ("rate", debug(workload.rate.as_ref())),
        ("touch", format!("{:?}", workload.touch)),
        ("buffer", format!("{:?}", workload.buffer)),
        ("files", debug(workload.files.as_ref())),
        ("values", debug(workload.values.as_ref())),
        ("pool", debug(workload.pool.as_ref())),
        ("io_priority", debug(workload.io_priority.as_ref())),
        ("beside", debug(workload.beside.as_ref())),
        ("on", format!("{:?}", workload.on)),
        ("copy", debug(workload.copy.as_ref())),
        (
            "engine",
            if workload.engine == EngineChoice::Null {
                "null"
            } else {
                "one that does I/O"
            }
            .to_owned(),
        ),
    ]);
    keys
}

/// Something that has no short words.
fn debug<T: std::fmt::Debug>(value: Option<&T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| format!("{value:?}"))
}

/// Whether the document of an imported trial does not say this key, or a part of
/// it.
pub(super) fn is_unsaid(trial: &Trial, key: &str) -> bool {
    let mut unsaid = trial.unsaid.iter();
    unsaid.any(|name| name.split('.').next() == Some(key))
}

/// A key with its value on either side; absent where it is not known.
pub(super) type Unlike = (&'static str, Option<String>, Option<String>);

/// Keys that differ, or that one side does not know.
pub(super) fn unlike(a: &Trial, b: &Trial) -> Vec<Unlike> {
    if a.workload == b.workload && a.unsaid == b.unsaid {
        return Vec::new();
    }
    let known = |trial: &Trial, key: &str, value: String| (!is_unsaid(trial, key)).then_some(value);
    keys(&a.workload)
        .into_iter()
        .zip(keys(&b.workload))
        .map(|((key, of_a), (_, of_b))| (key, known(a, key, of_a), known(b, key, of_b)))
        .filter(|(_, of_a, of_b)| of_a != of_b)
        .collect()
}

/// Whether the two are known to be the same in every key.
pub(super) fn surely_same(a: &Trial, b: &Trial) -> bool {
    a.unsaid.is_empty() && b.unsaid.is_empty() && unlike(a, b).is_empty()
}
