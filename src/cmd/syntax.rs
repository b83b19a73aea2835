//! The argument notation of the command table, its parser, and the line that is shown to people.
//!
//! A [`CommandSpec`](super::spec::CommandSpec) row states its arguments in one line that reads like a synopsis:
//!
//! ```text
//! key value [condition(NX|XX)] [GET@6.2.0] [expiration(EX seconds:int|PX milliseconds:int|KEEPTTL@6.0.0)]
//! ```
//!
//! [`parse`] turns the line into the tree that `COMMAND DOCS` prints, [`synopsis`] turns the tree into the line of
//! `docs/commands.md`. The vocabulary (types, tokens, key spec indexes) is that of Redis's `COMMAND DOCS`.
//! This file touches nothing else. It runs only when documentation is asked for and in tests, so it may allocate.
//!
//! # Grammar
//!
//! ```text
//! line   = { item }                             separated by spaces
//! item   = body | '[' body ']'                  brackets: the argument is optional
//! body   = TOKEN marks                          a word to be sent as it is; its name is the word in lower case
//!        | name '=' TOKEN marks                 the same under another name
//!        | [ TOKEN ['...'] ] name shape marks   a value, preceded by a word if one is given
//! shape  =                                      a string; but a key if the name is `key`
//!        | ':' kind [ '#' index ]               kind: string int double key pattern unix-time
//!        | '(' item { '|' item } ')'            one of these
//!        | '{' line '}'                         these in order
//! marks  = [ '"' text '"' ] [ '...' ] [ '@' version ] [ '!' version ]
//! ```
//!
//! - TOKEN: upper-case letters, digits, `-` and `_`, beginning with a letter; anything else between single quotes.
//! - name: lower-case letters, digits and `-`, beginning with a letter.
//! - `index`: the key spec (`CommandSpec::keys`) that finds this argument, or `-` for none. Where it is left out, the first
//!   key of the line belongs to spec 0, the next one to spec 1, and so on; an argument that is not a key belongs to none.
//! - `"text"`: shown instead of the name. `...` at the end: can be given several times; `...` after the token: several times,
//!   each with the token. `@`: exists since this version. `!`: deprecated since this version.
//! - A TOKEN that a name follows belongs to that name. Before a value of its own, a lone word is written `name=TOKEN`.

use std::borrow::Cow;

/// Blocks may lie in each other this deep; Redis's deepest command (BITFIELD) needs 4.
const DEPTH_MAX: usize = 12;

/// One argument of a command. Texts are borrowed from the row's line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg<'a> {
    /// Name, lower case.
    pub name: Cow<'a, str>,
    /// What is sent in its place.
    pub kind: ArgKind,
    /// The word before the value; for [`ArgKind::PureToken`] the word itself.
    pub token: Option<&'a str>,
    /// Shown to people instead of the name.
    pub display: Option<&'a str>,
    /// Index of the key spec that finds this argument.
    pub key_spec_index: Option<u32>,
    /// Version that brought it, where that is not the command's own.
    pub since: Option<&'a str>,
    /// Version since which it should not be used any more.
    pub deprecated_since: Option<&'a str>,
    /// May be left out.
    pub optional: bool,
    /// May be given several times in a row.
    pub multiple: bool,
    /// Each time with the token. Only with `multiple`.
    pub multiple_token: bool,
    /// Alternatives of a one-of, parts of a block; empty for the other kinds.
    pub children: Vec<Arg<'a>>,
}

/// Type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// Any bytes.
    String,
    /// A whole number.
    Integer,
    /// A floating-point number.
    Double,
    /// Name of a key.
    Key,
    /// A glob-style pattern.
    Pattern,
    /// A moment, in seconds or milliseconds since 1970.
    UnixTime,
    /// A fixed word without a value.
    PureToken,
    /// Exactly one of the children.
    OneOf,
    /// All children in order.
    Block,
}

/// Why a line is no argument notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte offset in the line.
    pub at: usize,
    /// What should have stood there.
    pub expected: &'static str,
}

