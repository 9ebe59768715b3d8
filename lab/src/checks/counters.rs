//! What the program says that devices counted, against what the guest itself
//! has counted meanwhile.

use super::Leaves;
use crate::sysfs::{self, Counted};
use serde_json::Value;
use std::collections::BTreeMap;

/// The guest's counters before a run.
pub(crate) struct Window(BTreeMap<String, Counted>);

/// What the guest counted from before a run until after it.
pub(crate) struct Moved(BTreeMap<String, Counted>);

impl Window {
    pub(crate) fn open() -> Self {
        Self(sysfs::counters())
    }

    pub(crate) fn close(self) -> Moved {
        let after = sysfs::counters().into_iter().map(|(device, now)| {
            let before = self.0.get(&device).copied().unwrap_or_default();
            (device, now.since(before))
        });
        Moved(after.collect())
    }
}

/// Sums over the trials of a run, of one device or of what was issued.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Bytes {
    read: u64,
    written: u64,
}

impl Bytes {
    fn of(counters: &Value) -> Self {
        let number = |key: &str| counters[key].as_u64().unwrap_or(0);
        Self {
            read: number("read_bytes"),
            written: number("write_bytes"),
        }
    }

    fn add(&mut self, other: Self) {
        self.read += other.read;
        self.written += other.written;
    }
}

impl Moved {
    /// No device may have counted more in the run's trials than the guest saw
    /// in all, and every device of the stack that moved must be in the trials,
    /// but for one that moved less than they issued and of which they say that it
    /// did not: it may have moved before or after them.
    pub(crate) fn hold_against(&self, document: &Value) -> Result<(), String> {
        let mut devices: BTreeMap<&str, Bytes> = BTreeMap::new();
        for device in trials(document).flat_map(|trial| list(&trial["evidence"]["devices"])) {
            let name = device["name"].as_str().unwrap_or_default();
            devices.entry(name).or_default().add(Bytes::of(device));
        }
        let seen = |name: &str| self.0.get(name).copied().unwrap_or_default();
        let mut problems = Vec::new();
        for (name, bytes) in &devices {
            let seen = seen(name);
            if bytes.read > seen.read_bytes || bytes.written > seen.write_bytes {
                problems.push(format!("{name}: {bytes:?}, but the guest counted {seen:?}"));
            }
        }
        let mut issued = Bytes::default();
        for trial in trials(document) {
            issued.add(Bytes::of(&trial["evidence"]["issued"]));
        }
        let moved_in_none = |name: &str| {
            let what = format!("{name} counters");
            trials(document).all(|trial| {
                let unseen = list(&trial["evidence"]["unseen"]).iter();
                let mut said = unseen.filter(|unseen| unseen["what"] == what);
                said.any(|unseen| {
                    let why = unseen["why"].as_str().unwrap_or_default();
                    why.contains("did not move")
                })
            })
        };
        for device in list(&document["stack"]["devices"]) {
            let name = device["name"].as_str().unwrap_or_default();
            let moved = seen(name);
            let beside = moved.read_bytes + moved.write_bytes < issued.read + issued.written;
            if moved != Counted::default()
                && !devices.contains_key(name)
                && !(beside && moved_in_none(name))
            {
                problems.push(format!("{name} counts, and the run has no counters of it"));
            }
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems.join("; "))
        }
    }
}

/// Whether the leaves moved in the trials of a stage what the stack must move.
pub(super) fn leaves_moved(document: &Value, stage: &str, leaves: Leaves) -> Result<(), String> {
    let mut issued = Bytes::default();
    let mut below = Bytes::default();
    for trial in trials(document).filter(|trial| trial["stage"] == stage) {
        issued.add(Bytes::of(&trial["evidence"]["issued"]));
        let devices = list(&trial["evidence"]["devices"]).iter();
        for device in devices.filter(|device| device["leaf"] == true) {
            below.add(Bytes::of(device));
        }
    }
    if issued == Bytes::default() {
        return Err(format!("the run has no {stage}"));
    }
    judge(leaves, issued, below).map_or(Ok(()), Err)
}

fn trials(document: &Value) -> impl Iterator<Item = &Value> {
    list(&document["trials"]).iter()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn judge(leaves: Leaves, issued: Bytes, below: Bytes) -> Option<String> {
    let holds = match leaves {
        Leaves::Same => below == issued,
        Leaves::AtLeast => below.read >= issued.read && below.written >= issued.written,
        Leaves::Idle => below == Bytes::default(),
        Leaves::Any => true,
    };
    (!holds).then(|| format!("issued {issued:?}, the leaves have {below:?}, wanted {leaves:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(leaf_read_bytes: u64) -> Value {
        json!({
            "stack": { "devices": [{ "name": "dm-0" }, { "name": "vda" }] },
            "trials": [{ "stage": "reads", "evidence": {
                "issued": { "read_bytes": 8192, "write_bytes": 0 },
                "devices": [
                    { "name": "dm-0", "leaf": false, "read_bytes": 8192, "write_bytes": 0 },
                    { "name": "vda", "leaf": true, "read_bytes": leaf_read_bytes,
                      "write_bytes": 0 },
                ],
            }}],
        })
    }

    fn moved(read_bytes: u64) -> Moved {
        let counted = Counted {
            read_bytes,
            ..Counted::default()
        };
        let devices = ["dm-0", "vda"].map(|name| (name.to_owned(), counted));
        Moved(devices.into_iter().collect())
    }

    #[test]
    fn leaves_that_moved_what_was_issued_are_right_and_others_are_not() {
        let moved = |bytes, leaves| leaves_moved(&document(bytes), "reads", leaves);
        assert_eq!(moved(8192, Leaves::Same), Ok(()));
        assert!(moved(4096, Leaves::Same).is_err());
        assert!(moved(4096, Leaves::Idle).is_err());
        assert_eq!(moved(0, Leaves::Idle), Ok(()));
        assert_eq!(moved(12288, Leaves::AtLeast), Ok(()));
        assert!(leaves_moved(&document(8192), "writes", Leaves::Any).is_err());
    }

    #[test]
    fn more_than_the_guest_counted_is_wrong() {
        assert_eq!(moved(9000).hold_against(&document(8192)), Ok(()));
        assert!(moved(4096).hold_against(&document(8192)).is_err());
    }

    #[test]
    fn a_device_that_counts_and_is_not_watched_is_wrong() {
        let mut watched = document(8192);
        let devices = &mut watched["trials"][0]["evidence"]["devices"];
        devices.as_array_mut().expect("a list").remove(0);
        let found = moved(9000).hold_against(&watched);
        assert!(found.expect_err("dm-0").contains("dm-0 counts"));
    }

    #[test]
    fn a_device_that_moved_a_little_beside_the_trials_is_none_that_is_overlooked() {
        let mut still = document(8192);
        still["stack"]["devices"][0]["name"] = json!("dm-2");
        let devices = &mut still["trials"][0]["evidence"]["devices"];
        devices.as_array_mut().expect("a list").remove(0);
        let counted = |read_bytes| {
            let counted = Counted {
                read_bytes,
                ..Counted::default()
            };
            let mut all = moved(9000);
            all.0.insert("dm-2".to_owned(), counted);
            all
        };
        assert!(counted(4096).hold_against(&still).is_err());
        still["trials"][0]["evidence"]["unseen"] = json!([
            { "what": "dm-2 counters", "why": "its counters did not move; switched off" },
        ]);
        assert_eq!(counted(4096).hold_against(&still), Ok(()));
        // Not what the run issued, which is what was overlooked once.
        assert!(counted(8192).hold_against(&still).is_err());
    }
}
