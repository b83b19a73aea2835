//! The options of the server: what they are called, which values they take, and how they are read and set.
//!
//! An option is one row in `config/options.rs` and one field of [`Config`]; everything else is derived from the row:
//! CONFIG GET and SET (here), redis.conf and the command line (`config/file.rs`), CONFIG REWRITE (`config/rewrite.rs`), and
//! the documentation. Touches `base::{glob, num, split}`.
//!
//! Nothing here acts on a value. [`Config::staged`] hands out the configuration that a CONFIG SET asks for; the server
//! applies it (rebinds a port, enters a directory, …) and then either keeps it or drops it, so that a failure on the way
//! leaves the old one in place.

use std::borrow::Cow;

use crate::base::glob;
use crate::base::num::{parse_i64, parse_memory};

mod file;
pub mod notify;
mod options;
mod rewrite;
mod special;
mod values;

pub use file::{CommandLine, ConfigFileError, Directive, Directives, args_to_config_lines};
pub use options::GROUPS;
pub use rewrite::Rewrite;
pub use special::{SHUTDOWN_FORCE, SHUTDOWN_NOSAVE, SHUTDOWN_NOW, SHUTDOWN_SAVE};
pub use values::*;

/// Why a value was refused, in Redis's words.
pub type Reason = Cow<'static, str>;

/// The least `hz` that is acted on; what lies below is moved to it.
const HZ_MIN: i64 = 1;
/// The most `hz` that is acted on; what lies above is moved to it.
pub const HZ_MAX: i64 = 500;

/// Bits of [`OptionSpec::flags`].
pub mod flags {
    /// Only redis.conf and the command line may set it.
    pub const IMMUTABLE: u16 = 1 << 0;
    /// The value is a secret: keep it out of logs, SLOWLOG and MONITOR.
    pub const SENSITIVE: u16 = 1 << 1;
    /// CONFIG GET shows it only to those who spell its name out.
    pub const HIDDEN: u16 = 1 << 2;
    /// CONFIG SET works only if `enable-protected-configs` lets the client.
    pub const PROTECTED: u16 = 1 << 3;
    /// CONFIG SET must answer LOADING while a dump is being loaded.
    pub const DENY_LOADING: u16 = 1 << 4;
    /// Takes several arguments; in CONFIG SET they come as one, separated by single spaces.
    pub const MULTI_ARG: u16 = 1 << 5;
    /// Accepted and remembered, but the server does not act on it (yet).
    pub const INERT: u16 = 1 << 6;
}

/// Where the value of a plain option lives.
#[allow(missing_docs)]
pub struct Field<T: 'static> {
    pub get: fn(&Config) -> &T,
    pub get_mut: fn(&mut Config) -> &mut T,
}

/// Where the value of an option with a fixed set of names lives.
pub struct Choice {
    /// The names, as an error message lists them.
    pub names: &'static [&'static str],
    /// The name of the current value.
    pub get: fn(&Config) -> &'static str,
    /// Sets the value that has the name at this place.
    pub set: fn(&mut Config, usize),
}

/// What values an option takes. Bounds are inclusive.
#[allow(missing_docs)]
pub enum Kind {
    /// `yes` or `no`.
    Bool {
        default: bool,
        field: Field<bool>,
        /// If set, the server cannot do it: CONFIG SET to `yes` fails with this text. redis.conf may still say `yes`.
        unavailable: Option<&'static str>,
    },
    /// A decimal number.
    Int { min: i64, max: i64, default: i64, field: Field<i64> },
    /// A number of bytes with an optional unit.
    Memory { min: u64, max: u64, default: u64, field: Field<u64> },
    /// One of a few names.
    Enum { default: &'static str, choice: Choice },
    /// Any bytes that `check` lets pass.
    Text { default: &'static str, check: fn(&[u8]) -> Result<(), &'static str>, field: Field<Vec<u8>> },
    /// A form of its own; `syntax` describes it.
    Special {
        default: &'static str,
        syntax: &'static str,
        get: fn(&Config) -> String,
        set: fn(&mut Config, &[&[u8]]) -> Result<(), Reason>,
    },
}

/// One option.
pub struct OptionSpec {
    /// Its name, in lower case.
    pub name: &'static str,
    /// An older name that means the same.
    pub alias: Option<&'static str>,
    /// What values it takes, its default, and where the value lives.
    pub kind: Kind,
    /// Bits of [`flags`].
    pub flags: u16,
    /// How many words of its value stand on a line of redis.conf; `None`: all of them.
    pub words_per_line: Option<usize>,
    /// What it is for, in one sentence.
    pub doc: &'static str,
}

/// Why CONFIG SET failed: the error reply without its `ERR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The text.
    pub text: String,
}

