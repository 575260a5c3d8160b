//! Checks every link between the project's pages: the file must exist, and so must the heading.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use support::ROOT;

/// Returns the project's pages.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_built = name.starts_with("target")
            || ["build", "dist", "node_modules", ".git", "artifacts", "corpus"].contains(&&*name);
        if path.is_dir() && !is_built {
            pages(&path, found);
        } else if name.ends_with(".md") || name == "llms.txt" {
            found.push(path);
        }
    }
}

/// Returns a page without its code, in which brackets are not links.
fn prose(text: &str) -> String {
    let mut prose = String::new();
    let mut is_code = false;
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        is_code ^= fence;
        if !is_code && !fence && !line.starts_with("    ") {
            let mut is_inline = false;
            prose.extend(line.chars().map(|c| {
                is_inline ^= c == '`';
                if is_inline && c != '`' { 'x' } else { c }
            }));
        }
        prose.push('\n');
    }
    prose
}

/// Returns the anchors of a page's headings, as Markdown renderers make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut anchors = BTreeSet::new();
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if let Some(heading) = line.strip_prefix('#').filter(|_| !is_code) {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            anchors.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    anchors
}

#[test]
fn every_link_leads_somewhere() {
    let mut found = Vec::new();
    pages(Path::new(ROOT), &mut found);
    assert!(found.len() > 30, "{found:?}");
    let (mut links, mut broken) = (0, Vec::new());
    for page in &found {
        let text = fs::read_to_string(page).unwrap();
        let prose = prose(&text);
        for (at, _) in prose.match_indices("](") {
            let Some((link, _)) = prose[at + 2..].split_once(')') else { continue };
            if link.starts_with("http") || link.starts_with("mailto:") || link.contains(char::is_whitespace) {
                continue;
            }
            links += 1;
            let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let is_there = target.exists()
                && anchor.is_none_or(|anchor| {
                    target.extension().is_none_or(|extension| extension != "md")
                        || anchors(&fs::read_to_string(&target).unwrap()).contains(anchor)
                });
            if !is_there {
                broken.push(format!("{}: {link}", page.strip_prefix(ROOT).unwrap_or(page).display()));
            }
        }
    }
    assert!(links > 200, "{links}");
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Checks that every page is listed in the manual.
#[test]
fn the_manual_lists_every_page() {
    let summary = fs::read_to_string(format!("{ROOT}/docs/SUMMARY.md")).unwrap();
    let mut found = Vec::new();
    pages(&Path::new(ROOT).join("docs"), &mut found);
    for page in found.iter().filter(|page| page.extension().is_some_and(|extension| extension == "md")) {
        let name = page.strip_prefix(Path::new(ROOT).join("docs")).unwrap().to_str().unwrap().to_owned();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("]({name})")),
            "docs/SUMMARY.md does not list {name}"
        );
    }
}
