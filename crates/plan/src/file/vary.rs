//! `vary`: keys with several values, which make a stage a matrix.
//!
//! ```toml
//! [stage.vary]
//! block_size = ["4KiB", "64KiB"]
//! mode = [
//!     { name = "BUFFERED", cache = "cold" },
//!     { name = "O_DIRECT", cache = "direct" },
//! ]
//! ```
//!
//! Each key is an axis. A plain value is set under the name of the axis; a table
//! sets the keys in it, and its `name` is what the value is called. The axes
//! multiply: here four stages come of it, the last axis changing fastest.
//!
//! A key is one of a stage, or a setting of the kernel: `read_ahead_kb = [128, 512]`.

use super::FileError;
use super::fields::{Field, Fields, ordered};
use super::print::{key, quoted};
use crate::kernel;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Most stages that one may become.
pub const CELLS_MAX: usize = 4096;

/// What tells the cells apart, or describes all of them.
const FIXED: [&str; 4] = ["name", "about", "settings", "vary"];

/// An axis that comes from elsewhere than the text of a plan: its name, and its values
/// as they are typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Varied {
    /// A key of a stage, or a setting of the kernel.
    pub name: String,
    /// At least one.
    pub values: Vec<String>,
}

/// What the stages of a plan are crossed with, and which of them; by default nothing,
/// and all.
#[derive(Default)]
pub(super) struct Crossing<'a> {
    pub(super) axes: Vec<Field<'a>>,
    /// Names; none are all.
    pub(super) stages: &'a [String],
}

impl<'a> Crossing<'a> {
    /// The table of a stage, if it takes part.
    pub(super) fn of(&self, table: Fields<'a>) -> Result<Option<Fields<'a>>, FileError> {
        let name = table.clone().required_text("name")?;
        let takes_part = self.stages.is_empty() || self.stages.contains(&name);
        Ok(takes_part.then_some(table))
    }
}

/// The axes as the lines of a table `vary`. What TOML takes for a number or for true and
/// false is one, everything else a text.
pub(super) fn written(axes: &[Varied]) -> String {
    let value = |value: &String| {
        let line = format!("v = {value}");
        // Neither a comment nor a second line.
        let is_word = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
        let is_plain = value.chars().all(is_word)
            && DeTable::parse(&line).is_ok_and(|table| {
                let mut values = table.get_ref().values();
                let first = values.next().map(Spanned::get_ref);
                let plain = matches!(
                    first,
                    Some(DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_))
                );
                plain && values.next().is_none()
            });
        if is_plain {
            value.clone()
        } else {
            quoted(value)
        }
    };
    let line = |axis: &Varied| {
        let values: Vec<String> = axis.values.iter().map(value).collect();
        format!("{} = [{}]\n", key(&axis.name), values.join(", "))
    };
    axes.iter().map(line).collect()
}

/// The fields of these lines.
pub(super) fn fields(written: &str) -> Result<Vec<Field<'_>>, FileError> {
    let table = DeTable::parse(written).map_err(|error| FileError {
        line: 1,
        message: error.message().to_owned(),
    })?;
    Ok(ordered(table.get_ref()))
}

/// One cell of the matrix.
pub(super) struct Cell<'a> {
    /// The stage with the values of this cell.
    pub(super) table: Fields<'a>,
    /// The settings of the kernel in this cell.
    pub(super) kernel: Vec<Field<'a>>,
    /// The name of each axis, and of its value here.
    pub(super) settings: Vec<(String, String)>,
}

/// An axis of the matrix.
struct Axis<'a> {
    name: String,
    values: Vec<Value<'a>>,
}

/// One value of an axis.
struct Value<'a> {
    name: String,
    sets: Vec<Field<'a>>,
}

