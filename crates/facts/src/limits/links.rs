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

use LeadsTo::{Disk, Nvme, Server};
use diskfacts_record::Transport;

/// A link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Link {
    pub(super) name: &'static str,
    /// Bytes per second after the line's own coding.
    pub(super) bytes_per_s: f64,
    /// What transfers reach of it, as shares.
    usable: (f64, f64),
    leads_to: LeadsTo,
}

/// What kind of device stands behind a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeadsTo {
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
    pub(super) fn share(&self, rate: f64) -> f64 {
        rate / self.bytes_per_s
    }

    /// Whether it may be the link of a drive that is attached so; any may where that is not
    /// known. Each name begins with what it is of.
    pub(super) fn may_be(&self, transport: Option<Transport>) -> bool {
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
pub(super) fn that_stop_at(rate: f64, leads_to: LeadsTo) -> Option<&'static Link> {
    let mut fitting = LINKS.iter().filter(|link| link.leads_to == leads_to);
    fitting.find(|link| link.explains(rate))
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
