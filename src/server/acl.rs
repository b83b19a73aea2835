//! ACL: the commands about users and their rights, and what rights mean for connections: who a connection is, when it
//! is closed because its user has changed, what ACL LOG records, and the ACL file.

use std::{fs, io};

use rand::TryRngCore;

use crate::acl::log::{Context, Event};
use crate::acl::rules::{DUPLICATE_USER, RuleContext, RuleError, has_blanks, shown};
use crate::acl::selector::{Selector, category};
use crate::acl::user::{Revoked, User};
use crate::acl::{DEFAULT_USER, Denial, Reason, Users};
use crate::base::config::{AclPubsubDefault, Directive};
use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::base::session::SessionFlags;
use crate::cmd::help;
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group};
use crate::proto::reply::Reply;
use crate::registry::pubsub::Kind;

use super::client::describe;
use super::files::{self, path_of, reason};
use super::{REDIS_VERSION, Server, ServerFn};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[CommandSpec {
    name: "acl",
    summary: "Groups the commands about users and their rights.",
    since: "6.0.0",
    group: Group::Server,
    complexity: "Depends on the sub-command.",
    arity: -2,
    subcommands: &[
        CommandSpec {
            name: "cat",
            summary: "Lists the command categories, or the commands of one.",
            since: "6.0.0",
            group: Group::Server,
            complexity: "O(1): both sets are fixed.",
            arity: -2,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            syntax: "[category]",
            handler: Some(acl_cat),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "deluser",
            summary: "Deletes users and closes their connections.",
            since: "6.0.0",
            group: Group::Server,
            complexity: "O(1) for a typical user, amortised.",
            arity: -3,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            syntax: "username...",
            tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
            handler: Some(acl_deluser),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "dryrun",
            summary: "Tells whether a user could run a command, without running it.",
            since: "7.0.0",
            group: Group::Server,
            complexity: "O(1)",
            arity: -4,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            syntax: "username command [arg...]",
            handler: Some(acl_dryrun),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "genpass",
            summary: "Makes a random password.",
            since: "6.0.0",
            group: Group::Server,
            complexity: "O(1)",
            arity: -2,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            syntax: "[bits:int]",
            handler: Some(acl_genpass),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "getuser",
            summary: "Describes a user's rights.",
            since: "6.0.0",
            group: Group::Server,
            complexity: "O(N) for a user with N rules.",
            arity: 3,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            syntax: "username",
            handler: Some(acl_getuser),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "help",
            summary: "Describes the sub-commands.",
            since: "6.0.0",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::LOADING.or(Flags::STALE),
            handler: Some(acl_help),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "list",
            summary: "Lists the users with their rules, as in an ACL file.",
            since: "6.0.0",
            group: Group::Server,
            complexity: "O(N) for N users.",
            arity: 2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            handler: Some(acl_list),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "load",
            summary: "Reads the users from the ACL file anew.",
            since: "6.0.0",
            group: Group::Server,
            complexity: "O(N) for N users.",
            arity: 2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            handler: Some(acl_load),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "log",
            summary: "Lists recent denials, or forgets them.",
            since: "6.0.0",
            group: Group::Server,
            complexity: "O(N) for N entries.",
            arity: -2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            syntax: "[operation(count:int|RESET)]",
            handler: Some(acl_log),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "save",
            summary: "Writes the users to the ACL file.",
            since: "6.0.0",
            group: Group::Server,
            complexity: "O(N) for N users.",
            arity: 2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
            handler: Some(acl_save),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "setuser",
            summary: "Creates a user or changes its rules.",
            since: "6.0.0",
            group: Group::Server,
            complexity: "O(N) for N rules.",
            arity: -3,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            syntax: "username [rule...]",
            tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
            handler: Some(acl_setuser),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "users",
            summary: "Lists the names of the users.",
            since: "6.0.0",
            group: Group::Server,
            complexity: "O(N) for N users.",
            arity: 2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            handler: Some(acl_users),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "whoami",
            summary: "Tells the user of this connection.",
            since: "6.0.0",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            handler: Some(acl_whoami),
            ..CommandSpec::DEFAULT
        },
    ],
    ..CommandSpec::DEFAULT
}];

