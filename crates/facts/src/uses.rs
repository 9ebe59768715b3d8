//! What known uses need of their storage, from published thresholds.
//!
//! Each requirement names the document that its number comes from. Where the
//! makers of a system publish no number, the nearest published one is taken,
//! and its title says whose it is.

use diskfacts_plan::{CacheMode, Operation, Pattern, Workload};

/// A use of storage.
#[derive(Debug, Clone, Copy)]
pub struct Use {
    /// Name, as in `--for`: `etcd`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What it needs; all of it.
    pub requirements: &'static [Requirement],
}

/// One thing that a use needs.
#[derive(Debug, Clone, Copy)]
pub struct Requirement {
    /// Name of the stage of the plan `survey` in which it is measured.
    pub stage: &'static str,
    /// What that stage does, for sentences: `write + fdatasync`.
    pub what: &'static str,
    /// Whether a workload measures it: a plan of one's own may have another
    /// stage of the same name.
    pub suits: fn(&Workload) -> bool,
    /// What is looked at.
    pub metric: Metric,
    /// Where it must lie.
    pub limit: Limit,
    /// Where the limit comes from.
    pub source: Source,
}

/// A figure of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// 99th percentile of the latency, nanoseconds.
    LatencyP99,
    /// Mean latency, nanoseconds.
    LatencyMean,
    /// Bytes per second.
    Throughput,
    /// Operations per second.
    Iops,
}

/// A threshold, in the unit of its metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// The figure must lie below.
    Below(f64),
    /// The figure must reach it.
    AtLeast(f64),
}

/// A public document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Whose it is, and its title.
    pub title: &'static str,
    /// Where it is found.
    pub url: &'static str,
}

const MS: f64 = 1e6;
const MB: f64 = 1e6;
const MIB: f64 = (1 << 20) as f64;
const GB_PER_HOUR: f64 = 1e9 / 3600.0;

/// Small writes, each made durable before the next, in order: a log.
fn is_log(workload: &Workload) -> bool {
    workload.operation == Operation::Write
        && workload.pattern == Pattern::Sequential
        && workload.block_size <= 16 << 10
        && workload.outstanding() == 1
        && workload.sync.each_write()
}

/// Large transfers in order that are meant to reach the device.
fn is_stream(workload: &Workload) -> bool {
    workload.pattern == Pattern::Sequential
        && workload.block_size >= 128 << 10
        && workload.cache == CacheMode::Direct
}

fn is_reading_stream(workload: &Workload) -> bool {
    is_stream(workload) && workload.operation == Operation::Read
}

fn is_writing_stream(workload: &Workload) -> bool {
    is_stream(workload) && workload.operation == Operation::Write
}

/// Small reads and writes anywhere, several at once, past the page cache.
fn is_mixed(workload: &Workload) -> bool {
    matches!(workload.operation, Operation::Mixed { .. })
        && workload.pattern != Pattern::Sequential
        && workload.block_size <= 16 << 10
        && workload.cache == CacheMode::Direct
}

const ETCD_FAQ: Source = Source {
    title: "etcd documentation, FAQ (wal_fsync_duration_seconds)",
    url: "https://etcd.io/docs/v3.5/faq/",
};
const ETCD_HARDWARE: Source = Source {
    title: "etcd documentation, Hardware recommendations (sequential IOPS)",
    url: "https://etcd.io/docs/v3.5/op-guide/hardware/",
};
const SQL_SERVER: Source = Source {
    title: "Microsoft, Troubleshoot slow SQL Server performance caused by I/O issues (WRITELOG; \
            PostgreSQL publishes no number of its own)",
    url: "https://learn.microsoft.com/en-us/troubleshoot/sql/database-engine/performance/troubleshoot-sql-io-performance",
};
const MSK: Source = Source {
    title: "AWS, Manage storage throughput for Standard brokers in an Amazon MSK cluster (default \
            of a broker's volume; Apache Kafka publishes no number of its own)",
    url: "https://docs.aws.amazon.com/msk/latest/developerguide/msk-provision-throughput-management.html",
};
const STORAGE_DRS: Source = Source {
    title: "VMware, vSphere API, StorageDrsIoLoadBalanceConfig (default of ioLatencyThreshold)",
    url: "https://developer.broadcom.com/xapis/virtual-infrastructure-json-api/latest/data-structures/StorageDrsIoLoadBalanceConfig",
};
const PRORES: Source = Source {
    title: "Apple, Apple ProRes White Paper (target data rates: 422 HQ, 3840 x 2160 at 60 frames, \
            1768 Mb/s)",
    url: "https://www.apple.com/final-cut-pro/docs/Apple_ProRes.pdf",
};
const COMMVAULT: Source = Source {
    title: "Commvault, Disk Library Volume Performance (per mount path)",
    url: "https://documentation.commvault.com/2024e/expert/disk_library_volume_performance.html",
};

