//! A virtual bench with its debug probe as a process of its own, and a small client of the remote protocol.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// As long as anything may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// `stribeck-bench run … --probe 127.0.0.1:0`; ends with the test.
pub struct ProbeBench {
    child: Child,
    dir: tempfile::TempDir,
    /// `address:port` of the probe.
    pub address: String,
}

impl ProbeBench {
    pub fn start(args: &[&str]) -> ProbeBench {
        let dir = tempfile::tempdir().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_stribeck-bench"))
            .args(["run", "--probe", "127.0.0.1:0"])
            .args(args)
            .stdout(File::create(dir.path().join("summary")).unwrap())
            .stderr(File::create(dir.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut bench = ProbeBench {
            child,
            dir,
            address: String::new(),
        };
        let line = bench.wait_for("debug probe: 1d50:6018:");
        bench.address = line.rsplit("6018:").next().unwrap().to_string();
        bench
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    /// The first line of the log that contains `text`, when it is there.
    pub fn wait_for(&mut self, text: &str) -> String {
        let begun = Instant::now();
        loop {
            let log = self.log();
            let whole = log.rsplit_once('\n').map_or("", |l| l.0);
            if let Some(line) = whole.lines().find(|l| l.contains(text)) {
                return line.to_string();
            }
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "the bench ended ({ended:?}):\n{log}");
            assert!(begun.elapsed() < PATIENCE, "no '{text}' in:\n{log}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// What probe-rs is told to use.
    pub fn selector(&self) -> String {
        format!("1d50:6018:{}", self.address)
    }

    pub fn connect(&self) -> Client {
        Client::connect(&self.address)
    }

    /// Ends the run as Ctrl-C does and returns its summary.
    pub fn finish(mut self) -> String {
        // SAFETY: our own child, not yet waited for.
        unsafe { libc::kill(self.child.id() as libc::pid_t, libc::SIGINT) };
        self.child.wait().unwrap();
        std::fs::read_to_string(self.dir.path().join("summary")).unwrap()
    }
}

impl Drop for ProbeBench {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client that speaks protocol version 4, for tests without probe-rs.
pub struct Client(pub TcpStream);

impl Client {
    pub fn connect(address: &str) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client(stream)
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    /// The next reply without its frame, or what the other side had to say when it hung up.
    pub fn reply(&mut self) -> String {
        let mut text = String::new();
        let mut byte = [0];
        loop {
            match self.0.read(&mut byte) {
                Ok(0) => return format!("{text}(closed)"),
                Ok(_) if byte == *b"#" => return text,
                Ok(_) if byte == *b"&" => text.clear(),
                Ok(_) => text.push(byte[0] as char),
                Err(e) if e.kind() == ErrorKind::ConnectionReset => {
                    return format!("{text}(closed)");
                }
                Err(e) => panic!("no reply: {e} (so far '{text}')"),
            }
        }
    }

    pub fn ask(&mut self, packet: &str) -> String {
        self.send(format!("!{packet}#").as_bytes());
        self.reply()
    }

    /// Handshake and debug power, as every debugger begins.
    pub fn power_up(&mut self) {
        self.send(b"+#!GA#");
        assert!(self.reply().starts_with("Kstribeck"));
        assert_eq!(self.ask("AR0000000450000000"), "K0");
        assert_eq!(self.ask("Ad00ff0004"), "K400000f0", "power acknowledged");
    }

    pub fn read(&mut self, address: u32) -> u32 {
        let reply = self.ask(&format!("Am000000000000{address:016x}00000004"));
        let hex = reply
            .strip_prefix('K')
            .unwrap_or_else(|| panic!("{address:#x}: {reply}"));
        u32::from_str_radix(hex, 16).unwrap().swap_bytes()
    }

    pub fn write(&mut self, address: u32, v: u32) {
        let bytes: String = v.to_le_bytes().iter().map(|b| format!("{b:02x}")).collect();
        let packet = format!("AM00000000000002{address:016x}00000004{bytes}");
        assert_eq!(self.ask(&packet), "K0", "{address:#x}");
    }
}

/// The firmware's file, which `harness::firmware` has checked.
pub fn firmware_path() -> PathBuf {
    super::firmware();
    std::env::var_os("STRIBECK_FIRMWARE_ELF").map_or_else(
        || {
            PathBuf::from(env!("CARGO_MANIFEST_DIR"))
                .join("../target/thumbv7em-none-eabihf/firmware/stribeck-firmware")
        },
        PathBuf::from,
    )
}

/// Output of a command with both streams as they came, and its exit code.
pub fn output(command: &mut Command) -> (Option<i32>, String) {
    let mut file = tempfile::tempfile().unwrap();
    let status = command
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file.try_clone().unwrap())
        .status()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    (status.code(), String::from_utf8_lossy(&bytes).into_owned())
}
