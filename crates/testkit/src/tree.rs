//! Captured trees: what `/proc` and `/sys` of some machine showed, as one text
//! file, unpacked. The format is described in `crates/host/tests/trees`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Writes the entries of a tree below `root`. Files that are there are written
/// over in place, links are made anew, and nothing is removed.
///
/// # Panics
/// When a line is no entry, or something cannot be written.
pub fn unpack_tree(text: &str, root: &Path) {
    let mut file: Option<(String, Vec<u8>)> = None;
    for line in text.lines() {
        let (mark, rest) = line.split_at_checked(1).unwrap_or((line, ""));
        if mark == "|" {
            let (_, content) = file.as_mut().expect("a file before its lines");
            content.extend_from_slice(rest.as_bytes());
            content.push(b'\n');
            continue;
        }
        if let Some((_, content)) = &mut file
            && !line.is_empty()
            && line
                .bytes()
                .all(|byte| byte == b' ' || byte.is_ascii_hexdigit())
        {
            content.extend(line.split_ascii_whitespace().map(|byte| {
                u8::from_str_radix(byte, 16).unwrap_or_else(|_| panic!("hex in `{line}`"))
            }));
            continue;
        }
        if let Some((path, content)) = file.take() {
            write_in_tree(root, &path, &content);
        }
        match mark {
            "#" => {}
            ">" | "*" => file = Some((rest.trim().to_owned(), Vec::new())),
            "/" => fs::create_dir_all(root.join(rest.trim())).expect("a folder"),
            "@" => {
                let (link, target) = rest.trim().split_once(" -> ").expect("a target");
                let link = root.join(link);
                fs::create_dir_all(link.parent().expect("a parent")).expect("a folder");
                if link.is_symlink() {
                    fs::remove_file(&link).expect("removing a symbolic link");
                }
                symlink(target, link).expect("a symbolic link");
            }
            _ => panic!("a line that is no entry: `{line}`"),
        }
    }
    if let Some((path, content)) = file {
        write_in_tree(root, &path, &content);
    }
}

/// Writes one file below `root`, with the folders above it.
///
/// # Panics
/// When it cannot be written.
pub fn write_in_tree(root: &Path, path: &str, content: &[u8]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
