//! `/proc/stat`: processor time of the whole system.
//!
//! Source: kernel, `Documentation/filesystems/proc.rst` section 1.7.

use super::{ParseError, lines};

/// Time of all processors together since the system started, in ticks of
/// `sysconf(_SC_CLK_TCK)`, which is 100 per second on Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SystemCpu {
    /// In programs, without niced ones.
    pub user_ticks: u64,
    /// In niced programs.
    pub nice_ticks: u64,
    /// In the kernel, without interrupts.
    pub system_ticks: u64,
    /// Doing nothing.
    pub idle_ticks: u64,
    /// Doing nothing while some task waited for I/O.
    pub iowait_ticks: u64,
    /// In interrupts, soft ones too.
    pub interrupt_ticks: u64,
    /// Wanted, but given to others by the hypervisor; since Linux 2.6.11.
    pub steal_ticks: Option<u64>,
}

/// Reads the first line of `/proc/stat`; the rest may be cut off.
///
/// # Errors
/// When there is no line `cpu`, or it has fewer than seven numbers.
pub fn parse_stat_cpu(bytes: &[u8]) -> Result<SystemCpu, ParseError> {
    const FORMAT: &str = "stat";
    let (index, line) = lines(bytes)
        .find(|(_, line)| line.starts_with("cpu "))
        .ok_or_else(|| ParseError::at(FORMAT, 0, "a line `cpu`", "the end"))?;
    let mut ticks = [0_u64; 8];
    let mut known = 0;
    for (tick, text) in ticks.iter_mut().zip(line.split_ascii_whitespace().skip(1)) {
        *tick = text
            .parse()
            .map_err(|_| ParseError::at(FORMAT, index, "a number of ticks", text))?;
        known += 1;
    }
    if known < 7 {
        return Err(ParseError::at(
            FORMAT,
            index,
            "at least seven numbers",
            &line,
        ));
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
    Ok(SystemCpu {
        user_ticks: user,
        nice_ticks: nice,
        system_ticks: system,
        idle_ticks: idle,
        iowait_ticks: iowait,
        interrupt_ticks: irq.saturating_add(softirq),
        steal_ticks: (known == 8).then_some(steal),
    })
}
