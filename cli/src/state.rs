//! The user's state folder, for data that a later run needs: the whole texts that `aside recall` shows, the counts of `aside hook
//! --stats`, and the contents of settings files before `aside hook --install`.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use aside::store::Store;
use clap::Args;

use crate::size;

/// The maximum number of bytes of the newer file of counts. After that, it replaces the older file.
const MOST_COUNTS: u64 = 1 << 20;

/// Returns the folder: `aside` in `$XDG_STATE_HOME`, or in `~/.local/state`.
fn folder() -> io::Result<PathBuf> {
    let given = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".local/state"));
    let base = given.or_else(home);
    base.map(|base| base.join("aside"))
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no home folder"))
}

/// Returns the folder of whole texts.
pub fn texts() -> io::Result<PathBuf> {
    Ok(folder()?.join("texts"))
}

/// The bounds of a store of whole texts.
#[derive(Args)]
pub struct Bounds {
    /// At most N bytes of whole texts are kept; the oldest are removed first
    #[arg(long, value_name = "N", value_parser = size::parse, default_value = "256m")]
    pub store_size: usize,

    /// Whole texts are kept for N days
    #[arg(long, value_name = "N", default_value_t = DAYS)]
    store_days: usize,
}

/// The bounds if none are given, the first one in bytes.
const SIZE: usize = 256 << 20;
const DAYS: usize = 7;

impl Bounds {
    /// Returns the options that set these bounds, if they are not the usual ones.
    pub fn options(&self) -> Vec<String> {
        let bounds = [("--store-size", self.store_size, SIZE), ("--store-days", self.store_days, DAYS)];
        let changed = bounds.into_iter().filter(|(_, value, usual)| value != usual);
        changed.flat_map(|(name, value, _)| [name.to_owned(), value.to_string()]).collect()
    }

    /// Opens the store in a folder, or the user's own.
    pub fn open(&self, folder: Option<&Path>) -> io::Result<Store> {
        let store = folder.map_or_else(|| Store::open(texts()?), Store::open)?;
        let days = u32::try_from(self.store_days).unwrap_or(u32::MAX);
        let oldest = Duration::from_secs(24 * 60 * 60).saturating_mul(days);
        Ok(store.most(self.store_size as u64).oldest(oldest))
    }
}

/// Stores the contents of a settings file before and after a change. If that fails, the change can be undone only in part.
pub fn remember(file: &Path, before: Option<String>, after: String) {
    let _ = settings().and_then(|(path, mut all)| {
        all.insert(std::path::absolute(file)?.display().to_string(), (before, after));
        let mut file = append(&path)?;
        file.set_len(0)?;
        file.write_all(serde_json::to_string(&all)?.as_bytes())
    });
}

/// Returns the contents of a settings file before the last change, if the change resulted in the text `after`: `None` inside
/// means that the file did not exist.
pub fn remembered(file: &Path, after: &str) -> Option<Option<String>> {
    let (_, mut all) = settings().ok()?;
    let (before, left) = all.remove(&std::path::absolute(file).ok()?.display().to_string())?;
    (left == after).then_some(before)
}

type Changes = BTreeMap<String, (Option<String>, String)>;

/// Returns the file of changes, and the changes in it.
fn settings() -> io::Result<(PathBuf, Changes)> {
    let path = folder()?.join("settings");
    let changes = fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str(&text).ok());
    Ok((path, changes.unwrap_or_default()))
}

/// Opens a file of the folder, which only its owner can read. Makes the folder if needed, with the permissions of a store.
fn append(file: &Path) -> io::Result<File> {
    Store::open(texts()?)?;
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// An event that `aside hook` or `aside recall` counts.
pub enum Count {
    /// A result of a tool: the number of its bytes and of the bytes that the model read, or `None` if the tool is not known; and
    /// the ids of the whole texts, with commas between them.
    Result { tool: String, bytes: Option<(usize, usize)>, ids: String },
    /// A request for a whole text.
    Recall { id: String },
}

impl Count {
    /// Adds a line to the file of counts. Counts that cannot be written are lost, because nothing else may fail for this reason.
    pub fn add(&self) {
        let _ = self.try_add();
    }

    fn try_add(&self) -> io::Result<()> {
        // The name of the tool comes from an agent, and must not contain a line end.
        let plain = |text: &str| text.replace(char::is_control, " ").chars().take(80).collect::<String>();
        let line = match self {
            Count::Result { tool, bytes: Some((before, after)), ids } => {
                format!("{}\t{before}\t{after}\t{ids}\n", plain(tool))
            }
            Count::Result { tool, bytes: None, .. } => format!("{}\n", plain(tool)),
            Count::Recall { id } => format!("\t{}\n", plain(id)),
        };
        let [newer, older] = files()?;
        let mut file = append(&newer)?;
        // The line is written by one call, so that lines of several processes do not mix.
        file.write_all(line.as_bytes())?;
        if file.metadata()?.len() > MOST_COUNTS {
            fs::rename(newer, older)?;
        }
        Ok(())
    }

    /// Returns all counts, the oldest first.
    pub fn all() -> io::Result<Vec<Count>> {
        let [newer, older] = files()?;
        let text = [older, newer].map(|file| fs::read(file).unwrap_or_default()).concat();
        Ok(String::from_utf8_lossy(&text).lines().filter_map(Count::of_line).collect())
    }

    /// Returns a map from the id of each whole text to the tool that printed it.
    pub fn tools(counts: &[Count]) -> BTreeMap<&str, &str> {
        let results = counts.iter().filter_map(|count| match count {
            Count::Result { tool, ids, .. } => Some((tool, ids)),
            Count::Recall { .. } => None,
        });
        results.flat_map(|(tool, ids)| ids.split(',').map(move |id| (id, tool.as_str()))).collect()
    }

    fn of_line(line: &str) -> Option<Count> {
        let mut fields = line.split('\t');
        match [(); 4].map(|()| fields.next()) {
            [Some(""), Some(id), ..] => Some(Count::Recall { id: id.to_owned() }),
            [Some(tool), None, ..] => Some(Count::Result { tool: tool.to_owned(), bytes: None, ids: String::new() }),
            [Some(tool), Some(before), Some(after), Some(ids)] => {
                let bytes = before.parse().ok().zip(after.parse().ok());
                Some(Count::Result { tool: tool.to_owned(), bytes: Some(bytes?), ids: ids.to_owned() })
            }
            _ => None,
        }
    }
}

/// Returns the newer and the older file of counts.
fn files() -> io::Result<[PathBuf; 2]> {
    let folder = folder()?;
    Ok([folder.join("counts"), folder.join("counts.older")])
}
