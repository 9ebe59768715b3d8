//! Random stacks: up to four layers over random disks, a filesystem on top or
//! none. What lies below the top must be refused, and counted.
//!
//! A stack is drawn as a plain value from a seed and a number, so that it can
//! be drawn again; only then is it built.

use crate::checks::{self, Attempt, Leaves, Stack};
use crate::guest::{Built, Guest, soon};
use crate::scenarios::{crypt, lvm, mapper, md, memory};
use crate::wire;
use serde_json::json;
use std::fmt;

/// The disks that a random stack may stand on: as many as the largest needs.
pub(crate) const LEAVES: &[&str] = &[
    "d0", "d1", "d2", "d3", "d4", "d5", "nvme-512", "scsi-hdd", "sata",
];

/// What LVM reads after its own settings.
const LVM_LOCAL: &str = "/etc/lvm/lvmlocal.conf";

/// Layers of a stack, at most.
const LAYERS_MAX: u64 = 4;

/// The seed of the stacks of which the short set has one, another each day, and how many of
/// its stacks are looked through for them.
const SEED_OF_DAYS: u64 = 4;
const STACKS_OF_DAYS: u64 = 64;

/// What such a stack has below its top, at most: each is summed up, written and looked at.
const BELOW_MAX: usize = 4;

/// Which of the random stacks: `fuzz:SEED:INDEX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number {
    seed: u64,
    index: u64,
}

impl Number {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (seed, index) = name.strip_prefix("fuzz:")?.split_once(':')?;
        Some(Self {
            seed: seed.parse().ok()?,
            index: index.parse().ok()?,
        })
    }
}

/// What a layer is, without what it stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Partition,
    Linear,
    Striped,
    Delay,
    Raid0,
    Raid1,
    Raid5,
    Crypt,
    Lvm,
    Thin,
    Loop,
    Bcache,
}

const LAYERS: [Layer; 12] = [
    Layer::Partition,
    Layer::Linear,
    Layer::Striped,
    Layer::Delay,
    Layer::Raid0,
    Layer::Raid1,
    Layer::Raid5,
    Layer::Crypt,
    Layer::Lvm,
    Layer::Thin,
    Layer::Loop,
    Layer::Bcache,
];

impl Layer {
    /// Devices that it stands on: the layer below, and disks beside it.
    fn width(self) -> usize {
        match self {
            Self::Striped | Self::Raid0 | Self::Raid1 | Self::Thin | Self::Bcache => 2,
            Self::Raid5 => 3,
            _ => 1,
        }
    }

    /// What the disks below move of what is read and written above.
    fn leaves(self) -> (Leaves, Leaves) {
        match self {
            Self::Raid1 | Self::Raid5 => (Leaves::Same, Leaves::AtLeast),
            // What is not provisioned is answered at once, as is what is cached.
            Self::Thin => (Leaves::Any, Leaves::AtLeast),
            Self::Bcache => (Leaves::Any, Leaves::Any),
            _ => (Leaves::Same, Leaves::Same),
        }
    }
}

/// What stands on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Top {
    Nothing,
    Ext4,
    Vfat,
}

/// A stack, from the disks upwards.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Drawn {
    /// In which order the disks are taken.
    disks: Vec<&'static str>,
    layers: Vec<Layer>,
    top: Top,
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.disks.first().unwrap_or(&"nothing"))?;
        for layer in &self.layers {
            write!(f, ", {layer:?}")?;
        }
        write!(f, ", {:?}", self.top)
    }
}

/// `SplitMix64` (Steele, Lea, Flood 2014): a good number for every seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        // The bias of a few in 2^64 is nothing here.
        (z ^ (z >> 31)) % end
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let index = self.below(all.len() as u64);
        all[usize::try_from(index).unwrap_or_default()]
    }
}

impl Drawn {
    fn draw(number: Number) -> Self {
        let mut random = Random(
            number
                .seed
                .wrapping_mul(0x1_0000)
                .wrapping_add(number.index),
        );
        let mut disks = LEAVES.to_vec();
        for at in (1..disks.len()).rev() {
            let other = usize::try_from(random.below(at as u64 + 1)).unwrap_or_default();
            disks.swap(at, other);
        }
        let count = 1 + random.below(LAYERS_MAX);
        let mut layers: Vec<Layer> = Vec::new();
        for _ in 0..count {
            let mut layer = random.one_of(&LAYERS);
            // bcache on bcache is refused by the kernel, as one name of LVM twice.
            while matches!(layer, Layer::Bcache | Layer::Lvm) && layers.contains(&layer) {
                layer = random.one_of(&LAYERS);
            }
            layers.push(layer);
        }
        Self {
            disks,
            layers,
            top: random.one_of(&[Top::Nothing, Top::Nothing, Top::Ext4, Top::Vfat]),
        }
    }

