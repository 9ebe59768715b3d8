//! A column as spans of rows that have one value.
//!
//! Most columns of a fleet say the same in all trials of a run, and files have them as numbers of
//! entries of a dictionary, so often each. So a page is taken apart to these, and no value is made for
//! each row: the encoding `RLE_DICTIONARY` of the format's `Encodings.md`, a hybrid of runs and packed bits.
//!
//! Pages of another encoding are nothing that is read here: [`of_pages`] tells so with `None`, and the
//! crate `parquet` reads them, or says what is wrong with them.

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::data_type::ByteArray;
use std::ops::Range;

/// The values of a column, by spans of rows.
#[derive(Debug, PartialEq)]
pub(super) struct Column<T> {
    /// The entries that spans have numbers of. Two of them may be equal.
    pub(super) entries: Vec<T>,
    /// In the order of the rows, without a gap.
    pub(super) spans: Vec<Span>,
}

/// Rows with one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// Which entry; none where there is no value.
    pub(super) entry: Option<u32>,
    /// The first row behind it.
    pub(super) end: u32,
}

impl<T> Default for Column<T> {
    /// One without a row.
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            spans: Vec::new(),
        }
    }
}

impl Column<ByteArray> {
    /// The rows that have this text.
    pub(super) fn rows_with(&self, text: &[u8]) -> Vec<Range<u32>> {
        let is_it: Vec<bool> = self.entries.iter().map(|of| of.data() == text).collect();
        let mut first = 0;
        let mut rows: Vec<Range<u32>> = Vec::new();
        for span in &self.spans {
            if span.entry.is_some_and(|entry| is_it[entry as usize]) {
                push_rows(&mut rows, first..span.end);
            }
            first = span.end;
        }
        rows
    }
}

/// Adds rows to others that lie before them, as one where they touch.
pub(super) fn push_rows(all: &mut Vec<Range<u32>>, rows: Range<u32>) {
    match all.last_mut() {
        Some(last) if last.end == rows.start => last.end = rows.end,
        _ => all.push(rows),
    }
}

/// Whether two rows have the same in all of these columns.
pub(super) fn are_same<const N: usize>(
    columns: &[Column<ByteArray>; N],
    a: [Option<u32>; N],
    b: [Option<u32>; N],
) -> bool {
    let pairs = a.into_iter().zip(b);
    let mut of_columns = columns.iter().zip(pairs);
    of_columns.all(|(column, (a, b))| column.is_same(a, b))
}

impl<T: PartialEq> Column<T> {
    /// Values as they come, row by row.
    pub(super) fn of_values(values: Vec<Option<T>>) -> Self {
        let mut built = Built::default();
        let mut entries: Vec<T> = Vec::new();
        for value in values {
            match value {
                None => built.push(None, 1),
                Some(value) => {
                    if entries.last() != Some(&value) {
                        entries.push(value);
                    }
                    // A row group has as many rows as a `u32` can tell.
                    built.push(Some(entries.len() as u32 - 1), 1);
                }
            }
        }
        Self {
            entries,
            spans: built.spans,
        }
    }

    /// The value that has this number.
    pub(super) fn value(&self, entry: Option<u32>) -> Option<&T> {
        entry.map(|entry| &self.entries[entry as usize])
    }

    /// Whether these two numbers are of one value.
    pub(super) fn is_same(&self, a: Option<u32>, b: Option<u32>) -> bool {
        a == b || self.value(a) == self.value(b)
    }
}

/// Spans that are put together in the order of their rows.
#[derive(Default)]
struct Built {
    spans: Vec<Span>,
    rows: u32,
}

impl Built {
    fn push(&mut self, entry: Option<u32>, rows: u32) {
        self.rows += rows;
        match self.spans.last_mut() {
            Some(last) if last.entry == entry => last.end = self.rows,
            _ => self.spans.push(Span {
                entry,
                end: self.rows,
            }),
        }
    }
}

/// A type whose values stand in a dictionary one behind the other, as `PLAIN` has them.
pub(super) trait Plain: Sized {
    /// So many values; `None` where there are fewer.
    fn values(page: &ByteArray, number: usize) -> Option<Vec<Self>>;
}

impl Plain for ByteArray {
    fn values(page: &ByteArray, number: usize) -> Option<Vec<Self>> {
        let bytes = page.data();
        let mut values = Vec::new();
        let mut at = 0;
        for _ in 0..number {
            let length = bytes.get(at..at + 4)?.try_into().ok()?;
            let length = u32::from_le_bytes(length) as usize;
            at += 4;
            bytes.get(at..at.checked_add(length)?)?;
            values.push(page.slice(at, length));
            at += length;
        }
        Some(values)
    }
}

impl Plain for i64 {
    fn values(page: &ByteArray, number: usize) -> Option<Vec<Self>> {
        let (all, _) = page.data().as_chunks::<8>();
        let of = all.get(..number)?.iter();
        Some(of.map(|bytes| Self::from_le_bytes(*bytes)).collect())
    }
}

