//! The targets of a device-mapper device and what each says of itself: what the
//! ioctl `DM_TABLE_STATUS` leaves in its buffer, without the head.
//!
//! The kind of line is `STATUSTYPE_INFO`. The other kind, the table, holds the keys of
//! `crypt`; it is never asked for.
//!
//! Source: kernel, `include/uapi/linux/dm-ioctl.h`, `retrieve_status` in
//! `drivers/md/dm-ioctl.c`, and `Documentation/admin-guide/device-mapper/*.rst`.

use super::ParseError;

/// Bytes of a `struct dm_target_spec`.
const SPEC_BYTES: usize = 40;
/// Where in it the type stands, NUL behind it.
const TYPE: std::ops::Range<usize> = 24..40;

const FORMAT: &str = "dm_status";

/// One target of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DmTarget {
    /// Its type: `linear`, `thin`.
    pub kind: String,
    /// What it says of itself; empty where it has nothing to say.
    pub status: String,
}

/// The targets in a buffer, in their order; `count` is what the head says.
///
/// # Errors
/// When the buffer is too short for them, or the place of the next does not lie behind
/// the one before it.
pub fn parse_dm_status(buffer: &[u8], count: u32) -> Result<Vec<DmTarget>, ParseError> {
    let mut targets = Vec::new();
    let mut at = 0_usize;
    for index in 0..count as usize {
        let wrong = |expected| ParseError::at(FORMAT, index, expected, &format!("byte {at}"));
        let spec = at
            .checked_add(SPEC_BYTES)
            .and_then(|end| buffer.get(at..end))
            .ok_or_else(|| wrong("a whole target"))?;
        let rest = &buffer[at + SPEC_BYTES..];
        targets.push(DmTarget {
            kind: text(&spec[TYPE]),
            status: text(rest),
        });
        let next = u32::from_ne_bytes([spec[20], spec[21], spec[22], spec[23]]) as usize;
        if index + 1 < count as usize && next < at + SPEC_BYTES {
            return Err(wrong("a target behind the one before"));
        }
        at = next;
    }
    Ok(targets)
}

