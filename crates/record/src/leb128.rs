//! Integers of stored forms: LEB128, seven bits a byte, the low ones first.

use crate::histogram::DecodeError;

/// Appends an integer.
pub(crate) fn put(out: &mut Vec<u8>, mut value: u128) {
    loop {
        // The low seven bits.
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(byte);
            return;
        }
        out.push(byte | 0x80);
    }
}

/// Takes an integer from the beginning of `input`.
///
/// # Errors
/// When the bytes end within it, or it has more than 128 bits.
pub(crate) fn take(input: &mut &[u8]) -> Result<u128, DecodeError> {
    let mut value = 0_u128;
    let mut shift = 0;
    loop {
        let (byte, rest) = input.split_first().ok_or(DecodeError::Truncated)?;
        *input = rest;
        let bits = u128::from(byte & 0x7f);
        if shift >= 128 || (bits << shift) >> shift != bits {
            return Err(DecodeError::Damaged("an integer beyond 128 bits"));
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
        shift += 7;
    }
}

/// [`take`], of up to 64 bits.
///
/// # Errors
/// When the bytes end within it, or it has more than 64 bits.
pub(crate) fn take_u64(input: &mut &[u8]) -> Result<u64, DecodeError> {
    // Nine bytes have 63 bits, and nearly all integers of a histogram are shorter.
    let mut value = 0_u64;
    for (place, byte) in input.iter().take(9).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            *input = &input[place + 1..];
            return Ok(value);
        }
    }
    u64::try_from(take(input)?).map_err(|_| DecodeError::Damaged("an integer beyond 64 bits"))
}
