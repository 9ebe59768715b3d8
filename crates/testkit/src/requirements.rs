//! What a test may ask of the machine.

use crate::Missing;
use std::path::PathBuf;

/// Asks for the rights of root.
///
/// # Errors
/// What to do to have them.
pub fn require_root() -> Result<(), Missing> {
    #[cfg(unix)]
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(Missing::new("root", "run the tests with sudo"))
}

/// Asks for a program, and says where it is. `package` is the Debian package
/// that has it; the continuous integration installs those that are listed in
/// `.ci/packages`, and the tidy check compares the two.
///
/// Administrators' folders (`/usr/sbin`) are searched too: the programs there
/// are often of use without being root, and not in everyone's `PATH`.
///
/// # Errors
/// When it is nowhere: what to install.
pub fn require_tool(program: &str, package: &str) -> Result<PathBuf, Missing> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .ok_or_else(|| Missing::new(program, format_args!("apt-get install {package}")))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_found_where_it_is() {
        let (program, package) = ("sh", "dash");
        let shell = require_tool(program, package).expect("every Unix has a shell");
        assert!(shell.is_absolute() && shell.ends_with("sh"));
    }

    #[test]
    fn a_missing_tool_is_named_with_its_package() {
        let (program, package) = ("no-such-program", "package");
        let missing = require_tool(program, package).expect_err("it is nowhere");
        assert_eq!(
            missing.to_string(),
            "no-such-program: apt-get install package"
        );
    }
}
