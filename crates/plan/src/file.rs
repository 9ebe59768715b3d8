//! The TOML form of a plan: what people write, read and edit.
//!
//! Reading says every key it does not know, with its line and the nearest one
//! it does; printing gives a text that reads back as the same plan. The keys
//! are documented in `docs/reference/plan-file.md`.

mod fields;
mod files;
mod kernel;
mod precondition;
mod print;
mod vary;
mod words;

use crate::check::STAGES_MAX;
use crate::plan::{Amount, Plan, Stage, Until};
use crate::share::Share;
use crate::workload::{
    Arrivals, CacheMode, Operation, Pattern, Pool, Rate, Stop, Values, Workload,
};
pub use fields::nearest;
use fields::{Field, Fields};
pub use print::print;
use std::str::FromStr;
use thiserror::Error;
use vary::Crossing;
pub use vary::{CELLS_MAX, Varied};
use words::{
    ARRIVALS, BUFFERS, CACHES, ENGINES, IO_CONTEXTS, Kind, ONS, OPERATIONS, Order, PATTERNS, SYNCS,
    TOUCHES, VALUES,
};

/// Why a text is not a plan. The line counts from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
pub struct FileError {
    /// Where in the text, from 1.
    pub line: usize,
    /// What is wrong there and what would be right.
    pub message: String,
}

/// Reads a plan.
///
/// # Errors
/// The first thing that is not TOML, not a known key, not of the right type or
/// not a value its key takes; with its line.
pub fn parse(text: &str) -> Result<Plan, FileError> {
    read(text, &Crossing::default())
}

/// Reads a plan, of which these axes are crossed with the stages of these names, or with
/// all; other stages are left out. A key that a stage sets or varies itself is replaced.
/// The axes are what is to be chosen ([`Plan::choose`]).
///
/// # Errors
/// As [`parse`]; what is wrong with an axis is told as if the stages varied it, at no
/// line that means anything.
pub fn parse_crossed(text: &str, axes: &[Varied], stages: &[String]) -> Result<Plan, FileError> {
    let written = vary::written(axes);
    let crossing = Crossing {
        axes: vary::fields(&written)?,
        stages,
    };
    let mut plan = read(text, &crossing)?;
    for axis in axes {
        if !plan.choose.contains(&axis.name) {
            plan.choose.push(axis.name.clone());
        }
    }
    Ok(plan)
}

fn read<'a>(text: &'a str, crossing: &Crossing<'a>) -> Result<Plan, FileError> {
    let mut top = Fields::document(text)?;
    let name = top.required_text("name")?;
    let about = top.text("about")?.unwrap_or_default();
    let trials = top.number("trials")?.unwrap_or(3);
    let time_ns = top.duration("time")?;
    let until = Until {
        precision: precision(&mut top)?,
        steady: top.flag("steady")?.unwrap_or(false),
        trials_max: top.number("trials_max")?,
    };
    let choose = top.list("choose")?;
    let mut preconditions = Vec::new();
    for table in top.tables("precondition")? {
        preconditions.extend(precondition::read(table)?);
    }
    let mut stages = Vec::new();
    for table in top.tables("stage")? {
        let Some(table) = crossing.of(table)? else {
            continue;
        };
        for (stage, full) in cells(table, "a stage", full, &crossing.axes)? {
            stages.push(Stage { full, ..stage });
        }
        // At the stage that goes beyond, so that no more of a long file is read.
        if stages.len() > STAGES_MAX {
            return Err(top.error_at("stage", &too_many_stages(stages.len())));
        }
    }
    top.finish("a plan")?;
    if !name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        || name.is_empty()
    {
        return Err(FileError {
            line: 1,
            message: format!("name: '{name}' should be lower-case letters, digits and '-'"),
        });
    }
    Ok(Plan {
        name,
        about,
        trials,
        time_ns,
        until,
        choose,
        precondition: preconditions,
        stages,
    })
}

fn too_many_stages(count: usize) -> String {
    format!("{count} are more than the {STAGES_MAX} that a plan may have; make several plans")
}

fn precision(top: &mut Fields<'_>) -> Result<Option<Share>, FileError> {
    let share = top.share("precision")?;
    match top.text("precision")? {
        Some(_) => Err(top.error_at("precision", "write a share such as \"3%\"")),
        None => Ok(share),
    }
}

