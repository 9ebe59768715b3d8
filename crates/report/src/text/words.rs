//! Numbers, lists and workloads in words.

use diskfacts_plan::dd::End;
use diskfacts_plan::units::{rate_digits, show_size};
use diskfacts_plan::{
    Arrivals, BufferAlignment, CacheMode, EngineChoice, IoContext, Operation, Pattern, Plan, Pool,
    Rate, SyncMode, Touch, Workload,
};
use diskfacts_record::Figure;

/// How wide the rates of trials lie about their median: `0.8 %`, what stands behind every `+/-` of a
/// rate. Half of their 95 % interval, of too few trials for one half of their range; `None` of one
/// trial.
pub(crate) fn half_width(rates: &Figure) -> Option<String> {
    diskfacts_facts::width(rates).map(|width| percent(width / 2.0))
}

/// `one block of every 64`; `None` where none is left out.
fn strided(pattern: Pattern) -> Option<String> {
    let Pattern::Stride {
        skip_blocks, fixed, ..
    } = pattern
    else {
        return None;
    };
    let which = if fixed { "every" } else { "some" };
    Some(format!("one block of {which} {skip_blocks}"))
}

/// What a workload does, in one phrase:
/// `4 KiB random reads, direct, queue depth 32`.
pub fn workload(workload: &Workload) -> String {
    if workload.operation.on_files() {
        return super::files::workload(workload);
    }
    let size = show_size(workload.block_size);
    let order = match workload.pattern {
        Pattern::Sequential => "sequential".to_owned(),
        Pattern::Random => "random".to_owned(),
        Pattern::Zipf { theta } => format!("Zipf-distributed (theta {theta})"),
        Pattern::Stride { .. } => "strided".to_owned(),
    };
    let operation = match workload.operation {
        Operation::Read => "reads".to_owned(),
        Operation::Write => "writes".to_owned(),
        Operation::Create | Operation::Stat | Operation::Delete => "files".to_owned(),
        Operation::Mixed { read_percent } => format!("operations ({read_percent} % reads)"),
        Operation::Modify { percent: 100 } => "modifications".to_owned(),
        Operation::Modify { percent } => format!("reads ({percent} % written back)"),
    };
    let mut parts = vec![format!("{size} {order} {operation}")];
    parts.extend(strided(workload.pattern));
    parts.extend(
        match workload.sync {
            SyncMode::None => None,
            SyncMode::Fdatasync => Some("each followed by fdatasync"),
            SyncMode::Fsync => Some("each followed by fsync"),
            SyncMode::AtEnd => Some("one fsync at the end"),
            SyncMode::FdatasyncAtEnd => Some("one fdatasync at the end"),
            SyncMode::ODsync => Some("O_DSYNC"),
            SyncMode::OSync => Some("O_SYNC"),
        }
        .map(str::to_owned),
    );
    if workload.engine == EngineChoice::Null {
        parts.push("without any I/O".to_owned());
    } else {
        parts.push(
            match workload.cache {
                CacheMode::Buffered => "through the page cache",
                CacheMode::Warm => "from a filled page cache",
                CacheMode::Cold => "through an emptied page cache",
                CacheMode::Direct => "direct",
            }
            .to_owned(),
        );
    }
    if workload.buffer == BufferAlignment::Unaligned {
        parts.push("from an unaligned buffer".to_owned());
    }
    match workload.touch {
        Touch::None => {}
        Touch::First => parts.push("looking at the first byte".to_owned()),
        Touch::Every => parts.push("looking at every byte".to_owned()),
        Touch::Character => parts.push("each byte by a call that locks".to_owned()),
        Touch::CharacterUnlocked => parts.push("each byte by a call without a lock".to_owned()),
    }
    if workload.values.is_some() {
        parts.push("values checked".to_owned());
    }
    parts.push(if workload.streams == 1 {
        format!("queue depth {}", workload.queue_depth)
    } else {
        format!(
            "{} streams of queue depth {}",
            workload.streams, workload.queue_depth
        )
    });
    parts.extend(workload.pool.map(served_by));
    parts.extend(workload.rate.map(paced));
    parts.extend(workload.copy.as_ref().map(|copy| match copy.measured {
        End::Input => format!(
            "to {}",
            copy.dd.output.as_deref().unwrap_or("standard output")
        ),
        End::Output => format!(
            "from {}",
            copy.dd.input.as_deref().unwrap_or("standard input")
        ),
    }));
    match (workload.offset, workload.span) {
        (0, None) => {}
        (0, Some(span)) => parts.push(format!("within {}", show_size(span))),
        (offset, None) => parts.push(format!("from {} on", show_size(offset))),
        (offset, Some(span)) => parts.push(format!(
            "within {} from {} on",
            show_size(span),
            show_size(offset)
        )),
    }
    if let Some(priority) = workload.io_priority {
        parts.push(format!("at I/O priority {priority}"));
    }
    if let Some(beside) = &workload.beside {
        parts.push(format!("beside {}", self::workload(beside)));
    }
    parts.join(", ")
}

