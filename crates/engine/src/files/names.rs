//! The names of the files of a trial: all made before it begins, of one length,
//! so that neither drawing nor formatting them is measured.

use diskfacts_plan::rng::Rng;
use std::ffi::CStr;
use std::fmt::Write as _;

/// Digits of the number in a name, hexadecimal.
const DIGITS: usize = 10;
/// Drawn characters of a name.
const DRAWN: usize = 8;
/// Bytes of a name without the zero at its end.
const LENGTH: usize = DIGITS + DRAWN;
/// 32 characters, so that five bits are one of them.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// The names of so many files.
pub(super) struct Names {
    bytes: Box<[u8]>,
}

impl Names {
    /// `count` names from a seed. Numbers come first (`0000000a3fkqzx2b7m`), and
    /// the names rise as they count; or drawn characters do (`kqzx2b7m0000000a3f`),
    /// and they do not.
    pub(super) fn new(count: u64, rising: bool, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut text = String::with_capacity(count as usize * (LENGTH + 1));
        for index in 0..count {
            let mut drawn = rng.next_u64();
            let tail = [(); DRAWN].map(|()| {
                let character = ALPHABET[(drawn & 31) as usize];
                drawn >>= 5;
                char::from(character)
            });
            // Writing to a String cannot fail.
            if rising {
                let _ = write!(text, "{index:0DIGITS$x}");
                text.extend(tail);
            } else {
                text.extend(tail);
                let _ = write!(text, "{index:0DIGITS$x}");
            }
            text.push('\0');
        }
        Self {
            bytes: text.into_bytes().into_boxed_slice(),
        }
    }

    /// The name of the file `index`.
    #[inline]
    pub(super) fn get(&self, index: u32) -> &CStr {
        let start = index as usize * (LENGTH + 1);
        CStr::from_bytes_with_nul(&self.bytes[start..=start + LENGTH])
            .expect("every name ends with its only zero")
    }
}

/// Whether a file may bear such a name.
pub(super) fn is_ours(name: &CStr) -> bool {
    let bytes = name.to_bytes();
    let hexadecimal = |part: &[u8]| {
        part.iter()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b))
    };
    let drawn = |part: &[u8]| part.iter().all(|b| ALPHABET.contains(b));
    bytes.len() == LENGTH
        && ((hexadecimal(&bytes[..DIGITS]) && drawn(&bytes[DIGITS..]))
            || (drawn(&bytes[..DRAWN]) && hexadecimal(&bytes[DRAWN..])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn rising_names_rise_and_the_others_do_not_and_none_comes_twice() {
        for rising in [true, false] {
            let names = Names::new(5000, rising, 9);
            let all: Vec<&CStr> = (0..5000).map(|i| names.get(i)).collect();
            assert_eq!(all.is_sorted(), rising);
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 5000);
            assert!(all.iter().all(|name| is_ours(name)));
        }
    }

    #[test]
    fn other_peoples_names_are_not_ours() {
        for name in [
            c"",
            c"report.txt",
            c"0000000a3f",
            c"0000000a3fkqzx2b7",
            c"0000000a3fkqzx2b7M",
            c"0000000a3gkqzx2b71",
            c"0000000a3fkqzx2b7m.bak",
        ] {
            assert!(!is_ours(name), "{name:?}");
        }
    }
}
