//! Users and what they may do: Redis's access control lists. Between exec and cmd; touches cmd's registry and key
//! finding, and base. No sockets, no files, no clock.
//!
//! A user has selectors; a command may run if any one of them allows all of it: the command, its keys and its channels.
//! Rules are texts (`+get`, `~key:*`, …; see <https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/>)
//! that are applied one after another, and that a user can be printed as.

use std::collections::BTreeMap;

use crate::cmd::keys_of::has_hidden_keys;
use crate::cmd::registry::{Command, Registry};

pub mod file;
pub mod log;
pub mod rules;
pub mod selector;
pub mod user;

use log::Log;
use rules::{RuleContext, merge_selectors, shown};
use user::User;

/// The user of connections that have not logged in; it always exists.
pub const DEFAULT_USER: &[u8] = b"default";

/// Why a user was not let through. The order is that in which a later check outranks an earlier one when several
/// selectors fail for different reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It may not run the command.
    Command,
    /// It may not touch a key that the command names, or not so.
    Key,
    /// Its name or password is wrong.
    Auth,
    /// It may not use a channel that the command names.
    Channel,
}

/// What a user was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denial {
    /// What was missing.
    pub reason: Reason,
    /// The argument that shows it: the key or channel; 0 for the command.
    pub arg: usize,
}

impl Reason {
    /// What was missing, in words for the client.
    pub fn explanation(self) -> &'static str {
        match self {
            Reason::Command => "no permission to execute the command or subcommand",
            Reason::Key => "no permission to touch the specified keys",
            Reason::Channel => "no permission to access one of the channels used as argument to the command",
            Reason::Auth => "no permission",
        }
    }
}

impl Denial {
    /// What to tell the client, without the code word.
    pub fn text(self, user: &[u8], command: &Command) -> Vec<u8> {
        match self.reason {
            Reason::Key => b"No permissions to access a key".to_vec(),
            Reason::Channel => b"No permissions to access a channel".to_vec(),
            Reason::Command | Reason::Auth => no_command(user, command),
        }
    }

    /// The same with the name of the key or channel, which only an administrator should see.
    pub fn detailed_text(self, user: &[u8], command: &Command, args: &[&[u8]]) -> Vec<u8> {
        let kind: &[u8] = match self.reason {
            Reason::Key => b"' key",
            Reason::Channel => b"' channel",
            Reason::Command | Reason::Auth => return no_command(user, command),
        };
        [b"User ", user, b" has no permissions to access the '", args[self.arg], kind].concat()
    }
}

fn no_command(user: &[u8], command: &Command) -> Vec<u8> {
    [b"User ", user, b" has no permissions to run the '", command.full_name.as_bytes(), b"' command"].concat()
}

/// What a command that was let through may know about its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permit {
    /// Whether the user may read every key: what commands need whose line does not show all keys they read.
    pub reads_all_keys: bool,
}

/// The users by name.
pub struct Users(BTreeMap<Vec<u8>, User>);

impl Users {
    /// Just the default user, who may do everything without a password.
    pub fn new(registry: &Registry) -> Users {
        Users(BTreeMap::from([(DEFAULT_USER.to_vec(), User::default_user(registry))]))
    }

    /// A user.
    pub fn get(&self, name: &[u8]) -> Option<&User> {
        self.0.get(name)
    }

    /// The default user.
    pub fn default_user(&self) -> &User {
        self.0.get(DEFAULT_USER).expect("the default user cannot be removed")
    }

    /// Names and users, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &User)> {
        self.0.iter().map(|(name, user)| (name.as_slice(), user))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Never: there is the default user.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Applies rules to a user, whom it makes if need be; all of the rules or none. Returns how the user was before. An
    /// error is the reply without its code word.
    pub fn set(
        &mut self,
        name: &[u8],
        rules: &[&[u8]],
        context: RuleContext,
    ) -> Result<Option<User>, Vec<u8>> {
        let rules = merge_selectors(rules).map_err(|open| {
            [b"Unmatched parenthesis in acl selector starting at '", shown(rules[open]), b"'."].concat()
        })?;
        let old = self.0.get(name);
        let mut user = old.cloned().unwrap_or_else(|| User::new(context));
        for rule in &rules {
            user.apply(rule, context).map_err(|error| {
                let reason = error.text().as_bytes();
                [b"Error in ACL SETUSER modifier '", shown(rule), b"': ", reason].concat()
            })?;
        }
        Ok(self.0.insert(name.to_vec(), user))
    }

    /// Removes a user and tells whether there was one. The default user stays.
    pub fn remove(&mut self, name: &[u8]) -> bool {
        name != DEFAULT_USER && self.0.remove(name).is_some()
    }

    /// What `requirepass` means: the only password of the default user; none if it is empty.
    pub fn set_default_password(&mut self, password: &[u8]) {
        let user = self.0.get_mut(DEFAULT_USER).expect("the default user cannot be removed");
        user.set_only_password(password);
    }

    /// Whether name and password are right and the user is not switched off.
    pub fn fit(&self, name: &[u8], password: &[u8]) -> bool {
        self.get(name).is_some_and(|user| user.lets_in(password))
    }

    /// Whether new connections have to log in before they may do anything.
    pub fn login_required(&self) -> bool {
        !self.default_user().needs_no_login()
    }

    /// Whether the user may run a command as it stands in `args`.
    pub fn check(&self, name: &[u8], command: &Command, args: &[&[u8]]) -> Result<Permit, Denial> {
        match self.get(name) {
            Some(user) => user.check(command, args),
            None => Err(Denial { reason: Reason::Command, arg: 0 }),
        }
    }

    /// The lines of an ACL file or of redis.conf that make these users, without line ends.
    pub fn lines(&self) -> impl Iterator<Item = Vec<u8>> {
        self.iter().map(|(name, user)| [b"user ", name, b" ", user.describe().as_slice()].concat())
    }
}

impl User {
    /// Whether it may run a command as it stands in `args`. Of several selectors' denials the one that came furthest is
    /// told.
    pub fn check(&self, command: &Command, args: &[&[u8]]) -> Result<Permit, Denial> {
        let mut keys = None;
        let mut worst = Denial { reason: Reason::Command, arg: 0 };
        let mut permit = None;
        for selector in self.selectors() {
            match selector.check(command, args, &mut keys) {
                Ok(()) => {
                    let reads_all_keys = selector.reads_all_keys();
                    permit = Some(Permit { reads_all_keys });
                    if reads_all_keys || !has_hidden_keys(command) {
                        break;
                    }
                }
                Err(denial) if (denial.reason, denial.arg) > (worst.reason, worst.arg) => worst = denial,
                Err(_) => {}
            }
        }
        permit.ok_or(worst)
    }
}

/// The users and the record of what they were refused.
pub struct AccessControl {
    /// The users.
    pub users: Users,
    /// What ACL LOG shows.
    pub log: Log,
}

impl AccessControl {
    /// Just the default user, and an empty record.
    pub fn new(registry: &Registry) -> AccessControl {
        AccessControl { users: Users::new(registry), log: Log::default() }
    }
}

#[cfg(test)]
mod tests;
