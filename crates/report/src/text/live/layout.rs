//! How many rows each part of a screen gets.

use super::line::Line;

/// What a part wants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// With fewer rows it is left out.
    pub(super) least: usize,
    /// So many before a part behind it has more than its least.
    pub(super) enough: usize,
    /// More rows show nothing more.
    pub(super) most: usize,
}

impl Wanted {
    /// Of a part that shows so many rows, and is of use from `least` of them on.
    pub(super) fn all_of(rows: usize, least: usize) -> Self {
        Self {
            least,
            enough: rows,
            most: rows,
        }
    }
}

/// Rows for each of some parts, those that matter most first: the least of each as far as
/// there is room, then what is enough, then what is left.
pub(super) fn rows<const N: usize>(height: usize, parts: [Wanted; N]) -> [usize; N] {
    let mut rows = [0; N];
    let mut left = height;
    for (rows, part) in rows.iter_mut().zip(parts) {
        let least = part.least.min(part.most);
        if least <= left {
            *rows = least;
            left -= least;
        }
    }
    for wanted in [|part: Wanted| part.enough, |part: Wanted| part.most] {
        for (rows, part) in rows.iter_mut().zip(parts) {
            if *rows > 0 {
                let more = left.min(wanted(part).min(part.most).saturating_sub(*rows));
                *rows += more;
                left -= more;
            }
        }
    }
    rows
}

/// Some parts below each other, an empty row between any two where there is room for all of
/// them.
pub(super) fn stack(height: usize, parts: impl IntoIterator<Item = Vec<Line>>) -> Vec<Line> {
    let parts: Vec<Vec<Line>> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let rows: usize = parts.iter().map(Vec::len).sum();
    let is_airy = rows + parts.len() <= height + 1;
    let mut lines: Vec<Line> = Vec::with_capacity(height);
    for part in parts {
        if is_airy && !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(part);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: [Wanted; 3] = [
        Wanted {
            least: 4,
            enough: 13,
            most: 13,
        },
        Wanted {
            least: 5,
            enough: 6,
            most: 12,
        },
        Wanted {
            least: 2,
            enough: 3,
            most: 3,
        },
    ];

    #[test]
    fn each_part_has_its_least_before_any_has_enough_and_that_before_any_has_more() {
        assert_eq!(rows(11, PARTS), [4, 5, 2]);
        assert_eq!(rows(15, PARTS), [8, 5, 2]);
        assert_eq!(rows(22, PARTS), [13, 6, 3]);
        assert_eq!(rows(24, PARTS), [13, 8, 3]);
        assert_eq!(rows(40, PARTS), [13, 12, 3]);
    }

    #[test]
    fn what_has_no_room_is_left_out_and_what_is_smaller_than_its_least_is_not() {
        assert_eq!(rows(8, PARTS), [6, 0, 2]);
        assert_eq!(rows(3, PARTS), [0, 0, 3]);
        assert_eq!(rows(9, [Wanted::all_of(2, 4)]), [2]);
        assert_eq!(rows(9, [Wanted::all_of(0, 4)]), [0]);
    }

    #[test]
    fn parts_have_a_row_between_them_where_there_is_room_for_every_one() {
        let parts = || {
            [
                vec![Line::plain("a"); 2],
                Vec::new(),
                vec![Line::plain("b")],
            ]
        };
        assert_eq!(stack(3, parts()).len(), 3);
        let airy = stack(4, parts());
        assert_eq!((airy.len(), &airy[2]), (4, &Line::default()));
    }
}
