//! The log: one line a message, to standard output or a file, in Redis's format. Touches base's options only.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::base::config::LogLevel;

enum Target {
    Stdout,
    File(PathBuf),
    Nowhere,
}

/// Where messages go.
pub struct Log {
    level: LogLevel,
    target: Target,
}

impl Log {
    /// Logs to standard output, or appends to a file if `path` is not empty.
    pub fn new(level: LogLevel, path: &[u8]) -> io::Result<Log> {
        use std::os::unix::ffi::OsStrExt;
        let target = if path.is_empty() {
            Target::Stdout
        } else {
            let path = PathBuf::from(std::ffi::OsStr::from_bytes(path));
            open(&path)?;
            Target::File(path)
        };
        Ok(Log { level, target })
    }

    /// Logs nothing; for tests.
    pub fn silent() -> Log {
        Log { level: LogLevel::Nothing, target: Target::Nowhere }
    }

    /// Messages below this level are dropped from now on.
    pub fn set_level(&mut self, level: LogLevel) {
        self.level = level;
    }

    /// Something an operator should look at.
    pub fn warning(&self, message: &str) {
        self.write(LogLevel::Warning, '#', message);
    }

    /// Something worth knowing in production.
    pub fn notice(&self, message: &str) {
        self.write(LogLevel::Notice, '*', message);
    }

    /// Detail.
    pub fn verbose(&self, message: &str) {
        self.write(LogLevel::Verbose, '-', message);
    }

    fn write(&self, level: LogLevel, sign: char, message: &str) {
        if (level as u8) < self.level as u8 {
            return;
        }
        let line = format!("{}:M {} {sign} {message}\n", std::process::id(), timestamp());
        // A log that cannot be written to must not stop the server, and there is nowhere to say so.
        let _ = match &self.target {
            Target::Stdout => io::stdout().write_all(line.as_bytes()),
            // Opened anew each time, so that a rotated file is followed.
            Target::File(path) => open(path).and_then(|mut file| file.write_all(line.as_bytes())),
            Target::Nowhere => Ok(()),
        };
    }
}

fn open(path: &PathBuf) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// `30 Nov 2026 20:07:45.123`, in UTC.
fn timestamp() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let (days, second) = ((since.as_secs() / 86_400) as i64, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    format!(
        "{day:02} {} {year} {:02}:{:02}:{:02}.{:03}",
        MONTHS[month - 1],
        second / 3_600,
        second / 60 % 60,
        second % 60,
        since.subsec_millis()
    )
}

/// Year, month and day of a day counted from 1970-01-01: Howard Hinnant's `civil_from_days`.
fn civil(days: i64) -> (i64, usize, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as usize, day)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_have_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_787), (2026, 11, 30));
    }
}
