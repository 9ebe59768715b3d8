//! What a row of iostat says of the requests of a device, and whether it agrees
//! with itself: by Little's law (J. D. C. Little, "A Proof for the Queuing
//! Formula L = λW", Operations Research 9(3), 1961) the requests in the queue and
//! in the device are those that come per second, times the seconds each takes.

use super::Document;
use super::row::Measured;
use crate::formats::{iostat_linux, iostat_solaris};

/// Largest difference between both sides of Little's law that rounding leaves
/// out, as a share. The counters of a request are added at its end and those of
/// the queue while it lasts, so an interval of some seconds differs by a few
/// hundredths.
const AGREE: f64 = 0.05;

/// Requests of a device in an interval; `None` where there is no such column.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Requests {
    pub(super) reads_per_s: Option<f64>,
    pub(super) writes_per_s: Option<f64>,
    /// Where reads and writes are not told apart.
    pub(super) both_per_s: Option<f64>,
    pub(super) bytes_per_s: Option<f64>,
    /// Milliseconds of a request, in the queue and in the device.
    pub(super) wait_ms: Option<f64>,
    /// Requests that were merged into others before they were queued.
    pub(super) merges_per_s: Option<f64>,
    /// Requests in the queue and in the device, mean.
    pub(super) depth: Option<f64>,
    /// Bytes of a request, mean.
    pub(super) request_bytes: Option<f64>,
    /// Share of the time with requests in the device.
    pub(super) busy: Option<f64>,
    /// Half of the last digit of each column.
    half_digit: f64,
}

impl Requests {
    /// Requests per second.
    pub(super) fn per_s(&self) -> Option<f64> {
        match (self.reads_per_s, self.writes_per_s) {
            (Some(reads), Some(writes)) => Some(reads + writes),
            _ => self.both_per_s,
        }
    }

