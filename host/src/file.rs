//! Files that are written: nothing is overwritten unasked, nothing is left half written.
//!
//! A result is written beside its name and renamed when it is whole ([`Replacement`]), so a full disk or a killed
//! process leaves the old file as it was. What is not a file (`/dev/stdout`, a pipe) is written directly.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// May `output` be written? Not if it exists (unless `force`), and never if it is one of `inputs` under any name.
pub fn may_write(output: &Path, force: bool, inputs: &[&Path]) -> Result<()> {
    if let Some(input) = inputs.iter().find(|input| same(output, input)) {
        return Err(Error::invalid(
            format!(
                "{} is the file that is read ({}): it would be destroyed",
                output.display(),
                input.display()
            ),
            "choose another name with -o",
        ));
    }
    match output.symlink_metadata() {
        Ok(_) if force || is_special(output) => Ok(()),
        Ok(_) => Err(Error::Exists(output.into())),
        Err(_) => Ok(()),
    }
}

/// Neither file nor missing: a device, a pipe.
pub fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// Whether two names are one file, through links of any kind.
fn same(a: &Path, b: &Path) -> bool {
    a.metadata().is_ok_and(|m| m.is_file()) && same_file::is_same_file(a, b).unwrap_or(false)
}

/// Create a file that nobody else writes: a new one, or with `force` in place of one that nobody is writing.
pub fn create_alone(path: &Path, force: bool) -> Result<File> {
    let fail = |e: io::Error| match e.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists(path.into()),
        _ => Error::write(path, e),
    };
    let mut options = OpenOptions::new();
    options.write(true);
    if force || is_special(path) {
        options.create(true).truncate(false);
    } else {
        options.create_new(true);
    }
    let file = options.open(path).map_err(fail)?;
    if is_special(path) {
        return Ok(file);
    }
    if let Err(std::fs::TryLockError::WouldBlock) = file.try_lock() {
        return Err(Error::invalid(
            format!("{} is being recorded by another program", path.display()),
            "choose another name with -o",
        ));
    }
    file.set_len(0).map_err(fail)?;
    Ok(file)
}

/// Write a whole file or leave what was there.
pub fn replace(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    let mut file = Replacement::create(path)?;
    file.write_all(bytes.as_ref())
        .map_err(|e| Error::write(path, e))?;
    file.commit()
}

/// A file under way: visible under its name only when it is whole.
pub struct Replacement {
    path: PathBuf,
    /// `None`: written directly (a device).
    temporary: Option<PathBuf>,
    file: Option<BufWriter<File>>,
}

impl Replacement {
    pub fn create(path: &Path) -> Result<Self> {
        let fail = |e| Error::write(path, e);
        let direct = is_special(path);
        // Through a link, so that it stays one.
        let path_at = path.canonicalize().unwrap_or_else(|_| path.into());
        let at = if direct {
            path.into()
        } else {
            beside(&path_at)
        };
        let file = File::create(&at).map_err(fail)?;
        Ok(Replacement {
            path: path_at,
            temporary: (!direct).then_some(at),
            file: Some(BufWriter::with_capacity(1 << 20, file)),
        })
    }

    /// As [`Replacement::create`], but under way in another folder of the same file system.
    #[cfg(feature = "campaign")]
    pub fn create_in(folder: &Path, path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default();
        let at = beside(&folder.join(name));
        let file = File::create(&at).map_err(|e| Error::write(path, e))?;
        Ok(Replacement {
            path: path.into(),
            temporary: Some(at),
            file: Some(BufWriter::with_capacity(1 << 20, file)),
        })
    }

    /// As [`Replacement::commit`], after the disk has it: a power cut leaves no empty file under the name.
    #[cfg(feature = "campaign")]
    pub fn commit_synced(mut self) -> Result<()> {
        if let Some(file) = &mut self.file {
            let synced = file.flush().and_then(|()| file.get_ref().sync_data());
            synced.map_err(|e| Error::write(&self.path, e))?;
        }
        self.commit()
    }

    /// The file is whole: give it its name.
    pub fn commit(mut self) -> Result<()> {
        let fail = |e| Error::write(&self.path, e);
        if let Some(mut file) = self.file.take() {
            file.flush().map_err(fail)?;
        }
        if let Some(temporary) = self.temporary.take() {
            std::fs::rename(&temporary, &self.path).map_err(|e| {
                let _ = std::fs::remove_file(&temporary);
                fail(e)
            })?;
        }
        Ok(())
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        self.file = None;
        if let Some(temporary) = &self.temporary {
            let _ = std::fs::remove_file(temporary);
        }
    }
}

/// A name in the same folder, with the same ending, that nobody else uses.
pub fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Processes of several machines may have one number and write into one folder.
    let random = RandomState::new().build_hasher().finish() as u32;
    path.with_file_name(format!(".{}-{random:08x}.{name}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_overwritten_unasked_and_never_the_input() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, link, hard] = ["a", "b", "link", "hard"].map(|n| folder.path().join(n));
        std::fs::write(&a, "old").unwrap();
        may_write(&b, false, &[&a]).unwrap();
        assert!(matches!(may_write(&a, false, &[]), Err(Error::Exists(_))));
        may_write(&a, true, &[&b]).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&a, &link).unwrap();
        #[cfg(windows)]
        std::fs::hard_link(&a, &link).unwrap();
        std::fs::hard_link(&a, &hard).unwrap();
        for name in [&a, &link, &hard] {
            assert!(may_write(name, true, &[&a]).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_file_is_whole_or_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        std::fs::write(&path, "old").unwrap();
        let mut file = Replacement::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        replace(&path, "new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.mcap");
        let first = create_alone(&path, false).unwrap();
        assert!(matches!(create_alone(&path, false), Err(Error::Exists(_))));
        let said = create_alone(&path, true).unwrap_err().to_string();
        assert!(said.contains("being recorded"), "{said}");
        drop(first);
        create_alone(&path, true).unwrap();
    }
}
