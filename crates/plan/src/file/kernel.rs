//! What a stage asks of the kernel: its table `kernel`, and the settings that are
//! varied by name.

use super::FileError;
use super::fields::{Field, Fields};
use crate::kernel::{self, value};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use toml::de::DeValue;

/// The settings of the table `kernel`, and those of this cell of a matrix.
pub(super) fn read<'a>(
    table: &mut Fields<'a>,
    varied: Vec<Field<'a>>,
) -> Result<BTreeMap<String, String>, FileError> {
    let mut asked = BTreeMap::new();
    for field in table.table("kernel")? {
        let text = text(table, "kernel", &field)?;
        asked.insert(field.0, text);
    }
    for field in varied {
        let text = text(table, "vary", &field)?;
        let (name, span, _) = field;
        if asked.contains_key(&name) {
            let message = format!("vary: {name} is set in the table kernel already");
            return Err(table.error_in(&span, message));
        }
        asked.insert(name, text);
    }
    Ok(asked)
}

/// What is to be written for a setting.
fn text(
    table: &Fields<'_>,
    of: &str,
    (name, span, asked): &Field<'_>,
) -> Result<String, FileError> {
    let error = |message| table.error_in(span, format!("{of}: {message}"));
    let said = match asked.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| number.as_str().to_owned(), |number| number.to_string()),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Table(_) => {
            return Err(error(format!(
                "{name}: a setting is a number or a word, and a name with a slash stands in \
                 quotes, as in \"vm/dirty_ratio\" = 20"
            )));
        }
        other => {
            return Err(error(format!(
                "{name}: a setting is a number or a word, not of the type {}",
                other.type_str()
            )));
        }
    };
    value(name, &said).map_err(error)
}

/// Prints the table of a stage, if it has one; `list` is the list of its tables.
pub(super) fn print(out: &mut String, list: &str, asked: &BTreeMap<String, String>) {
    if asked.is_empty() {
        return;
    }
    // Writing to a String cannot fail.
    let _ = writeln!(out, "[{list}.kernel]");
    for (name, value) in asked {
        let name = if name.contains('/') {
            super::print::key(name)
        } else {
            name.clone()
        };
        let is_number = value
            .parse::<i64>()
            .is_ok_and(|number| number.to_string() == *value);
        let value = if is_number {
            value.clone()
        } else {
            super::print::quoted(value)
        };
        let _ = writeln!(out, "{name} = {value}");
    }
}

