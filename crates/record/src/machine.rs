//! The machine a run was made on.

use crate::unsaid;
use diskfacts_plan::sha256;
use serde::{Deserialize, Serialize};

/// What of the machine a figure may depend on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// Name of the host.
    pub host: Option<String>,
    /// Operating system and version, `Debian GNU/Linux 12 (bookworm)`.
    pub os: Option<String>,
    /// Kernel and version, `Linux 6.18.44`.
    pub kernel: Option<String>,
    /// Instruction set, `x86_64`.
    #[serde(deserialize_with = "unsaid::or_default")]
    pub architecture: String,
    /// Model name of the processor.
    pub cpu_model: Option<String>,
    /// Processors this process may use.
    #[serde(deserialize_with = "unsaid::or_default")]
    pub cpus: u32,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
    /// Hypervisor or container runtime, as far as the kernel tells.
    pub virtualization: Option<String>,
    /// What the kernel itself counts time by, `tsc` for example.
    pub clock_source: Option<String>,
    /// Effective user is root.
    #[serde(deserialize_with = "unsaid::or_default")]
    pub root: bool,
    /// Which boot of it this was (`/proc/sys/kernel/random/boot_id`): the same in all its
    /// containers, and of no other machine.
    #[serde(default)]
    pub boot_id: Option<String>,
    /// Which machine, or container with a system of its own, this is: [`id_of`] its
    /// `/etc/machine-id`. Copies of one image may have the same.
    #[serde(default)]
    pub machine_id: Option<String>,
}

impl Machine {
    /// Whether it is another than this, by its name or its id. Boots tell no machines apart: of
    /// one, two may be known.
    pub fn is_another(&self, than: &Self) -> bool {
        let differ = |a: &Option<String>, b: &Option<String>| {
            a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| a != b)
        };
        differ(&self.host, &than.host) || differ(&self.machine_id, &than.machine_id)
    }
}

/// Tells the ids of this program from those of others; drawn once, by chance.
const APPLICATION: [u8; 16] = [
    0xea, 0x54, 0xf6, 0xba, 0x62, 0xcd, 0x4c, 0x8b, 0x99, 0xc1, 0x35, 0xc3, 0xbd, 0x0a, 0xe4, 0xea,
];

/// An id for a machine that tells nobody its `machine-id`, which machine-id(5) calls confidential:
/// as `sd_id128_get_machine_app_specific(3)`, HMAC-SHA256 of an id of the application under it, cut
/// to 128 bits and marked as a random UUID. `None` of what is no machine-id: 32 hexadecimal
/// digits in lower case, which are not all 0.
pub fn id_of(machine_id: &str) -> Option<String> {
    let digits = machine_id.trim();
    let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    if digits.len() != 32 || !digits.bytes().all(is_digit) || digits.bytes().all(|c| c == b'0') {
        return None;
    }
    let key: Vec<u8> = (0..16)
        .filter_map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok())
        .collect();
    let mut id = sha256::keyed(&key, &APPLICATION);
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    Some(sha256::hex(&id[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_what_systemd_makes_of_a_machine_id() {
        // Made with Python's hmac; `systemd-id128 machine-id --app-specific` prints the same.
        let id = id_of("0123456789abcdef0123456789abcdef\n");
        assert_eq!(id.as_deref(), Some("7c4fd37815a641409fc0c56cc00f38e9"));
        assert_ne!(id, id_of("0123456789abcdef0123456789abcdee"));
        for none in [
            "",
            "uninitialized",
            "00000000000000000000000000000000",
            "0123456789ABCDEF0123456789abcdef",
            "0123456789abcdef0123456789abcde",
            "0123456789abcdef0123456789abcdéa",
        ] {
            assert_eq!(id_of(none), None, "{none}");
        }
    }
}
