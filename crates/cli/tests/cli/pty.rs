//! A terminal of a test's own, with a program on it.

use crate::support::Case;
use diskfacts_testkit::{Missing, require_tool};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};

/// A terminal, and the session that it controls.
pub(crate) struct Pty {
    /// `None` when it was closed, as somebody closes a window.
    master: Option<OwnedFd>,
    child: Child,
    screen: vt100::Parser,
}

impl Pty {
    /// Runs a line of a shell on a terminal of so many columns and rows, with `DISKFACTS` and
    /// `STORE` in its environment.
    pub(crate) fn start(
        case: &Case,
        line: &str,
        (columns, rows): (u16, u16),
    ) -> Result<Self, Missing> {
        let setsid = require_tool("setsid", "util-linux")?;
        // Who inherits it would keep the terminal open.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).expect("a terminal");
        grantpt(&master).expect("its other end");
        unlockpt(&master).expect("its other end");
        let path = ptsname(&master, Vec::new()).expect("its name");
        let slave = || {
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            Stdio::from(rustix::fs::open(&path, flags, Mode::empty()).expect("its other end"))
        };
        let child = Command::new(setsid)
            .args(["--ctty", "bash", "--norc", "--noprofile", "-c", line])
            .env("DISKFACTS", env!("CARGO_BIN_EXE_diskfacts"))
            .env("STORE", case.store())
            .env("HOME", case.path("home"))
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .env("RUST_BACKTRACE", "0")
            .env_remove("NO_COLOR")
            .stdin(slave())
            .stdout(slave())
            .stderr(slave())
            .spawn()
            .expect("starting a session");
        let mut pty = Self {
            master: Some(master),
            child,
            screen: vt100::Parser::new(some(rows), some(columns), 0),
        };
        pty.resize((columns, rows));
        Ok(pty)
    }

    fn master(&self) -> &OwnedFd {
        self.master.as_ref().expect("a terminal that is open")
    }

    /// The window has another size.
    pub(crate) fn resize(&mut self, (columns, rows): (u16, u16)) {
        let size = Winsize {
            ws_col: columns,
            ws_row: rows,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(self.master(), size).expect("a size");
        self.screen.screen_mut().set_size(some(rows), some(columns));
    }

    /// What a person types.
    pub(crate) fn types(&self, keys: &str) {
        let written = rustix::io::write(self.master(), keys.as_bytes());
        assert_eq!(written, Ok(keys.len()));
    }

    /// What it shows.
    pub(crate) fn screen(&self) -> &vt100::Screen {
        self.screen.screen()
    }

    /// Its rows.
    pub(crate) fn rows(&self) -> Vec<String> {
        let (_, columns) = self.screen().size();
        let rows = self.screen().rows(0, columns.get());
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    /// Its modes.
    pub(crate) fn modes(&self) -> Termios {
        tcgetattr(self.master()).expect("its modes")
    }

    /// Whether it is as a shell expects it: lines, an echo, Ctrl-Z, and the screen that
    /// scrolls.
    #[track_caller]
    pub(crate) fn is_as_before(&self, before: &Termios) {
        let modes = self.modes();
        assert_eq!(modes.local_modes, before.local_modes);
        assert_eq!(
            format!("{:?}", modes.special_codes),
            format!("{:?}", before.special_codes)
        );
        assert!(
            modes
                .local_modes
                .contains(LocalModes::ICANON | LocalModes::ECHO)
        );
        assert!(!self.screen().alternate_screen(), "{:#?}", self.rows());
        assert!(!self.screen().hide_cursor());
    }

    /// Reads until this holds of what it shows.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        while !holds(self) {
            assert!(self.reads(), "it ended before {what}:\n{:#?}", self.rows());
        }
    }

    /// The same for a text in one of its rows.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |pty| pty.rows().iter().any(|row| row.contains(text)));
    }

    /// Reads what was written; false when all of the session is gone.
    fn reads(&mut self) -> bool {
        let mut readable = [PollFd::new(self.master(), PollFlags::IN)];
        poll(&mut readable, None).expect("waiting for a terminal");
        let mut piece = [0; 1 << 14];
        match rustix::io::read(self.master(), &mut piece) {
            // What Linux says when nobody has the other end.
            Ok(0) | Err(Errno::IO) => false,
            Ok(read) => {
                self.screen.process(&piece[..read]);
                true
            }
            Err(error) => panic!("reading a terminal: {error}"),
        }
    }

    /// Reads until all of the session has ended.
    pub(crate) fn finish(&mut self) -> ExitStatus {
        while self.master.is_some() && self.reads() {}
        self.child.wait().expect("its end")
    }

    /// Closes it, as a window is closed.
    pub(crate) fn close(&mut self) {
        self.master = None;
    }
}

fn some(length: u16) -> NonZeroU16 {
    NonZeroU16::new(length).expect("a screen with rows and columns")
}

impl Drop for Pty {
    fn drop(&mut self) {
        // A session whose terminal is gone is sent SIGHUP. It has ended already, unless a
        // test failed.
        self.master = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
