//! The machine a run was made on.

use crate::unsaid;
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
}