/// One stream of the video that the source gives the rate of.
const VIDEO_BYTES_PER_S: f64 = 1768.0 / 8.0 * MB;

const USES: [Use; 6] = [
    Use {
        name: "etcd",
        about: "the log of etcd, which holds a Kubernetes cluster's state",
        requirements: &[
            Requirement {
                stage: "log-write",
                what: "write + fdatasync",
                suits: is_log,
                metric: Metric::LatencyP99,
                limit: Limit::Below(10.0 * MS),
                source: ETCD_FAQ,
            },
            Requirement {
                stage: "log-write",
                what: "write + fdatasync",
                suits: is_log,
                metric: Metric::Iops,
                limit: Limit::AtLeast(50.0),
                source: ETCD_HARDWARE,
            },
        ],
    },
    Use {
        name: "postgres-wal",
        about: "the write-ahead log of a database such as PostgreSQL",
        requirements: &[Requirement {
            stage: "log-write",
            what: "write + fdatasync",
            suits: is_log,
            metric: Metric::LatencyMean,
            limit: Limit::Below(10.0 * MS),
            source: SQL_SERVER,
        }],
    },
    Use {
        name: "kafka",
        about: "the data volume of a Kafka broker",
        requirements: &[Requirement {
            stage: "sequential-write",
            what: "sequential write",
            suits: is_writing_stream,
            metric: Metric::Throughput,
            limit: Limit::AtLeast(250.0 * MIB),
            source: MSK,
        }],
    },
    Use {
        name: "vm-images",
        about: "a datastore of virtual machines' disks",
        requirements: &[Requirement {
            stage: "mixed-70-30",
            what: "mixed random I/O",
            suits: is_mixed,
            metric: Metric::LatencyMean,
            limit: Limit::Below(15.0 * MS),
            source: STORAGE_DRS,
        }],
    },
    Use {
        name: "video",
        about: "recording and editing one stream of UHD video at 60 frames",
        requirements: &[
            Requirement {
                stage: "sequential-write",
                what: "sequential write",
                suits: is_writing_stream,
                metric: Metric::Throughput,
                limit: Limit::AtLeast(VIDEO_BYTES_PER_S),
                source: PRORES,
            },
            Requirement {
                stage: "sequential-read",
                what: "sequential read",
                suits: is_reading_stream,
                metric: Metric::Throughput,
                limit: Limit::AtLeast(VIDEO_BYTES_PER_S),
                source: PRORES,
            },
        ],
    },
    Use {
        name: "backup",
        about: "a disk volume that backups are written to and restored from",
        requirements: &[
            Requirement {
                stage: "sequential-write",
                what: "sequential write",
                suits: is_writing_stream,
                metric: Metric::Throughput,
                limit: Limit::AtLeast(700.0 * GB_PER_HOUR),
                source: COMMVAULT,
            },
            Requirement {
                stage: "sequential-read",
                what: "sequential read",
                suits: is_reading_stream,
                metric: Metric::Throughput,
                limit: Limit::AtLeast(600.0 * GB_PER_HOUR),
                source: COMMVAULT,
            },
        ],
    },
];

/// The uses that are known, in the order in which they are listed.
pub fn uses() -> &'static [Use] {
    &USES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_requirement_is_measured_by_its_stage_of_the_survey() {
        let survey = diskfacts_plan::builtin::plan("survey").unwrap();
        for (i, usage) in USES.iter().enumerate() {
            assert!(USES[..i].iter().all(|other| other.name != usage.name));
            assert!(!usage.requirements.is_empty());
            for needed in usage.requirements {
                let stage = survey
                    .stage(needed.stage)
                    .unwrap_or_else(|| panic!("{}: no stage {}", usage.name, needed.stage));
                assert!(
                    (needed.suits)(&stage.workload),
                    "{}: {}",
                    usage.name,
                    needed.stage
                );
                let (Limit::Below(limit) | Limit::AtLeast(limit)) = needed.limit;
                assert!(limit > 0.0 && limit.is_finite());
                assert!(needed.source.url.starts_with("https://"));
            }
        }
    }
}
