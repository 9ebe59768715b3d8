//! Where the bytes of an array lie on its members.

use crate::device::Extent;

/// RAID level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Striping, no redundancy (RAID-0).
    Stripe,
    /// Every member holds everything (RAID-1).
    Mirror,
    /// A stripe over pairs of mirrors (RAID-10, two near copies in md's words).
    StripedMirrors,
    /// One parity chunk per stripe (RAID-5).
    Parity,
    /// Two parity chunks per stripe (RAID-6).
    DoubleParity,
}

impl Level {
    /// Parity chunks per stripe.
    pub fn parities(self) -> usize {
        match self {
            Self::Stripe | Self::Mirror | Self::StripedMirrors => 0,
            Self::Parity => 1,
            Self::DoubleParity => 2,
        }
    }

    /// Fewest members.
    pub fn members_min(self) -> usize {
        match self {
            Self::Stripe | Self::Mirror => 2,
            Self::Parity => 3,
            Self::StripedMirrors | Self::DoubleParity => 4,
        }
    }

    /// Whether it needs an even number of members.
    pub fn is_paired(self) -> bool {
        self == Self::StripedMirrors
    }

    /// The level's number.
    pub fn number(self) -> u32 {
        match self {
            Self::Stripe => 0,
            Self::Mirror => 1,
            Self::StripedMirrors => 10,
            Self::Parity => 5,
            Self::DoubleParity => 6,
        }
    }
}

/// A piece of a request on one member, or, on a mirror, on each member of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The member, or the first of the members that hold a copy.
    pub member: usize,
    /// Bytes of that member.
    pub extent: Extent,
}

/// The map of an array. Parity rotates as in Linux md's default layout,
/// left-symmetric (Linux, drivers/md/raid5.c, `raid5_compute_sector`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// RAID level.
    pub level: Level,
    /// Number of members.
    pub members: usize,
    /// Bytes in a row on one member.
    pub chunk: u64,
}

impl Layout {
    /// Members that hold data of a stripe, copies and parity not counted.
    pub fn data_members(&self) -> usize {
        match self.level {
            Level::Stripe => self.members,
            Level::Mirror => 1,
            Level::StripedMirrors => self.members / 2,
            Level::Parity | Level::DoubleParity => self.members - self.level.parities(),
        }
    }

    /// Copies of each byte.
    pub fn copies(&self) -> usize {
        match self.level {
            Level::Mirror => self.members,
            Level::StripedMirrors => 2,
            Level::Stripe | Level::Parity | Level::DoubleParity => 1,
        }
    }

    /// Size of the array over members of `member_capacity` bytes.
    pub fn capacity(&self, member_capacity: u64) -> u64 {
        if self.level == Level::Mirror {
            return member_capacity;
        }
        member_capacity / self.chunk * self.chunk * self.data_members() as u64
    }

    /// Data of one stripe, bytes.
    pub fn stripe_bytes(&self) -> u64 {
        self.chunk * self.data_members() as u64
    }

    /// The member that holds data chunk `index` of `stripe`.
    pub fn data_member(&self, stripe: u64, index: usize) -> usize {
        match self.level {
            Level::Stripe => index,
            Level::Mirror => 0,
            Level::StripedMirrors => 2 * index,
            Level::Parity | Level::DoubleParity => {
                (self.first_parity(stripe) + self.level.parities() + index) % self.members
            }
        }
    }

    /// The members that hold the parity of `stripe`: P, then Q.
    pub fn parity_members(&self, stripe: u64) -> impl Iterator<Item = usize> + use<> {
        let first = self.first_parity(stripe);
        let members = self.members;
        (0..self.level.parities()).map(move |index| (first + index) % members)
    }

    fn first_parity(&self, stripe: u64) -> usize {
        self.members - 1 - (stripe % self.members as u64) as usize
    }

    /// Cuts a range into the pieces that the members hold, pieces that adjoin
    /// on a member joined.
    pub fn pieces(&self, range: Extent) -> Vec<Piece> {
        if self.level == Level::Mirror {
            return vec![Piece {
                member: 0,
                extent: range,
            }];
        }
        let mut pieces: Vec<Piece> = Vec::new();
        let mut last: Vec<Option<usize>> = vec![None; self.members];
        let mut at = range.start;
        while at < range.end {
            let chunk = at / self.chunk;
            let data = self.data_members() as u64;
            let stripe = chunk / data;
            let member = self.data_member(stripe, (chunk % data) as usize);
            let end = ((chunk + 1) * self.chunk).min(range.end);
            let start = stripe * self.chunk + at % self.chunk;
            let extent = Extent {
                start,
                end: start + (end - at),
            };
            match last[member].map(|index| &mut pieces[index]) {
                Some(piece) if piece.extent.end == extent.start => piece.extent.end = extent.end,
                _ => {
                    last[member] = Some(pieces.len());
                    pieces.push(Piece { member, extent });
                }
            }
            at = end;
        }
        pieces
    }
}

