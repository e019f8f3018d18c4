//! The serial port for other programs: a pseudo-terminal with a link at a path of the user's choice.
//!
//! Raw mode, non-blocking. Survives clients that close and open again: while no client has it open the host behaves as Linux does for a
//! closed port (DTR low, nothing is read from the device), and bytes for an earlier client are not given to the next one.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum PtyError {
    #[error("no pseudo-terminal: {0}")]
    Open(std::io::Error),
    #[error("{0}: exists and is not a link; remove it or choose another --pty path")]
    Occupied(PathBuf),
    #[error(
        "{path}: the link cannot be made: {source}; choose a --pty path in a writable directory"
    )]
    Link {
        path: PathBuf,
        source: std::io::Error,
    },
}

pub struct Pty {
    master: OwnedFd,
    device: PathBuf,
    link: Option<PathBuf>,
}

impl Pty {
    /// Opens a pseudo-terminal; `link` is replaced if it is a link, refused if it is anything else.
    pub fn open(link: Option<&Path>) -> Result<Pty, PtyError> {
        let failed = || PtyError::Open(std::io::Error::last_os_error());
        // SAFETY: plain C calls on a descriptor that is owned from the moment it exists; ptsname's buffer is copied at once.
        let (master, device) = unsafe {
            let fd = libc::posix_openpt(
                libc::O_RDWR | libc::O_NOCTTY | libc::O_NONBLOCK | libc::O_CLOEXEC,
            );
            if fd < 0 {
                return Err(failed());
            }
            let master = OwnedFd::from_raw_fd(fd);
            if libc::grantpt(fd) != 0 || libc::unlockpt(fd) != 0 {
                return Err(failed());
            }
            let name = libc::ptsname(fd);
            if name.is_null() {
                return Err(failed());
            }
            (
                master,
                PathBuf::from(CStr::from_ptr(name).to_string_lossy().into_owned()),
            )
        };
        let pty = Pty {
            master,
            device,
            link: None,
        };
        pty.make_raw().map_err(PtyError::Open)?;
        let Some(link) = link else { return Ok(pty) };
        pty.with_link(link)
    }

    fn with_link(mut self, link: &Path) -> Result<Pty, PtyError> {
        let failed = |source| PtyError::Link {
            path: link.into(),
            source,
        };
        match std::fs::symlink_metadata(link) {
            Ok(m) if m.file_type().is_symlink() => std::fs::remove_file(link).map_err(failed)?,
            Ok(_) => return Err(PtyError::Occupied(link.into())),
            Err(_) => {}
        }
        std::os::unix::fs::symlink(&self.device, link).map_err(failed)?;
        self.link = Some(link.into());
        Ok(self)
    }

    /// Opens and closes the terminal side once: raw mode, and from then on the master knows when nobody has it open.
    fn make_raw(&self) -> Result<(), std::io::Error> {
        let slave = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&self.device)?;
        // SAFETY: termios is plain data, the descriptor is open.
        unsafe {
            let mut t: libc::termios = std::mem::zeroed();
            if libc::tcgetattr(slave.as_raw_fd(), &mut t) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            libc::cfmakeraw(&mut t);
            if libc::tcsetattr(slave.as_raw_fd(), libc::TCSANOW, &t) != 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    }

    /// The terminal's own path.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Whether a client has it open.
    pub fn has_client(&self) -> bool {
        let mut p = libc::pollfd {
            fd: self.master.as_raw_fd(),
            events: 0,
            revents: 0,
        };
        // SAFETY: one valid pollfd, no waiting.
        let n = unsafe { libc::poll(&mut p, 1, 0) };
        n >= 0 && p.revents & libc::POLLHUP == 0
    }

    /// What the client has written; empty when there is nothing.
    pub fn read(&self) -> Vec<u8> {
        let mut b = vec![0u8; 4096];
        // SAFETY: the buffer is as long as stated.
        let n = unsafe { libc::read(self.master.as_raw_fd(), b.as_mut_ptr().cast(), b.len()) };
        b.truncate(usize::try_from(n).unwrap_or(0));
        b
    }

    /// Gives bytes to the client; returns how many it took.
    pub fn write(&self, bytes: &[u8]) -> usize {
        // SAFETY: the slice is as long as stated.
        let n = unsafe { libc::write(self.master.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
        usize::try_from(n).unwrap_or(0)
    }

    /// Drops what the last client did not read.
    pub fn flush(&self) {
        // SAFETY: an open descriptor.
        unsafe { libc::tcflush(self.master.as_raw_fd(), libc::TCIOFLUSH) };
        if let Ok(slave) = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&self.device)
        {
            // SAFETY: an open descriptor.
            unsafe { libc::tcflush(slave.as_raw_fd(), libc::TCIOFLUSH) };
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if let Some(link) = &self.link
            && std::fs::read_link(link).is_ok_and(|to| to == self.device)
        {
            let _ = std::fs::remove_file(link);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn client(path: &Path) -> std::fs::File {
        std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .unwrap()
    }

    #[test]
    fn bytes_pass_unchanged_and_clients_may_come_and_go() {
        let dir = std::env::temp_dir().join(format!("stribeck-pty-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let link = dir.join("port");
        let pty = Pty::open(Some(&link)).unwrap();
        assert!(!pty.has_client());
        for _ in 0..2 {
            let mut c = client(&link);
            assert!(pty.has_client());
            let all: Vec<u8> = (0..=255).collect();
            assert_eq!(pty.write(&all), 256);
            let mut got = vec![0; 256];
            c.read_exact(&mut got).unwrap();
            assert_eq!(got, all);
            c.write_all(&all).unwrap();
            assert_eq!(pty.read(), all);
            drop(c);
            assert!(!pty.has_client());
            assert_eq!(pty.read(), [0u8; 0]);
        }
        drop(pty);
        assert!(
            std::fs::symlink_metadata(&link).is_err(),
            "the link is removed"
        );
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn what_one_client_left_unread_is_not_for_the_next() {
        let pty = Pty::open(None).unwrap();
        let c = client(pty.device());
        pty.write(b"old");
        drop(c);
        pty.flush();
        let mut c = client(pty.device());
        pty.write(b"new");
        let mut got = [0; 3];
        c.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"new");
    }

    #[test]
    fn a_file_in_the_way_is_not_touched() {
        let path = std::env::temp_dir().join(format!("stribeck-pty-file-{}", std::process::id()));
        std::fs::write(&path, "keep").unwrap();
        assert!(matches!(Pty::open(Some(&path)), Err(PtyError::Occupied(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "keep");
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(
            Pty::open(Some(Path::new("/nonexistent/port"))),
            Err(PtyError::Link { .. })
        ));
    }
}
