//! The steps of changing and putting back, told one by one, so that a test can end
//! the process at each of them.

use std::fmt;

/// Is told each step before it is done, and which process the watchdog is once there
/// is one.
type Hook = Box<dyn FnMut(&'static str, Option<u32>)>;

/// Who is told of the steps; nobody by default.
#[derive(Default)]
pub struct Steps {
    hook: Option<Hook>,
    pub(super) watchdog: Option<u32>,
}

impl Steps {
    /// `hook` is told each step before it is done.
    pub fn told_to(hook: impl FnMut(&'static str, Option<u32>) + 'static) -> Self {
        Self {
            hook: Some(Box::new(hook)),
            watchdog: None,
        }
    }

    pub(super) fn reach(&mut self, step: &'static str) {
        if let Some(hook) = &mut self.hook {
            hook(step, self.watchdog);
        }
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = self.hook.is_some();
        f.debug_struct("Steps")
            .field("told", &told)
            .field("watchdog", &self.watchdog)
            .finish_non_exhaustive()
    }
}