/// ACL GENPASS: bits of a password, unless told otherwise, and at most.
const PASSWORD_BITS: i64 = 256;
const PASSWORD_BITS_MAX: i64 = 4_096;

/// ACL LOG: entries shown, unless told otherwise.
const LOG_ENTRIES: i64 = 10;

fn syntax(args: &[&[u8]]) -> CmdError {
    CmdError::subcommand_syntax("acl", args[1])
}

fn err(text: &[u8]) -> CmdError {
    CmdError::new([b"ERR ", text].concat())
}

fn acl_whoami(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let user = server.clients.get(slot).session.user.clone();
    server.reply(slot).bulk(&user);
    Ok(())
}

fn acl_users(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let names: Vec<Vec<u8>> = server.engine.acl.users.iter().map(|(name, _)| name.to_vec()).collect();
    write_strings(&mut server.reply(slot), &names);
    Ok(())
}

fn acl_list(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let lines: Vec<Vec<u8>> = server.engine.acl.users.lines().collect();
    write_strings(&mut server.reply(slot), &lines);
    Ok(())
}

fn write_strings(out: &mut Reply, strings: &[impl AsRef<[u8]>]) {
    out.array(strings.len());
    strings.iter().for_each(|string| out.bulk(string.as_ref()));
}

fn acl_cat(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let names: Vec<&str> = match args[2..] {
        [] => Acl::WORDS.iter().map(|(_, word)| *word).collect(),
        [name] => {
            let category = category(name).ok_or_else(|| {
                err(&[b"Unknown category '", crate::base::error::shown(name, 128), b"'"].concat())
            })?;
            let commands = server.engine.registry.iter().filter(|(_, command)| command.acl.any(category));
            let names: Vec<String> = commands.map(|(_, command)| command.full_name.clone()).collect();
            write_strings(&mut server.reply(slot), &names);
            return Ok(());
        }
        _ => return Err(syntax(args)),
    };
    write_strings(&mut server.reply(slot), &names);
    Ok(())
}

fn acl_setuser(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let name = args[2];
    if has_blanks(name) {
        return Err(CmdError::USER_NAME_BLANKS);
    }
    let context = rule_context(&server.engine.registry, &server.engine.config);
    let old = server.engine.acl.users.set(name, &args[3..], context).map_err(|text| err(&text))?;
    server.user_changed(name, old.as_ref(), slot);
    server.reply(slot).ok();
    Ok(())
}

fn acl_deluser(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    if args[2..].contains(&DEFAULT_USER) {
        return Err(CmdError::DEFAULT_USER_STAYS);
    }
    let mut deleted = 0;
    for name in &args[2..] {
        if server.engine.acl.users.remove(name) {
            deleted += 1;
            for other in server.clients_of_user(name) {
                server.expel(other, Some(slot));
            }
        }
    }
    server.reply(slot).int(deleted);
    Ok(())
}

fn acl_getuser(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let user = server.engine.acl.users.get(args[2]).cloned();
    let mut out = server.reply(slot);
    let Some(user) = user else {
        out.null();
        return Ok(());
    };
    out.map(6);
    out.bulk(b"flags");
    let flags = user.flags();
    out.set(flags.len());
    flags.iter().for_each(|flag| out.bulk(flag.as_bytes()));
    out.bulk(b"passwords");
    let passwords: Vec<String> = user.passwords().collect();
    write_strings(&mut out, &passwords);
    write_selector(&mut out, user.root());
    out.bulk(b"selectors");
    out.array(user.others().len());
    for selector in user.others() {
        out.map(3);
        write_selector(&mut out, selector);
    }
    Ok(())
}

fn write_selector(out: &mut Reply, selector: &Selector) {
    out.bulk(b"commands");
    out.bulk(&selector.describe_commands());
    out.bulk(b"keys");
    out.bulk(&selector.describe_keys());
    out.bulk(b"channels");
    out.bulk(&selector.describe_channels());
}