/// Who sets an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// redis.conf or the command line.
    Startup,
    /// CONFIG SET; `local` says that the client came over the loopback interface or the Unix socket.
    #[allow(missing_docs)]
    Client { local: bool },
}

/// All options in the order of the documentation.
pub fn options() -> impl Iterator<Item = &'static OptionSpec> {
    GROUPS.iter().flat_map(|(_, group)| group.iter())
}

/// The option called `name`, by any of its names and in any case.
pub fn lookup(name: &[u8]) -> Option<&'static OptionSpec> {
    find(name).map(|(spec, _)| spec)
}

/// The option called `name`, and the one of its names that was meant.
fn find(name: &[u8]) -> Option<(&'static OptionSpec, &'static str)> {
    options()
        .flat_map(|spec| spec.names().map(move |known| (spec, known)))
        .find(|(_, known)| known.as_bytes().eq_ignore_ascii_case(name))
}

impl OptionSpec {
    /// Its name and its alias.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.alias)
    }

    /// Whether any of the bits of `flags` is set.
    pub const fn has(&self, flags: u16) -> bool {
        self.flags & flags != 0
    }

    /// The default as CONFIG GET prints it, apart from spelling: memory may carry a unit.
    pub fn default_text(&self) -> String {
        match &self.kind {
            Kind::Bool { default, .. } => yes_or_no(*default).to_string(),
            Kind::Int { default, .. } => default.to_string(),
            Kind::Memory { default, .. } => default.to_string(),
            Kind::Enum { default, .. } | Kind::Text { default, .. } | Kind::Special { default, .. } => {
                (*default).to_string()
            }
        }
    }

    /// The arguments in a value that comes as one string.
    fn split_value<'a>(&self, value: &'a [u8]) -> Vec<&'a [u8]> {
        match (self.has(flags::MULTI_ARG), value) {
            (true, b"") => Vec::new(),
            (true, _) => value.split(|byte| *byte == b' ').collect(),
            (false, _) => vec![value],
        }
    }

    /// Stores the value given by `args` in `config`, or says why not and leaves it alone.
    fn store(&self, config: &mut Config, args: &[&[u8]]) -> Result<(), Reason> {
        if let Kind::Special { set, .. } = &self.kind {
            return set(config, args);
        }
        let [value] = args else {
            return Err("wrong number of arguments".into());
        };
        match &self.kind {
            Kind::Bool { field, .. } => {
                *(field.get_mut)(config) = parse_yes_no(value).ok_or("argument must be 'yes' or 'no'")?;
            }
            Kind::Int { min, max, field, .. } => {
                let number = parse_i64(value).ok_or("argument couldn't be parsed into an integer")?;
                *(field.get_mut)(config) = within(number, *min, *max)?;
            }
            Kind::Memory { min, max, field, .. } => {
                let bytes = parse_memory(value).ok_or("argument must be a memory value")?;
                *(field.get_mut)(config) = within(bytes, *min, *max)?;
            }
            Kind::Enum { choice, .. } => {
                let at = find_choice(choice.names, value).ok_or_else(|| not_a_choice(choice.names))?;
                (choice.set)(config, at);
            }
            Kind::Text { check, field, .. } => {
                check(value)?;
                *(field.get_mut)(config) = value.to_vec();
            }
            Kind::Special { .. } => {}
        }
        Ok(())
    }
}

fn yes_or_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

fn parse_yes_no(text: &[u8]) -> Option<bool> {
    let yes = text.eq_ignore_ascii_case(b"yes");
    (yes || text.eq_ignore_ascii_case(b"no")).then_some(yes)
}

/// `number`, if it lies in the range.
fn within<N: PartialOrd + std::fmt::Display>(number: N, min: N, max: N) -> Result<N, Reason> {
    if number < min || number > max {
        return Err(format!("argument must be between {min} and {max} inclusive").into());
    }
    Ok(number)
}

fn find_choice(names: &[&str], text: &[u8]) -> Option<usize> {
    names.iter().position(|name| name.as_bytes().eq_ignore_ascii_case(text))
}

fn not_a_choice(names: &[&str]) -> Reason {
    format!("argument(s) must be one of the following: {}", names.join(", ")).into()
}

