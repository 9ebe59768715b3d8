//! Work on Node's pool of threads, and what it came to.

use napi::bindgen_prelude::{AsyncTask, Object, ToNapiValue};
use napi::{Env, Result, ScopedTask};

use crate::fault::Failure;

/// A promise of `{ value }` or `{ fault }`.
pub type Promised<T> = AsyncTask<Work<T>>;

type Finding<T> = std::result::Result<T, Failure>;
type Run<T> = Box<dyn FnMut() -> Finding<T> + Send>;

/// What to do on a thread of the pool.
///
/// The closure lives until the promise is settled, and is dropped on the
/// JavaScript thread: so it may hold a buffer of JavaScript's.
pub struct Work<T>(Run<T>);

/// Has the pool run this, once.
pub(crate) fn promise<T: Send + 'static>(
    run: impl FnMut() -> Finding<T> + Send + 'static,
) -> Promised<T>
where
    for<'task> Work<T>: ScopedTask<'task>,
{
    AsyncTask::new(Work(Box::new(run)))
}

impl<'task, T: ToNapiValue + Send + 'static> ScopedTask<'task> for Work<T> {
    type Output = Finding<T>;
    type JsValue = Object<'task>;

    fn compute(&mut self) -> Result<Finding<T>> {
        Ok((self.0)())
    }

    fn resolve(&mut self, env: &'task Env, output: Finding<T>) -> Result<Object<'task>> {
        let mut outcome = Object::new(env)?;
        match output {
            Ok(value) => outcome.set("value", value)?,
            Err(failure) => outcome.set("fault", *failure)?,
        }
        Ok(outcome)
    }
}
