//! `/proc/cpuinfo`, which is different on each architecture.
//!
//! Source: kernel, `arch/*/kernel/cpu/proc.c` and the like.

use super::lines;

/// What of it diskfacts uses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cpuinfo {
    /// The processor, as it names itself, or else the numbers it is known by.
    pub model: Option<String>,
    /// Whether the processor says that it runs under a hypervisor (x86).
    pub hypervisor: Option<bool>,
}

/// Reads `/proc/cpuinfo`. Everything in it is optional, so this cannot fail.
pub fn parse_cpuinfo(bytes: &[u8]) -> Cpuinfo {
    let mut model = None;
    let mut hypervisor = None;
    let mut implementer = None;
    let mut part = None;
    for (_, line) in lines(bytes) {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        if value.is_empty() {
            continue;
        }
        match key.trim() {
            // x86, and 32-bit ARM; MIPS; POWER; RISC-V.
            "model name" | "cpu model" | "cpu" | "uarch" if model.is_none() => {
                model = Some(value.to_owned());
            }
            "flags" if hypervisor.is_none() => {
                hypervisor = Some(
                    value
                        .split_ascii_whitespace()
                        .any(|flag| flag == "hypervisor"),
                );
            }
            "CPU implementer" => implementer = implementer.or(Some(value.to_owned())),
            "CPU part" => part = part.or(Some(value.to_owned())),
            _ => {}
        }
    }
    // 64-bit ARM prints no name, only the numbers of MIDR_EL1.
    if model.is_none()
        && let (Some(implementer), Some(part)) = (implementer, part)
    {
        model = Some(format!("ARM implementer {implementer} part {part}"));
    }
    Cpuinfo { model, hypervisor }
}
