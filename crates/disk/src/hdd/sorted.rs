//! A map from numbers to slots, in order of the numbers.
//!
//! Pieces of at most [`PIECE_MAX`] entries lie in order, and the first number of
//! each once more beside them. Finding one is two searches in memory that lies
//! together, and putting one in moves half a piece. `BTreeMap::range` goes down the
//! tree for either end, which was a quarter of the time of a cached write.

/// Entries of a piece; one more cuts it in two.
const PIECE_MAX: usize = 64;

/// The map.
#[derive(Debug, Clone, Default)]
pub(super) struct Sorted {
    /// The first number of each piece.
    firsts: Vec<u64>,
    /// None is empty.
    pieces: Vec<Vec<(u64, u32)>>,
}

impl Sorted {
    /// The piece that `number` is in if it is in any.
    #[inline]
    fn piece_of(&self, number: u64) -> usize {
        let behind = self.firsts.partition_point(|first| *first <= number);
        behind.saturating_sub(1)
    }

    /// The last entry that is at most `number`.
    #[inline]
    pub(super) fn at_most(&self, number: u64) -> Option<(u64, u32)> {
        let piece = self.pieces.get(self.piece_of(number))?;
        let behind = piece.partition_point(|(known, _)| *known <= number);
        Some(piece[behind.checked_sub(1)?])
    }

    /// The slot of `number`.
    #[inline]
    pub(super) fn get(&self, number: u64) -> Option<u32> {
        let (known, slot) = self.at_most(number)?;
        (known == number).then_some(slot)
    }

    /// Adds a number that is not there.
    pub(super) fn insert(&mut self, number: u64, slot: u32) {
        if self.pieces.is_empty() {
            self.firsts.push(number);
            self.pieces.push(vec![(number, slot)]);
            return;
        }
        let at = self.piece_of(number);
        let piece = &mut self.pieces[at];
        let place = piece.partition_point(|(known, _)| *known < number);
        debug_assert!(piece.get(place).is_none_or(|(known, _)| *known > number));
        piece.insert(place, (number, slot));
        if piece.len() > PIECE_MAX {
            let upper = piece.split_off(PIECE_MAX / 2);
            self.firsts.insert(at + 1, upper[0].0);
            self.pieces.insert(at + 1, upper);
        }
        self.firsts[at] = self.pieces[at][0].0;
    }

    /// Takes a number away, if it is there.
    pub(super) fn remove(&mut self, number: u64) {
        let at = self.piece_of(number);
        let Some(piece) = self.pieces.get_mut(at) else {
            return;
        };
        let Ok(place) = piece.binary_search_by_key(&number, |(known, _)| *known) else {
            return;
        };
        piece.remove(place);
        if let Some((first, _)) = piece.first() {
            self.firsts[at] = *first;
        } else {
            self.pieces.remove(at);
            self.firsts.remove(at);
        }
    }

    /// The entries from `number` on, in order.
    pub(super) fn from(&self, number: u64) -> impl Iterator<Item = (u64, u32)> + '_ {
        let at = self.piece_of(number);
        let place = self.pieces.get(at).map_or(0, |piece| {
            piece.partition_point(|(known, _)| *known < number)
        });
        let pieces = self.pieces.iter().skip(at);
        pieces.flatten().copied().skip(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_what_a_tree_is(
            changes in prop::collection::vec((0_u64..500, any::<bool>()), 1..900),
            asked in 0_u64..500,
        ) {
            let mut sorted = Sorted::default();
            let mut tree = BTreeMap::new();
            for (index, (number, is_there)) in changes.into_iter().enumerate() {
                let slot = u32::try_from(index).unwrap();
                if is_there && !tree.contains_key(&number) {
                    sorted.insert(number, slot);
                    tree.insert(number, slot);
                } else {
                    sorted.remove(number);
                    tree.remove(&number);
                }
            }
            let entries = |(number, slot): (&u64, &u32)| (*number, *slot);
            let whole: Vec<(u64, u32)> = tree.iter().map(entries).collect();
            prop_assert_eq!(sorted.from(0).collect::<Vec<_>>(), whole);
            let rest: Vec<(u64, u32)> = tree.range(asked..).map(entries).collect();
            prop_assert_eq!(sorted.from(asked).collect::<Vec<_>>(), rest);
            prop_assert_eq!(sorted.at_most(asked), tree.range(..=asked).next_back().map(entries));
            prop_assert_eq!(sorted.get(asked), tree.get(&asked).copied());
            prop_assert!(sorted.pieces.iter().all(|piece| (1..=PIECE_MAX).contains(&piece.len())));
        }
    }
}
