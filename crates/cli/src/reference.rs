//! The reference of the commands, from the same definitions as `--help`: the manual pages
//! ([`man_page`]), and the tables of `docs/reference/commands.md`, which a test holds against
//! them (`markdown`).

mod environment;
mod man_page;
#[cfg(test)]
mod markdown;
mod prose;
mod roff;

pub(crate) use man_page::manual;

use crate::args::Cli;
use clap::{Arg, ArgAction, Command, CommandFactory};

/// Every command that has a `--help` of its own, `diskfacts` first and each before its parts.
/// Their names are as they are typed: `diskfacts runs delete` is [`Command::get_bin_name`].
fn commands() -> Vec<Command> {
    let mut main = Cli::command().disable_help_subcommand(true);
    // Gives them their names, and the options that all of them take.
    main.build();
    let mut commands = Vec::new();
    with_parts(&main, &mut commands);
    commands
}

fn with_parts(command: &Command, commands: &mut Vec<Command>) {
    commands.push(command.clone());
    for part in command.get_subcommands().filter(|part| !part.is_hide_set()) {
        with_parts(part, commands);
    }
}

/// The words by which a command is called: `diskfacts runs delete`.
fn called(command: &Command) -> &str {
    command.get_bin_name().unwrap_or(command.get_name())
}

/// An option, or an argument without a name, as it is described.
#[derive(Debug, PartialEq, Eq)]
struct Described {
    /// The ways to write it: `-y`, `--skip-first`. An argument has none.
    names: Vec<String>,
    /// What stands for its value: `NAME|FILE`; `[N]` where it may be left out, and `[=N]` where
    /// no blank may stand before it.
    value: Option<String>,
    /// What it does, without a full stop.
    meaning: String,
    /// What is taken where it is not given, as a phrase.
    default: Option<String>,
    /// The values that may be chosen, each with what it means.
    choices: Vec<(String, String)>,
    /// Where it stands in `--help`; `None` is "Options".
    heading: Option<String>,
}

impl Described {
    /// What `--help` says of it.
    fn of(argument: &Arg) -> Self {
        let short = argument.get_short().map(|short| format!("-{short}"));
        let long = argument.get_long().map(|long| format!("--{long}"));
        let takes = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
        let said = match argument.get_id().as_str() {
            // It says of itself that there is a shorter and a longer one.
            "help" => Some("Print help".to_owned()),
            _ => argument.get_help().map(ToString::to_string),
        };
        let (meaning, said) = without_default(&typed_in_backticks(&said.unwrap_or_default()));
        let given = argument
            .get_default_values()
            .first()
            .filter(|_| takes)
            .map(|value| format!("`{}`", value.to_string_lossy()));
        let choices = argument.get_possible_values();
        let choices = choices.iter().filter(|one| takes && !one.is_hide_set());
        Self {
            names: short.into_iter().chain(long).collect(),
            value: takes.then(|| value_of(argument)),
            meaning,
            default: said.or(given),
            choices: choices
                .map(|one| {
                    let name = one.get_name();
                    let about = one.get_help().map(ToString::to_string);
                    // `never` means never.
                    let about = about.filter(|about| !about.eq_ignore_ascii_case(name));
                    (name.to_owned(), about.unwrap_or_default())
                })
                .collect(),
            heading: argument.get_help_heading().map(str::to_owned),
        }
    }
}

fn value_of(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let value = names.join(" ");
    let number = argument.get_num_args().unwrap_or_default();
    if argument.is_require_equals_set() {
        format!("[={value}]")
    } else if number.takes_values() && number.min_values() == 0 && !argument.is_positional() {
        format!("[{value}]")
    } else {
        value
    }
}

impl Described {
    /// Its value behind its name, and what stands between them.
    fn value_behind_name(&self) -> Option<(&'static str, &str)> {
        let value = self.value.as_deref()?;
        Some((if value.starts_with("[=") { "" } else { " " }, value))
    }
}

