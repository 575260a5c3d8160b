//! Checks the published packages: all have the same version, the changelog contains it, and the crate has all files for its build
//! and no others.

use std::fs;
use std::process::Command;

use support::ROOT;

fn read(file: &str) -> String {
    fs::read_to_string(format!("{ROOT}/{file}")).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns the text of a file between the first `before` and the next `after`.
fn between(file: &str, before: &str, after: &str) -> String {
    let text = read(file);
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{file} has no {before:?}"));
    rest.split_once(after).unwrap().0.to_owned()
}

#[test]
fn every_package_has_the_same_version() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, before, after) in [
        ("Cargo.toml", "[workspace.package]\nversion = \"", "\""),
        ("Cargo.toml", "[package.metadata.capi.library]\nname = \"aside\"\nversion = \"", "\""),
        ("cli/Cargo.toml", "aside = { path = \"..\", version = \"", "\""),
        ("cli/Cargo.toml", "aside-proxy = { path = \"../proxy\", version = \"", "\""),
        ("proxy/Cargo.toml", "aside = { path = \"..\", version = \"", "\""),
        ("bindings/python/Cargo.toml", "name = \"aside-python\"\nversion = \"", "\""),
        ("bindings/python/pyproject.toml", "name = \"libaside\"\nversion = \"", "\""),
        ("bindings/js/wasm/Cargo.toml", "name = \"aside-js\"\nversion = \"", "\""),
        ("bindings/js/package.json", "\"version\": \"", "\""),
        ("bindings/ruby/lib/aside/version.rb", "VERSION = \"", "\""),
        ("packaging/debian/changelog", "aside (", "-"),
        ("include/aside.h", "#define ASIDE_VERSION \"", "\""),
    ] {
        assert_eq!(between(file, before, after), version, "{file}");
    }
    for member in ["Cargo.toml", "cli/Cargo.toml", "proxy/Cargo.toml"] {
        assert!(read(member).contains("\nversion.workspace = true\n"), "{member}");
    }
}

/// Checks that each folder that is a package by itself has the licences.
#[test]
fn every_folder_that_is_a_package_has_the_licences() {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        for folder in ["bindings/go", "bindings/python", "cli", "proxy"] {
            assert_eq!(read(&format!("{folder}/{name}")), read(name), "{folder}");
        }
    }
}

#[test]
fn the_changelog_has_the_version() {
    let text = read("CHANGELOG.md");
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    assert!(headings[0].starts_with("## Unreleased"), "{}", headings[0]);
    let version = env!("CARGO_PKG_VERSION");
    assert!(headings.iter().any(|heading| heading.split([' ', ':']).any(|word| word == version)), "{headings:?}");
}

/// Checks that the oldest compiler is the same in all manifests, and in the manual.
#[test]
fn the_oldest_compiler_is_the_same_everywhere() {
    let oldest = between("Cargo.toml", "rust-version = \"", "\"");
    for file in ["cli/Cargo.toml", "bindings/js/wasm/Cargo.toml", "bindings/python/Cargo.toml"] {
        assert_eq!(between(file, "rust-version = \"", "\""), oldest, "{file}");
    }
    assert!(
        read("README.md").contains(&oldest)
            && read("cli/README.md").contains(&oldest)
            && read("docs/start.md").contains(&oldest)
    );
}

#[test]
fn the_crate_has_what_it_needs_and_no_more() {
    let Some(cargo) = std::env::var_os("CARGO") else { return };
    let mut list = Command::new(cargo);
    list.args(["package", "--list", "--allow-dirty", "--package", "aside"]).current_dir(ROOT);
    let output = list.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list = String::from_utf8(output.stdout).unwrap();
    let files: Vec<&str> = list.lines().collect();
    for file in [
        "src/lib.rs",
        "build.rs",
        "dialects/qwen3.toml",
        "filters/cargo.toml",
        "servers/vllm.toml",
        "README.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
    ] {
        assert!(files.contains(&file), "{file} is missing");
    }
    let folders = [
        "src/",
        "dialects/",
        "filters/",
        "servers/",
        "docs/",
        "include/",
        "README.md",
        "LICENSE-",
        "CHANGELOG.md",
        "SECURITY.md",
        "Cargo",
        "build.rs",
        ".cargo_vcs_info.json",
    ];
    let strangers: Vec<&&str> =
        files.iter().filter(|file| !folders.iter().any(|folder| file.starts_with(folder))).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
    // The crate must have all files that the build embeds.
    for folder in ["dialects", "filters"] {
        for entry in fs::read_dir(format!("{ROOT}/{folder}")).unwrap() {
            let file = format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap());
            assert!(!file.ends_with(".toml") || files.contains(&&*file), "{file} is missing");
        }
    }
}
