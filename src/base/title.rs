//! The title of the process, which `ps` and `top` show. Touches the memory where the kernel put the program's arguments
//! and environment, and nothing else of the crate. One of the few files with `unsafe`.
//!
//! ```text
//!   kernel's:  redis-server NUL --port NUL 6380 NUL | HOME=/root NUL PATH=/bin NUL …
//!              └─ arguments: what ps reads ───────┘   └─ environment: read on into, once the last NUL is gone
//!   ours:      /usr/bin/redis-server *:6380 NUL NUL NUL NUL …
//! ```
#![allow(unsafe_code)]

use std::ffi::OsString;
use std::fs;
use std::ops::Range;

/// Where the title stands. There is one in a process.
#[derive(Debug)]
pub struct TitleArea {
    start: *mut u8,
    len: usize,
}

/// Places of the addresses in the kernel's `stat` line, counted from the field behind the name.
const ARGUMENTS_START: usize = 45;
const ENVIRONMENT_END: usize = 48;

/// The arguments' and the environment's memory, if the one follows the other.
fn addresses(stat: &str) -> Option<Range<usize>> {
    let (_, fields) = stat.rsplit_once(')')?;
    let fields = fields.split_whitespace().skip(ARGUMENTS_START).take(ENVIRONMENT_END - ARGUMENTS_START + 1);
    let parsed: Vec<usize> = fields.map(|field| field.parse().ok()).collect::<Option<_>>()?;
    let &[start, arguments_end, environment_start, end] = parsed.as_slice() else { return None };
    let sound = start != 0 && start < arguments_end && arguments_end <= environment_start;
    (sound && arguments_end == environment_start && environment_start <= end).then_some(start..end)
}

impl TitleArea {
    /// Takes the memory over. The environment moves elsewhere first; what was asked of it before stays valid, since the
    /// standard library gives copies only. The program's arguments cannot be asked for afterwards.
    ///
    /// None if it cannot be done: on a system without `/proc`, or when there are other threads, which may be reading the
    /// environment.
    pub fn claim() -> Option<TitleArea> {
        if fs::read_dir("/proc/self/task").ok()?.count() != 1 {
            return None;
        }
        let area = addresses(&fs::read_to_string("/proc/self/stat").ok()?)?;
        let variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        // Setting a variable of such a name panics, though a parent may have passed one.
        if variables.iter().any(|(name, _)| name.as_encoded_bytes().contains(&b'=')) {
            return None;
        }
        for (name, value) in variables {
            // SAFETY: this is the only thread.
            unsafe { std::env::set_var(name, value) };
        }
        Some(TitleArea { start: std::ptr::with_exposed_provenance_mut(area.start), len: area.len() })
    }

    /// Shows this title, or as much of it as there is room for.
    pub fn write(&mut self, title: &[u8]) {
        let shown = &title[..title.len().min(self.len - 1)];
        // SAFETY: the kernel mapped the area for the life of the process, writable, and says that it is `len` bytes. The
        // environment has moved, and nobody else has a pointer into it; `self` is borrowed as the only one to write.
        unsafe {
            self.start.copy_from_nonoverlapping(shown.as_ptr(), shown.len());
            self.start.add(shown.len()).write_bytes(0, self.len - shown.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_is_read_from_the_line_of_the_kernel() {
        let line = |start, mid, next, end| {
            let before = (0..ARGUMENTS_START - 1).map(|_| "7 ").collect::<String>();
            format!("28 (a (b) c) R {before}{start} {mid} {next} {end} 0")
        };
        assert_eq!(addresses(&line(100, 120, 120, 200)), Some(100..200));
        assert_eq!(addresses(&line(100, 120, 128, 200)), None, "a gap");
        assert_eq!(addresses(&line(0, 0, 0, 0)), None, "hidden");
        assert_eq!(addresses("28 (a) R 1 2"), None);
        assert!(addresses(&fs::read_to_string("/proc/self/stat").expect("Linux")).is_some());
    }
}
