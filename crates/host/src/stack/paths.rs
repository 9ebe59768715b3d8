//! Paths of a multipath device, for who may not ask device mapper: they are the disks
//! that it stands on.

use diskfacts_record::{Array, BlockDevice, DeviceKind, Impairment, ImpairmentKind, Stack};

/// Fills in how many paths there are, and which of them failed, where device mapper did
/// not tell.
pub(super) fn fill(stack: &mut Stack) {
    let has_failed = |device: &BlockDevice| {
        let mut found = device.impaired.iter();
        found.any(|found| matches!(found.kind, ImpairmentKind::Failed | ImpairmentKind::Gone))
    };
    let failed: Vec<String> = stack
        .devices
        .iter()
        .filter(|device| {
            // A path may be a partition of the disk.
            let mut disks = device.below.iter().filter_map(|name| stack.device(name));
            has_failed(device) || device.kind == DeviceKind::Partition && disks.any(has_failed)
        })
        .map(|device| device.name.clone())
        .collect();
    for device in &mut stack.devices {
        let multipath = device.kind == DeviceKind::DeviceMapper
            && device.targets.iter().any(|kind| kind == "multipath");
        if !multipath || device.array.is_some() || device.below.is_empty() {
            continue;
        }
        let all = device.below.len();
        device.array = Some(Array {
            level: "multipath".to_owned(),
            members: all as u64,
            ..Array::default()
        });
        let gone: Vec<&str> = device
            .below
            .iter()
            .filter(|path| failed.contains(path))
            .map(String::as_str)
            .collect();
        if !gone.is_empty() {
            device.impaired.push(Impairment {
                kind: if gone.len() == all {
                    ImpairmentKind::Failed
                } else {
                    ImpairmentKind::Degraded
                },
                what: format!(
                    "{} of its {all} paths failed ({})",
                    gone.len(),
                    gone.join(", ")
                ),
                source: "device/state of the disks".to_owned(),
            });
        }
    }
}
