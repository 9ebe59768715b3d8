//! The arguments of `diskfacts advise`.

use clap::Args;

/// Choose among measured volumes or settings, by use or by weights
#[derive(Debug, Args)]
#[command(after_help = "\
Weights, each a number of 0 or more; those not named are 0:
  seq-read      sequential reads
  shared-read   sequential reads while others use the disk
  seq-write     sequential writes
  rewrite       sequential rewrites
  seeks         random operations
  log-writes    writes synced one by one
  tail-latency  99th percentile of log writes and seeks
  cpu           processor time per byte or operation

Examples:
  diskfacts advise last last~1 --for etcd
  diskfacts advise last --weights seq-read=3,seq-write=1")]
pub(crate) struct AdviseArgs {
    /// Runs: `last`, `last~1`, a name, an id or its beginning, a file [default: last]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Weigh for this use (`measure --help` lists them) [default: rank by each
    /// dimension alone]
    #[arg(long = "for", value_name = "USE")]
    pub(crate) usage: Option<String>,
    /// Weigh by these: seq-read=3,seq-write=1
    #[arg(long, value_name = "LIST", conflicts_with = "usage")]
    pub(crate) weights: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