impl ArgKind {
    /// The type's name in `COMMAND DOCS`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Double => "double",
            Self::Key => "key",
            Self::Pattern => "pattern",
            Self::UnixTime => "unix-time",
            Self::PureToken => "pure-token",
            Self::OneOf => "oneof",
            Self::Block => "block",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "string" => Self::String,
            "int" => Self::Integer,
            "double" => Self::Double,
            "key" => Self::Key,
            "pattern" => Self::Pattern,
            "unix-time" => Self::UnixTime,
            _ => return None,
        })
    }
}

impl Arg<'_> {
    /// The `display_text` of `COMMAND DOCS`: one-ofs and blocks have none.
    #[must_use]
    pub fn display_text(&self) -> Option<&str> {
        match self.kind {
            ArgKind::OneOf | ArgKind::Block => None,
            _ => Some(self.display.unwrap_or(&self.name)),
        }
    }
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.at)
    }
}

impl std::error::Error for SyntaxError {}

/// Reads a line of the notation above.
///
/// # Errors
/// The line does not follow the grammar.
pub fn parse(line: &str) -> Result<Vec<Arg<'_>>, SyntaxError> {
    let mut parser = Parser { line, at: 0, keys: 0, depth: 0 };
    let args = parser.line()?;
    if parser.at == line.len() { Ok(args) } else { Err(parser.expected("a space or the end")) }
}

