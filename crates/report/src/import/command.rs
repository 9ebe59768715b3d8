//! The command line of dd, as documents quote it.

use diskfacts_plan::SyncMode;
use diskfacts_plan::units::parse_size;

/// Operands of dd as they stand; those that are not there are absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Command {
    operands: Vec<(String, String)>,
}

/// The operands that say something about a measurement.
const OPERANDS: [&str; 9] = [
    "if", "of", "bs", "count", "skip", "seek", "iflag", "oflag", "conv",
];

impl Command {
    /// The operands in a piece of text, wherever they stand.
    pub(super) fn find(text: &str) -> Self {
        let mut operands = Vec::new();
        for word in text.split(|c: char| c.is_whitespace() || "\"'();|".contains(c)) {
            let word = word.trim_end_matches([',', '.']);
            if let Some((name, value)) = word.split_once('=')
                && OPERANDS.contains(&name)
                && !value.is_empty()
            {
                operands.push((name.to_owned(), value.to_owned()));
            }
        }
        Self { operands }
    }

    /// The operands among the settings of a row.
    pub(super) fn of(settings: &std::collections::BTreeMap<String, String>) -> Self {
        let known = settings
            .iter()
            .filter(|(name, _)| OPERANDS.contains(&name.as_str()));
        Self {
            operands: known.map(|(n, v)| (n.clone(), v.clone())).collect(),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        // The last one counts, as in dd.
        let found = self.operands.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.operands.is_empty()
    }

    /// Those of another in place of ours.
    pub(super) fn extend(&mut self, other: Self) {
        self.operands.extend(other.operands);
    }

    /// What was measured, and whether it was written: a source of zeros or of
    /// nothing means writing. `None` where neither side says it.
    pub(super) fn target(&self) -> Option<(&str, bool)> {
        let nothing = |path: &str| path == "/dev/zero" || path == "/dev/null";
        match (self.get("if"), self.get("of")) {
            (Some(source), _) if !nothing(source) => Some((source, false)),
            (_, Some(sink)) if !nothing(sink) => Some((sink, true)),
            _ => None,
        }
    }

    pub(super) fn direct(&self) -> bool {
        let direct = |name| {
            let flags = self.get(name).unwrap_or("");
            flags.split(',').any(|flag| flag == "direct")
        };
        direct("iflag") || direct("oflag")
    }

    /// When what is written is made durable, by `oflag=` and `conv=`.
    pub(super) fn sync(&self) -> SyncMode {
        let has = |name, word| {
            let words = self.get(name).unwrap_or("");
            words.split(',').any(|known| known == word)
        };
        if has("oflag", "sync") {
            SyncMode::OSync
        } else if has("oflag", "dsync") {
            SyncMode::ODsync
        } else if has("conv", "fsync") {
            SyncMode::AtEnd
        } else if has("conv", "fdatasync") {
            SyncMode::FdatasyncAtEnd
        } else {
            SyncMode::None
        }
    }

    /// First byte that is read or written: `skip` or `seek` blocks behind the
    /// beginning. `None` where neither is named.
    pub(super) fn offset(&self) -> Option<u64> {
        let (_, writes) = self.target()?;
        let blocks = self.get(if writes { "seek" } else { "skip" })?;
        let blocks = parse_size(blocks).ok()?;
        self.block_size()?.checked_mul(blocks)
    }

    /// Bytes of a block; `None` where the text does not say.
    pub(super) fn block_size(&self) -> Option<u64> {
        self.get("bs").and_then(|size| parse_size(size).ok())
    }

    /// Bytes that were to be copied: `bs` times `count`.
    pub(super) fn bytes(&self) -> Option<u64> {
        let count = parse_size(self.get("count")?).ok()?;
        self.block_size()?.checked_mul(count)
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.operands.iter().map(|(n, v)| (n.as_str(), v.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_found_in_any_text() {
        let text = "linux-4dtq:~ # while true; do dd if=/dev/sdc of=/dev/null bs=64K; done";
        let command = Command::find(text);
        assert_eq!(command.target(), Some(("/dev/sdc", false)));
        assert_eq!(command.block_size(), Some(65536));
        assert_eq!(command.bytes(), None);
        let quoted = "(\"dd if=/dev/zero of=/dev/md0 bs=1M count=20000\" outputs";
        let command = Command::find(quoted);
        assert_eq!(command.target(), Some(("/dev/md0", true)));
        assert_eq!(command.bytes(), Some(20_000 << 20));
        assert!(Command::find("nothing=here").is_empty());
        assert!(Command::find("oflag=direct, bs=1M").direct());
    }
}