/// The cells of a stage, whose own keys were taken out: one if nothing varies.
/// Axes that are crossed with it take the place of its own of the same name, and of a
/// value that the stage has.
pub(super) fn cells<'a>(
    mut table: Fields<'a>,
    crossed: &[Field<'a>],
) -> Result<Vec<Cell<'a>>, FileError> {
    let mut varied = table.table("vary")?;
    for (name, _, _) in crossed {
        varied.retain(|(own, _, _)| own != name);
        table.leave_out(name);
    }
    varied.extend_from_slice(crossed);
    let axes: Vec<Axis<'a>> = varied
        .into_iter()
        .map(|field| axis(&table, field))
        .collect::<Result<_, _>>()?;
    let count = axes
        .iter()
        .try_fold(1_usize, |cells, axis| cells.checked_mul(axis.values.len()))
        .filter(|cells| *cells <= CELLS_MAX)
        .ok_or_else(|| {
            let lengths: Vec<String> = axes.iter().map(|a| a.values.len().to_string()).collect();
            table.error_at(
                "vary",
                &format!(
                    "{} values make more than {CELLS_MAX} stages; vary less at a time",
                    lengths.join(" times ")
                ),
            )
        })?;
    check_set_once(&table, &axes)?;
    let mut cells = Vec::with_capacity(count);
    for cell in 0..count {
        let chosen = values_of(&axes, cell);
        let sets = chosen.iter().flat_map(|(_, value)| &value.sets);
        let (kernel, own): (Vec<_>, Vec<_>) =
            sets.partition(|(key, _, _)| kernel::setting(key).is_some());
        cells.push(Cell {
            table: table.with(own.into_iter()),
            kernel: kernel.into_iter().cloned().collect(),
            settings: chosen
                .iter()
                .map(|(axis, value)| (axis.name.clone(), value.name.clone()))
                .collect(),
        });
    }
    Ok(cells)
}

/// The values of a cell: its number, written with one digit per axis.
fn values_of<'x, 'a>(axes: &'x [Axis<'a>], cell: usize) -> Vec<(&'x Axis<'a>, &'x Value<'a>)> {
    let mut rest = cell;
    let mut chosen: Vec<_> = axes
        .iter()
        .rev()
        .map(|axis| {
            let digit = rest % axis.values.len();
            rest /= axis.values.len();
            (axis, &axis.values[digit])
        })
        .collect();
    chosen.reverse();
    chosen
}

fn axis<'a>(table: &Fields<'a>, (name, span, list): Field<'a>) -> Result<Axis<'a>, FileError> {
    let wrong = |what: &str| {
        table.error_in(
            &span,
            format!(
                "vary: {name} should be a list {what}, as in {name} = [\"4KiB\", \"64KiB\"] or \
                 {name} = [{{ name = \"small\", block_size = \"4KiB\" }}]"
            ),
        )
    };
    let DeValue::Array(items) = list.get_ref() else {
        return Err(wrong("of values"));
    };
    if items.is_empty() {
        return Err(wrong("with one value or more"));
    }
    let mut values: Vec<Value<'a>> = Vec::with_capacity(items.len());
    for item in items {
        let place = item.span();
        let value = match item.get_ref() {
            DeValue::Table(sets) => named(table, &name, &place, ordered(sets))?,
            DeValue::Array(_) => return Err(wrong("of values, not of lists")),
            plain => Value {
                name: plain_name(plain),
                sets: vec![(name.clone(), place.clone(), item.clone())],
            },
        };
        if values.iter().any(|other| other.name == value.name) {
            let message = format!("vary: {name} has the value \"{}\" twice", value.name);
            return Err(table.error_in(&place, message));
        }
        values.push(value);
    }
    Ok(Axis { name, values })
}

/// A value that is a table: its `name`, and the keys that it sets.
fn named<'a>(
    table: &Fields<'a>,
    axis: &str,
    place: &Range<usize>,
    sets: Vec<Field<'a>>,
) -> Result<Value<'a>, FileError> {
    let mut name = None;
    let mut rest = Vec::with_capacity(sets.len());
    for field in sets {
        match (field.0.as_str(), field.2.get_ref()) {
            ("name", DeValue::String(text)) => name = Some(text.to_string()),
            _ => rest.push(field),
        }
    }
    let name = name.ok_or_else(|| {
        let message = format!("vary: a value of {axis} needs a name, as in {{ name = \"...\" }}");
        table.error_in(place, message)
    })?;
    Ok(Value { name, sets: rest })
}

/// What a value without a name is called: as it is written, without quotes.
fn plain_name(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => value.type_str().to_owned(),
    }
}

