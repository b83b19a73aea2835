//! redis.conf, and the command line, which becomes lines of it. Touches `base::split`.
//!
//! A line is `name argument…` with the quoting of `base::split`; blank lines and lines that start with `#` do not count,
//! and names may be in any case. Nothing is opened here: `include` asks a callback for text, and directives that are no
//! options (`rename-command`, `user`, `loadmodule`, and `module.option`) are handed out for others to judge.
//!
//! What the caller does at start, in this order: [`args_to_config_lines`], read the file and the standard input that it
//! names, [`CommandLine::text`], [`Config::parse_file_text`], [`Config::finish_startup`], enter `config.dir`, then carry
//! out the [`Directives`]. Any failure is shown as [`ConfigFileError::report`] and ends the process with status 1.

use super::{Config, OptionSpec, Reason, flags, lookup};
use crate::base::split::{quote, split_args};

/// How deep `include` may nest; Redis would go on until its stack is full.
const INCLUDE_DEPTH_MAX: usize = 16;

/// Directives of older versions that are read over if they have one argument.
const FORGOTTEN: [&[u8]; 3] =
    [b"list-max-ziplist-entries", b"list-max-ziplist-value", b"lua-replicate-commands"];

/// A line that is no option, with its place, so that a complaint can name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directive {
    /// Counted from 1, within its own file.
    pub line_no: usize,
    /// The line without surrounding blanks.
    pub line: Vec<u8>,
    /// The words of the line, the name in lower case first.
    pub args: Vec<Vec<u8>>,
}

/// What configuration files say beside options, in the order of the lines.
#[derive(Debug, Default)]
pub struct Directives {
    /// `rename-command old new`; an empty new name removes the command.
    pub renames: Vec<Directive>,
    /// `user name rule…`.
    pub users: Vec<Directive>,
    /// `loadmodule path argument…`.
    pub modules: Vec<Directive>,
    /// `module.option value…`.
    pub module_options: Vec<Directive>,
    /// Whether a `save` line came by: the first one replaces the default, later ones add to it.
    save_seen: bool,
}

/// Why a configuration file was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFileError {
    /// Counted from 1; 0 if no single line is to blame.
    pub line_no: usize,
    /// The line without surrounding blanks.
    pub line: Vec<u8>,
    /// What is wrong with it.
    pub reason: String,
}

/// Gives the text that `include` names, or says why there is none. A pattern with wildcards may stand for several files,
/// or none.
pub type Include<'a> = dyn FnMut(&[u8]) -> Result<Vec<u8>, String> + 'a;

impl Directive {
    /// The complaint that this line is wrong because of `reason`.
    pub fn error(&self, reason: impl Into<String>) -> ConfigFileError {
        ConfigFileError { line_no: self.line_no, line: self.line.clone(), reason: reason.into() }
    }
}

impl ConfigFileError {
    /// The message of a server that gives its version as `version`, as Redis writes it to standard error.
    pub fn report(&self, version: &str) -> String {
        let mut text = format!("\n*** FATAL CONFIG FILE ERROR (Redis {version}) ***\n");
        if self.line_no > 0 {
            let line = String::from_utf8_lossy(&self.line);
            text.push_str(&format!(
                "Reading the configuration file, at line {}\n>>> '{line}'\n",
                self.line_no
            ));
        }
        text.push_str(&self.reason);
        text.push('\n');
        text
    }
}

impl Config {
    /// Sets what the lines of `text` say. Stops at the first line that is wrong; the lines before it stay set.
    pub fn parse_file_text(
        &mut self,
        text: &[u8],
        directives: &mut Directives,
        include: &mut Include,
    ) -> Result<(), ConfigFileError> {
        self.parse_nested(text, directives, include, 0)
    }

