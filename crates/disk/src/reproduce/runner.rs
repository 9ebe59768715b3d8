//! Running access patterns on a device.

use super::setting::Setting;
use crate::completion::Completion;
use crate::device::{self, Device};
use crate::request::Request;

/// A device and its time.
pub(super) struct Runner<'s> {
    setting: &'s Setting<'s>,
    device: Box<dyn Device>,
    now_ns: u64,
    others: Vec<Completion>,
}

impl<'s> Runner<'s> {
    pub(super) fn new(setting: &'s Setting<'s>, device: Box<dyn Device>) -> Self {
        Self {
            setting,
            device,
            now_ns: 0,
            others: Vec::new(),
        }
    }

    /// Now, s.
    pub(super) fn seconds(&self) -> f64 {
        self.now_ns as f64 / 1e9
    }

    /// Runs one request to its end.
    pub(super) fn run(&mut self, request: &Request) -> Completion {
        let completion = device::run_one(&mut *self.device, self.now_ns, request, &mut self.others);
        self.others.clear();
        self.setting.ended(completion.result);
        self.now_ns = completion.done_ns;
        completion
    }

    /// Runs requests with `depth` of them in flight, until there are no more.
    pub(super) fn run_deep(&mut self, depth: usize, requests: impl IntoIterator<Item = Request>) {
        let mut requests = requests.into_iter();
        for request in requests.by_ref().take(depth) {
            self.device.submit(self.now_ns, &request);
        }
        let mut in_flight = self.device.statistics(self.now_ns).in_flight;
        while in_flight > 0
            && let Some(next_ns) = self.device.next_event()
        {
            self.device.advance(next_ns, &mut self.others);
            self.now_ns = next_ns;
            in_flight -= self.others.len() as u64;
            for completion in self.others.drain(..) {
                self.setting.ended(completion.result);
                if let Some(request) = requests.next() {
                    self.device.submit(self.now_ns, &request);
                    in_flight += 1;
                }
            }
        }
    }

    /// Runs streams side by side, each with one request in flight, until the
    /// first stream has done `count`; gives the bytes of the first stream.
    pub(super) fn run_side_by_side(
        &mut self,
        streams: &mut [&mut dyn FnMut() -> Request],
        count: u64,
    ) -> u64 {
        for (index, stream) in streams.iter_mut().enumerate() {
            let request = stream().of_stream(index as u32);
            let tag = index as u64;
            self.device.submit(self.now_ns, &Request { tag, ..request });
        }
        let (mut done, mut bytes) = (0, 0);
        while done < count
            && let Some(next_ns) = self.device.next_event()
        {
            self.device.advance(next_ns, &mut self.others);
            self.now_ns = next_ns;
            for completion in std::mem::take(&mut self.others) {
                self.setting.ended(completion.result);
                if completion.tag == 0 {
                    done += 1;
                    bytes += completion.len;
                }
                let index = completion.tag as usize;
                let request = streams[index]().of_stream(index as u32);
                let tag = completion.tag;
                self.device.submit(self.now_ns, &Request { tag, ..request });
            }
        }
        bytes
    }
}
