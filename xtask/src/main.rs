//! The project's own commands: `cargo xtask test`, `check`, `lab`, `fuzz`, `gallery`, `crate`
//! and `dist`.
//!
//! The test command runs everything the project has and closes with one line
//! of numbers; what could not run is counted and named. The check command
//! reads the sources: format, lints, documentation, the rules of `tidy`, the
//! directions of dependencies, licences. Both go on after a failure, so that
//! one run shows all there is to mend.

mod check;
mod dist;
mod fuzz;
mod gallery;
mod lab;
mod metadata;
mod project;
mod published;
mod stream;
mod stuck;
mod test;
mod tidy;

use project::Project;
use std::process::ExitCode;

const USAGE: &str = "\
The commands of the project:

  cargo xtask test [STEP...]     run the tests of the crates, or these steps
      --all                      all of them
  cargo xtask check [CHECK...]   check the sources, or only these checks
  cargo xtask crate              pack directio as it would be published, and use it
  cargo xtask fuzz [TARGET] [--seconds N]
                                 feed a parser with random input; without a
                                 target, list the targets
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["test", wanted @ ..] => Project::find().and_then(|project| test::run(&project, wanted)),
        ["check", wanted @ ..] => Project::find().and_then(|project| check::run(&project, wanted)),
        ["lab", rest @ ..] => Project::find().and_then(|project| lab::run(&project, rest)),
        ["crate", rest @ ..] => Project::find().and_then(|project| published::run(&project, rest)),
        ["dist", rest @ ..] => Project::find().and_then(|project| dist::run(&project, rest)),
        ["fuzz", rest @ ..] => Project::find().and_then(|project| fuzz::run(&project, rest)),
        ["gallery", rest @ ..] => Project::find().and_then(|project| gallery::run(&project, rest)),
        [] | ["help" | "--help" | "-h", ..] => {
            print!(
                "{USAGE}{}{}{}\n{}\n{}",
                dist::USAGE,
                gallery::USAGE,
                lab::USAGE,
                test::names(),
                check::names()
            );
            return ExitCode::SUCCESS;
        }
        [unknown, ..] => Err(format!("there is no command '{unknown}'\n\n{USAGE}")),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("xtask: {}", message.trim_end());
            ExitCode::from(2)
        }
    }
}

/// Those of `all` that are asked for by name, in their own order; all when none
/// is.
///
/// # Errors
/// When a name is unknown.
fn choose<'a, T>(
    all: &'a [T],
    name: impl Fn(&T) -> &'static str,
    wanted: &[&str],
) -> Result<Vec<&'a T>, String> {
    if let Some(unknown) = wanted
        .iter()
        .find(|wanted| !all.iter().any(|one| name(one) == **wanted))
    {
        let known: Vec<&str> = all.iter().map(&name).collect();
        return Err(format!(
            "there is no '{unknown}'; there are {}",
            known.join(", ")
        ));
    }
    Ok(all
        .iter()
        .filter(|one| wanted.is_empty() || wanted.contains(&name(one)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_chosen_unless_some_are_named() {
        let all = ["a", "b", "c"];
        let chosen = |wanted: &[&str]| {
            choose(&all, |name| name, wanted).map(|chosen| chosen.into_iter().copied().collect())
        };
        assert_eq!(chosen(&[]), Ok(vec!["a", "b", "c"]));
        assert_eq!(chosen(&["c", "a"]), Ok(vec!["a", "c"]));
        assert_eq!(
            chosen(&["d"]),
            Err("there is no 'd'; there are a, b, c".to_owned())
        );
    }
}
