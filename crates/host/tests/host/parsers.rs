//! Parsers, on what kernels really write and on anything else.

use diskfacts_host::parse::cpuinfo::parse_cpuinfo;
use diskfacts_host::parse::diskstats::{parse_any_stat, parse_diskstats, parse_stat};
use diskfacts_host::parse::group_memory::{parse_memory_limit, parse_memory_usage};
use diskfacts_host::parse::io_limits::{DeviceLimit, parse_blkio_throttle, parse_io_max};
use diskfacts_host::parse::journal::{parse_btrfs_commits, parse_jbd2_info, parse_xfs_stats};
use diskfacts_host::parse::meminfo::parse_meminfo;
use diskfacts_host::parse::mountinfo::parse_mountinfo;
use diskfacts_host::parse::mountstats::parse_mountstats;
use diskfacts_host::parse::os_release::parse_os_release;
use diskfacts_host::parse::pressure::parse_pressure;
use diskfacts_host::parse::process_io::parse_process_io;
use diskfacts_host::parse::process_status::parse_process_status;
use diskfacts_host::parse::stat::{parse_stat_block_softirqs, parse_stat_cpu};
use diskfacts_host::parse::swaps::parse_swaps;
use diskfacts_host::parse::sysfs_value::{
    parse_device_number, parse_dm_uuid, parse_scheduler, parse_vpd_rpm, parse_vpd_serial,
};
use diskfacts_host::parse::uptime::parse_uptime;
use diskfacts_host::parse::vmstat::parse_vmstat;
use diskfacts_host::signatures;
use diskfacts_record::evidence::{LimitOf, NfsCalls};
use proptest::prelude::*;

#[test]
fn a_mount_line_with_optional_columns_and_escapes_is_read() {
    let text = b"36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue\n";
    let mounts = parse_mountinfo(text).expect("a mount");
    let mount = &mounts[0];
    assert_eq!((mount.id, mount.parent), (36, 35));
    assert_eq!((mount.major, mount.minor), (98, 0));
    assert_eq!(mount.root, "/mnt1");
    assert_eq!(mount.mount_point, "/mnt 2");
    assert_eq!(mount.options, ["rw", "noatime"]);
    assert_eq!(mount.kind, "ext3");
    assert_eq!(mount.source, "/dev/root");
    assert_eq!(mount.super_option("errors"), Some("continue"));
    assert!(!mount.read_only());
}

#[test]
fn a_comma_in_a_folder_of_an_overlay_is_no_end_of_the_option() {
    let text = b"1 2 0:5 / / rw - overlay overlay rw,lowerdir=/a\\134,b:/c,upperdir=/u\n";
    let mounts = parse_mountinfo(text).expect("a mount");
    assert_eq!(mounts[0].super_option("lowerdir"), Some("/a,b:/c"));
    assert_eq!(mounts[0].super_option("upperdir"), Some("/u"));
}

#[test]
fn a_mount_without_a_source_is_read() {
    let mounts = parse_mountinfo(b"1 2 0:5 / /x rw -  tmpfs  rw\n");
    // The type is empty here, and the rest is shifted by it: still no panic.
    assert!(mounts.is_ok());
    let mounts = parse_mountinfo(b"1 2 0:5 / /x ro - tmpfs  rw\n").expect("a mount");
    assert_eq!(mounts[0].source, "");
    assert_eq!(mounts[0].super_options, ["rw"]);
    assert!(mounts[0].read_only());
}

#[test]
fn a_mount_line_that_is_cut_short_names_its_line() {
    let error = parse_mountinfo(b"1 2 0:5 / / rw - tmpfs x rw\n\n3 4 8:1 / /y rw shared:1\n")
        .expect_err("no hyphen");
    assert_eq!((error.format, error.line), ("mountinfo", 3));
    assert!(error.expected.contains("hyphen"));
}

