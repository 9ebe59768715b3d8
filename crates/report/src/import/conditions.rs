//! What a document says about the rows that follow: headings, command lines.

use super::command::Command;
use std::collections::BTreeMap;

/// Fewest signs of a rule across the page.
const RULE: usize = 20;
/// Programs that a line behind a root's prompt calls; other text behind a `#` is
/// a heading.
const CALLED: [&str; 18] = [
    "dd",
    "hdparm",
    "iostat",
    "fio",
    "bonnie++",
    "while",
    "for",
    "sync",
    "echo",
    "sudo",
    "time",
    "cat",
    "ls",
    "mount",
    "umount",
    "blockdev",
    "cd",
    "diskfacts",
];
/// Schedulers that Linux has had.
const SCHEDULERS: [&str; 8] = [
    "noop",
    "anticipatory",
    "deadline",
    "cfq",
    "none",
    "mq-deadline",
    "bfq",
    "kyber",
];

/// Whether a second reader runs beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Beside {
    /// Beside no command.
    #[default]
    No,
    /// Beside the command that comes next.
    TheNext,
    /// Beside the command in force.
    This,
}

/// The conditions in force.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Conditions {
    scheduler: Option<String>,
    read_ahead: Option<String>,
    read_ahead_by: Option<&'static str>,
    io_context: Option<&'static str>,
    /// What `Run at the same time:` says of the commands around it.
    beside: Beside,
    /// The command of the second reader.
    other: Command,
    /// The command in force.
    pub(super) command: Command,
    /// `Solaris block device (bs=16k):`
    iostat: BTreeMap<String, String>,
    /// `initializing`: what follows is written.
    initializing: bool,
    /// The heading that stands above, a line that ends with a colon.
    pub(super) heading: String,
    /// What a heading says of the rows below it, where it says nothing that has a
    /// name: `# before the upgrade`, `After:`.
    above: Option<String>,
    /// The line directly above, which a rule makes a heading.
    previous: String,
    /// The device of hdparm's lines, `/dev/sda:`.
    device: Option<String>,
    /// The stage that the heading above names, as `--style classic` prints it:
    /// `reader (beside=nothing, served-by=one thread):`.
    stage: Option<String>,
    /// The document speaks of `hdparm -t`.
    pub(super) hdparm: bool,
    /// The conditions of the figure above, of running text.
    pub(super) claim: Option<BTreeMap<String, String>>,
    /// The line above strided lines, until a blank line.
    pub(super) strided: Option<crate::formats::stride::Header>,
}

impl Conditions {
    /// Whether a line sets conditions, or is blank.
    pub(super) fn line(&mut self, text: &str) -> bool {
        let text = text.trim();
        let previous = std::mem::take(&mut self.previous);
        if text.is_empty() {
            self.strided = None;
            return true;
        }
        if text.len() >= RULE && text.bytes().all(|b| matches!(b, b'-' | b'=')) {
            // What the document says of itself outlives a rule across the page, and
            // so does the line that the rule stands below.
            let above = previous.trim_end_matches(':').trim();
            *self = Self {
                hdparm: self.hdparm,
                above: (!above.is_empty()).then(|| above.to_owned()),
                ..Self::default()
            };
            return true;
        }
        text.clone_into(&mut self.previous);
        if text.contains("hdparm -t") {
            self.hdparm = true;
        }
        if text.contains("initializing") {
            self.initializing = true;
        }
        if self.command_line(text) {
            return true;
        }
        if let Some(comment) = comment(text) {
            self.above = Some(comment.to_owned());
            self.device = None;
            return false;
        }
        let Some(heading) = text.strip_suffix(':') else {
            return false;
        };
        let heading = heading.trim_start_matches(['-', '=', ' ']).trim();
        if heading.eq_ignore_ascii_case("run at the same time") {
            self.beside = Beside::TheNext;
            return true;
        }
        heading.clone_into(&mut self.heading);
        if heading.contains('/') && !heading.contains(char::is_whitespace) {
            self.device = Some(heading.to_owned());
            return true;
        }
        // These stand within a part of a document.
        if self.scheduler(heading) || self.size(heading) {
            return true;
        }
        // And these begin one.
        let known = self.contexts(heading) || self.device(heading) || self.stage(heading);
        let is_of_mail = heading.ends_with("wrote");
        let is_point = heading.starts_with(['•', '*']);
        if known || is_of_mail {
            self.above = None;
        } else if !is_point && !heading.is_empty() {
            self.above = Some(heading.to_owned());
            self.device = None;
        }
        known
    }

    /// A row stood here, which a rule below it does not make a heading.
    pub(super) fn passed(&mut self) {
        self.previous.clear();
    }

    /// The heading above, as a setting.
    pub(super) fn of_heading(&self) -> Option<(String, String)> {
        let above = self.above.clone()?;
        Some(("heading".to_owned(), above))
    }

    /// `dd if=... of=...`, after any prompt; not within a sentence.
    fn command_line(&mut self, text: &str) -> bool {
        let start = text.trim_start_matches(|c| c != 'd' && c != 'w');
        let before = &text[..text.len() - start.len()];
        let prompt = before.trim_end().ends_with(['#', '$', '>', ')']) || before.is_empty();
        let shell = text.contains("# dd ") || text.contains("# while ") || text.contains("$ dd ");
        let looped = text.contains("while true");
        let is_command = shell || (prompt && start.starts_with("dd "));
        if !is_command && !looped {
            return false;
        }
        let command = Command::find(text);
        if command.is_empty() {
            return false;
        }
        if looped {
            self.other = command;
        } else {
            self.beside = if self.beside == Beside::TheNext {
                Beside::This
            } else {
                Beside::No
            };
            self.command = command;
            self.iostat.clear();
            self.initializing = false;
        }
        true
    }

