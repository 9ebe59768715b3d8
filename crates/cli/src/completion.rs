//! What may stand where the cursor is, for the shells' completion.
//!
//! The scripts of `diskfacts completions` hand the typed words over and get a line for each
//! candidate: the word, a tab, what it is. Words and options come from the same definitions as
//! `--help`; what only diskfacts knows (plans, simulated disks, stored runs and their stages)
//! from [`Known`]. No line means that the place takes a path, or nothing that can be listed.
//! Nothing is said of errors: there is nobody to read it while a command is being typed.

use crate::args::Cli;
use crate::commands::{explain, print};
use crate::exit::Exit;
use clap::builder::ValueRange;
use clap::{Arg, ArgAction, Command, CommandFactory};
use diskfacts_disk::profile::profiles;
use diskfacts_facts::{limits, rules, uses};
use diskfacts_plan::builtin;
use diskfacts_store::{RunSummary, Store, default_path};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The first word of the call that the scripts make.
pub(crate) const ASKED: &str = "completion-candidates";

/// Stored runs that are offered: what fits a screen.
const RUNS: usize = 30;

/// A word that may stand there, and what it is in a few words.
type Candidate = (String, String);

/// Prints what may stand in the place of the last of these words.
pub(crate) fn answer(typed: &[OsString]) -> Exit {
    let typed: Vec<String> = typed
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let mut lines = String::new();
    for (word, about) in candidates(&typed) {
        // Writing to a string does not fail.
        let _ = writeln!(lines, "{word}\t{about}");
    }
    match print(&lines) {
        Ok(()) => Exit::Done,
        Err(failure) => failure.exit,
    }
}

/// What was typed before the word that is to be completed.
struct Place {
    /// The command whose word it is.
    command: Command,
    /// The words that are no options, behind the command.
    positions: Vec<String>,
    /// The option whose value it is.
    of: Option<Arg>,
    /// Whether `--` ended the options.
    no_options: bool,
    /// The store that was named.
    store: Option<String>,
    /// The plan that was named.
    plan: Option<String>,
}

/// Candidates for the last of the words, in the order in which they are to be shown.
fn candidates(typed: &[String]) -> Vec<Candidate> {
    let Some((current, before)) = typed.split_last() else {
        return Vec::new();
    };
    let place = Place::behind(before);
    let known = Known { place: &place };
    let mut found = Vec::new();
    let mut start = "";
    if let Some(option) = &place.of {
        found = known.values(option, current);
    } else if let Some((name, value)) = current.split_once('=')
        && !place.no_options
        && let Some(option) = place.option(name)
    {
        start = &current[..=name.len()];
        found = known.values(&option, value);
    } else if current.starts_with('-') && !place.no_options {
        found = place.options();
    } else {
        if place.positions.is_empty() {
            let commands = place.command.get_subcommands();
            let shown = commands.filter(|command| !command.is_hide_set());
            found.extend(shown.map(|c| (c.get_name().to_owned(), about(c.get_about()))));
        }
        if let Some(position) = place.position() {
            found.extend(known.values(&position, current));
        }
    }
    found.retain_mut(|(word, _)| {
        word.insert_str(0, start);
        word.starts_with(current.as_str())
    });
    found
}

impl Place {
    fn behind(before: &[String]) -> Self {
        let mut command = Cli::command();
        // Makes options that every command takes options of each.
        command.build();
        let mut place = Self {
            command,
            positions: Vec::new(),
            of: None,
            no_options: false,
            store: None,
            plan: None,
        };
        for word in before {
            place.pass(word);
        }
        place
    }

    fn pass(&mut self, word: &str) {
        if let Some(option) = self.of.take() {
            self.given(&option, word);
        } else if self.no_options || !word.starts_with('-') || word == "-" {
            let command = self.command.find_subcommand(word).cloned();
            match command.filter(|_| self.positions.is_empty() && !self.no_options) {
                Some(command) => self.command = command,
                None => self.positions.push(word.to_owned()),
            }
        } else if word == "--" {
            self.no_options = true;
        } else if let Some((name, value)) = word.split_once('=') {
            if let Some(option) = self.option(name) {
                self.given(&option, value);
            }
        } else {
            let needs_value = |option: &Arg| {
                let number = option.get_num_args().unwrap_or(ValueRange::EMPTY);
                takes_value(option) && number.min_values() > 0
            };
            self.of = self.option(word).filter(needs_value);
        }
    }

