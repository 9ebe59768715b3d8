//! `diskfacts completions`: the script by which a shell asks what may be typed.

use super::print;
use crate::args::{CompletionsArgs, Shell};
use crate::exit::{Exit, Failure};

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    print(match args.shell {
        Shell::Bash => include_str!("../../completions/diskfacts.bash"),
        Shell::Zsh => include_str!("../../completions/diskfacts.zsh"),
        Shell::Fish => include_str!("../../completions/diskfacts.fish"),
    })?;
    Ok(Exit::Done)
}
