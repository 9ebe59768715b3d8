//! `/proc/locks`.

use directio::parse::file_locks::{FileLockLine, parse};

/// What is read, printed as the kernel prints it, is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let locks = parse(input);
    let text: String = locks
        .iter()
        .enumerate()
        .map(|(index, lock)| print(index + 1, lock))
        .collect();
    // A name that is not UTF-8 was read with replacement characters.
    assert_eq!(parse(text.as_bytes()), locks);
}

fn print(number: usize, lock: &FileLockLine) -> String {
    let access = if lock.exclusive { "WRITE" } else { "READ" };
    let process = lock.process.map_or(-1, i64::from);
    let (major, minor) = lock.device;
    format!(
        "{number}: {} ADVISORY  {access} {process} {major:02x}:{minor:02x}:{} 0 EOF\n",
        lock.kind, lock.inode
    )
}
