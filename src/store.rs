//! A folder that keeps whole texts for a while, so that a model that reads a shortened text can ask for the rest of it. Each text
//! has an id of random digits. The folder is private, and old texts are removed whenever a new one is added.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DIGITS: usize = 12;
/// The end of a file's name while it is written.
const UNFINISHED: &str = ".part";

/// A folder of texts. Several threads and processes may use one folder at the same time.
///
/// ```
/// use std::time::Duration;
/// use aside::store::Store;
///
/// # let folder = std::env::temp_dir().join(format!("aside-store-{}", std::process::id()));
/// let store = Store::open(&folder)?.oldest(Duration::from_secs(60 * 60));
/// let id = store.put(b"line 1\nline 2\n")?;
/// assert_eq!(store.get(&id)?, b"line 1\nline 2\n");
/// assert!(store.get("../passwd").is_err());
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    longest: u64,
    most: u64,
    oldest: Duration,
}

impl Store {
    /// Opens a folder. If the folder does not exist, makes one that only its owner can read (mode 0700 on Unix). By default, the
    /// store keeps the first 64 MiB of each text for seven days, and at most 256 MiB of all texts together.
    ///
    /// # Errors
    ///
    /// If the folder cannot be made.
    pub fn open(folder: impl AsRef<Path>) -> io::Result<Store> {
        let folder = folder.as_ref().to_owned();
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        Ok(Store { folder, longest: 64 << 20, most: 256 << 20, oldest: Duration::from_secs(7 * 24 * 60 * 60) })
    }

    /// Sets the most bytes of a text that are kept. The bytes after those are dropped.
    #[must_use]
    pub fn longest(mut self, bytes: u64) -> Store {
        self.longest = bytes;
        self
    }

    /// Sets the most bytes of all texts together, the next text included. When a text is added, the oldest ones are removed to make
    /// room for it.
    #[must_use]
    pub fn most(mut self, bytes: u64) -> Store {
        self.most = bytes;
        self
    }

    /// Sets the greatest age of a text. When a text is added, all that are older are removed.
    #[must_use]
    pub fn oldest(mut self, age: Duration) -> Store {
        self.oldest = age;
        self
    }

    /// Adds a text, and removes old texts. Returns the new text's id, which has twelve digits.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read, or the text cannot be written.
    pub fn put(&self, text: &[u8]) -> io::Result<String> {
        let mut entry = self.begin()?;
        entry.write_all(text)?;
        entry.finish()
    }

    /// Begins a text that is written in chunks, and removes old texts.
    ///
    /// # Errors
    ///
    /// As [`Store::put`].
    pub fn begin(&self) -> io::Result<Entry> {
        self.sweep()?;
        loop {
            let id = new_id();
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let path = self.folder.join(format!("{id}{UNFINISHED}"));
            match options.open(&path) {
                Ok(file) if !self.folder.join(&id).exists() => {
                    return Ok(Entry { file, path, id, room: self.longest });
                }
                Ok(_) => fs::remove_file(path)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the text with this id. Does not follow symbolic links.
    ///
    /// # Errors
    ///
    /// If the id contains characters other than the digits 0 to 9 and a to f, or if there is no text with this id, or none any
    /// more.
    pub fn get(&self, id: &str) -> io::Result<Vec<u8>> {
        if id.is_empty() || !id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an id has only the digits 0 to 9 and a to f"));
        }
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
        let mut text = Vec::new();
        io::Read::read_to_end(&mut options.open(self.folder.join(id))?, &mut text)?;
        Ok(text)
    }

    /// Removes texts that are too old, and then the oldest ones while all texts together have too many bytes. Leaves other files
    /// alone.
    fn sweep(&self) -> io::Result<()> {
        let mut texts = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let id = name.strip_suffix(UNFINISHED).unwrap_or(&name);
            let is_text = id.len() == DIGITS && id.bytes().all(|byte| byte.is_ascii_digit());
            // Another process may have removed the file.
            if let Some(data) = entry.metadata().ok().filter(|data| is_text && data.is_file()) {
                texts.push((data.modified()?, data.len(), entry.path()));
            }
        }
        texts.sort();
        let mut all: u64 = texts.iter().map(|text| text.1).sum();
        for (written, length, path) in texts {
            let is_old = SystemTime::now().duration_since(written).is_ok_and(|age| age > self.oldest);
            if is_old || all.saturating_add(self.longest) > self.most {
                all -= length;
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}

/// A text that is being written. If it is dropped before [`Entry::finish`], nobody can read the text, and it is removed later,
/// together with the old texts.
///
/// ```
/// use std::io::Write;
/// use aside::store::Store;
///
/// # let folder = std::env::temp_dir().join(format!("aside-entry-{}", std::process::id()));
/// let store = Store::open(&folder)?;
/// let mut entry = store.begin()?;
/// entry.write_all(b"line 1\n")?;
/// entry.write_all(b"line 2\n")?;
/// let id = entry.finish()?;
/// assert_eq!(store.get(&id)?, b"line 1\nline 2\n");
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Entry {
    file: File,
    path: PathBuf,
    id: String,
    /// The number of further bytes that are kept.
    room: u64,
}

impl Entry {
    /// Returns the id that the text will have.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Ends the text, so that it can be read from now on. Returns its id.
    ///
    /// # Errors
    ///
    /// If the file cannot be renamed.
    pub fn finish(self) -> io::Result<String> {
        fs::rename(&self.path, self.path.with_file_name(&self.id))?;
        Ok(self.id)
    }

    /// Removes what was written.
    pub fn discard(self) {
        let _ = fs::remove_file(self.path);
    }
}

/// Adds the next bytes. Bytes after the longest allowed text are dropped, and count as written.
impl Write for Entry {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = usize::try_from(self.room).unwrap_or(usize::MAX);
        if room == 0 {
            return Ok(bytes.len());
        }
        let written = self.file.write(&bytes[..bytes.len().min(room)])?;
        self.room -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns random digits. They are random because each `RandomState` has random keys from the system.
fn new_id() -> String {
    let number = RandomState::new().hash_one((std::process::id(), SystemTime::now()));
    format!("{:0width$}", number % 10_u64.pow(DIGITS as u32), width = DIGITS)
}