    /// Whether it takes a quarter of a minute and not three: encryption is slow on an
    /// emulated processor, and so is much to look at.
    fn is_quick(&self) -> bool {
        let below: usize = self.layers.iter().map(|layer| layer.width()).sum();
        below <= BELOW_MAX && !self.layers.contains(&Layer::Crypt)
    }

    /// What all layers together do: one that does not tell hides the others.
    fn leaves(&self) -> (Leaves, Leaves) {
        let weaker = |one: Leaves, other: Leaves| match (one, other) {
            (Leaves::Any, _) | (_, Leaves::Any) => Leaves::Any,
            (Leaves::AtLeast, _) | (_, Leaves::AtLeast) => Leaves::AtLeast,
            _ => Leaves::Same,
        };
        let all = self.layers.iter().map(|layer| layer.leaves());
        all.fold((Leaves::Same, Leaves::Same), |sum, one| {
            (weaker(sum.0, one.0), weaker(sum.1, one.1))
        })
    }
}

/// The names of the stacks of which the short set has one.
pub(crate) fn of_days() -> Vec<String> {
    let quick = |index: &u64| {
        let (seed, index) = (SEED_OF_DAYS, *index);
        Drawn::draw(Number { seed, index }).is_quick()
    };
    (0..STACKS_OF_DAYS)
        .filter(quick)
        .map(|index| format!("fuzz:{SEED_OF_DAYS}:{index}"))
        .collect()
}

/// Draws a stack, builds it, and holds it against what must hold of any.
///
/// # Errors
/// When it cannot be built.
pub(crate) fn random(guest: &mut Guest, number: Number) -> Built {
    let drawn = Drawn::draw(number);
    wire::tell(&json!({ "note": drawn.to_string() }));
    let mut disks = drawn.disks.iter();
    let mut next_disk = |guest: &mut Guest| {
        let name = disks.next().copied().unwrap_or_default();
        guest.disk(name)
    };
    let mut below: Vec<String> = Vec::new();
    let mut current = next_disk(guest)?;
    for (level, layer) in drawn.layers.iter().enumerate() {
        let mut on = vec![current.clone()];
        while on.len() < layer.width() {
            on.push(next_disk(guest)?);
        }
        current = build(guest, *layer, level, &on)?;
        below.extend(on);
    }
    let (reads, writes) = drawn.leaves();
    match drawn.top {
        Top::Nothing => {
            let stack = Stack::new(&current).reads(reads).writes(writes);
            checks::examine(guest, &stack.members(&below))
        }
        Top::Ext4 => {
            guest.modules(&["ext4"])?;
            let options = "-E lazy_itable_init=0,lazy_journal_init=0";
            guest.sh(&format!("mkfs.ext4 -qF {options} {current}"))?;
            mounted(guest, &current, &below, writes)
        }
        Top::Vfat => {
            guest.modules(&["vfat"])?;
            // Without the look for partitions, which a mapping cannot have.
            guest.sh(&format!("mkfs.vfat -I {current}"))?;
            mounted(guest, &current, &below, writes)
        }
    }
}

fn mounted(guest: &mut Guest, device: &str, below: &[String], writes: Leaves) -> Built {
    let folder = guest.mount("", device)?;
    // A filesystem writes more than it was given.
    let leaves = if writes == Leaves::Any {
        Leaves::Any
    } else {
        Leaves::AtLeast
    };
    checks::examine_folder(guest, &folder, &[device], leaves)?;
    let attempts: Vec<Attempt> = below.iter().map(|device| Attempt::on(device)).collect();
    checks::refused(guest, &attempts)
}

