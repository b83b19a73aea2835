//! MONITOR: shows every command that runs to the clients that ask for it, one line a command:
//!
//! ```text
//!   +1716300000.123456 [0 127.0.0.1:53210] "set" "key" "a \"b\"\x00"
//! ```
//!
//! The first number is the time in seconds, then come the database and the client: its address, `unix:` with the path of
//! the socket, or `lua`. Commands of administrators are not shown, nor those that a gate refused; a queued command is shown
//! when it runs, a blocked one when it is first tried.

use std::fmt::Write;

use crate::base::error::CmdError;
use crate::base::session::{ClientId, SessionFlags};
use crate::cmd::spec::{CommandSpec, Flags, Group};

use super::client::address;
use super::redact::redacted;
use super::{Server, ServerFn};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[CommandSpec {
    name: "monitor",
    summary: "Streams every command that the server processes to this connection.",
    since: "1.0.0",
    group: Group::Server,
    arity: 1,
    flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
    handler: Some(monitor),
    ..CommandSpec::DEFAULT
}];

fn monitor(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let session = &mut server.clients.get_mut(slot).session;
    if session.flags.any(SessionFlags::IN_EXEC) {
        return Err(CmdError::MONITOR_IN_EXEC);
    }
    if session.flags.any(SessionFlags::MONITOR) {
        // No reply: as in Redis.
        return Ok(());
    }
    session.flags.set(SessionFlags::MONITOR, true);
    server.monitors.push(session.id);
    server.note_observers();
    server.reply(slot).ok();
    Ok(())
}

impl Server {
    /// Shows nothing to this client any more.
    pub(super) fn stop_monitoring(&mut self, client: ClientId) {
        let before = self.monitors.len();
        self.monitors.retain(|&monitor| monitor != client);
        if self.monitors.len() < before {
            if let Some(slot) = self.clients.slot_of(client) {
                self.clients.get_mut(slot).session.flags.set(SessionFlags::MONITOR, false);
            }
            self.note_observers();
        }
    }

    /// Shows a command of a client to all monitors, if it is one that they may see.
    pub(super) fn show_monitors(&mut self, slot: usize, index: u16, args: &[&[u8]]) {
        // A command that is tried again has been shown before.
        if self.monitors.is_empty() || self.clients.get(slot).session.flags.any(SessionFlags::RETRYING) {
            return;
        }
        let command = self.engine.registry.get(index);
        if command.flags.any(Flags::SKIP_MONITOR.or(Flags::ADMIN)) {
            return;
        }
        let line = self.monitor_line(slot, &redacted(&command.full_name, args));
        for at in 0..self.monitors.len() {
            let monitor = self.monitors[at];
            let silent = |slot| self.clients.get(slot).session.flags.any(SessionFlags::REPLY_OFF);
            if !self.clients.slot_of(monitor).is_none_or(silent) {
                self.push_to(monitor, |out| out.sink().put(&line));
            }
        }
    }

    fn monitor_line(&self, slot: usize, args: &[&[u8]]) -> Vec<u8> {
        let client = self.clients.get(slot);
        let session = &client.session;
        let now_us = self.clock.wall_us();
        let source = if session.flags.any(SessionFlags::UNIX_SOCKET) {
            format!("unix:{}", String::from_utf8_lossy(&self.engine.config.unixsocket))
        } else {
            address(self, client, client.addresses.0)
        };
        let head = format!("+{}.{:06} [{} {source}]", now_us / 1_000_000, now_us % 1_000_000, session.db);
        let mut line = head.into_bytes();
        for arg in args {
            line.push(b' ');
            quote(&mut line, arg);
        }
        line.extend_from_slice(b"\r\n");
        line
    }
}

/// Appends a byte string in quotes, with everything escaped that is not printable ASCII.
fn quote(line: &mut Vec<u8>, bytes: &[u8]) {
    line.push(b'"');
    for &byte in bytes {
        let letter = match byte {
            b'\\' | b'"' => byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x07 => b'a',
            0x08 => b'b',
            b' '..=b'~' => {
                line.push(byte);
                continue;
            }
            _ => {
                let mut hex = String::with_capacity(4);
                // Writing into a String cannot fail.
                let _ = write!(hex, "\\x{byte:02x}");
                line.extend_from_slice(hex.as_bytes());
                continue;
            }
        };
        line.extend_from_slice(&[b'\\', letter]);
    }
    line.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quoting_escapes_what_a_terminal_could_not_show() {
        let mut line = Vec::new();
        quote(&mut line, b"a b\"\\\n\r\t\x07\x08\x00\x1b\x7f\xff~");
        assert_eq!(String::from_utf8_lossy(&line), r#""a b\"\\\n\r\t\a\b\x00\x1b\x7f\xff~""#);
    }
}
