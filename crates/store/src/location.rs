//! Where the store is when nobody says.

use crate::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;

/// `$XDG_DATA_HOME/diskfacts/runs.db`, else
/// `$HOME/.local/share/diskfacts/runs.db`, as the XDG Base Directory
/// Specification 0.8 has it: a path that is not absolute is to be ignored.
/// `environment` answers what a variable holds, [`std::env::var_os`] for one.
///
/// # Errors
/// When neither variable holds an absolute path.
pub fn default_path(environment: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Error> {
    let absolute = |name| {
        environment(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_DATA_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
        .map(|data| data.join("diskfacts/runs.db"))
        .ok_or(Error::NoHome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn path_with(variables: &[(&str, &str)]) -> Result<PathBuf, Error> {
        default_path(|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_data_folder_comes_before_the_home_folder() {
        let both = path_with(&[("XDG_DATA_HOME", "/data"), ("HOME", "/home/ada")]);
        assert_eq!(both.unwrap(), Path::new("/data/diskfacts/runs.db"));
        let home = path_with(&[("HOME", "/home/ada")]);
        assert_eq!(
            home.unwrap(),
            Path::new("/home/ada/.local/share/diskfacts/runs.db")
        );
    }

    #[test]
    fn a_relative_or_empty_variable_counts_as_unset() {
        for data in ["", "data", "./data"] {
            let path = path_with(&[("XDG_DATA_HOME", data), ("HOME", "/home/ada")]);
            assert_eq!(
                path.unwrap(),
                Path::new("/home/ada/.local/share/diskfacts/runs.db")
            );
        }
    }

    #[test]
    fn without_a_home_the_error_names_the_option() {
        for variables in [&[][..], &[("HOME", "")], &[("HOME", "ada")]] {
            let error = path_with(variables).unwrap_err().to_string();
            assert!(error.contains("--store PATH"), "{error}");
            assert!(error.contains("XDG_DATA_HOME"), "{error}");
        }
    }
}
