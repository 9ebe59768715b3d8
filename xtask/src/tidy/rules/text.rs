//! Finding words in text.

use crate::tidy::source::line_at;

/// The lines, from 1, in which `word` stands by itself: where it begins or ends
/// with a letter, digit or `_`, it is not part of a longer word.
pub(super) fn lines_with<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word)
        .filter(move |(at, _)| stands_alone(text, word, *at))
        .map(|(at, _)| line_at(text, at))
}

fn stands_alone(text: &str, word: &str, at: usize) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..at].chars().next_back().is_some_and(joins);
    let after = text[at + word.len()..].chars().next().is_some_and(joins);
    !(before && word.starts_with(joins) || after && word.ends_with(joins))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_inside_a_longer_one_is_not_that_word() {
        let lines = |text, word| lines_with(text, word).collect::<Vec<_>>();
        assert_eq!(lines("unsafe\nunsafe_code\nan unsafe {", "unsafe"), [1, 3]);
        assert_eq!(lines("mytodo!()\ntodo!()", "todo!"), [2]);
        assert_eq!(lines("x/work/y", "/work/"), [1]);
    }
}
