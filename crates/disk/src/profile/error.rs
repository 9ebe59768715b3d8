//! Why a text is not a profile.

use thiserror::Error;

/// What is wrong with a profile, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
pub struct ProfileError {
    /// Line of the text, from 1.
    pub line: usize,
    /// What is wrong there and what would be right.
    pub message: String,
}