#[test]
fn diskstats_of_all_kernels_are_read() {
    let old = b"   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n";
    let discards = b"   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n";
    let flushes = b"   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";
    let newer = b"   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19\n";
    let one = |text: &[u8]| parse_diskstats(text).expect("a line").remove(0);
    for text in [&old[..], discards, flushes, newer] {
        let line = one(text);
        assert_eq!((line.major, line.minor, &*line.name), (8, 0, "sda"));
        let stat = line.stat;
        assert_eq!(
            [
                stat.reads,
                stat.read_merges,
                stat.read_sectors,
                stat.read_ms
            ],
            [1, 2, 3, 4]
        );
        assert_eq!(
            [
                stat.writes,
                stat.write_merges,
                stat.write_sectors,
                stat.write_ms
            ],
            [5, 6, 7, 8]
        );
        assert_eq!(
            [stat.in_flight, stat.busy_ms, stat.weighted_ms],
            [9, 10, 11]
        );
    }
    assert_eq!(one(old).stat.discard, None);
    assert_eq!(
        one(discards).stat.discard.map(|discard| discard.ms),
        Some(15)
    );
    assert_eq!(one(discards).stat.flush, None);
    assert_eq!(one(flushes).stat.flush.map(|flush| flush.count), Some(16));
    assert_eq!(one(newer).stat, one(flushes).stat);
}

#[test]
fn the_stat_of_a_device_is_its_line_without_the_name() {
    let line = parse_diskstats(b" 7 0 loop0 9 8 7 6 5 4 3 2 1 0 1 2 3 4 5 6 7\n").expect("a line");
    let stat =
        parse_stat(b"       9        8        7        6        5 4 3 2 1 0 1 2 3 4 5 6 7\n");
    assert_eq!(stat.expect("counters"), line[0].stat);
}

#[test]
fn a_partition_of_linux_2_6_counts_requests_and_sectors_only() {
    let text = b"3 0 hda 1 2 3 4 5 6 7 8 9 10 11\n3 1 hda1 21 22 23 24\n";
    let lines = parse_diskstats(text).expect("lines");
    assert!(!lines[0].requests_only && lines[1].requests_only);
    let stat = lines[1].stat;
    assert_eq!(
        [
            stat.reads,
            stat.read_sectors,
            stat.writes,
            stat.write_sectors
        ],
        [21, 22, 23, 24]
    );
    assert_eq!(parse_any_stat(b"21 22 23 24\n"), Ok((stat, true)));
    // Where all counters are needed, these are too few.
    let error = parse_stat(b"21 22 23 24\n").expect_err("four counters");
    assert!(error.expected.contains("11"));
    let error = parse_diskstats(b"8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n8 1 sda1 1 2 3 4 5\n")
        .expect_err("five counters");
    assert_eq!(error.line, 2);
    assert!(error.expected.contains("11"));
}

