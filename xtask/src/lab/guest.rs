//! One guest from its boot to its end, or to the moment when it hangs.
//!
//! The guest's program speaks first, a JSON object on each line of its second
//! serial line; it is told what to do, and says what it finds. It may ask QEMU
//! something through us: what a device has counted, or to take one away.

use super::catalogue::Disk;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a guest may say nothing. Its processor is emulated, and the machine
/// may have other work: the longest step of a scenario takes some 20 s alone.
const QUIET: Duration = Duration::from_mins(5);

/// How long QEMU may take to open its sockets.
const START: Duration = Duration::from_mins(1);

/// Instructions are translated and kept; a guest has one processor, so one thread runs it and
/// nothing need be atomic for another.
const ACCELERATOR: &str = "tcg,thread=single";

/// All that it can, but for what is translated badly: five levels of page tables, and the
/// "enhanced" and "fast short" string instructions, which the kernel would clear and copy
/// pages with and which are taken a byte at a time here.
const PROCESSOR: &str = "max,la57=off,erms=off,fsrm=off";

/// What a guest that nobody attacks does without, for a third of its processor time: programs
/// and kernel at another address each time are translated anew each time, pages are zeroed
/// before they are overwritten, and `rep_good` is the other instruction of the above.
const FAST: &str = "mitigations=off nokaslr norandmaps init_on_alloc=0 clearcpuid=rep_good";

/// What a guest is to be.
pub(super) struct Guest<'a> {
    pub(super) kernel: &'a Path,
    pub(super) image: &'a Path,
    pub(super) disks: &'a [&'a Disk],
    /// Other guests on a network with it, which do what it tells them.
    pub(super) helpers: u64,
    /// Where its disks, its console and what it leaves are.
    pub(super) folder: &'a Path,
}

/// What a QEMU is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// To do scenarios.
    Scenarios,
    /// To do what that one tells it; which one, from 1.
    Helper(u64),
    /// To have a shell.
    Shell,
}

/// What a guest said of one scenario.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    Begins(String),
    /// What a scenario is, where its name does not say.
    Note(String),
    Passed(String),
    Failed {
        check: String,
        why: String,
    },
    Skipped {
        check: String,
        why: String,
    },
    Ends {
        scenario: String,
        seconds: f64,
        /// How many checks it has told; as many must have been heard.
        checks: u64,
    },
}

/// How a guest ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It did all it was asked to.
    Done,
    /// It died or hung; what is known of it.
    Lost(String),
}

