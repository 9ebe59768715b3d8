//! What has to be so for a rule or a limiter to be asked, of a run or of a stage.

use super::StageFacts;
use crate::context::Context;
use crate::device_physics::no_drives;
use crate::layers::in_memory;
use diskfacts_plan::CacheMode;

/// What has to be so for a rule or a limiter to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// The run was measured, and is not read from a document, of which only figures are known.
    NoDocument,
    /// The run is read from what another program or a person wrote.
    Document,
    /// What a drive is made of is claimed: platters, their revolutions and zones, a cache of its
    /// own. [`device_physics`](crate::device_physics) says of which devices.
    Drives,
    /// It was to do something.
    Something,
    /// It was to move blocks of the target. What is done to the files of a folder is names and
    /// attributes: its bytes are not those of the target, and a filesystem writes them when it
    /// likes.
    Blocks,
    /// Nothing is written.
    OnlyReads,
    /// Nothing is read.
    OnlyWrites,
    /// Something is written.
    Written,
    /// [`StageFacts::reaches_device`].
    Device,
    /// Memory of the host served less than half of the bytes.
    FromDisk,
    /// No rate was asked for.
    Closed,
    /// Nothing was to run beside it, which has a part of the device's time.
    Alone,
    /// Direct I/O was asked for.
    Direct,
    /// All of it went through the page cache.
    Buffered,
    /// What is read is meant to be in memory.
    Warm,
    /// It is not.
    NotWarm,
    /// The target does not lie in memory.
    NotInMemory,
    /// Each write is synced.
    EachSynced,
    /// No write is synced by itself.
    Unsynced,
    /// No disk rotates, and that is known of all.
    Flash,
    /// All disks are known to rotate.
    Platter,
    /// Not all disks are known to rotate.
    NoPlatter,
    /// The disks may rotate.
    MayRotate,
}

impl Need {
    /// Whether all of these are so.
    pub(crate) fn are_met(needs: &[Self], facts: &StageFacts<'_>) -> bool {
        needs.iter().all(|need| need.is_met(facts))
    }

    /// Whether it is so of a run; `None` of what is asked of stages.
    pub(crate) fn of_run(self, context: &Context<'_>) -> Option<bool> {
        match self {
            Self::NoDocument => Some(!context.is_imported()),
            Self::Document => Some(context.is_imported()),
            Self::Drives => Some(no_drives(context.run).is_none()),
            _ => None,
        }
    }

    fn is_met(self, facts: &StageFacts<'_>) -> bool {
        let workload = facts.workload();
        match self {
            Self::NoDocument | Self::Document | Self::Drives => {
                self.of_run(facts.context) == Some(true)
            }
            Self::Something => !facts.stage.is_null(),
            Self::Blocks => facts.moves_blocks() && !facts.stage.is_null(),
            Self::OnlyReads => facts.only_reads(),
            Self::OnlyWrites => facts.only_writes(),
            Self::Written => workload.operation.writes(),
            Self::Device => facts.reaches_device(),
            Self::FromDisk => facts.memory_share() < 0.5,
            Self::Closed => workload.rate.is_none(),
            Self::Alone => workload.beside.is_none(),
            Self::Direct => facts.asks_direct(),
            Self::Buffered => facts.direct() == Some(false),
            Self::Warm => workload.cache == CacheMode::Warm,
            Self::NotWarm => workload.cache != CacheMode::Warm,
            Self::NotInMemory => !in_memory(&facts.run().stack),
            Self::EachSynced => facts.syncs_each(),
            Self::Unsynced => !facts.syncs_each(),
            Self::Flash => facts.rotates() == Some(false),
            Self::Platter => facts.rotates() == Some(true),
            Self::NoPlatter => facts.rotates() != Some(true),
            Self::MayRotate => facts.rotates() != Some(false),
        }
    }
}