#[test]
fn the_uptime_is_in_hundredths_of_a_second() {
    for (text, centiseconds) in [("23821.89 9029.18\n", 2_382_189), ("0.07 0.00", 7)] {
        assert_eq!(parse_uptime(text.as_bytes()), Ok(centiseconds));
    }
    for text in [
        "",
        "12",
        "12.5 3.0",
        "12.345",
        "-1.00",
        "+1.00",
        "1.0x",
        "99999999999999999999.00",
    ] {
        assert!(parse_uptime(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn process_io_needs_every_counter() {
    let text = b"rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n";
    let io = parse_process_io(text).expect("counters");
    assert_eq!((io.rchar, io.wchar, io.read_bytes), (1, 2, 5));
    assert_eq!((io.write_bytes, io.cancelled_write_bytes), (6, 7));
    let error = parse_process_io(b"rchar: 1\nwchar: 2\n").expect_err("no block counters");
    assert_eq!(error.expected, "read_bytes");
}

#[test]
fn pressure_with_and_without_a_full_line_is_read() {
    let both = parse_pressure(
        b"some avg10=0.00 avg60=0.02 avg300=0.11 total=4871218\nfull avg10=0.00 avg60=0.02 avg300=0.11 total=4681287\n",
    )
    .expect("totals");
    assert_eq!((both.some_us, both.full_us), (4_871_218, Some(4_681_287)));
    let some = parse_pressure(b"some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n").expect("one");
    assert_eq!((some.some_us, some.full_us), (7, None));
    assert!(parse_pressure(b"").is_err());
}

#[test]
fn swap_areas_are_read_behind_the_heading() {
    let text = b"Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/dm-1                               partition\t4194300\t\t12\t\t-2\n/swap\\040file file 1024 0 -3\n";
    let swaps = parse_swaps(text).expect("two");
    assert_eq!(swaps.len(), 2);
    assert_eq!(
        (swaps[0].path.to_str(), swaps[0].size_kib),
        (Some("/dev/dm-1"), 4_194_300)
    );
    assert_eq!(swaps[1].path.to_str(), Some("/swap file"));
    assert!(
        parse_swaps(b"Filename Type Size\n")
            .expect("none")
            .is_empty()
    );
}

#[test]
fn meminfo_counts_in_kib() {
    let memory = parse_meminfo(b"MemTotal:       24684084 kB\nMemFree: 1 kB\nMemAvailable:   100 kB\nDirty:  12 kB\nWriteback: 0 kB\n")
        .expect("memory");
    assert_eq!(memory.total_bytes, 24_684_084 * 1024);
    assert_eq!(memory.available_bytes, Some(102_400));
    assert_eq!(memory.dirty_bytes, Some(12_288));
    assert_eq!(memory.writeback_bytes, Some(0));
    assert!(parse_meminfo(b"MemFree: 1 kB\n").is_err());
}

#[test]
fn processors_of_several_architectures_name_themselves() {
    let model = |text: &[u8]| parse_cpuinfo(text).model;
    assert_eq!(
        model(b"model name\t: AMD EPYC\n").as_deref(),
        Some("AMD EPYC")
    );
    assert_eq!(
        model(b"processor\t: 0\ncpu\t\t: POWER9, altivec supported\n").as_deref(),
        Some("POWER9, altivec supported")
    );
    assert_eq!(
        model(b"hart : 0\nuarch\t: sifive,u74-mc\n").as_deref(),
        Some("sifive,u74-mc")
    );
    assert_eq!(model(b"vendor_id : IBM/S390\n"), None);
    assert_eq!(
        parse_cpuinfo(b"flags\t: fpu hypervisor\n").hypervisor,
        Some(true)
    );
    assert_eq!(
        parse_cpuinfo(b"flags\t: fpu hypervisors\n").hypervisor,
        Some(false)
    );
    assert_eq!(parse_cpuinfo(b"").hypervisor, None);
}

#[test]
fn the_name_of_the_system_is_unquoted() {
    let name = |text: &[u8]| parse_os_release(text);
    assert_eq!(
        name(b"NAME=Debian\nPRETTY_NAME=\"Debian \\\"12\\\"\"\n").as_deref(),
        Some("Debian \"12\"")
    );
    assert_eq!(name(b"NAME='Arch Linux'\n").as_deref(), Some("Arch Linux"));
    assert_eq!(
        name(b"NAME=A\nVERSION=\"1 (b)\"\n").as_deref(),
        Some("A 1 (b)")
    );
    assert_eq!(name(b"# nothing\n"), None);
}

#[test]
fn the_status_of_a_process_tells_user_and_processors() {
    let status = parse_process_status(b"Uid:\t1000\t0\t0\t0\nCpus_allowed_list:\t0-3,8,10-11\n");
    assert_eq!(status.effective_user, Some(0));
    assert_eq!(status.cpus, Some(7));
    let broken = parse_process_status(b"Uid:\t1000\nCpus_allowed_list:\t3-1\n");
    assert_eq!((broken.effective_user, broken.cpus), (None, None));
}

#[test]
fn stolen_time_is_absent_on_kernels_that_do_not_count_it() {
    let cpu =
        parse_stat_cpu(b"cpu  10 1 5 100 7 2 3 44 0 0\ncpu0 1 2 3\nintr 1 2").expect("a line");
    assert_eq!(
        (
            cpu.user_ticks,
            cpu.nice_ticks,
            cpu.system_ticks,
            cpu.idle_ticks
        ),
        (10, 1, 5, 100)
    );
    assert_eq!((cpu.iowait_ticks, cpu.interrupt_ticks), (7, 5));
    assert_eq!(cpu.steal_ticks, Some(44));
    let old = parse_stat_cpu(b"cpu  10 1 5 100 7 2 3\n").expect("a line");
    assert_eq!(old.steal_ticks, None);
    assert!(parse_stat_cpu(b"cpu0 1 2 3 4 5 6 7 8\n").is_err());
}

#[test]
fn limits_of_a_control_group_are_read_and_max_is_none() {
    let limits = parse_io_max(b"8:16 rbps=2097152 wbps=max riops=max wiops=120 later=7\n");
    let limit = |of, per_s| DeviceLimit {
        device: (8, 16),
        of,
        per_s,
    };
    assert_eq!(
        limits,
        Ok(vec![
            limit(LimitOf::ReadBytes, 2_097_152),
            limit(LimitOf::Writes, 120)
        ])
    );
    assert_eq!(parse_io_max(b""), Ok(vec![]));
    assert_eq!(
        parse_io_max(b"8:0 rbps=max\n8 rbps=1\n")
            .expect_err("no device")
            .line,
        2
    );
    assert!(parse_io_max(b"8:0 rbps=many\n").is_err());
    assert_eq!(
        parse_blkio_throttle(b"8:16 1048576\n", LimitOf::ReadBytes),
        Ok(vec![limit(LimitOf::ReadBytes, 1_048_576)])
    );
    assert!(parse_blkio_throttle(b"8:16\n", LimitOf::Reads).is_err());
}

#[test]
fn dirty_pages_are_read_from_a_file_that_is_cut_off() {
    let text = b"nr_dirty 1\nnr_writeback 2\nnr_dirtied 3\nnr_written 4\nnr_dirty_threshold 5\n\
                 nr_dirty_background_threshold 6\npgpgi";
    let counts = parse_vmstat(text).expect("counts");
    assert_eq!((counts.dirty, counts.writeback, counts.dirtied), (1, 2, 3));
    assert_eq!((counts.written, counts.threshold), (4, 5));
    assert_eq!(counts.background_threshold, 6);
    // Half a number is none.
    let cut = parse_vmstat(&text[..text.len() - 7]);
    assert!(cut.expect_err("cut off").expected.contains("thresholds"));
}

#[test]
fn journals_count_in_their_own_ways() {
    let info = b"1234 transactions (1200 requested), each up to 8192 blocks\naverage:\n";
    assert_eq!(parse_jbd2_info(info), Ok(1234));
    assert!(parse_jbd2_info(b"").is_err());
    let log = parse_xfs_stats(b"trans 116 8521 0\nlog 272 816 0 388 272\npush").expect("a log");
    assert_eq!((log.writes, log.bytes), (272, 816 * 512));
    assert!(parse_xfs_stats(b"log 272\n").is_err());
    let stats =
        b"commits 7\ncur_commit_ms 0\nlast_commit_ms 3\nmax_commit_ms 9\ntotal_commit_ms 41\n";
    let all = parse_btrfs_commits(stats).expect("its transactions");
    assert_eq!((all.commits, all.total_ms), (7, 41));
    assert!(parse_btrfs_commits(b"commits 7\n").is_err());
}

/// What the client of Linux 6.1 prints of a mount of version 4.2, among others.
const MOUNTSTATS: &[u8] = include_bytes!("../../../../fuzz/corpus/mountstats/nfs4");

#[test]
fn an_nfs_mount_has_bytes_and_calls_and_other_mounts_have_none() {
    let mount = parse_mountstats(MOUNTSTATS, "/mnt/nfs").expect("it parses");
    let mount = mount.expect("it is there");
    assert_eq!(mount.cached_read_bytes, 1 << 20);
    assert_eq!(mount.direct_read_bytes, 32 << 20);
    assert_eq!(mount.server_read_bytes, 33 << 20);
    assert_eq!(mount.server_write_bytes, 16 << 20);
    let reads = NfsCalls {
        calls: 520,
        sent: 521,
        timeouts: 1,
        queued_ns: 12_000_000,
        round_trip_ns: 1_560_000_000,
        total_ns: 1_600_000_000,
    };
    assert_eq!(mount.reads, Some(reads));
    assert_eq!(mount.commits.map(|commits| commits.calls), Some(2));
    for folder in ["/", "/proc", "/odd", "/mnt", ""] {
        assert_eq!(parse_mountstats(MOUNTSTATS, folder), Ok(None), "{folder}");
    }
}

#[test]
fn reads_that_leave_out_holes_are_reads() {
    let text = include_bytes!("../../../../fuzz/corpus/mountstats/nfs42_read_plus");
    let plus = parse_mountstats(text, "/mnt/nfs").expect("it parses");
    let plain = parse_mountstats(MOUNTSTATS, "/mnt/nfs").expect("it parses");
    assert_eq!(plus, plain);
}

#[test]
fn an_nfs_mount_of_version_3_at_a_folder_with_a_blank_is_found() {
    let text = include_bytes!("../../../../fuzz/corpus/mountstats/nfs3_with_blank_and_nconnect");
    let mount = parse_mountstats(text, "/srv/a b").expect("it parses");
    let mount = mount.expect("it is there");
    assert_eq!(mount.server_read_bytes, 1);
    assert_eq!(mount.reads, Some(NfsCalls::default()));
    assert_eq!(mount.writes, None);
}

#[test]
fn of_nfs_mounts_one_over_the_other_the_last_is_the_one_that_is_seen() {
    let twice = [MOUNTSTATS, MOUNTSTATS].concat();
    let twice = String::from_utf8(twice).expect("text");
    let twice = twice.replacen("bytes:\t1048576", "bytes:\t7", 1);
    let mount = parse_mountstats(twice.as_bytes(), "/mnt/nfs").expect("it parses");
    assert_eq!(mount.expect("it is there").cached_read_bytes, 1 << 20);
}

#[test]
fn an_nfs_section_without_its_bytes_is_refused_with_the_line_where_it_begins() {
    let text = include_bytes!("../../../../fuzz/corpus/mountstats/cut_short");
    let error = parse_mountstats(text, "/mnt/nfs").expect_err("cut short");
    assert!(
        error
            .to_string()
            .starts_with("mountstats, line 1: a line `bytes:`"),
        "{error}"
    );
    let error = parse_mountstats(
        b"device a:/ mounted on /n with fstype nfs4\n\tbytes:\t1 2 3\n",
        "/n",
    );
    let error = error.expect_err("numbers are missing");
    assert!(error.to_string().contains("line 2: six numbers"), "{error}");
}

#[test]
fn the_scheduler_in_brackets_is_the_one_in_use() {
    let (current, all) = parse_scheduler("none [mq-deadline] kyber bfq \n");
    assert_eq!(current.as_deref(), Some("mq-deadline"));
    assert_eq!(all, ["none", "mq-deadline", "kyber", "bfq"]);
    let (current, all) = parse_scheduler("none\n");
    assert_eq!(current.as_deref(), Some("none"));
    assert_eq!(all, ["none"]);
    assert_eq!(parse_scheduler("a b").0, None);
    assert_eq!(parse_scheduler(""), (None, Vec::new()));
}

#[test]
fn the_kind_of_a_mapping_is_the_prefix_of_its_uuid() {
    let kind = |uuid| parse_dm_uuid(uuid);
    assert_eq!(kind("LVM-AbC").as_deref(), Some("lvm"));
    assert_eq!(kind("CRYPT-LUKS2-0f1e-name").as_deref(), Some("crypt"));
    assert_eq!(kind("mpath-3600508b4").as_deref(), Some("mpath"));
    assert_eq!(kind("part2-mpath-3600508b4").as_deref(), Some("part"));
    assert_eq!(kind(""), None);
}

#[test]
fn the_serial_number_of_a_scsi_disk_is_read_from_its_page() {
    assert_eq!(
        parse_vpd_serial(b"\0\x80\0\x06 AB12 ").as_deref(),
        Some("AB12")
    );
    // The length may promise more than there is.
    assert_eq!(parse_vpd_serial(b"\0\x80\0\x40AB").as_deref(), Some("AB"));
    assert_eq!(parse_vpd_serial(b"\0\x83\0\x02AB"), None);
    assert_eq!(parse_vpd_serial(b"\0\x80\0\0"), None);
    assert_eq!(parse_vpd_serial(b"\0"), None);
}

#[test]
fn the_speed_of_a_disk_is_what_it_states() {
    let page = |high: u8, low: u8| parse_vpd_rpm(&[0, 0xb1, 0, 0x3c, high, low, 0, 0]);
    assert_eq!(page(0x1c, 0x20), Some(7200));
    assert_eq!(page(0x15, 0x18), Some(5400));
    // Not reported, flash, and what the standard leaves open.
    assert_eq!(page(0, 0), None);
    assert_eq!(page(0, 1), None);
    assert_eq!(page(4, 0), None);
    assert_eq!(page(0xff, 0xff), None);
    assert_eq!(parse_vpd_rpm(&[0, 0xb0, 0, 0x3c, 0x1c, 0x20]), None);
    assert_eq!(parse_vpd_rpm(&[0, 0xb1, 0, 0x3c, 0x1c]), None);
}

#[test]
fn a_device_number_is_two_numbers() {
    assert_eq!(parse_device_number("259:12\n"), Some((259, 12)));
    assert_eq!(parse_device_number("259"), None);
    assert_eq!(parse_device_number("a:b"), None);
}

/// Bytes, and text that looks like what the kernel writes.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        "[0-9]{1,22}",
        "[a-z:=.,/-]{0,12}",
        Just("-".to_owned()),
        Just("\\040\\".to_owned()),
        Just("some total=".to_owned()),
        Just("cpu ".to_owned()),
        Just("MemTotal:".to_owned()),
    ];
    let line = proptest::collection::vec(word, 0..24).prop_map(|words| words.join(" "));
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..400),
        proptest::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n").into_bytes()),
    ]
}

