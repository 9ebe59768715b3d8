//! Bursts in their stored form: some ten bytes for a request.
//!
//! One byte version (1), then LEB128 integers unless something else is said: number of devices,
//! and of each the length of its name and its name (UTF-8); number of bursts, and of each
//!
//! * one byte: 0 the first requests, 1 the slowest;
//! * its `from_ns`, and the number of its requests;
//! * of each request one byte of flags (see the constants below); its device, where there are several; when it
//!   began, from the one before it (the first is 0); from there to its issue, where both are
//!   known; from its issue to its completion; its first sector of 512 bytes, from the end of the
//!   one before it, zigzag (0, -1, 1, -2, ...); its sectors, unless they are as many as those of
//!   the one before it.

use super::{Burst, BurstOf, BurstRequest, Bursts};
use crate::evidence::RequestKind;
use crate::histogram::DecodeError;
use crate::leb128::{put, take_u64};

const VERSION: u8 = 1;
const SECTOR_BYTES: u64 = 512;
/// Most devices, bursts, and requests of a burst that are read.
const DEVICES_MAX: u64 = 1024;
const BURSTS_MAX: u64 = 64;
const REQUESTS_MAX: u64 = 1 << 16;

/// What it asks for, in the order of its number in the lowest three bits of the flags.
const KINDS: [RequestKind; 5] = [
    RequestKind::Read,
    RequestKind::Write,
    RequestKind::Discard,
    RequestKind::Flush,
    RequestKind::Other,
];
const KIND: u8 = 0b111;
/// Its time in the queue is known.
const QUEUED: u8 = 1 << 3;
/// Who made it is known, and it was diskfacts.
const MAKER_KNOWN: u8 = 1 << 4;
const OURS: u8 = 1 << 5;
const FAILED: u8 = 1 << 6;
/// It has as many sectors as the one before it.
const SAME_LENGTH: u8 = 1 << 7;

/// [`Bursts`] in their stored form.
#[derive(Clone, PartialEq, Eq)]
pub struct PackedBursts {
    /// Checked when they were taken.
    bytes: Box<[u8]>,
}

impl PackedBursts {
    /// Takes bytes that are a stored form.
    ///
    /// # Errors
    /// When the bytes are cut short, of an unknown version or contradictory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        read(bytes)?;
        Ok(Self {
            bytes: bytes.into(),
        })
    }

    /// The stored form.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// To ask.
    ///
    /// # Panics
    /// Never: the bytes were checked when they were taken.
    pub fn unpack(&self) -> Bursts {
        read(&self.bytes).expect("the bytes were checked when they were taken")
    }
}

impl From<&Bursts> for PackedBursts {
    /// What is not as the fields of [`Bursts`] say is brought to it: an unsorted request begins
    /// with the one before it, and a part of a sector is left out.
    fn from(bursts: &Bursts) -> Self {
        Self {
            bytes: written(bursts).into(),
        }
    }
}

impl std::fmt::Debug for PackedBursts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.unpack().fmt(f)
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

fn written(bursts: &Bursts) -> Vec<u8> {
    let mut out = vec![VERSION];
    put(&mut out, bursts.devices.len() as u128);
    for name in &bursts.devices {
        put(&mut out, name.len() as u128);
        out.extend(name.as_bytes());
    }
    put(&mut out, bursts.bursts.len() as u128);
    for burst in &bursts.bursts {
        out.push(match burst.of {
            BurstOf::First => 0,
            BurstOf::Slowest => 1,
        });
        put(&mut out, u128::from(burst.from_ns));
        put(&mut out, burst.requests.len() as u128);
        let mut before = Before::default();
        for request in &burst.requests {
            write(&mut out, request, &mut before, bursts.devices.len() > 1);
        }
    }
    out
}

/// What the next request is told from.
#[derive(Default)]
struct Before {
    began_ns: u64,
    end: u64,
    sectors: u64,
}

fn write(out: &mut Vec<u8>, request: &BurstRequest, before: &mut Before, names_device: bool) {
    let sectors = request.bytes / SECTOR_BYTES;
    let sector = request.offset_bytes / SECTOR_BYTES;
    let kind = KINDS.iter().position(|kind| *kind == request.operation);
    let flag = |is: bool, bit: u8| if is { bit } else { 0 };
    // There are five.
    let flags = kind.unwrap_or(KINDS.len() - 1) as u8
        | flag(request.queued_ns.is_some(), QUEUED)
        | flag(request.ours.is_some(), MAKER_KNOWN)
        | flag(request.ours == Some(true), OURS)
        | flag(request.failed, FAILED)
        | flag(sectors == before.sectors, SAME_LENGTH);
    out.push(flags);
    if names_device {
        put(out, request.device as u128);
    }
    let began_ns = request.began_ns().max(before.began_ns);
    let issued_ns = request.issued_ns.max(began_ns);
    put(out, u128::from(began_ns - before.began_ns));
    if request.queued_ns.is_some() {
        put(out, u128::from(issued_ns - began_ns));
    }
    let device_ns = request.completed_ns.saturating_sub(issued_ns);
    put(out, u128::from(device_ns));
    let step = sector.wrapping_sub(before.end).cast_signed();
    put(out, u128::from(zigzag(step)));
    if sectors != before.sectors {
        put(out, u128::from(sectors));
    }
    *before = Before {
        began_ns,
        end: sector + sectors,
        sectors,
    };
}

