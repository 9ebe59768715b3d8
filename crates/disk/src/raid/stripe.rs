//! What a write to a stripe with parity costs.

use super::layout::{Layout, Piece};
use crate::device::Extent;

/// The I/O of a write to one stripe: first these reads, then these writes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StripeWrite {
    /// Old data, old parity, or the data that is not overwritten.
    pub reads: Vec<Piece>,
    /// New data and new parity.
    pub writes: Vec<Piece>,
}

/// Plans the write of `range`, which lies within `stripe`.
///
/// The parity of the part of the chunks that is written can be had in two ways:
/// by reading what is overwritten and the old parity (read-modify-write), or by
/// reading what is not overwritten (reconstruct-write). The one with fewer
/// reads is taken (Linux, drivers/md/raid5.c, `handle_stripe_dirtying`), and a
/// stripe written whole needs none.
pub fn plan(layout: &Layout, stripe: u64, range: Extent) -> StripeWrite {
    let base = stripe * layout.stripe_bytes();
    let row = stripe * layout.chunk;
    let data = layout.data_members();
    // What is written of each data chunk, as bytes of the chunk.
    let written: Vec<Option<Extent>> = (0..data as u64)
        .map(|index| {
            let first = base + index * layout.chunk;
            let start = range.start.max(first);
            let end = range.end.min(first + layout.chunk);
            (start < end).then(|| Extent {
                start: start - first,
                end: end - first,
            })
        })
        .collect();
    let touched = || written.iter().flatten();
    // The parity of this part of the chunks changes.
    let low = touched().map(|extent| extent.start).min().unwrap_or(0);
    let high = touched().map(|extent| extent.end).max().unwrap_or(0);
    let piece = |member: usize, start: u64, end: u64| Piece {
        member,
        extent: Extent {
            start: row + start,
            end: row + end,
        },
    };
    let parity: Vec<Piece> = layout
        .parity_members(stripe)
        .map(|member| piece(member, low, high))
        .collect();
    let mut writes = Vec::with_capacity(data + parity.len());
    let mut modify = Vec::new();
    let mut reconstruct = Vec::new();
    for (index, extent) in written.iter().enumerate() {
        let member = layout.data_member(stripe, index);
        match extent {
            Some(extent) => {
                let new = piece(member, extent.start, extent.end);
                writes.push(new);
                modify.push(new);
                if low < extent.start {
                    reconstruct.push(piece(member, low, extent.start));
                }
                if extent.end < high {
                    reconstruct.push(piece(member, extent.end, high));
                }
            }
            None => reconstruct.push(piece(member, low, high)),
        }
    }
    modify.extend(parity.iter().copied());
    writes.extend(parity);
    let reads = if modify.len() < reconstruct.len() {
        modify
    } else {
        reconstruct
    };
    StripeWrite { reads, writes }
}

#[cfg(test)]
mod tests {
    use super::super::layout::Level;
    use super::*;

    fn io_count(level: Level, members: usize, start: u64, len: u64) -> (usize, usize) {
        let layout = Layout {
            level,
            members,
            chunk: 64,
        };
        let stripe = start / layout.stripe_bytes();
        let plan = plan(
            &layout,
            stripe,
            Extent {
                start,
                end: start + len,
            },
        );
        (plan.reads.len(), plan.writes.len())
    }

    #[test]
    fn a_small_write_costs_four_on_raid_5_and_six_on_raid_6() {
        assert_eq!(io_count(Level::Parity, 6, 1000, 8), (2, 2));
        assert_eq!(io_count(Level::DoubleParity, 8, 1000, 8), (3, 3));
    }

    #[test]
    fn a_narrow_array_reads_the_rest_instead_of_the_old() {
        assert_eq!(io_count(Level::Parity, 3, 0, 8), (1, 2));
        assert_eq!(io_count(Level::DoubleParity, 4, 0, 8), (1, 3));
    }

    #[test]
    fn a_whole_stripe_reads_nothing() {
        assert_eq!(io_count(Level::Parity, 5, 4 * 64 * 3, 4 * 64), (0, 5));
        assert_eq!(io_count(Level::DoubleParity, 8, 6 * 64 * 5, 6 * 64), (0, 8));
    }

    #[test]
    fn most_of_a_stripe_reads_only_the_chunks_that_stay() {
        assert_eq!(io_count(Level::DoubleParity, 8, 0, 5 * 64), (1, 7));
    }
}
