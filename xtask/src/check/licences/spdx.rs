//! Licence expressions (SPDX specification 2.3, annex D), and the old way of
//! writing `MIT/Apache-2.0` for `MIT OR Apache-2.0`.
//!
//! ```text
//! or     = and { "OR" and }
//! and    = single { "AND" single }
//! single = "(" or ")" | id [ "+" ] [ "WITH" exception ]
//! ```
//!
//! `MPL-2.0+` is `MPL-2.0` or any later version, at the user's choice.

/// Whether the expression can be met with licences that are accepted. An
/// exception only adds permissions, so the licence before `WITH` decides.
///
/// # Errors
/// When it is not an expression.
pub(super) fn allows(expression: &str, accepted: &dyn Fn(&str) -> bool) -> Result<bool, String> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut reader = Reader {
        words: spaced.split_whitespace().collect::<Vec<_>>().into_iter(),
        accepted,
    };
    let allowed = reader.or()?;
    match reader.words.next() {
        None => Ok(allowed),
        Some(word) => Err(format!("'{word}' is not expected there")),
    }
}

struct Reader<'a> {
    words: std::vec::IntoIter<&'a str>,
    accepted: &'a dyn Fn(&str) -> bool,
}

impl Reader<'_> {
    /// Takes the next word if it is this one.
    fn take(&mut self, word: &str) -> bool {
        let is_next = self.words.as_slice().first() == Some(&word);
        if is_next {
            self.words.next();
        }
        is_next
    }

    fn or(&mut self) -> Result<bool, String> {
        let mut allowed = self.and()?;
        while self.take("OR") {
            // Both sides are read, whatever the first one says.
            allowed |= self.and()?;
        }
        Ok(allowed)
    }

    fn and(&mut self) -> Result<bool, String> {
        let mut allowed = self.single()?;
        while self.take("AND") {
            allowed &= self.single()?;
        }
        Ok(allowed)
    }

    fn single(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let allowed = self.or()?;
            return if self.take(")") {
                Ok(allowed)
            } else {
                Err("a ) is missing".to_owned())
            };
        }
        match self.words.next() {
            None => Err("a licence is missing at its end".to_owned()),
            Some(word @ ("OR" | "AND" | "WITH" | ")")) => {
                Err(format!("a licence is missing before {word}"))
            }
            Some(id) => {
                if self.take("WITH") && self.words.next().is_none() {
                    return Err("an exception is missing after WITH".to_owned());
                }
                Ok((self.accepted)(id.strip_suffix('+').unwrap_or(id)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_mit_and_zlib(expression: &str) -> Result<bool, String> {
        allows(expression, &|id| matches!(id, "MIT" | "Zlib"))
    }

    #[test]
    fn one_side_of_an_or_is_enough_and_an_and_needs_both() {
        for (expression, allowed) in [
            ("MIT", true),
            ("GPL-3.0-only", false),
            ("Apache-2.0 OR MIT", true),
            ("Apache-2.0/MIT", true),
            ("MIT AND Zlib", true),
            ("MIT AND GPL-3.0-only", false),
            // AND binds stronger than OR.
            ("MIT OR Zlib AND GPL-3.0-only", true),
            ("(MIT OR Zlib) AND GPL-3.0-only", false),
            ("MIT WITH LLVM-exception", true),
            ("Zlib+ AND MIT", true),
            ("MPL-2.0+", false),
            ("Apache-2.0 WITH LLVM-exception OR MIT", true),
        ] {
            assert_eq!(with_mit_and_zlib(expression), Ok(allowed), "{expression}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for wrong in [
            "", "MIT OR", "OR MIT", "(MIT", "MIT)", "MIT Zlib", "MIT WITH",
        ] {
            assert!(with_mit_and_zlib(wrong).is_err(), "{wrong}");
        }
    }
}
