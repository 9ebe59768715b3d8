//! How much of a file is compressed or encrypted on its filesystem.

use super::StageFacts;
use crate::layers::reach::COMPRESSED;
use crate::prelude::*;

impl StageFacts<'_> {
    /// Share of the file that is encoded, and what says so; `None` where nothing does.
    pub(crate) fn encoded(&self) -> Option<(f64, String)> {
        // SEEK_HOLE tells nothing of it.
        let extents = self.run().target.extents.as_ref();
        let told = extents.and_then(|all| Some((all.encoded_bytes?, all.span_bytes)));
        if let Some((bytes, span)) = told {
            let line = format!(
                "{} of the file's {} are encoded (FIEMAP): compressed, or encrypted.",
                show_size(bytes),
                show_size(span)
            );
            return Some((bytes as f64 / span as f64, line));
        }
        let kind = &self.run().stack.filesystem.as_ref()?.kind;
        let line = format!("The filesystem is {kind}, whose data are compressed.");
        COMPRESSED.contains(&kind.as_str()).then_some((1.0, line))
    }
}