/// Builds one layer; its path.
fn build(guest: &mut Guest, layer: Layer, level: usize, on: &[String]) -> Built<String> {
    let name = format!("m{level}");
    let first = &on[0];
    let length = mapper::sectors(first)?;
    let array = format!("/dev/md{level}");
    match layer {
        Layer::Partition => partition(guest, first),
        Layer::Linear => guest.mapping(&name, &format!("0 {} linear {first} 2048", length - 2048)),
        Layer::Delay => guest.mapping(&name, &format!("0 {length} delay {first} 0 1")),
        Layer::Striped => {
            let half = length.min(mapper::sectors(&on[1])?) / 128 * 128;
            let table = format!("0 {} striped 2 128 {first} 0 {} 0", half * 2, on[1]);
            guest.mapping(&name, &table)
        }
        Layer::Raid0 => md::over(guest, &array, 0, on, "").map(|()| array),
        Layer::Raid1 => md::over(guest, &array, 1, on, "--assume-clean").map(|()| array),
        Layer::Raid5 => md::over(guest, &array, 5, on, "--assume-clean").map(|()| array),
        Layer::Crypt => crypt::open(guest, first, &name),
        Layer::Lvm => {
            // A loop device, or a mapping from the first block on, shows the mark of LVM
            // below it once more.
            let only = format!("devices {{ filter=[\"a|^{first}$|\", \"r|.*|\"] }}");
            guest.sh(&format!("echo '{only}' > {LVM_LOCAL}"))?;
            guest.later(&format!("rm {LVM_LOCAL}"));
            lvm::group(guest, &[first])?;
            guest.sh("lvm lvcreate -y -Wn -Zn -l 90%FREE -n v g && lvm vgmknodes g")?;
            Ok("/dev/mapper/g-v".to_owned())
        }
        Layer::Thin => {
            guest.modules(&["dm_thin_pool"])?;
            let meta = &on[1];
            guest.sh(&format!(
                "dd if=/dev/zero of={meta} bs=64k count=1 conv=fsync"
            ))?;
            let length = length / 128 * 128;
            let table = format!("0 {length} thin-pool {meta} {first} 128 0");
            let pool = guest.mapping(&format!("p{level}"), &table)?;
            guest.sh(&format!("dmsetup message {pool} 0 'create_thin 0'"))?;
            guest.mapping(&name, &format!("0 {length} thin {pool} 0"))
        }
        Layer::Loop => {
            guest.modules(&["loop"])?;
            let top = guest.sh(&format!("losetup --direct-io=on -f --show {first}"))?;
            guest.later(&format!("losetup -d {top}"));
            Ok(top)
        }
        Layer::Bcache => memory::cached(guest, first, &on[1]),
    }
}

/// One partition over most of a device; by device mapper where the kernel makes
/// none itself, as for mappings.
fn partition(guest: &mut Guest, device: &str) -> Built<String> {
    let table = guest.file("one.table", "label: gpt\nstart=2048\n")?;
    guest.sh(&format!(
        "sfdisk -q --no-reread --no-tell-kernel {device} < {table}"
    ))?;
    let digit = device.ends_with(|c: char| c.is_ascii_digit());
    let path = format!("{device}{}1", if digit { "p" } else { "" });
    let read = guest.try_sh(&format!("blockdev --rereadpt {device}"))?;
    if read.ok() && soon(|| std::path::Path::new(&path).exists().then_some(())).is_some() {
        let end = format!("sfdisk -q --delete {device}");
        guest.later(&end);
        return Ok(path);
    }
    let length = mapper::sectors(device)? - 4096;
    let name = format!("part{}", device.replace('/', "-"));
    guest.mapping(&name, &format!("0 {length} linear {device} 2048"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_the_same_for_the_same_number_and_has_enough_disks() {
        let mut kinds: Vec<Layer> = Vec::new();
        for index in 0..500 {
            let number = Number { seed: 7, index };
            let drawn = Drawn::draw(number);
            assert_eq!(drawn, Drawn::draw(number));
            assert!((1..=4).contains(&drawn.layers.len()), "{drawn}");
            let disks: usize = drawn.layers.iter().map(|layer| layer.width() - 1).sum();
            assert!(disks < LEAVES.len(), "{drawn}");
            kinds.extend(&drawn.layers);
        }
        for layer in LAYERS {
            assert!(kinds.contains(&layer), "{layer:?}");
        }
    }

    #[test]
    fn the_stacks_of_the_days_are_a_month_of_quick_ones_of_nearly_all_kinds() {
        let names = of_days();
        let drawn: Vec<Drawn> = names
            .iter()
            .map(|name| Drawn::draw(Number::parse(name).expect("a number")))
            .collect();
        assert!(drawn.len() >= 28, "{names:?}");
        for layer in LAYERS {
            let has = |drawn: &Drawn| drawn.layers.contains(&layer);
            assert_eq!(drawn.iter().any(has), layer != Layer::Crypt, "{layer:?}");
        }
    }

    #[test]
    fn the_name_of_a_stack_is_its_seed_and_number() {
        let number = Number { seed: 3, index: 17 };
        assert_eq!(Number::parse("fuzz:3:17"), Some(number));
        assert_eq!(Number::parse("dm-linear"), None);
    }
}
