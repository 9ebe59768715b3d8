//! Who a host is, and what it has against measuring.

use super::PROTOCOL;
use super::bytes::{Reader, WireError, Writer};

/// What a rank says of itself before anything is written.
///
/// The first four fields never change their form, so a host of any version can name one of
/// another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Which process of the launcher.
    pub rank: u32,
    /// The protocol it speaks.
    pub protocol: u16,
    /// The program and its version: `diskfacts 0.1.0`.
    pub program: String,
    /// The host's name, as the host has it; two hosts may have the same.
    pub host: String,
    /// The rest, where it is of this protocol version.
    pub details: Option<Details>,
    /// The rest as it came, for those above: a host in the middle of the tree passes on what it
    /// cannot read.
    unread: Vec<u8>,
}

/// What only hosts of one protocol version can compare.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Details {
    /// The hash of the plan; all have to be the same.
    pub plan: Vec<u8>,
    /// The kernel's boot id: two ranks with the same one run on one machine.
    pub boot_id: String,
    /// What the target lies on, as the caller names devices and filesystems; `None` where it is
    /// not known.
    pub device: Option<String>,
    /// Why this host must not measure or write, in sentences for people.
    pub objections: Vec<String>,
}

impl Card {
    /// The card of this host.
    pub fn new(rank: u32, program: String, host: String, details: Details) -> Self {
        Self {
            rank,
            protocol: PROTOCOL,
            program,
            host,
            details: Some(details),
            unread: Vec::new(),
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        let mut card = Writer::default();
        card.u32(self.rank);
        card.u16(self.protocol);
        card.text(&self.program);
        card.text(&self.host);
        match &self.details {
            Some(details) => details.write(&mut card),
            None => card.raw(&self.unread),
        }
        writer.bytes(&card.into_bytes());
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let bytes = reader.bytes()?;
        let mut card = Reader::new(bytes);
        let at_the_card = |mut error: WireError| {
            error.at += reader.position() - bytes.len();
            error
        };
        Self::read_alone(&mut card).map_err(at_the_card)
    }

    fn read_alone(card: &mut Reader<'_>) -> Result<Self, WireError> {
        let rank = card.u32()?;
        let protocol = card.u16()?;
        let program = card.text()?;
        let host = card.text()?;
        let (details, unread) = if protocol == PROTOCOL {
            let details = Details::read(card)?;
            card.end()?;
            (Some(details), Vec::new())
        } else {
            (None, card.rest().to_vec())
        };
        Ok(Self {
            rank,
            protocol,
            program,
            host,
            details,
            unread,
        })
    }
}

impl Details {
    fn write(&self, writer: &mut Writer) {
        writer.bytes(&self.plan);
        writer.text(&self.boot_id);
        writer.option(self.device.as_ref(), |writer, device| writer.text(device));
        writer.list(&self.objections, |writer, text| writer.text(text));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            plan: reader.bytes()?.to_vec(),
            boot_id: reader.text()?,
            device: reader.option(Reader::text)?,
            objections: reader.list(Reader::text)?,
        })
    }
}

#[cfg(test)]
impl Card {
    /// A card of a version that this program does not know.
    pub(crate) fn of_another_version(rank: u32, protocol: u16, host: &str, rest: &[u8]) -> Self {
        assert_ne!(protocol, PROTOCOL);
        Self {
            rank,
            protocol,
            program: "diskfacts 9.0.0".to_owned(),
            host: host.to_owned(),
            details: None,
            unread: rest.to_vec(),
        }
    }
}
