//! What limited the stages of the documents, as far as their figures can say.

use super::{DOCUMENTS, runs_of};
use diskfacts_plan::plan::stage_label;
use diskfacts_record::{Limit, Run};
use diskfacts_report::text::{Closing, Look};

/// The limits of each stage of each run of a document, with the label of the stage.
fn of(document: usize) -> Vec<(String, Vec<Limit>)> {
    let runs: Vec<Run> = runs_of(DOCUMENTS[document]);
    let limits = runs.iter().flat_map(diskfacts_facts::limits);
    limits
        .map(|of| (stage_label(&of.stage, &of.settings), of.limits))
        .collect()
}

/// The stages of which a limiter is named first.
fn first(stages: &[(String, Vec<Limit>)], limiter: &str) -> Vec<String> {
    let of = |limits: &[Limit]| limits.first().is_some_and(|limit| limit.limiter == limiter);
    let labels = stages.iter().filter(|(_, limits)| of(limits));
    labels.map(|(label, _)| label.clone()).collect()
}

/// Whether anything at all of this name is said of a stage whose label begins so.
fn says(stages: &[(String, Vec<Limit>)], stage: &str, limiter: &str) -> bool {
    let mut of = stages.iter().filter(|(label, _)| label.starts_with(stage));
    of.any(|(_, limits)| limits.iter().any(|limit| limit.limiter == limiter))
}

#[test]
fn the_medium_is_named_where_blocks_of_another_size_move_as_much() {
    // Seed 000: direct reads of 64 KiB to 1 MiB all go at 126.8 MB/s.
    let stages = of(0);
    let medium = first(&stages, "media-rate");
    for stage in [
        "read (bs=64k, direct=yes, target=/dev/sdb2)",
        "read (bs=1M, direct=yes, target=/dev/sdb2)",
        "read (bs=4096, fraction=1/4, place=ext, skip=1)",
    ] {
        // Those of 64 KiB are too small to be told by themselves.
        let by_itself = !stage.contains("64k");
        assert_eq!(
            medium.iter().any(|label| label == stage),
            by_itself,
            "{stage}: {medium:#?}"
        );
    }
    let small = "read (bs=4k, direct=yes, target=/dev/raw/raw1)";
    assert!(
        first(&stages, "one-at-a-time")
            .iter()
            .any(|label| label == small),
        "{stages:#?}"
    );
    // Large ones take the time of their bytes, which more in flight do not shorten.
    assert!(!says(
        &stages,
        "write (bs=1M, bytes=16GiB, direct=yes",
        "one-at-a-time"
    ));
    // Seed 003: whatever its size, what is not synced goes at the rate of the medium.
    let stages = of(3);
    let medium = first(&stages, "media-rate");
    for size in ["16KiB", "1MiB", "32MiB"] {
        let stage = format!("streaming (block_size={size}, mode=O_DIRECT)");
        assert!(medium.contains(&stage), "{stage}: {medium:#?}");
    }
    assert!(!says(
        &stages,
        "streaming (block_size=4KiB, mode=BUFFERED",
        "media-rate"
    ));
}

#[test]
fn a_rate_that_the_same_device_exceeds_is_not_called_that_of_its_medium() {
    // Seed 001: 48.9 to 102 MB/s from one device, by read-ahead and I/O context.
    let stages = of(1);
    assert!(!says(&stages, "read", "media-rate"), "{stages:#?}");
    // Seed 002: one figure for each volume, and no size of a block.
    let stages = of(2);
    for stage in ["get-block", "put-block", "rewrite", "disk-read"] {
        assert!(!says(&stages, stage, "media-rate"), "{stage}: {stages:#?}");
    }
    // Seed 004: one figure for each disk.
    assert!(!says(&of(4), "stated", "media-rate"));
}

#[test]
fn how_many_were_in_flight_is_not_said_where_the_document_leaves_it_open() {
    // Several processes of bonnie++ seek, and the kernel reads ahead of getc.
    let stages = of(2);
    assert!(!says(&stages, "seeks", "one-at-a-time"), "{stages:#?}");
    assert!(!says(&stages, "getc", "one-at-a-time"), "{stages:#?}");
    let stages = of(0);
    let ahead = "read (bs=4096, fraction=1/1, place=ext, skip=1)";
    assert!(!says(&stages, ahead, "one-at-a-time"), "{stages:#?}");
}

#[test]
fn strided_lines_are_listed_with_the_names_of_their_settings() {
    let mut run = runs_of(DOCUMENTS[0]).swap_remove(0);
    run.figures = diskfacts_facts::figures(&run);
    run.limits = diskfacts_facts::limits(&run);
    let look = Look {
        width: 80,
        colour: false,
        unicode: false,
    };
    let text = diskfacts_report::text::run(&run, &Closing::default(), &look);
    assert!(
        text.contains("read: bs=4096, fraction=1/1, place=ext, skip=1\n"),
        "{text}"
    );
    // Commands stay whole, to be typed as they are.
    let long = text
        .lines()
        .filter(|line| line.len() > 80 && !line.contains("--settle '"));
    assert_eq!(long.collect::<Vec<_>>(), [""; 0], "{text}");
}

#[test]
fn a_processor_at_work_is_not_laid_to_the_kernel_where_only_its_whole_time_is_told() {
    let stages = of(2);
    let busy = first(&stages, "cpu-kernel");
    assert!(
        busy.iter().any(|label| label.starts_with("putc")),
        "{busy:#?}"
    );
    let claims = stages.iter().flat_map(|(_, limits)| limits);
    for limit in claims.filter(|limit| limit.limiter == "cpu-kernel") {
        assert!(
            limit.claim.contains("the document does not say"),
            "{limit:#?}"
        );
    }
}
