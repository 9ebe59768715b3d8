//! What a guest boots from: an initramfs of busybox, the tools of the scenarios
//! with their libraries, the kernel's modules, and the two programs.
//!
//! All but the programs is kept from one run to the next, under a name that
//! says what is in it.

use super::catalogue::{Catalogue, Tool};
use super::cpio::Archive;
use super::kernel::Kernel;
use crate::project::output;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// What the kernel starts first. Its own tools come after the real ones.
const INIT: &str = include_str!("init.sh");

/// In a folder of its own, which comes last in the guest's `PATH`.
const BUSYBOX: &str = "busybox";

/// Without a udev, LVM makes its nodes itself and waits for nobody.
const LVM_CONF: &str = "\
activation { udev_sync=0 udev_rules=0 verify_udev_operations=1 monitoring=0 }
devices { obtain_device_list_from_udev=0 use_devicesfile=0 scan_lvs=1 }
global { use_lvmlockd=0 }
backup { backup=0 archive=0 }
";

/// Counts with the way in which images are made.
const FORM: u32 = 2;

/// Files of the machine that some tools read, where they are.
const TABLES: [&str; 5] = [
    "/etc/netconfig",
    "/etc/protocols",
    "/etc/services",
    "/etc/rpc",
    "/etc/mke2fs.conf",
];

/// Folders where programs are, in `PATH` or not.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// Where a program is.
pub(super) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = FOLDERS.iter().map(PathBuf::from);
    let mut files = folders
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