fn acl_genpass(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let bits = match args[2..] {
        [] => PASSWORD_BITS,
        [bits] => parse_i64(bits).ok_or(CmdError::NOT_INTEGER)?,
        _ => return Err(syntax(args)),
    };
    if !(1..=PASSWORD_BITS_MAX).contains(&bits) {
        return Err(CmdError::GENPASS_BITS);
    }
    // A password must not be guessable, so it comes from the system and not from the server's own generator.
    let mut random = vec![0; (bits as usize).div_ceil(8)];
    rand::rngs::OsRng.try_fill_bytes(&mut random).map_err(|_| CmdError::NO_RANDOMNESS)?;
    let mut hex: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.truncate((bits as usize).div_ceil(4));
    server.reply(slot).bulk(hex.as_bytes());
    Ok(())
}

fn acl_log(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let count = match args[2..] {
        [] => LOG_ENTRIES,
        [word] if word.eq_ignore_ascii_case(b"reset") => {
            server.engine.acl.log.clear();
            server.reply(slot).ok();
            return Ok(());
        }
        [count] => parse_i64(count).ok_or(CmdError::NOT_INTEGER)?,
        _ => return Err(syntax(args)),
    };
    let now_ms = server.engine.ks.now_ms;
    let client = server.clients.output(slot);
    let resp3 = client.session.resp3();
    let sink = if client.session.muted() { &mut server.discard } else { &mut client.output };
    let mut out = Reply::new(sink, resp3);
    let entries = server.engine.acl.log.entries();
    let count = (count.max(0) as usize).min(entries.len());
    out.array(count);
    for entry in entries.take(count) {
        let event = &entry.event;
        out.map(10);
        out.bulk(b"count");
        out.int(entry.count as i64);
        let texts: [(&str, &[u8]); 4] = [
            ("reason", event.reason.word().as_bytes()),
            ("context", event.context.word().as_bytes()),
            ("object", &event.object),
            ("username", &event.user),
        ];
        for (name, text) in texts {
            out.bulk(name.as_bytes());
            out.bulk(text);
        }
        out.bulk(b"age-seconds");
        out.double((now_ms - entry.updated_ms) as f64 / 1_000.0);
        out.bulk(b"client-info");
        out.bulk(event.client.as_bytes());
        let numbers = [
            ("entry-id", entry.id as i64),
            ("timestamp-created", entry.created_ms),
            ("timestamp-last-updated", entry.updated_ms),
        ];
        for (name, number) in numbers {
            out.bulk(name.as_bytes());
            out.int(number);
        }
    }
    Ok(())
}

fn acl_dryrun(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let (name, line) = (args[2], &args[3..]);
    let engine = &server.engine;
    let user = engine.acl.users.get(name);
    let user = user.ok_or_else(|| err(&[b"User '", shown(name), b"' not found"].concat()))?;
    let index = engine.registry.resolve(line);
    let index = index.map_err(|_| err(&[b"Command '", shown(line[0]), b"' not found"].concat()))?;
    let command = engine.registry.get(index);
    if !command.fits(line.len()) {
        return Err(CmdError::arity(&command.full_name));
    }
    let denied = user.check(command, line).err().map(|denial| denial.detailed_text(name, command, line));
    match denied {
        Some(text) => server.reply(slot).bulk(&text),
        None => server.reply(slot).ok(),
    }
    Ok(())
}

fn acl_load(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    if server.engine.config.aclfile.is_empty() {
        return Err(CmdError::NO_ACL_FILE);
    }
    let users = server.read_acl_file().map_err(|text| err(&text))?;
    let old = std::mem::replace(&mut server.engine.acl.users, users);
    for other in server.clients.slots_by_id() {
        let name = server.clients.get(other).session.user.clone();
        match (server.engine.acl.users.get(&name), old.get(&name)) {
            (None, _) => server.expel(other, Some(slot)),
            (Some(new), before) => {
                let revoked = before.and_then(|before| new.revoked_channels(before));
                server.refresh_rights(other);
                server.expel_if_revoked(other, revoked.as_ref(), slot);
            }
        }
    }
    server.reply(slot).ok();
    Ok(())
}

fn acl_save(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    if server.engine.config.aclfile.is_empty() {
        return Err(CmdError::NO_ACL_FILE);
    }
    if let Err(error) = server.write_acl_file() {
        server.log.warning(&format!("Writing ACL file for ACL SAVE: {error}"));
        return Err(CmdError::ACL_SAVE_FAILED);
    }
    server.reply(slot).ok();
    Ok(())
}

