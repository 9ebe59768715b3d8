//! What each device of a stack counted.

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
pub struct DevicesObserver {
    devices: Vec<Counted>,
}

struct Counted {
    device: BlockDevice,
    /// None where the kernel was told not to count.
    window: Option<Window>,
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
                let counts = device.counts_io != Some(false);
                Counted {
                    device: device.clone(),
                    window: counts.then(|| Window::open(&folder.join("stat"))),
                }
            })
            .collect();
        Self { devices }
    }
}

impl Counted {
    fn difference(&self) -> Result<DeviceCounters, String> {
        let Some(window) = &self.window else {
            return Err(format!(
                "its statistics are switched off; `echo 1 > /sys/class/block/{}/queue/iostats` \
                 switches them on (for a partition: that of its disk)",
                self.device.name.replace('/', "!")
            ));
        };
        let (before, after) = window.parse(parse_stat)?;
        Diskstats::between(&self.device, &before, &after).map_err(|error| error.to_string())
    }
}

impl Observer for DevicesObserver {
    fn name(&self) -> &'static str {
        "devices"
    }

    fn start(&mut self) {
        for counted in &mut self.devices {
            if let Some(window) = &mut counted.window {
                window.start();
            }
        }
    }

    fn halt(&mut self) {
        for counted in self.devices.iter_mut().rev() {
            if let Some(window) = &mut counted.window {
                window.halt();
            }
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
    }
}
