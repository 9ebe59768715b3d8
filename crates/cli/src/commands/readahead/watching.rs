//! The watching itself: the kernel's events, beside a command or for a while.

use super::{nothing, scope};
use crate::args::ReadaheadArgs;
use crate::exit::{Exit, Failure, OrFail, say};
use crate::signals::Signals;
use diskfacts_facts::read_ahead;
use diskfacts_host::read_ahead::{Decision, Named, Watch, length_of, page_bytes, prepare};
use diskfacts_host::signals::may_be_ended;
use diskfacts_host::trace::{Losses, TraceError};
use diskfacts_host::{CpuScope, CpuTimes, Roots, stack_of};
use diskfacts_record::Stack;
use diskfacts_record::evidence::{ReadAhead, ReadAheadCost};
use diskfacts_report::text::Watched;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Without a command, and without `--time`.
const USUAL: Duration = Duration::from_secs(10);
/// Between two looks: the buffers hold much more than comes meanwhile.
const PAUSE: Duration = Duration::from_millis(50);

/// What was seen.
pub(super) struct Seen {
    pub(super) table: ReadAhead,
    pub(super) decisions: Vec<Decision>,
    /// Knows the names of files and threads.
    pub(super) names: Watch,
    pub(super) watched: Watched,
    /// What lies under the target.
    pub(super) stack: Stack,
    /// As it was typed.
    pub(super) command: Option<String>,
    pub(super) exit_code: Option<i32>,
    pub(super) exit: Exit,
}

/// Watches a target, until the time is over, the command ends or a signal comes.
pub(super) fn watch(target: &Path, args: &ReadaheadArgs) -> Result<Seen, Failure> {
    let roots = Roots::default();
    let opened = File::open(target);
    let file = opened
        .map_err(|error| Failure::wrong_call(format!("opening {}: {error}", target.display())))?;
    let named = Named::of(&file).or_failed()?;
    let (scope, what) = scope::of(named, target, &roots);
    // Without it the table is as good, but for what is said of the device.
    let stack = stack_of(&roots, target).unwrap_or_default();
    let watch = Watch::new(page_bytes()).keeping_decisions();
    let shown = target.display().to_string();
    let watch = watch.expecting(
        named.scope(),
        &name(named, &shown),
        length_of(&file, &roots),
    );
    let (mut reader, mut sorter) =
        prepare(&roots, &scope, watch).map_err(|error| refused(&error))?;
    let signals = Signals::listen()?;
    let waker = signals.waker()?;
    let before = own_cpu();
    reader.switch().on().or_failed()?;
    let began = Instant::now();
    let mut child = begin(&args.command)?;
    let until = until(args, began);
    let mut status = None;
    loop {
        // Early enough that who read may still be asked for its files.
        let looked = reader.drain(&mut sorter);
        if let Err(error) = looked {
            end(&mut child);
            return Err(Failure::failed(error));
        }
        sorter.name_files();
        if let Some(child) = &mut child
            && let Some(ended) = child.try_wait().or_failed()?
        {
            status = Some(ended);
            break;
        }
        let now = Instant::now();
        if signals.came().is_some() || until.is_some_and(|until| now >= until) {
            break;
        }
        let next = now + PAUSE;
        waker.wait(until.map_or(next, |until| next.min(until)))?;
    }
    let seconds = began.elapsed().as_secs_f64();
    reader.switch().off().or_failed()?;
    let mut notes = Vec::new();
    if child.is_some() && status.is_none() {
        status = end(&mut child);
        notes.push("The command had not ended, and was ended.".to_owned());
    }
    let losses = reader.finish(&mut sorter).map_err(Failure::failed)?;
    sorter.name_files();
    sorter.name_threads();
    let mut table = sorter.watch.end();
    let spent = own_cpu().zip(before);
    table.cost = Some(ReadAheadCost {
        events: sorter.watch.events(),
        lost: losses.total(),
        cpu_ns: spent.map(|(after, before)| after.total_ns.saturating_sub(before.total_ns)),
    });
    notes.extend(unread(&losses, sorter.broken()));
    let ended = status.map(|status| ended(&args.command, status));
    let exit = match (signals.came(), status) {
        // Ctrl-C is a usual end of watching, unless it ended the command.
        (Some(stopped), None) => stopped.usual(),
        (Some(stopped), _) => stopped,
        (None, Some(status)) if !status.success() => Exit::Failed,
        (None, _) => Exit::Done,
    };
    if exit == Exit::Failed
        && let Some(ended) = &ended
    {
        say(&format!("diskfacts: {}", ended.trim_end_matches('.')));
    }
    notes.extend(ended);
    Ok(Seen {
        decisions: sorter.watch.take_decisions(),
        watched: Watched {
            what,
            seconds: Some(seconds),
            notes,
            next: nothing(&table, named, &shown)
                .into_iter()
                .chain(read_ahead::next(&table, &stack))
                .collect(),
        },
        table,
        names: sorter.watch,
        stack,
        command: (!args.command.is_empty()).then(|| typed(&args.command)),
        exit_code: status.and_then(|status| status.code()),
        exit,
    })
}

/// A target's own name is that of its decisions; a folder's files have theirs.
fn name(named: Named, shown: &str) -> String {
    match named {
        Named::Filesystem(_) => String::new(),
        Named::File(_) | Named::Device(_) => shown.to_owned(),
    }
}

/// Processor time of this thread, which reads the events; unknown is no reason to fail.
fn own_cpu() -> Option<CpuTimes> {
    CpuTimes::now(CpuScope::Thread).ok()
}

fn until(args: &ReadaheadArgs, began: Instant) -> Option<Instant> {
    match args.time.map(Duration::from_nanos) {
        Some(time) => began.checked_add(time),
        None if args.command.is_empty() => Some(began + USUAL),
        None => None,
    }
}

fn begin(command: &[OsString]) -> Result<Option<Child>, Failure> {
    let Some((program, arguments)) = command.split_first() else {
        return Ok(None);
    };
    let mut command = Command::new(program);
    // Standard output is for the facts alone.
    command.args(arguments).stdout(std::io::stderr());
    let child = may_be_ended(&mut command).spawn();
    child.map(Some).map_err(|error| {
        Failure::wrong_call(format!(
            "starting `{}`: {error}; nothing was watched",
            program.to_string_lossy()
        ))
    })
}

/// Ends a command that still runs, as Ctrl-C would have.
fn end(child: &mut Option<Child>) -> Option<ExitStatus> {
    let child = child.as_mut()?;
    let pid = i32::try_from(child.id()).ok();
    if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
        // It may have ended by itself.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    child.wait().ok()
}

fn typed(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

fn ended(command: &[OsString], status: ExitStatus) -> String {
    let program = command.first().map_or_else(String::new, |program| {
        program.to_string_lossy().into_owned()
    });
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("`{program}` ended with exit code {code}."),
        (None, Some(signal)) => format!("`{program}` was ended by signal {signal}."),
        (None, None) => format!("`{program}` ended."),
    }
}

/// What was not seen of what happened.
fn unread(losses: &Losses, broken: u64) -> Vec<String> {
    let pages = losses.damaged_pages;
    let parts = [
        (pages, "pages of events"),
        (broken, "events with strange fields"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    parts
        .map(|(count, what)| format!("{count} {what} were not understood: the counts are too low."))
        .collect()
}

/// One message for whatever keeps the events from being seen.
fn refused(error: &TraceError) -> Failure {
    Failure::failed(format!(
        "the kernel's read-ahead cannot be watched: {error}. What another machine recorded can be \
         read without root: `diskfacts readahead --from FILE`"
    ))
}
