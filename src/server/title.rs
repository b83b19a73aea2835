//! The process title as `proc-title-template` says. Reads the configuration, and writes the title only.

use std::os::unix::ffi::OsStringExt;

use crate::base::config::Config;
use crate::base::title::TitleArea;

use super::Server;

/// The title and what it begins with.
pub(super) struct Title {
    area: TitleArea,
    /// The program as it was called.
    program: Vec<u8>,
}

impl Title {
    /// For the running process, if its title can be changed.
    pub fn claim() -> Option<Title> {
        let called = std::env::args_os().next().filter(|name| name.as_encoded_bytes().contains(&b'/'));
        let path = match called {
            Some(path) => std::path::absolute(path),
            // Found through PATH: only the kernel knows where.
            None => std::env::current_exe(),
        };
        let program = path.ok()?.into_os_string().into_vec();
        Some(Title { area: TitleArea::claim()?, program })
    }
}

impl Server {
    /// Shows the title that the configuration asks for, if the process has been started with `set-proc-title`.
    pub(super) fn show_title(&mut self) {
        let Some(title) = &mut self.title else { return };
        let file = self.config_file.as_deref();
        let text = expanded(&self.engine.config, |config, name| variable(config, name, &title.program, file));
        title.area.write(text.trim_ascii());
    }
}

/// The template with its variables filled in. `{{` stands for a brace.
fn expanded(config: &Config, value: impl Fn(&Config, &[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest = config.proc_title_template.as_slice();
    while let Some(open) = rest.iter().position(|byte| *byte == b'{') {
        text.extend_from_slice(&rest[..open]);
        rest = &rest[open + 1..];
        if let Some(behind) = rest.strip_prefix(b"{") {
            text.push(b'{');
            rest = behind;
        } else if let Some(close) = rest.iter().position(|byte| *byte == b'}') {
            text.extend_from_slice(&value(config, &rest[..close]));
            rest = &rest[close + 1..];
        }
    }
    text.extend_from_slice(rest);
    text
}

/// The option's check has let only these names through.
fn variable(config: &Config, name: &[u8], program: &[u8], file: Option<&str>) -> Vec<u8> {
    match name {
        b"title" => program.to_vec(),
        b"listen-addr" if config.port == 0 => [b"unixsocket:", config.unixsocket.as_slice()].concat(),
        b"listen-addr" => {
            let address = config.bind.first().map_or("*", String::as_str);
            format!("{address}:{}", config.port).into_bytes()
        }
        b"port" => config.port.to_string().into_bytes(),
        b"tls-port" => config.tls_port.to_string().into_bytes(),
        b"unixsocket" => config.unixsocket.clone(),
        b"config-file" => file.unwrap_or("-").as_bytes().to_vec(),
        // `server-mode`: a server by itself has no word for that.
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_in() {
        let shown = |template: &str, port| {
            let mut config = Config { port, proc_title_template: template.into(), ..Config::default() };
            config.unixsocket = b"/tmp/s".to_vec();
            config.bind = vec!["127.0.0.1".to_owned(), "::1".to_owned()];
            let text = expanded(&config, |config, name| variable(config, name, b"/bin/redae", None));
            String::from_utf8(text).expect("UTF-8")
        };
        assert_eq!(shown("{title} {listen-addr} {server-mode}", 6379), "/bin/redae 127.0.0.1:6379 ");
        assert_eq!(shown("{{{listen-addr}} {tls-port}", 0), "{unixsocket:/tmp/s} 0");
        assert_eq!(shown("x{port}-{unixsocket}-{config-file}", 1), "x1-/tmp/s--");
    }
}
