//! Frames between hosts that measure together.

use diskfacts_gang::wire::{Frame, PROTOCOL, decode, encode};

/// What is read is written as a frame that is read as the same; what is refused is so at a place
/// in the frame. Each input is looked at once more with the length and the version that fit, or
/// hardly any would come further than those.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    read(input);
    if let Some(length) = input
        .len()
        .checked_sub(4)
        .and_then(|length| u32::try_from(length).ok())
    {
        let mut fitting = input.to_vec();
        fitting[..4].copy_from_slice(&length.to_le_bytes());
        read(&fitting);
        if let Some(version) = fitting.get_mut(4..6) {
            version.copy_from_slice(&PROTOCOL.to_le_bytes());
            read(&fitting);
        }
    }
}

fn read(input: &[u8]) {
    match decode(input) {
        Ok(Frame::Known { epoch, message }) => {
            let again = encode(epoch, &message);
            assert_eq!(decode(&again), Ok(Frame::Known { epoch, message }));
        }
        Ok(Frame::Foreign { protocol }) => assert_ne!(protocol, PROTOCOL),
        Err(error) => assert!(error.at <= input.len(), "{error}"),
    }
}