    /// The values by name, for a reading.
    pub(super) fn values(&self) -> Vec<(&'static str, f64)> {
        [
            ("requests_per_s", self.per_s()),
            ("bytes_per_s", self.bytes_per_s),
            ("merges_per_s", self.merges_per_s),
            ("wait_ms", self.wait_ms),
            ("queue_depth", self.depth),
            ("request_bytes", self.request_bytes),
            ("busy", self.busy),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }

    /// Where Little's law does not hold: the depth that follows from rate and
    /// wait. `None` where it holds within the rounding of all three, and where one
    /// is not known.
    fn disagrees(&self) -> Option<f64> {
        let (rate, wait_ms, depth) = (self.per_s()?, self.wait_ms?, self.depth?);
        let expected = rate * wait_ms / 1e3;
        // Each of the three may be the sum of two columns, of which each is rounded.
        let rounding = 2.0 * self.half_digit * ((wait_ms + rate) / 1e3 + 1.0);
        let differs = (depth - expected).abs();
        (differs > rounding && differs > expected.max(depth) * AGREE).then_some(expected)
    }
}

/// Of `iostat -x` of Linux.
pub(super) fn linux(columns: &iostat_linux::Columns, row: &iostat_linux::Row) -> Requests {
    let value = |name: &str| columns.value(row, name);
    let sum = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
    let bytes_per_s = sum(value("rkB/s"), value("wkB/s"))
        .map(|kb| kb * 1024.0)
        .or(sum(value("rMB/s"), value("wMB/s")).map(|mb| mb * 1_048_576.0))
        .or(sum(value("rsec/s"), value("wsec/s")).map(|sectors| sectors * 512.0))
        .or(sum(value("kB_read/s"), value("kB_wrtn/s")).map(|kb| kb * 1024.0));
    let (reads, writes) = (value("r/s"), value("w/s"));
    // Newer versions tell reads and writes apart, and their waits weigh as their
    // counts do.
    let weighed = |of_reads: Option<f64>, of_writes: Option<f64>| {
        let (reads, writes) = (reads?, writes?);
        let all = reads + writes;
        (all > 0.0).then(|| Some((of_reads? * reads + of_writes? * writes) / all))?
    };
    Requests {
        reads_per_s: reads,
        writes_per_s: writes,
        both_per_s: value("tps"),
        bytes_per_s,
        merges_per_s: sum(value("rrqm/s"), value("wrqm/s")),
        wait_ms: value("await").or(weighed(value("r_await"), value("w_await"))),
        depth: value("avgqu-sz").or(value("aqu-sz")),
        request_bytes: value("avgrq-sz")
            .map(|sectors| sectors * 512.0)
            .or(value("areq-sz").map(|kb| kb * 1024.0))
            .or(weighed(value("rareq-sz"), value("wareq-sz")).map(|kb| kb * 1024.0)),
        busy: value("%util").map(|percent| percent / 100.0),
        half_digit: 0.005,
    }
}

/// Of `iostat -xn` of Solaris, where a request waits first and is served then; where
/// the two are not told apart, all is in the second.
pub(super) fn solaris(unit: iostat_solaris::Unit, row: &iostat_solaris::Row) -> Requests {
    let per_s = row.reads_per_s + row.writes_per_s;
    let bytes_per_s = (row.data_read_per_s + row.data_written_per_s) * unit.bytes() as f64;
    Requests {
        reads_per_s: Some(row.reads_per_s),
        writes_per_s: Some(row.writes_per_s),
        both_per_s: None,
        bytes_per_s: Some(bytes_per_s),
        merges_per_s: None,
        wait_ms: Some(row.wsvc_t_ms.unwrap_or(0.0) + row.asvc_t_ms),
        depth: Some(row.wait.unwrap_or(0.0) + row.actv),
        // Not a column: what follows from two of them.
        request_bytes: (per_s > 0.0).then(|| bytes_per_s / per_s),
        busy: Some(row.percent_busy as f64 / 100.0),
        half_digit: 0.05,
    }
}

/// The requests of a row of iostat.
pub(super) fn of(measured: &Measured) -> Option<Requests> {
    match measured {
        Measured::IostatLinux(columns, row) => Some(linux(columns, row)),
        Measured::IostatSolaris(unit, row) => Some(solaris(*unit, row)),
        _ => None,
    }
}

/// Notes the rows whose numbers do not follow Little's law.
pub(super) fn note(document: &mut Document) {
    let found: Vec<(u64, String)> = document
        .rows
        .iter()
        .filter_map(|row| {
            let requests = of(&row.measured)?;
            let expected = requests.disagrees()?;
            let (rate, wait, depth) = (requests.per_s()?, requests.wait_ms?, requests.depth?);
            Some((
                row.line,
                format!(
                    "The numbers disagree: {rate:.1} requests per second of {wait:.1} ms each keep \
                     {expected:.1} of them in the queue and the device (Little's law), and the row \
                     says {depth:.1}."
                ),
            ))
        })
        .collect();
    for (line, text) in found {
        document.note(line, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_document_follow_littles_law_and_a_changed_one_does_not() {
        let columns = iostat_linux::Columns::old();
        let text = "sda 0.00 14098.00 0.00 115.00 0.00 57868.00 1006.40 140.86 1325.40 0.00 \
                    1325.40 8.70 100.00";
        let row = columns.row(text).unwrap();
        let requests = linux(&columns, &row);
        // 115 per second times 1.3254 s are 152.4: 7.6 % more than 140.86.
        assert!(requests.disagrees().is_some());
        let agreeing = Requests {
            depth: Some(152.5),
            ..requests
        };
        assert_eq!(agreeing.disagrees(), None);
        assert_eq!(requests.request_bytes, Some(1006.4 * 512.0));
        assert_eq!(requests.busy, Some(1.0));
        let row: iostat_solaris::Row = "0.0 13005.5 0.0 101.6 0.0 0.9 0.0 0.1 2 94 c5t2"
            .parse()
            .unwrap();
        let requests = solaris(iostat_solaris::Unit::Mib, &row);
        assert_eq!(requests.disagrees(), None);
        let deeper = Requests {
            depth: Some(9.0),
            ..requests
        };
        assert!(deeper.disagrees().is_some());
    }
}