fn take_below(input: &mut &[u8], most: u64, what: &'static str) -> Result<usize, DecodeError> {
    let number = take_u64(input)?;
    if number > most {
        return Err(DecodeError::Damaged(what));
    }
    // At most 2^16.
    Ok(number as usize)
}

fn take_byte(input: &mut &[u8]) -> Result<u8, DecodeError> {
    let (byte, rest) = input.split_first().ok_or(DecodeError::Truncated)?;
    *input = rest;
    Ok(*byte)
}

fn take_name(input: &mut &[u8]) -> Result<String, DecodeError> {
    let length = usize::try_from(take_u64(input)?).map_err(|_| DecodeError::Truncated)?;
    let (name, rest) = input
        .split_at_checked(length)
        .ok_or(DecodeError::Truncated)?;
    *input = rest;
    let name = std::str::from_utf8(name);
    name.map(str::to_owned)
        .map_err(|_| DecodeError::Damaged("the name of a device is no text"))
}

fn read(bytes: &[u8]) -> Result<Bursts, DecodeError> {
    let (version, mut input) = bytes.split_first().ok_or(DecodeError::Truncated)?;
    if *version != VERSION {
        return Err(DecodeError::Version(*version));
    }
    let input = &mut input;
    let devices = (0..take_below(input, DEVICES_MAX, "too many devices")?)
        .map(|_| take_name(input))
        .collect::<Result<Vec<_>, _>>()?;
    let bursts = (0..take_below(input, BURSTS_MAX, "too many bursts")?)
        .map(|_| take_burst(input, devices.len()))
        .collect::<Result<Vec<_>, _>>()?;
    if input.is_empty() {
        Ok(Bursts { devices, bursts })
    } else {
        Err(DecodeError::Damaged("bytes follow its end"))
    }
}

fn take_burst(input: &mut &[u8], devices: usize) -> Result<Burst, DecodeError> {
    let of = match take_byte(input)? {
        0 => BurstOf::First,
        1 => BurstOf::Slowest,
        _ => return Err(DecodeError::Damaged("an unknown kind of burst")),
    };
    let from_ns = take_u64(input)?;
    let mut before = Before::default();
    let requests = (0..take_below(input, REQUESTS_MAX, "too many requests")?)
        .map(|_| take_request(input, &mut before, devices))
        .collect::<Result<Vec<_>, _>>()?;
    let last_ns = requests.iter().map(|request| request.completed_ns).max();
    if from_ns.checked_add(last_ns.unwrap_or(0)).is_none() {
        return Err(BEYOND);
    }
    Ok(Burst {
        of,
        from_ns,
        requests,
    })
}

const BEYOND: DecodeError = DecodeError::Damaged("a number beyond 64 bits");

fn take_request(
    input: &mut &[u8],
    before: &mut Before,
    devices: usize,
) -> Result<BurstRequest, DecodeError> {
    let flags = take_byte(input)?;
    let has = |bit: u8| flags & bit != 0;
    let operation = KINDS
        .get(usize::from(flags & KIND))
        .ok_or(DecodeError::Damaged("an unknown kind of request"))?;
    if has(OURS) && !has(MAKER_KNOWN) {
        return Err(DecodeError::Damaged("a request is ours and of nobody"));
    }
    let device = if devices > 1 { take_u64(input)? } else { 0 };
    let device = usize::try_from(device).ok();
    let device = device
        .filter(|device| *device < devices)
        .ok_or(DecodeError::Damaged("a request of no device"))?;
    let began_ns = before.began_ns.checked_add(take_u64(input)?);
    let began_ns = began_ns.ok_or(BEYOND)?;
    let queued_for_ns = if has(QUEUED) { take_u64(input)? } else { 0 };
    let issued_ns = began_ns.checked_add(queued_for_ns).ok_or(BEYOND)?;
    let completed_ns = issued_ns.checked_add(take_u64(input)?).ok_or(BEYOND)?;
    let step = unzigzag(take_u64(input)?).cast_unsigned();
    let sector = before.end.wrapping_add(step);
    let sectors = if has(SAME_LENGTH) {
        before.sectors
    } else {
        take_u64(input)?
    };
    let end = sector.checked_add(sectors).ok_or(BEYOND)?;
    // The end of the last byte is a number of bytes, too.
    end.checked_mul(SECTOR_BYTES).ok_or(BEYOND)?;
    *before = Before {
        began_ns,
        end,
        sectors,
    };
    Ok(BurstRequest {
        device,
        operation: *operation,
        offset_bytes: sector * SECTOR_BYTES,
        bytes: sectors * SECTOR_BYTES,
        queued_ns: has(QUEUED).then_some(began_ns),
        issued_ns,
        completed_ns,
        ours: has(MAKER_KNOWN).then(|| has(OURS)),
        failed: has(FAILED),
    })
}
