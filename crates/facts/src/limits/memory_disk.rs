//! Memory that poses as a disk: a loop device over a file of tmpfs, compressed memory, a RAM
//! disk. By its rates alone it could be any fast device; the kernel knows what it is.

use super::{Candidate, Standing, Subject};
use crate::layers::devices_of_memory;
use crate::words::list;
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "memory-disk";

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let reasons = devices_of_memory(subject.stack());
    if subject.imported() || reasons.is_empty() {
        return None;
    }
    let names: Vec<&str> = subject.leaves().map(|leaf| leaf.name.as_str()).collect();
    let reasons: Vec<&str> = reasons.iter().map(String::as_str).collect();
    Some(Candidate {
        standing: Standing::NotTheDevice,
        claim: format!(
            "{} is memory of this machine and no disk: the rate is that of the processors, which \
             copy the bytes.",
            list(&names)
        ),
        evidence: vec![format!("By what the kernel shows, {}.", list(&reasons))],
        share: Some(1.0),
        confidence: Confidence::Certain,
        refuted_by: "Data that is still there after the power was off.".into(),
        experiment: subject.again(
            "The same on the disk that is meant: `diskfacts devices` lists them, with what each \
             of them stands on.",
        ),
        remedy: "For a disk's figures, name a folder or a device that lies on one.".into(),
    })
}

#[cfg(test)]
mod tests {
    use crate::limits::host_tests::said;
    use crate::testing;
    use diskfacts_record::{DeviceKind, Run};

    fn on(kind: DeviceKind, name: &str, backing: Option<&str>) -> Run {
        let mut run = testing::healthy();
        testing::rename_disk(&mut run, name);
        let leaf = run.stack.devices.last_mut().expect("a disk");
        leaf.kind = kind;
        leaf.backing_filesystem = backing.map(str::to_owned);
        run
    }

    #[test]
    fn memory_is_named_where_the_kernel_knows_it_and_nowhere_else() {
        for (kind, name, backing, memory) in [
            (DeviceKind::Zram, "zram0", None, true),
            (DeviceKind::Loop, "loop0", Some("tmpfs"), true),
            (DeviceKind::Loop, "loop0", Some("ext4"), false),
            (DeviceKind::Loop, "loop0", None, false),
            (DeviceKind::Other, "ram1", None, true),
            (DeviceKind::Other, "rampart", None, false),
            (DeviceKind::Disk, "sda", None, false),
        ] {
            let run = on(kind, name, backing);
            let found = said(&run, "random-read-qd1", super::NAME);
            assert_eq!(found.is_some(), memory, "{kind:?} {name} {backing:?}");
            let first = &crate::limits(&run)[0].limits[0].limiter;
            assert_eq!(first == super::NAME, memory, "{kind:?} {name} {backing:?}");
        }
    }
}