impl ConfigError {
    /// The answer to an option that does not exist.
    pub fn unknown(name: &[u8]) -> ConfigError {
        let name = String::from_utf8_lossy(name);
        ConfigError { text: format!("Unknown option or number of arguments for CONFIG SET - '{name}'") }
    }

    /// The answer to an option that cannot be set or, after it was set, cannot be applied.
    pub fn failed(name: &[u8], reason: &str) -> ConfigError {
        let name = String::from_utf8_lossy(name);
        ConfigError { text: format!("CONFIG SET failed (possibly related to argument '{name}') - {reason}") }
    }
}

impl Default for Config {
    /// The defaults of the rows.
    fn default() -> Config {
        let mut config = Config::blank();
        // What is empty by default is so already.
        for spec in options().filter(|spec| !spec.default_text().is_empty()) {
            let default = spec.default_text();
            let args = spec.split_value(default.as_bytes());
            spec.store(&mut config, &args).expect("the default of a row is a value that the row takes");
        }
        config
    }
}

impl Config {
    /// The value of an option as CONFIG GET prints it.
    pub fn value(&self, spec: &OptionSpec) -> Vec<u8> {
        match &spec.kind {
            Kind::Bool { field, .. } => yes_or_no(*(field.get)(self)).into(),
            Kind::Int { field, .. } => (field.get)(self).to_string().into(),
            Kind::Memory { field, .. } => (field.get)(self).to_string().into(),
            Kind::Enum { choice, .. } => (choice.get)(self).into(),
            Kind::Text { field, .. } => (field.get)(self).clone(),
            Kind::Special { get, .. } => get(self).into(),
        }
    }

    /// CONFIG GET: names and values of the options that match any of `patterns`.
    ///
    /// A pattern without `*`, `?` and `[` is a name; it may be an alias or hidden, and the answer spells it as it was
    /// asked. A glob matches names and aliases of all options that are not hidden. No name comes twice.
    pub fn get(&self, patterns: &[&[u8]]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut found: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let known = |found: &[(Vec<u8>, Vec<u8>)], name: &[u8]| {
            found.iter().any(|(have, _)| have.eq_ignore_ascii_case(name))
        };
        for pattern in patterns {
            if !pattern.iter().any(|byte| b"[*?".contains(byte)) {
                if let Some(spec) = lookup(pattern)
                    && !known(&found, pattern)
                {
                    found.push((pattern.to_vec(), self.value(spec)));
                }
                continue;
            }
            for spec in options().filter(|spec| !spec.has(flags::HIDDEN)) {
                for name in spec.names().map(str::as_bytes) {
                    if glob::matches(pattern, name, true) && !known(&found, name) {
                        found.push((name.to_vec(), self.value(spec)));
                    }
                }
            }
        }
        found
    }

    /// CONFIG SET: sets all of `pairs`, names and values, or none. Returns the options whose value changed.
    pub fn set(
        &mut self,
        pairs: &[(&[u8], &[u8])],
        origin: Origin,
    ) -> Result<Vec<&'static OptionSpec>, ConfigError> {
        let (config, changed) = self.staged(pairs, origin)?;
        *self = config;
        Ok(changed)
    }

    /// What [`Config::set`] would make of this configuration, and the options whose value would change. For the server,
    /// which has to apply the changes before it keeps them.
    pub fn staged(
        &self,
        pairs: &[(&[u8], &[u8])],
        origin: Origin,
    ) -> Result<(Config, Vec<&'static OptionSpec>), ConfigError> {
        let found = self.settable(pairs, origin)?;
        let mut config = self.clone();
        let mut changed: Vec<&'static OptionSpec> = Vec::new();
        for ((spec, name), (_, value)) in found.into_iter().zip(pairs) {
            let before = config.value(spec);
            let stored = spec.store(&mut config, &spec.split_value(value));
            stored
                .and_then(|()| config.available(spec, origin))
                .map_err(|reason| ConfigError::failed(name.as_bytes(), &reason))?;
            config.normalise();
            // Redis takes options of a form of their own as changed whenever they are set.
            let differs = matches!(spec.kind, Kind::Special { .. }) || config.value(spec) != before;
            if differs && !changed.iter().any(|have| std::ptr::eq(*have, spec)) {
                changed.push(spec);
            }
        }
        Ok((config, changed))
    }

    /// The options named in `pairs`, each with its name as the table spells it, if all of them may be set by `origin`
    /// and none comes twice. An option under its name and its alias counts as two, as in Redis.
    fn settable(
        &self,
        pairs: &[(&[u8], &[u8])],
        origin: Origin,
    ) -> Result<Vec<(&'static OptionSpec, &'static str)>, ConfigError> {
        let mut found: Vec<(&'static OptionSpec, &'static str)> = Vec::new();
        for (name, _) in pairs {
            let (spec, known) = find(name).ok_or_else(|| ConfigError::unknown(name))?;
            if let Origin::Client { local } = origin {
                if spec.has(flags::IMMUTABLE) {
                    return Err(ConfigError::failed(name, "can't set immutable config"));
                }
                if spec.has(flags::PROTECTED) && !self.enable_protected_configs.allows(local) {
                    return Err(ConfigError::failed(name, "can't set protected config"));
                }
            }
            if found.iter().any(|(_, have)| *have == known) {
                return Err(ConfigError::failed(name, "duplicate parameter"));
            }
            found.push((spec, known));
        }
        Ok(found)
    }

    /// Refuses what the server cannot do, unless it stands in redis.conf.
    fn available(&self, spec: &OptionSpec, origin: Origin) -> Result<(), Reason> {
        match &spec.kind {
            Kind::Bool { unavailable: Some(text), field, .. }
                if origin != Origin::Startup && *(field.get)(self) =>
            {
                Err((*text).into())
            }
            _ => Ok(()),
        }
    }

    /// Puts values that mean the same as another one into their one form.
    fn normalise(&mut self) {
        self.hz = self.hz.clamp(HZ_MIN, HZ_MAX);
        if self.oom_score_adj == OomScoreAdj::Relative {
            self.oom_score_adj = OomScoreAdj::Yes;
        }
    }

    /// Options without effect that were given another value than the default: worth a warning at start.
    pub fn inert_in_use(&self) -> Vec<&'static str> {
        let fresh = Config::default();
        let in_use = options().filter(|spec| spec.has(flags::INERT) && self.value(spec) != fresh.value(spec));
        in_use.map(|spec| spec.name).collect()
    }
}

