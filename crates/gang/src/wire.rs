//! What ranks send each other, as bytes.
//!
//! A frame is `length u32 · protocol u16 · kind u8 · epoch u32 · body`, little-endian; `length`
//! counts what follows it. Texts, lists and bytes begin with their length as `u32`. A frame is
//! parsed as hostile input: lengths are held against the bytes that are there before anything is
//! allocated, and bytes behind the body are refused.
//!
//! **What never changes**, so that hosts of different versions can tell each other apart and say
//! so: the head above, the kinds `Hello` (0) and `Refused` (1) with their bodies, and the first
//! fields of a [`Card`]. Everything else belongs to one protocol version, and a frame of another
//! one is [`Frame::Foreign`].

mod bytes;
mod card;
mod message;

pub use bytes::WireError;
pub use card::{Card, Details};
pub use message::{Message, Window};

use bytes::{Reader, Writer};

/// The version of what is sent: it goes up with each change of a body, also between releases, as a
/// frame of another body under the same number would be refused as no frame.
pub const PROTOCOL: u16 = 3;

/// Longest frame: histograms of a trial are some 2 KiB, cards of 4096 hosts less than 2 MiB.
pub const FRAME_BYTES_MAX: usize = 64 << 20;

/// A frame that was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Of this protocol version, or of a kind that never changes.
    Known {
        /// How many times the tree was made anew before this was sent.
        epoch: u32,
        /// What it says.
        message: Message,
    },
    /// Well formed, of a kind that only another protocol version knows.
    Foreign {
        /// That version.
        protocol: u16,
    },
}

/// A message as a frame.
pub fn encode(epoch: u32, message: &Message) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.u32(0);
    writer.u16(PROTOCOL);
    writer.u8(message.kind());
    writer.u32(epoch);
    message.write(&mut writer);
    writer.into_frame()
}

/// A frame as a message.
///
/// # Errors
/// Where the bytes are no frame, and why.
pub fn decode(frame: &[u8]) -> Result<Frame, WireError> {
    let mut reader = Reader::new(frame);
    let length = reader.u32()? as usize;
    if length != frame.len() - 4 || frame.len() > FRAME_BYTES_MAX {
        return Err(reader.refuse("the length is not that of the frame"));
    }
    let protocol = reader.u16()?;
    let kind = reader.u8()?;
    let epoch = reader.u32()?;
    if protocol != PROTOCOL && !Message::is_stable(kind) {
        return Ok(Frame::Foreign { protocol });
    }
    let message = Message::read(kind, &mut reader)?;
    reader.end()?;
    Ok(Frame::Known { epoch, message })
}

#[cfg(test)]
mod tests;