impl Guest<'_> {
    /// Boots it, has it do `work`, and hears what it says.
    ///
    /// # Errors
    /// When QEMU cannot be started at all.
    pub(super) fn run(&self, work: &Value, mut hear: impl FnMut(Said)) -> Result<End, String> {
        drop(fs::remove_dir_all(self.folder.join("disks")));
        for folder in ["disks", "share"] {
            fs::create_dir_all(self.folder.join(folder)).map_err(failed("making folders"))?;
        }
        for disk in self.disks {
            let file = File::create(self.disk_file(disk)).map_err(failed(&disk.name))?;
            file.set_len(disk.bytes).map_err(failed(&disk.name))?;
        }
        let mut machine = Machine(self.start(Role::Scenarios)?);
        let serial = machine.connect(&self.folder.join("serial"), self)?;
        let monitor = machine.connect(&self.folder.join("monitor"), self)?;
        let mut monitor = Monitor::greet(monitor)
            .map_err(|error| self.last_words(&format!("QEMU's monitor: {error}")))?;
        // The sockets of its network are there before those of its monitor answer. They end with
        // the last of these values.
        let _helpers: Vec<Machine> = (1..=self.helpers)
            .map(|number| self.start(Role::Helper(number)).map(Machine))
            .collect::<Result<_, String>>()?;
        serial
            .set_read_timeout(Some(QUIET))
            .map_err(failed("its serial line"))?;
        let mut answers = serial.try_clone().map_err(failed("its serial line"))?;
        let mut lines = BufReader::new(serial);
        loop {
            let mut line = Vec::new();
            match lines.read_until(b'\n', &mut line) {
                Ok(0) => return Ok(End::Lost(self.last_words("it died"))),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let what = format!("it said nothing for {} s", QUIET.as_secs());
                    return Ok(End::Lost(self.last_words(&what)));
                }
                Err(error) => return Ok(End::Lost(self.last_words(&error.to_string()))),
            }
            let Ok(message) = serde_json::from_slice::<Value>(&line) else {
                // What a library or a panic prints.
                print!("lab: {}", String::from_utf8_lossy(&line));
                continue;
            };
            let answer = if message.get("ready").is_some() {
                Some(work.clone())
            } else if let Some(question) = message.get("ask") {
                Some(monitor.ask(question))
            } else if message.get("waited").is_some() {
                Some(machine.waited_ns().map_or_else(
                    |error| json!({ "error": error.to_string() }),
                    |ns| json!({ "return": ns }),
                ))
            } else if message.get("done").is_some() {
                machine.wait();
                drop(fs::remove_dir_all(self.folder.join("disks")));
                return Ok(End::Done);
            } else {
                if let Some(said) = understood(&message) {
                    hear(said);
                }
                None
            };
            if let Some(answer) = answer {
                let line = format!("{answer}\n");
                if let Err(error) = answers.write_all(line.as_bytes()) {
                    return Ok(End::Lost(self.last_words(&error.to_string())));
                }
            }
        }
    }

    /// Boots it with a shell on this terminal.
    ///
    /// # Errors
    /// When QEMU cannot be started.
    pub(super) fn shell(&self) -> Result<(), String> {
        for folder in ["disks", "share"] {
            let folder = self.folder.join(folder);
            fs::create_dir_all(&folder).map_err(|e| format!("making {}: {e}", folder.display()))?;
        }
        for disk in self.disks {
            let made = File::create(self.disk_file(disk)).and_then(|f| f.set_len(disk.bytes));
            made.map_err(|error| format!("{}: {error}", disk.name))?;
        }
        let mut child = self.start(Role::Shell)?;
        child
            .wait()
            .map(drop)
            .map_err(|error| format!("waiting for QEMU: {error}"))
    }

    fn disk_file(&self, disk: &Disk) -> PathBuf {
        self.folder.join("disks").join(&disk.name)
    }

    fn start(&self, role: Role) -> Result<Child, String> {
        let path = |name: &str| self.folder.join(name).display().to_string();
        if !matches!(role, Role::Helper(_)) {
            for socket in ["serial", "monitor"] {
                drop(fs::remove_file(self.folder.join(socket)));
            }
        }
        let mut command = Command::new("qemu-system-x86_64");
        command
            .args(["-accel", ACCELERATOR, "-cpu", PROCESSOR])
            .args(["-m", "1024", "-smp", "1", "-display", "none", "-no-reboot"])
            .args(["-nodefaults", "-no-user-config"])
            .arg("-kernel")
            .arg(self.kernel)
            .arg("-initrd")
            .arg(self.image)
            .arg("-append")
            .arg(format!(
                "console=ttyS0 panic=-1 loglevel=5 {FAST}{}",
                self.words(role)
            ));
        self.connect_network(role, &mut command);
        match role {
            Role::Shell => {
                command.args(["-serial", "mon:stdio"]);
            }
            Role::Helper(number) => {
                let console = path(&format!("console-{number}"));
                command
                    .args(["-serial", &format!("file:{console}"), "-monitor", "none"])
                    .stdin(Stdio::null());
            }
            Role::Scenarios => {
                command
                    .args(["-serial", &format!("file:{}", path("console"))])
                    .args([
                        "-serial",
                        &format!("unix:{},server=on,wait=off", path("serial")),
                    ])
                    .args([
                        "-qmp",
                        &format!("unix:{},server=on,wait=off", path("monitor")),
                    ])
                    .stdin(Stdio::null());
            }
        }
        let share = path("share");
        command.args([
            "-virtfs",
            &format!("local,path={share},mount_tag=lab,security_model=none"),
        ]);
        let disks = match role {
            Role::Helper(_) => &[],
            Role::Scenarios | Role::Shell => self.disks,
        };
        let mut controllers: Vec<&String> = Vec::new();
        for need in disks.iter().flat_map(|disk| &disk.needs) {
            if !controllers.contains(&need) {
                controllers.push(need);
                command.args(["-device", need]);
            }
        }
        for disk in disks {
            let file = self.disk_file(disk).display().to_string();
            for (option, value) in &disk.options {
                command.arg(option).arg(value.replace("{file}", &file));
            }
        }
        let log = match role {
            Role::Helper(number) => path(&format!("qemu-{number}")),
            Role::Scenarios | Role::Shell => path("qemu"),
        };
        let log = File::create(&log).map_err(|error| format!("{log}: {error}"))?;
        if role != Role::Shell {
            command.stdout(Stdio::null()).stderr(log);
        }
        command
            .spawn()
            .map_err(|error| format!("starting qemu-system-x86_64: {error}"))
    }

    /// What init is told on the kernel's command line.
    fn words(&self, role: Role) -> String {
        let address = self.place(role);
        let address = address.map(|place| format!(" lab.address=10.0.0.{place}"));
        let word = match role {
            Role::Shell => " lab.shell",
            Role::Helper(_) => " lab.helper",
            Role::Scenarios => "",
        };
        address.unwrap_or_default() + word
    }

    /// Its place on the network, from 1; `None` where there is none.
    fn place(&self, role: Role) -> Option<u64> {
        match role {
            Role::Scenarios if self.helpers > 0 => Some(1),
            Role::Helper(number) => Some(number + 1),
            Role::Scenarios | Role::Shell => None,
        }
    }

    /// The guests' network is a hub in the first of them, with a socket for each other one: that
    /// needs no port of this machine and no right, and is seen by nobody else.
    fn connect_network(&self, role: Role, command: &mut Command) {
        let Some(place) = self.place(role) else {
            return;
        };
        let cable = |number: u64, server: &str| {
            let path = self.folder.join(format!("network-{number}"));
            // It may be there of a run before.
            if server == "on" {
                drop(fs::remove_file(&path));
            }
            let path = path.display();
            format!("stream,id=c{number},server={server},addr.type=unix,addr.path={path}")
        };
        match role {
            Role::Helper(number) => {
                command.args(["-netdev", &cable(number, "off")]);
                command.args(["-device", &card(&format!("c{number}"), place)]);
            }
            Role::Scenarios | Role::Shell => {
                command.args(["-netdev", "hubport,id=h0,hubid=0"]);
                for number in 1..=self.helpers {
                    let port = format!("hubport,id=h{number},hubid=0,netdev=c{number}");
                    command.args(["-netdev", &cable(number, "on"), "-netdev", &port]);
                }
                command.args(["-device", &card("h0", place)]);
            }
        }
    }

    /// `what` happened, and the last lines of the guest's kernel and of QEMU.
    fn last_words(&self, what: &str) -> String {
        let mut text = what.to_owned();
        for file in ["console", "qemu"] {
            let bytes = fs::read(self.folder.join(file)).unwrap_or_default();
            let all = String::from_utf8_lossy(&bytes);
            let lines: Vec<&str> = all.lines().filter(|line| !line.trim().is_empty()).collect();
            for line in &lines[lines.len().saturating_sub(12)..] {
                text.push_str("\n      ");
                text.push_str(line.trim_end());
            }
        }
        text
    }
}

