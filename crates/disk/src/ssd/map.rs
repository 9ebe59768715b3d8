//! From logical units to places in the flash: 4 bytes for each unit that was
//! written in this simulation, in pieces that are made when first written.

/// Units per piece of the map: 256 KiB of memory for 256 MiB of 4 KiB units.
const PIECE: usize = 1 << 16;

/// Never written in this simulation.
const UNTOUCHED: u32 = u32::MAX;
/// Trimmed.
const TRIMMED: u32 = u32::MAX - 1;

/// Where a logical unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// As it was at the start: somewhere, if the drive began full.
    Untouched,
    /// Nowhere: it holds no data.
    Trimmed,
    /// At this physical unit.
    At(u32),
}

/// The map of a drive.
#[derive(Debug, Clone)]
pub struct Map {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
enum Piece {
    /// All units alike.
    Uniform(u32),
    Each(Box<[u32]>),
}

impl Map {
    /// A map of `units` untouched units.
    pub fn new(units: u64) -> Self {
        let pieces = units.div_ceil(PIECE as u64) as usize;
        Self {
            pieces: vec![Piece::Uniform(UNTOUCHED); pieces],
        }
    }

    /// Where `unit` is.
    #[inline]
    pub fn get(&self, unit: u64) -> Location {
        let (piece, index) = split(unit);
        let value = match &self.pieces[piece] {
            Piece::Uniform(value) => *value,
            Piece::Each(values) => values[index],
        };
        match value {
            UNTOUCHED => Location::Untouched,
            TRIMMED => Location::Trimmed,
            physical => Location::At(physical),
        }
    }

    /// `unit` is at `physical` from now on.
    #[inline]
    pub fn put(&mut self, unit: u64, physical: u32) {
        self.set(unit, physical);
    }

    /// `unit` holds no data from now on.
    pub fn trim(&mut self, unit: u64) {
        self.set(unit, TRIMMED);
    }

    /// Trims the whole piece of the map that begins at `unit`, if it lies
    /// before `end` and no unit of it was touched; gives how many units.
    pub fn trim_untouched_piece(&mut self, unit: u64, end: u64) -> Option<u64> {
        let (piece, index) = split(unit);
        let whole = index == 0 && end - unit >= PIECE as u64;
        if whole && matches!(self.pieces[piece], Piece::Uniform(UNTOUCHED)) {
            self.pieces[piece] = Piece::Uniform(TRIMMED);
            Some(PIECE as u64)
        } else {
            None
        }
    }

    fn set(&mut self, unit: u64, new: u32) {
        let (piece, index) = split(unit);
        let piece = &mut self.pieces[piece];
        if let Piece::Uniform(value) = piece {
            if *value == new {
                return;
            }
            *piece = Piece::Each(vec![*value; PIECE].into_boxed_slice());
        }
        if let Piece::Each(values) = piece {
            values[index] = new;
        }
    }

    /// Memory of the map, bytes.
    pub fn bytes(&self) -> usize {
        let each = |piece: &Piece| match piece {
            Piece::Uniform(_) => 0,
            Piece::Each(values) => values.len() * size_of::<u32>(),
        };
        self.pieces.len() * size_of::<Piece>() + self.pieces.iter().map(each).sum::<usize>()
    }
}

fn split(unit: u64) -> (usize, usize) {
    let unit = unit as usize;
    (unit / PIECE, unit % PIECE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_untouched_map_of_a_terabyte_takes_no_memory_to_speak_of() {
        let mut map = Map::new(1 << 28);
        assert!(map.bytes() < 200_000, "{}", map.bytes());
        map.put(123_456_789, 7);
        assert_eq!(map.get(123_456_789), Location::At(7));
        assert_eq!(map.get(123_456_788), Location::Untouched);
        map.trim(123_456_789);
        assert_eq!(map.get(123_456_789), Location::Trimmed);
    }

    #[test]
    fn a_map_written_everywhere_takes_a_thousandth_of_the_capacity() {
        let units = 1 << 20;
        let mut map = Map::new(units);
        for unit in 0..units {
            map.put(unit, unit as u32);
        }
        let capacity = units * 4096;
        assert!(map.bytes() as u64 * 1000 < capacity * 11 / 10);
    }
}
