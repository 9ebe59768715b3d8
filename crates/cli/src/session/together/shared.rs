//! The files that the hosts of a group share, between the moment at which all have agreed and the
//! first trial: each is made by its maker, opened by whoever writes or uses it, and filled by all.

use super::super::fill::Filled;
use super::super::reserve::Reserved;
use super::group::LaunchedGroup;
use super::placement::{Placement, name_of_file};
use crate::exit::Failure;
use crate::signals::Signals;
use crate::target::{Measured, SharedFile, sweep_for_shared};
use diskfacts_host::Place;
use diskfacts_plan::units::show_size;
use diskfacts_record::together::Layout;

impl<'a> Reserved<'a> {
    /// Makes and opens what the layout asks for. Where each host has a file that no other sees,
    /// that takes its room now.
    ///
    /// # Errors
    /// Where any host cannot: then none goes on, but where each has a file of its own.
    pub(in super::super) fn share(&mut self, group: &mut LaunchedGroup) -> Result<(), Failure> {
        let Some(placement) = self.accepted.placement() else {
            return self.held.measured.take_room().inspect_err(|failure| {
                group.fail(failure);
            });
        };
        let unready = || Failure::failed("a layout without a group, or without a folder");
        let meeting = group.meeting().cloned().ok_or_else(unready)?;
        let measured = &mut self.held.measured;
        let place: &Place = measured.place.as_ref().ok_or_else(unready)?;
        let each = measured.target.size_bytes;
        let file = |maker: u32| SharedFile {
            drawn: name_of_file(&meeting.group, &meeting.start, meeting.origin_ns, maker),
            maker,
            bytes: placement.file_bytes(each),
        };
        let (used, written) = (placement.used(each), placement.written(each));
        let (mut made, mut opened, mut swept) = (None, None, Vec::new());
        let all_opened = group.open_together(
            || {
                // What was swept took room.
                swept = sweep_for_shared(place)?;
                if placement.makes() {
                    made = Some(file(placement.rank.rank).make(place)?);
                }
                Ok(())
            },
            || {
                let pair = (
                    file(used.maker).open(place)?,
                    file(written.maker).open(place)?,
                );
                opened = Some(pair);
                Ok(())
            },
        );
        group.keep(made);
        all_opened?;
        let (to_use, to_fill) = opened.ok_or_else(unready)?;
        let note = note(placement, each);
        measured.takes_part(
            (to_use, used.bytes, placement.file_bytes(each)),
            (to_fill, written.bytes),
        );
        measured.notes.extend(swept);
        measured.notes.push(note);
        Ok(())
    }

    /// Fills this host's part, and waits until all others have filled theirs: what a host reads
    /// may be another's.
    ///
    /// # Errors
    /// Where any host could not.
    pub(in super::super) fn filled_by_all(
        self,
        group: &mut LaunchedGroup,
        signals: &Signals,
    ) -> Result<Filled<'a>, Failure> {
        let filled = self.fill(signals);
        let own = filled.as_ref().map(|_| ()).map_err(Failure::sentence);
        let all = group.filled_together(own);
        if signals.came().is_some() {
            filled.as_ref().err().map_or(Ok(()), |_| signals.check())?;
        }
        all?;
        let mut filled = filled?;
        let measured: &mut Measured = &mut filled.reserved.held.measured;
        measured.sees_extents();
        Ok(filled)
    }
}

/// What the record says of it.
fn note(placement: Placement, each: u64) -> String {
    let Placement { layout, rank, .. } = placement;
    let (each, of) = (show_size(each), rank.of);
    let whose = match placement.whose() {
        whose if whose == rank.rank => "its own".to_owned(),
        whose => format!("that of rank {whose}, which wrote it"),
    };
    match layout {
        Layout::Own => {
            format!("Each of {of} hosts has made a file of {each}; this one uses {whose}.")
        }
        Layout::Slice => format!(
            "The {of} hosts share one file, {of} slices of {each}, which each has written itself; \
             this one uses {whose}."
        ),
        Layout::Same => format!(
            "The {of} hosts share one file of {each}, of which each has written a part; all use \
             the whole."
        ),
    }
}
