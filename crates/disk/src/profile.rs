//! Profiles: simulated disks with a name, as TOML.
//!
//! The built-in ones are those of the documents that the project starts from
//! and of disks of today; each parameter in them says where it comes from.
//! Reading a profile refuses what cannot be, with the line and the reason.

mod error;
mod faults;
mod hdd;
mod layout;
mod ssd;
mod stack;
mod table;

pub use error::ProfileError;
pub use layout::{LayoutParameters, Measured};
pub use stack::RaidParameters;
pub use table::Filled;

use crate::defects::Defects;
use crate::device::Device;
use crate::faults::Faults;
use crate::hdd::{Hdd, HddParameters};
use crate::host::{BlockParameters, BlockQueue, Host, HostParameters, Scheduler};
use crate::network::{Network, NetworkParameters};
use crate::placed::Placed;
use crate::raid::Raid;
use crate::ssd::{Ssd, SsdParameters};
use diskfacts_plan::file::nearest;
use diskfacts_plan::rng::Rng;
use table::Table;
use thiserror::Error;

/// Commands that a drive of the ATA protocol takes at most (NCQ): a drive that
/// takes more speaks another protocol.
pub const ATA_DEPTH: u64 = 32;

/// Commands that the kernel gives an `NVMe` drive on one queue at most
/// (`NVME_Q_DEPTH` less one, drivers/nvme/host/pci.c).
const NVME_DEPTH: u64 = 1023;

/// A drive.
#[derive(Debug, Clone, PartialEq)]
pub enum Drive {
    /// A hard disk.
    Hdd(HddParameters),
    /// A flash drive.
    Ssd(SsdParameters),
}

impl Drive {
    /// Size, bytes.
    pub fn capacity(&self) -> u64 {
        match self {
            Self::Hdd(hdd) => hdd.capacity,
            Self::Ssd(ssd) => ssd.capacity,
        }
    }

    /// Smallest unit of a request, bytes.
    pub fn logical_sector(&self) -> u64 {
        match self {
            Self::Hdd(hdd) => hdd.logical_sector,
            Self::Ssd(ssd) => ssd.logical_sector,
        }
    }

    fn build(
        &self,
        defects: Defects,
        lying_flush: bool,
        seed: u64,
        spindle: Spindle,
    ) -> Box<dyn Device> {
        match self {
            Self::Hdd(hdd) => {
                let phase_ns = Rng::new(seed).below(hdd.revolution_ns);
                let mut hdd = hdd.clone();
                hdd.revolution_ns += hdd.revolution_ns * spindle.slower_ppm / 1_000_000;
                let drive = Hdd::with_faults(hdd, defects, lying_flush);
                Box::new(drive.turned(phase_ns + spindle.turned_ns))
            }
            Self::Ssd(ssd) => Box::new(Ssd::with_faults(ssd.clone(), defects, lying_flush)),
        }
    }
}

/// How the spindle of a member differs from that of the first.
#[derive(Debug, Clone, Copy)]
struct Spindle {
    /// So much further has it turned at the start, ns.
    turned_ns: u64,
    /// By so many millionths does it turn slower.
    slower_ppm: u64,
}

/// A simulated disk, array or host.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// What it is called: lower-case letters, digits and `-`.
    pub name: String,
    /// What it stands for, in a sentence.
    pub about: String,
    /// The drive, or each member of the array.
    pub drive: Drive,
    /// The array.
    pub raid: Option<RaidParameters>,
    /// Where what was measured on it lies.
    pub layout: Option<LayoutParameters>,
    /// What lies between the disk and the host.
    pub network: Option<NetworkParameters>,
    /// The host, where it is a part of what is simulated.
    pub host: Option<HostParameters>,
    /// What is wrong.
    pub faults: Faults,
}

/// The name is not that of a built-in profile.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no simulated disk called '{name}'{hint} There are: {known}")]
pub struct UnknownProfile {
    /// What was asked for.
    pub name: String,
    /// The nearest name, as a question, or the end of the sentence.
    hint: String,
    known: String,
}

macro_rules! builtin {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../profiles/", $name, ".toml")))),*]
    };
}

/// Names and texts of the built-in profiles.
const BUILTIN: &[(&str, &str)] = builtin![
    "hdd-7200-1tb",
    "hdd-7200-sync",
    "hdd-7200-md-raid0x2",
    "raid6x8",
    "raid10x4",
    "ssd-raid1",
    "hdd-10k",
    "san-entry",
    "hdd-20tb-cmr",
    "ssd-sata",
    "nvme-datacenter",
    "nvme-consumer",
    "cloud-credit",
];

/// Names of the built-in profiles.
pub fn profiles() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

