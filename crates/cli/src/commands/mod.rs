//! One file per command.

pub(crate) mod devices;
pub(crate) mod measure;
pub(crate) mod plans;
pub(crate) mod runs;
pub(crate) mod show;
pub(crate) mod sim;

use std::io::Write;

/// Prints to standard output. A reader that went away, as `head` does, has seen
/// what it wanted.
pub(crate) fn print(text: &str) -> Result<(), crate::exit::Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(
            crate::exit::Failure::failed(format!("writing to standard output failed: {error}")),
        ),
        _ => Ok(()),
    }
}
