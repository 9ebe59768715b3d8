//! The full screen of `--live`: a thread that looks at what happens four times a second,
//! draws it, and takes keys. It begins when it is opened and ends when it is closed, by
//! whatever way; then the terminal is as it was before.

mod encode;
mod keys;
mod tty;

pub(crate) use tty::restore;

use crate::exit::{self, Failure, OrFail, say};
use crate::progress::DisplayCpu;
use crate::signals::Signals;
use diskfacts_report::text::Look;
use diskfacts_report::text::live::{Around, View, draw};
use encode::encode;
use keys::{Key, keys};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, kill_current_process_group};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tty::State;

/// How often it looks and draws: often enough to be seen moving.
const REDRAW: Duration = Duration::from_millis(250);

/// What is looked at and drawn.
pub(crate) trait Scene: Send {
    /// Looks at what happens.
    fn look(&mut self);
    /// What is drawn.
    fn view(&self) -> &dyn View;
}

/// A screen that is open.
pub(crate) struct Screen {
    /// Dropped to end the thread.
    wakes: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
    cpu: DisplayCpu,
}

/// An error where there is no terminal to draw on; `instead` does without one.
pub(crate) fn check(instead: &str) -> Result<(), Failure> {
    let term = std::env::var_os("TERM").unwrap_or_default();
    if term.is_empty() || term == "dumb" {
        return Err(Failure::wrong_call(format!(
            "--live draws on a terminal, and TERM={} is none that can be drawn on; {instead}",
            term.to_string_lossy()
        )));
    }
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    match rustix::fs::open("/dev/tty", flags, rustix::fs::Mode::empty()) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::wrong_call(format!(
            "--live draws on a terminal, and there is none (/dev/tty: {error}); {instead}"
        ))),
    }
}

impl Screen {
    /// Opens it.
    pub(crate) fn open<S: Scene + 'static>(
        scene: Arc<Mutex<S>>,
        signals: &Signals,
        look: Look,
    ) -> Result<Self, Failure> {
        let terminal = tty::take().or_failed()?;
        restore_in_a_panic();
        let (wakes, woken) = UnixStream::pair().or_failed()?;
        let cpu = DisplayCpu::default();
        let drawing = Drawing {
            scene,
            terminal: Some(terminal),
            woken,
            signals: signals.clone(),
            look,
            cpu: cpu.clone(),
            shown: None,
            message: None,
            is_paused: false,
            has_help: false,
            is_due: true,
        };
        exit::hold();
        let thread = std::thread::Builder::new().name("screen".to_owned());
        let thread = thread.spawn(move || drawing.run());
        let mut screen = Self {
            wakes: Some(wakes),
            thread: None,
            cpu,
        };
        // Without it the terminal is let go of as ever.
        screen.thread = Some(thread.or_failed()?);
        Ok(screen)
    }

    /// What drawing costs.
    pub(crate) fn cpu(&self) -> &DisplayCpu {
        &self.cpu
    }

    /// Ends it; what was said meanwhile is said again where it stays.
    pub(crate) fn close(&mut self) {
        self.wakes = None;
        let ended = self.thread.take().map(JoinHandle::join);
        restore();
        exit::let_go();
        if let Some(Err(_)) = ended {
            say("diskfacts: note: the display of --live broke down; what was measured did not");
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.close();
    }
}

/// A message of a panic would be gone with the screen that it is written on.
fn restore_in_a_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
    });
}

/// Why a wait ended.
enum Woken {
    Closed,
    Otherwise,
}

/// What the thread has.
struct Drawing<S> {
    scene: Arc<Mutex<S>>,
    /// To wait for keys with; `None` when it is gone: nothing is drawn any more, and the run
    /// goes on until the signal that says so ends it.
    terminal: Option<OwnedFd>,
    woken: UnixStream,
    signals: Signals,
    look: Look,
    cpu: DisplayCpu,
    /// What the terminal shows; `None` when all has to be drawn.
    shown: Option<Buffer>,
    /// The last that was said when it was drawn.
    message: Option<String>,
    is_paused: bool,
    has_help: bool,
    /// Whether all that is drawn may differ from what it was, be the display paused or not.
    is_due: bool,
}

