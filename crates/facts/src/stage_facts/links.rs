//! Links between computer and drive, and what of their rate transfers can use.
//!
//! Serial ATA and SAS up to 12 Gbit/s, Fibre Channel up to 8 Gbit/s and PCI Express up
//! to 5 GT/s send 10 bits for 8 (Serial ATA Revision 3.5, section 7; INCITS 519, SPL;
//! INCITS 512, FC-PI; PCI Express Base Specification 2.1, section 4.2); PCI Express from
//! 8 GT/s on sends 130 bits for 128 (Base Specification 3.0). What is left is shared
//! with frames and packets: PCI Express packets of 128 to 512 bytes of data carry about
//! 24 bytes beside, and acknowledgements (Base Specification, section 2), so 80 to 93 %
//! remain; SATA's frames of 8 KiB cost little, and drives reach 88 to 95 %. The ranges
//! below are those shares.

use super::StageFacts;
use crate::prelude::*;
use LeadsTo::{Disk, Nvme, Server};
use diskfacts_record::Transport;

/// A link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Link {
    pub(crate) name: &'static str,
    /// Bytes per second after the line's own coding.
    pub(crate) bytes_per_s: f64,
    /// What transfers reach of it, as shares.
    usable: (f64, f64),
    leads_to: LeadsTo,
}

/// What kind of device stands behind a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeadsTo {
    /// A disk with a SCSI, SAS or SATA name (`sda`).
    Disk,
    /// An `NVMe` drive.
    Nvme,
    /// Another machine.
    Server,
}

const fn link(leads_to: LeadsTo, mb: f64, usable: (f64, f64), name: &'static str) -> Link {
    Link {
        name,
        bytes_per_s: mb * 1e6,
        usable,
        leads_to,
    }
}

const SERIAL: (f64, f64) = (0.88, 0.965);
const EXPRESS: (f64, f64) = (0.80, 0.93);
/// Frames of 1500 bytes carry 1448 of TCP in 1538 of the wire: 94.1 %; jumbo frames
/// more; iSCSI's headers take a little.
const NETWORK: (f64, f64) = (0.92, 0.992);

const LINKS: &[Link] = &[
    link(Disk, 150.0, SERIAL, "SATA at 1.5 Gbit/s"),
    link(Disk, 300.0, SERIAL, "SATA or SAS at 3 Gbit/s"),
    link(Disk, 600.0, SERIAL, "SATA or SAS at 6 Gbit/s"),
    link(Disk, 1200.0, SERIAL, "SAS at 12 Gbit/s"),
    link(Disk, 2400.0, SERIAL, "SAS at 24 Gbit/s"),
    // Bulk-only transport at high speed: 13 packets of 512 bytes in 125 us at most
    // (USB 2.0, table 5-10), of which hosts reach two thirds.
    link(Disk, 53.2, (0.56, 0.85), "USB 2.0"),
    link(Disk, 500.0, (0.80, 0.93), "USB at 5 Gbit/s"),
    link(Disk, 1212.0, (0.80, 0.87), "USB at 10 Gbit/s"),
    link(Disk, 200.0, SERIAL, "Fibre Channel at 2 Gbit/s"),
    link(Disk, 400.0, SERIAL, "Fibre Channel at 4 Gbit/s"),
    link(Disk, 800.0, SERIAL, "Fibre Channel at 8 Gbit/s"),
    link(Disk, 1600.0, SERIAL, "Fibre Channel at 16 Gbit/s"),
    link(Nvme, 500.0, EXPRESS, "PCIe 2.0 x1"),
    link(Nvme, 992.5, EXPRESS, "PCIe 2.0 x2 or 3.0 x1"),
    link(Nvme, 1985.0, EXPRESS, "PCIe 2.0 x4, 3.0 x2 or 4.0 x1"),
    link(Nvme, 3938.0, EXPRESS, "PCIe 3.0 x4 or 4.0 x2"),
    link(Nvme, 7877.0, EXPRESS, "PCIe 4.0 x4 or 5.0 x2"),
    link(Nvme, 15754.0, EXPRESS, "PCIe 5.0 x4"),
    link(Server, 125.0, NETWORK, "Ethernet at 1 Gbit/s"),
    link(Server, 312.5, NETWORK, "Ethernet at 2.5 Gbit/s"),
    link(Server, 1250.0, NETWORK, "Ethernet at 10 Gbit/s"),
    link(Server, 3125.0, NETWORK, "Ethernet at 25 Gbit/s"),
    link(Server, 12500.0, NETWORK, "Ethernet at 100 Gbit/s"),
];

