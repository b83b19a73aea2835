//! One set of rights: commands, keys and channels. Touches cmd's registry and key finding, and base.
//!
//! Commands are a bitmap over the registry. Beside it the rules that made it are kept, so that the selector can be
//! printed as it was put in; `+@all` and `-@all` start both anew.

use std::ops::Range;

use crate::base::glob;
use crate::base::split::split_args;
use crate::cmd::keys_of::{Key, keys_of};
use crate::cmd::registry::Command;
use crate::cmd::spec::{Acl, Flags, KeyFlags};

use super::rules::{RuleContext, RuleError, has_blanks};
use super::{Denial, Reason};

/// What a key pattern allows, and what a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Access {
    read: bool,
    write: bool,
}

impl Access {
    const ALL: Access = Access { read: true, write: true };

    /// What a command does with a key's value. Telling just whether there is one needs neither.
    fn needed(flags: KeyFlags) -> Access {
        Access {
            read: flags.any(KeyFlags::ACCESS),
            write: flags.any(KeyFlags::INSERT.or(KeyFlags::DELETE).or(KeyFlags::UPDATE)),
        }
    }

    fn covers(self, needed: Access) -> bool {
        self.read >= needed.read && self.write >= needed.write
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct KeyPattern {
    access: Access,
    glob: Vec<u8>,
}

/// A rule about commands as it is printed: `+get`, `-@hash`, `+select|0`; the name in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CommandRule {
    allow: bool,
    name: Vec<u8>,
}

/// One set of rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// No command is forbidden.
    all_commands: bool,
    /// The rules start from `+@all`, not from `-@all`.
    from_all: bool,
    /// A bit for each command of the registry.
    commands: Box<[u64]>,
    rules: Vec<CommandRule>,
    /// Commands that are allowed with this first argument only.
    first_args: Vec<(u16, Vec<u8>)>,
    all_keys: bool,
    keys: Vec<KeyPattern>,
    all_channels: bool,
    channels: Vec<Vec<u8>>,
}

/// Bits in a word of the bitmap.
const WORD_BITS: usize = u64::BITS as usize;

impl Selector {
    /// No rights, but for channels if the context says so.
    pub fn new(context: RuleContext) -> Selector {
        Selector {
            all_commands: false,
            from_all: false,
            commands: vec![0; context.registry.len().div_ceil(WORD_BITS)].into_boxed_slice(),
            rules: Vec::new(),
            first_args: Vec::new(),
            all_keys: false,
            keys: Vec::new(),
            all_channels: context.all_channels,
            channels: Vec::new(),
        }
    }

    /// The selector that `(rule rule …)` stands for; `inside` is without the parentheses.
    pub fn parse(inside: &[u8], context: RuleContext) -> Result<Selector, RuleError> {
        let mut selector = Selector::new(context);
        for rule in split_args(inside).unwrap_or_default() {
            selector.apply(&rule, context)?;
        }
        Ok(selector)
    }

    /// Applies one rule.
    pub fn apply(&mut self, rule: &[u8], context: RuleContext) -> Result<(), RuleError> {
        let is = |word: &str| rule.eq_ignore_ascii_case(word.as_bytes());
        if is("allkeys") || is("~*") {
            self.set_keys(true);
        } else if is("resetkeys") {
            self.set_keys(false);
        } else if is("allchannels") || is("&*") {
            self.set_channels(true);
        } else if is("resetchannels") {
            self.set_channels(false);
        } else if is("allcommands") || is("+@all") {
            self.set_commands(true);
        } else if is("nocommands") || is("-@all") {
            self.set_commands(false);
        } else {
            match rule {
                [b'~', pattern @ ..] => self.add_keys(Access::ALL, pattern)?,
                [b'%', rest @ ..] => self.add_keys_with_access(rest)?,
                [b'&', pattern @ ..] => self.add_channels(pattern)?,
                [sign @ (b'+' | b'-'), b'@', name @ ..] => {
                    self.apply_category(name, *sign == b'+', context)?
                }
                [b'+', name @ ..] => self.allow(name, context)?,
                [b'-', name @ ..] => self.forbid(name, context)?,
                _ => return Err(RuleError::Syntax),
            }
        }
        Ok(())
    }

    fn set_keys(&mut self, all: bool) {
        self.all_keys = all;
        self.keys.clear();
    }

    fn set_channels(&mut self, all: bool) {
        self.all_channels = all;
        self.channels.clear();
    }

    fn set_commands(&mut self, all: bool) {
        self.all_commands = all;
        self.from_all = all;
        self.commands.fill(if all { u64::MAX } else { 0 });
        self.rules.clear();
        self.first_args.clear();
    }

