//! Programs that are run in the guest, each with a limit of time.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a program may take. The guest's processor is emulated on a machine
/// that may have other work; what hangs would hang for ever. Who waits for a guest gives it longer.
pub(crate) const LIMIT: Duration = Duration::from_mins(4);

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None`: a signal, or it was killed at its limit.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// It was still running at its limit.
    pub(crate) hung: bool,
}

impl Ended {
    pub(crate) fn ok(&self) -> bool {
        self.code == Some(0)
    }

    /// How it ended and what it said last, on one line.
    pub(crate) fn summary(&self) -> String {
        let how = match self.code {
            _ if self.hung => "did not end".to_owned(),
            Some(code) => format!("ended with {code}"),
            None => "was killed by a signal".to_owned(),
        };
        let said: Vec<&str> = self.stderr.lines().rev().take(8).collect();
        let said: Vec<&str> = said.into_iter().rev().collect();
        format!("{how}: {}", said.join(" | "))
    }
}

/// Runs it to its end, with its output in the files `NAME.out` and `NAME.err`.
///
/// # Errors
/// When it cannot be started, or its output not be kept.
pub(crate) fn run(mut command: Command, files: &Path, limit: Duration) -> io::Result<Ended> {
    let (out, err) = (files.with_extension("out"), files.with_extension("err"));
    let child = command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .spawn()?;
    let (code, hung) = wait(child, limit)?;
    let read = |path: &Path| -> io::Result<String> {
        Ok(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
    };
    Ok(Ended {
        code,
        stdout: read(&out)?,
        stderr: read(&err)?,
        hung,
    })
}

/// Its exit code, and whether it had to be killed.
pub(crate) fn wait(mut child: Child, limit: Duration) -> io::Result<(Option<i32>, bool)> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status.code(), false));
        }
        if start.elapsed() > limit {
            child.kill()?;
            // What waits for a device that hangs cannot be waited for.
            drop(child.try_wait());
            return Ok((None, true));
        }
        thread::sleep(Duration::from_millis(5));
    }
}
