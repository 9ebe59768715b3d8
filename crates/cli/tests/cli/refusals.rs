//! Attempts to write what somebody uses, or what holds data: each must be refused, say
//! why, and leave every byte as it was. After the obstacle is gone the same call is
//! accepted, so that none is refused for another reason.

mod devices;
mod doors;
mod files;
mod guards;
mod kernel_settings;
mod marks;
mod mounted_files;
mod names;
mod overlaps;
mod unnamed;

use crate::support::Case;
use diskfacts_testkit::Program;
use doors::Door;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// How many attempts each of the tests makes.
const ATTEMPTS: [(&str, usize); 38] = [
    // Each of the tests with a mark makes as many.
    ("a mark", 2),
    ("mounted", 16),
    ("swap", 8),
    ("held", 8),
    ("partition", 12),
    ("read-only", 8),
    ("other namespace", 2),
    ("overlap mounted", 10),
    ("overlap mark", 2),
    ("overlap held", 2),
    ("overlap swap", 2),
    ("overlap partition", 2),
    ("overlap other namespace", 2),
    ("loop on device", 4),
    ("loop on disk", 4),
    ("looped swap file", 2),
    ("looped file", 11),
    ("looped deleted", 9),
    ("looped elsewhere", 3),
    ("looped chroot", 2),
    ("looped decoy", 2),
    ("looped hidden", 3),
    ("looped odd names", 8),
    ("looped overlay", 2),
    ("looped part", 2),
    ("mounted file", 8),
    ("open in the kernel", 2),
    ("mounted by a program", 8),
    ("below an overlay", 4),
    ("kernel setting", 16),
    ("unasked loop", 3),
    ("swap file", 10),
    ("swap odd names", 6),
    ("swap hidden", 1),
    ("named elsewhere", 4),
    ("device elsewhere", 2),
    ("unnamed", 10),
    ("standard output", 3),
];

/// That so many ran is seen by the test command, to which [`Attempts::end`] says them.
#[test]
fn more_than_120_attempts_are_made_where_every_test_runs() {
    let users: usize = ATTEMPTS.iter().map(|(_, attempts)| attempts).sum();
    let all = users + marks::MADE + marks::BY_HAND_ATTEMPTS;
    assert!(all >= 120, "{all}");
}

/// The attempts of one test.
struct Attempts<'a> {
    case: &'a Case,
    /// What must keep its bytes.
    watched: Vec<PathBuf>,
    sums: Vec<u64>,
    name: &'static str,
    made: usize,
}

impl<'a> Attempts<'a> {
    fn new<const N: usize>(case: &'a Case, name: &'static str, watched: [&Path; N]) -> Self {
        assert!(N > 0, "{name}: nothing is watched");
        let watched: Vec<PathBuf> = watched.into_iter().map(Path::to_owned).collect();
        Self {
            case,
            sums: watched.iter().map(|path| sum(path)).collect(),
            watched,
            name,
            made: 0,
        }
    }

    /// This must keep its bytes, too.
    fn watch(&mut self, path: &Path) {
        self.watched.push(path.to_owned());
        self.sums.push(sum(path));
    }

    /// By this door, with the target as what may be destroyed.
    #[track_caller]
    fn refused(&mut self, door: Door, target: &Path, said: &[&str]) {
        let mut all = vec!["despite --destroy-data-on", "Nothing was written"];
        all.extend(said);
        self.refused_call(&door.program(self.case, target), &all);
    }

    /// Whatever the call is.
    #[track_caller]
    fn refused_call(&mut self, program: &Program, said: &[&str]) {
        let finished = program.run();
        finished.expect_code(2);
        for text in said {
            finished.expect_stderr(text);
        }
        assert_eq!(finished.stdout, "", "{finished}");
        assert!(!finished.stderr.contains("panicked"), "{finished}");
        assert!(!self.case.store().exists(), "{finished}");
        self.unchanged();
    }

    /// An attempt was made; it must have written nothing.
    #[track_caller]
    fn unchanged(&mut self) {
        for (path, before) in self.watched.iter().zip(&self.sums) {
            assert_eq!(sum(path), *before, "{} was written", path.display());
        }
        self.made += 1;
    }

    /// By every door.
    #[track_caller]
    fn refused_by_all(&mut self, target: &Path, said: &[&str]) {
        for door in Door::ALL {
            self.refused(door, target, said);
        }
    }

    /// By a door of each kind: a plan, and a copy.
    #[track_caller]
    fn refused_by_both(&mut self, target: &Path, said: &[&str]) {
        for door in Door::OF_EACH_KIND {
            self.refused(door, target, said);
        }
    }

    /// Holds the number of attempts against the table, and says that they ran.
    #[track_caller]
    fn end(self) {
        assert_eq!(self.of_table(), Some(self.made), "{}", self.name);
        diskfacts_testkit::refused(self.made);
    }

    fn of_table(&self) -> Option<usize> {
        ATTEMPTS
            .iter()
            .find_map(|(name, attempts)| (*name == self.name).then_some(*attempts))
    }
}

/// Nothing stands in the way any longer: by both kinds of doors it is written.
#[track_caller]
fn accepted(target: &Path, watched: &Path) {
    for door in Door::OF_EACH_KIND {
        let case = Case::new();
        let before = sum(watched);
        door.program(&case, target).run().expect_code(0);
        assert_ne!(sum(watched), before, "{door:?} wrote nothing");
    }
}

/// A sum of all bytes of a file or device, and of its length; zeros count by their
/// place alone, so that sparse images cost nothing.
fn sum(path: &Path) -> u64 {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let length = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0)).expect("its length");
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(length);
    let (mut piece, mut at) = (vec![0; 1 << 16], 0_u64);
    while at < length {
        // What cannot tell holes tells data everywhere.
        let data = rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(at));
        match data {
            Err(rustix::io::Errno::NXIO) => break,
            Err(_) => {}
            // Pieces begin at the same places, wherever data begins.
            Ok(data) => at = data / (1 << 16) * (1 << 16),
        }
        let wanted = usize::try_from((length - at).min(1 << 16)).expect("at most 64 KiB");
        file.read_exact_at(&mut piece[..wanted], at)
            .unwrap_or_else(|error| panic!("{} at {at}: {error}", path.display()));
        if piece[..wanted].iter().any(|byte| *byte != 0) {
            hasher.write_u64(at);
            hasher.write(&piece[..wanted]);
        }
        at += 1 << 16;
    }
    hasher.finish()
}

#[test]
fn the_sum_tells_every_changed_byte_and_no_hole_from_zeros() {
    let case = Case::new();
    let (sparse, full) = (case.path("sparse"), case.path("full"));
    let file = File::create(&sparse).expect("a file");
    file.set_len(300_000).expect("its length");
    std::fs::write(&full, vec![0; 300_000]).expect("a file");
    assert_eq!(sum(&sparse), sum(&full));
    let mut sums = vec![sum(&sparse)];
    for place in [0, 65_535, 65_536, 199_999, 299_999] {
        file.write_all_at(&[1], place).expect("a byte");
        sums.push(sum(&sparse));
    }
    file.set_len(299_999).expect("its length");
    sums.push(sum(&sparse));
    let mut different = sums.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), sums.len());
}
