//! `events/SYSTEM/EVENT/format`: the number of an event, and where its fields lie.
//!
//! Numbers and places differ between kernels, so they are never written down here.
//! Source: kernel, `Documentation/trace/events.rst`, part 3; `__data_loc`,
//! `include/trace/stages/stage3_trace_output.h`.

use crate::parse::{ParseError, lines};

const FORMAT: &str = "event format";

/// The form of one kind of event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFormat {
    /// `block_rq_issue`.
    pub name: String,
    /// What the first two bytes of such an event hold.
    pub id: u16,
    /// Its fields, the common ones first.
    pub fields: Vec<FieldFormat>,
}

/// A field as the kernel describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFormat {
    /// `nr_sector`, `rwbs`.
    pub name: String,
    /// Where it lies, and how it is read.
    pub field: Field,
}

/// Where a field lies in the bytes of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Bytes from the start of the event.
    pub offset: usize,
    /// Its length, bytes.
    pub size: usize,
    /// Whether an integer has a sign.
    pub signed: bool,
    /// Whether its bytes lie elsewhere in the event, and what lies here says where.
    pub place: Place,
}

/// Where the bytes of a field are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Here.
    Here,
    /// `__data_loc`: offset from the start of the event, in the low 16 bits; length
    /// in the high ones.
    DataLoc,
    /// `__rel_loc`, since Linux 5.17: the same, counted from the end of the field.
    RelLoc,
}

impl EventFormat {
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<Field> {
        let found = self.fields.iter().find(|field| field.name == name);
        found.map(|field| field.field)
    }
}

impl Field {
    /// The integer in this field, without its sign. `None` when the event ends
    /// before it, or when it is no integer of 1, 2, 4 or 8 bytes.
    #[inline]
    pub fn unsigned(self, event: &[u8]) -> Option<u64> {
        integer_at(event, self.offset, self.size)
    }

    /// The integer in this field; one without a sign above 2^63 - 1 becomes negative.
    #[inline]
    pub fn integer(self, event: &[u8]) -> Option<i64> {
        let value = self.unsigned(event)?;
        Some(match (self.signed, self.size) {
            (true, 1) => i64::from(value as i8),
            (true, 2) => i64::from(value as i16),
            (true, 4) => i64::from(value as i32),
            _ => value.cast_signed(),
        })
    }

    /// All bytes of the field. `None` when any lies beyond the end of the event.
    #[inline]
    pub fn bytes(self, event: &[u8]) -> Option<&[u8]> {
        let end = self.offset.checked_add(self.size)?;
        let here = event.get(self.offset..end)?;
        let base = match self.place {
            Place::Here => return Some(here),
            Place::DataLoc => 0,
            Place::RelLoc => end,
        };
        let place = integer_at(here, 0, 4)?;
        let start = base.checked_add((place & 0xffff) as usize)?;
        event.get(start..start.checked_add((place >> 16) as usize)?)
    }

    /// The bytes of a text, up to the first that is 0.
    #[inline]
    pub fn text(self, event: &[u8]) -> Option<&[u8]> {
        let bytes = self.bytes(event)?;
        let end = bytes.iter().position(|byte| *byte == 0);
        Some(&bytes[..end.unwrap_or(bytes.len())])
    }
}

/// An integer of 1, 2, 4 or 8 bytes, in the order of bytes of this machine, which is
/// the kernel's.
#[inline]
pub(super) fn integer_at(bytes: &[u8], offset: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(offset..)?;
    Some(match size {
        4 => u32::from_ne_bytes(*bytes.first_chunk()?).into(),
        8 => u64::from_ne_bytes(*bytes.first_chunk()?),
        2 => u16::from_ne_bytes(*bytes.first_chunk()?).into(),
        1 => (*bytes.first()?).into(),
        _ => return None,
    })
}

/// Reads a `format` file.
///
/// # Errors
/// When it has no name, no number below 2^16, or a line `field:` that is none.
pub fn parse_event_format(bytes: &[u8]) -> Result<EventFormat, ParseError> {
    let (mut name, mut id) = (None, None);
    let mut fields = Vec::new();
    let mut last = 0;
    for (index, line) in lines(bytes) {
        last = index;
        let text = line.trim_start();
        if let Some(text) = text.strip_prefix("name:") {
            name = Some(text.trim().to_owned());
        } else if let Some(text) = text.strip_prefix("ID:") {
            let number = text.trim().parse();
            let wrong = |_| ParseError::at(FORMAT, index, "ID: NUMBER below 65536", &line);
            id = Some(number.map_err(wrong)?);
        } else if let Some(text) = text.strip_prefix("field:") {
            let wrong = || {
                let expected = "field:TYPE NAME; offset:N; size:N; signed:0";
                ParseError::at(FORMAT, index, expected, &line)
            };
            fields.push(parse_field(text).ok_or_else(wrong)?);
        } else if text.starts_with("print fmt:") {
            break;
        }
    }
    let missing = |what| ParseError::at(FORMAT, last, what, "the end");
    Ok(EventFormat {
        name: name.ok_or_else(|| missing("a line `name:`"))?,
        id: id.ok_or_else(|| missing("a line `ID:`"))?,
        fields,
    })
}

/// Reads what stands behind `field:`.
pub(super) fn parse_field(text: &str) -> Option<FieldFormat> {
    let mut parts = text.split(';').map(str::trim);
    let declaration = parts.next()?;
    let (mut offset, mut size, mut signed) = (None, None, false);
    for part in parts.filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once(':')?;
        match key {
            "offset" => offset = Some(value.parse::<u32>().ok()? as usize),
            "size" => size = Some(value.parse::<u32>().ok()? as usize),
            // Kernels before 2.6.33 do not say.
            "signed" => signed = value == "1",
            _ => {}
        }
    }
    let place = match declaration.split_ascii_whitespace().next()? {
        "__data_loc" => Place::DataLoc,
        "__rel_loc" => Place::RelLoc,
        _ => Place::Here,
    };
    let name = declaration.split_ascii_whitespace().last()?;
    let name = name.split('[').next()?.trim_start_matches('*');
    if name.is_empty() {
        return None;
    }
    Some(FieldFormat {
        name: name.to_owned(),
        field: Field {
            offset: offset?,
            size: size?,
            signed,
            place,
        },
    })
}
