//! Which observers look at the trials of a stage.

use crate::file::nearest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// An observer that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observer {
    /// Its name in plans and on the command line.
    pub name: &'static str,
    /// Whether it follows the kernel's trace events, which needs root; else it reads
    /// counters at the two ends of the trial.
    pub events: bool,
    /// Whether `auto` takes it. Events of pages are as many as reads through the page
    /// cache, so who wants them has to ask.
    pub auto: bool,
}

const fn counter(name: &'static str) -> Observer {
    Observer {
        name,
        events: false,
        auto: true,
    }
}

/// All observers, in the order in which their windows open.
pub const OBSERVERS: [Observer; 14] = [
    counter("residency"),
    counter("neighbours"),
    counter("io_limits"),
    counter("control_group"),
    counter("cpu_quota"),
    counter("write_back"),
    counter("cpu_steal"),
    counter("journal"),
    counter("nfs"),
    counter("pressure"),
    counter("process_io"),
    Observer {
        name: "read_ahead",
        events: true,
        auto: false,
    },
    Observer {
        name: "block_layer",
        events: true,
        auto: true,
    },
    counter("devices"),
];

/// The observer of this name.
pub fn observer(name: &str) -> Option<&'static Observer> {
    OBSERVERS.iter().find(|observer| observer.name == name)
}

/// All that read counters, and none that follows events.
const COUNTERS: &str = "counters";

/// Which observers look at the trials of a stage. Its text is `auto`, `counters`, `none`,
/// `all`, or names with commas between them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Observe {
    /// Those of counters always; those of events in the first trial of a stage, where
    /// this user may, but for those that have to be asked for.
    #[default]
    Auto,
    /// None: what is known only from observers is unknown, as the layers are.
    None,
    /// All, in every trial.
    All,
    /// These, in every trial; at least one.
    Only(BTreeSet<String>),
}

impl Observe {
    /// Those of counters, in every trial.
    pub fn counters() -> Self {
        let counters = OBSERVERS.iter().filter(|observer| !observer.events);
        Self::Only(counters.map(|observer| observer.name.to_owned()).collect())
    }

    /// Whether observers may look at a part of what happens where all of it would cost
    /// more than they are allowed; not those that were asked for by name.
    pub fn sparing(&self) -> bool {
        !matches!(self, Self::Only(_))
    }

    /// Whether an observer looks at a trial: `number` of its stage from 1. Whether it
    /// can is another question.
    pub fn wants(&self, observer: &Observer, number: u32) -> bool {
        match self {
            Self::Auto => observer.auto && (!observer.events || number == 1),
            Self::None => false,
            Self::All => true,
            Self::Only(names) => names.contains(observer.name),
        }
    }
}

impl fmt::Display for Observe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::None => f.write_str("none"),
            Self::All => f.write_str("all"),
            _ if *self == Self::counters() => f.write_str(COUNTERS),
            Self::Only(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                f.write_str(&names.join(","))
            }
        }
    }
}

impl FromStr for Observe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "auto" => return Ok(Self::Auto),
            "none" => return Ok(Self::None),
            "all" => return Ok(Self::All),
            COUNTERS => return Ok(Self::counters()),
            _ => {}
        }
        let names = text.split(',').map(str::trim);
        let names = names.map(|name| {
            let known = observer(name).map(|observer| observer.name.to_owned());
            known.ok_or_else(|| match name {
                "auto" | "none" | "all" | COUNTERS => {
                    format!("'{name}' stands alone; leave out the others")
                }
                _ => unknown(name),
            })
        });
        names.collect::<Result<_, _>>().map(Self::Only)
    }
}

fn unknown(name: &str) -> String {
    let words = ["auto", COUNTERS, "none", "all"].into_iter();
    let known: Vec<&str> = words.chain(OBSERVERS.iter().map(|o| o.name)).collect();
    let hint = nearest(name, &known);
    let hint = hint.map_or_else(
        || ".".to_owned(),
        |near| format!("; did you mean '{near}'?"),
    );
    format!(
        "no observer is called '{name}'{hint} It takes auto, counters, none, all, or names with \
         commas between them: {}",
        known[4..].join(", ")
    )
}

impl TryFrom<String> for Observe {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Observe> for String {
    fn from(observe: Observe) -> Self {
        observe.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back_as_the_same() {
        for text in [
            "auto",
            "counters",
            "none",
            "all",
            "devices",
            "block_layer,devices",
        ] {
            let observe: Observe = text.parse().expect("a choice");
            assert_eq!(observe.to_string(), text);
        }
        let spaced: Observe = " devices , block_layer,devices".parse().expect("a choice");
        assert_eq!(spaced.to_string(), "block_layer,devices");
    }

    #[test]
    fn an_unknown_name_is_named_with_the_nearest_one() {
        let error = "devices,block_layers"
            .parse::<Observe>()
            .expect_err("unknown");
        assert!(
            error.starts_with(
                "no observer is called 'block_layers'; did you mean 'block_layer'? It takes auto, \
                 counters, none, all, or names with commas between them: residency, \
                 neighbours, io_limits,"
            ),
            "{error}"
        );
        let error = "everything".parse::<Observe>().expect_err("unknown");
        assert!(
            error.starts_with("no observer is called 'everything'. It takes auto, "),
            "{error}"
        );
        assert!("".parse::<Observe>().is_err());
        // Together with others these words are no names.
        assert!("all,devices".parse::<Observe>().is_err());
    }

    #[test]
    fn events_are_followed_in_the_first_trial_unless_they_are_asked_for() {
        let events = observer("block_layer").expect("one of them");
        let counters = observer("devices").expect("one of them");
        let wants = |text: &str| {
            let observe: Observe = text.parse().expect("a choice");
            [(events, 1), (events, 2), (counters, 1), (counters, 2)]
                .map(|(observer, number)| observe.wants(observer, number))
        };
        assert_eq!(wants("auto"), [true, false, true, true]);
        assert_eq!(wants("counters"), [false, false, true, true]);
        assert_eq!(wants("none"), [false; 4]);
        assert_eq!(wants("all"), [true; 4]);
        assert_eq!(wants("block_layer"), [true, true, false, false]);
        let asked = observer("read_ahead").expect("one of them");
        assert!(!Observe::Auto.wants(asked, 1) && Observe::All.wants(asked, 2));
    }
}
