//! The tables of `docs/reference/commands.md` that are made from the program. Each stands
//! between two comments, the first of which names it; what stands around them is written by hand.
//!
//! A table that has aged fails the test here, which makes them anew when it is asked to:
//!
//! ```sh
//! DOCS_UPDATE=always cargo test -p diskfacts --bin diskfacts reference
//! ```

use super::environment::ENVIRONMENT;
use super::{Described, called, commands, described};
use crate::exit::CODES;
use clap::{Arg, Command};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- made by the program: ";
const END: &str = "<!-- end -->";

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| {
        let cells = cells.iter().map(|cell| {
            let cell = cell.replace('|', "\\|");
            if cell.is_empty() {
                String::new()
            } else {
                format!(" {cell}")
            }
        });
        format!("|{} |\n", cells.collect::<Vec<_>>().join(" |"))
    };
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let rule = vec!["---".to_owned(); head.len()];
    let rows = rows.map(|row| line(&row));
    [line(&head), line(&rule)].into_iter().chain(rows).collect()
}

/// Every table, by its name.
fn tables() -> Vec<(String, String)> {
    let commands = commands();
    let main = &commands[0];
    let index = commands.iter().skip(1).map(|command| {
        let name = called(command);
        let about = command.get_about().map(ToString::to_string);
        let link = format!("[`{name}`](#{})", name.replace(' ', "-"));
        vec![link, about.unwrap_or_default()]
    });
    let codes = CODES.map(|code| vec![code.number.to_owned(), code.meaning.to_owned()]);
    let variables = ENVIRONMENT.map(|(names, meaning)| {
        let names: Vec<String> = names.split(", ").map(|name| format!("`{name}`")).collect();
        vec![names.join(", "), meaning.to_owned()]
    });
    let mut tables = vec![
        (
            "commands".to_owned(),
            table(&["command", "what it does"], index),
        ),
        (
            "exit codes".to_owned(),
            table(&["code", "meaning"], codes.into_iter()),
        ),
        (
            "environment".to_owned(),
            table(&["variable", "meaning"], variables.into_iter()),
        ),
        (
            "options of every command".to_owned(),
            options(main, of_every_command),
        ),
    ];
    for command in commands.iter().skip(1) {
        let table = options(command, |option| !of_every_command(option));
        if !table.is_empty() {
            tables.push((format!("options of {}", called(command)), table));
        }
    }
    tables
}

fn of_every_command(option: &Arg) -> bool {
    option.is_global_set() || matches!(option.get_id().as_str(), "help" | "version")
}

/// The options of a command for which `wanted` holds; nothing where there is none.
fn options(command: &Command, wanted: impl Fn(&Arg) -> bool) -> String {
    let shown = command.get_arguments().filter(|option| wanted(option));
    let shown: Vec<Described> = shown.map(Described::of).collect();
    let all = described(command);
    let rows = all
        .iter()
        .filter(|one| !one.names.is_empty() && shown.contains(one));
    let rows: Vec<Vec<String>> = rows.map(option).collect();
    if rows.is_empty() {
        return String::new();
    }
    table(&["option", "default", "meaning"], rows.into_iter())
}

fn option(option: &Described) -> Vec<String> {
    let value = option.value_behind_name();
    let value = value.map(|(blank, value)| format!("{blank}{value}"));
    let value = value.unwrap_or_default();
    let names = option.names.iter().rev();
    let names: Vec<String> = names
        .map(|name| {
            if name.starts_with("--") {
                format!("`{name}{value}`")
            } else {
                format!("`{name}`")
            }
        })
        .collect();
    let choices = option.choices.iter().map(|(name, meaning)| {
        if meaning.is_empty() {
            format!("`{name}`")
        } else {
            format!("`{name}`: {meaning}")
        }
    });
    let choices: Vec<String> = choices.collect();
    let meaning = match choices.join("; ") {
        none if none.is_empty() => option.meaning.clone(),
        choices => format!("{}. {choices}", option.meaning),
    };
    let default = option.default.clone().unwrap_or_default();
    vec![names.join(", "), default, meaning]
}

/// The page with every table made anew, and the names of those that it has.
fn made_anew(page: &str, tables: &[(String, String)]) -> (String, Vec<String>) {
    let mut made = String::new();
    let mut names = Vec::new();
    let mut inside = false;
    for line in page.split_inclusive('\n') {
        if inside && line.trim_end() != END {
            continue;
        }
        inside = false;
        made.push_str(line);
        let name = line
            .strip_prefix(BEGIN)
            .and_then(|name| name.trim_end().strip_suffix(" -->"));
        if let Some(name) = name {
            let mut found = tables.iter().filter(|(known, _)| known == name);
            let (_, table) = found
                .next()
                .unwrap_or_else(|| panic!("no table '{name}' is made"));
            // Without empty lines a table beside a comment is none.
            let _ = write!(made, "\n{table}\n");
            names.push(name.to_owned());
            inside = true;
        }
    }
    assert!(!inside, "a table has no {END}");
    (made, names)
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/commands.md")
}

#[test]
fn the_reference_of_the_commands_has_the_tables_of_the_program() {
    let page = std::fs::read_to_string(path()).expect("the reference of the commands");
    let tables = tables();
    let (made, names) = made_anew(&page, &tables);
    let known: BTreeSet<&str> = tables.iter().map(|(name, _)| &**name).collect();
    let found: BTreeSet<&str> = names.iter().map(|name| &**name).collect();
    assert_eq!(found, known, "tables on the page, and tables that are made");
    assert_eq!(
        names.len(),
        found.len(),
        "a table is there twice: {names:?}"
    );
    if std::env::var_os("DOCS_UPDATE").is_some_and(|wanted| wanted == "always") {
        std::fs::write(path(), &made).expect("the reference of the commands is written");
        return;
    }
    let mut lines = page.lines().zip(made.lines());
    let differs = lines.find(|(old, new)| old != new);
    assert!(
        page == made,
        "docs/reference/commands.md is not what the program has, from {differs:?} on; to make its \
         tables anew:\n  DOCS_UPDATE=always cargo test -p diskfacts --bin diskfacts reference"
    );
}

#[test]
fn what_stands_around_a_table_stays() {
    let tables = vec![("x".to_owned(), "| a |\n".to_owned())];
    let page = "before\n<!-- made by the program: x -->\nold\n<!-- end -->\nbehind\n";
    let (made, names) = made_anew(page, &tables);
    assert_eq!(names, ["x"]);
    let wanted = "before\n<!-- made by the program: x -->\n\n| a |\n\n<!-- end -->\nbehind\n";
    assert_eq!(made, wanted);
    assert_eq!(made_anew(wanted, &tables).0, wanted);
}
