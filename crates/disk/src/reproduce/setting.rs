//! What the documents' patterns run on.

use super::runner::Runner;
use crate::completion::IoError;
use crate::device::Device;
use crate::host::Host;
use crate::profile::{self, Measured, Profile};
use diskfacts_plan::file::nearest;
use std::cell::Cell;
use thiserror::Error;

/// The profiles that stand for the documents' disks, and the document of each.
const STANDS_FOR: [(&str, u32); 8] = [
    ("hdd-7200-1tb", 0),
    ("hdd-7200-md-raid0x2", 1),
    ("raid6x8", 2),
    ("raid10x4", 2),
    ("ssd-raid1", 2),
    ("hdd-7200-sync", 3),
    ("hdd-10k", 4),
    ("san-entry", 4),
];

/// The document, 0 to 4, whose disk a built-in profile stands for.
pub fn seed_of(profile: &str) -> Option<u32> {
    let found = STANDS_FOR.iter().find(|(name, _)| *name == profile);
    found.map(|(_, seed)| *seed)
}

/// The profiles that stand for a document's disks.
pub fn profiles_of(seed: u32) -> impl Iterator<Item = &'static str> {
    let found = STANDS_FOR.iter().filter(move |(_, of)| *of == seed);
    found.map(|(name, _)| *name)
}

/// What each document measured, from 0 on.
pub const DOCUMENTS: [&str; 5] = [
    "strided and sequential I/O on a desktop disk",
    "one reader and two of a RAID-0 behind a network",
    "bonnie++ and hdparm on three arrays",
    "writes of 4 KiB to 32 MiB, synchronous and not",
    "dd and iostat on raw and block devices",
];

/// Why the documents' patterns cannot run on a profile.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unfit {
    /// No document's disk has its name.
    #[error(
        "'{name}' stands for none of the seeds' disks{hint} Give it the name of the one that it is to replace: {known}"
    )]
    Stranger {
        /// The profile's name.
        name: String,
        /// The nearest name, as a question.
        hint: String,
        /// The names that there are.
        known: String,
    },
    /// The document's disk is behind a network, and this one is not.
    #[error(
        "'{name}' has no table [network], and seed 001 read its disks over one; keep that of the built-in profile"
    )]
    NoNetwork {
        /// The profile's name.
        name: String,
    },
    /// The document measured a partition and a file, and where they lie is not said.
    #[error(
        "'{name}' has no table [layout], and seed 000 measured a partition and a file on it; keep that of the built-in profile"
    )]
    NoLayout {
        /// The profile's name.
        name: String,
    },
    /// A request of the documents' patterns failed.
    #[error("a request of seed {seed:03} failed on '{name}'")]
    Failed {
        /// The profile's name.
        name: String,
        /// The document.
        seed: u32,
        /// What came back.
        source: IoError,
    },
}

/// The built-in profiles, one of which may be replaced, and the seed of chance.
pub(super) struct Setting<'p> {
    /// Where random strides go, and how far spindles had turned.
    pub(super) seed: u64,
    instead: Option<&'p Profile>,
    /// The first request that failed.
    failure: Cell<Option<IoError>>,
}

impl<'p> Setting<'p> {
    pub(super) fn new(seed: u64, instead: Option<&'p Profile>) -> Result<Self, Unfit> {
        if let Some(profile) = instead {
            check(profile)?;
        }
        Ok(Self {
            seed,
            instead,
            failure: Cell::new(None),
        })
    }

    /// The profile of that name.
    pub(super) fn profile(&self, name: &str) -> Profile {
        match self.instead {
            Some(profile) if profile.name == name => profile.clone(),
            _ => profile::profile(name).expect("the profiles of the documents are built in"),
        }
    }

    /// A computer with the disk of that name, as plans are run on it: its host is
    /// that of the profile, or one with the kernel's defaults.
    pub(super) fn computer(&self, name: &str) -> Runner<'_> {
        self.computer_of(&self.profile(name))
    }

    /// A computer with the disk of a profile.
    pub(super) fn computer_of(&self, profile: &Profile) -> Runner<'_> {
        let below = profile::build_below_host(profile, self.seed);
        self.run_on(Box::new(Host::new(profile.host_or_default(), below)))
    }

    /// A computer of which a file or a partition is measured, where the profile of
    /// that name says that it lies.
    pub(super) fn computer_on(&self, name: &str, measured: Measured) -> Runner<'_> {
        let mut profile = self.profile(name);
        let layout = profile.layout.as_mut();
        layout.expect("a setting without one is refused").measured = measured;
        self.computer_of(&profile)
    }

    /// The disk of that name, without network and host.
    pub(super) fn disk(&self, name: &str) -> Runner<'_> {
        self.run_on(profile::build_disk(&self.profile(name), self.seed))
    }

    /// A device at rest.
    pub(super) fn run_on(&self, device: Box<dyn Device>) -> Runner<'_> {
        Runner::new(self, device)
    }

    /// Remembers how a request ended. On the built-in profiles none fails.
    pub(super) fn ended(&self, result: Result<(), IoError>) {
        if let (Err(error), None) = (result, self.failure.get()) {
            self.failure.set(Some(error));
        }
    }

    /// Whether every request so far was done.
    pub(super) fn outcome(&self) -> Result<(), Unfit> {
        let Some(source) = self.failure.get() else {
            return Ok(());
        };
        let name = self.instead.map_or("a built-in profile", |own| &own.name);
        Err(Unfit::Failed {
            name: name.to_owned(),
            seed: seed_of(name).unwrap_or_default(),
            source,
        })
    }
}

fn check(profile: &Profile) -> Result<(), Unfit> {
    let name = profile.name.clone();
    match seed_of(&name) {
        None => {
            let known: Vec<&str> = STANDS_FOR.iter().map(|(known, _)| *known).collect();
            let near = nearest(&name, &known);
            Err(Unfit::Stranger {
                hint: near.map_or(".".to_owned(), |near| format!("; did you mean '{near}'?")),
                name,
                known: known.join(", "),
            })
        }
        Some(0) if profile.layout.is_none() => Err(Unfit::NoLayout { name }),
        Some(1) if profile.network.is_none() => Err(Unfit::NoNetwork { name }),
        Some(_) => Ok(()),
    }
}
