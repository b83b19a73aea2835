//! The registry: every command and sub-command of all families, flattened from their declarations, and the look-up by
//! name. Touches its siblings' declarations only.

use crate::base::error::CmdError;
use crate::cmd::ctx::DataFn;
use crate::cmd::spec::{Acl, CommandSpec, Deprecated, Flags, Group, KeySpec};

/// What runs when a command is called.
#[derive(Debug, Clone, Copy)]
pub enum Handler {
    /// A function over data.
    Data(DataFn),
    /// A function over the whole server, by its place in the server's list.
    Server(u16),
    /// Nothing: only its sub-commands can be called.
    Container,
}

/// A command as the executor knows it. Indices into the registry identify commands everywhere.
pub struct Command {
    /// Its place in the registry.
    pub index: u16,
    /// Name in lower case; a sub-command's own word.
    pub name: &'static str,
    /// The name it is called by, which `rename-command` may have changed; empty: it cannot be called.
    called: Box<[u8]>,
    /// `get`, or `client|setname`.
    pub full_name: String,
    /// See [`CommandSpec::summary`].
    pub summary: &'static str,
    /// See [`CommandSpec::since`].
    pub since: &'static str,
    /// See [`CommandSpec::group`].
    pub group: Group,
    /// See [`CommandSpec::complexity`].
    pub complexity: &'static str,
    /// See [`CommandSpec::arity`].
    pub arity: i32,
    /// See [`CommandSpec::flags`], and what follows from the rest of the declaration.
    pub flags: Flags,
    /// All ACL categories.
    pub acl: Acl,
    /// See [`CommandSpec::keys`].
    pub keys: &'static [KeySpec],
    /// See [`CommandSpec::syntax`].
    pub syntax: &'static str,
    /// See [`CommandSpec::tips`].
    pub tips: &'static [&'static str],
    /// See [`CommandSpec::deprecated`].
    pub deprecated: Option<Deprecated>,
    /// What runs.
    pub handler: Handler,
    /// The registry's indices of its sub-commands.
    pub subcommands: Vec<u16>,
    /// Whether it is a sub-command.
    pub is_sub: bool,
}

impl Command {
    /// Whether the number of arguments, the name included, is allowed.
    #[inline]
    pub fn fits(&self, argc: usize) -> bool {
        let arity = self.arity.unsigned_abs() as usize;
        if self.arity >= 0 { argc == arity } else { argc >= arity }
    }

    /// Whether `name`, in any case, is what it is called by.
    #[inline]
    fn is_called(&self, name: &[u8]) -> bool {
        self.called.eq_ignore_ascii_case(name)
    }

    /// Whether it has sub-commands.
    pub fn is_container(&self) -> bool {
        !self.subcommands.is_empty()
    }
}

/// Why `rename-command` was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenameError {
    /// No command has the old name.
    NoSuchCommand,
    /// Another command has the new name.
    NameTaken,
}

/// All commands, found by the names they are called by.
pub struct Registry {
    commands: Vec<Command>,
    /// Length of the longest of these names; longer words are no command.
    name_bytes_max: usize,
    /// Open addressing over the top-level names: index + 1, 0 is free.
    slots: Vec<u16>,
    top_level: Vec<u16>,
}

/// Slots for each command; sparse enough that most names are found at once.
const SLOTS_PER_COMMAND: usize = 4;

#[inline]
fn hash(name: &[u8]) -> usize {
    let mut hash = name.len() as u32;
    for &byte in name {
        // Bit 5 is what tells upper from lower case in letters.
        hash = (hash ^ u32::from(byte | 0x20)).wrapping_mul(0x9e37_79b1);
    }
    (hash ^ (hash >> 15)) as usize
}

