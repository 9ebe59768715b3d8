//! Flaws that only the decisions of read-ahead show, which have to be observed.

use super::setup::Setup;
use super::{claims, rules_of};
use diskfacts_plan::{CacheMode, Observe, Pattern, Stop, Workload};
use diskfacts_record::Run;

/// Rules that are planted here. `read-ahead-limit` speaks of documents too, and is
/// planted there.
pub(super) const RULES: [&str; 2] = ["read-ahead-pattern", "read-ahead-unused"];

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A stage that reads through an emptied page cache.
fn reads(disk: &str, change: impl FnOnce(&mut Setup, &mut Workload)) -> Run {
    let mut setup = Setup::on(disk);
    let mut workload = Workload {
        pattern: Pattern::Sequential,
        block_size: 64 * KIB,
        cache: CacheMode::Cold,
        observe: Observe::All,
        span: Some(512 * MIB),
        stop: Stop {
            bytes: Some(256 * MIB),
            ..Stop::default()
        },
        ..Workload::default()
    };
    change(&mut setup, &mut workload);
    setup.only("sequential-read").workload = workload;
    setup.run()
}

#[test]
fn windows_that_stay_at_a_small_limit_are_found_on_a_disk_that_turns() {
    let run = reads("hdd-7200-1tb", |_, _| {});
    assert_eq!(
        rules_of(&run),
        ["read-ahead-limit"],
        "{}",
        claims(&run.findings)
    );
    let finding = &run.findings[0];
    assert!(finding.claim.contains("128 KiB"), "{}", finding.claim);
    assert!(
        finding.remedy.contains("read_ahead = \"1MiB\""),
        "{}",
        finding.remedy
    );
    // And with what it says to type, it has nothing to say.
    let run = reads("hdd-7200-1tb", |setup, _| {
        let mut host = setup.profile.host_or_default();
        host.read_ahead = MIB;
        setup.profile.host = Some(host);
    });
    assert_eq!(rules_of(&run), [""; 0], "{}", claims(&run.findings));
}

#[test]
fn streams_that_share_a_descriptor_are_found_and_those_with_their_own_are_not() {
    for shared in [true, false] {
        let run = reads("ssd-sata", |setup, workload| {
            workload.streams = 2;
            setup.plant.one_descriptor = shared;
        });
        let found: &[&str] = if shared { &["read-ahead-pattern"] } else { &[] };
        assert_eq!(rules_of(&run), found, "{}", claims(&run.findings));
    }
}

#[test]
fn pages_that_nobody_came_for_are_found_beside_the_bytes_that_are_too_many() {
    // One block of four on average, and now and then two in a row.
    let run = reads("ssd-sata", |_, workload| {
        workload.block_size = 16 * KIB;
        workload.pattern = Pattern::Stride {
            skip_blocks: 4,
            fixed: false,
            from_start: true,
        };
        workload.stop.bytes = Some(64 * MIB);
    });
    let found = rules_of(&run);
    assert_eq!(
        found,
        ["bytes-disagree", "read-ahead-unused"],
        "{}",
        claims(&run.findings)
    );
}
