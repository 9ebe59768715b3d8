//! The log of intervals of `HdrHistogram` (`HistogramLogWriter`, format 1.3): a line for each
//! trial, with its distribution of nanoseconds in base64, compressed (V2).
//!
//! Our histograms have the layout of `HdrHistogram` with two significant digits, from 1 on, so that
//! counts go from bucket to bucket.

use super::clean;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use diskfacts_plan::plan::stage_label;
use diskfacts_record::{Histogram, Run};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use jiff::Timestamp;
use std::fmt::Write as _;
use std::io::Write as _;

/// `V2EncodingCookieBase` and `V2CompressedEncodingCookieBase`, with the length of the words.
const COOKIE: u32 = 0x1c84_9303 | 0x10;
const COMPRESSED_COOKIE: u32 = 0x1c84_9304 | 0x10;
/// Values of `HdrHistogram` are integers with a sign.
const VALUE_MAX: u64 = i64::MAX as u64;
/// A maximum in the log is milliseconds.
const UNIT_NS: f64 = 1e6;

/// The trials of these runs, in the order in which the runs began.
pub fn hlog(runs: &[Run]) -> String {
    let mut runs: Vec<(f64, &Run)> = runs.iter().map(|run| (began_s(run), run)).collect();
    runs.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let base_s = runs.first().map_or(0.0, |(began_s, _)| *began_s);
    let mut out = format!(
        "#[Latencies of diskfacts, nanoseconds; a line for each trial]\n\
         #[Histogram log format version 1.3]\n\
         #[BaseTime: {base_s:.3} (seconds since epoch)]\n\
         #[StartTime: {base_s:.3} (seconds since epoch), {}]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
        clean(runs.first().map_or("", |(_, run)| &run.run.started)).replace(']', ")"),
    );
    for (began_s, run) in runs {
        // When a trial began is not stored: they follow one another.
        let mut at_s = began_s - base_s;
        for trial in &run.trials {
            let seconds = if trial.seconds.is_finite() {
                trial.seconds
            } else {
                0.0
            };
            let mut histogram = Histogram::new();
            let parts = trial.histograms.measured(&trial.workload);
            parts.for_each(|part| part.add_to(&mut histogram));
            if let Some(max_ns) = histogram.max() {
                // Writing to a String cannot fail.
                let _ = writeln!(
                    out,
                    "Tag={},{at_s:.3},{seconds:.3},{:.3},{}",
                    tag(&stage_label(&trial.stage, &trial.settings)),
                    max_ns as f64 / UNIT_NS,
                    encoded(&histogram)
                );
            }
            at_s += seconds;
        }
    }
    out
}

/// When a run began, seconds since 1970; 0 where that is not known, as of an import.
fn began_s(run: &Run) -> f64 {
    let began = run.run.started.parse::<Timestamp>();
    began.map_or(0.0, |began| began.as_millisecond().max(0) as f64 / 1e3)
}

/// A tag ends with a comma, and readers split lines at blanks: what is neither a letter, a digit
/// nor one of `._-=/:()` is an underscore.
fn tag(label: &str) -> String {
    let kept = |c: char| {
        if c.is_alphanumeric() || "._-=/:()".contains(c) {
            c
        } else {
            '_'
        }
    };
    let tag: String = label.chars().map(kept).collect();
    if tag.is_empty() { "_".to_owned() } else { tag }
}

/// The compressed form, in base64.
///
/// # Panics
/// Never: memory takes what is written.
pub fn encoded(histogram: &Histogram) -> String {
    let plain = payload(histogram);
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    let packed = packed
        .write_all(&plain)
        .and_then(|()| packed.finish())
        .expect("memory takes what is written");
    let mut bytes = COMPRESSED_COOKIE.to_be_bytes().to_vec();
    // A few thousand counts.
    bytes.extend((packed.len() as u32).to_be_bytes());
    bytes.extend(packed);
    STANDARD.encode(bytes)
}

/// The form of version 2: a head, and the counts of all buckets to the last that occurs; a run of
/// empty ones is its length, negative.
fn payload(histogram: &Histogram) -> Vec<u8> {
    let mut counts = Vec::new();
    let mut next = 0;
    let mut pending: Option<(usize, u64)> = None;
    for (from_ns, _, count) in histogram.buckets() {
        let place = place(from_ns.min(VALUE_MAX));
        match &mut pending {
            // Beyond the largest value there is one bucket for all.
            Some((same, sum)) if *same == place => *sum += count,
            _ => {
                put_bucket(&mut counts, &mut next, pending.replace((place, count)));
            }
        }
    }
    put_bucket(&mut counts, &mut next, pending);
    let highest = histogram.max().unwrap_or(0).clamp(2, VALUE_MAX);
    let mut out = COOKIE.to_be_bytes().to_vec();
    out.extend((counts.len() as u32).to_be_bytes());
    // No offset; two significant digits; from 1 on, to the highest value; nothing multiplied.
    out.extend(0_u32.to_be_bytes());
    out.extend(2_u32.to_be_bytes());
    out.extend(1_u64.to_be_bytes());
    out.extend(highest.to_be_bytes());
    out.extend(1_f64.to_be_bytes());
    out.extend(counts);
    out
}

fn put_bucket(counts: &mut Vec<u8>, next: &mut usize, bucket: Option<(usize, u64)>) {
    let Some((place, count)) = bucket else {
        return;
    };
    let empty = (place - *next) as u64;
    if empty > 0 {
        // At most 7424.
        put(counts, -empty.cast_signed());
    }
    // A histogram counts less than 2^63.
    put(counts, count.min(VALUE_MAX).cast_signed());
    *next = place + 1;
}

/// The place of a value among the buckets: 256 of width 1, then 128 of each doubled width.
fn place(value: u64) -> usize {
    let shift = (64 - 8_u32).saturating_sub(value.leading_zeros());
    ((shift as usize) << 7) + (value >> shift) as usize
}

/// An integer as `ZigZag` `LEB128-64b9B` has it: at most nine bytes, of which the ninth has eight
/// bits.
fn put(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    for _ in 0..8 {
        if rest < 0x80 {
            out.push(rest as u8);
            return;
        }
        out.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}