proptest! {
    #[test]
    fn no_input_makes_a_parser_panic(bytes in input()) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = parse_diskstats(&bytes);
        let _ = parse_stat(&bytes);
        let _ = parse_mountinfo(&bytes);
        let _ = parse_process_io(&bytes);
        let _ = parse_pressure(&bytes);
        let _ = parse_swaps(&bytes);
        let _ = parse_meminfo(&bytes);
        let _ = parse_cpuinfo(&bytes);
        let _ = parse_os_release(&bytes);
        let _ = parse_process_status(&bytes);
        let _ = parse_stat_cpu(&bytes);
        let _ = parse_uptime(&bytes);
        let _ = parse_any_stat(&bytes);
        let _ = parse_vmstat(&bytes);
        let _ = parse_io_max(&bytes);
        let _ = parse_blkio_throttle(&bytes, LimitOf::Reads);
        let _ = parse_jbd2_info(&bytes);
        let _ = parse_xfs_stats(&bytes);
        let _ = parse_vpd_serial(&bytes);
        let _ = parse_vpd_rpm(&bytes);
        let _ = parse_scheduler(&text);
        let _ = parse_dm_uuid(&text);
        let _ = parse_device_number(&text);
        let _ = signatures(&bytes);
    }

    #[test]
    fn any_mount_point_survives_the_escapes_of_the_kernel(point in "/[ -~\t]{0,30}") {
        let escaped: String = point
            .chars()
            .map(|character| match character {
                ' ' | '\t' | '\n' | '\\' | '#' => format!("\\{:03o}", u32::from(character)),
                other => other.to_string(),
            })
            .collect();
        let line = format!("1 2 8:1 / {escaped} rw - ext4 /dev/sda1 rw");
        let mounts = parse_mountinfo(line.as_bytes()).expect("a mount");
        prop_assert_eq!(&mounts[0].mount_point, &point);
    }

    #[test]
    fn the_name_of_a_device_and_its_counters_come_back(
        name in "[a-z]{1,6}[0-9]{0,2}",
        values in proptest::collection::vec(any::<u64>(), 11..24),
    ) {
        let words: Vec<String> = values.iter().map(u64::to_string).collect();
        let line = format!("8 1 {name} {}", words.join(" "));
        let lines = parse_diskstats(line.as_bytes()).expect("a line");
        prop_assert_eq!(&lines[0].name, &name);
        prop_assert_eq!(lines[0].stat.reads, values[0]);
        prop_assert_eq!(lines[0].stat.weighted_ms, values[10]);
        prop_assert_eq!(lines[0].stat.discard.is_some(), values.len() >= 15);
        prop_assert_eq!(lines[0].stat.flush.is_some(), values.len() >= 17);
    }
}

