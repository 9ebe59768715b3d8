//! What settings were before they were changed, as text that survives the process.
//!
//! ```text
//! diskfacts settings journal 1
//! boot 0e96c943-b902-46e5-b74b-74722769f0bd
//! process 4711 88123
//! began 2026-11-21T20:00:00Z
//! command diskfacts tune /dev/sdb
//! device 8:16 sdb diskseq=9 queue=6924 sectors=2048 serial=A1
//! set 0 scheduler bfq
//! old 0 read_ahead_kb 128
//! old 0 scheduler mq-deadline
//! old - vm/dirty_ratio 20
//! end 3 1f0e9c...
//! ```
//!
//! `old` and `set` (what the process is about to set) name a device by its place among
//! the lines `device`, and `-` is the machine. A setting is one of those that are known,
//! with a value as the kernel prints it, and its file is never named: who forges a journal
//! cannot have anything else written. Going through these lines **backwards** puts back what resets others
//! before what it resets. The last line counts them and has the FNV-1a hash of
//! all before it: a journal without it was torn by a power cut before anything
//! was changed.

mod folder;
mod open;
mod owner;
mod safe_folder;

pub(super) use folder::content;
pub use folder::{Found, StateFolder};
pub(super) use open::NEW;
pub use open::OpenJournal;
pub use owner::Owner;
use safe_folder::SafeFolder;

use super::identity::Identity;
use super::setting::{Scope, Setting};
use crate::parse::ParseError;
use std::fmt::Write as _;

const FORMAT: &str = "settings journal";
const FIRST: &str = "diskfacts settings journal 1";

/// The old values of settings that one process is about to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    /// Of which boot of the machine: settings do not outlive it.
    pub boot_id: String,
    /// The process that changes them.
    pub process: u32,
    /// When that process was started, clock ticks since boot: a number of a process
    /// is given again.
    pub start_ticks: u64,
    /// When it began, RFC 3339.
    pub began: String,
    /// The command, for people.
    pub command: String,
    /// The devices that settings are of.
    pub devices: Vec<Identity>,
    /// What the process sets, in no order.
    pub set: Vec<Old>,
    /// Old values, in the reverse of the order in which they are put back.
    pub old: Vec<Old>,
}

/// One setting with a value, as it was, or as it is going to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Old {
    /// Which of the journal's devices; `None` is the machine.
    pub device: Option<usize>,
    /// The setting.
    pub setting: Setting,
    /// Its value.
    pub value: String,
}

/// Why bytes are no journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It ends before its end: it was being written when the machine stopped, so
    /// nothing had been changed yet.
    #[error("it was not written to its end, so nothing had been changed yet")]
    Torn,
    /// It is whole and not understood.
    #[error(transparent)]
    Damaged(#[from] ParseError),
}

impl Journal {
    /// The journal as text.
    pub fn encode(&self) -> String {
        let mut text = format!(
            "{FIRST}\nboot {}\nprocess {} {}\nbegan {}\ncommand {}\n",
            escape(&self.boot_id, false),
            self.process,
            self.start_ticks,
            escape(&self.began, false),
            escape(&self.command, false),
        );
        // Writing to a string does not fail.
        for device in &self.devices {
            let Identity {
                name, major, minor, ..
            } = device;
            let _ = write!(text, "device {major}:{minor} {}", escape(name, true));
            if let Some(number) = device.diskseq {
                let _ = write!(text, " diskseq={number}");
            }
            if let Some(number) = device.queue {
                let _ = write!(text, " queue={number}");
            }
            if let Some(sectors) = device.sectors {
                let _ = write!(text, " sectors={sectors}");
            }
            if let Some(serial) = &device.serial {
                let _ = write!(text, " serial={}", escape(serial, true));
            }
            if let Some(file) = &device.backing_file {
                let _ = write!(text, " backing={}", escape(file, true));
            }
            text.push('\n');
        }
        let set = self.set.iter().map(|set| ("set", set));
        for (key, of) in set.chain(self.old.iter().map(|old| ("old", old))) {
            let device = of.device.map_or("-".to_owned(), |index| index.to_string());
            let value = escape(&of.value, false);
            let _ = writeln!(text, "{key} {device} {} {value}", of.setting);
        }
        let hash = fnv1a(text.as_bytes());
        let _ = writeln!(text, "end {} {hash:016x}", self.old.len());
        text
    }

    /// Reads what [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    /// [`Unreadable::Torn`] without an end, [`Unreadable::Damaged`] when what is
    /// there is not what was written, or is of a newer version.
    pub fn parse(bytes: &[u8]) -> Result<Self, Unreadable> {
        let last = last_line(bytes).ok_or(Unreadable::Torn)?;
        let (body, end) = bytes.split_at(last);
        let text = std::str::from_utf8(body).map_err(|_| wrong(0, "ASCII", "other bytes"))?;
        let end = std::str::from_utf8(end).map_err(|_| Unreadable::Torn)?;
        let lines: Vec<&str> = text.lines().collect();
        if lines.first() != Some(&FIRST) {
            let found = lines.first().unwrap_or(&"");
            return Err(wrong(0, FIRST, found));
        }
        let counted = format!("{:016x}", fnv1a(body));
        let mut journal = Self {
            boot_id: String::new(),
            process: 0,
            start_ticks: 0,
            began: String::new(),
            command: String::new(),
            devices: Vec::new(),
            set: Vec::new(),
            old: Vec::new(),
        };
        let (count, hash) = end
            .trim_end()
            .strip_prefix("end ")
            .and_then(|end| end.split_once(' '))
            .ok_or(Unreadable::Torn)?;
        if hash != counted {
            return Err(wrong(lines.len(), "the hash of the lines above", hash));
        }
        for (index, line) in lines.iter().enumerate().skip(1) {
            let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
            journal.take(index, key, rest)?;
        }
        if count.parse() != Ok(journal.old.len()) {
            return Err(wrong(lines.len(), "the number of lines `old`", count));
        }
        Ok(journal)
    }

