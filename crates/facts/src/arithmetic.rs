//! The version of the arithmetic ([`ARITHMETIC`](diskfacts_record::ARITHMETIC)) rises with the
//! figures: they are kept in columns for other programs, which compare those of one version.

use crate::{figures, testing};
use diskfacts_record::ARITHMETIC;

/// FNV-1a (Fowler, Noll, Vo), 64 bits.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn the_same_trials_have_the_same_figures_within_a_version() {
    let kept: Vec<String> = figures(&testing::healthy())
        .iter()
        .map(|stage| {
            let (rate, iops, latency) = (
                &stage.throughput_bytes_per_s,
                &stage.iops,
                &stage.latency_ns,
            );
            // What has a column.
            format!(
                "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {latency:?} {:?}",
                stage.stage,
                rate.median,
                rate.ci95,
                iops.median,
                iops.ci95,
                iops.trials,
                stage.cpu_share,
                stage.errors,
                stage.layers
            )
        })
        .collect();
    assert_eq!(
        (ARITHMETIC, digest(&kept.join("\n"))),
        (1, 3_357_976_137_357_456_823),
        "figures of the same trials are other ones: raise ARITHMETIC in crates/record/src/run.rs, \
         and set both numbers here\n{kept:#?}"
    );
}
