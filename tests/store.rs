//! The folder of whole texts may contain other files of its owner: only the store's texts may be removed or read, and not a text
//! that is being written.

#![cfg(feature = "store")]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use aside::store::Store;
use support::program::scratch;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn folder(name: &str) -> PathBuf {
    let folder = scratch(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Makes the only file whose name has this ending older.
fn age(folder: &Path, end: &str, age: Duration) {
    let name = names(folder).into_iter().find(|name| name.ends_with(end)).unwrap();
    let file = File::options().write(true).open(folder.join(name)).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn the_files_of_others_stay_and_are_not_read() {
    let folder = folder("store-others");
    let others = [
        "111111111111",
        "202511010300.aside",
        "202511010300.part",
        "222222222222.txt",
        "abc",
        "deadbeef",
        "notes.aside-text",
    ];
    for name in others {
        fs::write(folder.join(name), "mine").unwrap();
        age(&folder, name, 30 * DAY);
    }
    fs::create_dir(folder.join("333333333333")).unwrap();
    // A folder stays, even if it has the name of a text.
    fs::create_dir(folder.join("444444444444.aside-text")).unwrap();
    let store = Store::open(&folder).unwrap().longest(10).most(10);
    let old = store.put(b"old").unwrap();
    age(&folder, &format!("{old}.aside-text"), 8 * DAY);
    let new = store.put(b"new").unwrap();
    let mut wanted: Vec<String> = others.into_iter().map(str::to_owned).collect();
    wanted.extend(["333333333333".to_owned(), "444444444444.aside-text".to_owned(), format!("{new}.aside-text")]);
    wanted.sort();
    assert_eq!(names(&folder), wanted);
    assert_eq!(store.get(&new).unwrap(), b"new");
    for id in others.into_iter().chain(["333333333333", "444444444444", &old, "", "../store-others/111111111111"]) {
        assert!(store.get(id).is_err(), "{id}");
    }
}

#[test]
fn a_text_is_not_removed_while_it_is_written() {
    let folder = folder("store-parts");
    let store = Store::open(&folder).unwrap().longest(10).most(20);
    let mut entries: Vec<_> = (0..5).map(|_| store.begin().unwrap()).collect();
    for entry in &mut entries {
        entry.write_all(b"0123456789").unwrap();
    }
    let ids: Vec<String> = entries.into_iter().map(|entry| entry.finish().unwrap()).collect();
    assert!(ids.iter().all(|id| store.get(id).unwrap() == b"0123456789"));
    // An incomplete text of a process that has ended is removed, but only after an hour.
    drop(store.begin().unwrap());
    let parts = |store: &Store| {
        store.put(b"").unwrap();
        names(&folder).iter().filter(|name| name.ends_with(".aside-part")).count()
    };
    let strict = store.clone().oldest(Duration::ZERO).most(0);
    age(&folder, ".aside-part", 59 * Duration::from_secs(60));
    assert_eq!(parts(&strict), 1);
    age(&folder, ".aside-part", 61 * Duration::from_secs(60));
    assert_eq!(parts(&store), 1, "there is room for it, and it is not old");
    assert_eq!(parts(&strict), 0);
}

#[test]
fn a_text_whose_file_is_gone_is_an_error() {
    let folder = folder("store-gone");
    let store = Store::open(&folder).unwrap();
    let entry = store.begin().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert!(entry.finish().is_err());
    assert!(store.put(b"").is_err());
}

#[test]
#[cfg(unix)]
fn what_is_not_a_file_is_not_read() {
    let folder = folder("store-pipe");
    let pipe = folder.join("333333333333.aside-text");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("/etc/passwd", folder.join("111111111111.aside-text")).unwrap();
    let store = Store::open_existing(&folder).unwrap();
    assert_eq!(store.get("333333333333").unwrap_err().to_string(), "not a file");
    assert!(store.get("111111111111").is_err());
}

#[test]
fn reading_makes_no_folder() {
    let folder = folder("store-none");
    assert!(Store::open_existing(folder.join("new/folder")).is_err());
    fs::write(folder.join("file"), "").unwrap();
    assert!(Store::open_existing(folder.join("file")).is_err());
    assert_eq!(names(&folder), ["file"]);
}

#[test]
#[cfg(unix)]
fn nothing_behind_a_link_is_removed() {
    let (folder, theirs) = (folder("store-links"), folder("store-theirs"));
    for name in ["111111111111.aside-text", "222222222222.aside-part"] {
        fs::write(theirs.join(name), "mine").unwrap();
        age(&theirs, name, 30 * DAY);
        std::os::unix::fs::symlink(theirs.join(name), folder.join(name)).unwrap();
    }
    let store = Store::open(&folder).unwrap().most(0);
    store.put(b"new").unwrap();
    assert_eq!((names(&theirs).len(), names(&folder).len()), (2, 3));
    assert_eq!(store.texts().unwrap().len(), 1);
    let link = scratch("store-link");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&theirs, &link).unwrap();
    assert!(Store::open(&link).unwrap_err().to_string().starts_with("a link"));
}

#[test]
fn a_text_that_is_added_whole_needs_only_its_own_room() {
    let folder = folder("store-room");
    let store = Store::open(&folder).unwrap().most(30);
    let mut ids = Vec::new();
    for days in [3, 2, 1] {
        ids.push(store.put(b"0123456789").unwrap());
        age(&folder, &format!("{}.aside-text", ids[ids.len() - 1]), days * DAY);
    }
    assert_eq!(names(&folder).len(), 3);
    ids.push(store.put(b"0123456789").unwrap());
    let texts = store.texts().unwrap();
    let found: Vec<&str> = texts.iter().map(|text| text.id.as_str()).collect();
    assert_eq!(found, [&ids[3], &ids[2], &ids[1]]);
    assert!(texts.iter().all(|text| text.bytes == 10));
    // Of a text that is longer than all may be, the beginning is kept.
    let long = store.put(&[b'x'; 40]).unwrap();
    assert_eq!(store.get(&long).unwrap().len(), 30);
    assert_eq!(names(&folder).len(), 1);
}