impl Layout {
    /// The bytes of the array that `extent` of `member` holds; parity holds none.
    pub fn array_extents(&self, member: usize, extent: Extent) -> Vec<Extent> {
        if self.level == Level::Mirror {
            return vec![extent];
        }
        let mut extents = Vec::new();
        let mut at = extent.start;
        while at < extent.end {
            let stripe = at / self.chunk;
            let end = ((stripe + 1) * self.chunk).min(extent.end);
            let copies = self.copies();
            let holds = |index: &usize| {
                let first = self.data_member(stripe, *index);
                (first..first + copies).contains(&member)
            };
            if let Some(index) = (0..self.data_members()).find(holds) {
                let start =
                    stripe * self.stripe_bytes() + index as u64 * self.chunk + at % self.chunk;
                extents.push(Extent {
                    start,
                    end: start + (end - at),
                });
            }
            at = end;
        }
        extents
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn raid_5_of_four_members_rotates_its_parity_to_the_left() {
        let layout = Layout {
            level: Level::Parity,
            members: 4,
            chunk: 10,
        };
        let rows: Vec<(Vec<usize>, Vec<usize>)> = (0..4)
            .map(|stripe| {
                let data = (0..3).map(|i| layout.data_member(stripe, i)).collect();
                (data, layout.parity_members(stripe).collect())
            })
            .collect();
        // As printed in md's documentation of left-symmetric.
        assert_eq!(rows[0], (vec![0, 1, 2], vec![3]));
        assert_eq!(rows[1], (vec![3, 0, 1], vec![2]));
        assert_eq!(rows[2], (vec![2, 3, 0], vec![1]));
        assert_eq!(rows[3], (vec![1, 2, 3], vec![0]));
    }

    #[test]
    fn pieces_that_adjoin_on_a_member_are_one() {
        let layout = Layout {
            level: Level::Stripe,
            members: 2,
            chunk: 10,
        };
        let pieces = layout.pieces(Extent { start: 5, end: 45 });
        let piece = |member, start, end| Piece {
            member,
            extent: Extent { start, end },
        };
        assert_eq!(pieces, [piece(0, 5, 25), piece(1, 0, 20)]);
    }

    fn levels() -> impl Strategy<Value = (Level, usize)> {
        prop_oneof![
            (2_usize..9).prop_map(|n| (Level::Stripe, n)),
            (2_usize..5).prop_map(|n| (Level::Mirror, n)),
            (2_usize..5).prop_map(|n| (Level::StripedMirrors, 2 * n)),
            (3_usize..9).prop_map(|n| (Level::Parity, n)),
            (4_usize..9).prop_map(|n| (Level::DoubleParity, n)),
        ]
    }

    proptest! {
        #[test]
        fn each_byte_has_one_place_and_parity_has_its_own((level, members) in levels()) {
            let layout = Layout { level, members, chunk: 4 };
            let capacity = layout.capacity(40);
            let mut taken = BTreeSet::new();
            for byte in 0..capacity {
                let pieces = layout.pieces(Extent { start: byte, end: byte + 1 });
                prop_assert_eq!(pieces.len(), 1);
                let piece = pieces[0];
                prop_assert!(piece.extent.end <= 40);
                prop_assert!(taken.insert((piece.member, piece.extent.start)));
            }
            for stripe in 0..10 {
                for member in layout.parity_members(stripe) {
                    for byte in stripe * 4..stripe * 4 + 4 {
                        prop_assert!(taken.insert((member, byte)));
                    }
                }
            }
            let copies = layout.copies() as u64;
            prop_assert_eq!(taken.len() as u64 * copies, 40 * members as u64);
        }

        #[test]
        fn a_piece_leads_back_to_its_bytes(
            (level, members) in levels(),
            start in 0_u64..300,
        ) {
            let layout = Layout { level, members, chunk: 4 };
            let range = Extent { start, end: start + 1 };
            for piece in layout.pieces(range) {
                for member in piece.member..piece.member + layout.copies() {
                    prop_assert_eq!(layout.array_extents(member, piece.extent), vec![range]);
                }
            }
        }

        #[test]
        fn pieces_hold_the_range_in_order_and_whole(
            (level, members) in levels(),
            start in 0_u64..300,
            len in 1_u64..200,
        ) {
            let layout = Layout { level, members, chunk: 4 };
            let range = Extent { start, end: start + len };
            let pieces = layout.pieces(range);
            let total: u64 = pieces.iter().map(|piece| piece.extent.len()).sum();
            prop_assert_eq!(total, len);
        }
    }
}
