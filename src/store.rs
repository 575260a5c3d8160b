//! A folder that keeps whole texts for a while, so that a model that reads a shortened text can ask for the rest of it. Each text
//! has an id of random digits. The folder is private, and old texts are removed whenever a new one is added.

use std::cmp::Reverse;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DIGITS: usize = 12;
/// The ends of a file's name, after the id: of a finished file, and of a file that is being written. They distinguish these files
/// from others that a user keeps in the folder.
const FINISHED: &str = ".aside-text";
const UNFINISHED: &str = ".aside-part";
/// The age up to which an unfinished file is not removed.
const WRITING: Duration = Duration::from_secs(60 * 60);

/// A folder of texts. Several threads and processes may use one folder at the same time. Each text is in a file with the name
/// `ID.aside-text`, or `ID.aside-part` while it is written. Files with other names are neither read nor removed.
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
    /// If the folder cannot be made, or is a symbolic link.
    pub fn open(folder: impl AsRef<Path>) -> io::Result<Store> {
        let folder = folder.as_ref().to_owned();
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        // Another user may have made the link, and texts would then be written and removed in the folder that it leads to.
        if fs::symlink_metadata(&folder)?.is_symlink() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a link: name the folder that it leads to"));
        }
        Ok(Store::at(folder))
    }

    /// Opens an existing folder to read its texts.
    ///
    /// # Errors
    ///
    /// If the folder does not exist, or is not a folder.
    pub fn open_existing(folder: impl AsRef<Path>) -> io::Result<Store> {
        let folder = folder.as_ref().to_owned();
        match fs::metadata(&folder)?.is_dir() {
            true => Ok(Store::at(folder)),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn at(folder: PathBuf) -> Store {
        Store { folder, longest: 64 << 20, most: 256 << 20, oldest: Duration::from_secs(7 * 24 * 60 * 60) }
    }

    /// Sets the maximum number of bytes of a text that are kept. The bytes after those are dropped.
    #[must_use]
    pub fn longest(mut self, bytes: u64) -> Store {
        self.longest = bytes;
        self
    }

    /// Sets the maximum number of bytes of all texts together, the next text included. When a text is added, the oldest texts are
    /// removed to make room for it. An unfinished text is removed only if its last bytes were added more than an hour ago.
    #[must_use]
    pub fn most(mut self, bytes: u64) -> Store {
        self.most = bytes;
        self
    }

    /// Sets the greatest age of a text. When a text is added, all older texts are removed.
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
        let mut entry = self.begin_with_room(self.longest.min(text.len() as u64))?;
        match entry.write_all(text) {
            Ok(()) => entry.finish(),
            Err(error) => {
                entry.discard();
                Err(error)
            }
        }
    }

    /// Begins a text that is written in chunks, and removes old texts.
    ///
    /// # Errors
    ///
    /// As [`Store::put`].
    pub fn begin(&self) -> io::Result<Entry> {
        self.begin_with_room(self.longest)
    }

    /// Begins a text of which at most `room` bytes are kept.
    fn begin_with_room(&self, room: u64) -> io::Result<Entry> {
        let room = room.min(self.most);
        self.sweep(room)?;
        loop {
            let id = new_id();
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let path = self.folder.join(format!("{id}{UNFINISHED}"));
            match options.open(&path) {
                Ok(file) if !self.folder.join(format!("{id}{FINISHED}")).exists() => {
                    return Ok(Entry { file, path, id, room });
                }
                Ok(_) => fs::remove_file(path)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the text with this id. Symbolic links are not followed, and only regular files are read.
    ///
    /// # Errors
    ///
    /// If the id is not twelve digits, or if there is no text with this id, perhaps because it was removed.
    pub fn get(&self, id: &str) -> io::Result<Vec<u8>> {
        if !is_id(id) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an id has twelve digits"));
        }
        let mut options = OpenOptions::new();
        options.read(true);
        // Opening must not wait for the other end of a pipe, which the next lines refuse.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let mut file = options.open(self.folder.join(format!("{id}{FINISHED}")))?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
        }
        let mut text = Vec::new();
        io::Read::read_to_end(&mut file, &mut text)?;
        Ok(text)
    }

    /// Returns the texts that can be read, the newest first.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn texts(&self) -> io::Result<Vec<Text>> {
        let mut texts = self.files()?;
        texts.retain(|text| !text.is_part);
        texts.sort_by_key(|text| Reverse(text.written));
        Ok(texts.into_iter().map(|text| Text { id: text.id, bytes: text.bytes, written: text.written }).collect())
    }

    /// Returns the files of texts, without files of other names and without links.
    fn files(&self) -> io::Result<Vec<TextFile>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let part = name.strip_suffix(UNFINISHED);
            let Some(id) = part.or(name.strip_suffix(FINISHED)).filter(|id| is_id(id)) else { continue };
            // Another process may have removed the file.
            if let Some(data) = entry.metadata().ok().filter(fs::Metadata::is_file) {
                files.push(TextFile {
                    written: data.modified()?,
                    bytes: data.len(),
                    is_part: part.is_some(),
                    id: id.to_owned(),
                    path: entry.path(),
                });
            }
        }
        Ok(files)
    }

    /// Removes texts that are too old, and the oldest of the others until there is room for `room` more bytes.
    fn sweep(&self, room: u64) -> io::Result<()> {
        let mut files = self.files()?;
        files.sort_by_key(|file| file.written);
        let mut all: u64 = files.iter().map(|file| file.bytes).sum();
        for file in files {
            let age = SystemTime::now().duration_since(file.written).unwrap_or_default();
            let must_go = age > self.oldest || all.saturating_add(room) > self.most;
            if must_go && !(file.is_part && age < WRITING) {
                all -= file.bytes;
                let _ = fs::remove_file(file.path);
            }
        }
        Ok(())
    }
}

/// A text of a store.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Text {
    /// The id, for [`Store::get`].
    pub id: String,
    /// The number of bytes of the text that are kept.
    pub bytes: u64,
    /// The time at which the last bytes were added.
    pub written: SystemTime,
}

struct TextFile {
    written: SystemTime,
    bytes: u64,
    is_part: bool,
    id: String,
    path: PathBuf,
}

/// A text that is being written. If it is dropped before [`Entry::finish`], the text cannot be read. Its file is removed with the
/// old texts when a text is added, after an hour at the earliest.
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
    /// If the file cannot be renamed, because another program has removed it or its folder. The text is then lost.
    pub fn finish(self) -> io::Result<String> {
        match fs::rename(&self.path, self.path.with_file_name(format!("{}{FINISHED}", self.id))) {
            Ok(()) => Ok(self.id),
            Err(error) => {
                self.discard();
                Err(error)
            }
        }
    }

    /// Removes the file.
    pub fn discard(self) {
        let _ = fs::remove_file(self.path);
    }
}

/// Adds the next bytes. Bytes beyond the limit of a text are dropped, and count as written.
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

fn is_id(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns random digits. The randomness comes from `RandomState`, whose keys the system provides.
fn new_id() -> String {
    let number = RandomState::new().hash_one((std::process::id(), SystemTime::now()));
    format!("{:0width$}", number % 10_u64.pow(DIGITS as u32), width = DIGITS)
}
