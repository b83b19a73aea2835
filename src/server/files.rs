//! Files that the server writes for itself: a path from bytes, the words of the system for a failure, and replacing a file
//! in one step. Touches the file system only.

use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path as the user spelt it, which need not be UTF-8.
pub(super) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// What the system says about a failure, without the number.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Puts `text` in the place of the file at `path`, which need not exist. Readers see the old file or the new one, also
/// after a crash of the machine; a failure leaves the old one. `tag` tells apart what several writers write meanwhile.
pub(super) fn replace(path: &[u8], text: &[u8], tag: i64) -> io::Result<()> {
    let name = format!(".tmp-{}-{tag}", std::process::id());
    let temporary = [path, name.as_bytes()].concat();
    let written = write(path_of(&temporary), path_of(path), text).and_then(|()| {
        fs::rename(path_of(&temporary), path_of(path))?;
        let folder = path_of(path).parent().filter(|folder| !folder.as_os_str().is_empty());
        fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    });
    if written.is_err() {
        // It may not even exist.
        let _ = fs::remove_file(path_of(&temporary));
    }
    written
}

/// Writes a new file that only those may read who could read the old one.
fn write(path: &Path, old: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    if let Ok(old) = fs::metadata(old) {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(text)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("redae-files-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("file");
        let bytes = path.as_os_str().as_bytes();
        for text in ["one", "two"] {
            replace(bytes, text.as_bytes(), 1).expect("written");
            assert_eq!(fs::read(&path).expect("there"), text.as_bytes());
        }
        let nowhere = folder.join("missing/file");
        let error = replace(nowhere.as_os_str().as_bytes(), b"x", 1).expect_err("no folder");
        assert_eq!(reason(&error), "No such file or directory");
        assert_eq!(fs::read_dir(&folder).expect("there").count(), 1, "nothing is left lying about");
        fs::remove_dir_all(&folder).expect("removed");
    }
}
