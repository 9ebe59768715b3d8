//! `/proc/stat`: processor time and soft interrupts of the whole system.
//!
//! Source: kernel, `Documentation/filesystems/proc.rst` section 1.7.

use super::{ParseError, lines};

const STAT: &str = "stat";

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
    /// Of these, in soft ones.
    pub soft_interrupt_ticks: u64,
    /// Wanted, but given to others by the hypervisor; since Linux 2.6.11.
    pub steal_ticks: Option<u64>,
}

/// Reads the first line of `/proc/stat`; the rest may be cut off.
///
/// # Errors
/// When there is no line `cpu`, or it has fewer than seven numbers.
pub fn parse_stat_cpu(bytes: &[u8]) -> Result<SystemCpu, ParseError> {
    let (index, line) = lines(bytes)
        .find(|(_, line)| line.starts_with("cpu "))
        .ok_or_else(|| ParseError::at(STAT, 0, "a line `cpu`", "the end"))?;
    let mut ticks = [0_u64; 8];
    let mut known = 0;
    for (tick, text) in ticks.iter_mut().zip(line.split_ascii_whitespace().skip(1)) {
        *tick = text
            .parse()
            .map_err(|_| ParseError::at(STAT, index, "a number of ticks", text))?;
        known += 1;
    }
    if known < 7 {
        return Err(ParseError::at(STAT, index, "at least seven numbers", &line));
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
    Ok(SystemCpu {
        user_ticks: user,
        nice_ticks: nice,
        system_ticks: system,
        idle_ticks: idle,
        iowait_ticks: iowait,
        interrupt_ticks: irq.saturating_add(softirq),
        soft_interrupt_ticks: softirq,
        steal_ticks: (known == 8).then_some(steal),
    })
}

/// Place of the block devices among the numbers of the line `softirq`, the sum
/// first (`softirq_to_name`, kernel/softirq.c).
const BLOCK: usize = 5;

/// Reads how often the soft interrupt of block devices ran since the system
/// started, on all processors, from the line `softirq` of `/proc/stat` (since Linux
/// 2.6.31). `None` where there is no such line, or it is cut off before the number
/// is sure to be whole.
///
/// # Errors
/// When the number is none.
pub fn parse_stat_block_softirqs(bytes: &[u8]) -> Result<Option<u64>, ParseError> {
    let found = lines(bytes).find(|(_, line)| line.starts_with("softirq "));
    let Some((index, line)) = found else {
        return Ok(None);
    };
    let mut numbers = line.split_ascii_whitespace().skip(1 + BLOCK);
    // With another behind it, its last digit was not cut off.
    let (Some(text), Some(_)) = (numbers.next(), numbers.next()) else {
        return Ok(None);
    };
    let number = text.parse();
    number
        .map(Some)
        .map_err(|_| ParseError::at(STAT, index, "a number of soft interrupts", text))
}
