//! `/proc/PID/cgroup`: the control groups of a process.
//!
//! Source: `cgroups(7)`. `4:memory:/a/b` for each hierarchy of version 1,
//! `0::/a/b` for version 2.

use super::{ParseError, lines};

const FORMAT: &str = "cgroup";

/// A group that a process is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The controllers of the hierarchy, `memory` among them; none for version 2.
    pub controllers: Vec<String>,
    /// The group, from the root of its hierarchy: `/` or `/a/b`.
    pub path: String,
}

/// Reads `/proc/PID/cgroup`.
///
/// # Errors
/// A line without its three parts, or with a group that does not begin at the root.
pub fn parse_cgroup(bytes: &[u8]) -> Result<Vec<Membership>, ParseError> {
    let mut groups = Vec::new();
    for (index, line) in lines(bytes) {
        if line.is_empty() {
            continue;
        }
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(ParseError::at(
                FORMAT,
                index,
                "NUMBER:CONTROLLERS:PATH",
                &line,
            ));
        };
        if !path.starts_with('/') {
            return Err(ParseError::at(FORMAT, index, "a path from the root", &line));
        }
        groups.push(Membership {
            controllers: controllers
                .split(',')
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
            path: path.to_owned(),
        });
    }
    Ok(groups)
}
