//! A member in real time.

use crate::member::{Ending, Member, Next};
use crate::settings::NAP_NS;
use crate::time::Clock;
use crate::transport::Transport;
use crate::work::{Schedule, Work};
use std::time::Duration;

/// Polls a member until its group has ended: each millisecond, and without a pause while clocks
/// are compared. `look` is called after each poll, for what a person sees of it.
///
/// The thread that calls this is the only one that touches the transport.
pub fn drive<W: Work, S: Schedule>(
    member: &mut Member<W, S>,
    transport: &mut dyn Transport,
    clock: &dyn Clock,
    mut look: impl FnMut(&Member<W, S>),
) -> Ending {
    loop {
        let next = member.poll(transport, clock);
        look(member);
        match next {
            Next::Ended(ending) => return ending,
            // Where there are more ranks than processors, the other end of the edge has to run.
            Next::Wait { spin: true, .. } => std::thread::yield_now(),
            Next::Wait { until_ns, .. } => {
                // No transport wakes this thread, so it looks for frames itself.
                let left = until_ns.saturating_sub(clock.now_ns()).clamp(0, NAP_NS);
                std::thread::sleep(Duration::from_nanos(left.unsigned_abs()));
            }
        }
    }
}
