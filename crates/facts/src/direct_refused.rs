//! Direct I/O that was asked for and refused.

use crate::context::Context;
use crate::prelude::{join, list};
use crate::stages::Stage;
use crate::words::names;
use diskfacts_record::DirectIo;

/// The stages of a run in which it was refused, at least one.
#[derive(Debug)]
pub(crate) struct DirectRefused<'c, 'a> {
    pub(crate) stages: Vec<&'c Stage<'a>>,
    /// Each reason once, with its stages: the cells of a matrix often share it.
    reasons: Vec<(&'a str, Vec<&'c Stage<'a>>)>,
}

impl<'c, 'a> DirectRefused<'c, 'a> {
    pub(crate) fn of(context: &'c Context<'a>) -> Option<Self> {
        let (mut stages, mut reasons) = (Vec::new(), Vec::new());
        for (stage, _) in context.doing_io() {
            if let Some(reason) = stage.trials.iter().find_map(|t| t.direct_refused()) {
                stages.push(stage);
                join(&mut reasons, reason, stage);
            }
        }
        (!stages.is_empty()).then_some(Self { stages, reasons })
    }

    /// Why, a sentence for each reason.
    pub(crate) fn said(&self) -> impl Iterator<Item = String> {
        self.reasons.iter().map(|(reason, of)| because(reason, of))
    }

    /// The block sizes that would be aligned to so many bytes, each with its stage.
    pub(crate) fn aligned(&self, multiple: u64) -> impl Iterator<Item = (u64, &'a str)> {
        let stages = self.stages.iter();
        stages.filter_map(move |stage| {
            let size = stage.workload().block_size;
            let aligned = size.checked_next_multiple_of(multiple)?;
            (aligned != size).then_some((aligned, stage.name))
        })
    }
}

/// Why it was refused in some stages.
fn because(reason: &str, of: &[&Stage<'_>]) -> String {
    let why = reason.trim_end_matches('.');
    let stages = names(of.iter().map(|stage| stage.name));
    match of {
        [only] => format!("{}: {why}.", only.label()),
        all if stages.len() < all.len() => {
            format!("{} ({} cells): {why}.", list(&stages), all.len())
        }
        _ => format!("{}: {why}.", list(&stages)),
    }
}

/// What direct I/O needs, a sentence.
pub(crate) fn alignment(needs: Option<DirectIo>) -> String {
    match needs {
        None => "The kernel does not tell what direct I/O needs here (statx DIOALIGN, since Linux \
                 6.1)."
            .into(),
        Some(d) if d.offset_alignment_bytes == 0 => {
            "The kernel says that this target has no direct I/O (statx DIOALIGN is 0).".into()
        }
        Some(d) => format!(
            "Direct I/O needs offsets and lengths that are multiples of {} bytes and buffers \
             aligned to {} bytes (statx DIOALIGN).",
            d.offset_alignment_bytes, d.memory_alignment_bytes
        ),
    }
}