/// A network card; without a ROM to boot from, which is another package.
fn card(netdev: &str, place: u64) -> String {
    format!("virtio-net-pci,netdev={netdev},mac=52:54:00:00:00:{place:02x},romfile=")
}

/// An error of the host, with what was tried.
fn failed(what: &str) -> impl Fn(io::Error) -> String {
    move |error| format!("{what}: {error}")
}

/// A QEMU that runs; it ends with this value.
struct Machine(Child);

impl Machine {
    fn connect(&mut self, socket: &Path, guest: &Guest) -> Result<UnixStream, String> {
        let start = Instant::now();
        loop {
            match UnixStream::connect(socket) {
                Ok(stream) => return Ok(stream),
                Err(error) => {
                    let ended = self.0.try_wait().ok().flatten();
                    if ended.is_some() || start.elapsed() > START {
                        let what = format!("QEMU does not start ({error})");
                        return Err(guest.last_words(&what));
                    }
                    thread::sleep(Duration::from_millis(50));
                }
            }
        }
    }

    /// How long its threads have waited for a processor of this machine, in nanoseconds:
    /// the second number of `schedstat` (Documentation/scheduler/sched-stats.rst). A guest
    /// cannot see that its processor stood still.
    fn waited_ns(&self) -> io::Result<u64> {
        let mut sum = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.0.id()))? {
            let text = match fs::read_to_string(thread?.path().join("schedstat")) {
                Ok(text) => text,
                // A thread that ended meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let waited = text.split_whitespace().nth(1);
            let waited = waited.and_then(|number| number.parse::<u64>().ok());
            sum += waited.ok_or_else(|| io::Error::other(format!("schedstat has {text:?}")))?;
        }
        Ok(sum)
    }

    /// Waits until it has switched itself off; not for ever.
    fn wait(&mut self) {
        let start = Instant::now();
        while start.elapsed() < START && matches!(self.0.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // It has ended already, where this fails.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// QEMU's monitor (QMP: a JSON object on each line).
struct Monitor {
    lines: BufReader<UnixStream>,
}

impl Monitor {
    fn greet(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(START))?;
        let mut monitor = Self {
            lines: BufReader::new(stream),
        };
        monitor.next()?;
        monitor.call(&json!({ "execute": "qmp_capabilities" }))?;
        Ok(monitor)
    }

    /// The answer to a command, or what went wrong, as the guest gets it.
    fn ask(&mut self, command: &Value) -> Value {
        match self.call(command) {
            Ok(answer) => answer,
            Err(error) => json!({ "error": error.to_string() }),
        }
    }

    fn call(&mut self, command: &Value) -> io::Result<Value> {
        self.lines
            .get_mut()
            .write_all(format!("{command}\n").as_bytes())?;
        loop {
            let message = self.next()?;
            // Events come between.
            if message.get("return").is_some() || message.get("error").is_some() {
                return Ok(message);
            }
        }
    }

    fn next(&mut self) -> io::Result<Value> {
        let mut line = String::new();
        if self.lines.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        serde_json::from_str(&line).map_err(io::Error::other)
    }
}

/// What a line of the guest's says, if it is about a scenario.
fn understood(message: &Value) -> Option<Said> {
    let text = |key: &str| message[key].as_str().map(str::to_owned);
    let why = || text("why").unwrap_or_default();
    if let Some(scenario) = text("begin") {
        return Some(Said::Begins(scenario));
    }
    if let Some(note) = text("note") {
        return Some(Said::Note(note));
    }
    if let Some(check) = text("passed") {
        return Some(Said::Passed(check));
    }
    if let Some(check) = text("failed") {
        return Some(Said::Failed { check, why: why() });
    }
    if let Some(check) = text("skipped") {
        return Some(Said::Skipped { check, why: why() });
    }
    Some(Said::Ends {
        scenario: text("end")?,
        seconds: message["seconds"].as_f64()?,
        checks: message["checks"].as_u64()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_guest_is_understood_or_left() {
        let said = |text: &str| understood(&serde_json::from_str(text).expect("JSON"));
        assert_eq!(
            said(r#"{"begin":"md"}"#),
            Some(Said::Begins("md".to_owned()))
        );
        assert_eq!(
            said(r#"{"failed":"stack","why":"no md0"}"#),
            Some(Said::Failed {
                check: "stack".to_owned(),
                why: "no md0".to_owned()
            })
        );
        assert_eq!(said(r#"{"log":"x"}"#), None);
    }
}
