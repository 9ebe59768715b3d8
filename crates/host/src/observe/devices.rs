//! What each device of a stack counted.

mod counted_twice;

use super::Observer;
use super::window::Window;
use crate::parse::diskstats::{Diskstats, parse_stat};
use crate::roots::Roots;
use diskfacts_record::{BlockDevice, DeviceCounters, Evidence, Stack, Unseen};

/// Observes the counters of the devices of a stack.
///
/// Each device's own `stat` in sysfs is read, which holds what its line in
/// `/proc/diskstats` holds: on a machine with hundreds of devices that is far
/// less work at the edges of the window.
///
/// A device whose statistics are switched off (`queue/iostats` is 0) is read all the same:
/// where requests are none (device mapper, zram and bcache up to Linux 6.10) the kernel
/// counts without asking. Its counters are believed if they moved.
pub struct DevicesObserver {
    devices: Vec<Counted>,
}

struct Counted {
    device: BlockDevice,
    window: Window,
}

impl DevicesObserver {
    /// Opens the counters; whether that worked is said by [`Observer::stop`].
    pub fn new(roots: &Roots, stack: &Stack) -> Self {
        let devices = stack
            .devices
            .iter()
            .map(|device| {
                let folder = roots
                    .sys
                    .join(format!("dev/block/{}:{}", device.major, device.minor));
                Counted {
                    device: device.clone(),
                    window: Window::open(&folder.join("stat")),
                }
            })
            .collect();
        Self { devices }
    }
}

impl Counted {
    fn difference(&self) -> Result<DeviceCounters, String> {
        let (before, after) = self.window.parse(parse_stat)?;
        let counted =
            Diskstats::between(&self.device, &before, &after).map_err(|error| error.to_string())?;
        // Flushes are counted in any case, and prove nothing of the rest.
        let moved = counted.reads > 0 || counted.writes > 0;
        if self.device.counts_io == Some(false) && !moved {
            return Err(format!(
                "its statistics are switched off, and its counters did not move; `echo 1 > \
                 /sys/class/block/{}/queue/iostats` switches them on (for a partition: that of \
                 its disk)",
                self.device.name.replace('/', "!")
            ));
        }
        Ok(counted)
    }
}

impl Observer for DevicesObserver {
    fn name(&self) -> &'static str {
        "devices"
    }

    fn start(&mut self) {
        for counted in &mut self.devices {
            counted.window.start();
        }
    }

    fn halt(&mut self) {
        for counted in self.devices.iter_mut().rev() {
            counted.window.halt();
        }
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        for counted in &self.devices {
            match counted.difference() {
                Ok(counters) => evidence.devices.push(counters),
                Err(why) => evidence.unseen.push(Unseen {
                    what: format!("{} counters", counted.device.name),
                    why,
                }),
            }
        }
        let devices: Vec<BlockDevice> = self.devices.iter().map(|one| one.device.clone()).collect();
        counted_twice::mend(&devices, evidence);
    }
}
