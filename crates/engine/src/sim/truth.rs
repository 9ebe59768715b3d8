//! Who really served the bytes of a trial, and where its time went.
//!
//! Reads: what the completions say; what was read through the page cache came
//! from the device if its pages were fetched during the trial and read for the
//! first time, else from memory. All that went through the block layer was
//! served below it, a network client's memory included.
//!
//! Writes: where the data lay when the trial ended. What never left the page
//! cache is there; what the disk acknowledged and would lose in a power cut is
//! in its cache; the rest is on the medium.

use diskfacts_disk::host::PageTraffic;
use diskfacts_disk::{Breakdown, Layer};
use diskfacts_record::Layers;
use diskfacts_record::evidence::{Issued, TimeParts};

/// Shares are multiples of 2^-20, so that they add up to exactly 1.
const GRID: f64 = (1_u32 << 20) as f64;

/// What the completions of a trial said, bytes of operations that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Served {
    /// Direct reads from the medium.
    pub(super) read_from_media: u64,
    /// Direct reads from the drive's memory.
    pub(super) read_from_drive: u64,
    /// Direct writes that the device acknowledged.
    pub(super) written: u64,
}

impl Served {
    /// A direct read came back.
    pub(super) fn read(&mut self, layer: Layer, bytes: u64) {
        match layer {
            Layer::Media => self.read_from_media += bytes,
            Layer::DriveCache | Layer::PageCache => self.read_from_drive += bytes,
        }
    }

    /// The layers of a trial that issued so much, during which the page cache
    /// moved `traffic`, and after which a power cut would lose `volatile` bytes
    /// that the disk acknowledged.
    pub(super) fn layers(self, issued: &Issued, traffic: &PageTraffic, volatile: u64) -> Layers {
        let total = issued.read_bytes + issued.write_bytes;
        if total == 0 {
            return Layers::default();
        }
        let read_media = self.read_from_media + traffic.read_from_media_bytes;
        let read_drive = self.read_from_drive + traffic.read_from_drive_bytes;
        let read_media = read_media.min(issued.read_bytes);
        let read_drive = read_drive.min(issued.read_bytes - read_media);
        let reached = (self.written + traffic.written_back_bytes).min(issued.write_bytes);
        let volatile = volatile.min(reached);
        let share = |bytes: u64| (bytes as f64 / total as f64 * GRID).round() / GRID;
        let media = share(read_media + reached - volatile);
        let drive_cache = share(read_drive + volatile).min(1.0 - media);
        Layers {
            page_cache: 1.0 - media - drive_cache,
            drive_cache,
            media,
            unknown: 0.0,
            device: Some(media + drive_cache),
            mapping: 0.0,
            server: 0.0,
        }
    }
}

/// A request of an operation took so long: what the operations spent.
pub(super) fn spend(spent: &mut TimeParts, request: &Breakdown) {
    *spent = spent.plus(&TimeParts {
        operations: 0,
        queue_ns: request.queue_ns,
        overhead_ns: request.overhead_ns,
        seek_ns: request.seek_ns,
        rotation_ns: request.rotation_ns,
        transfer_ns: request.transfer_ns,
        bus_ns: request.bus_ns,
        cache_wait_ns: request.cache_wait_ns,
        collection_ns: request.collection_ns,
        program_ns: request.program_ns,
        retry_ns: request.retry_ns,
        stall_ns: request.stall_ns,
        throttle_ns: request.throttle_ns,
        network_ns: request.network_ns,
        host_ns: request.host_ns,
        scheduler_ns: request.idled_ns,
        lost_revolutions: u64::from(request.lost_revolutions),
        retries: u64::from(request.retries),
    });
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "shares lie on a grid and are exact")]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_reach_the_device_was_served_by_memory() {
        let mut served = Served::default();
        served.read(Layer::Media, 300);
        served.read(Layer::DriveCache, 100);
        let issued = Issued {
            read_bytes: 600,
            write_bytes: 200,
            ..Issued::default()
        };
        let traffic = PageTraffic {
            read_from_media_bytes: 100,
            written_back_bytes: 150,
            ..PageTraffic::default()
        };
        let layers = served.layers(&issued, &traffic, 50);
        assert_eq!(layers.media, 500.0 / 800.0);
        assert_eq!(layers.drive_cache, 0.1875, "150 of 800");
        assert_eq!(layers.page_cache, 0.1875);
        assert_eq!(layers.device, Some(0.8125));
    }

    #[test]
    fn nothing_issued_says_nothing() {
        let layers = Served::default().layers(&Issued::default(), &PageTraffic::default(), 7);
        assert_eq!(layers, Layers::default());
    }
}
