//! The line to the host: a JSON object on each line, out and in.

use serde_json::{Value, json};
use std::io::{self, BufRead, Write};
use std::time::Duration;

/// Says that the guest is up, and reads which scenarios it is to do.
///
/// # Errors
/// When the line breaks, or what comes is no list of names.
pub(crate) fn ready() -> io::Result<Vec<String>> {
    let work = ask_line(&json!({ "ready": true }))?;
    let names = work["run"].as_array().ok_or_else(|| {
        let what = format!("the host sent {work} instead of names of scenarios");
        io::Error::other(what)
    })?;
    let names = names.iter().filter_map(Value::as_str);
    Ok(names.map(str::to_owned).collect())
}

/// Tells something; a line that breaks is noticed by the host.
pub(crate) fn tell(message: &Value) {
    let mut out = io::stdout().lock();
    let told = writeln!(out, "{message}").and_then(|()| out.flush());
    if let Err(error) = told {
        eprintln!("telling the host: {error}");
    }
}

/// Has QEMU's monitor do a command (QMP), and gives what it returns.
///
/// # Errors
/// When the line breaks, or QEMU refuses.
pub(crate) fn monitor(command: &Value) -> Result<Value, String> {
    let answer = ask_line(&json!({ "ask": command })).map_err(|error| error.to_string())?;
    match answer.get("return") {
        Some(value) => Ok(value.clone()),
        None => Err(format!("QEMU answered {answer} to {command}")),
    }
}

/// How long QEMU has waited for a processor of the machine it runs on.
///
/// # Errors
/// When the line breaks, or the host does not count it.
pub(crate) fn waited() -> Result<Duration, String> {
    let answer = ask_line(&json!({ "waited": true })).map_err(|error| error.to_string())?;
    let ns = answer["return"].as_u64();
    ns.map(Duration::from_nanos)
        .ok_or_else(|| format!("how long QEMU waited for a processor: {answer}"))
}

fn ask_line(message: &Value) -> io::Result<Value> {
    tell(message);
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    serde_json::from_str(&line).map_err(io::Error::other)
}
