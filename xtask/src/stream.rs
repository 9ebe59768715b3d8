//! Runs a program whose output is both shown and read.

use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long output may go on after the program has ended. Only a process that
/// it left behind holds the pipe for longer.
const GRACE: Duration = Duration::from_secs(5);

/// How a program ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// A process that it started lives on and holds its output open.
    pub(crate) left_something_running: bool,
}

enum Event {
    Line(Vec<u8>),
    EndOfOutput,
    Exit(io::Result<ExitStatus>),
}

/// Runs a program; writes its output to `show` as it comes, standard error among
/// standard output in the order written, and hands each line to `read` without
/// line end and colours.
///
/// # Errors
/// When it cannot be started, or its output not be shown.
pub(crate) fn run(
    command: Command,
    show: &mut dyn Write,
    read: impl FnMut(&str),
) -> io::Result<Ended> {
    run_with(command, show, read, GRACE)
}

fn run_with(
    mut command: Command,
    show: &mut dyn Write,
    mut read: impl FnMut(&str),
    grace: Duration,
) -> io::Result<Ended> {
    let (reader, writer) = io::pipe()?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    // It holds our ends of the pipe for writing.
    drop(command);
    let (events, next) = mpsc::channel();
    let lines = events.clone();
    std::thread::spawn(move || send_lines(reader, &lines));
    std::thread::spawn(move || events.send(Event::Exit(child.wait())));

    let mut status = None;
    let mut output_ended = false;
    let mut deadline = None;
    while status.is_none() || !output_ended {
        let event = match deadline {
            None => next.recv().ok(),
            Some(deadline) => next
                .recv_timeout(Instant::saturating_duration_since(
                    &deadline,
                    Instant::now(),
                ))
                .ok(),
        };
        match event {
            Some(Event::Line(line)) => {
                show.write_all(&line)?;
                read(plain(&String::from_utf8_lossy(&line)).trim_end());
            }
            Some(Event::EndOfOutput) => output_ended = true,
            Some(Event::Exit(ended)) => {
                status = Some(ended?);
                deadline = Some(Instant::now() + grace);
            }
            None => break,
        }
    }
    Ok(Ended {
        status: status.ok_or_else(|| io::Error::other("its end was not seen"))?,
        left_something_running: !output_ended,
    })
}

fn send_lines(reader: PipeReader, lines: &mpsc::Sender<Event>) {
    let mut reader = BufReader::new(reader);
    loop {
        let mut line = Vec::new();
        // An error of a pipe ends it as its end does.
        let event = match reader.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => Event::EndOfOutput,
            Ok(_) => Event::Line(line),
        };
        let ended = matches!(event, Event::EndOfOutput);
        if lines.send(event).is_err() || ended {
            return;
        }
    }
}

/// The text without colours: escape sequences that begin with `ESC [` and end
/// with a letter (ECMA-48, control sequences).
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let end = sequence.find(|c: char| ('\u{40}'..='\u{7e}').contains(&c));
        rest = end.map_or("", |end| &sequence[end + 1..]);
    }
    plain.push_str(rest);
    plain
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    struct Ran {
        ended: Ended,
        shown: String,
        lines: Vec<String>,
    }

    fn shell(script: &str, grace: Duration) -> Ran {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut shown = Vec::new();
        let mut lines = Vec::new();
        let read = |line: &str| lines.push(line.to_owned());
        let ended = run_with(command, &mut shown, read, grace).expect("running sh");
        Ran {
            ended,
            shown: String::from_utf8(shown).expect("text"),
            lines,
        }
    }

    #[test]
    fn both_streams_are_read_in_the_order_written() {
        let ran = shell("echo one; echo two >&2; printf three; exit 4", GRACE);
        assert_eq!(ran.lines, ["one", "two", "three"]);
        assert_eq!(ran.shown, "one\ntwo\nthree");
        assert_eq!(ran.ended.status.code(), Some(4));
        assert!(!ran.ended.left_something_running);
    }

    #[test]
    fn colours_are_taken_out_of_what_is_read() {
        let ran = shell("printf '\\033[1m\\033[32mok\\033[0m.\\n'", GRACE);
        assert_eq!(ran.lines, ["ok."]);
        assert!(ran.shown.contains("\u{1b}[32m"));
    }

    #[test]
    fn a_process_left_behind_does_not_stop_the_run_and_is_noticed() {
        let ran = shell("tail -f /dev/null & echo $!", Duration::from_secs(1));
        assert!(ran.ended.left_something_running);
        let killed = Command::new("kill").arg(&ran.lines[0]).status();
        assert!(killed.expect("running kill").success());
    }
}
