//! `/etc/os-release`: the name of the operating system.
//!
//! Source: os-release(5).

use super::lines;

/// The name for people: `PRETTY_NAME`, else `NAME` and `VERSION`. Everything
/// in the file is optional, so this cannot fail.
pub fn parse_os_release(bytes: &[u8]) -> Option<String> {
    let mut pretty = None;
    let mut name = None;
    let mut version = None;
    for (_, line) in lines(bytes) {
        let Some((key, value)) = line.trim_start().split_once('=') else {
            continue;
        };
        let field = match key {
            "PRETTY_NAME" => &mut pretty,
            "NAME" => &mut name,
            "VERSION" => &mut version,
            _ => continue,
        };
        let value = unquote(value);
        *field = (!value.is_empty()).then_some(value);
    }
    pretty.or_else(|| match (name, version) {
        (Some(name), Some(version)) => Some(format!("{name} {version}")),
        (name, _) => name,
    })
}

/// Takes off the shell quotes, and the backslashes that they allow.
fn unquote(value: &str) -> String {
    let value = value.trim();
    let inner = ['"', '\'']
        .iter()
        .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(value);
    let mut plain = String::with_capacity(inner.len());
    let mut escaped = false;
    for character in inner.chars() {
        if character == '\\' && !escaped {
            escaped = true;
        } else {
            plain.push(character);
            escaped = false;
        }
    }
    plain
}
