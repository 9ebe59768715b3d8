//! Commands that wait for the arm.

use super::command::Command;
use super::geometry::Place;

/// What the choice of the next command needs of each: little, because all of
/// them are looked at for every choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) ready_ns: u64,
    pub(super) offset: u64,
    pub(super) end: u64,
    pub(super) first: Place,
    slot: usize,
}

/// Commands in order of age.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    waiting: Vec<Waiting>,
    commands: Vec<Option<Command>>,
    free: Vec<usize>,
}

impl Pending {
    /// Room for `depth` commands.
    pub(super) fn new(depth: usize) -> Self {
        Self {
            waiting: Vec::with_capacity(depth),
            commands: vec![None; depth],
            free: (0..depth).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The waiting commands, oldest first.
    pub(super) fn waiting(&self) -> &[Waiting] {
        &self.waiting
    }

    /// The oldest.
    pub(super) fn oldest(&self) -> Option<&Command> {
        let first = self.waiting.first()?;
        self.commands[first.slot].as_ref()
    }

    /// Adds the youngest.
    pub(super) fn push(&mut self, command: Command) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.commands.push(None);
            self.commands.len() - 1
        });
        self.waiting.push(Waiting {
            ready_ns: command.ready_ns,
            offset: command.request.offset,
            end: command.request.end(),
            first: command.span.first,
            slot,
        });
        self.commands[slot] = Some(command);
    }

    /// Takes the one at `index` in order of age.
    pub(super) fn take(&mut self, index: usize) -> Command {
        let waiting = self.waiting.remove(index);
        self.free.push(waiting.slot);
        self.commands[waiting.slot]
            .take()
            .expect("a waiting command has its slot")
    }
}
