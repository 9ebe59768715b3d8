//! Bursts in the JSON document: a list, each with its requests, which name their devices.

use super::{Burst, BurstOf, BurstRequest, Bursts, PackedBursts};
use crate::evidence::RequestKind;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

#[derive(Serialize, Deserialize)]
struct JsonBurst<'a> {
    of: BurstOf,
    from_ns: u64,
    requests: Vec<JsonRequest<'a>>,
}

#[derive(Serialize, Deserialize)]
struct JsonRequest<'a> {
    device: Cow<'a, str>,
    operation: RequestKind,
    offset_bytes: u64,
    bytes: u64,
    queued_ns: Option<u64>,
    issued_ns: u64,
    completed_ns: u64,
    ours: Option<bool>,
    failed: bool,
}

impl Serialize for PackedBursts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Bursts { devices, bursts } = self.unpack();
        serializer.collect_seq(bursts.iter().map(|burst| {
            JsonBurst {
                of: burst.of,
                from_ns: burst.from_ns,
                requests: burst
                    .requests
                    .iter()
                    .map(|request| JsonRequest {
                        device: Cow::Borrowed(&devices[request.device]),
                        operation: request.operation,
                        offset_bytes: request.offset_bytes,
                        bytes: request.bytes,
                        queued_ns: request.queued_ns,
                        issued_ns: request.issued_ns,
                        completed_ns: request.completed_ns,
                        ours: request.ours,
                        failed: request.failed,
                    })
                    .collect(),
            }
        }))
    }
}

impl<'de> Deserialize<'de> for PackedBursts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut read = Bursts::default();
        for burst in Vec::<JsonBurst<'_>>::deserialize(deserializer)? {
            let requests = burst.requests.into_iter();
            let requests = requests.map(|request| request.read(&mut read.devices));
            let requests = requests.collect::<Result<Vec<_>, _>>();
            read.bursts.push(Burst {
                of: burst.of,
                from_ns: burst.from_ns,
                requests: requests.map_err(D::Error::custom)?,
            });
        }
        // The bytes are checked for what any stored form must keep to.
        let packed = Self::from(&read);
        let same = Self::from_bytes(packed.as_bytes()).map_err(D::Error::custom)?;
        if same.unpack() == read {
            Ok(same)
        } else {
            Err(D::Error::custom(
                "requests of bursts are not in their order",
            ))
        }
    }
}

impl JsonRequest<'_> {
    /// The request, whose device is found among these, or added to them.
    fn read(self, devices: &mut Vec<String>) -> Result<BurstRequest, &'static str> {
        if !self.offset_bytes.is_multiple_of(512) || !self.bytes.is_multiple_of(512) {
            return Err("a request of a burst has no whole sectors of 512 bytes");
        }
        if self.offset_bytes.checked_add(self.bytes).is_none() {
            return Err("a request of a burst ends beyond 64 bits");
        }
        let known = devices.iter().position(|name| *name == self.device);
        let device = known.unwrap_or_else(|| {
            devices.push(self.device.into_owned());
            devices.len() - 1
        });
        Ok(BurstRequest {
            device,
            operation: self.operation,
            offset_bytes: self.offset_bytes,
            bytes: self.bytes,
            queued_ns: self.queued_ns,
            issued_ns: self.issued_ns,
            completed_ns: self.completed_ns,
            ours: self.ours,
            failed: self.failed,
        })
    }
}