impl<S: Scene> Drawing<S> {
    fn run(mut self) {
        let mut next = Instant::now();
        loop {
            if Instant::now() >= next {
                self.scene().look();
                self.draw();
                next += REDRAW;
                // After a stop there is nothing to catch up with.
                next = next.max(Instant::now());
            }
            self.cpu.counts();
            match self.wait(next) {
                Ok(Woken::Closed) => return,
                Ok(Woken::Otherwise) => {}
                Err(error) => {
                    say(&format!(
                        "diskfacts: note: the display of --live ended: {error}"
                    ));
                    return restore();
                }
            }
            for key in keys(&tty::read()) {
                self.obey(key);
                next = Instant::now();
            }
        }
    }

    fn scene(&self) -> std::sync::MutexGuard<'_, S> {
        self.scene.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until then, or for a key, or until it is closed.
    fn wait(&mut self, until: Instant) -> Result<Woken, Errno> {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(|_| Errno::INVAL)?;
        let closed = PollFd::new(&self.woken, PollFlags::IN);
        // One that belongs to another job would wake at once and for ever.
        let typed = self.terminal.as_ref().filter(|_| self.shown.is_some());
        let typed = typed.map(|terminal| PollFd::new(terminal, PollFlags::IN));
        let mut awaited: Vec<PollFd<'_>> = std::iter::once(closed).chain(typed).collect();
        match poll(&mut awaited, Some(&left)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        let came = |place: usize, flags| {
            let awaited = awaited.get(place);
            awaited.is_some_and(|awaited| awaited.revents().intersects(flags))
        };
        let is_closed = came(0, PollFlags::all());
        if came(1, PollFlags::HUP | PollFlags::ERR) {
            self.terminal = None;
        }
        Ok(if is_closed {
            Woken::Closed
        } else {
            Woken::Otherwise
        })
    }

    fn obey(&mut self, key: Key) {
        self.is_due = true;
        match key {
            Key::Quit => self.signals.quit(),
            Key::Pause => self.is_paused = !self.is_paused,
            Key::Help => self.has_help = !self.has_help,
            Key::Redraw => self.shown = None,
            Key::Suspend => self.suspend(),
        }
    }

    /// Stops all processes of the job, as Ctrl-Z does, until somebody continues them.
    fn suspend(&mut self) {
        tty::leave();
        self.shown = None;
        self.signals.stopped_by(|| {
            let began = Instant::now();
            if let Err(error) = kill_current_process_group(Signal::TSTP) {
                say(&format!("diskfacts: note: Ctrl-Z did not stop it: {error}"));
            }
            // The signal may reach another thread first, and this one must not enter the
            // terminal before it stops.
            std::thread::sleep(REDRAW);
            began.elapsed().saturating_sub(REDRAW)
        });
    }

    fn draw(&mut self) {
        match tty::enter() {
            State::Fresh => self.shown = None,
            State::Shows => {}
            State::Others => {
                self.shown = None;
                return;
            }
            State::Gone => {
                self.terminal = None;
                return;
            }
        }
        let (width, height) = tty::size();
        let area = Rect::new(0, 0, width, height);
        let message = exit::last_held();
        let shows_all = self
            .shown
            .as_ref()
            .is_some_and(|shown| *shown.area() == area);
        let is_due = self.is_due || !shows_all || message != self.message;
        if !tty::is_ready() || (self.is_paused && !is_due) {
            return;
        }
        self.is_due = false;
        let mut cells = Buffer::empty(area);
        let around = Around {
            is_paused: self.is_paused,
            has_help: self.has_help,
            message: message.as_deref(),
        };
        draw(self.scene().view(), &around, &self.look, &mut cells);
        self.message = message;
        let mut told = Vec::new();
        let before = self.shown.take().filter(|before| *before.area() == area);
        let before = before.unwrap_or_else(|| {
            told.extend(b"\x1b[0m\x1b[2J");
            Buffer::empty(area)
        });
        told.extend(encode(&before.diff(&cells)));
        tty::write(told);
        self.shown = Some(cells);
    }
}
