//! The arguments of `diskfacts serve`.

use clap::Args;

/// Look around in the stored runs with a browser on this machine
///
/// Lists the runs, shows and compares them, and what is measured at this moment. Nothing can be
/// changed from a page. The address that is printed has a long random part, new each time: who
/// does not know it sees nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diskfacts serve                      until Ctrl-C; open the address it prints
  diskfacts serve --port 8080          where the port has to be known
  diskfacts serve --store results.db   the runs of another store

From another machine, through SSH with the same port at both ends:
  ssh -L 8080:127.0.0.1:8080 HOST diskfacts serve --port 8080")]
pub(crate) struct ServeArgs {
    /// Listen on this port of 127.0.0.1 and `::1` [default: a free one]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
}