/// The text of a built-in profile: each parameter with its source.
///
/// # Errors
/// No profile has that name.
pub fn profile_text(name: &str) -> Result<&'static str, UnknownProfile> {
    BUILTIN
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
        .ok_or_else(|| {
            let known: Vec<&str> = profiles().collect();
            UnknownProfile {
                name: name.to_owned(),
                hint: nearest(name, &known)
                    .map_or(".".to_owned(), |near| format!("; did you mean '{near}'?")),
                known: known.join(", "),
            }
        })
}

/// A built-in profile.
///
/// # Errors
/// No profile has that name.
///
/// # Panics
/// Never: a test reads every built-in text.
pub fn profile(name: &str) -> Result<Profile, UnknownProfile> {
    let text = profile_text(name)?;
    Ok(parse(text).expect("built-in profiles are read in a test"))
}

/// Reads a profile.
///
/// # Errors
/// The first thing that is not TOML, not a known key, not of the right type, or
/// not possible, with its line and what would be.
pub fn parse(text: &str) -> Result<Profile, ProfileError> {
    read(text).map(|(profile, _)| profile)
}

/// Reads a profile, and says what was taken for keys that it leaves out.
///
/// # Errors
/// As [`parse`].
pub fn read(text: &str) -> Result<(Profile, Vec<Filled>), ProfileError> {
    let mut top = Table::document(text)?;
    let name = top.required_text("name")?;
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    top.require("name", is_name, "lower-case letters, digits and '-' only")?;
    let about = top.text("about")?.unwrap_or_default();
    let hdd = top.table("hdd", "[hdd]")?;
    let ssd = top.table("ssd", "[ssd]")?;
    let drive = match (hdd, ssd) {
        (Some(table), None) => Drive::Hdd(hdd::read(table)?),
        (None, Some(table)) => Drive::Ssd(ssd::read(table)?),
        (Some(_), Some(_)) => {
            return Err(top.refuse("ssd", "a drive is either [hdd] or [ssd]; leave one out"));
        }
        (None, None) => {
            return Err(top.refuse("drive", "a profile needs a table [hdd] or [ssd]"));
        }
    };
    let raid = top.table("raid", "[raid]")?.map(stack::raid).transpose()?;
    let network = top
        .table("network", "[network]")?
        .map(stack::network)
        .transpose()?;
    let host = top.table("host", "[host]")?.map(stack::host).transpose()?;
    let layout = top
        .table("layout", "[layout]")?
        .map(|table| layout::layout(table, drive.capacity(), drive.logical_sector()))
        .transpose()?;
    let faults = match top.table("faults", "[faults]")? {
        Some(table) => faults::read(table, drive.logical_sector())?,
        None => Faults::default(),
    };
    let profile = Profile {
        name,
        about,
        drive,
        raid,
        layout,
        network,
        host,
        faults,
    };
    check(&top, &profile)?;
    let filled = top.filled();
    top.finish()?;
    Ok((profile, filled))
}

/// What only shows when the tables are seen together.
fn check(top: &Table<'_>, profile: &Profile) -> Result<(), ProfileError> {
    let faults = &profile.faults;
    let members = profile.raid.map_or(1, |raid| raid.members);
    top.require(
        "faults",
        faults.member < members,
        &format!("member {} of {members} (they count from 0)", faults.member),
    )?;
    let drive = profile.drive.capacity();
    let within = faults.weak_sectors.iter().all(|weak| weak.offset < drive)
        && faults
            .slow_zones
            .iter()
            .all(|zone| zone.extent.end <= drive);
    top.require(
        "faults",
        within,
        "bad places must lie within the drive's capacity",
    )?;
    let whole = profile.capacity();
    top.require(
        "faults",
        faults.partition_start < whole && faults.partition_len <= whole - faults.partition_start,
        "the partition must lie within the disk",
    )?;
    let neighbour_fits = faults.neighbour.is_none_or(|neighbour| {
        let room = if neighbour.extent.is_empty() {
            whole
        } else {
            neighbour.extent.len()
        };
        neighbour.extent.end <= whole && neighbour.len <= room
    });
    top.require(
        "faults",
        neighbour_fits,
        "the neighbour's requests must lie within the disk",
    )?;
    let fits = profile.raid.is_none_or(|raid| raid.chunk <= drive);
    top.require("raid", fits, "a chunk must fit on a member")
}

impl Profile {
    /// Size of the disk or array, before it is partitioned, bytes.
    pub fn capacity(&self) -> u64 {
        let drive = self.drive.capacity();
        self.raid.map_or(drive, |raid| {
            let layout = crate::raid::Layout {
                level: raid.level,
                members: raid.members,
                chunk: raid.chunk,
            };
            layout.capacity(drive)
        })
    }

