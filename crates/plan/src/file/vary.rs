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
use crate::kernel;
use std::ops::Range;
use toml::de::DeValue;

/// Most stages that one may become.
pub const CELLS_MAX: usize = 4096;

/// What tells the cells apart, or describes all of them.
const FIXED: [&str; 4] = ["name", "about", "settings", "vary"];

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
pub(super) fn cells(mut table: Fields<'_>) -> Result<Vec<Cell<'_>>, FileError> {
    let axes: Vec<Axis<'_>> = table
        .table("vary")?
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
