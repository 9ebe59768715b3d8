//! `/proc/PID/smaps`: on which pages a mapping lies (proc(5); `fs/proc/task_mmu.c`).

use super::{lines, number, words};

/// How many bytes of the mappings that lie between the addresses `start` and
/// `end` are on huge pages, transparent or reserved.
///
/// The kernel joins neighbouring mappings of like kind and splits them at
/// will, so a mapping that reaches over the range is counted in proportion:
/// at most the bytes that it shares with the range.
///
/// `None` when the text has no mapping in the range, or no such counter.
pub fn huge_bytes(text: &[u8], start: u64, end: u64) -> Option<u64> {
    let mut sum = None;
    let mut shared = 0;
    for line in lines(text) {
        if let Some((from, to)) = address_range(line) {
            shared = to.min(end).saturating_sub(from.max(start));
        } else if let Some(bytes) = huge_counter(line).filter(|_| shared > 0) {
            sum = Some(sum.unwrap_or(0_u64).saturating_add(bytes.min(shared)));
        }
    }
    sum
}

/// `7f1c20000000-7f1c20400000 rw-p 00000000 00:00 0`.
fn address_range(line: &[u8]) -> Option<(u64, u64)> {
    let word = words(line).next()?;
    let dash = word.iter().position(|&byte| byte == b'-')?;
    let address = |digits: &[u8]| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    Some((address(&word[..dash])?, address(&word[dash + 1..])?))
}

/// `AnonHugePages:      2048 kB` or `Private_Hugetlb:        0 kB`, in bytes.
fn huge_counter(line: &[u8]) -> Option<u64> {
    let mut fields = words(line);
    let name = fields.next()?;
    if name != b"AnonHugePages:" && name != b"Private_Hugetlb:" {
        return None;
    }
    number::<u64>(fields.next()?)?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::huge_bytes;

    const TEXT: &[u8] = b"\
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
Size:               4096 kB
AnonHugePages:      2048 kB
Private_Hugetlb:       0 kB
7f0000400000-7f0000600000 rw-p 00000000 00:00 0 [stack]
AnonHugePages:         0 kB
Private_Hugetlb:    2048 kB
";

    #[test]
    fn only_mappings_in_the_range_are_counted() {
        let first = (0x7f00_0000_0000, 0x7f00_0040_0000);
        assert_eq!(huge_bytes(TEXT, first.0, first.1), Some(2 << 20));
        assert_eq!(
            huge_bytes(TEXT, first.0, first.1 + (2 << 20)),
            Some(4 << 20)
        );
        assert_eq!(huge_bytes(TEXT, 0x1000, 0x2000), None);
    }

    #[test]
    fn a_mapping_that_reaches_over_the_range_counts_at_most_what_it_shares() {
        assert_eq!(
            huge_bytes(TEXT, 0x7f00_0000_0000, 0x7f00_0010_0000),
            Some(1 << 20)
        );
    }
}