    /// Bytes that can be measured: of the partition that is planted, and of that
    /// what the layout says.
    pub fn measured_bytes(&self) -> u64 {
        let left = self.capacity().saturating_sub(self.faults.partition_start);
        let partition = match self.faults.partition_len {
            0 => left,
            len => left.min(len),
        };
        self.layout
            .map_or(partition, |layout| layout.size(partition))
    }

    /// Commands that a drive takes at a time.
    pub fn queue_depth(&self) -> u64 {
        match &self.drive {
            Drive::Hdd(hdd) => hdd.queue_depth as u64,
            Drive::Ssd(ssd) => u64::from(ssd.queue_depth),
        }
    }

    /// The host; where the profile has none, a Linux host with the kernel's
    /// defaults: `mq-deadline` for a drive with one queue, no scheduler for one
    /// with many (`elevator_get_default`, block/elevator.c).
    pub fn host_or_default(&self) -> HostParameters {
        self.host.unwrap_or_else(|| {
            let mut host = HostParameters::linux();
            if self.queue_depth() > ATA_DEPTH {
                host.block.scheduler = Scheduler::Noop;
                // At most 1023.
                host.block.depth = self.queue_depth().min(NVME_DEPTH) as usize;
            }
            host
        })
    }

    /// Bytes that flush, FUA and sector alignment are about: the sector that
    /// the media writes.
    pub fn physical_sector(&self) -> u64 {
        match &self.drive {
            Drive::Hdd(hdd) => hdd.physical_sector,
            Drive::Ssd(ssd) => ssd.mapping_unit,
        }
    }

    /// Whether something turns.
    pub fn is_rotational(&self) -> bool {
        matches!(self.drive, Drive::Hdd(_))
    }
}

/// The disk or the array of a profile with its faults, without network and
/// host. The seed determines how far each spindle had turned at the start, and
/// when a neighbour disturbs.
pub fn build_disk(profile: &Profile, seed: u64) -> Box<dyn Device> {
    build_disk_behind(profile, seed, None, 0)
}

/// As [`build_disk`], each drive behind a queue of the host's block layer:
/// Linux schedules at the members of an array, not above it. At the start each
/// spindle has turned `apart_ns` further against the one of the member before
/// than `seed` says.
pub fn build_disk_behind(
    profile: &Profile,
    seed: u64,
    queue: Option<BlockParameters>,
    apart_ns: u64,
) -> Box<dyn Device> {
    let faults = &profile.faults;
    let sector = profile.drive.logical_sector();
    let drive = |member: usize| {
        let seed = seed_of_part(seed, member as u64);
        let spindle = Spindle {
            turned_ns: apart_ns * member as u64,
            slower_ppm: profile.raid.map_or(0, |raid| raid.spindle_ppm) * member as u64,
        };
        let drive = if member == faults.member {
            let defects = faults.defects(sector);
            let lying_flush = faults.lying_flush;
            let drive = profile.drive.build(defects, lying_flush, seed, spindle);
            faults.plant_around_drive(drive)
        } else {
            let none = Defects::default();
            profile.drive.build(none, false, seed, spindle)
        };
        match queue {
            Some(parameters) => Box::new(BlockQueue::new(parameters, drive)) as Box<dyn Device>,
            None => drive,
        }
    };
    let whole: Box<dyn Device> = match profile.raid {
        Some(raid) => Box::new(Raid::new(
            raid.level,
            raid.chunk,
            raid.gather_ns,
            (0..raid.members).map(drive).collect(),
        )),
        None => drive(0),
    };
    let whole = faults.plant_around_whole(whole, seed_of_part(seed, u64::MAX));
    match profile.layout {
        Some(layout) if layout.measured != Measured::Disk => Box::new(Placed::new(layout, whole)),
        _ => whole,
    }
}

/// A seed for a part of a device, unrelated to those of the other parts.
fn seed_of_part(seed: u64, part: u64) -> u64 {
    Rng::for_part(seed, part).next_u64()
}

/// What lies below the host of a profile: the disk, and the network in front of it
/// where the profile has one.
pub fn build_below_host(profile: &Profile, seed: u64) -> Box<dyn Device> {
    let disk = build_disk(profile, seed);
    match profile.network {
        Some(network) => Box::new(Network::new(network, disk)),
        None => disk,
    }
}

/// Everything in a profile: the disk, and the network and the host above it
/// where the profile has them. The same profile, seed and calls give the same
/// completions.
pub fn build(profile: &Profile, seed: u64) -> Box<dyn Device> {
    let device = build_below_host(profile, seed);
    match profile.host {
        Some(host) => Box::new(Host::new(host, device)),
        None => device,
    }
}
