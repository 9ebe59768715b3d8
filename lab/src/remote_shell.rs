//! Other guests on the network of this one: they do what a scenario tells them, a line of
//! shell at a time.
//!
//! A helper listens on the lab's network, which no one else is on; each line that it gets is a
//! JSON object with a line of shell, and each answer says how that ended. Nobody but the
//! scenario's guest asks.

use crate::command::{self, Ended, LIMIT};
use crate::guest::{Built, Trouble, until};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where helpers listen.
const PORT: u16 = 7000;

/// The network of the lab; `cargo xtask lab` numbers its guests from 1, which does the scenario.
const NETWORK: &str = "10.0.0";

/// How long a helper's answer may take: it ends what hangs by itself.
const PATIENCE: Duration = LIMIT.saturating_add(Duration::from_secs(30));

/// Serves lines of shell until the guest is switched off.
///
/// # Errors
/// When the network is not there.
pub(crate) fn serve() -> io::Result<()> {
    let listener = TcpListener::bind(("0.0.0.0", PORT))?;
    let mut programs = 0;
    loop {
        let (stream, _) = listener.accept()?;
        let mut answers = stream.try_clone()?;
        for line in BufReader::new(stream).lines() {
            let Ok(asked) = serde_json::from_str::<Value>(&line?) else {
                continue;
            };
            programs += 1;
            let answer = perform(&asked, programs);
            writeln!(answers, "{answer}")?;
        }
    }
}

fn perform(asked: &Value, number: u32) -> Value {
    let Some(line) = asked["sh"].as_str() else {
        return json!({ "error": format!("{asked} has no line of shell") });
    };
    let mut shell = Command::new("dash");
    shell.args(["-ec", line]);
    let files = format!("/tmp/helper-{number}");
    match command::run(shell, Path::new(&files), LIMIT) {
        Ok(ended) => json!({
            "code": ended.code, "stdout": ended.stdout, "stderr": ended.stderr,
            "hung": ended.hung,
        }),
        Err(error) => json!({ "error": format!("running {line}: {error}") }),
    }
}

/// Another guest, as the one that does the scenario sees it.
pub(crate) struct Helper {
    lines: BufReader<TcpStream>,
}

impl Helper {
    /// The helper of this number, from 1, once it is up.
    pub(crate) fn reach(number: u8) -> Built<Self> {
        let address = format!("{NETWORK}.{}:{PORT}", number + 1);
        let mut last = String::new();
        let stream = until(|| match TcpStream::connect(&address) {
            Ok(stream) => Some(stream),
            Err(error) => {
                last = error.to_string();
                None
            }
        });
        let stream =
            stream.ok_or_else(|| format!("helper {number} at {address} is not there: {last}"))?;
        let said = stream.set_read_timeout(Some(PATIENCE));
        said.map_err(|error| format!("helper {number}: {error}"))?;
        Ok(Self {
            lines: BufReader::new(stream),
        })
    }

    /// A line of shell, however it ends.
    pub(crate) fn try_sh(&mut self, line: &str) -> Built<Ended> {
        let failed = |error: io::Error| Trouble::Failed(format!("a helper, `{line}`: {error}"));
        writeln!(self.lines.get_mut(), "{}", json!({ "sh": line })).map_err(failed)?;
        let mut answer = String::new();
        self.lines.read_line(&mut answer).map_err(failed)?;
        let answer: Value =
            serde_json::from_str(&answer).map_err(|error| failed(io::Error::other(error)))?;
        if let Some(error) = answer["error"].as_str() {
            return Err(failed(io::Error::other(error.to_owned())));
        }
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        let code = answer["code"].as_i64();
        Ok(Ended {
            code: code.and_then(|code| i32::try_from(code).ok()),
            stdout: text("stdout"),
            stderr: text("stderr"),
            hung: answer["hung"].as_bool().unwrap_or(false),
        })
    }

    /// A line of shell that must succeed; what it prints.
    pub(crate) fn sh(&mut self, line: &str) -> Built<String> {
        let ended = self.try_sh(line)?;
        if ended.ok() {
            Ok(ended.stdout.trim().to_owned())
        } else {
            let how = ended.summary();
            Err(Trouble::Failed(format!("`{line}` of a helper {how}")))
        }
    }

    /// Sets its clock to this guest's, and says how far it may be off: it is behind by no more
    /// than the way there and back.
    pub(crate) fn set_clock(&mut self) -> Built<Duration> {
        // What sets it knows whole seconds.
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = since.map_err(|error| format!("this guest's clock: {error}"))?;
        let next = Duration::from_secs(now.as_secs() + 1);
        std::thread::sleep(next.saturating_sub(now));
        let sent = Instant::now();
        self.sh(&format!("date -u -s @{}", next.as_secs()))?;
        Ok(sent.elapsed())
    }
}
