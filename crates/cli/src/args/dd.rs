//! The arguments of `diskfacts dd`.

use super::{LabelArgs, Style};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// Copy like dd, and say what its figure hides
///
/// That is: how much was only in the page cache when dd's clock stopped, and how
/// long the final flush took.
#[derive(Debug, Args)]
#[command(after_help = "\
Operands, as in GNU dd:
  if=FILE      input [default: standard input]
  of=FILE      output: a new file, /dev/null or a pipe; an existing file or a
               device only with --destroy-data-on [default: standard output]
  bs=N         bytes per block [default: 512]
  count=N      blocks to copy [default: all]
  skip=N       blocks of the input to skip
  seek=N       blocks of the output to skip
  iflag=LIST   direct, dsync, sync, nocache, fullblock, skip_bytes, count_bytes
  oflag=LIST   direct, dsync, sync, nocache, seek_bytes
  conv=LIST    fsync, fdatasync, notrunc
  status=WORD  none or noxfer: fewer lines of --style classic; progress

N takes c (1), w (2), b (512), k, M, G, ... (powers of 1024), kB, MB, ...
(powers of 1000) and products: 2x512. With a B at its end, N counts bytes.

Example:
  diskfacts dd if=/dev/zero of=/srv/test bs=1M count=1024")]
pub(crate) struct DdArgs {
    /// if=, of=, bs=, count= and others, listed below
    #[arg(value_name = "OPERAND")]
    pub(crate) operands: Vec<OsString>,
    /// Form of the output
    #[arg(long, value_name = "STYLE", default_value = "facts")]
    pub(crate) style: Style,
    /// Print the run as one JSON document
    #[arg(long, conflicts_with = "style")]
    pub(crate) json: bool,
    /// Allow writes that destroy the data on an existing file or device; PATH must
    /// be that of of=
    #[arg(long, value_name = "PATH")]
    pub(crate) destroy_data_on: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) labels: LabelArgs,
}
