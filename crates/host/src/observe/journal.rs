//! What the journal of the filesystem under the target did.

use super::Observer;
use super::window::Window;
use crate::parse::journal::{
    BtrfsCommits, XfsLog, parse_btrfs_commits, parse_jbd2_info, parse_xfs_stats,
};
use crate::roots::Roots;
use diskfacts_record::evidence::Journal;
use diskfacts_record::{Evidence, Stack, Unseen};

/// Inode of the journal of ext3 and ext4, which stands in the name of its folder
/// (`EXT4_JOURNAL_INO`, fs/ext4/ext4.h).
const JOURNAL_INODE: u32 = 8;

/// Observes the counters of a filesystem's journal, where it has one that counts.
pub struct JournalObserver {
    source: Option<(Source, Window)>,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Jbd2,
    Xfs,
    Btrfs,
}

impl JournalObserver {
    /// Opens the file of the filesystem of this stack. A filesystem without a
    /// journal, or whose journal lies elsewhere, has none, and nothing is
    /// observed; nor is it of filesystems that do not count.
    pub fn new(roots: &Roots, stack: &Stack) -> Self {
        let source = stack.filesystem.as_ref().zip(stack.top());
        let source = source.and_then(|(filesystem, device)| {
            let name = device.name.replace('/', "!");
            let (source, path) = match filesystem.kind.as_str() {
                "ext3" | "ext4" => {
                    let folder = format!("fs/jbd2/{name}-{JOURNAL_INODE}");
                    (Source::Jbd2, roots.proc.join(folder).join("info"))
                }
                "xfs" => {
                    let folder = roots.sys.join("fs/xfs").join(name);
                    (Source::Xfs, folder.join("stats/stats"))
                }
                "btrfs" => {
                    let uuid = filesystem.uuid.as_ref()?;
                    let folder = roots.sys.join("fs/btrfs").join(uuid);
                    (Source::Btrfs, folder.join("commit_stats"))
                }
                _ => return None,
            };
            path.exists().then(|| {
                let window = match source {
                    Source::Jbd2 => Window::open_anew(&path),
                    Source::Xfs | Source::Btrfs => Window::open(&path),
                };
                (source, window)
            })
        });
        Self { source }
    }
}

impl Observer for JournalObserver {
    fn name(&self) -> &'static str {
        "journal"
    }

    fn start(&mut self) {
        if let Some((_, window)) = &mut self.source {
            window.start();
        }
    }

    fn halt(&mut self) {
        if let Some((_, window)) = &mut self.source {
            window.halt();
        }
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        let Some((source, window)) = &self.source else {
            return;
        };
        let journal = match source {
            Source::Jbd2 => window
                .parse(parse_jbd2_info)
                .map(|(before, after)| Journal {
                    kind: "jbd2".to_owned(),
                    commits: after.saturating_sub(before),
                    bytes: None,
                    commit_ms: None,
                }),
            Source::Xfs => window.parse(parse_xfs_stats).map(|(before, after)| {
                let since = |of: fn(&XfsLog) -> u64| of(&after).saturating_sub(of(&before));
                Journal {
                    kind: "xfs".to_owned(),
                    commits: since(|log| log.writes),
                    bytes: Some(since(|log| log.bytes)),
                    commit_ms: None,
                }
            }),
            Source::Btrfs => window.parse(parse_btrfs_commits).map(|(before, after)| {
                let since = |of: fn(&BtrfsCommits) -> u64| of(&after).saturating_sub(of(&before));
                Journal {
                    kind: "btrfs".to_owned(),
                    commits: since(|all| all.commits),
                    bytes: None,
                    commit_ms: Some(since(|all| all.total_ms)),
                }
            }),
        };
        match journal {
            Ok(journal) => evidence.journal = Some(journal),
            Err(why) => evidence.unseen.push(Unseen {
                what: self.name().to_owned(),
                why,
            }),
        }
    }
}