/// The archive of all that changes seldom, made anew only where something of it
/// has changed.
///
/// # Errors
/// When a tool's libraries, or the kernel's modules, cannot be read.
pub(super) fn base(
    folder: &Path,
    kernel: &Kernel,
    catalogue: &Catalogue,
) -> Result<PathBuf, String> {
    let tools: Vec<(&Tool, PathBuf)> = catalogue
        .tools
        .iter()
        .filter_map(|tool| Some((tool, find_program(&tool.program)?)))
        .collect();
    let mut hasher = DefaultHasher::new();
    (INIT, LVM_CONF, FORM, &kernel.version, &catalogue.modules).hash(&mut hasher);
    for (tool, path) in &tools {
        let about = fs::metadata(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let changed = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        (&tool.program, about.len(), changed).hash(&mut hasher);
    }
    let images = folder.join("images");
    let name = format!("{}-{:016x}.cpio", kernel.version, hasher.finish());
    let path = images.join(&name);
    if path.is_file() {
        return Ok(path);
    }
    println!("lab: making the image for {}", kernel.version);
    fs::create_dir_all(&images).map_err(|e| format!("making {}: {e}", images.display()))?;
    forget_older(&images, &kernel.version);
    let partial = images.join(format!("{name}.partial"));
    let modules = stage_modules(folder, kernel, &catalogue.modules)?;
    let libraries = libraries(tools.iter().map(|(_, path)| path.as_path()))?;
    write_base(&partial, &tools, &libraries, &modules)
        .map_err(|error| format!("writing {}: {error}", partial.display()))?;
    fs::rename(&partial, &path).map_err(|e| format!("renaming {}: {e}", partial.display()))?;
    Ok(path)
}

/// Images of the same kernel with other contents.
fn forget_older(images: &Path, version: &str) {
    for entry in fs::read_dir(images).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(&format!("{version}-")) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

fn write_base(
    path: &Path,
    tools: &[(&Tool, PathBuf)],
    libraries: &BTreeSet<PathBuf>,
    modules: &Path,
) -> io::Result<()> {
    let mut archive = Archive::new(BufWriter::new(File::create(path)?));
    for (link, to) in [
        ("bin", "usr/bin"),
        ("sbin", "usr/sbin"),
        ("lib", "usr/lib"),
        ("lib64", "usr/lib64"),
    ] {
        archive.link(link, to)?;
    }
    for folder in [
        "usr/bin", "usr/sbin", "proc", "sys", "dev", "run", "tmp", "mnt", "var/lib", "busybox",
        "share",
    ] {
        archive.folder(folder)?;
    }
    archive.file("init", 0o755, INIT.as_bytes())?;
    archive.file("etc/lvm/lvm.conf", 0o644, LVM_CONF.as_bytes())?;
    archive.file("etc/passwd", 0o644, b"root:x:0:0:root:/:/bin/sh\n")?;
    archive.file("etc/group", 0o644, b"root:x:0:\n")?;
    archive.file("etc/hosts", 0o644, b"127.0.0.1 localhost\n")?;
    archive.file("etc/nsswitch.conf", 0o644, b"hosts: files\n")?;
    for table in TABLES {
        if let Ok(content) = fs::read(table) {
            archive.file(table.trim_start_matches('/'), 0o644, &content)?;
        }
    }
    for (tool, path) in tools {
        let folder = if tool.program == BUSYBOX {
            BUSYBOX
        } else {
            "usr/sbin"
        };
        archive.file(
            &format!("{folder}/{}", tool.program),
            0o755,
            &fs::read(path)?,
        )?;
    }
    for library in libraries {
        archive.file(&within_usr(library), 0o755, &fs::read(library)?)?;
    }
    let mut folders = vec![modules.join("lib/modules")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(name) = path.strip_prefix(modules) {
                let name = format!("usr/{}", name.display());
                archive.file(&name, 0o644, &fs::read(&path)?)?;
            }
        }
    }
    archive.finish()?;
    Ok(())
}

/// A path as it is where `/lib` and `/bin` are links into `/usr`.
fn within_usr(path: &Path) -> String {
    let path = path.to_string_lossy();
    let path = path.trim_start_matches('/');
    if path.starts_with("usr/") {
        path.to_owned()
    } else {
        format!("usr/{path}")
    }
}

/// The image of a guest: the base, and the programs that are tested.
///
/// # Errors
/// When it cannot be written.
pub(super) fn whole(base: &Path, programs: &[PathBuf], image: &Path) -> Result<(), String> {
    let libraries = libraries(programs.iter().map(PathBuf::as_path))?;
    let write = || -> io::Result<()> {
        let mut out = BufWriter::new(File::create(image)?);
        io::copy(&mut File::open(base)?, &mut out)?;
        let mut archive = Archive::new(out);
        for program in programs {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            archive.file(&format!("usr/bin/{name}"), 0o755, &fs::read(program)?)?;
        }
        for library in &libraries {
            archive.file(&within_usr(library), 0o755, &fs::read(library)?)?;
        }
        archive.finish()?;
        Ok(())
    };
    write().map_err(|error| format!("writing {}: {error}", image.display()))
}

/// All shared libraries of programs, and what loads them, by `ldd`.
fn libraries<'a>(programs: impl Iterator<Item = &'a Path>) -> Result<BTreeSet<PathBuf>, String> {
    let mut found = BTreeSet::new();
    for program in programs {
        // It fails for what is static.
        if let Ok(listed) = output(Command::new("ldd").arg(program)) {
            found.extend(paths(&listed));
        }
    }
    if found.is_empty() {
        return Err("ldd names no library of any tool: is it installed (libc-bin)?".to_owned());
    }
    Ok(found)
}

/// `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x...)` and
/// `/lib64/ld-linux-x86-64.so.2 (0x...)`.
fn paths(listed: &str) -> Vec<PathBuf> {
    let words = listed.lines().filter_map(|line| {
        let (line, _) = line.trim().rsplit_once(" (")?;
        Some(line.rsplit_once(" => ").map_or(line, |(_, path)| path))
    });
    words
        .filter(|word| word.starts_with('/'))
        .map(PathBuf::from)
        .collect()
}