/// Recursive descent over the line; `at` is always at a character boundary, because only ASCII is stepped over singly.
struct Parser<'a> {
    line: &'a str,
    at: usize,
    /// Keys seen so far: the next one's default key spec.
    keys: u32,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn expected(&self, expected: &'static str) -> SyntaxError {
        SyntaxError { at: self.at, expected }
    }

    fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    /// Steps over `text` if it stands here.
    fn eat(&mut self, text: &str) -> bool {
        let found = self.line[self.at..].starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Steps over the longest run of bytes that `belongs`, which must accept ASCII only.
    fn run(&mut self, belongs: fn(u8) -> bool) -> &'a str {
        let rest = &self.line[self.at..];
        let len = rest.bytes().take_while(|&b| belongs(b)).count();
        self.at += len;
        &rest[..len]
    }

    fn line(&mut self) -> Result<Vec<Arg<'a>>, SyntaxError> {
        let mut args = Vec::new();
        while !matches!(self.peek(), None | Some(b'}')) {
            if !args.is_empty() && !self.eat(" ") {
                return Err(self.expected("a space"));
            }
            args.push(self.item()?);
        }
        Ok(args)
    }

    fn item(&mut self) -> Result<Arg<'a>, SyntaxError> {
        if !self.eat("[") {
            return self.body();
        }
        let mut arg = self.body()?;
        arg.optional = true;
        if self.eat("]") { Ok(arg) } else { Err(self.expected("`]`")) }
    }

    fn body(&mut self) -> Result<Arg<'a>, SyntaxError> {
        let token = self.token()?;
        let mut arg = match token {
            Some(token) => match self.after_token()? {
                Some(multiple_token) => {
                    Arg { multiple: multiple_token, multiple_token, ..self.value(Some(token))? }
                }
                None => plain(Cow::Owned(token.to_ascii_lowercase()), ArgKind::PureToken, Some(token)),
            },
            None => self.value(None)?,
        };
        self.marks(&mut arg)?;
        Ok(arg)
    }

    /// After a token: None if it stands alone; otherwise steps up to the value and says whether the token is repeated.
    fn after_token(&mut self) -> Result<Option<bool>, SyntaxError> {
        let start = self.at;
        let repeated = self.eat("...");
        if self.eat(" ") && self.peek().is_some_and(|b| b.is_ascii_lowercase()) && !self.is_named_token() {
            return Ok(Some(repeated));
        }
        if repeated {
            return Err(self.expected("the value of a repeated token"));
        }
        self.at = start;
        Ok(None)
    }

    /// `name=TOKEN` stands here: an argument of its own, not the value of the token before it.
    fn is_named_token(&self) -> bool {
        let rest = &self.line.as_bytes()[self.at..];
        rest.iter().find(|b| !is_name_byte(**b)) == Some(&b'=')
    }

    fn token(&mut self) -> Result<Option<&'a str>, SyntaxError> {
        match self.peek() {
            Some(b'\'') => {
                let rest = &self.line[self.at + 1..];
                let len = rest.find('\'').ok_or_else(|| self.expected("a closing `'`"))?;
                self.at += len + 2;
                Ok(Some(&rest[..len]))
            }
            Some(b'A'..=b'Z') => Ok(Some(
                self.run(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_')),
            )),
            _ => Ok(None),
        }
    }

    /// A name with its shape, after `token`; or, without one, `name=TOKEN`.
    fn value(&mut self, token: Option<&'a str>) -> Result<Arg<'a>, SyntaxError> {
        if !self.peek().is_some_and(|b| b.is_ascii_lowercase()) {
            return Err(self.expected("a token or a name"));
        }
        let name = self.run(is_name_byte);
        if token.is_none() && self.eat("=") {
            let word = self.token()?.ok_or_else(|| self.expected("a token"))?;
            return Ok(plain(Cow::Borrowed(name), ArgKind::PureToken, Some(word)));
        }
        let mut arg =
            plain(Cow::Borrowed(name), if name == "key" { ArgKind::Key } else { ArgKind::String }, token);
        if self.eat(":") {
            let at = self.at;
            arg.kind = ArgKind::of_word(self.run(is_name_byte))
                .ok_or(SyntaxError { at, expected: "string, int, double, key, pattern or unix-time" })?;
        } else if self.eat("(") {
            arg.kind = ArgKind::OneOf;
            arg.children = self.nested(Self::alternatives)?;
        } else if self.eat("{") {
            arg.kind = ArgKind::Block;
            arg.children = self.nested(Self::parts)?;
        }
        self.key_spec_index(&mut arg)?;
        Ok(arg)
    }

    fn nested(
        &mut self,
        children: fn(&mut Self) -> Result<Vec<Arg<'a>>, SyntaxError>,
    ) -> Result<Vec<Arg<'a>>, SyntaxError> {
        if self.depth == DEPTH_MAX {
            return Err(self.expected("fewer levels"));
        }
        self.depth += 1;
        let args = children(self)?;
        self.depth -= 1;
        Ok(args)
    }

    fn alternatives(&mut self) -> Result<Vec<Arg<'a>>, SyntaxError> {
        let mut args = vec![self.item()?];
        while self.eat("|") {
            args.push(self.item()?);
        }
        if self.eat(")") { Ok(args) } else { Err(self.expected("`|` or `)`")) }
    }

    fn parts(&mut self) -> Result<Vec<Arg<'a>>, SyntaxError> {
        let args = self.line()?;
        if self.eat("}") { Ok(args) } else { Err(self.expected("`}`")) }
    }

    fn key_spec_index(&mut self, arg: &mut Arg<'a>) -> Result<(), SyntaxError> {
        if arg.kind == ArgKind::Key {
            arg.key_spec_index = Some(self.keys);
            self.keys += 1;
        }
        if self.eat("#") {
            arg.key_spec_index = match self.eat("-") {
                true => None,
                false => {
                    let at = self.at;
                    let index = self.run(|b| b.is_ascii_digit()).parse();
                    Some(index.map_err(|_| SyntaxError { at, expected: "a key spec's index or `-`" })?)
                }
            };
        }
        Ok(())
    }

    fn marks(&mut self, arg: &mut Arg<'a>) -> Result<(), SyntaxError> {
        if self.eat("\"") {
            let rest = &self.line[self.at..];
            let len = rest.find('"').ok_or_else(|| self.expected("a closing `\"`"))?;
            self.at += len + 1;
            arg.display = Some(&rest[..len]);
        }
        if self.eat("...") {
            if arg.multiple_token {
                return Err(self.expected("`...` only once"));
            }
            arg.multiple = true;
        }
        if self.eat("@") {
            arg.since = Some(self.version()?);
        }
        if self.eat("!") {
            arg.deprecated_since = Some(self.version()?);
        }
        Ok(())
    }

    fn version(&mut self) -> Result<&'a str, SyntaxError> {
        let version = self.run(|b| b.is_ascii_digit() || b == b'.');
        if version.is_empty() { Err(self.expected("a version")) } else { Ok(version) }
    }
}

fn is_name_byte(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'
}