    fn given(&mut self, option: &Arg, value: &str) {
        match option.get_id().as_str() {
            "store" => self.store = Some(value.to_owned()),
            "plan" => self.plan = Some(value.to_owned()),
            _ => {}
        }
    }

    /// The option of this name, with its dashes.
    fn option(&self, name: &str) -> Option<Arg> {
        let mut options = self.command.get_arguments();
        let is_it = |arg: &&Arg| {
            let long = arg
                .get_long()
                .is_some_and(|long| name == format!("--{long}"));
            long || arg
                .get_short()
                .is_some_and(|short| name == format!("-{short}"))
        };
        options.find(is_it).cloned()
    }

    fn options(&self) -> Vec<Candidate> {
        let shown = self
            .command
            .get_arguments()
            .filter(|arg| !arg.is_hide_set());
        shown
            .filter_map(|arg| Some((format!("--{}", arg.get_long()?), about(arg.get_help()))))
            .collect()
    }

    /// The argument in whose place the word stands; the last one may be there many times.
    fn position(&self) -> Option<Arg> {
        let mut positions: Vec<&Arg> = self.command.get_positionals().collect();
        positions.sort_by_key(|arg| arg.get_index());
        let many = |arg: &&Arg| matches!(arg.get_action(), ArgAction::Append);
        let here = positions.get(self.positions.len()).copied();
        here.or_else(|| positions.last().copied().filter(many))
            .cloned()
    }
}

fn takes_value(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Set | ArgAction::Append)
}

/// The first line of a help text.
fn about(help: Option<&clap::builder::StyledStr>) -> String {
    let text = help.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

/// What may be the value of an argument.
struct Known<'a> {
    place: &'a Place,
}

impl Known<'_> {
    fn values(&self, argument: &Arg, current: &str) -> Vec<Candidate> {
        let possible = argument.get_possible_values();
        if takes_value(argument) && !possible.is_empty() {
            let shown = possible.iter().filter(|value| !value.is_hide_set());
            return shown
                .map(|value| (value.get_name().to_owned(), about(value.get_help())))
                .collect();
        }
        match (self.place.command.get_name(), argument.get_id().as_str()) {
            // Names that runs have: of an option, and to be given again to a newer one.
            (_, "name") if takes_value(argument) && argument.get_long().is_some() => self.names(),
            (_, "tags") => self.tags(),
            (_, "plan") | ("plans", "name") => plans(),
            (_, "uses" | "usage") => {
                let named = uses().iter();
                named
                    .map(|named| (named.name.to_owned(), named.about.to_owned()))
                    .collect()
            }
            ("export", "stages") | ("show", "stage" | "settle") => self.stages_of_run(),
            (_, "stages") => self.stages_of_plan(),
            ("show", "claim") => claims(),
            ("explain", "name") => explained(),
            ("show" | "rename" | "note" | "tag", "run")
            | ("compare", "a" | "b")
            | ("advise" | "delete" | "export" | "report", "runs") => self.runs(),
            ("rename", "name") => self.names(),
            ("sim", "profile") => described(profiles().map(str::to_owned)),
            // Where nothing is typed yet a path is likelier.
            (_, "target") if !current.is_empty() => {
                described(profiles().map(|name| format!("sim:{name}")))
            }
            _ => Vec::new(),
        }
    }

    /// The stages of the plan that is named, or of the one that is taken where none is. What a
    /// file has is not read.
    fn stages_of_plan(&self) -> Vec<Candidate> {
        let plan = self.place.plan.as_deref().unwrap_or("survey");
        let mut found: Vec<Candidate> = Vec::new();
        for stage in builtin::plan(plan).into_iter().flat_map(|plan| plan.stages) {
            if !found.iter().any(|(name, _)| *name == stage.name) {
                found.push((stage.name, stage.about));
            }
        }
        found
    }

    fn store(&self) -> Option<Store> {
        let path = match &self.place.store {
            Some(path) => PathBuf::from(path),
            None => default_path(|name| std::env::var_os(name)).ok()?,
        };
        Store::glance(Path::new(&path))
    }

    fn stages_of_run(&self) -> Vec<Candidate> {
        let selector = self.place.positions.first().map_or("last", String::as_str);
        let stages = self.store().and_then(|store| store.stages(selector).ok());
        described(stages.unwrap_or_default())
    }

    fn runs(&self) -> Vec<Candidate> {
        let runs = self.store().and_then(|store| store.runs(RUNS).ok());
        let runs = runs.unwrap_or_default();
        let newest = runs
            .first()
            .map(|_| ("last".to_owned(), "the newest".to_owned()));
        let before = runs
            .get(1)
            .map(|_| ("last~1".to_owned(), "the one before".to_owned()));
        let about = |run: &RunSummary| format!("{} of {}", run.plan, run.target);
        // The first of a name is the one that it means.
        let mut names: Vec<Candidate> = Vec::new();
        for run in &runs {
            if let Some(name) = &run.labels.name
                && !names.iter().any(|(known, _)| known == name)
            {
                names.push((name.clone(), about(run)));
            }
        }
        let ids = runs.iter().map(|run| (run.id.clone(), about(run)));
        let last = newest.into_iter().chain(before);
        last.chain(names).chain(ids).collect()
    }

    fn names(&self) -> Vec<Candidate> {
        let all = self.store().and_then(|store| store.names_and_tags().ok());
        described(all.unwrap_or_default().0)
    }

    fn tags(&self) -> Vec<Candidate> {
        let all = self.store().and_then(|store| store.names_and_tags().ok());
        described(all.unwrap_or_default().1)
    }
}

