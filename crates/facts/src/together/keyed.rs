//! What has the same key, found without looking through all others: a run may come from anywhere
//! and have as many trials as a file can hold.

use std::collections::HashMap;
use std::hash::Hash;

/// The first value of each key.
pub(super) struct Firsts<K, V>(HashMap<K, V>);

impl<K: Eq + Hash, V> Firsts<K, V> {
    pub(super) fn of(all: impl Iterator<Item = (K, V)>) -> Self {
        let mut firsts = HashMap::new();
        for (key, value) in all {
            firsts.entry(key).or_insert(value);
        }
        Self(firsts)
    }

    /// Each once.
    pub(super) fn take(&mut self, key: &K) -> Option<V> {
        self.0.remove(key)
    }
}

/// The places at which each key stands, in the order in which keys first come.
pub(super) fn places_by<K: Copy + Eq + Hash>(
    keys: impl Iterator<Item = K>,
) -> Vec<(K, Vec<usize>)> {
    let mut found: Vec<(K, Vec<usize>)> = Vec::new();
    let mut known: HashMap<K, usize> = HashMap::new();
    for (place, key) in keys.enumerate() {
        let number = *known.entry(key).or_insert(found.len());
        match found.get_mut(number) {
            Some((_, places)) => places.push(place),
            None => found.push((key, vec![place])),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::hash::Hasher;

    const KEYS: u32 = 20_000;

    /// A key that counts how often it is compared.
    #[derive(Clone, Copy)]
    struct Counted<'a> {
        number: u32,
        compared: &'a Cell<u64>,
    }

    impl PartialEq for Counted<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.compared.set(self.compared.get() + 1);
            self.number == other.number
        }
    }

    impl Eq for Counted<'_> {}

    impl Hash for Counted<'_> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.number.hash(state);
        }
    }

    fn keys(compared: &Cell<u64>) -> impl Iterator<Item = Counted<'_>> {
        (0..KEYS).map(move |number| Counted { number, compared })
    }

    /// A table compares keys whose hashes have a part in common, which few do; who looks through
    /// all compares each with 10 000 others.
    #[track_caller]
    fn assert_looked_up(compared: &Cell<u64>, lookups: u32) {
        let compared = compared.get();
        assert!(compared < 2 * u64::from(lookups), "{compared} comparisons");
    }

    #[test]
    fn what_a_file_says_was_agreed_on_is_looked_up() {
        let compared = Cell::new(0);
        let mut firsts = Firsts::of(keys(&compared).map(|key| (key, key.number)));
        let absent = keys(&compared).map(|key| Counted {
            number: KEYS + key.number,
            ..key
        });
        let asked = keys(&compared).chain(absent);
        let found = asked.filter(|key| firsts.take(key) == Some(key.number));
        assert_eq!(found.count(), KEYS as usize);
        assert_looked_up(&compared, 3 * KEYS);
    }

    #[test]
    fn as_many_stages_as_a_file_can_hold_are_told_apart() {
        let compared = Cell::new(0);
        let twice = keys(&compared).chain(keys(&compared));
        let found = places_by(twice);
        assert_looked_up(&compared, 2 * KEYS);
        assert_eq!(found.len(), KEYS as usize);
        let second = KEYS as usize + 7;
        assert_eq!(found[7].1, [7, second]);
    }

    #[test]
    fn of_several_under_one_key_the_first_is_taken_and_once() {
        let mut firsts = Firsts::of([("a", 1), ("b", 2), ("a", 3)].into_iter());
        assert_eq!((firsts.take(&"a"), firsts.take(&"a")), (Some(1), None));
    }
}