#[test]
fn a_memory_limit_is_bytes_or_none_in_both_versions() {
    assert_eq!(parse_memory_limit(b"max\n"), Ok(None));
    assert_eq!(parse_memory_limit(b"536870912\n"), Ok(Some(512 << 20)));
    // PAGE_COUNTER_MAX in pages of 4 and of 64 KiB.
    for none in [&b"9223372036854771712\n"[..], b"9223372036854710272\n"] {
        assert_eq!(parse_memory_limit(none), Ok(None));
    }
    assert_eq!(parse_memory_usage(b"300000000\n"), Ok(300_000_000));
    for wrong in [&b""[..], b"-1\n", b"1 2\n", b"1\n2\n"] {
        assert!(parse_memory_limit(wrong).is_err());
        assert!(parse_memory_usage(wrong).is_err());
    }
    assert!(parse_memory_usage(b"max\n").is_err());
}

#[test]
fn soft_interrupts_of_block_devices_are_the_sixth_number_if_it_is_whole() {
    let whole = b"cpu  1 2 3 4 5 6 7\nsoftirq 61044617 0 2399646 4 41662 49124501 0 402\n";
    assert_eq!(parse_stat_block_softirqs(whole), Ok(Some(49_124_501)));
    let cut = b"softirq 61044617 0 2399646 4 41662 4912";
    assert_eq!(parse_stat_block_softirqs(cut), Ok(None));
    assert_eq!(parse_stat_block_softirqs(b"cpu  1 2 3 4 5 6 7\n"), Ok(None));
    let wrong = parse_stat_block_softirqs(b"softirq 1 2 3 4 5 x 7\n").expect_err("a letter");
    assert!(wrong.to_string().contains('x'), "{wrong}");
    let cpu = parse_stat_cpu(whole).expect("the times");
    assert_eq!((cpu.interrupt_ticks, cpu.soft_interrupt_ticks), (13, 7));
}