fn described(words: impl IntoIterator<Item = String>) -> Vec<Candidate> {
    words
        .into_iter()
        .map(|word| (word, String::new()))
        .collect()
}

fn plans() -> Vec<Candidate> {
    let plans = builtin::names().filter_map(builtin::plan);
    plans.map(|plan| (plan.name, plan.about)).collect()
}

/// Limiters, findings and uses, by name.
fn claims() -> Vec<Candidate> {
    let limiters = limits::all().map(|limiter| (limiter.name, limiter.about()));
    let rules = rules::all().iter().map(|rule| (rule.name, rule.about()));
    let uses = uses().iter().map(|named| (named.name, named.about));
    let all = limiters.chain(rules).chain(uses);
    all.map(|(name, about)| (name.to_owned(), about.to_owned()))
        .collect()
}

/// What `diskfacts explain` has words of.
fn explained() -> Vec<Candidate> {
    let names = explain::names();
    names
        .map(|(name, about)| (name.to_owned(), about))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is offered behind these words, the last of which is the beginning of one.
    fn offered(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        candidates(&words)
            .into_iter()
            .map(|(word, _)| word)
            .collect()
    }

    #[test]
    fn commands_and_options_are_those_of_the_help() {
        assert_eq!(offered("meas"), ["measure"]);
        assert_eq!(offered("show --bud"), ["--budget"]);
        // Of every command.
        assert_eq!(offered("show --sto"), ["--store"]);
        assert_eq!(offered("plans --trial"), [""; 0]);
        // Behind -- nothing is an option.
        assert_eq!(offered("measure -- --tri"), [""; 0]);
    }

    #[test]
    fn values_are_those_that_diskfacts_knows() {
        assert_eq!(offered("measure . --plan sur"), ["survey"]);
        assert_eq!(offered("measure . --plan=sur"), ["--plan=survey"]);
        assert_eq!(offered("measure sim:ssd-s"), ["sim:ssd-sata"]);
        assert_eq!(offered("measure . --for etc"), ["etcd"]);
        assert_eq!(offered("measure . --stage log"), ["log-write"]);
        assert_eq!(offered("measure . --plan hdparm --stage log"), [""; 0]);
        assert_eq!(offered("show --color al"), ["always"]);
        assert_eq!(offered("show --claim rotation"), ["rotation"]);
        assert_eq!(offered("explain rota"), ["rotation"]);
        // A finding of documents alone.
        assert_eq!(offered("explain one-u"), ["one-unit"]);
        assert_eq!(offered("sim nvme-d"), ["nvme-datacenter"]);
    }

    #[test]
    fn what_takes_a_path_or_a_number_is_left_to_the_shell() {
        assert_eq!(offered("measure /sr"), [""; 0]);
        assert_eq!(offered("measure --trials "), [""; 0]);
        assert_eq!(offered("import re"), [""; 0]);
        // An option that needs no value takes none of the words behind it.
        assert_eq!(offered("measure --settle sim:ssd-s"), ["sim:ssd-sata"]);
    }
}