fn acl_help(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    super::write_help(server, slot, help::lines("acl", SPECS[0].subcommands));
    Ok(())
}

fn rule_context<'a>(
    registry: &'a crate::exec::registry::Registry,
    config: &crate::base::config::Config,
) -> RuleContext<'a> {
    let all_channels = config.acl_pubsub_default == AclPubsubDefault::AllChannels;
    RuleContext { registry, all_channels }
}

/// What the system says about a failure, without the number.
impl Server {
    /// Makes a connection that of a user.
    pub(super) fn become_user(&mut self, slot: usize, name: &[u8], authenticated: bool) {
        let session = &mut self.clients.get_mut(slot).session;
        session.authenticated = authenticated;
        session.user = name.to_vec();
        self.refresh_rights(slot);
    }

    /// Makes a connection what it is before it logs in: the default user's, logged in if that needs no password.
    pub(super) fn become_default(&mut self, slot: usize) {
        let authenticated = !self.engine.acl.users.login_required();
        self.become_user(slot, DEFAULT_USER, authenticated);
    }

    /// Notes in the session whether its user's rights have to be checked at all.
    fn refresh_rights(&mut self, slot: usize) {
        let session = &mut self.clients.get_mut(slot).session;
        let unlimited = self.engine.acl.users.get(&session.user).is_some_and(User::is_unlimited);
        session.flags.set(SessionFlags::RESTRICTED, !unlimited);
        session.flags.set(SessionFlags::READS_SOME_KEYS, false);
    }

    /// Logs a connection in. `command` is the word by which it asked for that.
    pub(super) fn log_in(
        &mut self,
        slot: usize,
        name: &[u8],
        password: &[u8],
        command: &[u8],
    ) -> Result<(), CmdError> {
        if !self.engine.acl.users.fit(name, password) {
            self.record_denial(slot, Reason::Auth, command, name);
            return Err(CmdError::WRONG_PASS);
        }
        self.become_user(slot, name, true);
        Ok(())
    }

    /// Notes in ACL LOG that a client's command was refused. Returns the reply.
    pub(super) fn note_denial(
        &mut self,
        slot: usize,
        index: u16,
        denial: Denial,
        args: &[&[u8]],
    ) -> CmdError {
        let user = self.clients.get(slot).session.user.clone();
        let command = self.engine.registry.get(index);
        let text = [b"NOPERM ", denial.text(&user, command).as_slice()].concat();
        let object = match denial.reason {
            Reason::Command => command.full_name.clone().into_bytes(),
            _ => args[denial.arg].to_vec(),
        };
        self.record_denial(slot, denial.reason, &object, &user);
        CmdError::new(text)
    }

    fn record_denial(&mut self, slot: usize, reason: Reason, object: &[u8], user: &[u8]) {
        let flags = self.clients.get(slot).session.flags;
        let in_multi = flags.any(SessionFlags::MULTI.or(SessionFlags::IN_EXEC));
        let context = if in_multi { Context::Multi } else { Context::Toplevel };
        let client = describe(self, slot);
        let event = Event { reason, context, object: object.to_vec(), user: user.to_vec(), client };
        let len_max = usize::try_from(self.engine.config.acllog_max_len).unwrap_or_default();
        self.engine.acl.log.add(event, self.engine.ks.now_ms, len_max);
    }

    fn clients_of_user(&self, name: &[u8]) -> Vec<usize> {
        let mut slots = self.clients.slots_by_id();
        slots.retain(|&slot| self.clients.get(slot).session.user == name);
        slots
    }

    /// Lets a user's new rights take effect. Subscribers that have lost a channel are closed. `by` is the client that
    /// changed the user.
    fn user_changed(&mut self, name: &[u8], old: Option<&User>, by: usize) {
        let revoked = match (self.engine.acl.users.get(name), old) {
            (Some(new), Some(old)) => new.revoked_channels(old),
            _ => None,
        };
        for slot in self.clients_of_user(name) {
            self.refresh_rights(slot);
            self.expel_if_revoked(slot, revoked.as_ref(), by);
        }
    }

