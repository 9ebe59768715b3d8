//! A stack that never grows: its memory is taken once, before the measurement.

/// Up to a fixed number of items, in the order in which they were pushed.
///
/// Unlike a `Vec` it has no path that allocates, so the measuring loop can keep
/// its length in a register.
#[derive(Debug, Clone)]
pub struct Fixed<T> {
    items: Box<[T]>,
    length: usize,
}

impl<T: Copy + Default> Fixed<T> {
    /// Room for `capacity` items.
    pub fn new(capacity: usize) -> Self {
        Self {
            items: vec![T::default(); capacity].into_boxed_slice(),
            length: 0,
        }
    }

    /// Adds an item.
    ///
    /// # Panics
    /// When it is full: more operations in flight than slots.
    #[inline]
    pub fn push(&mut self, item: T) {
        self.items[self.length] = item;
        self.length += 1;
    }

    /// Takes the item that was pushed last.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.length = self.length.checked_sub(1)?;
        Some(self.items[self.length])
    }

    /// Forgets the first `count` items, and moves the rest to the front.
    #[inline]
    pub fn drop_front(&mut self, count: usize) {
        if count == self.length {
            self.length = 0;
        } else {
            self.items.copy_within(count..self.length, 0);
            self.length -= count;
        }
    }

    /// Forgets all items.
    #[inline]
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// The items.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.items[..self.length]
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// How many there can be.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.items.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_order_and_gives_back_the_last() {
        let mut fixed = Fixed::new(3);
        assert_eq!(fixed.pop(), None);
        for item in 1..=3 {
            fixed.push(item);
        }
        fixed.drop_front(1);
        assert_eq!(fixed.as_slice(), [2, 3]);
        assert_eq!(fixed.pop(), Some(3));
        fixed.drop_front(1);
        assert!(fixed.is_empty());
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn more_than_its_capacity_is_a_bug() {
        let mut fixed = Fixed::new(1);
        fixed.push(1);
        fixed.push(2);
    }
}