    fn parse_nested(
        &mut self,
        text: &[u8],
        directives: &mut Directives,
        include: &mut Include,
        depth: usize,
    ) -> Result<(), ConfigFileError> {
        for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let line = trim_blanks(line);
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            let mut directive = Directive { line_no: index + 1, line: line.to_vec(), args: Vec::new() };
            directive.args =
                split_args(line).ok_or_else(|| directive.error("Unbalanced quotes in configuration line"))?;
            if let Some(name) = directive.args.first_mut() {
                name.make_ascii_lowercase();
                self.apply(directive, directives, include, depth)?;
            }
        }
        Ok(())
    }

    /// Carries out one line.
    fn apply(
        &mut self,
        directive: Directive,
        directives: &mut Directives,
        include: &mut Include,
        depth: usize,
    ) -> Result<(), ConfigFileError> {
        let args = &directive.args;
        if let Some(spec) = lookup(&args[0]) {
            let values: Vec<&[u8]> = args[1..].iter().map(Vec::as_slice).collect();
            return self.store_line(spec, &values, directives).map_err(|reason| directive.error(reason));
        }
        match (args[0].as_slice(), args.len()) {
            (name, 2) if FORGOTTEN.contains(&name) => {}
            (b"include", 2) if depth == INCLUDE_DEPTH_MAX => {
                return Err(directive.error("Too many nested include directives"));
            }
            (b"include", 2) => {
                let text = include(&args[1]).map_err(|reason| directive.error(reason))?;
                return self.parse_nested(&text, directives, include, depth + 1);
            }
            (b"rename-command", 3) => directives.renames.push(directive),
            (b"user", 2..) => directives.users.push(directive),
            (b"loadmodule", 2..) => directives.modules.push(directive),
            (name, 2..) if name.contains(&b'.') => directives.module_options.push(directive),
            (name, _) if name.contains(&b'.') => {
                return Err(directive.error("Module config specified without value"));
            }
            (b"sentinel", 1) => return Err(directive.error("Sentinel mode is not supported")),
            (b"sentinel", _) => return Err(directive.error("sentinel directive while not in sentinel mode")),
            _ => return Err(directive.error("Bad directive or wrong number of arguments")),
        }
        Ok(())
    }

    /// Stores one line's option. A single argument of an option that takes several may hold them all.
    fn store_line(
        &mut self,
        spec: &OptionSpec,
        values: &[&[u8]],
        directives: &mut Directives,
    ) -> Result<(), Reason> {
        let split = match values {
            [only] if spec.has(flags::MULTI_ARG) && !only.is_empty() => {
                Some(split_args(only).unwrap_or_default())
            }
            _ => None,
        };
        let inner: Vec<&[u8]>;
        let values = match &split {
            Some(words) => {
                inner = words.iter().map(Vec::as_slice).collect();
                &inner
            }
            None => values,
        };
        if spec.name == "save" {
            self.store_save_line(spec, values, directives)
        } else {
            spec.store(self, values)
        }
    }

    /// `save ""` forgets all pairs so far, other lines add theirs; the first line of all replaces the default.
    fn store_save_line(
        &mut self,
        spec: &OptionSpec,
        values: &[&[u8]],
        directives: &mut Directives,
    ) -> Result<(), Reason> {
        let earlier = if directives.save_seen { self.save.clone() } else { Vec::new() };
        spec.store(self, values)?;
        directives.save_seen = true;
        if values != [b""] {
            self.save.splice(0..0, earlier);
        }
        Ok(())
    }

    /// The last checks, when all files and the command line have been read.
    pub fn finish_startup(&mut self) -> Result<(), ConfigFileError> {
        self.normalise();
        if self.cluster_enabled && self.replicaof.is_some() {
            let reason = "replicaof directive not allowed in cluster mode".to_string();
            return Err(ConfigFileError { line_no: 0, line: Vec::new(), reason });
        }
        Ok(())
    }
}

