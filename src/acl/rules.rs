//! What the rules of users and selectors have in common: where they are applied, what can be wrong with them, and how a
//! selector that is spread over several words is put together. Touches cmd's registry.

use crate::cmd::registry::Registry;

/// What rules refer to beside themselves.
#[derive(Clone, Copy)]
pub struct RuleContext<'a> {
    /// The commands that `+get` and `-@all` speak of.
    pub registry: &'a Registry,
    /// `acl-pubsub-default allchannels`: new selectors may use all channels.
    pub all_channels: bool,
}

/// Why a rule was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleError {
    /// A command or category that does not exist.
    Unknown,
    /// Not a rule.
    Syntax,
    /// A key pattern while all keys are allowed.
    KeysAfterAll,
    /// A channel pattern while all channels are allowed.
    ChannelsAfterAll,
    /// Removal of a password that is not set.
    NoSuchPassword,
    /// A hash that is not 64 hexadecimal digits.
    BadHash,
    /// A first argument behind a sub-command.
    ArgumentOfSubcommand,
}

impl RuleError {
    /// The reason in Redis's words.
    pub fn text(self) -> &'static str {
        match self {
            RuleError::Unknown => "Unknown command or category name in ACL",
            RuleError::Syntax => "Syntax error",
            RuleError::KeysAfterAll => {
                "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any \
                 effect. Try 'resetkeys' to start with an empty list of patterns"
            }
            RuleError::ChannelsAfterAll => {
                "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any \
                 effect. Try 'resetchannels' to start with an empty list of channels"
            }
            RuleError::NoSuchPassword => "The password you are trying to remove from the user does not exist",
            RuleError::BadHash => {
                "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
            }
            RuleError::ArgumentOfSubcommand => "Allowing first-arg of a subcommand is not supported",
        }
    }
}

/// What is said of a user that a configuration defines twice.
pub const DUPLICATE_USER: &str = "Duplicate user found. A user can only be defined once in config files";

/// Blanks and zero bytes would break the one-line form of a user, so no name or pattern has them.
pub fn has_blanks(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b' ' | b'\t'..=b'\r' | 0))
}

/// A word as an error shows it: up to a zero byte.
pub fn shown(word: &[u8]) -> &[u8] {
    crate::base::error::shown(word, usize::MAX)
}

/// Joins the words from one that opens a parenthesis to the one that closes it. An error is the place of one that is
/// not closed.
pub fn merge_selectors(words: &[&[u8]]) -> Result<Vec<Vec<u8>>, usize> {
    let mut merged: Vec<Vec<u8>> = Vec::with_capacity(words.len());
    let mut open = None;
    for (index, word) in words.iter().enumerate() {
        if open.is_some() {
            let selector = merged.last_mut().expect("an open selector");
            selector.push(b' ');
            selector.extend_from_slice(shown(word));
        } else {
            merged.push(word.to_vec());
            open = word.starts_with(b"(").then_some(index);
        }
        if word.ends_with(b")") {
            open = None;
        }
    }
    open.map_or(Ok(merged), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_joined() {
        let merge = |line: &str| {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            merge_selectors(&words).map(|words| {
                let words: Vec<String> =
                    words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
                words.join("|")
            })
        };
        assert_eq!(merge("on (~a +get) >x"), Ok("on|(~a +get)|>x".to_owned()));
        assert_eq!(merge("(a) ( ~b ) ()"), Ok("(a)|( ~b )|()".to_owned()));
        assert_eq!(merge("on (a (b c"), Err(1));
        assert_eq!(merge(") x"), Ok(")|x".to_owned()));
    }
}