/// A key is set by the stage or by one axis, and what tells stages apart by none.
fn check_set_once(table: &Fields<'_>, axes: &[Axis<'_>]) -> Result<(), FileError> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for axis in axes {
        for (key, span, _) in axis.values.iter().flat_map(|value| &value.sets) {
            let fault = if FIXED.contains(&key.as_str()) {
                Some("tells stages apart or describes them, and cannot vary".to_owned())
            } else if table.has(key) {
                Some("is varied, so the stage itself cannot set it too".to_owned())
            } else {
                seen.iter()
                    .find(|(known, by)| known == key && *by != axis.name)
                    .map(|(_, by)| format!("is set by the axis {by} already"))
            };
            if let Some(fault) = fault {
                return Err(table.error_in(span, format!("vary: {key} {fault}")));
            }
            seen.push((key, &axis.name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Varied;
    use crate::file::{parse, parse_crossed};
    use crate::{Plan, Stage};

    const PLAN: &str = "name = \"x\"\n\
        [[stage]]\nname = \"a\"\noperation = \"read\"\nblock_size = \"4KiB\"\n\
        [stage.vary]\nstreams = [1, 2]\n\
        [[stage]]\nname = \"b\"\noperation = \"read\"\n";

    fn axis(name: &str, values: &[&str]) -> Varied {
        Varied {
            name: name.to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        }
    }

    fn labels(plan: &Plan) -> Vec<String> {
        plan.stages.iter().map(Stage::label).collect()
    }

    #[test]
    fn axes_are_crossed_with_every_stage_and_take_the_place_of_what_it_has() {
        let axes = [
            axis("read_ahead_kb", &["128", "512"]),
            axis("block_size", &["64k", "4096"]),
        ];
        let plan = parse_crossed(PLAN, &axes, &[]).unwrap();
        assert_eq!(plan.stages.len(), 2 * 2 * 2 + 2 * 2);
        assert_eq!(
            labels(&plan)[1],
            "a (block_size=4096, read_ahead_kb=128, streams=1)"
        );
        assert_eq!(plan.stages[0].workload.block_size, 64 << 10);
        assert_eq!(plan.stages[11].kernel["read_ahead_kb"], "512");
        assert_eq!(plan.choose, ["read_ahead_kb", "block_size"]);
        assert_eq!(plan.problems(), []);
        let own = parse_crossed(PLAN, &[axis("streams", &["4"])], &[]).unwrap();
        assert_eq!(labels(&own), ["a (streams=4)", "b (streams=4)"]);
    }

    #[test]
    fn only_the_named_stages_are_left_and_nothing_to_cross_changes_nothing() {
        let axes = [axis("queue_depth", &["1", "8"])];
        let plan = parse_crossed(PLAN, &axes, &["b".to_owned()]).unwrap();
        assert_eq!(labels(&plan), ["b (queue_depth=1)", "b (queue_depth=8)"]);
        assert_eq!(parse_crossed(PLAN, &[], &[]), parse(PLAN));
    }

    #[test]
    fn a_wrong_axis_is_told_in_the_words_of_plan_files() {
        for (axis, said) in [
            (axis("blok_size", &["4k"]), "did you mean 'block_size'?"),
            (
                axis("read_ahed_kb", &["1"]),
                "did you mean 'read_ahead_kb', a setting",
            ),
            (axis("block_size", &["4k", "4 apples"]), "block_size: "),
            (
                axis("queue_depth", &["many"]),
                "a whole number without quotes",
            ),
            (
                axis("queue_depth", &["8", "8"]),
                "has the value \"8\" twice",
            ),
            (axis("read_ahead_kb", &["128k"]), "a whole number of KiB"),
            (axis("name", &["c"]), "cannot vary"),
            (
                axis("cache", &["cold\nstreams = 4"]),
                "cache: unknown value",
            ),
            (
                axis("queue_depth", &["8 # deep"]),
                "a whole number without quotes",
            ),
            (axis("a\"b", &["\"]\nx = [\""]), "unknown key"),
        ] {
            let error = parse_crossed(PLAN, std::slice::from_ref(&axis), &[]);
            let error = error.expect_err(&axis.name).message;
            assert!(error.contains(said), "{axis:?}: {error}");
        }
    }

    #[test]
    fn what_is_to_be_chosen_has_to_vary() {
        let plan = |choose: &str| parse(&format!("choose = {choose}\n{PLAN}"));
        assert_eq!(plan("[\"streams\"]").unwrap().problems(), []);
        let [(_, problem)] = &plan("[\"stream\"]").unwrap().problems()[..] else {
            panic!("one problem");
        };
        assert!(
            problem.message.contains("what does is streams"),
            "{problem}"
        );
        assert!(plan("[1]").is_err() && plan("\"streams\"").is_err());
    }
}