/// A column chunk of so many rows; `nullable` where a level says of each row whether it has a value.
/// `None` where it is not all of a dictionary, or is not what it should be.
pub(super) fn of_pages<T: Plain>(
    pages: &mut dyn PageReader,
    nullable: bool,
    rows: usize,
) -> Option<Column<T>> {
    let rows = u32::try_from(rows).ok()?;
    let mut entries: Option<Vec<T>> = None;
    let mut built = Built::default();
    while let Some(page) = pages.get_next_page().ok()? {
        match page {
            Page::DictionaryPage {
                buf, num_values, ..
            } if entries.is_none() => {
                let page = ByteArray::from(buf);
                entries = Some(T::values(&page, usize::try_from(num_values).ok()?)?);
            }
            Page::DataPage {
                buf,
                num_values,
                encoding: Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY,
                def_level_encoding: Encoding::RLE,
                ..
            } if num_values <= rows - built.rows => {
                let (levels, of) = if nullable {
                    let (length, rest) = buf.split_first_chunk::<4>()?;
                    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
                    rest.split_at_checked(length)?
                } else {
                    (&[][..], &buf[..])
                };
                built.page(nullable.then_some(levels), of, num_values)?;
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding: Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY,
                def_levels_byte_len,
                rep_levels_byte_len: 0,
                ..
            } if num_values <= rows - built.rows => {
                let length = usize::try_from(def_levels_byte_len).ok()?;
                let (levels, of) = buf.split_at_checked(length)?;
                built.page(nullable.then_some(levels), of, num_values)?;
            }
            _ => return None,
        }
    }
    let entries = entries?;
    let known = |span: &Span| span.entry.is_none_or(|at| (at as usize) < entries.len());
    if built.rows != rows || !built.spans.iter().all(known) {
        return None;
    }
    Some(Column {
        entries,
        spans: built.spans,
    })
}

impl Built {
    /// The rows of a page: of which there is a value, and the numbers of the entries of those.
    fn page(&mut self, levels: Option<&[u8]>, of: &[u8], rows: u32) -> Option<()> {
        let (width, of) = match of.split_first() {
            Some((width, of)) if *width <= 32 => (*width, of),
            // A page on which no row has a value may end here.
            None => (0, of),
            Some(_) => return None,
        };
        let mut of = Hybrid::new(of, width);
        let Some(levels) = levels else {
            return self.present(&mut of, rows);
        };
        let mut levels = Hybrid::new(levels, 1);
        let mut left = rows;
        while left > 0 {
            let (level, few) = levels.next(left)?;
            if level == 0 {
                self.push(None, few);
            } else {
                self.present(&mut of, few)?;
            }
            left -= few;
        }
        Some(())
    }

    fn present(&mut self, of: &mut Hybrid<'_>, rows: u32) -> Option<()> {
        let mut left = rows;
        while left > 0 {
            let (entry, few) = of.next(left)?;
            self.push(Some(entry), few);
            left -= few;
        }
        Some(())
    }
}

/// Numbers of a few bits: runs of one, and groups of eight that are packed.
struct Hybrid<'a> {
    bytes: &'a [u8],
    /// Bits of a number.
    width: u8,
    /// A number that is there so many times more.
    repeated: (u32, u32),
    packed: &'a [u8],
    /// Numbers of the packed that are left, and the bit at which the next begins.
    packed_left: u64,
    bit: usize,
}

impl<'a> Hybrid<'a> {
    fn new(bytes: &'a [u8], width: u8) -> Self {
        Self {
            bytes,
            width,
            repeated: (0, 0),
            packed: &[],
            packed_left: 0,
            bit: 0,
        }
    }

    /// A number, and how often it is there, this often at most; `None` behind the last one.
    fn next(&mut self, most: u32) -> Option<(u32, u32)> {
        loop {
            let (number, times) = self.repeated;
            if times > 0 {
                let few = times.min(most);
                self.repeated.1 -= few;
                return Some((number, few));
            }
            if self.packed_left > 0 {
                self.packed_left -= 1;
                return Some((self.unpacked()?, 1));
            }
            let header = self.varint()?;
            let width = usize::from(self.width);
            if header & 1 == 0 {
                let (number, rest) = self.bytes.split_at_checked(width.div_ceil(8))?;
                let mut whole = [0; 4];
                whole[..number.len()].copy_from_slice(number);
                self.bytes = rest;
                self.repeated = (u32::from_le_bytes(whole), u32::try_from(header >> 1).ok()?);
            } else {
                let groups = usize::try_from(header >> 1).ok()?;
                self.packed_left = (groups as u64).checked_mul(8)?;
                // The last group may end where the page does.
                let length = groups.checked_mul(width)?.min(self.bytes.len());
                (self.packed, self.bytes) = self.bytes.split_at(length);
                self.bit = 0;
            }
        }
    }