/// A text of `--help` as one line, with the options in it between backticks, where they are
/// not yet.
fn typed_in_backticks(help: &str) -> String {
    let mut inside = false;
    let words = help.split_whitespace().map(|word| {
        let option = word.find("--").filter(|_| !inside);
        inside ^= word.matches('`').count() % 2 == 1;
        let letters = |c: char| c == '-' || c.is_ascii_alphanumeric();
        match option {
            Some(at) if !word.contains('`') && word[..at].trim_matches(['(', '[']).is_empty() => {
                let end = word.trim_end_matches(|c| !letters(c)).len();
                format!("{}`{}`{}", &word[..at], &word[at..end], &word[end..])
            }
            _ => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A help text without the `[default: ...]` at its end, and that.
fn without_default(help: &str) -> (String, Option<String>) {
    let found = help
        .strip_suffix(']')
        .and_then(|text| text.rsplit_once("[default: "))
        .map(|(meaning, default)| (meaning.trim_end().to_owned(), default.to_owned()));
    match found {
        Some((meaning, default)) => (meaning, Some(default)),
        None => (help.to_owned(), None),
    }
}

/// What a command is told, each as `--help` has it: what stands without a name first, then
/// options, those without a heading before the others.
fn described(command: &Command) -> Vec<Described> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let (unnamed, options): (Vec<&Arg>, Vec<&Arg>) = shown.partition(|arg| arg.is_positional());
    let mut headings: Vec<Option<&str>> = vec![None];
    for option in &options {
        if !headings.contains(&option.get_help_heading()) {
            headings.push(option.get_help_heading());
        }
    }
    let options = headings.iter().flat_map(|heading| {
        let under = options.iter().copied();
        under.filter(move |option| option.get_help_heading() == *heading)
    });
    let all = unnamed.iter().copied().chain(options);
    all.map(Described::of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(command: &str) -> Command {
        let found = commands().into_iter().find(|one| called(one) == command);
        found.unwrap_or_else(|| panic!("no {command}"))
    }

    #[test]
    fn every_command_and_its_parts_are_there_under_the_words_by_which_they_are_called() {
        let commands = commands();
        let names: Vec<&str> = commands.iter().map(called).collect();
        assert_eq!(names[0], "diskfacts");
        let at = names.iter().position(|name| *name == "diskfacts runs");
        assert_eq!(at.map(|at| names[at + 1]), Some("diskfacts runs rename"));
        assert!(!names.contains(&"diskfacts help"), "{names:?}");
    }

    #[test]
    fn an_option_is_described_by_its_names_value_default_and_choices() {
        let options = described(&find("diskfacts measure"));
        let named = |name: &str| {
            let mut all = options.iter();
            let it = all.find(|one| one.names.iter().any(|known| known == name));
            it.unwrap_or_else(|| panic!("no {name}"))
        };
        assert_eq!(options[0].names, [""; 0]);
        assert_eq!(options[0].value.as_deref(), Some("TARGET"));
        let plan = named("--plan");
        assert_eq!(plan.value.as_deref(), Some("NAME|FILE"));
        assert_eq!(plan.default.as_deref(), Some("`survey`"));
        // Said in the help itself.
        let size = named("--size");
        assert_eq!(size.default.as_deref(), Some("1GiB, or what fits"));
        assert!(!size.meaning.contains("default"), "{}", size.meaning);
        assert_eq!(named("--settle").value.as_deref(), Some("[N]"));
        let full = named("--full");
        assert_eq!((&full.value, &full.default), (&None, &None));
        assert_eq!(named("--color").choices[2].0, "never");
        assert_eq!(named("-h").names, ["-h", "--help"]);
    }

    #[test]
    fn options_in_a_help_text_are_marked_as_typed() {
        for (help, marked) in [
            ("the time;\nnot with --time", "the time; not with `--time`"),
            (
                "needs root (--loop, --size=1)",
                "needs root (`--loop`, `--size=1`)",
            ),
            (
                "see `measure --help` or --json.",
                "see `measure --help` or `--json`.",
            ),
            ("plain - and -y", "plain - and -y"),
        ] {
            assert_eq!(typed_in_backticks(help), marked);
        }
    }

    #[test]
    fn what_is_hidden_is_not_described() {
        let options = described(&find("diskfacts iostat"));
        let names = || options.iter().flat_map(|one| &one.names);
        assert!(names().any(|name| name == "-y"));
        assert!(!names().any(|name| name == "-x"));
    }
}
