//! Parsers of what kernels and devices hand out as bytes.
//!
//! They open nothing and panic on nothing, so that a captured file from a
//! strange machine can be a test, and a fuzzer can try them all. They are
//! public for that reason and not part of the crate's stable interface.

pub mod bsd_device;
#[cfg(target_os = "linux")]
pub mod file_locks;
#[cfg(target_os = "linux")]
pub mod mountinfo;
#[cfg(target_os = "linux")]
pub mod smaps;
pub mod storage_descriptor;
#[cfg(target_os = "linux")]
pub mod swaps;
pub mod unit_serial;

/// Text of a device: up to the first NUL, without surrounding blanks and
/// control bytes; `None` when nothing is left.
pub(crate) fn device_text(bytes: &[u8]) -> Option<String> {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    let text = String::from_utf8_lossy(&bytes[..end]);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    (!text.is_empty()).then(|| text.to_owned())
}

/// Undoes the octal escapes that the kernel writes for blanks, tabs, line
/// feeds and backslashes in paths (`\040`; `mangle_path`, `fs/seq_file.c`).
#[cfg(target_os = "linux")]
pub(crate) fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        if let [
            b'\\',
            a @ b'0'..=b'3',
            b @ b'0'..=b'7',
            c @ b'0'..=b'7',
            after @ ..,
        ] = rest
        {
            plain.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
            rest = after;
        } else {
            plain.push(*first);
            rest = tail;
        }
    }
    plain
}

/// The lines of a kernel's text, without empty ones.
#[cfg(target_os = "linux")]
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
}

/// The words of a line, which kernels part by blanks and tabs; other white
/// space may belong to a name.
#[cfg(target_os = "linux")]
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| b" \t".contains(byte))
        .filter(|word| !word.is_empty())
}

/// A number in a kernel's text.
#[cfg(target_os = "linux")]
pub(crate) fn number<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}