    fn add_keys_with_access(&mut self, rest: &[u8]) -> Result<(), RuleError> {
        if self.all_keys {
            return Err(RuleError::KeysAfterAll);
        }
        let tilde = memchr::memchr(b'~', rest);
        let (letters, pattern) = tilde.map_or((rest, &[][..]), |at| (&rest[..at], &rest[at + 1..]));
        let mut access = Access { read: false, write: false };
        for letter in letters {
            match letter {
                b'R' | b'r' if !access.read => access.read = true,
                b'W' | b'w' if !access.write => access.write = true,
                _ => return Err(RuleError::Syntax),
            }
        }
        if letters.is_empty() {
            return Err(RuleError::Syntax);
        }
        self.add_keys(access, pattern)
    }

    fn add_keys(&mut self, access: Access, pattern: &[u8]) -> Result<(), RuleError> {
        if self.all_keys {
            return Err(RuleError::KeysAfterAll);
        }
        if has_blanks(pattern) {
            return Err(RuleError::Syntax);
        }
        match self.keys.iter_mut().find(|known| known.glob == pattern) {
            Some(known) => {
                known.access.read |= access.read;
                known.access.write |= access.write;
            }
            None => self.keys.push(KeyPattern { access, glob: pattern.to_vec() }),
        }
        Ok(())
    }

    fn add_channels(&mut self, pattern: &[u8]) -> Result<(), RuleError> {
        if self.all_channels {
            return Err(RuleError::ChannelsAfterAll);
        }
        if has_blanks(pattern) {
            return Err(RuleError::Syntax);
        }
        if !self.channels.iter().any(|known| known == pattern) {
            self.channels.push(pattern.to_vec());
        }
        Ok(())
    }

    /// `+get`, `+config|get`, or `+select|0`.
    fn allow(&mut self, name: &[u8], context: RuleContext) -> Result<(), RuleError> {
        let registry = context.registry;
        let Some(bar) = memchr::memrchr(b'|', name) else {
            let index = registry.declared(name).ok_or(RuleError::Unknown)?;
            self.set_command(registry.get(index), true);
            self.record(name, true);
            return Ok(());
        };
        let (front, word) = (&name[..bar], &name[bar + 1..]);
        let command = registry.get(registry.declared(front).ok_or(RuleError::Unknown)?);
        if command.is_sub {
            return Err(RuleError::ArgumentOfSubcommand);
        }
        if word.is_empty() {
            return Err(RuleError::Syntax);
        }
        if command.is_container() {
            let sub = registry.find_sub(command.index, word).ok_or(RuleError::Unknown)?;
            self.set_command(registry.get(sub), true);
        } else {
            let known =
                |(index, arg): &(u16, Vec<u8>)| *index == command.index && arg.eq_ignore_ascii_case(word);
            if !self.first_args.iter().any(known) {
                self.first_args.push((command.index, word.to_vec()));
            }
        }
        self.record(name, true);
        Ok(())
    }

    /// `-get` or `-config|get`.
    fn forbid(&mut self, name: &[u8], context: RuleContext) -> Result<(), RuleError> {
        let registry = context.registry;
        let index = registry.declared(name).ok_or(RuleError::Unknown)?;
        self.set_command(registry.get(index), false);
        self.record(name, false);
        Ok(())
    }

    fn apply_category(&mut self, name: &[u8], allow: bool, context: RuleContext) -> Result<(), RuleError> {
        let category = category(name).ok_or(RuleError::Unknown)?;
        self.record(&[b"@", name].concat(), allow);
        for (_, command) in context.registry.iter().filter(|(_, command)| command.acl.any(category)) {
            self.set_command(command, allow);
        }
        Ok(())
    }

    /// Allows or forbids a command with its sub-commands, whatever their arguments.
    fn set_command(&mut self, command: &Command, allow: bool) {
        for &index in std::iter::once(&command.index).chain(&command.subcommands) {
            let (word, bit) = bit(index);
            if allow {
                self.commands[word] |= bit;
            } else {
                self.commands[word] &= !bit;
                self.all_commands = false;
            }
        }
        self.first_args.retain(|(index, _)| *index != command.index);
    }

