//! The native half of `@diskfacts/direct-io`: the functions of the crate
//! `directio`, for JavaScript.
//!
//! This half converts and calls, and lends the memory that transfers work on
//! (see [`memory`]); nothing more. It trusts its only caller,
//! the package's own JavaScript in `node/lib`: that checks the arguments, has
//! the callbacks and makes the errors. Whatever may wait for a device runs on
//! Node's pool of threads and comes back as a promise of `{ value }` or
//! `{ fault }` (see [`outcome`]); a promise is never rejected but for a mistake
//! in this package. What is `pub` is there for JavaScript.

// Little here can be called without Node around it: the tests are in `node/test`
// and, of what can, in `tests`. A build for tests would hold dead code only.
#![cfg(not(test))]

pub mod alignment;
pub mod constants;
pub mod fault;
pub mod geometry;
pub mod locks;
pub mod memory;
pub mod open;
pub mod open_file;
pub mod outcome;
mod pages;
mod parts;
pub mod stop;
mod system;
pub mod transfer;
mod whole;
mod words;