    fn take(&mut self, index: usize, key: &str, rest: &str) -> Result<(), Unreadable> {
        let bad = |expected| wrong(index, expected, rest);
        let text = || unescape(rest).ok_or_else(|| bad("text with %XX for odd characters"));
        match key {
            "boot" => self.boot_id = text()?,
            "began" => self.began = text()?,
            "command" => self.command = text()?,
            "process" => {
                let (process, ticks) = rest.split_once(' ').ok_or_else(|| bad("two numbers"))?;
                self.process = process.parse().map_err(|_| bad("number of a process"))?;
                self.start_ticks = ticks.parse().map_err(|_| bad("ticks since boot"))?;
            }
            "device" => {
                let device = device(rest).ok_or_else(|| bad("a device"))?;
                self.devices.push(device);
            }
            "set" => self.set.push(self.setting_of(rest).map_err(bad)?),
            "old" => self.old.push(self.setting_of(rest).map_err(bad)?),
            _ => return Err(bad("boot, process, began, command, device, set or old")),
        }
        Ok(())
    }

    /// `0 scheduler bfq`, or what was expected.
    fn setting_of(&self, rest: &str) -> Result<Old, &'static str> {
        let mut parts = rest.splitn(3, ' ');
        let device = match parts.next().unwrap_or_default() {
            "-" => None,
            number => {
                let index = number.parse().ok();
                let known = index.filter(|index| *index < self.devices.len());
                Some(known.ok_or("a device that was named before")?)
            }
        };
        let setting = parts.next().and_then(Setting::parse).ok_or("a setting")?;
        if device.is_none() != (setting.scope() == Scope::Machine) {
            return Err("a setting of a device for a device, and of the machine for `-`");
        }
        let value = parts.next().and_then(unescape);
        let value = value.filter(|value| setting.takes(value));
        Ok(Old {
            device,
            value: value.ok_or("a value of this setting")?,
            setting,
        })
    }

    /// Whether this value of a setting is what the process has set, or what the kernel
    /// makes of that: it reads ahead whole pages.
    pub(super) fn has_set(&self, of: &Old, now: &str) -> bool {
        /// The longest page of any machine, KiB.
        const PAGE_KIB: u64 = 64;
        let mut set = self.set.iter();
        set.any(|set| {
            let pages = || {
                let (set, now) = (set.value.parse::<u64>().ok()?, now.parse::<u64>().ok()?);
                Some(set.checked_sub(now)? < PAGE_KIB)
            };
            let same = Setting::same(&set.value, now);
            let rounded = || set.setting.is("read_ahead_kb") && pages() == Some(true);
            (set.device, &set.setting) == (of.device, &of.setting) && (same || rounded())
        })
    }

    /// The device of an old value; `None` is the machine.
    pub fn device_of(&self, old: &Old) -> Option<&Identity> {
        old.device.and_then(|index| self.devices.get(index))
    }
}

/// `8:16 sdb diskseq=9 sectors=2048`.
fn device(rest: &str) -> Option<Identity> {
    let mut words = rest.split(' ');
    let (major, minor) = words.next()?.split_once(':')?;
    let mut device = Identity {
        name: words
            .next()
            .and_then(unescape)
            .filter(|name| is_name(name))?,
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
        diskseq: None,
        queue: None,
        sectors: None,
        serial: None,
        backing_file: None,
    };
    for word in words {
        let (key, value) = word.split_once('=')?;
        match key {
            "diskseq" => device.diskseq = Some(value.parse().ok()?),
            "queue" => device.queue = Some(value.parse().ok()?),
            "sectors" => device.sectors = Some(value.parse().ok()?),
            "serial" => device.serial = Some(unescape(value)?),
            "backing" => device.backing_file = Some(unescape(value)?),
            _ => return None,
        }
    }
    Some(device)
}

/// Whether a device can have this name: it becomes part of a path (`cciss/c0d0`).
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'/';
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.bytes().all(plain);
    name.len() <= 64 && name.split('/').all(part)
}

fn wrong(index: usize, expected: &'static str, found: &str) -> Unreadable {
    ParseError::at(FORMAT, index, expected, found).into()
}

/// Where the last line begins, when it is whole: it ends with a line feed and
/// begins with `end `.
fn last_line(bytes: &[u8]) -> Option<usize> {
    let inner = bytes.strip_suffix(b"\n")?;
    let before = inner.iter().rposition(|byte| *byte == b'\n')?;
    inner[before + 1..]
        .starts_with(b"end ")
        .then_some(before + 1)
}

/// Printable ASCII as it is, all else and `%` as `%XX`; `word` is without blanks.
fn escape(text: &str, word: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        let plain = (byte.is_ascii_graphic() && byte != b'%') || (byte == b' ' && !word);
        if plain {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo; isthe.com/chongo/tech/comp/fnv): against torn and damaged
/// files, not against forgery.
fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests;
