//! SHA-256 and HMAC over it, for names that are equal where what they name is.

use sha2::{Digest, Sha256};

/// Bytes that SHA-256 works on at once.
const BLOCK: usize = 64;

/// The digest of some bytes.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The digest of some bytes under a key: HMAC (RFC 2104).
pub fn keyed(key: &[u8], bytes: &[u8]) -> [u8; 32] {
    let mut block = [0; BLOCK];
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let inner = [&block.map(|byte| byte ^ 0x36), bytes].concat();
    digest(&[&block.map(|byte| byte ^ 0x5c)[..], &digest(&inner)].concat())
}

/// The first 64 bits of the digest of some bytes: short enough to be read aloud, and no defence
/// against who wants two things to have one.
pub fn number(bytes: &[u8]) -> u64 {
    let first = digest(bytes).into_iter().take(8);
    first.fold(0, |number, byte| number << 8 | u64::from(byte))
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4's example of "abc".
    #[test]
    fn a_number_is_the_beginning_of_the_digest() {
        assert_eq!(number(b"abc"), 0xba78_16bf_8f01_cfea);
        assert!(hex(&digest(b"abc")).starts_with("ba7816bf8f01cfea"));
    }

    /// RFC 4231, test cases 1, 2 and 6 (a key longer than a block).
    #[test]
    fn keyed_digests_are_those_of_the_rfc() {
        for (key, bytes, wanted) in [
            (
                vec![0x0b; 20],
                "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe".to_vec(),
                "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                vec![0xaa; 131],
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(hex(&keyed(&key, bytes.as_bytes())), wanted, "{bytes}");
        }
    }
}
