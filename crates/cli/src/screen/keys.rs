//! What a key means.

/// What somebody wants who pressed a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// `q`: end.
    Quit,
    /// `p`: the display stands still, or goes on.
    Pause,
    /// `?`: what all of it means, or back.
    Help,
    /// Ctrl-Z: stop until `fg`.
    Suspend,
    /// Ctrl-L: draw all of it anew.
    Redraw,
}

/// The keys in what a terminal sent at once. Keys that send several bytes, as arrows do, have
/// letters in them that mean nothing: they begin with ESC and come in one piece.
pub(super) fn keys(bytes: &[u8]) -> Vec<Key> {
    let single = bytes.split(|byte| *byte == 0x1b).next().unwrap_or_default();
    let key = |byte: &u8| match byte {
        b'q' | b'Q' => Some(Key::Quit),
        b'p' | b'P' => Some(Key::Pause),
        b'?' | b'h' | b'H' => Some(Key::Help),
        0x1a => Some(Key::Suspend),
        0x0c => Some(Key::Redraw),
        _ => None,
    };
    single.iter().filter_map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_a_key_and_one_within_another_key_is_none() {
        assert_eq!(keys(b"q"), [Key::Quit]);
        assert_eq!(keys(b"xp?\x1a"), [Key::Pause, Key::Help, Key::Suspend]);
        // The keypad of a VT220 sends this for 1.
        assert_eq!(keys(b"\x1bOq"), []);
        assert_eq!(keys(b"p\x1b[15~q"), [Key::Pause]);
        assert_eq!(keys(b""), []);
    }
}
