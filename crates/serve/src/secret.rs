//! The part of a path that nobody guesses.

use rustix::rand::{GetRandomFlags, getrandom};
use std::fmt;
use std::io;

/// 128 bits.
const BYTES: usize = 16;

/// 128 random bits, as 32 digits of base 16.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// From the system's source of randomness, which waits until it is seeded (getrandom(2)).
    ///
    /// # Errors
    /// When the system has none.
    pub(crate) fn draw() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        // Up to 256 bytes come whole (getrandom(2)).
        let drawn = getrandom(&mut bytes[..], GetRandomFlags::empty())?;
        assert_eq!(drawn, BYTES, "getrandom(2) gives so few bytes whole");
        let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
        Ok(Self(digits.collect()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is it. Every byte of what is given is looked at, whichever differ.
    pub(crate) fn is(&self, given: &str) -> bool {
        let (mine, given) = (self.0.as_bytes(), given.as_bytes());
        let differ = |at: usize, byte: u8| mine.get(at).map_or(u8::MAX, |own| own ^ byte);
        let different = given
            .iter()
            .enumerate()
            .fold(0, |all, (at, byte)| all | differ(at, *byte));
        // Its length is no secret.
        given.len() == mine.len() && std::hint::black_box(different) == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_of_it_is_it() {
        let secret = Secret::draw().unwrap();
        let text = secret.as_str().to_owned();
        assert_eq!(text.len(), 2 * BYTES);
        assert!(secret.is(&text));
        for at in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[at] = if other[at] == b'0' { b'1' } else { b'0' };
            assert!(!secret.is(std::str::from_utf8(&other).unwrap()), "at {at}");
            assert!(!secret.is(&text[..at]), "the first {at}");
        }
        assert!(!secret.is(&format!("{text}0")));
        assert!(!secret.is(&text.to_uppercase()) || text == text.to_uppercase());
    }

    #[test]
    fn no_two_are_alike_and_none_is_shown_by_mistake() {
        let (a, b) = (Secret::draw().unwrap(), Secret::draw().unwrap());
        assert_ne!(a, b);
        assert!(!format!("{a:?}").contains(a.as_str()));
    }
}
