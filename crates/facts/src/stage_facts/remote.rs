//! Whether the target lies on another machine, and what its client counted of the way there.

use super::StageFacts;
use crate::budget::calls_of_data;
use crate::layers::remote;
use crate::prelude::*;
use diskfacts_record::Transport;
use diskfacts_record::evidence::NfsCalls;

/// Whether a bus is one of this machine.
fn is_local(bus: Transport) -> bool {
    use Transport::{Mmc, NvmeLoop, NvmePcie, Sas, Sata, Usb};
    matches!(bus, NvmePcie | NvmeLoop | Sata | Sas | Usb | Mmc)
}

/// Whether it leads to another machine.
fn is_remote(bus: Transport) -> bool {
    use Transport::{Iscsi, Nbd, NvmeRdma, NvmeTcp, Rbd};
    matches!(bus, NvmeTcp | NvmeRdma | Iscsi | Nbd | Rbd)
}

impl StageFacts<'_> {
    /// What says that the target is remote; `None` where nothing does.
    pub(crate) fn remote(&self) -> Option<String> {
        let stack = &self.run().stack;
        if let Some(f) = remote(stack) {
            let (on, from, kind) = (&f.mount_point, &f.source, &f.kind);
            return Some(format!("{on} is mounted from {from} ({kind})."));
        }
        let elsewhere = |device: &&BlockDevice| {
            let names = ["nbd", "rbd", "drbd"];
            let by_name = names.iter().any(|name| device.name.starts_with(name));
            by_name || device.transport.is_some_and(is_remote)
        };
        let device = &stack.devices.iter().find(elsewhere)?.name;
        Some(format!("{device} is a device on another machine."))
    }

    /// Whether the target may lie on another machine: what a hypervisor shows as a disk, what is
    /// not attached to a bus of this machine, a document's, and what nothing is known of.
    pub(crate) fn may_be_remote(&self) -> bool {
        let mut leaves = self.leaves().peekable();
        let is_open = |leaf: &BlockDevice| match leaf.kind {
            DeviceKind::Disk => leaf.virtual_by.is_some() || !leaf.transport.is_some_and(is_local),
            DeviceKind::Simulated => true,
            _ => false,
        };
        leaves.peek().is_none() || leaves.any(is_open)
    }

    /// What the NFS client counted of its calls for this operation, where the target lies on NFS.
    pub(crate) fn nfs_calls(&self) -> Option<String> {
        let trials = self.trials().iter();
        let all: Vec<NfsCalls> = trials.flat_map(|trial| calls_of_data(trial)).collect();
        let sum = |of: fn(&NfsCalls) -> u64| -> u64 { all.iter().map(of).sum() };
        let calls = sum(|one| one.calls);
        unless(calls == 0)?;
        let mean = |ns: u64| duration(ns as f64 / calls as f64);
        Some(format!(
            "The NFS client counted {calls} calls: each {} in its queue, and {} from sending to \
             the answer, which is the network and the server. {} were sent again.",
            mean(sum(|one| one.queued_ns)),
            mean(sum(|one| one.round_trip_ns)),
            sum(|one| one.sent).saturating_sub(calls)
        ))
    }
}