/// `10,000 per second, evenly spaced`.
fn paced(rate: Rate) -> String {
    let spread = match rate.arrivals {
        Arrivals::Fixed => "evenly spaced",
        Arrivals::Poisson => "at Poisson arrivals",
    };
    let number = grouped(&rate.operations_per_s.to_string());
    format!("{number} per second, {spread}")
}

/// `served by 5 threads in turn in one I/O context`.
fn served_by(pool: Pool) -> String {
    let context = match (pool.threads, pool.io_context) {
        (1, _) => "",
        (_, IoContext::Separate) => " with I/O contexts of their own",
        (_, IoContext::Shared) => " in one I/O context",
    };
    let threads = count(u64::from(pool.threads), "thread");
    format!("served by {threads} in turn{context}")
}

/// A rate: `83.4`, `1177`, `98,680`.
pub(crate) fn rate(value: f64) -> String {
    grouped(&rate_digits(value))
}

/// A rate with three digits, as the first page has it: `0.30`, `20.8`, `144`, `653,168`.
pub(crate) fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        small if small < 9.995 => 2,
        middle if middle < 99.95 => 1,
        _ => 0,
    };
    grouped(&format!("{value:.decimals$}"))
}

/// A rate of a figure, in whatever unit; one of no trial is not known: all failed, or an
/// import does not say it.
pub(crate) fn known_rate(figure: &Figure, value: f64) -> String {
    if figure.trials > 0 {
        rate(value)
    } else {
        "n/a".to_owned()
    }
}

/// Digits in groups of three from five digits on: `1177`, `98,680`.
pub(crate) fn grouped(digits: &str) -> String {
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    if whole < 5 {
        return digits.to_owned();
    }
    let mut out = String::with_capacity(digits.len() + whole / 3);
    for (i, digit) in digits.char_indices() {
        if i > 0 && i < whole && (whole - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share: `37 %`, `99.7 %`.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    let decimals = usize::from(value.abs() < 9.95 || (99.05..99.95).contains(&value));
    let text = format!("{value:.decimals$}");
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// `1 trial`, `5 trials`.
pub(crate) fn count(n: u64, thing: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(&n.to_string()))
}

/// `10 stages`, or `2 stages in 294 cells` where some are matrices.
pub(crate) fn stages_of(plan: &Plan) -> String {
    let mut names: Vec<&str> = plan.stages.iter().map(|s| s.name.as_str()).collect();
    // The cells of a matrix stand together.
    names.dedup();
    let stages = count(names.len() as u64, "stage");
    if names.len() == plan.stages.len() {
        stages
    } else {
        format!("{stages} in {}", count(plan.stages.len() as u64, "cell"))
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list<T: AsRef<str>>(words: &[T]) -> String {
    match words {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", rest.join(", "), last.as_ref())
        }
    }
}

/// A command as a POSIX shell takes it.
pub(crate) fn shell(words: &[String]) -> String {
    let quoted: Vec<String> = words
        .iter()
        .map(|word| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=@%,~".contains(c);
            if !word.is_empty() && word.chars().all(plain) {
                word.clone()
            } else {
                format!("'{}'", word.replace('\'', r"'\''"))
            }
        })
        .collect();
    quoted.join(" ")
}

/// Adds `item` unless it is there.
pub(crate) fn add_once<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::builtin;

    #[test]
    fn a_workload_is_said_in_one_phrase() {
        let survey = builtin::plan("survey").unwrap();
        let said = |stage: &str| workload(&survey.stage(stage).unwrap().workload);
        assert_eq!(
            said("random-read-qd32"),
            "4 KiB random reads, direct, queue depth 32"
        );
        assert_eq!(
            said("log-write"),
            "4 KiB sequential writes, each followed by fdatasync, through the page cache, queue depth 1"
        );
        let odd = Workload {
            operation: Operation::Mixed { read_percent: 70 },
            pattern: Pattern::Zipf { theta: 0.99 },
            streams: 4,
            offset: 1 << 20,
            span: Some(1 << 30),
            rate: Some(Rate {
                operations_per_s: 10_000,
                arrivals: Arrivals::Poisson,
            }),
            ..Workload::default()
        };
        assert_eq!(
            workload(&odd),
            "4 KiB Zipf-distributed (theta 0.99) operations (70 % reads), direct, 4 streams of \
             queue depth 1, 10,000 per second, at Poisson arrivals, within 1 GiB from 1 MiB on"
        );
    }

    #[test]
    fn long_numbers_are_grouped() {
        for (value, text) in [
            (0.0, "0.00"),
            (83.44, "83.4"),
            (1177.0, "1177"),
            (98_680.4, "98,680"),
            (1_234_567.0, "1,234,567"),
        ] {
            assert_eq!(rate(value), text);
        }
    }

    #[test]
    fn shares_are_short() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.004, "0.4 %"),
            (0.02, "2 %"),
            (0.374, "37 %"),
            (0.997, "99.7 %"),
            (0.9996, "100 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["diskfacts", "/my disk", "", "it's"].map(str::to_owned);
        assert_eq!(shell(&words), r"diskfacts '/my disk' '' 'it'\''s'");
    }
}
