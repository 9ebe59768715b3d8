//! Runs a program whose output is both shown and read.

use crate::stuck;
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long output may go on after the program has ended. Only a process that
/// it left behind holds the pipe for longer.
const GRACE: Duration = Duration::from_secs(5);

/// How long a program may say nothing. The slowest test takes some three minutes
/// on a loaded machine.
const SILENCE: Duration = Duration::from_mins(10);
/// Lines that are read ahead of whoever takes them.
const EVENTS: usize = 256;

/// How a program ended.
pub(crate) struct Ended {
    /// `None`: the kernel holds it, and it was waited for in vain.
    pub(crate) status: Option<ExitStatus>,
    /// A process that it started lives on and holds its output open.
    pub(crate) left_something_running: bool,
    /// It said nothing for long, and what it had started was ended; perhaps it too.
    pub(crate) was_stuck: bool,
}

/// How long is waited for what.
#[derive(Clone, Copy)]
struct Patience {
    grace: Duration,
    silence: Duration,
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
    let patience = Patience {
        grace: GRACE,
        silence: SILENCE,
    };
    run_with(command, show, read, patience)
}

fn run_with(
    mut command: Command,
    show: &mut dyn Write,
    mut read: impl FnMut(&str),
    patience: Patience,
) -> io::Result<Ended> {
    let (reader, writer) = io::pipe()?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    // It holds our ends of the pipe for writing.
    drop(command);
    let process = child.id();
    // Bounded: what says more than is taken waits for its reader.
    let (events, next) = mpsc::sync_channel(EVENTS);
    let lines = events.clone();
    std::thread::spawn(move || send_lines(reader, &lines));
    std::thread::spawn(move || events.send(Event::Exit(child.wait())));

    let mut ended = Ended {
        status: None,
        left_something_running: true,
        was_stuck: false,
    };
    let mut deadline = Instant::now() + patience.silence;
    // How often something was ended since it said a line.
    let mut blows = 0;
    while ended.status.is_none() || ended.left_something_running {
        // While lines come without a pause, none is missed at the deadline.
        if ended.status.is_some() && Instant::now() >= deadline {
            break;
        }
        match next.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Event::Line(line)) => {
                show.write_all(&line)?;
                read(plain(&String::from_utf8_lossy(&line)).trim_end());
                // What lives on after it has its grace, whatever it says.
                if ended.status.is_none() && blows < 2 {
                    deadline = Instant::now() + patience.silence;
                    blows = 0;
                }
            }
            Ok(Event::EndOfOutput) => ended.left_something_running = false,
            Ok(Event::Exit(status)) => {
                ended.status = Some(status?);
                deadline = Instant::now() + patience.grace;
            }
            Err(_) if ended.status.is_some() || blows == 2 => break,
            Err(_) => {
                ended.was_stuck = true;
                let below = stuck::descendants(process);
                let minutes = patience.silence.as_secs() / 60;
                let threads = stuck::threads(&below);
                writeln!(
                    show,
                    "nothing was said for {minutes} minutes; ended:\n{threads}"
                )?;
                stuck::end(&below);
                // The program itself goes on with what comes next, unless it waits for
                // nobody, or for what the kernel does not let go.
                if below.is_empty() || blows > 0 {
                    stuck::end(&[process]);
                    blows = 2;
                    deadline = Instant::now() + patience.grace;
                } else {
                    blows = 1;
                    deadline = Instant::now() + patience.silence;
                }
            }
        }
    }
    Ok(ended)
}

fn send_lines(reader: PipeReader, lines: &mpsc::SyncSender<Event>) {
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
        let silence = Duration::from_mins(5);
        shell_with(script, Patience { grace, silence })
    }

    fn shell_with(script: &str, patience: Patience) -> Ran {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut shown = Vec::new();
        let mut lines = Vec::new();
        let read = |line: &str| lines.push(line.to_owned());
        let ended = run_with(command, &mut shown, read, patience).expect("running sh");
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
        assert_eq!(ran.ended.status.and_then(|status| status.code()), Some(4));
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

    #[cfg(target_os = "linux")]
    fn impatient(script: &str) -> Ran {
        let (grace, silence) = (Duration::from_secs(1), Duration::from_secs(1));
        shell_with(script, Patience { grace, silence })
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_says_nothing_for_long_is_shown_and_ended_and_the_rest_goes_on() {
        let ran = impatient("echo one; tail -f /dev/null; echo two; exit 3");
        assert!(ran.ended.was_stuck);
        // Some shells tell between these what was killed.
        let ends = (ran.lines.first(), ran.lines.last());
        assert_eq!(ends, (Some(&"one".to_owned()), Some(&"two".to_owned())));
        assert!(ran.shown.contains("tail -f /dev/null"), "{}", ran.shown);
        assert_eq!(ran.ended.status.and_then(|status| status.code()), Some(3));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_that_hangs_by_itself_or_again_and_again_is_ended() {
        for script in [
            "exec tail -f /dev/null",
            "exec 2>/dev/null; while :; do tail -f /dev/null; done",
        ] {
            let ran = impatient(script);
            assert!(ran.ended.was_stuck);
            assert!(!ran.ended.status.expect("its end").success(), "{script}");
        }
    }

    #[test]
    fn what_goes_on_saying_something_after_the_end_is_not_waited_for() {
        let ran = shell(
            "(while :; do echo more; done) & echo $!",
            Duration::from_secs(1),
        );
        assert!(ran.ended.left_something_running);
        let id = ran.lines.iter().find(|line| *line != "more");
        let killed = Command::new("kill").arg(id.expect("its number")).status();
        // It may have found its reader gone.
        assert!(killed.is_ok());
    }
}