impl Registry {
    /// Flattens the declarations. Returns the handlers of type `S` apart, in the order that [`Handler::Server`] counts.
    pub fn new<S: Copy>(
        data: &[&'static [CommandSpec<DataFn>]],
        server: &[&'static [CommandSpec<S>]],
    ) -> (Registry, Vec<S>) {
        let mut registry =
            Registry { commands: Vec::new(), name_bytes_max: 0, slots: Vec::new(), top_level: Vec::new() };
        let mut server_fns = Vec::new();
        for spec in data.iter().copied().flatten() {
            registry.add(spec, None, &mut |f| Handler::Data(f));
        }
        for spec in server.iter().copied().flatten() {
            registry.add(spec, None, &mut |f| {
                server_fns.push(f);
                Handler::Server(server_fns.len() as u16 - 1)
            });
        }
        registry.index();
        (registry, server_fns)
    }

    fn add<F: Copy>(
        &mut self,
        spec: &'static CommandSpec<F>,
        container: Option<&str>,
        handler: &mut impl FnMut(F) -> Handler,
    ) -> u16 {
        let index = self.commands.len() as u16;
        let full_name = match container {
            Some(container) => format!("{container}|{}", spec.name),
            None => spec.name.to_owned(),
        };
        self.commands.push(Command {
            index,
            name: spec.name,
            called: spec.name.as_bytes().into(),
            full_name,
            summary: spec.summary,
            since: spec.since,
            group: spec.group,
            complexity: spec.complexity,
            arity: spec.arity,
            flags: spec.flags,
            acl: spec.acl.with_implied(spec.flags),
            keys: spec.keys,
            syntax: spec.syntax,
            tips: spec.tips,
            deprecated: spec.deprecated,
            handler: spec.handler.map_or(Handler::Container, &mut *handler),
            subcommands: Vec::new(),
            is_sub: container.is_some(),
        });
        let subs = spec.subcommands.iter().map(|sub| self.add(sub, Some(spec.name), handler)).collect();
        self.commands[index as usize].subcommands = subs;
        if container.is_none() {
            self.top_level.push(index);
        }
        index
    }

    fn index(&mut self) {
        self.slots = vec![0; (self.top_level.len() * SLOTS_PER_COMMAND).next_power_of_two()];
        let mask = self.slots.len() - 1;
        for &index in &self.top_level {
            let name = &self.commands[index as usize].called;
            self.name_bytes_max = self.name_bytes_max.max(name.len());
            let mut slot = hash(name) & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = index + 1;
        }
    }

    /// Has a command called by another name, or by none if `new` is empty. Rules of users keep to the old name.
    pub fn rename(&mut self, old: &[u8], new: &[u8]) -> Result<(), RenameError> {
        let index = self.find(old).ok_or(RenameError::NoSuchCommand)?;
        if !new.is_empty() && self.find(new).is_some() {
            return Err(RenameError::NameTaken);
        }
        self.commands[index as usize].called = new.into();
        if new.is_empty() {
            self.top_level.retain(|&other| other != index);
        }
        self.index();
        Ok(())
    }

    /// Commands and sub-commands.
    pub fn len(&self) -> usize {
        self.commands.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// One command.
    #[inline]
    pub fn get(&self, index: u16) -> &Command {
        &self.commands[index as usize]
    }

    /// All commands and sub-commands with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &Command)> {
        self.commands.iter().enumerate().map(|(index, command)| (index as u16, command))
    }

    /// The commands that are not sub-commands.
    pub fn top_level(&self) -> &[u16] {
        &self.top_level
    }

    /// The command called by that name, in any case, sub-commands not looked at.
    #[inline]
    pub fn find(&self, name: &[u8]) -> Option<u16> {
        if name.len() > self.name_bytes_max {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut slot = hash(name) & mask;
        loop {
            let index = self.slots[slot].checked_sub(1)?;
            if self.commands[index as usize].is_called(name) {
                return Some(index);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The sub-command of a container, in any case.
    pub fn find_sub(&self, container: u16, word: &[u8]) -> Option<u16> {
        let subs = &self.get(container).subcommands;
        subs.iter().copied().find(|&sub| self.get(sub).name.as_bytes().eq_ignore_ascii_case(word))
    }

    /// What a request calls: the command, or the sub-command if there is one and the request names it.
    #[inline]
    pub fn resolve(&self, args: &[&[u8]]) -> Result<u16, CmdError> {
        let index = self.find(args[0]).ok_or_else(|| CmdError::unknown_command(args))?;
        let command = self.get(index);
        if command.subcommands.is_empty() || args.len() < 2 {
            return Ok(index);
        }
        self.find_sub(index, args[1]).ok_or_else(|| CmdError::unknown_subcommand(command.name, args[1]))
    }

    /// The command declared as `get` or `client|setname`, in any case and whatever it is called by now.
    pub fn declared(&self, name: &[u8]) -> Option<u16> {
        let mut known = self.iter();
        known
            .find(|(_, command)| command.full_name.as_bytes().eq_ignore_ascii_case(name))
            .map(|(index, _)| index)
    }

    /// The command called `get` or `client|setname`, in any case.
    pub fn find_full(&self, name: &[u8]) -> Option<u16> {
        match memchr::memchr(b'|', name) {
            None => self.find(name),
            Some(bar) => self.find_sub(self.find(&name[..bar])?, &name[bar + 1..]),
        }
    }
}
