//! Running the `diskfacts` binary in a test.
//!
//! It runs apart from the user: its own empty home, so that no store and no
//! settings of the user are read or written, and no colours, so that its text
//! can be compared.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;

/// How long is waited between two looks at what nobody tells of.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A program with its arguments, ready to run, as often as wanted.
///
/// ```no_run
/// # use diskfacts_testkit::Program;
/// // In a test of the package that has the binary:
/// // Program::new(env!("CARGO_BIN_EXE_diskfacts"))
/// Program::new("diskfacts")
///     .args(["measure", "no such file"])
///     .run()
///     .expect_code(2)
///     .expect_stderr("no such file");
/// ```
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    home: TempDir,
    #[cfg(target_os = "linux")]
    group: Option<PathBuf>,
}

impl Program {
    /// The program at this path, with an empty home of its own that lives as
    /// long as this value.
    ///
    /// # Panics
    /// When no temporary folder can be made.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: None,
            home: tempfile::tempdir().expect("a temporary folder for the program's home"),
            #[cfg(target_os = "linux")]
            group: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        for argument in arguments {
            self = self.arg(argument);
        }
        self
    }

    /// Takes all arguments away, to run the program again in the same home.
    #[must_use]
    pub fn without_args(mut self) -> Self {
        self.arguments.clear();
        self
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment
            .push((key.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Runs it in this folder.
    #[must_use]
    pub fn current_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// Runs it inside the control group with this folder, from its first instruction on.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn inside(mut self, group: impl AsRef<Path>) -> Self {
        self.group = Some(group.as_ref().to_owned());
        self
    }

    /// Has another program start it, with these arguments, and become it: `ionice -c 3`.
    #[must_use]
    pub fn under(mut self, program: impl AsRef<Path>, arguments: &[&str]) -> Self {
        let own = std::mem::replace(&mut self.path, program.as_ref().to_owned());
        let before = arguments.iter().map(OsString::from);
        let before = before.chain([own.into_os_string()]);
        self.arguments.splice(0..0, before);
        self
    }

    /// Its home: `HOME`, with the folders of XDG in it.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn run(&self) -> Finished {
        self.start().finish()
    }

    /// Starts it, to do something while it runs.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(&self) -> Running {
        let mut command = self.command();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("starting {}: {error}", self.path.display()));
        let streams = child.stdout.take().zip(child.stderr.take());
        let (stdout, stderr) = streams.expect("both were piped above");
        Running {
            command: self.to_string(),
            stdout: Collected::of(stdout),
            stderr: Collected::of(stderr),
            child,
        }
    }

    fn command(&self) -> Command {
        let mut command = self.bare_command();
        command.args(&self.arguments);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        for (key, _) in std::env::vars_os() {
            // What the user set for diskfacts, for XDG, and for colours.
            let name = key.to_string_lossy();
            if name.starts_with("DISKFACTS_")
                || name.starts_with("XDG_")
                || name == "CLICOLOR_FORCE"
            {
                command.env_remove(&key);
            }
        }
        command
            .env("HOME", self.home.path())
            .env("XDG_DATA_HOME", self.home.path().join("data"))
            .env("XDG_CONFIG_HOME", self.home.path().join("config"))
            .env("XDG_STATE_HOME", self.home.path().join("state"))
            // Without it root's would be that of the machine, whatever its home is.
            .env("DISKFACTS_STATE", self.home.path().join("state/diskfacts"))
            .env("XDG_CACHE_HOME", self.home.path().join("cache"))
            .env("NO_COLOR", "1")
            .env("RUST_BACKTRACE", "0")
            .envs(self.environment.iter().map(|(key, value)| (key, value)));
        command
    }

    #[cfg(target_os = "linux")]
    fn bare_command(&self) -> Command {
        self.group.as_ref().map_or_else(
            || Command::new(&self.path),
            |group| crate::throttle::command_in(group, &self.path),
        )
    }

    #[cfg(not(target_os = "linux"))]
    fn bare_command(&self) -> Command {
        Command::new(&self.path)
    }
}

/// The call as one would type it.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.file_name().unwrap_or_default();
        f.write_str(&name.to_string_lossy())?;
        for argument in &self.arguments {
            let text = argument.to_string_lossy();
            if text.is_empty() || text.contains(' ') {
                write!(f, " '{text}'")?;
            } else {
                write!(f, " {text}")?;
            }
        }
        Ok(())
    }
}

/// What a stream has brought so far, read by a thread of its own, so that a
/// full pipe never stops the program.
#[derive(Debug)]
struct Collected {
    shared: Arc<(Mutex<Stream>, Condvar)>,
    reader: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Stream {
    bytes: Vec<u8>,
    ended: bool,
}

impl Collected {
    fn of(mut pipe: impl Read + Send + 'static) -> Self {
        let shared = Arc::new((Mutex::new(Stream::default()), Condvar::new()));
        let theirs = Arc::clone(&shared);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                // An error of a pipe ends it as its end does.
                let count = pipe.read(&mut buffer).unwrap_or(0);
                let mut stream = theirs.0.lock().unwrap_or_else(PoisonError::into_inner);
                stream.bytes.extend_from_slice(&buffer[..count]);
                stream.ended = count == 0;
                theirs.1.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        Self {
            shared,
            reader: Some(reader),
        }
    }