/// The stage of a table or, when something is varied in it, one for each cell of
/// the matrix, to which `crossed` adds axes; each with what `more` reads beside the keys
/// of a workload.
fn cells<'a, T>(
    mut table: Fields<'a>,
    of_what: &str,
    more: impl Fn(&mut Fields<'_>) -> Result<T, FileError>,
    crossed: &[Field<'a>],
) -> Result<Vec<(Stage, T)>, FileError> {
    let name = table.required_text("name")?;
    let about = table.text("about")?.unwrap_or_default();
    let settings = table.texts("settings")?;
    let mut stages = Vec::new();
    for cell in vary::cells(table, crossed)? {
        let (mut table, varied) = (cell.table, cell.settings);
        let workload = workload(&mut table)?;
        let kernel = kernel::read(&mut table, cell.kernel)?;
        let more = more(&mut table)?;
        table.finish(of_what)?;
        let stage = Stage {
            name: name.clone(),
            about: about.clone(),
            workload,
            settings: settings.clone().into_iter().chain(varied).collect(),
            kernel,
            full: None,
        };
        stages.push((stage, more));
    }
    Ok(stages)
}

/// How much a stage does in full.
fn full(table: &mut Fields<'_>) -> Result<Option<Amount>, FileError> {
    let full = Amount {
        bytes: table.size("full_bytes")?,
        operations: table.number("full_operations")?,
        fraction: table.number("full_fraction")?,
    };
    Ok((full != Amount::default()).then_some(full))
}

fn operation(table: &mut Fields<'_>) -> Result<Operation, FileError> {
    let kind = table.required_choice("operation", &OPERATIONS)?;
    let read_percent = table.number("read_percent")?;
    let modify_percent = table.number("modify_percent")?;
    if kind != Kind::Mixed && read_percent.is_some() {
        return Err(table.error_at("read_percent", "only operation = \"mixed\" takes it"));
    }
    if kind != Kind::Modify && modify_percent.is_some() {
        return Err(table.error_at("modify_percent", "only operation = \"modify\" takes it"));
    }
    Ok(match kind {
        Kind::Read => Operation::Read,
        Kind::Write => Operation::Write,
        Kind::Create => Operation::Create,
        Kind::Stat => Operation::Stat,
        Kind::Delete => Operation::Delete,
        Kind::Mixed => Operation::Mixed {
            read_percent: read_percent.ok_or_else(|| {
                table.error_at("operation", "mixed also needs read_percent = 1 to 99")
            })?,
        },
        Kind::Modify => Operation::Modify {
            percent: modify_percent.unwrap_or(100),
        },
    })
}

fn pattern(table: &mut Fields<'_>) -> Result<Pattern, FileError> {
    let order = table.choice("pattern", &PATTERNS)?.unwrap_or(Order::Random);
    let theta = table.float("theta")?;
    if order != Order::Zipf && theta.is_some() {
        return Err(table.error_at("theta", "only pattern = \"zipf\" takes it"));
    }
    let skip = table.number("skip")?;
    let fixed = table.flag("fixed")?;
    let from_start = table.flag("offset0")?;
    if order != Order::Stride {
        let given = [
            ("skip", skip.is_some()),
            ("fixed", fixed.is_some()),
            ("offset0", from_start.is_some()),
        ];
        if let Some((key, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(table.error_at(key, "only pattern = \"stride\" takes it"));
        }
    }
    Ok(match order {
        Order::Sequential => Pattern::Sequential,
        Order::Random => Pattern::Random,
        Order::Zipf => Pattern::Zipf {
            theta: theta.unwrap_or(0.99),
        },
        Order::Stride => Pattern::Stride {
            skip_blocks: skip.ok_or_else(|| {
                table.error_at("pattern", "stride also needs skip = a number of blocks")
            })?,
            fixed: fixed.unwrap_or(false),
            from_start: from_start.unwrap_or(false),
        },
    })
}

fn workload(table: &mut Fields<'_>) -> Result<Workload, FileError> {
    let default = Workload::default();
    let operation = operation(table)?;
    let files = files::read(table, operation)?;
    // Files have no other way than through the memory of the kernel.
    let usual_cache = match files {
        None => default.cache,
        Some(_) => CacheMode::Buffered,
    };
    let pattern = pattern(table)?;
    let operations_per_s = table.number("rate")?;
    let arrivals = table.choice("arrivals", &ARRIVALS)?;
    let rate = match (operations_per_s, arrivals) {
        (Some(operations_per_s), arrivals) => Some(Rate {
            operations_per_s,
            arrivals: arrivals.unwrap_or(Arrivals::Fixed),
        }),
        (None, Some(_)) => {
            return Err(table.error_at("arrivals", "it needs rate = operations per second"));
        }
        (None, None) => None,
    };
    let pool = pool(table)?;
    let io_priority = in_words(table, "io_priority")?;
    let beside = beside(table)?;
    let (offset, offset_share) = place(table, "offset")?;
    let (span, span_share) = place(table, "span")?;
    Ok(Workload {
        operation,
        pattern,
        block_size: table.size("block_size")?.unwrap_or(default.block_size),
        offset: offset.unwrap_or(default.offset),
        span,
        offset_share,
        span_share,
        queue_depth: table.number("queue_depth")?.unwrap_or(default.queue_depth),
        streams: table.number("streams")?.unwrap_or(default.streams),
        cache: table.choice("cache", &CACHES)?.unwrap_or(usual_cache),
        sync: table.choice("sync", &SYNCS)?.unwrap_or(default.sync),
        buffer: table.choice("buffer", &BUFFERS)?.unwrap_or(default.buffer),
        files,
        touch: table.choice("touch", &TOUCHES)?.unwrap_or(default.touch),
        values: values(table)?,
        rate,
        stop: Stop {
            time_ns: table.duration("time")?,
            bytes: table.size("bytes")?,
            operations: table.number("operations")?,
            fraction: table.number("fraction")?,
        },
        engine: table.choice("engine", &ENGINES)?.unwrap_or(default.engine),
        iopoll: table.flag("iopoll")?.unwrap_or(default.iopoll),
        sqpoll: table.flag("sqpoll")?.unwrap_or(default.sqpoll),
        pool,
        io_priority,
        beside,
        on: table.choice("on", &ONS)?.unwrap_or(default.on),
        observe: in_words(table, "observe")?.unwrap_or_default(),
        copy: None,
    })
}

fn pool(table: &mut Fields<'_>) -> Result<Option<Pool>, FileError> {
    let threads = table.number("threads")?;
    let io_context = table.choice("io_context", &IO_CONTEXTS)?;
    match (threads, io_context) {
        (Some(threads), io_context) => Ok(Some(Pool {
            threads,
            io_context: io_context.unwrap_or_default(),
        })),
        (None, Some(_)) => Err(table.error_at(
            "io_context",
            "it needs threads = how many serve each stream in turn",
        )),
        (None, None) => Ok(None),
    }
}

/// A value that is written as a text, in the words of its type.
fn in_words<T: FromStr<Err = String>>(
    table: &mut Fields<'_>,
    key: &'static str,
) -> Result<Option<T>, FileError> {
    let Some(text) = table.text(key)? else {
        return Ok(None);
    };
    let read = text.parse().map(Some);
    read.map_err(|wrong: String| table.error_at(key, &wrong))
}

fn values(table: &mut Fields<'_>) -> Result<Option<Values>, FileError> {
    let fill = table.choice("values", &VALUES)?;
    let seed = table.number("values_seed")?;
    match (fill, seed) {
        (Some(fill), seed) => Ok(Some(Values { fill, seed })),
        (None, Some(_)) => {
            Err(table.error_at("values_seed", "it needs values = \"check\" or \"fill\""))
        }
        (None, None) => Ok(None),
    }
}

/// What runs beside a stage: the keys of a workload in a table of their own.
fn beside(table: &mut Fields<'_>) -> Result<Option<Box<Workload>>, FileError> {
    let Some(mut inner) = table.nested("beside")? else {
        return Ok(None);
    };
    let beside = workload(&mut inner)?;
    inner.finish("the table beside")?;
    Ok(Some(Box::new(beside)))
}

/// A position: bytes, or a share of the target.
fn place(
    table: &mut Fields<'_>,
    key: &'static str,
) -> Result<(Option<u64>, Option<Share>), FileError> {
    if let Some(share) = table.share(key)? {
        return Ok((None, Some(share)));
    }
    Ok((table.size(key)?, None))
}

#[cfg(test)]
mod tests;
