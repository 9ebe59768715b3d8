//! Shares that add up to exactly 1.

use diskfacts_record::Layers;

/// Shares are whole multiples of 2^-20, about one millionth. Such numbers, and
/// all sums of them up to 2^32, are exact in an `f64`, so shares add up to
/// exactly 1 in whatever order and after a round trip through decimal text.
const GRID: f64 = (1_u32 << 20) as f64;

/// The nearest multiple of the grid in `0..=1`; 0 for what is not a number.
fn on_grid(share: f64) -> f64 {
    // `clamp` keeps a NaN.
    let share = if share.is_nan() { 0.0 } else { share };
    (share.clamp(0.0, 1.0) * GRID).round() / GRID
}

/// Who is known to have served how much.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known {
    /// Memory of a host.
    pub(crate) page_cache: f64,
    /// Devices above the disks, without a disk.
    pub(crate) mapping: f64,
    /// A server on another machine, by its memory or its disks.
    pub(crate) server: f64,
    /// Memory of the device.
    pub(crate) drive_cache: f64,
    /// The medium.
    pub(crate) media: f64,
    /// What reached the device.
    pub(crate) device: Option<f64>,
}

/// Puts shares together: what is left of 1 is unknown. Where rounding or
/// contradicting counters would make more than 1, the later ones give way.
pub(crate) fn layers(known: Known) -> Layers {
    let page_cache = on_grid(known.page_cache);
    let mapping = on_grid(known.mapping).min(1.0 - page_cache);
    let server = on_grid(known.server).min(1.0 - page_cache - mapping);
    let above = page_cache + mapping + server;
    let drive_cache = on_grid(known.drive_cache).min(1.0 - above);
    let media = on_grid(known.media).min(1.0 - above - drive_cache);
    Layers {
        page_cache,
        drive_cache,
        media,
        unknown: 1.0 - above - drive_cache - media,
        device: known
            .device
            .map(|share| on_grid(share).clamp(drive_cache + media, 1.0 - above)),
        mapping,
        server,
    }
}

/// The shares of several parts together, each part with its weight.
pub(crate) fn weighted<'a>(parts: impl Iterator<Item = (&'a Layers, f64)>) -> Layers {
    let mut total = 0.0;
    let mut sums = [0.0; 5];
    let mut device = Some(0.0);
    for (part, weight) in parts.filter(|(_, weight)| *weight > 0.0) {
        total += weight;
        let shares = [
            part.page_cache,
            part.mapping,
            part.server,
            part.drive_cache,
            part.media,
        ];
        for (sum, share) in sums.iter_mut().zip(shares) {
            // A share that is not a number (an import) counts as unknown.
            *sum += if share.is_finite() {
                share * weight
            } else {
                0.0
            };
        }
        device = device
            .zip(part.device)
            .map(|(sum, share)| sum + share * weight);
    }
    if total <= 0.0 {
        return Layers::default();
    }
    let [page_cache, mapping, server, drive_cache, media] = sums.map(|sum| sum / total);
    layers(Known {
        page_cache,
        mapping,
        server,
        drive_cache,
        media,
        device: device.map(|sum| sum / total),
    })
}

#[cfg(test)]
#[expect(
    clippy::float_cmp,
    reason = "shares add up exactly, that is the promise"
)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(
        [page_cache, mapping, server, drive_cache, media]: [f64; 5],
        device: Option<f64>,
    ) -> Known {
        Known {
            page_cache,
            mapping,
            server,
            drive_cache,
            media,
            device,
        }
    }

    fn check(shares: &Layers) {
        let Layers {
            page_cache,
            drive_cache,
            media,
            unknown,
            device,
            mapping,
            server,
        } = *shares;
        let above = page_cache + mapping + server;
        assert_eq!(above + drive_cache + media + unknown, 1.0);
        assert_eq!(
            unknown + media + drive_cache + server + mapping + page_cache,
            1.0
        );
        for share in [page_cache, mapping, server, drive_cache, media, unknown] {
            assert!((0.0..=1.0).contains(&share), "{shares:?}");
        }
        if let Some(device) = device {
            assert!(drive_cache + media <= device && device <= 1.0 - above);
        }
    }

    #[test]
    fn thirds_add_up_to_one() {
        let third = 1.0 / 3.0;
        let shares = layers(of([third, 0.0, 0.0, third, third], Some(2.0 * third)));
        check(&shares);
        assert!(shares.unknown < 2e-6);
    }

    #[test]
    fn parts_without_weight_say_nothing() {
        assert_eq!(weighted(std::iter::empty()), Layers::default());
        let cached = layers(of([1.0, 0.0, 0.0, 0.0, 0.0], Some(0.0)));
        assert_eq!(weighted([(&cached, 0.0)].into_iter()), Layers::default());
    }

    #[test]
    fn one_part_without_a_device_share_leaves_the_whole_without() {
        let known = layers(of([0.0, 0.0, 0.0, 0.0, 1.0], Some(1.0)));
        let both = weighted([(&known, 1.0), (&Layers::default(), 1.0)].into_iter());
        assert_eq!((both.media, both.unknown, both.device), (0.5, 0.5, None));
    }

    proptest! {
        #[test]
        fn shares_of_any_numbers_add_up_to_exactly_one(
            a in prop::num::f64::ANY,
            b in prop::num::f64::ANY,
            c in -1.0_f64..2.0,
            mapping in prop::num::f64::ANY,
            server in prop::num::f64::ANY,
            device in prop::option::of(prop::num::f64::ANY),
        ) {
            check(&layers(of([a, mapping, server, b, c], device)));
        }

        #[test]
        fn weighted_shares_add_up_to_exactly_one(
            parts in prop::collection::vec((0.0_f64..1.0, 0.0_f64..1.0, 0.0_f64..1.0, 0.0_f64..1e15), 0..10),
        ) {
            let parts: Vec<(Layers, f64)> = parts
                .into_iter()
                .map(|(a, b, c, weight)| (layers(of([a, b / 2.0, c / 2.0, b, c], Some(c))), weight))
                .collect();
            check(&weighted(parts.iter().map(|(part, weight)| (part, *weight))));
        }
    }
}