impl Link {
    /// The share of it that a rate uses.
    pub(crate) fn share(&self, rate: f64) -> f64 {
        rate / self.bytes_per_s
    }

    /// Whether it may be the link of a drive that is attached so; any may where that is not
    /// known. Each name begins with what it is of.
    pub(crate) fn may_be(&self, transport: Option<Transport>) -> bool {
        let names: &[&str] = match transport {
            None => return true,
            // A controller that does not say what is behind it.
            Some(Transport::Scsi) => &["SATA", "SAS", "Fibre Channel"],
            Some(Transport::Usb) => &["USB"],
            Some(Transport::Sata) => &["SATA"],
            Some(Transport::Sas) => &["SATA", "SAS"],
            Some(Transport::FibreChannel | Transport::NvmeFc) => &["Fibre Channel"],
            Some(Transport::NvmePcie) => &["PCIe"],
            // A card, or what is reached over a network, by a hypervisor or in memory: its wire
            // is none of the table.
            Some(_) => &[],
        };
        names.iter().any(|name| self.name.contains(name))
    }

    fn explains(&self, rate: f64) -> bool {
        (self.usable.0..=self.usable.1).contains(&self.share(rate))
    }
}

/// The links of one kind that stop transfers at this rate, bytes/s.
pub(crate) fn that_stop_at(rate: f64, leads_to: LeadsTo) -> Option<&'static Link> {
    let mut fitting = LINKS.iter().filter(|link| link.leads_to == leads_to);
    fitting.find(|link| link.explains(rate))
}

/// Rates this near to each other are one.
const SAME: f64 = 0.02;
/// The most by which another stage may be faster through a link that is full.
pub(crate) const FASTER: f64 = 1.05;

/// A link that large transfers stop at.
#[derive(Debug)]
pub(crate) struct FullLink {
    pub(crate) link: &'static Link,
    /// What goes by it in all, and to one drive, bytes/s.
    pub(crate) rate: f64,
    pub(crate) per_drive: f64,
    /// Another large transfer at the same rate, in the other direction or elsewhere: a sentence.
    pub(crate) same: Option<String>,
}

impl FullLink {
    /// Of a stage. A link carries what the fastest stage moves, in either direction.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let rate = facts.flow()?;
        // What steps down and stays down is held back by something else.
        unless(facts.held_down().is_some())?;
        let per_drive = rate / facts.drives_side_by_side();
        unless(facts.others().any(|other| carries_more(&other, per_drive)))?;
        let mut kinds = facts.leaves().flat_map(kinds);
        let link = kinds.find_map(|kind| that_stop_at(per_drive, *kind))?;
        let fits = facts.leaves().all(|leaf| link.may_be(leaf.transport));
        // The bytes of a platter pass at such rates too: there the same rate in another
        // place is what tells.
        let same = same_rate(facts, rate);
        unless(!fits || facts.rotates() == Some(true) && same.is_none())?;
        Some(Self {
            link,
            rate,
            per_drive,
            same,
        })
    }
}

impl StageFacts<'_> {
    /// Drives that move parts of the bytes of a stage side by side, as far as the host knows. To a
    /// mirror each write goes whole to all members, and one reader in order is served by one of
    /// them.
    fn drives_side_by_side(&self) -> f64 {
        let mut devices = self.stack().devices.iter();
        let is_mirror = devices.any(|one| one.layout.as_deref() == Some("raid1"));
        let many = self.scattered() || self.workload().streams > 1;
        let by_all = many && self.workload().operation.reads();
        match (is_mirror, by_all) {
            (true, false) => 1.0,
            // The kernel shows a controller's as one: it has two at least.
            (true, true) => self.disks().max(2.0),
            (false, _) => self.disks(),
        }
    }
}