    /// `CFQ:`, `=== Deadline:`, `CFQ scheduler:`
    fn scheduler(&mut self, heading: &str) -> bool {
        let name = heading.trim_end_matches("scheduler").trim().to_lowercase();
        let known = SCHEDULERS.contains(&name.as_str());
        if known {
            self.scheduler = Some(name);
            if self.read_ahead.as_deref() != Some("default") {
                self.read_ahead = None;
            }
            self.beside = Beside::No;
        }
        known
    }

    /// `RA 512K:`, `--- RA 1024K:`
    fn size(&mut self, heading: &str) -> bool {
        let Some(size) = heading.strip_prefix("RA ") else {
            return false;
        };
        let known = diskfacts_plan::units::parse_size(size).is_ok();
        if known {
            self.read_ahead = Some(size.to_owned());
        }
        known
    }

    /// `Context RA, all IO threads work in different IO contexts, default RA size:`
    fn contexts(&mut self, heading: &str) -> bool {
        let lower = heading.to_lowercase();
        let context = if lower.contains("same io context") {
            "same"
        } else if lower.contains("different io context") {
            "different"
        } else {
            return false;
        };
        self.io_context = Some(context);
        self.read_ahead_by = if lower.contains("context ra") {
            Some("context")
        } else if lower.contains("vanilla ra") {
            Some("vanilla")
        } else {
            None
        };
        self.read_ahead = lower.contains("default ra").then(|| "default".to_owned());
        self.scheduler = None;
        true
    }

    /// `Solaris block device (bs=16k):`
    fn device(&mut self, heading: &str) -> bool {
        let words: Vec<&str> = heading.split_whitespace().collect();
        let [
            system @ ("Solaris" | "Linux"),
            path @ ("block" | "raw"),
            "device",
            ..,
        ] = words.as_slice()
        else {
            return false;
        };
        self.iostat = BTreeMap::from([
            ("system".to_owned(), system.to_lowercase()),
            ("path".to_owned(), (*path).to_owned()),
        ]);
        self.command = Command::find(heading);
        true
    }

    /// `reader (beside=nothing, served-by=one thread):`, `block (bs=16k):`
    fn stage(&mut self, heading: &str) -> bool {
        let (name, settings) = heading.split_once(" (").unwrap_or((heading, ""));
        let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let known = is_name && settings.ends_with(')') && settings.contains('=');
        if known {
            self.stage = Some(heading.to_owned());
            self.beside = Beside::No;
            let bs = Command::find(heading);
            if bs.get("bs").is_some() {
                self.iostat = BTreeMap::from([("stage".to_owned(), name.to_owned())]);
                self.command = bs;
            }
        }
        known
    }

    /// What hdparm names above its lines: `/dev/sda:`.
    pub(super) fn of_hdparm(&self) -> BTreeMap<String, String> {
        let target = self.device.clone().map(|name| ("target".to_owned(), name));
        target.into_iter().chain(self.of_heading()).collect()
    }

    /// The conditions of a row of dd, with the operands that stand in its line.
    pub(super) fn of_dd(&self, command: &Command) -> BTreeMap<String, String> {
        let mut settings = self.of_read_ahead();
        settings.extend(self.of_heading());
        for (name, value) in command.pairs() {
            settings.insert(name.to_owned(), value.to_owned());
        }
        if let Some(stage) = &self.stage {
            settings.insert("stage".to_owned(), stage.clone());
        }
        if self.beside == Beside::This {
            let words = self
                .other
                .pairs()
                .map(|(name, value)| format!(" {name}={value}"));
            settings.insert(
                "beside".to_owned(),
                format!("dd{}", words.collect::<String>()),
            );
        }
        if self.initializing && command.target().is_none() {
            settings.insert("operation".to_owned(), "write".to_owned());
        }
        settings
    }

    fn of_read_ahead(&self) -> BTreeMap<String, String> {
        let conditions = [
            ("scheduler", self.scheduler.clone()),
            ("read_ahead", self.read_ahead.clone()),
            ("read_ahead_by", self.read_ahead_by.map(str::to_owned)),
            ("io_context", self.io_context.map(str::to_owned)),
        ];
        conditions
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }

    /// The conditions of a row of iostat.
    pub(super) fn of_iostat(&self) -> BTreeMap<String, String> {
        let mut settings = self.iostat.clone();
        settings.extend(self.of_heading());
        for (name, value) in self.command.pairs() {
            settings.insert(name.to_owned(), value.to_owned());
        }
        settings
    }
}

/// `# before the upgrade`: what stands behind the signs, and is no command.
fn comment(text: &str) -> Option<&str> {
    let behind = text.trim_start_matches('#');
    let said = behind.trim().trim_end_matches([':', '#']).trim();
    let program = said.split_whitespace().next()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    let is_heading = behind.len() < text.len() && behind.starts_with(' ');
    (is_heading && !CALLED.contains(&program)).then_some(said)
}
