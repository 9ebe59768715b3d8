//! Dies and channels: what is busy until when.

use super::parameters::SsdParameters;
use crate::fixed;

/// A die's commitments.
#[derive(Debug, Clone, Copy, Default)]
struct Die {
    /// End of the reads it has agreed to, ns.
    reads_until_ns: u64,
    /// End of the programs and erases it has agreed to, ns.
    programs_until_ns: u64,
    /// Length of the last one of them, ns.
    program_ns: u64,
    /// Page held in the register, as a page number plus 1; 0 for none.
    register: u64,
}

/// How one read of a page went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlashRead {
    /// Waiting for other reads, on the die or the channel, ns.
    pub queue_ns: u64,
    /// Waiting for a program or an erase, ns.
    pub program_wait_ns: u64,
    /// Flash to register, and register to controller, ns.
    pub transfer_ns: u64,
    /// When the data is in the controller, ns.
    pub done_ns: u64,
}

/// All dies.
#[derive(Debug, Clone)]
pub struct Flash {
    dies: Vec<Die>,
    channel_free_ns: Vec<u64>,
    read_ns: u64,
    erase_ns: u64,
    suspend_ns: Option<u64>,
    channel_bytes_per_s: u64,
}

impl Flash {
    /// Idle flash.
    pub fn new(parameters: &SsdParameters) -> Self {
        Self {
            dies: vec![Die::default(); parameters.dies() as usize],
            channel_free_ns: vec![0; parameters.channels as usize],
            read_ns: parameters.read_ns,
            erase_ns: parameters.erase_ns,
            suspend_ns: parameters.suspend_ns,
            channel_bytes_per_s: parameters.channel_bytes_per_s,
        }
    }

    /// Number of dies.
    pub fn dies(&self) -> usize {
        self.dies.len()
    }

    /// Reads `bytes` of `page` on `die`, from `now_ns` on; `extra_ns` is spent
    /// on the die for further tries.
    pub fn read(
        &mut self,
        now_ns: u64,
        die: usize,
        page: u64,
        bytes: u64,
        extra_ns: u64,
    ) -> FlashRead {
        let channel = die % self.channel_free_ns.len();
        let state = &mut self.dies[die];
        let mut result = FlashRead::default();
        let mut at_ns = now_ns;
        if state.register != page + 1 || extra_ns > 0 {
            let sense_ns = self.read_ns + extra_ns;
            let free_ns = at_ns.max(state.reads_until_ns);
            result.queue_ns = free_ns - at_ns;
            at_ns = free_ns;
            if state.programs_until_ns > at_ns {
                // A read goes before the programs that wait for the die, but
                // the one that is under way must end, or be suspended.
                let left_ns = state.programs_until_ns - at_ns;
                let current_ns = (left_ns - 1) % state.program_ns.max(1) + 1;
                let wait_ns = self
                    .suspend_ns
                    .map_or(current_ns, |suspend_ns| suspend_ns.min(current_ns));
                if wait_ns < left_ns {
                    state.programs_until_ns += sense_ns;
                }
                result.program_wait_ns = wait_ns;
                at_ns += wait_ns;
            }
            at_ns += sense_ns;
            result.transfer_ns = sense_ns;
            state.reads_until_ns = at_ns;
            state.register = page + 1;
        }
        let (start_ns, end_ns) = self.use_channel(channel, now_ns, at_ns, bytes);
        result.queue_ns += start_ns - at_ns;
        result.transfer_ns += end_ns - start_ns;
        result.done_ns = end_ns;
        result
    }

    /// Programs a page of `bytes` on `die`, whose data is there at `now_ns`.
    /// Gives the end.
    pub fn program(&mut self, now_ns: u64, die: usize, bytes: u64, program_ns: u64) -> u64 {
        let channel = die % self.channel_free_ns.len();
        // The die's second register takes data in while the first is programmed.
        let (_, loaded_ns) = self.use_channel(channel, now_ns, now_ns, bytes);
        let state = &mut self.dies[die];
        let start_ns = loaded_ns
            .max(state.programs_until_ns)
            .max(state.reads_until_ns);
        state.programs_until_ns = start_ns + program_ns;
        state.program_ns = program_ns;
        state.register = 0;
        state.programs_until_ns
    }

    /// Erases a block on every die. Gives the end of the last one.
    pub fn erase_all(&mut self, now_ns: u64) -> u64 {
        let mut last_ns = now_ns;
        for die in &mut self.dies {
            let start_ns = now_ns.max(die.programs_until_ns).max(die.reads_until_ns);
            die.programs_until_ns = start_ns + self.erase_ns;
            die.program_ns = self.erase_ns;
            die.register = 0;
            last_ns = last_ns.max(die.programs_until_ns);
        }
        last_ns
    }

    /// When the last die has done all it has agreed to, ns.
    pub fn idle_ns(&self) -> u64 {
        let busy = |die: &Die| die.programs_until_ns.max(die.reads_until_ns);
        self.dies.iter().map(busy).max().unwrap_or(0)
    }

    /// Moves `bytes` over a channel, not before `at_ns`; asked for at `now_ns`.
    ///
    /// The channel serves whoever is ready, so a transfer that is agreed on now
    /// and happens later leaves the time until then to others: what is kept is
    /// the work the channel has agreed to, not the end of its last transfer.
    fn use_channel(&mut self, channel: usize, now_ns: u64, at_ns: u64, bytes: u64) -> (u64, u64) {
        let busy_ns = fixed::bytes_to_ns(bytes, self.channel_bytes_per_s);
        let work_until_ns = &mut self.channel_free_ns[channel];
        let start_ns = at_ns.max(*work_until_ns);
        *work_until_ns = now_ns.max(*work_until_ns) + busy_ns;
        (start_ns, start_ns + busy_ns)
    }
}
