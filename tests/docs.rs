//! The generated pages are as the tables say. `make docs` writes them anew.

use std::path::Path;

fn check(name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    if std::env::var_os("REDAE_UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().expect("docs")).expect("a folder");
        std::fs::write(&path, wanted).expect("the page is writable");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "docs/{name} is stale: run `make docs` and commit it");
}

#[test]
fn commands_page_is_fresh() {
    check("commands.md", &redae::server::docs::commands_markdown());
}

#[test]
fn config_page_is_fresh() {
    check("config.md", &redae::base::config::docs_markdown());
}
