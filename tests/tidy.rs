//! The habits of the code base that a machine can check: layers, file headers, lengths, where `unsafe` may stand.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Which modules a module may use. Everything may use itself; what is not listed here may use nothing else.
const MAY_USE: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("ae", &[]),
    ("proto", &["base"]),
    ("registry", &["base"]),
    ("types", &["base"]),
    ("net", &["base", "ae", "proto"]),
    ("db", &["base", "types"]),
    ("cmd", &["base", "proto", "types", "db"]),
    ("acl", &["base", "cmd"]),
    ("exec", &["base", "ae", "acl", "proto", "types", "db", "cmd"]),
    ("server", &["base", "acl", "ae", "proto", "registry", "types", "net", "db", "cmd", "exec"]),
    ("lib", &[]),
    ("main", &["server"]),
];

/// The files that may hold `unsafe`: memory laid out by hand or by the kernel, and one processor instruction.
const UNSAFE_FILES: &[&str] = &[
    "src/ae/ticks.rs",
    "src/base/alloc.rs",
    "src/base/title.rs",
    "src/db/entry.rs",
    "src/types/thin.rs",
    "src/types/table/bucket.rs",
    "src/types/rankset.rs",
    "src/types/ranktree.rs",
    "src/types/ranktree/tests.rs",
];

/// Lines of a file at most. A longer one has more than one purpose.
const LINES_MAX: usize = 900;

fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("src is readable") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let text = fs::read_to_string(&path).expect("UTF-8 source");
                found.push((path, text));
            }
        }
    }
    found.sort();
    assert!(found.len() > 20, "looked in the wrong place");
    found
}

fn relative(path: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    path.strip_prefix(root).expect("below the root").display().to_string()
}

/// The layer of a file: the first word of its path below src.
fn layer(path: &str) -> &str {
    let below = path.strip_prefix("src/").expect("below src");
    below.split(['/', '.']).next().expect("a name")
}

/// Code without comments and strings' most common traps: enough for finding paths and keywords.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap_or("")).filter(|line| !line.trim().is_empty())
}

/// Modules named in `crate::…` paths.
fn used(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in code(text) {
        for (_, rest) in line.match_indices("crate::").map(|(at, word)| (at, &line[at + word.len()..])) {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            names.insert(name);
        }
        assert!(!line.contains("use crate::{"), "name modules one by one: {line}");
    }
    names
}

#[test]
fn layers_are_used_downwards_only() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let path = relative(&path);
        let own = layer(&path).to_owned();
        let allowed = MAY_USE.iter().find(|(name, _)| *name == own).map(|(_, allowed)| *allowed);
        let allowed = allowed.unwrap_or_else(|| panic!("{path}: no such layer"));
        for name in used(&text) {
            if name != own && !allowed.contains(&name.as_str()) {
                wrong.push(format!("{path} uses {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_file_says_what_lives_there() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{} lacks an opening //! comment", relative(&path));
    }
}

#[test]
fn files_stay_short() {
    let long: Vec<String> = sources()
        .iter()
        .filter(|(_, text)| text.lines().count() > LINES_MAX)
        .map(|(path, text)| format!("{}: {} lines", relative(path), text.lines().count()))
        .collect();
    assert!(long.is_empty(), "split them by purpose: {long:#?}");
}

#[test]
fn unsafe_stands_in_few_files_and_is_explained() {
    for (path, text) in sources() {
        let path = relative(&path);
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            if !code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe") {
                continue;
            }
            assert!(UNSAFE_FILES.contains(&path.as_str()), "{path}:{} has unsafe", number + 1);
            let explained = lines[number.saturating_sub(12)..=number]
                .iter()
                .any(|near| near.contains("SAFETY:") || near.contains("# Safety"));
            assert!(explained, "{path}:{} lacks a SAFETY comment", number + 1);
        }
    }
}