/// Whether another stage has moved more to a drive than this, whatever its blocks were: in order,
/// anywhere or with several in flight. What memory of the host served did not go by a link, and
/// of a document only large transfers are known to have.
fn carries_more(other: &StageFacts<'_>, per_drive: f64) -> bool {
    let known = other.reaches_device() && !other.imported();
    let by_device = || Some(other.rate()? * (1.0 - other.memory_share()));
    let moved = if known { by_device() } else { other.flow() };
    moved.is_some_and(|moved| moved / other.drives_side_by_side() > FASTER * per_drive)
}

/// Links that a device may hang on.
fn kinds(leaf: &BlockDevice) -> &'static [LeadsTo] {
    if leaf.kind == DeviceKind::Simulated {
        &[Nvme, Disk]
    } else if leaf.name.starts_with("nvme") {
        &[Nvme]
    } else if leaf.name.starts_with("sd") {
        &[Disk]
    } else {
        &[]
    }
}

/// Another large transfer at the same rate: in the other direction, or elsewhere.
fn same_rate(facts: &StageFacts<'_>, rate: f64) -> Option<String> {
    let workload = facts.workload();
    let size = facts.run().target.size_bytes as f64;
    let unlike = |other: &StageFacts<'_>| {
        let theirs = other.workload();
        let elsewhere = (theirs.offset as f64 - workload.offset as f64).abs() > 0.2 * size;
        // A platter takes bytes as fast as it gives them, but not everywhere.
        let direction = theirs.operation.writes() != workload.operation.writes()
            && facts.rotates() == Some(false);
        direction || elsewhere
    };
    facts.others().find_map(|other| {
        let theirs = other.rate()?;
        let is_same = (theirs / rate - 1.0).abs() < SAME && other.flows() && unlike(&other);
        is_same.then(|| {
            let (label, moves) = (other.stage.label(), show_throughput(theirs));
            format!(
                "{label}, in the other direction or elsewhere, moves {moves}: the same within 2 %."
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rates_of_well_known_drives_are_those_of_their_links() {
        let name = |rate: f64, leads_to| that_stop_at(rate, leads_to).map(|link| link.name);
        for (rate, leads_to, expected) in [
            // Data sheets: Samsung 870 EVO, 980 PRO, Crucial T700; a SATA II drive.
            (560e6, LeadsTo::Disk, Some("SATA or SAS at 6 Gbit/s")),
            (7000e6, LeadsTo::Nvme, Some("PCIe 4.0 x4 or 5.0 x2")),
            (12400e6, LeadsTo::Nvme, None),
            (14500e6, LeadsTo::Nvme, Some("PCIe 5.0 x4")),
            (275e6, LeadsTo::Disk, Some("SATA or SAS at 3 Gbit/s")),
            (117.5e6, LeadsTo::Server, Some("Ethernet at 1 Gbit/s")),
            (220e6, LeadsTo::Disk, None),
            (f64::NAN, LeadsTo::Disk, None),
        ] {
            assert_eq!(name(rate, leads_to), expected, "{rate}");
        }
    }

    #[test]
    fn a_drive_is_at_the_rate_of_a_link_that_it_can_hang_on() {
        let usb = that_stop_at(40e6, LeadsTo::Disk).expect("a rate of USB 2.0");
        for (transport, may) in [
            (Some(Transport::Usb), true),
            (None, true),
            (Some(Transport::Sata), false),
            (Some(Transport::Sas), false),
            (Some(Transport::Mmc), false),
        ] {
            assert_eq!(usb.may_be(transport), may, "{transport:?}");
        }
    }

    #[test]
    fn no_rate_is_that_of_two_links_to_the_same_kind_of_device() {
        for (i, link) in LINKS.iter().enumerate() {
            for other in &LINKS[i + 1..] {
                let (low, high) = (other.usable.0, other.usable.1);
                let apart = [low, high]
                    .into_iter()
                    .all(|share| !link.explains(share * other.bytes_per_s));
                assert!(
                    apart || link.leads_to != other.leads_to,
                    "{link:?} {other:?}"
                );
            }
        }
    }
}