/// What stands before the first NUL.
fn text(bytes: &[u8]) -> String {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// What a target of type `raid` says (`dm-raid.rst`, "Status Output").
#[derive(Debug, Clone, PartialEq)]
pub struct DmRaid {
    /// `raid5_ls`, as dm-raid calls it.
    pub kind: String,
    /// A letter for each member: `A` in sync, `a` alive and not in sync, `D` failed,
    /// `-` missing.
    pub health: String,
    /// Share that is in sync, from 0 to 1.
    pub in_sync: Option<f64>,
    /// `idle`, `recover`, `resync`, `check`, `repair`, `reshape`, `frozen`.
    pub action: Option<String>,
}

/// `raid1 2 AA 2048/2048 idle 0 0 -`.
pub fn parse_dm_raid(status: &str) -> Option<DmRaid> {
    let mut words = status.split_ascii_whitespace();
    let kind = words.next()?.to_owned();
    let members: usize = words.next()?.parse().ok()?;
    let health = words.next()?.to_owned();
    let (done, all) = words.next()?.split_once('/')?;
    let (done, all): (u64, u64) = (done.parse().ok()?, all.parse().ok()?);
    (health.chars().count() == members).then(|| DmRaid {
        kind,
        health,
        in_sync: (all > 0).then(|| (done as f64 / all as f64).min(1.0)),
        action: words.next().map(str::to_owned),
    })
}

/// The health letters of a `mirror` or `striped` target: the word behind its members and
/// a `1`, or, of a mirror, behind its ratio and a `1` (`dm-raid1.c`, `dm-stripe.c`).
pub fn parse_dm_members(status: &str) -> Option<String> {
    let words: Vec<&str> = status.split_ascii_whitespace().collect();
    let members: usize = words.first()?.parse().ok()?;
    let letters = words.get(1_usize.checked_add(members)?..)?.iter();
    letters
        .copied()
        .find(|word| word.len() == members && word.bytes().all(|b| b.is_ascii_uppercase()))
        .map(str::to_owned)
}

/// The paths of a `multipath` target: how many there are, and the numbers of those that
/// failed, `8:16`.
pub fn parse_dm_paths(status: &str) -> (u64, Vec<String>) {
    let words: Vec<&str> = status.split_ascii_whitespace().collect();
    let mut paths = 0_u64;
    let mut failed = Vec::new();
    for pair in words.windows(2) {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let is_path = pair[0]
            .split_once(':')
            .is_some_and(|(major, minor)| is_number(major) && is_number(minor));
        match (is_path, pair[1]) {
            (true, "A") => paths += 1,
            (true, "F") => {
                paths += 1;
                failed.push(pair[0].to_owned());
            }
            _ => {}
        }
    }
    (paths, failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer as `retrieve_status` fills it: `next` counts from its beginning, and each
    /// target begins at a multiple of 8.
    fn buffer(targets: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (kind, status) in targets {
            let mut spec = vec![0_u8; SPEC_BYTES];
            spec[24..24 + kind.len()].copy_from_slice(kind.as_bytes());
            let length = (SPEC_BYTES + status.len() + 1).next_multiple_of(8);
            let next = u32::try_from(bytes.len() + length).unwrap();
            spec[20..24].copy_from_slice(&next.to_ne_bytes());
            let end = bytes.len() + length;
            bytes.extend(spec);
            bytes.extend(status.as_bytes());
            bytes.resize(end, 0);
        }
        bytes
    }

    #[test]
    fn targets_are_read_one_behind_the_other() {
        let bytes = buffer(&[("linear", ""), ("raid", "raid1 2 Aa 10/40 recover 0 0 -")]);
        let targets = parse_dm_status(&bytes, 2).unwrap();
        let kinds: Vec<&str> = targets.iter().map(|t| t.kind.as_str()).collect();
        assert_eq!(kinds, ["linear", "raid"]);
        let raid = parse_dm_raid(&targets[1].status).unwrap();
        assert_eq!((raid.kind.as_str(), raid.health.as_str()), ("raid1", "Aa"));
        assert_eq!(raid.in_sync, Some(0.25));
        assert_eq!(raid.action.as_deref(), Some("recover"));
        assert_eq!(parse_dm_status(&[], 0), Ok(Vec::new()));
    }

    #[test]
    fn a_buffer_that_does_not_hold_what_its_head_says_is_refused() {
        let bytes = buffer(&[("linear", "")]);
        for (bytes, count) in [(&bytes[..20], 1), (&bytes[..], 2), (&[][..], 1)] {
            assert!(parse_dm_status(bytes, count).is_err());
        }
        let mut circle = buffer(&[("linear", ""), ("linear", "")]);
        circle[20..24].copy_from_slice(&0_u32.to_ne_bytes());
        assert!(parse_dm_status(&circle, 2).is_err());
    }

    #[test]
    fn failed_paths_and_members_are_told_apart_from_sound_ones() {
        // Linux 6.1, two groups of one path each, the second one failed.
        let status = "2 0 1 0 2 1 A 0 1 2 8:16 A 0 0 1 E 0 1 2 8:32 F 3 0 1";
        assert_eq!(parse_dm_paths(status), (2, vec!["8:32".to_owned()]));
        assert_eq!(parse_dm_paths(""), (0, Vec::new()));
        assert_eq!(
            parse_dm_members("2 253:0 253:1 400/400 1 AD 1 core").as_deref(),
            Some("AD")
        );
        assert_eq!(
            parse_dm_members("3 8:0 8:16 8:32 1 AAA").as_deref(),
            Some("AAA")
        );
        assert_eq!(parse_dm_members("18446744073709551615 8:0"), None);
        assert_eq!(parse_dm_raid("raid5_ls 3 AA 1/2"), None);
    }
}