    fn expel_if_revoked(&mut self, slot: usize, revoked: Option<&Revoked>, by: usize) {
        let session = &self.clients.get(slot).session;
        let Some(revoked) = revoked.filter(|_| session.flags.any(SessionFlags::SUBSCRIBED)) else { return };
        let lost = [Kind::Channel, Kind::Pattern, Kind::Shard].into_iter().any(|kind| {
            let names = self.pubsub.names_of(kind, session.id);
            names.iter().any(|name| !revoked.allows(name, kind == Kind::Pattern))
        });
        if lost {
            self.expel(slot, Some(by));
        }
    }

    /// Logs a client out and closes it; the one that caused that gets its reply first.
    fn expel(&mut self, slot: usize, by: Option<usize>) {
        self.become_user(slot, DEFAULT_USER, false);
        if by == Some(slot) {
            let flags = &mut self.clients.get_mut(slot).session.flags;
            flags.set(SessionFlags::CLOSE_AFTER_REPLY, true);
        } else {
            self.clients.close(slot);
        }
    }

    /// `requirepass` has changed.
    pub(super) fn apply_requirepass(&mut self) {
        self.engine.acl.users.set_default_password(&self.engine.config.requirepass);
    }

    fn read_acl_file(&self) -> Result<Users, Vec<u8>> {
        let path = &self.engine.config.aclfile;
        let text = fs::read(path_of(path)).map_err(|error| {
            [b"Error loading ACLs, opening file '", path.as_slice(), b"': ", reason(&error).as_bytes()]
                .concat()
        })?;
        Users::from_file(path, &text, rule_context(&self.engine.registry, &self.engine.config))
    }

    /// Replaces the ACL file by a new one that is safe on disk.
    fn write_acl_file(&self) -> io::Result<()> {
        let mut text = self.engine.acl.users.lines().collect::<Vec<_>>().join(&b'\n');
        text.push(b'\n');
        files::replace(&self.engine.config.aclfile, &text, self.engine.ks.now_ms)
    }

    /// Makes the users that the configuration names, in `user` lines or in an ACL file. An error is the whole text for
    /// the user.
    pub(super) fn load_users(&mut self, lines: &[Directive]) -> Result<(), String> {
        self.apply_requirepass();
        let has_file = !self.engine.config.aclfile.is_empty();
        if has_file && !lines.is_empty() {
            return Err("Users are defined in redis.conf, and an ACL file is configured as well: use one or the other."
                .to_owned());
        }
        for (index, line) in lines.iter().enumerate() {
            let twice = lines[..index].iter().any(|earlier| earlier.args[1] == line.args[1]);
            self.load_user(line, twice)?;
        }
        if has_file {
            self.engine.acl.users = self.read_acl_file().map_err(|text| {
                format!("Aborting Redis startup because of ACL errors: {}", String::from_utf8_lossy(&text))
            })?;
        }
        Ok(())
    }

    fn load_user(&mut self, line: &Directive, twice: bool) -> Result<(), String> {
        let text_of = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
        let fail = |word: &[u8], text: &str| {
            let reason = format!("Error in user declaration '{}': {text}", text_of(word));
            line.error(reason).report(REDIS_VERSION)
        };
        let name = line.args[1].as_slice();
        if twice {
            return Err(fail(name, DUPLICATE_USER));
        }
        if has_blanks(name) {
            return Err(fail(name, "Spaces not allowed in ACL usernames"));
        }
        let rules: Vec<&[u8]> = line.args[2..].iter().map(Vec::as_slice).collect();
        let context = rule_context(&self.engine.registry, &self.engine.config);
        let defined = self.engine.acl.users.define(name, &rules, context);
        defined.map_err(|(rule, error)| match error {
            RuleError::Unknown => format!(
                "Error loading ACL rule '{}' for the user named '{}': {}\nCritical error while loading ACLs. Exiting.",
                text_of(&rule),
                text_of(name),
                error.text()
            ),
            _ => fail(&rule, error.text()),
        })?;
        if !self.engine.acl.users.get(name).is_some_and(User::is_enabled) {
            let name = text_of(name);
            self.log.notice(&format!("The user '{name}' is disabled: its rules have no 'on'."));
        }
        Ok(())
    }
}
