//! What a page goes without, step by step, so that it is read at a glance.

/// Lines that a person reads, of a survey in 80 columns.
pub(super) const LINES: usize = 45;

/// Notes that are told one by one, beside whatever is doubtful.
const NOTES: usize = 8;
/// Things that were done otherwise than asked, likewise.
const OTHERWISE: usize = 4;

/// What has a place; what has none stands whole under `--explain`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Brevity {
    /// So many things that were done otherwise than asked; the others are counted.
    pub(super) otherwise: usize,
    /// Where the run is kept: the commands below find it, too.
    pub(super) kept: bool,
    /// A second example of how to ask further.
    pub(super) example: bool,
    /// So many notes on the figures, which warn of none; the others are counted.
    pub(super) notes: usize,
}

impl Brevity {
    /// All that ever has a place.
    pub(super) const LEAST: Self = Self {
        otherwise: OTHERWISE,
        kept: true,
        example: true,
        notes: NOTES,
    };

    /// From the longest page to the shortest.
    pub(super) fn steps() -> impl Iterator<Item = Self> {
        let otherwise = Self {
            otherwise: 0,
            ..Self::LEAST
        };
        let kept = Self {
            kept: false,
            ..otherwise
        };
        let example = Self {
            example: false,
            ..kept
        };
        let notes = (0..NOTES).rev().map(move |notes| Self { notes, ..example });
        [Self::LEAST, otherwise, kept, example]
            .into_iter()
            .chain(notes)
    }
}
