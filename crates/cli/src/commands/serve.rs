//! `diskfacts serve`: pages of the stored runs, for a browser on this machine, until somebody
//! ends it.

use super::print;
use crate::args::{Common, ServeArgs};
use crate::exit::{Exit, Failure, OrFail, say};
use crate::serve::Pages;
use crate::signals::Signals;
use crate::storing;
use diskfacts_serve::{Limits, ListenError, Server};
use std::time::{Duration, Instant};

/// Longer than anybody waits.
const FOR_EVER: Duration = Duration::from_hours(100 * 366 * 24);

pub(crate) fn run(args: &ServeArgs, common: &Common) -> Result<Exit, Failure> {
    // What cannot be a store is said now, and not on each page.
    storing::existing(common)?;
    let signals = Signals::listen()?;
    let waker = signals.waker()?;
    let server = Server::listen(args.port, Limits::default()).map_err(|error| {
        let exit = match error {
            ListenError::InUse { .. } | ListenError::NotAllowed { .. } => Exit::WrongCall,
            _ => Exit::Failed,
        };
        Failure::of(exit, error)
    })?;
    print(&format!("{}\n", server.address()))?;
    say("diskfacts: open it in a browser on this machine; Ctrl-C ends it");
    let stopper = server.stopper();
    std::thread::Builder::new()
        .name("end".to_owned())
        .spawn(move || {
            // Where waiting fails nobody could end it any more.
            let _ = waker.wait(Instant::now() + FOR_EVER);
            stopper.stop();
        })
        .or_failed()?;
    server.run(Pages::of(common)).or_failed()?;
    Ok(signals.came().map_or(Exit::Done, Exit::usual))
}
