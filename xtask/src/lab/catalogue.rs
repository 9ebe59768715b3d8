//! What the lab has, as its own program lists it: scenarios, the disks that
//! they need, the tools and the kernel's modules.

use crate::project::output;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// All of it.
pub(super) struct Catalogue {
    pub(super) scenarios: Vec<Scenario>,
    /// What the random stacks have in common.
    fuzz: Scenario,
    /// Those of which the short set has one, another each day.
    fuzz_of_days: Vec<String>,
    pub(super) disks: Vec<Disk>,
    pub(super) tools: Vec<Tool>,
    pub(super) modules: Vec<String>,
}

/// Something that is built, checked and torn down in a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) about: String,
    /// Whether it is in the short set.
    pub(super) short: bool,
    /// Whether the short set has it on every kernel.
    pub(super) every_kernel: bool,
    /// The disks that it needs, by name.
    pub(super) disks: Vec<String>,
    /// Other guests that it has on its network.
    pub(super) helpers: u64,
    /// Seconds that it takes in a guest, about; to share the work out.
    pub(super) seconds: u64,
}

/// A disk as QEMU is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Disk {
    pub(super) name: String,
    pub(super) bytes: u64,
    /// Controllers that it hangs on, as values of `-device`.
    pub(super) needs: Vec<String>,
    /// Values of `-drive`, `-blockdev` and the like, each with its option;
    /// `{file}` is the path of its file.
    pub(super) options: Vec<(String, String)>,
}

/// A program that scenarios use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tool {
    pub(super) program: String,
    /// The package of Debian that has it.
    pub(super) package: String,
}

impl Catalogue {
    /// One of the random stacks, by its name: `fuzz:SEED:INDEX`.
    pub(super) fn fuzz(&self, name: &str) -> Option<Scenario> {
        let (seed, index) = name.strip_prefix("fuzz:")?.split_once(':')?;
        let is_number = |text: &str| text.parse::<u64>().is_ok();
        (is_number(seed) && is_number(index)).then(|| Scenario {
            name: name.to_owned(),
            ..self.fuzz.clone()
        })
    }

    /// The random stack of a day, counted from any one.
    pub(super) fn fuzz_of_day(&self, day: u64) -> Option<Scenario> {
        let days = self.fuzz_of_days.len() as u64;
        let place = usize::try_from(day.checked_rem(days)?).ok()?;
        self.fuzz(self.fuzz_of_days.get(place)?)
    }

    /// Asks the lab's program.
    ///
    /// # Errors
    /// When it does not answer with a list.
    pub(super) fn of(program: &Path) -> Result<Self, String> {
        let text = output(Command::new(program).arg("list"))?;
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| format!("what {} lists: {error}", program.display()))?;
        Self::read(&value).ok_or_else(|| format!("{} lists something else", program.display()))
    }

    pub(super) fn read(value: &Value) -> Option<Self> {
        let scenario = |value: &Value| {
            Some(Scenario {
                name: text(value, "name")?,
                about: text(value, "about")?,
                short: value["short"].as_bool()?,
                every_kernel: value["every_kernel"].as_bool()?,
                disks: texts(&value["disks"])?,
                helpers: value["helpers"].as_u64()?,
                seconds: value["seconds"].as_u64()?,
            })
        };
        let disk = |value: &Value| {
            let option = |value: &Value| {
                let [name, content] = texts(value)?.try_into().ok()?;
                Some((name, content))
            };
            Some(Disk {
                name: text(value, "name")?,
                bytes: value["bytes"].as_u64()?,
                needs: texts(&value["needs"])?,
                options: all(&value["options"], option)?,
            })
        };
        let tool = |value: &Value| {
            Some(Tool {
                program: text(value, "program")?,
                package: text(value, "package")?,
            })
        };
        Some(Self {
            scenarios: all(&value["scenarios"], scenario)?,
            fuzz: scenario(&value["fuzz"])?,
            fuzz_of_days: texts(&value["fuzz_of_days"])?,
            disks: all(&value["disks"], disk)?,
            tools: all(&value["tools"], tool)?,
            modules: texts(&value["modules"])?,
        })
    }
}

fn all<T>(list: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    list.as_array()?.iter().map(read).collect()
}

fn text(value: &Value, key: &str) -> Option<String> {
    value[key].as_str().map(str::to_owned)
}

fn texts(list: &Value) -> Option<Vec<String>> {
    all(list, |text| text.as_str().map(str::to_owned))
}