    fn unpacked(&mut self) -> Option<u32> {
        let width = usize::from(self.width);
        let (first, shift) = (self.bit / 8, self.bit % 8);
        self.bit += width;
        if self.bit > self.packed.len() * 8 {
            return None;
        }
        // 32 bits that begin within a byte lie in five.
        let bytes = &self.packed[first..];
        let mut whole = [0; 8];
        if let Some(eight) = bytes.first_chunk() {
            whole = *eight;
        } else {
            whole[..bytes.len()].copy_from_slice(bytes);
        }
        let mask = (1_u64 << width) - 1;
        // The mask leaves 32 bits at most.
        Some(((u64::from_le_bytes(whole) >> shift) & mask) as u32)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

/// Rows in which none of several columns changes, and what each has there.
pub(super) struct Stretches<'a, const N: usize> {
    columns: [&'a [Span]; N],
    at: [usize; N],
    next: u32,
    end: u32,
}

/// The stretches of these rows.
pub(super) fn stretches<const N: usize>(
    columns: [&[Span]; N],
    rows: Range<u32>,
) -> Stretches<'_, N> {
    let at = columns.map(|spans| spans.partition_point(|span| span.end <= rows.start));
    Stretches {
        columns,
        at,
        next: rows.start,
        end: rows.end,
    }
}

impl<const N: usize> Iterator for Stretches<'_, N> {
    type Item = (Range<u32>, [Option<u32>; N]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        let first = self.next;
        let mut end = self.end;
        let mut entries = [None; N];
        for ((spans, at), entry) in self.columns.iter().zip(self.at).zip(&mut entries) {
            let span = spans.get(at)?;
            end = end.min(span.end);
            *entry = span.entry;
        }
        for (spans, at) in self.columns.iter().zip(&mut self.at) {
            *at += usize::from(spans[*at].end == end);
        }
        self.next = end;
        Some((first..end, entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::rng::Rng;

    fn all(bytes: &[u8], width: u8, mut left: u32) -> Option<Vec<u32>> {
        let mut hybrid = Hybrid::new(bytes, width);
        let mut all = Vec::new();
        while left > 0 {
            let (number, few) = hybrid.next(left)?;
            all.extend(std::iter::repeat_n(number, few as usize));
            left -= few;
        }
        Some(all)
    }

    /// The example of `Encodings.md`: the numbers 0 to 7 in three bits each.
    const EIGHT: [u8; 4] = [0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010];

    #[test]
    fn packed_numbers_and_runs_follow_each_other_as_the_format_says() {
        assert_eq!(all(&EIGHT, 3, 8), Some((0..8).collect()));
        let mut both = vec![10 << 1, 5];
        both.extend(EIGHT);
        let expected = std::iter::repeat_n(5, 10).chain(0..8);
        assert_eq!(all(&both, 3, 18), Some(expected.collect()));
        // Of a run or a group that goes on, only what the page has is taken.
        assert_eq!(all(&both, 3, 12).map(|numbers| numbers.len()), Some(12));
        assert_eq!(all(&both, 3, 19), None);
        assert_eq!(all(&both[..5], 3, 18), None);
        assert_eq!(all(&[0x80; 12], 3, 1), None);
        // Without a bit there is only one number.
        assert_eq!(all(&[0b11], 0, 8), Some(vec![0; 8]));
    }

    #[test]
    fn numbers_of_any_width_are_unpacked() {
        for width in 1..=32_u8 {
            let mut rng = Rng::new(u64::from(width));
            let mask = (1_u64 << width) - 1;
            let numbers: Vec<u32> = (0..24).map(|_| (rng.next_u64() & mask) as u32).collect();
            let mut bytes = vec![0; 3 * usize::from(width)];
            for (place, number) in numbers.iter().enumerate() {
                for bit in (0..usize::from(width)).filter(|bit| number >> bit & 1 == 1) {
                    let at = place * usize::from(width) + bit;
                    bytes[at / 8] |= 1 << (at % 8);
                }
            }
            bytes.insert(0, 3 << 1 | 1);
            assert_eq!(all(&bytes, width, 24), Some(numbers), "{width} bits");
        }
    }

    #[test]
    fn stretches_end_where_any_column_changes() {
        let span = |entry, end| Span { entry, end };
        let a = [span(Some(1), 4), span(None, 10)];
        let b = [span(Some(7), 6), span(Some(8), 10)];
        let whole: Vec<_> = stretches([&a, &b], 0..10).collect();
        let expected = [
            (0..4, [Some(1), Some(7)]),
            (4..6, [None, Some(7)]),
            (6..10, [None, Some(8)]),
        ];
        assert_eq!(whole, expected);
        let part: Vec<_> = stretches([&a, &b], 5..7).collect();
        assert_eq!(part, [(5..6, [None, Some(7)]), (6..7, [None, Some(8)])]);
        assert_eq!(stretches([&a, &b], 3..3).count(), 0);
    }

    #[test]
    fn values_row_by_row_become_the_spans_of_those_that_are_equal() {
        let column = Column::of_values(vec![Some(3), Some(3), None, Some(3), Some(4)]);
        let at = |row| {
            let (_, [entry]) = stretches([&column.spans], row..row + 1).next().unwrap();
            column.value(entry).copied()
        };
        let read: Vec<Option<i32>> = (0..5).map(at).collect();
        assert_eq!(read, [Some(3), Some(3), None, Some(3), Some(4)]);
        assert_eq!(column.spans.len(), 4);
    }
}