    /// Notes a rule for printing. Earlier rules about the same, or about a part of it, have no effect any more.
    fn record(&mut self, name: &[u8], allow: bool) {
        let name = name.to_ascii_lowercase();
        self.rules.retain(|rule| {
            let rest = rule.name.strip_prefix(name.as_slice());
            !rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'|')
        });
        self.rules.push(CommandRule { allow, name });
    }

    /// Whether nothing is forbidden.
    pub fn is_unlimited(&self) -> bool {
        self.all_commands && self.all_keys && self.all_channels
    }

    /// Whether every key may be read, whatever its name.
    pub fn reads_all_keys(&self) -> bool {
        self.all_keys || self.keys.iter().any(|pattern| pattern.access.read && pattern.glob == b"*")
    }

    /// Whether a command may run as it stands in `args`. `keys` carries its keys from one selector to the next.
    pub fn check(
        &self,
        command: &Command,
        args: &[&[u8]],
        keys: &mut Option<Vec<Key>>,
    ) -> Result<(), Denial> {
        if !self.runs(command, args) {
            return Err(Denial { reason: Reason::Command, arg: 0 });
        }
        if !self.all_keys && !command.keys.is_empty() {
            // A line that the key specifications do not fit is for the command to complain about.
            let keys = keys.get_or_insert_with(|| keys_of(command, args).unwrap_or_default());
            if let Some((arg, _)) = keys.iter().find(|(index, flags)| !self.touches(args[*index], *flags)) {
                return Err(Denial { reason: Reason::Key, arg: *arg });
            }
        }
        if !self.all_channels
            && let Some((mut range, is_pattern)) = channels_of(command, args.len())
            && let Some(arg) = range.find(|&index| !self.uses(args[index], is_pattern))
        {
            return Err(Denial { reason: Reason::Channel, arg });
        }
        Ok(())
    }

    fn runs(&self, command: &Command, args: &[&[u8]]) -> bool {
        if self.all_commands || command.flags.any(Flags::NO_AUTH) {
            return true;
        }
        let (word, bit) = bit(command.index);
        self.commands[word] & bit != 0
            || self.first_args.iter().any(|(index, first)| {
                *index == command.index && args.get(1).is_some_and(|arg| arg.eq_ignore_ascii_case(first))
            })
    }

    fn touches(&self, key: &[u8], flags: KeyFlags) -> bool {
        let needed = Access::needed(flags);
        let fits =
            |pattern: &KeyPattern| pattern.access.covers(needed) && glob::matches(&pattern.glob, key, false);
        self.all_keys || self.keys.iter().any(fits)
    }

    /// Whether a channel may be used. A pattern of channels may be subscribed to only if the rules have the very same.
    pub fn uses(&self, channel: &[u8], is_pattern: bool) -> bool {
        self.all_channels || channel_fits(&self.channels, channel, is_pattern)
    }

    /// The channel patterns, or `None` if all channels are allowed.
    pub fn channels(&self) -> Option<&[Vec<u8>]> {
        (!self.all_channels).then_some(self.channels.as_slice())
    }

    /// The rules about commands, always beginning with `+@all` or `-@all`.
    pub fn describe_commands(&self) -> Vec<u8> {
        let mut text = if self.from_all { b"+@all".to_vec() } else { b"-@all".to_vec() };
        for rule in &self.rules {
            text.extend_from_slice(if rule.allow { b" +" } else { b" -" });
            text.extend_from_slice(&rule.name);
        }
        text
    }

    /// The rules about keys; empty if there are none.
    pub fn describe_keys(&self) -> Vec<u8> {
        if self.all_keys {
            return b"~*".to_vec();
        }
        let words = self.keys.iter().map(|pattern| {
            let sign: &[u8] = match pattern.access {
                Access { read: true, write: true } => b"~",
                Access { read: true, write: false } => b"%R~",
                Access { read: false, .. } => b"%W~",
            };
            [sign, &pattern.glob].concat()
        });
        words.collect::<Vec<_>>().join(&b' ')
    }

    /// The rules about channels; empty if there are none.
    pub fn describe_channels(&self) -> Vec<u8> {
        if self.all_channels {
            return b"&*".to_vec();
        }
        let words = self.channels.iter().map(|pattern| [b"&", pattern.as_slice()].concat());
        words.collect::<Vec<_>>().join(&b' ')
    }

    /// All rules.
    pub fn describe(&self) -> Vec<u8> {
        let channels = self.describe_channels();
        let reset: &[u8] = if self.all_channels { b"" } else { b"resetchannels" };
        let parts = [self.describe_keys(), reset.to_vec(), channels, self.describe_commands()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(&b' ')
    }
}

/// Where the bit of a command is.
fn bit(index: u16) -> (usize, u64) {
    let index = usize::from(index);
    (index / WORD_BITS, 1 << (index % WORD_BITS))
}

/// The category of that name, in any case.
pub fn category(name: &[u8]) -> Option<Acl> {
    Acl::WORDS
        .iter()
        .find(|(_, word)| word.as_bytes().eq_ignore_ascii_case(name))
        .map(|(category, _)| *category)
}

/// Whether a channel fits one of the patterns; see [`Selector::uses`].
pub fn channel_fits(patterns: &[Vec<u8>], channel: &[u8], is_pattern: bool) -> bool {
    patterns.iter().any(
        |pattern| {
            if is_pattern { pattern == channel } else { glob::matches(pattern, channel, false) }
        },
    )
}

/// Which arguments of a command are channels that it wants to send to or to hear, and whether they are patterns. Key
/// specifications do not tell that, in Redis neither.
fn channels_of(command: &Command, argc: usize) -> Option<(Range<usize>, bool)> {
    if !command.flags.any(Flags::PUBSUB) {
        return None;
    }
    match command.full_name.as_str() {
        "subscribe" | "ssubscribe" => Some((1..argc, false)),
        "psubscribe" => Some((1..argc, true)),
        "publish" | "spublish" => Some((1..argc.min(2), false)),
        _ => None,
    }
}
