//! The ACL file: one line `user name rule…` for each user, nothing else but blank lines. Touches its siblings.
//!
//! The words of a line stand between single blanks; there is no quoting and there are no comments.

use super::rules::{RuleContext, RuleError, has_blanks, merge_selectors};
use super::user::User;
use super::{DEFAULT_USER, Users};

/// The characters around a line that do not count.
const BLANKS: &[u8] = b" \t\r\n";

impl Users {
    /// The users that a file defines, and the default user if it does not. An error lists everything that is wrong;
    /// `path` is how it calls the file.
    pub fn from_file(path: &[u8], text: &[u8], context: RuleContext) -> Result<Users, Vec<u8>> {
        let mut users = Users(Default::default());
        let mut errors = Vec::new();
        for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let line = trim(line, BLANKS);
            if !line.is_empty() {
                let place = [path, format!(":{}", index + 1).as_bytes()].concat();
                users.add_line(line, &place, index + 1, context, &mut errors);
            }
        }
        if !errors.is_empty() {
            let end =
                b"WARNING: ACL errors detected, no change to the previously active ACL rules was performed";
            errors.extend_from_slice(end);
            return Err(errors);
        }
        users.0.entry(DEFAULT_USER.to_vec()).or_insert_with(|| User::default_user(context.registry));
        Ok(users)
    }

    /// Makes a user from the rules of a `user` line in redis.conf, or makes it anew. An error is the rule that is wrong,
    /// and why.
    pub fn define(
        &mut self,
        name: &[u8],
        rules: &[&[u8]],
        context: RuleContext,
    ) -> Result<(), (Vec<u8>, RuleError)> {
        let rules = merge_selectors(rules).map_err(|open| (rules[open].to_vec(), RuleError::Syntax))?;
        let mut user = User::new(context);
        for rule in rules {
            user.apply(&rule, context).map_err(|error| (rule, error))?;
        }
        self.0.insert(name.to_vec(), user);
        Ok(())
    }

    fn add_line(
        &mut self,
        line: &[u8],
        place: &[u8],
        line_no: usize,
        context: RuleContext,
        errors: &mut Vec<u8>,
    ) {
        let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let [b"user", name, rules @ ..] = words.as_slice() else {
            errors.extend_from_slice(
                &[place, b" should start with user keyword followed by the username. "].concat(),
            );
            return;
        };
        if has_blanks(name) {
            errors.extend_from_slice(
                &[b"'", place, b": username '", name, b"' contains invalid characters. "].concat(),
            );
            return;
        }
        if self.0.contains_key(*name) {
            let end = format!("' found on line {line_no}. ");
            errors.extend_from_slice(&[b"WARNING: Duplicate user '", *name, end.as_bytes()].concat());
            return;
        }
        let mut user = User::new(context);
        apply_all(&mut user, rules, place, context, errors);
        self.0.insert(name.to_vec(), user);
    }
}

/// Applies rules and collects complaints: all unknown commands by name, but of the rest only the first one and without
/// the rule, which may be a password.
fn apply_all(user: &mut User, rules: &[&[u8]], place: &[u8], context: RuleContext, errors: &mut Vec<u8>) {
    let Ok(rules) = merge_selectors(rules) else {
        errors.extend_from_slice(&[place, b": Unmatched parenthesis in selector definition."].concat());
        return;
    };
    let mut complained = false;
    for rule in &rules {
        let rule = trim(rule, b"\t\r\n");
        let Err(error) = user.apply(rule, context) else { continue };
        let reason = error.text().as_bytes();
        if error == RuleError::Unknown {
            errors.extend_from_slice(
                &[place, b": Error in applying operation '", rule, b"': ", reason, b". "].concat(),
            );
        } else if !complained {
            errors.extend_from_slice(&[place, b": ", reason, b". "].concat());
            complained = true;
        }
    }
}

fn trim<'a>(text: &'a [u8], blanks: &[u8]) -> &'a [u8] {
    let Some(start) = text.iter().position(|byte| !blanks.contains(byte)) else { return &[] };
    let end = text.iter().rposition(|byte| !blanks.contains(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}
