//! A folder that keeps whole texts for a while, so that a model that reads a shortened one can ask for the rest. Each text has an
//! id of random digits. The folder is private, and old texts are removed whenever a new one is added.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The longest text, in bytes; the bytes after those are not kept.
const LONGEST: u64 = 64 << 20;
/// The most bytes of all texts together, and the greatest age of one.
const MOST: u64 = 256 << 20;
const OLDEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const DIGITS: usize = 12;
/// The end of a file's name while it is written.
const UNFINISHED: &str = ".part";

/// A folder of texts.
pub struct Store(PathBuf);

impl Store {
    /// Opens a folder. It is made if it is not there, for its owner alone.
    pub fn open(folder: &Path) -> io::Result<Store> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        Ok(Store(folder.to_owned()))
    }

    /// Begins a text, and removes old ones.
    pub fn begin(&self) -> io::Result<Entry> {
        self.sweep()?;
        loop {
            let id = new_id();
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let path = self.0.join(format!("{id}{UNFINISHED}"));
            match options.open(&path) {
                Ok(file) if !self.0.join(&id).exists() => return Ok(Entry { file, path, id, length: 0 }),
                Ok(_) => fs::remove_file(path)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns a text. An id is digits and nothing else, and no link is followed.
    pub fn get(&self, id: &str) -> io::Result<Vec<u8>> {
        if id.is_empty() || !id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an id has only the digits 0 to 9 and a to f"));
        }
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
        let mut text = Vec::new();
        io::Read::read_to_end(&mut options.open(self.0.join(id))?, &mut text)?;
        Ok(text)
    }

    /// Removes texts that are too old, and then the oldest ones while all have too many bytes. Other files stay.
    fn sweep(&self) -> io::Result<()> {
        let mut texts = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let id = name.strip_suffix(UNFINISHED).unwrap_or(&name);
            let is_text = id.len() == DIGITS && id.bytes().all(|byte| byte.is_ascii_digit());
            // Another process may have removed it.
            if let Some(data) = entry.metadata().ok().filter(|data| is_text && data.is_file()) {
                texts.push((data.modified()?, data.len(), entry.path()));
            }
        }
        texts.sort();
        let mut all: u64 = texts.iter().map(|text| text.1).sum();
        for (written, length, path) in texts {
            let is_old = SystemTime::now().duration_since(written).is_ok_and(|age| age > OLDEST);
            if is_old || all + LONGEST > MOST {
                all -= length;
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}

/// A text that is being written.
pub struct Entry {
    file: File,
    path: PathBuf,
    id: String,
    length: u64,
}

impl Entry {
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Adds the next bytes, up to the longest text.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = usize::try_from(LONGEST - self.length).unwrap_or(usize::MAX);
        let bytes = &bytes[..bytes.len().min(room)];
        self.length += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// Ends the text, which can be read from now on.
    pub fn finish(self) -> io::Result<()> {
        fs::rename(&self.path, self.path.with_file_name(&self.id))
    }

    /// Removes what was written.
    pub fn discard(self) {
        let _ = fs::remove_file(self.path);
    }
}

/// Returns random digits. Each state of the hasher has keys of the system's.
fn new_id() -> String {
    let number = RandomState::new().hash_one((std::process::id(), SystemTime::now()));
    format!("{:0width$}", number % 10_u64.pow(DIGITS as u32), width = DIGITS)
}