    /// Waits until the text has come, or the stream has ended without it.
    fn wait_for(&self, text: &str) -> bool {
        let stream = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        let came = |stream: &Stream| String::from_utf8_lossy(&stream.bytes).contains(text);
        let stream = self
            .shared
            .1
            .wait_while(stream, |stream| !stream.ended && !came(stream))
            .unwrap_or_else(PoisonError::into_inner);
        came(&stream)
    }

    fn has_ended(&self) -> bool {
        let stream = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        stream.ended
    }

    fn text(&self) -> String {
        let stream = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&stream.bytes).into_owned()
    }

    fn whole_text(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reading thread does not panic");
        }
        self.text()
    }
}

/// A program that runs. It is killed when dropped.
#[derive(Debug)]
pub struct Running {
    command: String,
    child: Child,
    stdout: Collected,
    stderr: Collected,
}

impl Running {
    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has said this on standard error.
    ///
    /// # Panics
    /// When standard error ends without it.
    pub fn wait_for_stderr(&self, text: &str) {
        let came = self.stderr.wait_for(text);
        assert!(
            came,
            "{}: no '{text}' in:\n{}",
            self.command,
            self.stderr.text()
        );
    }

    /// Waits until it has said this on standard output.
    ///
    /// # Panics
    /// When standard output ends without it.
    pub fn wait_for_stdout(&self, text: &str) {
        let came = self.stdout.wait_for(text);
        assert!(
            came,
            "{}: no '{text}' in:\n{}",
            self.command,
            self.stdout.text()
        );
    }

    /// Waits until this holds of the system that it runs on, which nobody tells of.
    ///
    /// # Panics
    /// When it ends without that.
    pub fn wait_until(&self, what: &str, holds: impl Fn() -> bool) {
        while !holds() {
            assert!(
                !self.stderr.has_ended(),
                "{}: it ended before {what}:\n{}",
                self.command,
                self.stderr.text()
            );
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// What it has said on standard output until now.
    pub fn stdout_so_far(&self) -> String {
        self.stdout.text()
    }

    /// What Ctrl-C does.
    #[cfg(unix)]
    pub fn interrupt(&self) {
        self.signal(rustix::process::Signal::INT);
    }

    /// What `kill` does.
    #[cfg(unix)]
    pub fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// What nothing can catch.
    #[cfg(unix)]
    pub fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    /// Changes what it looks at while it is stopped, so that it sees none of it or all:
    /// a file that is being written over is empty for a moment, which no file of the
    /// kernel ever is.
    ///
    /// # Panics
    /// When it has ended.
    #[cfg(target_os = "linux")]
    pub fn while_stopped(&self, change: impl FnOnce()) {
        self.signal(rustix::process::Signal::STOP);
        let status = format!("/proc/{}/status", self.child.id());
        self.wait_until("it was stopped", || {
            let status = std::fs::read_to_string(&status).unwrap_or_default();
            status.lines().any(|line| line.starts_with("State:\tT"))
        });
        change();
        self.signal(rustix::process::Signal::CONT);
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// When it cannot be sent.
    #[cfg(unix)]
    pub fn signal(&self, signal: rustix::process::Signal) {
        let id = i32::try_from(self.child.id()).ok();
        let process = id.and_then(rustix::process::Pid::from_raw);
        let process = process.expect("a child's id is a positive number");
        rustix::process::kill_process(process, signal)
            .unwrap_or_else(|error| panic!("sending {signal:?} to {}: {error}", self.command));
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When the system cannot wait for it.
    pub fn finish(mut self) -> Finished {
        let status = self.child.wait().expect("waiting for a child");
        Finished {
            command: self.command.clone(),
            status,
            stdout: self.stdout.whole_text(),
            stderr: self.stderr.whole_text(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has usually ended, and then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a program that has ended said.
#[derive(Debug)]
pub struct Finished {
    command: String,
    status: ExitStatus,
    /// All of standard output.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
}

impl Finished {
    /// Its exit code; `None` when a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Insists on an exit code.
    ///
    /// # Panics
    /// With the call and all it said, when it was another.
    #[track_caller]
    pub fn expect_code(&self, code: i32) -> &Self {
        assert!(
            self.status.code() == Some(code),
            "not exit code {code}:\n{self}"
        );
        self
    }

    /// Insists on a text in standard output; lines may have been broken anywhere
    /// between its words.
    ///
    /// # Panics
    /// With the call and all it said, when the text is not there.
    #[track_caller]
    pub fn expect_stdout(&self, text: &str) -> &Self {
        assert!(
            says(&self.stdout, text),
            "no '{text}' in standard output:\n{self}"
        );
        self
    }

    /// Insists on a text in standard error; lines may have been broken anywhere
    /// between its words.
    ///
    /// # Panics
    /// With the call and all it said, when the text is not there.
    #[track_caller]
    pub fn expect_stderr(&self, text: &str) -> &Self {
        assert!(
            says(&self.stderr, text),
            "no '{text}' in standard error:\n{self}"
        );
        self
    }
}

/// Whether a text is there, wherever its lines are broken: that depends on the
/// length of names and folders before it.
fn says(all: &str, text: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    all.contains(text) || words(all).contains(&words(text))
}

/// The call, how it ended, and all it said.
impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}\n{}", self.command, self.status)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            writeln!(f, "--- {name} ---\n{}", text.trim_end())?;
        }
        f.write_str("---")
    }
}
