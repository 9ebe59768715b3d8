//! Memory that poses as a disk: a loop device over a file of tmpfs, compressed memory, a RAM
//! disk. By its rates alone it could be any fast device; the kernel knows what it is.

use super::prelude::*;
use crate::layers::devices_of_memory;

pub(super) const LIMITER: Limiter = Limiter {
    name: "memory-disk",
    needs: &[NoDocument],
    // Who is kept from memory waits for others.
    not_in: &[Spent::Blocked],
    find: disk_is_memory,
    ..Limiter::ANY
};

fn disk_is_memory(facts: &StageFacts<'_>) -> Option<Candidate> {
    let reasons = Some(devices_of_memory(facts.stack())).filter(|found| !found.is_empty())?;
    let names: Vec<&str> = facts.leaves().map(|leaf| leaf.name.as_str()).collect();
    let claim = format!(
        "{} is memory of this machine and no disk: the rate is that of the processors, which \
         copy the bytes.",
        list(&names)
    );
    let line = format!("By what the kernel shows, {}.", list(&reasons));
    Some(Candidate::new(Standing::NotTheDevice, 1.0, Certain, claim).evidence([line]))
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
            let found = said(&run, "random-read-qd1", super::LIMITER.name);
            assert_eq!(found.is_some(), memory, "{kind:?} {name} {backing:?}");
            let first = &crate::limits(&run)[0].limits[0].limiter;
            assert_eq!(
                first == super::LIMITER.name,
                memory,
                "{kind:?} {name} {backing:?}"
            );
        }
    }
}
