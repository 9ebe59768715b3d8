//! The arguments of `diskfacts completions`.

use clap::{Args, ValueEnum};

/// Print shell completion for bash, zsh or fish
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  source <(diskfacts completions bash)     in ~/.bashrc
  source <(diskfacts completions zsh)      in ~/.zshrc, after compinit
  diskfacts completions fish | source      in ~/.config/fish/config.fish

The scripts ask diskfacts when Tab is pressed, so stages and runs are those of \
the store.")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// A shell that asks for completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// GNU bash, 4 or newer
    Bash,
    /// The Z shell
    Zsh,
    /// The friendly interactive shell
    Fish,
}
