//! Settings of the kernel that are changed for a measurement, and always put back.
//!
//! # What is promised
//! * Before the first setting is changed, all old values are on the disk, in a
//!   [`Journal`].
//! * [`Changes`] puts them back when it is finished or dropped: on success, on an
//!   error, in a panic. A watchdog ([`watch`]) puts them back when the process dies
//!   without having done so, as by SIGKILL; when that is dead too, the next start
//!   finds the journal ([`restore_stale`]).
//! * Nothing is written to another device that was given the number of one that is
//!   gone. What could not be looked at is not taken for gone: its journal stays
//!   ([`PutBack::is_complete`]).
//! * Root believes no journal that another user could have written.
//! * Two processes never change the settings of one device at the same time
//!   ([`Locks`]), nor between the death of one and the restoring.
//! * What the kernel takes and does not apply is noticed, because everything is read
//!   back ([`diskfacts_record::evidence::SettingInForce`]).
//!
//! # What is not
//! Some of what the kernel keeps cannot be read, and so not be put back: that
//! `wbt_lat_usec` was never set by hand, and that `max_sectors_kb` follows the
//! device's own limit. The values are as they were.
//!
//! `drop_caches` is an action and `io_weight` a control group: neither is a file whose
//! value could be put back, and neither is done here.

mod accept;
mod change;
mod error;
mod identity;
mod journal;
mod knob;
mod leftovers;
mod lock;
mod place;
mod process;
mod restore;
mod setting;
mod stale;
mod steps;
mod watchdog;
mod wish;

pub use change::{Changes, Making};
pub use error::SettingsError;
pub use identity::Identity;
pub use journal::{Found, Journal, Old, OpenJournal, Owner, StateFolder, Unreadable};
pub use leftovers::{remove_stale_groups, stale_groups};
pub use lock::Locks;
pub use restore::{Comparison, Now, Present, PutBack, Written, present, put_back};
pub use setting::Setting;
pub use stale::{Forgettable, Restored, forgettable, restore_stale};
pub use steps::Steps;
pub use watchdog::{WATCHDOG, watch};
pub use wish::Wanted;
