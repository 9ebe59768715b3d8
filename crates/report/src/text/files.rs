//! Stages that work on the files of a folder, in words.

use super::words::{count, grouped, known_rate, rate};
use diskfacts_plan::units::show_size;
use diskfacts_plan::{Arrivals, Operation, Pattern, SyncMode, Workload};
use diskfacts_record::{Run, StageFigures};

/// Whether these figures are of files: operations per second are files then.
pub(super) fn are_of(run: &Run, figures: &StageFigures) -> bool {
    let stage = run.plan.stage(&figures.stage);
    stage.is_some_and(|stage| stage.workload.operation.on_files())
}

/// What such a workload does, in one phrase:
/// `16,384 empty files created, names in order, one at a time`.
pub(super) fn workload(workload: &Workload) -> String {
    let files = workload.files.unwrap_or_default();
    let number = grouped(&files.count.to_string());
    let plural = if files.count == 1 { "" } else { "s" };
    let of = match (files.size_min, files.size_max) {
        (0, 0) => format!("{number} empty file{plural}"),
        (min, max) if min == max => format!("{number} file{plural} of {}", show_size(max)),
        (min, max) => format!(
            "{number} file{plural} of {} to {}",
            show_size(min),
            show_size(max)
        ),
    };
    let done = match workload.operation {
        Operation::Create => "created",
        Operation::Delete => "deleted",
        _ if files.size_max > 0 => "looked up and read",
        _ => "looked up",
    };
    let names = match (workload.pattern, workload.operation) {
        (Pattern::Sequential, _) => "names in order",
        (_, Operation::Create) => "names at random",
        _ => "in random order",
    };
    let mut parts = vec![format!("{of} {done}"), names.to_owned()];
    if files.folders > 1 {
        parts.push(format!("in {}", count(files.folders, "folder")));
    }
    if workload.sync == SyncMode::Fsync {
        parts.push("each with fsync of the file and its folder".to_owned());
    }
    parts.push(match workload.streams {
        1 => "one at a time".to_owned(),
        streams => format!("{streams} streams"),
    });
    if let Some(rate) = workload.rate {
        let spread = match rate.arrivals {
            Arrivals::Fixed => "evenly spaced",
            Arrivals::Poisson => "at Poisson arrivals",
        };
        parts.push(format!(
            "{} per second, {spread}",
            grouped(&rate.operations_per_s.to_string())
        ));
    }
    parts.join(", ")
}

/// The rate of such a stage, as wide as that of a stage on blocks; with the
/// bytes of the files where they have some.
pub(super) fn rates(figures: &StageFigures, spread: &str, width: usize) -> String {
    let throughput = figures.throughput_bytes_per_s.median;
    let bytes = if throughput > 0.0 {
        format!("{:>7} MB/s ", rate(throughput / 1e6))
    } else {
        " ".repeat(13)
    };
    format!(
        "{bytes} {:>7} files/s {spread:>width$}",
        known_rate(&figures.iops, figures.iops.median)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::{CacheMode, Files};

    #[test]
    fn a_workload_on_files_is_said_in_one_phrase() {
        let create = Workload {
            operation: Operation::Create,
            pattern: Pattern::Sequential,
            cache: CacheMode::Buffered,
            files: Some(Files::default()),
            ..Workload::default()
        };
        assert_eq!(
            workload(&create),
            "16,384 empty files created, names in order, one at a time"
        );
        let files = Files {
            count: 100,
            size_min: 1024,
            size_max: 65536,
            folders: 4,
        };
        let read = Workload {
            operation: Operation::Stat,
            pattern: Pattern::Random,
            streams: 3,
            files: Some(files),
            ..create.clone()
        };
        assert_eq!(
            workload(&read),
            "100 files of 1 KiB to 64 KiB looked up and read, in random order, in 4 folders, 3 \
             streams"
        );
        let delete = Workload {
            operation: Operation::Delete,
            sync: SyncMode::Fsync,
            files: Some(Files {
                count: 1,
                size_min: 512,
                size_max: 512,
                folders: 1,
            }),
            ..read
        };
        assert_eq!(
            workload(&delete),
            "1 file of 512 B deleted, in random order, each with fsync of the file and its \
             folder, 3 streams"
        );
    }
}
