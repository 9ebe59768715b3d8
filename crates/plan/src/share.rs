//! A share of a target, in percent, for positions that fit any target.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Parts that a whole has: a share is exact to a thousand-millionth of a percent.
const WHOLE: u64 = 100_000_000_000;
/// Parts that a percent has.
const PERCENT: u64 = WHOLE / 100;
/// Digits behind the point that are kept.
const DECIMALS: usize = 9;

/// A share of a target, in `0..=100` percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Share {
    /// In parts of [`WHOLE`].
    parts: u64,
}

/// Why a text is no share.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "'{0}' is not a share of the target; write 0 to 100 and %, as in 37.5%, with at most 9 digits behind the point"
)]
pub struct NoShare(String);

impl Share {
    /// All of it.
    pub const ALL: Self = Self { parts: WHOLE };

    /// Reads `37.5%`.
    ///
    /// # Errors
    /// When it is not a decimal number with a percent sign, lies outside of 0 to
    /// 100 or has more than nine digits behind the point.
    pub fn parse(text: &str) -> Result<Self, NoShare> {
        let parts = || {
            let number = text.trim().strip_suffix('%')?.trim_end();
            let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
            let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            if !digits(whole) || !digits(decimals) || decimals.len() > DECIMALS {
                return None;
            }
            let decimals: u64 = format!("{decimals:0<DECIMALS$}").parse().ok()?;
            let whole: u64 = whole.parse().ok()?;
            whole.checked_mul(PERCENT)?.checked_add(decimals)
        };
        match parts() {
            Some(parts) if parts <= WHOLE => Ok(Self { parts }),
            _ => Err(NoShare(text.to_owned())),
        }
    }

    /// Whether it is nothing.
    pub fn is_zero(self) -> bool {
        self.parts == 0
    }

    /// The share of `bytes`, rounded down to a whole byte.
    pub fn of(self, bytes: u64) -> u64 {
        let share = u128::from(bytes) * u128::from(self.parts) / u128::from(WHOLE);
        // At most `bytes`.
        share as u64
    }

    /// Both together, when that is at most all.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let parts = self.parts + other.parts;
        (parts <= WHOLE).then_some(Self { parts })
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, decimals) = (self.parts / PERCENT, self.parts % PERCENT);
        if decimals == 0 {
            return write!(f, "{whole}%");
        }
        let decimals = format!("{decimals:0DECIMALS$}");
        write!(f, "{whole}.{}%", decimals.trim_end_matches('0'))
    }
}

impl TryFrom<String> for Share {
    type Error = NoShare;

    fn try_from(text: String) -> Result<Self, NoShare> {
        Self::parse(&text)
    }
}

impl From<Share> for String {
    fn from(share: Share) -> Self {
        share.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares_are_exact() {
        for (text, of, share) in [
            ("0%", 1 << 40, 0),
            ("100%", u64::MAX, u64::MAX),
            ("37.5%", 1000, 375),
            ("6.25 %", 1 << 30, 1 << 26),
            ("33.333333333%", 300, 99),
            ("0.000000001%", 200_000_000_000, 2),
        ] {
            assert_eq!(Share::parse(text).unwrap().of(of), share, "{text}");
        }
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for text in [
            "",
            "%",
            "50",
            ".5%",
            "5.%",
            "-1%",
            "100.1%",
            "1e1%",
            "0.0000000001%",
            "1,5%",
        ] {
            let error = Share::parse(text).unwrap_err().to_string();
            assert!(error.contains("37.5%"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(parts in 0..=WHOLE) {
            let share = Share { parts };
            prop_assert_eq!(Share::parse(&share.to_string()), Ok(share));
        }
    }
}