fn plain<'a>(name: Cow<'a, str>, kind: ArgKind, token: Option<&'a str>) -> Arg<'a> {
    Arg {
        name,
        kind,
        token,
        display: None,
        key_spec_index: None,
        since: None,
        deprecated_since: None,
        optional: false,
        multiple: false,
        multiple_token: false,
        children: Vec::new(),
    }
}

/// The arguments as a line for people, in the manner of `redis-cli`'s help:
/// `key value [NX | XX] [GET] [EX seconds | PX milliseconds | KEEPTTL]`.
///
/// Optional arguments stand in `[…]`, a required choice in `<…>`, and what can be repeated is shown as `x [x ...]`.
#[must_use]
pub fn synopsis(args: &[Arg<'_>]) -> String {
    joined(args, " ")
}

fn joined(args: &[Arg<'_>], separator: &str) -> String {
    args.iter().map(shown).collect::<Vec<_>>().join(separator)
}

fn shown(arg: &Arg<'_>) -> String {
    let value = match arg.kind {
        ArgKind::PureToken => quoted(arg.token.unwrap_or_default()),
        ArgKind::Block => joined(&arg.children, " "),
        // Square brackets around the whole separate the alternatives already, unless a token or a repetition interferes.
        ArgKind::OneOf if arg.optional && arg.token.is_none() && !arg.multiple => alternatives(arg),
        ArgKind::OneOf => format!("<{}>", alternatives(arg)),
        _ => arg.display.unwrap_or(&arg.name).to_owned(),
    };
    let with_token = match arg.token {
        Some(token) if arg.kind != ArgKind::PureToken => format!("{} {value}", quoted(token)),
        _ => value.clone(),
    };
    let repeated = match (arg.multiple, arg.multiple_token) {
        (false, _) => with_token,
        (true, true) => format!("{with_token} [{with_token} ...]"),
        (true, false) => format!("{with_token} [{value} ...]"),
    };
    if arg.optional { format!("[{repeated}]") } else { repeated }
}

/// Alternatives that are optional in themselves lose their brackets: the choice says as much.
fn alternatives(arg: &Arg<'_>) -> String {
    let each = arg.children.iter().map(|child| shown(&Arg { optional: false, ..child.clone() }));
    each.collect::<Vec<_>>().join(" | ")
}

/// An empty token must be visible.
fn quoted(token: &str) -> String {
    if token.is_empty() { "\"\"".to_owned() } else { token.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn one(line: &str) -> Arg<'_> {
        let mut args = parse(line).unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(args.len(), 1, "{line}");
        args.remove(0)
    }

    fn shows(line: &str) -> String {
        synopsis(&parse(line).unwrap_or_else(|e| panic!("{line}: {e}")))
    }

    #[test]
    fn plain_values() {
        assert_eq!(parse("").unwrap(), []);
        assert_eq!(one("value"), plain("value".into(), ArgKind::String, None));
        assert_eq!(one("count:int").kind, ArgKind::Integer);
        assert_eq!(one("at:unix-time").kind, ArgKind::UnixTime);
        let key = one("key");
        assert_eq!((key.kind, key.key_spec_index), (ArgKind::Key, Some(0)));
        assert_eq!(one("key:string").kind, ArgKind::String);
        assert_eq!(one("key:string").key_spec_index, None);
        let addr = one("[ADDR addr\"ip:port\"...@6.2.0!7.0.0]");
        assert_eq!((addr.token, addr.display), (Some("ADDR"), Some("ip:port")));
        assert_eq!((addr.since, addr.deprecated_since), (Some("6.2.0"), Some("7.0.0")));
        assert!(addr.optional && addr.multiple && !addr.multiple_token);
        assert_eq!(addr.display_text(), Some("ip:port"));
    }

    #[test]
    fn key_spec_indexes_count_up_unless_given() {
        let args = parse("destination:key source:key key...").unwrap();
        assert_eq!(args.iter().map(|a| a.key_spec_index).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
        let args = parse("key [BY by-pattern\"pattern\":pattern]");
        assert_eq!(args.unwrap_err().expected, "`]`", "marks come after the shape");
        let args = parse("key [BY by-pattern:pattern#1\"pattern\"] key#7 key#-").unwrap();
        assert_eq!(
            args.iter().map(|a| a.key_spec_index).collect::<Vec<_>>(),
            [Some(0), Some(1), Some(7), None]
        );
    }

    #[test]
    fn tokens() {
        let nx = one("NX");
        assert_eq!((nx.name.as_ref(), nx.token, nx.kind), ("nx", Some("NX"), ArgKind::PureToken));
        let change = one("[change=CH@3.0.2]");
        assert_eq!((change.name.as_ref(), change.token, change.since), ("change", Some("CH"), Some("3.0.2")));
        assert_eq!(one("equal='='").token, Some("="));
        assert_eq!(one("empty=''").token, Some(""));
        assert_eq!(one("LIB-NAME libname").token, Some("LIB-NAME"));
        let args = parse("FULL [COUNT count:int] REV on=ON LIMIT limit{offset:int count:int}").unwrap();
        let seen: Vec<_> = args.iter().map(|a| (a.name.as_ref(), a.token, a.kind)).collect();
        assert_eq!(
            seen,
            [
                ("full", Some("FULL"), ArgKind::PureToken),
                ("count", Some("COUNT"), ArgKind::Integer),
                ("rev", Some("REV"), ArgKind::PureToken),
                ("on", Some("ON"), ArgKind::PureToken),
                ("limit", Some("LIMIT"), ArgKind::Block),
            ]
        );
        let get = one("[GET... pattern:pattern]");
        assert!(get.multiple && get.multiple_token && get.optional);
    }

    #[test]
    fn nesting() {
        let arg = one("op(GET get{encoding offset:int}|write{[OVERFLOW mode(WRAP|SAT)] what(A|B)})...@1.0.0");
        assert_eq!((arg.kind, arg.children.len(), arg.multiple), (ArgKind::OneOf, 2, true));
        assert_eq!(arg.display_text(), None);
        let write = &arg.children[1];
        assert_eq!((write.kind, write.children.len()), (ArgKind::Block, 2));
        assert_eq!(write.children[0].children[1].token, Some("SAT"));
    }

    #[test]
    fn refused() {
        for (line, at) in [
            (" key", 0),
            ("key  value", 4),
            ("key ", 4),
            ("[key", 4),
            ("a(b|)", 4),
            ("a(b", 3),
            ("a{b", 3),
            ("a}", 1),
            ("a:integer", 2),
            ("key#x", 4),
            ("key#99999999999", 4),
            ("name='x", 5),
            ("a\"x", 2),
            ("a@", 2),
            ("GET... ", 7),
            ("GET... a...", 11),
            ("schlüssel", 4),
            ("[[a]]", 1),
        ] {
            assert_eq!(parse(line).expect_err(line).at, at, "{line}");
        }
        let deep = "a{".repeat(100_000);
        assert_eq!(parse(&deep).unwrap_err().expected, "fewer levels");
    }

    #[test]
    fn lines_for_people() {
        assert_eq!(
            shows("key value [condition(NX|XX)] [GET@6.2.0] [expiration(EX seconds:int|KEEPTTL)]"),
            "key value [NX | XX] [GET] [EX seconds | KEEPTTL]"
        );
        assert_eq!(shows("key LEFT [key...]"), "key LEFT [key [key ...]]");
        assert_eq!(shows("[GET... get-pattern:pattern\"pattern\"]"), "[GET pattern [GET pattern ...]]");
        assert_eq!(
            shows("[AGGREGATE aggregate(SUM|MIN)] where(LEFT|RIGHT)"),
            "[AGGREGATE <SUM | MIN>] <LEFT | RIGHT>"
        );
        assert_eq!(shows("data{score:double member}..."), "score member [score member ...]");
        assert_eq!(shows("[WEIGHTS weight:int...]"), "[WEIGHTS weight [weight ...]]");
        assert_eq!(shows("a([ID id]|[USER user])..."), "<ID id | USER user> [<ID id | USER user> ...]");
        assert_eq!(shows("selector(key|empty='')"), "<key | \"\">");
    }

    // A naive printer of trees and random trees: what it prints must be read back as the same tree.

    const WORDS: [&str; 6] = ["GET", "LIB-NAME", "=", "", "~", "A1"];
    const NAMES: [&str; 5] = ["key", "value", "a-b", "x9", "condition"];

    fn print(args: &[Arg<'_>], separator: &str, out: &mut String) {
        for (i, arg) in args.iter().enumerate() {
            out.push_str(if i == 0 { "" } else { separator });
            out.push_str(if arg.optional { "[" } else { "" });
            if arg.kind == ArgKind::PureToken {
                out.push_str(&format!("{}='{}'", arg.name, arg.token.unwrap()));
            } else {
                if let Some(token) = arg.token {
                    out.push_str(&format!("'{token}'{} ", if arg.multiple_token { "..." } else { "" }));
                }
                out.push_str(&arg.name);
                match arg.kind {
                    ArgKind::OneOf | ArgKind::Block => {
                        let (open, mid, close) =
                            if arg.kind == ArgKind::OneOf { ('(', "|", ')') } else { ('{', " ", '}') };
                        out.push(open);
                        print(&arg.children, mid, out);
                        out.push(close);
                    }
                    ArgKind::Integer => out.push_str(":int"),
                    kind => out.push_str(&format!(":{}", kind.name())),
                }
                out.push_str(&arg.key_spec_index.map_or("#-".into(), |i| format!("#{i}")));
            }
            if let Some(text) = arg.display {
                out.push_str(&format!("\"{text}\""));
            }
            out.push_str(if arg.multiple && !arg.multiple_token { "..." } else { "" });
            for (mark, version) in [('@', arg.since), ('!', arg.deprecated_since)] {
                out.push_str(&version.map_or(String::new(), |v| format!("{mark}{v}")));
            }
            out.push_str(if arg.optional { "]" } else { "" });
        }
    }

    fn random_arg(rng: &mut crate::base::Rand, depth: usize) -> Arg<'static> {
        use ArgKind::*;
        let kinds = [String, Integer, Double, Key, Pattern, UnixTime, PureToken, OneOf, Block];
        let kind = kinds[rng.random_range(0..if depth == 0 { 7 } else { 9 })];
        let nested = matches!(kind, OneOf | Block);
        let token = (kind == PureToken || rng.random()).then(|| WORDS[rng.random_range(0..WORDS.len())]);
        let multiple = kind != PureToken && rng.random();
        Arg {
            name: NAMES[rng.random_range(0..NAMES.len())].into(),
            kind,
            token,
            display: rng.random::<bool>().then_some("ip:port"),
            key_spec_index: (kind != PureToken && rng.random()).then(|| rng.random_range(0..3)),
            since: rng.random::<bool>().then_some("7.2.0"),
            deprecated_since: rng.random::<bool>().then_some("2.8.12"),
            optional: rng.random(),
            multiple,
            multiple_token: multiple && token.is_some() && rng.random(),
            children: if nested { random_args(rng, depth - 1, 1) } else { Vec::new() },
        }
    }

    fn random_args(rng: &mut crate::base::Rand, depth: usize, least: usize) -> Vec<Arg<'static>> {
        (0..rng.random_range(least..5)).map(|_| random_arg(rng, depth)).collect()
    }

    #[test]
    fn model_random_trees_are_read_back() {
        for seed in 0..3000 {
            let rng = &mut crate::base::Rand::seed_from_u64(seed);
            let args = random_args(rng, 3, 0);
            let mut line = String::new();
            print(&args, " ", &mut line);
            assert_eq!(parse(&line).as_ref(), Ok(&args), "seed {seed}: {line}");
        }
    }

    #[test]
    fn model_random_damage_never_panics() {
        for seed in 0..3000 {
            let rng = &mut crate::base::Rand::seed_from_u64(seed);
            let mut line = String::new();
            print(&random_args(rng, 2, 1), " ", &mut line);
            let mut chars: Vec<char> = line.chars().collect();
            for _ in 0..3 {
                let at = rng.random_range(0..chars.len());
                chars[at] =
                    ['[', ']', '{', '|', ')', ' ', '.', '\'', '"', 'é', '#', '@'][rng.random_range(0..12)];
            }
            let line: String = chars.into_iter().collect();
            if let Ok(args) = parse(&line) {
                assert!(!synopsis(&args).is_empty(), "seed {seed}: {line}");
            }
        }
    }
}
