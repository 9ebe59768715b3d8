//! Programs beside what is tested.

use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Shells that do the same over and over, until this is dropped. What they print meanwhile is
/// little: a pipe holds it.
#[derive(Debug)]
pub struct Shells(Vec<Child>);

impl Shells {
    /// So many of them, each with this script.
    ///
    /// # Panics
    /// When there is no shell.
    pub fn running(many: usize, script: &str) -> Self {
        let one = |_| {
            let mut shell = Command::new("sh");
            let shell = shell.args(["-c", &format!("while :; do {script}; done")]);
            let quiet = shell.stdout(Stdio::piped()).stderr(Stdio::null());
            quiet.process_group(0).spawn().expect("sh")
        };
        Self((0..many).map(one).collect())
    }
}

impl Drop for Shells {
    fn drop(&mut self) {
        for shell in &mut self.0 {
            // What a shell waits for would go on without it, into the control; and it may have
            // ended by itself, and then there is nothing to end.
            let _ended = kill_process_group(Pid::from_child(shell), Signal::KILL);
            let _status = shell.wait();
            // The pipe ends with the last of those that hold it.
            if let Some(mut held) = shell.stdout.take() {
                let mut printed = Vec::new();
                let _bytes = held.read_to_end(&mut printed);
            }
        }
    }
}