/// All options as a Markdown document.
pub fn docs_markdown() -> String {
    let mut text = String::from(
        "# Options\n\n\
         Generated from the option table; do not edit. An option is set in redis.conf (`name value`), on the\n\
         command line (`--name value`), or, where the column \"run time\" says yes, with `CONFIG SET name value`.\n\
         Options with effect \"none\" are accepted, so that existing configuration files and clients work, but the\n\
         server does not act on them. Protected ones can be set if `enable-protected-configs` allows.\n",
    );
    for (title, group) in GROUPS {
        text.push_str(&format!(
            "\n## {title}\n\n| option | default | value | run time | effect | what it is for |\n"
        ));
        text.push_str("|---|---|---|---|---|---|\n");
        for spec in group.iter().filter(|spec| !spec.has(flags::HIDDEN)) {
            text.push_str(&docs_row(spec));
        }
    }
    text
}

fn docs_row(spec: &OptionSpec) -> String {
    let alias = spec.alias.map(|alias| format!(" (`{alias}`)")).unwrap_or_default();
    let default = match spec.default_text().as_str() {
        "" => "empty".to_string(),
        text => format!("`{text}`"),
    };
    let run_time = match spec.flags {
        bits if bits & flags::IMMUTABLE != 0 => "no",
        bits if bits & flags::PROTECTED != 0 => "protected",
        _ => "yes",
    };
    let effect = if spec.has(flags::INERT) { "none" } else { "yes" };
    let kind = docs_kind(&spec.kind);
    format!("| `{}`{alias} | {default} | {kind} | {run_time} | {effect} | {} |\n", spec.name, spec.doc)
}

fn docs_kind(kind: &Kind) -> String {
    let range = |min: &dyn std::fmt::Display, max: Option<&dyn std::fmt::Display>| match max {
        Some(max) => format!("{min} to {max}"),
        None => format!("at least {min}"),
    };
    // The bounds of the machine's integers tell a reader nothing.
    match kind {
        Kind::Bool { .. } => "yes, no".to_string(),
        Kind::Int { min, max, .. } if *min == i64::from(i32::MIN) && *max == i64::from(i32::MAX) => {
            "number".into()
        }
        Kind::Int { min, max, .. } => range(min, (*max < i64::from(i32::MAX)).then_some(max)),
        Kind::Memory { min, max, .. } => {
            format!("bytes, {}", range(min, (*max < i64::MAX as u64).then_some(max)))
        }
        Kind::Enum { choice, .. } => choice.names.join(", "),
        Kind::Text { .. } => "text".to_string(),
        Kind::Special { syntax, .. } => (*syntax).to_string(),
    }
}

#[cfg(test)]
mod tests;
