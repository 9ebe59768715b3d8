//! What the devices of a full screen do: their counters over the last second, and what they
//! have at this moment.

use crate::exit::say;
use diskfacts_host::activity::{Reading, Wanted};
use diskfacts_host::{Roots, in_flight};
use diskfacts_record::evidence::OperationRequests;
use diskfacts_record::{DeviceActivity, Stack, Trial};
use diskfacts_report::text::live::{DeviceNow, Followed};
use std::collections::{BTreeMap, VecDeque};

/// Looks that lie in a second.
const LOOKS: usize = 4;

/// Some devices, and what they counted.
pub(crate) struct DevicesNow {
    roots: Roots,
    /// From the top; none where there are none, or they could not be read.
    names: Vec<String>,
    /// The last looks, a second of them.
    readings: VecDeque<Reading>,
    followed: BTreeMap<String, Followed>,
}

impl DevicesNow {
    /// Those of a stack. A simulated one has none.
    pub(crate) fn of(stack: &Stack) -> Self {
        let names = stack.devices.iter().map(|device| device.name.clone());
        Self {
            roots: Roots::default(),
            names: names.collect(),
            readings: VecDeque::new(),
            followed: BTreeMap::new(),
        }
    }

    /// Reads their counters.
    pub(crate) fn look(&mut self) {
        if self.names.is_empty() {
            return;
        }
        match Reading::take(&self.roots, &Wanted::Named(self.names.clone())) {
            Ok(reading) => {
                if self.readings.len() > LOOKS {
                    self.readings.pop_front();
                }
                self.readings.push_back(reading);
            }
            Err(error) => {
                say(&format!(
                    "diskfacts: note: the devices are not shown: {error}"
                ));
                self.names.clear();
                self.readings.clear();
            }
        }
    }

    /// Where their requests spent their time, if that was followed in this trial.
    pub(crate) fn were_followed_in(&mut self, trial: &Trial) {
        let layer = trial.evidence.block_layer.as_ref();
        for device in layer.iter().flat_map(|layer| &layer.devices) {
            let operations = device.operations.iter();
            let most = operations.max_by_key(|operation| operation.completed);
            if let Some(followed) = most.and_then(followed) {
                self.followed.insert(device.name.clone(), followed);
            }
        }
    }

    /// What each did between the first and the last look that are kept.
    pub(crate) fn now(&self) -> Vec<DeviceNow> {
        let (Some(first), Some(last)) = (self.readings.front(), self.readings.back()) else {
            return Vec::new();
        };
        let activity = last.since(first);
        let of = |name: &String| {
            let mut devices = activity.devices.iter();
            let found = devices.find(|device| device.counted.name == *name)?;
            let followed = self.followed.get(name).copied();
            Some(now(&self.roots, found, activity.centiseconds, followed))
        };
        self.names.iter().filter_map(of).collect()
    }
}

/// A row of a device.
pub(crate) fn now(
    roots: &Roots,
    device: &DeviceActivity,
    centiseconds: u64,
    followed: Option<Followed>,
) -> DeviceNow {
    DeviceNow {
        in_flight: in_flight(roots, &device.counted.name),
        counted: device.counted.clone(),
        centiseconds,
        followed,
    }
}

fn followed(operation: &OperationRequests) -> Option<Followed> {
    Some(Followed {
        queued_ns: operation.queued_ns.p50?,
        device_ns: operation.device_ns.p50?,
    })
}