pub(super) fn trim_blanks(line: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| b" \t\r\n".contains(byte);
    let start = line.iter().position(|byte| !is_blank(byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &line[start..end]
}

/// What the command line of the server says, apart from options like `--version` that end it at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The configuration file, if the first argument names one.
    pub file: Option<Vec<u8>>,
    /// Whether more configuration is to be read from standard input (`-`).
    pub stdin: bool,
    /// The options as lines of a configuration file.
    pub lines: Vec<u8>,
}

impl CommandLine {
    /// The whole configuration as one text: the file's, then standard input's, then the options, which therefore win.
    pub fn text(&self, file: &[u8], stdin: &[u8]) -> Vec<u8> {
        [file, stdin, b"\n", &self.lines].concat()
    }
}

/// Reads the arguments behind the program's name as Redis does: `[file] [-] [--name value…]… [-]`.
///
/// `--name` starts a line unless the name before it still lacks a value (so that a value may start with dashes); other
/// arguments are its values. `--name value` may also come as one argument. `--save` without a value means `save ""`.
pub fn args_to_config_lines(args: &[Vec<u8>]) -> CommandLine {
    let mut command_line = CommandLine::default();
    let mut args = args;
    if let Some((first, rest)) = args.split_first()
        && !first.starts_with(b"-")
    {
        command_line.file = Some(first.clone());
        args = rest;
    }
    let from_first = command_line.file.is_none();
    let lines = &mut command_line.lines;
    let mut has_value = true;
    for (at, arg) in args.iter().enumerate() {
        let next = args.get(at + 1);
        if arg == b"-" && (next.is_none() || (at == 0 && from_first)) {
            command_line.stdin = true;
        } else if has_value && let Some(line) = arg.strip_prefix(b"--") {
            if !lines.is_empty() {
                lines.push(b'\n');
            }
            lines.extend_from_slice(line);
            lines.push(b' ');
            has_value = split_args(arg).is_none_or(|words| words.len() != 1);
            let ends_here = next.is_none_or(|next| next.starts_with(b"--"));
            if !has_value && ends_here && arg.eq_ignore_ascii_case(b"--save") {
                lines.extend_from_slice(b"\"\"");
                has_value = true;
            }
        } else {
            quote(lines, arg);
            lines.push(b' ');
            has_value = true;
        }
    }
    command_line
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;

    fn parse(config: &mut Config, text: &str) -> Result<Directives, ConfigFileError> {
        let mut directives = Directives::default();
        let mut include = |path: &[u8]| match path {
            b"ports.conf" => Ok(b"port 7000\nsave 60 1".to_vec()),
            b"bad.conf" => Ok(b"\ntimeout x".to_vec()),
            b"loop.conf" => Ok(b"include loop.conf".to_vec()),
            _ => Err("no such file".to_string()),
        };
        config.parse_file_text(text.as_bytes(), &mut directives, &mut include)?;
        config.finish_startup()?;
        Ok(directives)
    }

    fn parsed(text: &str) -> Config {
        let mut config = Config::default();
        parse(&mut config, text).expect("good configuration");
        config
    }

    #[test]
    fn lines_set_options() {
        let config = parsed(
            "# comment\n\n  PORT 6380 \r\nbind 127.0.0.1 -::1\nrequirepass \"a \\x41\"\nslave-priority 7\n\
             client-output-buffer-limit replica 1gb 1mb 5\nclient-output-buffer-limit \"pubsub 1 2 3 normal 4 5 6\"\n\
             databases 4\nlist-max-ziplist-value 3\nnotify-keyspace-events KEA\nhz 9999\noom-score-adj relative\n\
             replicaof other.host 6379\nactivedefrag yes\nmaxmemory 1gb",
        );
        assert_eq!(config.port, 6380);
        assert_eq!(config.bind, ["127.0.0.1", "-::1"]);
        assert_eq!(config.requirepass, b"a A");
        assert_eq!(config.replica_priority, 7);
        let limits = config.client_output_buffer_limit;
        assert_eq!(limits.replica, OutputLimit { hard_bytes: 1 << 30, soft_bytes: 1 << 20, soft_seconds: 5 });
        assert_eq!(limits.pubsub, OutputLimit { hard_bytes: 1, soft_bytes: 2, soft_seconds: 3 });
        assert_eq!(limits.normal, OutputLimit { hard_bytes: 4, soft_bytes: 5, soft_seconds: 6 });
        assert_eq!((config.databases, config.hz, config.maxmemory), (4, 500, 1 << 30));
        assert_eq!(config.oom_score_adj, OomScoreAdj::Yes);
        assert_eq!(config.replicaof, Some(("other.host".to_string(), 6379)));
        let inert = config.inert_in_use();
        assert!(inert.contains(&"activedefrag") && !inert.contains(&"port"), "{inert:?}");
    }

    #[test]
    fn save_lines_add_up() {
        let pairs =
            |text| String::from_utf8(parsed(text).value(lookup(b"save").expect("option"))).expect("ascii");
        assert_eq!(pairs(""), "3600 1 300 100 60 10000");
        assert_eq!(pairs("save 1 2\nsave 3 4"), "1 2 3 4");
        assert_eq!(pairs("save \"1 2 3 4\"\nsave 5 6"), "1 2 3 4 5 6");
        assert_eq!(pairs("save \"\""), "");
        assert_eq!(pairs("save 1 2\nsave \"\"\nsave 3 4"), "3 4");
        assert_eq!(pairs("save 1 2\ninclude ports.conf"), "1 2 60 1");
    }

    #[test]
    fn other_directives_are_handed_out() {
        let mut config = Config::default();
        let text = "rename-command FLUSHALL \"\"\nuser alice on >pw\nloadmodule /x.so a\nbf.size 1 2\n\
                    include ports.conf";
        let directives = parse(&mut config, text).expect("good");
        assert_eq!(config.port, 7000);
        let words = |directive: &Directive| {
            directive
                .args
                .iter()
                .map(|arg| String::from_utf8_lossy(arg).into_owned())
                .collect::<Vec<_>>()
                .join("|")
        };
        assert_eq!(words(&directives.renames[0]), "rename-command|FLUSHALL|");
        assert_eq!(words(&directives.users[0]), "user|alice|on|>pw");
        assert_eq!(words(&directives.modules[0]), "loadmodule|/x.so|a");
        assert_eq!(words(&directives.module_options[0]), "bf.size|1|2");
        assert_eq!(directives.users[0].error("no").line_no, 2);
    }

    /// Lines and reasons as redis-server 7.0.15 gave them, but for what it has no words for.
    #[test]
    fn bad_lines_are_named() {
        let cases = [
            ("timeout 1 2", 1, "wrong number of arguments"),
            ("  TIMEOUT abc  \r\n", 1, "argument couldn't be parsed into an integer"),
            ("# c\n\nfoo bar\n", 3, "Bad directive or wrong number of arguments"),
            ("save 100\n", 1, "Invalid save parameters"),
            ("save 1 2\nsave 3", 2, "Invalid save parameters"),
            (
                "client-output-buffer-limit normal 1",
                1,
                "Wrong number of arguments in buffer limit configuration.",
            ),
            ("port \"12", 1, "Unbalanced quotes in configuration line"),
            ("user", 1, "Bad directive or wrong number of arguments"),
            ("a.b", 1, "Module config specified without value"),
            ("sentinel x y", 1, "sentinel directive while not in sentinel mode"),
            ("rename-command get", 1, "Bad directive or wrong number of arguments"),
            ("list-max-ziplist-entries 1 2", 1, "Bad directive or wrong number of arguments"),
            ("replicaof a", 1, "wrong number of arguments"),
            ("bind a b c d e f g h i j k l m n o p q", 1, "Too many bind addresses specified."),
            ("unixsocketperm 8", 1, "argument couldn't be parsed as an octal number"),
            ("unixsocketperm 1000", 1, "argument must be between 0 and 777 inclusive"),
            ("dbfilename a/b", 1, "dbfilename can't be a path, just a filename"),
            ("appendfilename \"\"", 1, "appendfilename can't be empty"),
            ("notify-keyspace-events KEA x", 1, "wrong number of arguments"),
            (
                "shutdown-on-sigint save nosave",
                1,
                "shutdown options SAVE and NOSAVE can't be used simultaneously",
            ),
            ("maxmemory 1tb", 1, "argument must be a memory value"),
            ("\"\"", 1, "Bad directive or wrong number of arguments"),
            ("replicaof a 65536", 1, "Invalid master port"),
            ("port 1\ninclude bad.conf", 2, "argument couldn't be parsed into an integer"),
            ("include other.conf", 1, "no such file"),
            ("include loop.conf", 1, "Too many nested include directives"),
        ];
        for (text, line_no, reason) in cases {
            let error = parse(&mut Config::default(), text).expect_err(text);
            assert_eq!((error.line_no, error.reason.as_str()), (line_no, reason), "{text:?}");
        }
        let error = parse(&mut Config::default(), "cluster-enabled yes\nreplicaof a 1").expect_err("both");
        assert_eq!(
            (error.line_no, error.reason.as_str()),
            (0, "replicaof directive not allowed in cluster mode")
        );
    }

    #[test]
    fn the_report_reads_like_redis() {
        let error = parse(&mut Config::default(), "\n  port  x\t").expect_err("bad");
        assert_eq!(
            error.report("7.4.0"),
            "\n*** FATAL CONFIG FILE ERROR (Redis 7.4.0) ***\nReading the configuration file, at line 2\n\
             >>> 'port  x'\nargument couldn't be parsed into an integer\n"
        );
        let error = ConfigFileError { line_no: 0, line: Vec::new(), reason: "why".into() };
        assert_eq!(error.report("1"), "\n*** FATAL CONFIG FILE ERROR (Redis 1) ***\nwhy\n");
    }

    fn command_line(args: &[&str]) -> (Option<String>, bool, String) {
        let args: Vec<Vec<u8>> = args.iter().map(|arg| arg.as_bytes().to_vec()).collect();
        let line = args_to_config_lines(&args);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("utf-8");
        (line.file.map(text), line.stdin, text(line.lines))
    }

    #[test]
    fn command_lines() {
        let file = |name: &str| Some(name.to_string());
        for (args, want) in [
            (&[][..], (None, false, "")),
            (&["/a/redis.conf"], (file("/a/redis.conf"), false, "")),
            (&["r.conf", "--port", "6380"], (file("r.conf"), false, "port \"6380\" ")),
            (&["-"], (None, true, "")),
            (&["-", "--port", "1"], (None, true, "port \"1\" ")),
            (&["r.conf", "-"], (file("r.conf"), true, "")),
            (&["r.conf", "--port", "1", "-"], (file("r.conf"), true, "port \"1\" ")),
            (&["--bind", "a", "b", "--port", "1"], (None, false, "bind \"a\" \"b\" \nport \"1\" ")),
            (&["--save", "", "--port", "1"], (None, false, "save \"\" \nport \"1\" ")),
            (&["--save", "--port", "1"], (None, false, "save \"\"\nport \"1\" ")),
            (&["--save"], (None, false, "save \"\"")),
            (&["--port 1", "--bind a b"], (None, false, "port 1 \nbind a b ")),
            (&["--requirepass", "--x", "--port", "1"], (None, false, "requirepass \"--x\" \nport \"1\" ")),
            (&["--logfile", "a\"b\n"], (None, false, "logfile \"a\\\"b\\n\" ")),
            (&["-x"], (None, false, "\"-x\" ")),
        ] {
            let got = command_line(args);
            assert_eq!((got.0, got.1, got.2.as_str()), want, "{args:?}");
        }
    }

    #[test]
    fn options_win_over_the_file() {
        let line =
            args_to_config_lines(&[b"--port".to_vec(), b"2".to_vec(), b"--save".to_vec(), b"".to_vec()]);
        let text = line.text(b"port 1\nsave 9 9", b"");
        let mut config = Config::default();
        parse(&mut config, &String::from_utf8_lossy(&text)).expect("good");
        assert_eq!((config.port, config.save), (2, Vec::new()));
    }

    #[test]
    fn any_text_is_harmless() {
        use rand::{Rng, SeedableRng};
        let words = [
            "save",
            "bind",
            "\"",
            "'",
            " ",
            "\n",
            "1",
            "port",
            "yes",
            "#",
            "include",
            "loop.conf",
            "\\x",
            "%",
        ];
        for seed in 0..3000 {
            let mut rng = crate::base::Rand::seed_from_u64(seed);
            let text: String =
                (0..rng.random_range(0..12)).map(|_| words[rng.random_range(0..words.len())]).collect();
            if let Err(error) = parse(&mut Config::default(), &text) {
                assert!(!error.reason.is_empty() && error.line_no > 0, "seed {seed}");
            }
        }
    }
}
