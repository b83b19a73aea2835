//! One user: whether it may log in, with which passwords, and its selectors. Touches its siblings.

use sha2::{Digest, Sha256};

use crate::cmd::registry::Registry;

use super::rules::{RuleContext, RuleError};
use super::selector::{Selector, channel_fits};

/// A password as it is kept: its SHA-256.
type Hash = [u8; 32];

/// One user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    enabled: bool,
    /// Any password will do.
    nopass: bool,
    skip_sanitize: bool,
    passwords: Vec<Hash>,
    /// The rights that stand outside of parentheses.
    root: Selector,
    others: Vec<Selector>,
}

impl User {
    /// A user who can neither log in nor do anything.
    pub fn new(context: RuleContext) -> User {
        User {
            enabled: false,
            nopass: false,
            skip_sanitize: false,
            passwords: Vec::new(),
            root: Selector::new(context),
            others: Vec::new(),
        }
    }

    /// The default user as it is at first: everything is allowed, and no password is needed.
    pub fn default_user(registry: &Registry) -> User {
        let context = RuleContext { registry, all_channels: true };
        let mut user = User { enabled: true, nopass: true, ..User::new(context) };
        for rule in [b"+@all".as_slice(), b"~*"] {
            user.root.apply(rule, context).expect("a good rule");
        }
        user
    }

    /// Applies one rule. An empty one does nothing.
    pub fn apply(&mut self, rule: &[u8], context: RuleContext) -> Result<(), RuleError> {
        let is = |word: &str| rule.eq_ignore_ascii_case(word.as_bytes());
        if is("on") || is("off") {
            self.enabled = is("on");
        } else if is("sanitize-payload") || is("skip-sanitize-payload") {
            self.skip_sanitize = is("skip-sanitize-payload");
        } else if is("nopass") || is("resetpass") {
            self.nopass = is("nopass");
            self.passwords.clear();
        } else if is("clearselectors") {
            self.others.clear();
        } else if is("reset") {
            *self = User::new(context);
        } else {
            match rule {
                [] => {}
                [b'>', password @ ..] => self.add_password(hash(password)),
                [b'#', hex @ ..] => self.add_password(from_hex(hex)?),
                [b'<', password @ ..] => self.remove_password(hash(password))?,
                [b'!', hex @ ..] => self.remove_password(from_hex(hex)?)?,
                [b'(', inside @ .., b')'] => self.others.push(Selector::parse(inside, context)?),
                _ => self.root.apply(rule, context)?,
            }
        }
        Ok(())
    }

    fn add_password(&mut self, password: Hash) {
        self.nopass = false;
        if !self.passwords.contains(&password) {
            self.passwords.push(password);
        }
    }

    fn remove_password(&mut self, password: Hash) -> Result<(), RuleError> {
        let at =
            self.passwords.iter().position(|known| *known == password).ok_or(RuleError::NoSuchPassword)?;
        self.passwords.remove(at);
        Ok(())
    }

    /// Makes this the only password; an empty one means that none is needed.
    pub fn set_only_password(&mut self, password: &[u8]) {
        self.passwords.clear();
        self.nopass = password.is_empty();
        if !password.is_empty() {
            self.passwords.push(hash(password));
        }
    }

    /// Whether it may log in with that password. Takes the same time wherever the password differs.
    pub fn lets_in(&self, password: &[u8]) -> bool {
        if !self.enabled || self.nopass {
            return self.enabled;
        }
        let given = hash(password);
        let differs = |known: &Hash| known.iter().zip(&given).fold(0, |acc, (a, b)| acc | (a ^ b)) != 0;
        self.passwords.iter().any(|known| !differs(known))
    }

    /// Whether it may log in with any password.
    pub fn has_no_password(&self) -> bool {
        self.nopass
    }

    /// Whether it may log in.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// As the default user: whether connections are logged in from the start.
    pub fn needs_no_login(&self) -> bool {
        self.nopass && self.enabled
    }

    /// Whether RESTORE may trust its payloads.
    pub fn skips_sanitizing(&self) -> bool {
        self.skip_sanitize
    }

    /// Whether nothing is forbidden, so that there is nothing to check.
    pub fn is_unlimited(&self) -> bool {
        self.selectors().any(Selector::is_unlimited)
    }

    /// The rights, those outside of parentheses first. Any one of them is enough.
    pub fn selectors(&self) -> impl Iterator<Item = &Selector> {
        std::iter::once(&self.root).chain(&self.others)
    }

    /// The rights outside of parentheses.
    pub fn root(&self) -> &Selector {
        &self.root
    }

    /// The rights in parentheses.
    pub fn others(&self) -> &[Selector] {
        &self.others
    }

    /// Whether it may use a channel, or, if `is_pattern`, subscribe to that pattern.
    pub fn uses_channel(&self, channel: &[u8], is_pattern: bool) -> bool {
        self.selectors().any(|selector| selector.uses(channel, is_pattern))
    }

    /// What is left when a user becomes this one: `None` if every channel rule of `old` is still there, so that no
    /// subscription can have become illegal; else all channel patterns, for [`Revoked::allows`].
    pub fn revoked_channels(&self, old: &User) -> Option<Revoked> {
        let now: Option<Vec<&[Vec<u8>]>> = self.selectors().map(Selector::channels).collect();
        let left: Vec<Vec<u8>> = now?.concat();
        let kept = old.selectors().all(|selector| {
            selector.channels().is_some_and(|channels| channels.iter().all(|channel| left.contains(channel)))
        });
        (!kept).then_some(Revoked(left))
    }

    /// The words of its state, in the order in which they are printed.
    pub fn flags(&self) -> Vec<&'static str> {
        let mut words = vec![if self.enabled { "on" } else { "off" }];
        if self.nopass {
            words.push("nopass");
        }
        words.push(if self.skip_sanitize { "skip-sanitize-payload" } else { "sanitize-payload" });
        words
    }

    /// The hashes of its passwords in hexadecimal.
    pub fn passwords(&self) -> impl ExactSizeIterator<Item = String> {
        self.passwords.iter().map(|hash| hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The rules that make this user.
    pub fn describe(&self) -> Vec<u8> {
        let mut words: Vec<Vec<u8>> = self.flags().iter().map(|word| word.as_bytes().to_vec()).collect();
        words.extend(self.passwords().map(|hex| format!("#{hex}").into_bytes()));
        words.push(self.root.describe());
        words.extend(self.others.iter().map(|other| [b"(", other.describe().as_slice(), b")"].concat()));
        words.join(&b' ')
    }
}

/// The channel patterns of a user who had more before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoked(Vec<Vec<u8>>);

impl Revoked {
    /// Whether a subscription to a channel, or to a pattern of channels, is still allowed.
    pub fn allows(&self, channel: &[u8], is_pattern: bool) -> bool {
        channel_fits(&self.0, channel, is_pattern)
    }
}

fn hash(password: &[u8]) -> Hash {
    Sha256::digest(password).into()
}

fn from_hex(hex: &[u8]) -> Result<Hash, RuleError> {
    let mut hash = Hash::default();
    if hex.len() != 2 * hash.len() {
        return Err(RuleError::BadHash);
    }
    for (byte, digits) in hash.iter_mut().zip(hex.chunks_exact(2)) {
        *byte = digit(digits[0])? << 4 | digit(digits[1])?;
    }
    Ok(hash)
}

/// The value of a hexadecimal digit; only small letters count.
fn digit(byte: u8) -> Result<u8, RuleError> {
    match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(RuleError::BadHash),
    }
}