/// The wanted modules and those that they need, uncompressed, in a folder of
/// their own; those that the kernel has not are left out.
fn stage_modules(folder: &Path, kernel: &Kernel, wanted: &[String]) -> Result<PathBuf, String> {
    let from = kernel.tree.join("lib/modules").join(&kernel.version);
    let stage = folder.join("modules").join(&kernel.version);
    drop(fs::remove_dir_all(&stage));
    let to = stage.join("lib/modules").join(&kernel.version);
    let list = from.join("modules.dep");
    let text = fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
    for file in with_dependencies(&text, wanted) {
        let target = to.join(file.trim_end_matches(".xz").trim_end_matches(".zst"));
        let place = target.parent().unwrap_or(&to);
        fs::create_dir_all(place).map_err(|e| format!("making {}: {e}", place.display()))?;
        copy_plain(&from.join(file), &target)?;
    }
    for file in [
        "modules.order",
        "modules.builtin",
        "modules.builtin.modinfo",
    ] {
        // Without them depmod only says less.
        drop(fs::copy(from.join(file), to.join(file)));
    }
    output(
        Command::new("depmod")
            .arg("-b")
            .arg(&stage)
            .arg(&kernel.version),
    )?;
    Ok(stage)
}

/// Copies a module, uncompressed: the guest's processor is slow.
fn copy_plain(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("copying {}: {error}", from.display());
    let unpacker = match from.extension().and_then(|end| end.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        _ => return fs::copy(from, to).map(drop).map_err(failed),
    };
    let out = File::create(to).map_err(failed)?;
    let status = Command::new(unpacker)
        .arg("-dc")
        .arg(from)
        .stdout(out)
        .status()
        .map_err(|error| format!("running {unpacker}: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!(
            "{unpacker} -dc {} ended with {status}",
            from.display()
        ))
    }
}

/// The files of modules and of all that they need, from `modules.dep`.
fn with_dependencies<'a>(list: &'a str, wanted: &[String]) -> BTreeSet<&'a str> {
    let mut by_name = BTreeMap::new();
    for line in list.lines() {
        if let Some((file, needs)) = line.split_once(':') {
            let needs: Vec<&str> = needs.split_whitespace().collect();
            by_name.insert(module_name(file), (file, needs));
        }
    }
    let mut files = BTreeSet::new();
    for name in wanted {
        if let Some((file, needs)) = by_name.get(&name.replace('-', "_")) {
            files.insert(*file);
            files.extend(needs.iter().copied());
        }
    }
    files
}

/// `kernel/drivers/md/dm-mod.ko.xz` is `dm_mod`.
fn module_name(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split(".ko").next().unwrap_or(name).replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_comes_with_all_that_it_needs() {
        let list = "kernel/md/dm-mod.ko.xz:\n\
                    kernel/md/dm-crypt.ko.xz: kernel/md/dm-mod.ko.xz kernel/crypto/cbc.ko.xz\n\
                    kernel/crypto/cbc.ko.xz:\nkernel/md/raid1.ko.xz:\n";
        let wanted = ["dm_crypt".to_owned(), "of-no-kernel".to_owned()];
        assert_eq!(
            with_dependencies(list, &wanted)
                .into_iter()
                .collect::<Vec<_>>(),
            [
                "kernel/crypto/cbc.ko.xz",
                "kernel/md/dm-crypt.ko.xz",
                "kernel/md/dm-mod.ko.xz"
            ]
        );
    }

    #[test]
    fn libraries_are_read_from_both_forms_of_line() {
        let listed = "\tlinux-vdso.so.1 (0x00007ffd)\n\
                      \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n\
                      \t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n\
                      \tlibgone.so => not found\n";
        assert_eq!(
            paths(listed),
            [
                PathBuf::from("/lib/x86_64-linux-gnu/libc.so.6"),
                PathBuf::from("/lib64/ld-linux-x86-64.so.2"),
            ]
        );
        assert_eq!(within_usr(Path::new("/lib64/ld.so")), "usr/lib64/ld.so");
        assert_eq!(within_usr(Path::new("/usr/lib/a.so")), "usr/lib/a.so");
    }
}
