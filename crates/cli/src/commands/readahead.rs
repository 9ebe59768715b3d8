//! `diskfacts readahead TARGET [-- COMMAND]`: what the kernel's read-ahead decides
//! while somebody reads, in the table of 2009, and what follows from it.
//!
//! Nothing is changed and nothing is stored. The events come from a buffer of the
//! kernel that is removed at the end, on Ctrl-C too.

mod scope;
mod watching;

use super::print;
use crate::args::{Common, ReadaheadArgs};
use crate::exit::{Exit, Failure, OrFail};
use crate::look;
use crate::named_text::{TRACE_BYTES_MAX, read_bytes};
use diskfacts_facts::read_ahead;
use diskfacts_host::parse::trace::text::parse_trace_text;
use diskfacts_host::read_ahead::{Decision, Named, Watch};
use diskfacts_record::Stack;
use diskfacts_record::evidence::{ReadAhead, ReadAheadCost};
use diskfacts_report::formats::readahead::Trace;
use diskfacts_report::json;
use diskfacts_report::text::{self, Watched};
use std::path::Path;
use watching::Seen;

/// Bytes of a page where a trace does not say it: those of x86 and most ARM.
const PAGE: u64 = 4096;

pub(crate) fn run(args: &ReadaheadArgs, common: &Common) -> Result<Exit, Failure> {
    let seen = match (&args.from, &args.target) {
        (Some(file), _) => of_text(file)?,
        (None, Some(target)) => watching::watch(target, args)?,
        (None, None) => return Err(Failure::wrong_call("name a target, or --from FILE")),
    };
    let streams = seen.table.threads.len().max(1) as u64;
    let findings = read_ahead::told(&seen.table, streams, &seen.stack);
    let out = if args.json {
        json::read_ahead(&json::WatchedReadAhead {
            target: &seen.watched.what,
            seconds: seen.watched.seconds,
            command: seen.command.as_deref(),
            exit_code: seen.exit_code,
            notes: &seen.watched.notes,
            read_ahead: &seen.table,
            findings: &findings,
        })
    } else {
        let lines = if args.trace {
            trace_lines(&seen)
        } else {
            String::new()
        };
        let page = text::read_ahead(
            &seen.table,
            &seen.watched,
            &findings,
            &look::of_stdout(common.color),
        );
        lines + &page
    };
    print(&out)?;
    Ok(seen.exit)
}

/// What a trace of another machine tells, or of this one at another time.
fn of_text(file: &Path) -> Result<Seen, Failure> {
    let what = format!("the trace {}", file.display());
    let hint = "; `trace-cmd report > trace.txt` makes one";
    let bytes = read_bytes(file, (&what, hint), TRACE_BYTES_MAX)?;
    let text = parse_trace_text(&bytes, PAGE).or_wrong_call()?;
    let mut watch = Watch::new(PAGE).keeping_decisions();
    for line in &text.events {
        watch.know_thread(line.event.thread, &line.comm);
        watch.take(&line.event);
    }
    let mut table = watch.end();
    table.cost = (text.lost > 0).then_some(ReadAheadCost {
        events: text.events.len() as u64,
        lost: text.lost,
        cpu_ns: None,
    });
    let mut next = Vec::new();
    if text.events.is_empty() {
        next.push(
            "There is no event of read-ahead in it: the groups readahead and filemap have to be \
             enabled, as in `trace-cmd record -e readahead -e filemap COMMAND` and then `trace-cmd \
             report > trace.txt`."
                .to_owned(),
        );
    }
    Ok(Seen {
        decisions: watch.take_decisions(),
        watched: Watched {
            what: file.display().to_string(),
            seconds: None,
            notes: Vec::new(),
            next,
        },
        table,
        stack: Stack::default(),
        names: watch,
        command: None,
        exit_code: None,
        exit: Exit::Done,
    })
}

/// The decisions in the lines of 2009.
fn trace_lines(seen: &Seen) -> String {
    let line = |decision: &Decision| format!("{}\n", trace_line(decision, &seen.names));
    seen.decisions.iter().map(line).collect()
}

fn trace_line(decision: &Decision, names: &Watch) -> Trace {
    let file = decision.file;
    // Brackets end a name in this format.
    let bare = |name: &str| name.replace(['(', ')', '\n', '\r'], "_");
    let path = names.file_name(file);
    let name = path.rsplit('/').next().unwrap_or(path);
    Trace {
        pattern: decision
            .pattern
            .map_or("undecided", |pattern| pattern.word())
            .to_owned(),
        pid: decision.thread.into(),
        comm: bare(names.thread_name(decision.thread)),
        device: (file.major(), file.minor()),
        device_name: scope::device_name(file),
        inode: file.inode,
        file: bare(name),
        request_page: decision.request,
        request_pages: decision.request_pages,
        start_page: decision.start,
        size_pages: decision.size.cast_signed(),
        async_pages: decision.async_size.cast_signed(),
        asynchronous: decision.is_ahead(),
        actual_pages: decision.actual.cast_signed(),
    }
}

/// That nothing was read, and how something would be.
fn nothing(table: &ReadAhead, named: Named, target: &str) -> Vec<String> {
    if table.all.count > 0 {
        return Vec::new();
    }
    let file = match named {
        Named::Filesystem(_) => "FILE",
        Named::File(_) | Named::Device(_) => target,
    };
    vec![format!(
        "Read-ahead decided nothing: nobody read through the page cache what was not there \
         already. To see it at work, read something that is not cached, as with `sudo diskfacts \
         readahead {target} -- dd if={file} of=/dev/null bs=1M count=256`."
    )]
}