/// What to say of a key that is unknown where it stands, but names a setting of the
/// kernel, or nearly.
pub(super) fn hint(key: &str, known: &[&'static str]) -> String {
    if kernel::setting(key).is_some() {
        return "; it is a setting of the kernel, and stands in [stage.kernel] or varies in \
                [stage.vary]"
            .to_owned();
    }
    let names = kernel::names().chain(known.iter().copied());
    let names: Vec<&'static str> = names.collect();
    match super::nearest(key, &names) {
        None => String::new(),
        Some(near) if known.contains(&near) => format!("; did you mean '{near}'?"),
        Some(near) => format!("; did you mean '{near}', a setting of the kernel?"),
    }
}

#[cfg(test)]
mod tests {
    use crate::file::{parse, print};
    use std::collections::BTreeMap;

    const STAGE: &str = "name = \"x\"\n[[stage]]\nname = \"a\"\noperation = \"read\"\n";

    fn error_of(lines: &str) -> String {
        let text = format!("{STAGE}{lines}\n");
        parse(&text).expect_err(&text).to_string()
    }

    fn asked(settings: &[(&str, &str)]) -> BTreeMap<String, String> {
        let of = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        settings.iter().map(of).collect()
    }

    #[test]
    fn the_table_takes_numbers_and_words_and_prints_as_it_is_written() {
        let table = "[stage.kernel]\n\"iosched/slice_idle\" = 0\nread_ahead_kb = 0x80\n\
                     rotational = false\nscheduler = \"bfq\"\n\"vm/dirty_bytes\" = \"64MiB\"\n\
                     wbt_lat_usec = -1\nwrite_cache = \"write back\"\n";
        let plan = parse(&format!("{STAGE}{table}")).unwrap();
        let kernel = &plan.stages[0].kernel;
        let expected = asked(&[
            ("iosched/slice_idle", "0"),
            ("read_ahead_kb", "128"),
            ("rotational", "0"),
            ("scheduler", "bfq"),
            ("vm/dirty_bytes", "67108864"),
            ("wbt_lat_usec", "-1"),
            ("write_cache", "write back"),
        ]);
        assert_eq!(*kernel, expected);
        assert_eq!(plan.problems(), []);
        let printed = print(&plan);
        let as_written = "[stage.kernel]\n\"iosched/slice_idle\" = 0\nread_ahead_kb = 128\n\
                          rotational = 0\nscheduler = \"bfq\"\n\"vm/dirty_bytes\" = 67108864\n\
                          wbt_lat_usec = -1\nwrite_cache = \"write back\"\n";
        assert!(printed.ends_with(as_written), "{printed}");
    }

    #[test]
    fn settings_vary_by_name_beside_the_keys_of_a_stage_and_beside_the_table() {
        let plan = parse(&format!(
            "{STAGE}[stage.kernel]\nnr_requests = 64\n[stage.vary]\nread_ahead_kb = [128, \"512\"]\n\
             how = [\n{{ name = \"fair\", scheduler = \"bfq\", \"iosched/slice_idle\" = 8, streams = 2 }},\n\
             {{ name = \"plain\", scheduler = \"none\" }},\n]\n"
        ))
        .unwrap();
        let labels: Vec<String> = plan.stages.iter().map(crate::Stage::label).collect();
        assert_eq!(
            labels,
            [
                "a (how=fair, read_ahead_kb=128)",
                "a (how=plain, read_ahead_kb=128)",
                "a (how=fair, read_ahead_kb=512)",
                "a (how=plain, read_ahead_kb=512)",
            ]
        );
        let fair = asked(&[
            ("iosched/slice_idle", "8"),
            ("nr_requests", "64"),
            ("read_ahead_kb", "512"),
            ("scheduler", "bfq"),
        ]);
        assert_eq!(plan.stages[2].kernel, fair);
        assert_eq!(plan.stages[2].workload.streams, 2);
        assert_eq!(plan.stages[1].workload.streams, 1);
        assert_eq!(parse(&print(&plan)), Ok(plan));
    }

    #[test]
    fn what_cannot_be_asked_of_the_kernel_is_named_with_its_line() {
        for (lines, line, wanted) in [
            ("kernel = 3", 5, "as in [stage.kernel]"),
            (
                "[stage.kernel]\nread_ahead = 128",
                6,
                "kernel: unknown setting of the kernel 'read_ahead'; did you mean 'read_ahead_kb'?",
            ),
            (
                "[stage.kernel]\nread_ahead_kb = \"much\"",
                6,
                "kernel: read_ahead_kb: it should be a whole number of KiB",
            ),
            (
                "[stage.kernel]\nread_ahead_kb = 1.5",
                6,
                "of the type float",
            ),
            (
                "[stage.kernel]\nread_ahead_kb = 99999999999999999999",
                6,
                "a whole number of KiB",
            ),
            (
                "[stage.kernel]\nread_ahead_kb = 128\n\"vm/dirty_ratio\" = 101",
                7,
                "0 to 100, not \"101\"",
            ),
            (
                "[stage.kernel]\nvm.dirty_ratio = 20",
                6,
                "stands in quotes, as in \"vm/dirty_ratio\"",
            ),
            (
                "[stage.vary]\nread_ahead_kb = [128, true]",
                6,
                "vary: read_ahead_kb: it should be",
            ),
            (
                "[stage.vary]\nread_ahed_kb = [128, 512]",
                6,
                "did you mean 'read_ahead_kb', a setting of the kernel?",
            ),
            (
                "[stage.kernel]\nscheduler = \"none\"\n[stage.vary]\nscheduler = [\"bfq\"]",
                8,
                "vary: scheduler is set in the table kernel already",
            ),
            (
                "[stage.vary]\nscheduler = [\"bfq\"]\nhow = [{ name = \"b\", scheduler = \"none\" }]",
                7,
                "is set by the axis scheduler already",
            ),
            (
                "scheduler = \"none\"",
                5,
                "unknown key 'scheduler' in a stage; it is a setting of the kernel, and stands in \
                 [stage.kernel]",
            ),
            (
                "[stage.beside]\noperation = \"read\"\nkernel = { scheduler = \"none\" }",
                7,
                "unknown key 'kernel' in the table beside",
            ),
        ] {
            let error = error_of(lines);
            assert!(error.contains(wanted), "{lines}: {error}");
            assert!(
                error.starts_with(&format!("line {line}: ")),
                "{lines}: {error}"
            );
        }
    }

    #[test]
    fn contradictions_and_settings_before_the_trials_are_problems_of_the_plan() {
        let both = "[stage.kernel]\n\"vm/dirty_ratio\" = 20\n\"vm/dirty_bytes\" = \"1GiB\"\n";
        let before = "[[precondition]]\nname = \"p\"\noperation = \"write\"\n\
                      kernel = { scheduler = \"none\" }\n";
        for (lines, wanted) in [
            (both, "vm/dirty_ratio and vm/dirty_bytes say the same"),
            (before, "hold during trials"),
        ] {
            let plan = parse(&format!("{STAGE}{lines}")).expect(lines);
            let problems = plan.problems();
            let [(_, problem)] = problems.as_slice() else {
                panic!("{lines}: {problems:?}");
            };
            assert_eq!(problem.key, "kernel");
            assert!(problem.message.contains(wanted), "{problem}");
        }
    }
}
