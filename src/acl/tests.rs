//! Users, selectors and files over a small made-up registry.

use rand::{Rng, SeedableRng};

use super::rules::{RuleContext, RuleError};
use super::selector::Selector;
use super::user::User;
use super::{Denial, Reason, Users};
use crate::base::Rand;
use crate::cmd::registry::Registry;
use crate::cmd::spec::{Acl, CommandSpec, Flags, KeyFlags, KeySpec};

const fn sub(name: &'static str, flags: Flags) -> CommandSpec<()> {
    CommandSpec { name, arity: -2, flags, handler: Some(()), ..CommandSpec::DEFAULT }
}

const fn row(name: &'static str, flags: Flags, acl: Acl, keys: &'static [KeySpec]) -> CommandSpec<()> {
    CommandSpec { name, arity: -1, flags, acl, keys, handler: Some(()), ..CommandSpec::DEFAULT }
}

const SPECS: &[CommandSpec<()>] = &[
    row("get", Flags::READONLY.or(Flags::FAST), Acl::STRING, KeySpec::READ),
    row(
        "set",
        Flags::WRITE,
        Acl::STRING,
        &[KeySpec::one(KeyFlags::RW_ACCESS_UPDATE.or(KeyFlags::VARIABLE_FLAGS))],
    ),
    row("mget", Flags::READONLY, Acl::STRING, &[KeySpec::one(KeyFlags::RO_ACCESS).to(-1)]),
    row("exists", Flags::READONLY, Acl::KEYSPACE, KeySpec::STAT),
    row("lpush", Flags::WRITE.or(Flags::FAST), Acl::LIST, KeySpec::INSERT),
    row(
        "copy",
        Flags::WRITE,
        Acl::KEYSPACE,
        &[KeySpec::one(KeyFlags::RO_ACCESS), KeySpec::one(KeyFlags::OW_UPDATE).at(2)],
    ),
    row(
        "sort",
        Flags::WRITE,
        Acl::LIST,
        &[
            KeySpec::one(KeyFlags::RO_ACCESS),
            KeySpec::unknown(KeyFlags::RO_ACCESS),
            KeySpec::unknown(KeyFlags::OW_UPDATE),
        ],
    ),
    row("select", Flags::FAST, Acl::CONNECTION, &[]),
    row("auth", Flags::NO_AUTH, Acl::CONNECTION, &[]),
    row("publish", Flags::PUBSUB.or(Flags::FAST), Acl::NONE, &[]),
    row("psubscribe", Flags::PUBSUB, Acl::NONE, &[]),
    CommandSpec {
        name: "config",
        arity: -2,
        subcommands: &[sub("get", Flags::ADMIN), sub("set", Flags::ADMIN), sub("help", Flags::LOADING)],
        ..CommandSpec::DEFAULT
    },
];

fn registry() -> Registry {
    Registry::new::<()>(&[], &[SPECS]).0
}

fn context(registry: &Registry) -> RuleContext<'_> {
    RuleContext { registry, all_channels: false }
}

fn set(users: &mut Users, registry: &Registry, line: &str) -> Result<(), String> {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let done = users.set(words[0], &words[1..], context(registry));
    done.map(|_| ()).map_err(|text| String::from_utf8(text).expect("ascii"))
}

/// The user `u` made by rules.
fn user(registry: &Registry, rules: &str) -> User {
    let mut users = Users::new(registry);
    set(&mut users, registry, &format!("u {rules}")).expect("good rules");
    users.get(b"u").expect("the user").clone()
}

/// `ok`, or the reason and the place of a denial.
fn check(registry: &Registry, user: &User, line: &str) -> String {
    let args: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let command = registry.get(registry.resolve(&args).expect("a known command"));
    match user.check(command, &args) {
        Ok(_) => "ok".to_owned(),
        Err(Denial { reason, arg }) => format!("{}@{arg}", reason.word()),
    }
}

#[test]
fn commands_are_allowed_by_rules() {
    let registry = registry();
    for (rules, allowed, denied) in [
        ("+@all ~*", "get k|config get|config set|select 1", ""),
        ("~*", "auth x", "get k|config get|publish a b"),
        ("~* +get -GET", "", "get k"),
        ("~* +@string -set", "get k|mget a b", "set k v|lpush k v"),
        ("~* +@all -@write", "get k|config get", "set k v|lpush k v"),
        ("+config -config|set", "config get|config help", "config set"),
        ("+config|get", "config get", "config set|config"),
        ("+config|get +@admin", "config get|config set", "config help"),
        ("+@admin -config", "", "config get|config set"),
        // The container is slow, and takes its sub-commands along.
        ("+@slow", "config get|config help", "select 0"),
        ("+select|0 +select|b", "select 0|select B|select b x", "select 1|select"),
        ("+select|0 -select", "", "select 0"),
        ("+select|0 -@connection", "", "select 0"),
        ("+@all -select +select|3", "select 3", "select 4"),
    ] {
        let user = user(&registry, rules);
        for line in allowed.split('|').filter(|line| !line.is_empty()) {
            assert_eq!(check(&registry, &user, line), "ok", "{rules}: {line}");
        }
        for line in denied.split('|').filter(|line| !line.is_empty()) {
            assert_eq!(check(&registry, &user, line), "command@0", "{rules}: {line}");
        }
    }
}

#[test]
fn keys_are_allowed_by_what_happens_to_them() {
    let registry = registry();
    for (rules, line, want) in [
        ("+@all %R~r*", "get r1", "ok"),
        ("+@all %R~r*", "get w1", "key@1"),
        ("+@all %R~r*", "set r1 v", "key@1"),
        ("+@all %W~w*", "set w1 v", "ok"),
        ("+@all %W~w*", "set w1 v get", "key@1"),
        ("+@all %RW~w*", "set w1 v get", "ok"),
        ("+@all %R~w* %w~w*", "set w1 v get", "ok"),
        ("+@all %W~w*", "lpush w1 v", "ok"),
        ("+@all %W~w*", "exists w1", "ok"),
        ("+@all %R~r* %W~w*", "copy r w", "ok"),
        ("+@all %R~r* %W~w*", "copy w r", "key@1"),
        ("+@all %R~r* %W~w*", "copy r r", "key@2"),
        ("+@all (+@all %R~r*) (+@all %W~w*)", "copy r w", "key@2"),
        ("+@all ~a ~b", "mget a b", "ok"),
        ("+@all ~a ~b", "mget a c b", "key@2"),
        ("+@all ~a*b", "get a/b", "ok"),
        ("+@all", "get a", "key@1"),
        ("+@all ~a", "get", "ok"),
        ("+@all %R~r %W~w", "sort r by x store w", "ok"),
        ("+@all %R~r %W~w", "sort r get store", "ok"),
        ("+@all %R~r %W~w", "sort r store w store r", "key@5"),
        // The denial that came furthest is told.
        ("~a (+get ~b)", "get c", "key@1"),
        ("+mget ~a (+mget ~a ~b)", "mget b c", "key@2"),
        ("+mget ~a (+mget ~a ~b)", "mget a b c", "key@3"),
        ("+get", "lpush a b", "command@0"),
    ] {
        assert_eq!(check(&registry, &user(&registry, rules), line), want, "{rules}: {line}");
    }
}

#[test]
fn channels_are_allowed_by_pattern_and_patterns_by_name() {
    let registry = registry();
    for (rules, line, want) in [
        ("+@pubsub", "publish a m", "channel@1"),
        ("+@pubsub &*", "publish a m", "ok"),
        ("+@pubsub allchannels", "psubscribe a*", "ok"),
        ("+@pubsub &a:*", "publish a:1 b", "ok"),
        ("+@pubsub &a:*", "psubscribe a:1", "channel@1"),
        ("+@pubsub &a:* &b", "psubscribe a:* b", "ok"),
        ("+@pubsub &a:* &b", "psubscribe a:* *", "channel@2"),
    ] {
        assert_eq!(check(&registry, &user(&registry, rules), line), want, "{rules}: {line}");
    }
    let other = user(&registry, "+@pubsub &a:* (&b)");
    assert!(other.uses_channel(b"a:1", false) && other.uses_channel(b"b", true));
    assert!(!other.uses_channel(b"a:1", true) && !other.uses_channel(b"c", false));
}

#[test]
fn hidden_keys_need_the_right_to_read_all() {
    let registry = registry();
    let sort = registry.get(registry.find(b"sort").expect("sort"));
    for (rules, want) in [
        ("+@all ~*", true),
        ("+@all ~k %R~*", true),
        ("+@all ~k", false),
        ("+@all ~k %W~*", false),
        ("(+sort ~k) (+sort ~k %R~*)", true),
        ("(+sort ~k) (+get ~*)", false),
    ] {
        let permit = user(&registry, rules).check(sort, &[b"sort", b"k"]).expect("allowed");
        assert_eq!(permit.reads_all_keys, want, "{rules}");
    }
}

#[test]
fn users_are_printed_as_rules() {
    let registry = registry();
    let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    for (rules, want) in [
        ("reset", "off sanitize-payload resetchannels -@all"),
        ("on nopass ~* &* +@all", "on nopass sanitize-payload ~* &* +@all"),
        ("on >test skip-sanitize-payload", &format!("on skip-sanitize-payload #{hash} resetchannels -@all")),
        (&format!("nopass #{hash} >test !{hash}"), "off sanitize-payload resetchannels -@all"),
        ("%R~a %W~a %W~b %rw~c &x &x &y", "off sanitize-payload ~a %W~b ~c resetchannels &x &y -@all"),
        ("+@all -@string -@slow +GET", "off sanitize-payload resetchannels +@all -@string -@slow +get"),
        ("+@all -@string +get -@STRING", "off sanitize-payload resetchannels +@all +get -@string"),
        ("+config|get -config|set +config", "off sanitize-payload resetchannels -@all +config"),
        ("+config -config|set", "off sanitize-payload resetchannels -@all +config -config|set"),
        ("+select|0 +select|1 +Select|0", "off sanitize-payload resetchannels -@all +select|1 +select|0"),
        ("+select|0 +select|1 -select", "off sanitize-payload resetchannels -@all -select"),
        (
            "+get (~a +set) ( &c )",
            "off sanitize-payload resetchannels -@all +get (~a resetchannels -@all +set) (resetchannels &c -@all)",
        ),
        ("(~a) clearselectors ()", "off sanitize-payload resetchannels -@all (resetchannels -@all)"),
        ("~x ~* resetkeys ~y", "off sanitize-payload ~y resetchannels -@all"),
    ] {
        let printed = user(&registry, rules).describe();
        assert_eq!(String::from_utf8(printed).expect("ascii"), want, "{rules}");
    }
}

#[test]
fn bad_rules_change_nothing_and_are_named() {
    let registry = registry();
    let mut users = Users::new(&registry);
    for (line, want) in [
        ("u on +nosuch", "Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL"),
        ("u on -get|x", "Error in ACL SETUSER modifier '-get|x': Unknown command or category name in ACL"),
        ("u on +@x", "Error in ACL SETUSER modifier '+@x': Unknown command or category name in ACL"),
        (
            "u on +config|x",
            "Error in ACL SETUSER modifier '+config|x': Unknown command or category name in ACL",
        ),
        (
            "u on +get|a|b",
            "Error in ACL SETUSER modifier '+get|a|b': Unknown command or category name in ACL",
        ),
        (
            "u on +config|get|a",
            "Error in ACL SETUSER modifier '+config|get|a': Allowing first-arg of a subcommand is not supported",
        ),
        ("u on +select|", "Error in ACL SETUSER modifier '+select|': Syntax error"),
        ("u on foo", "Error in ACL SETUSER modifier 'foo': Syntax error"),
        ("u on %X~a", "Error in ACL SETUSER modifier '%X~a': Syntax error"),
        ("u on %RR~a", "Error in ACL SETUSER modifier '%RR~a': Syntax error"),
        ("u on ~a\tb", "Error in ACL SETUSER modifier '~a\tb': Syntax error"),
        ("u on )", "Error in ACL SETUSER modifier ')': Syntax error"),
        ("u on (on)", "Error in ACL SETUSER modifier '(on)': Syntax error"),
        ("u on ( ~a", "Unmatched parenthesis in acl selector starting at '('."),
        (
            "u on <x",
            "Error in ACL SETUSER modifier '<x': The password you are trying to remove from the user does not exist",
        ),
    ] {
        assert_eq!(set(&mut users, &registry, line), Err(want.to_owned()));
        assert!(users.get(b"u").is_none(), "{line}");
    }
    let bad = |rule: &str| {
        let mut user = User::new(context(&registry));
        user.apply(b"~*", context(&registry)).expect("good");
        user.apply(b"&*", context(&registry)).expect("good");
        user.apply(rule.as_bytes(), context(&registry)).expect_err("bad")
    };
    assert_eq!(bad("~a"), RuleError::KeysAfterAll);
    assert_eq!(bad("%R~a"), RuleError::KeysAfterAll);
    assert_eq!(bad("&a"), RuleError::ChannelsAfterAll);
    assert_eq!(bad("#12"), RuleError::BadHash);
    assert_eq!(bad(&format!("#{}", "G".repeat(64))), RuleError::BadHash);
}

#[test]
fn passwords_let_in() {
    let registry = registry();
    let mut users = Users::new(&registry);
    assert!(users.fit(b"default", b"anything") && !users.fit(b"nobody", b"") && !users.login_required());
    set(&mut users, &registry, "u >one >two").expect("good");
    assert!(!users.fit(b"u", b"one"), "it is off");
    set(&mut users, &registry, "u on").expect("good");
    assert!(users.fit(b"u", b"one") && users.fit(b"u", b"two") && !users.fit(b"u", b"three"));
    set(&mut users, &registry, "u <one").expect("good");
    assert!(!users.fit(b"u", b"one") && users.fit(b"u", b"two"));
    set(&mut users, &registry, "u resetpass").expect("good");
    assert!(!users.fit(b"u", b"two") && !users.fit(b"u", b""));
    users.set_default_password(b"a\0b");
    assert!(users.login_required() && users.fit(b"default", b"a\0b") && !users.fit(b"default", b"a"));
    users.set_default_password(b"");
    assert!(!users.login_required());
    set(&mut users, &registry, "default off").expect("good");
    assert!(users.login_required());
    assert!(!users.remove(b"default") && users.remove(b"u") && !users.remove(b"u"));
}

#[test]
fn channels_are_revoked_only_if_a_rule_is_gone() {
    let registry = registry();
    let revoked = |old: &str, new: &str| {
        user(&registry, new).revoked_channels(&user(&registry, old)).map(|left| {
            [("a", false), ("b:1", false), ("b:*", true)].map(|(c, p)| left.allows(c.as_bytes(), p))
        })
    };
    assert_eq!(revoked("&a &b:*", "&b:* &a &c"), None);
    assert_eq!(revoked("&*", "(&*)"), None);
    assert_eq!(revoked("&a", "&*"), None);
    assert_eq!(revoked("&*", "&a"), Some([true, false, false]));
    assert_eq!(revoked("&a &b:*", "(&b:*)"), Some([false, true, true]));
    assert_eq!(revoked("&b:*", "&b:?"), Some([false, true, false]));
}

#[test]
fn files_are_all_or_nothing() {
    let registry = registry();
    let load = |text: &str| {
        Users::from_file(b"f", text.as_bytes(), context(&registry))
            .map(|users| users.lines().map(|line| String::from_utf8_lossy(&line).into_owned()).collect::<Vec<_>>())
            .map_err(|text| {
                let text = String::from_utf8(text).expect("ascii");
                let end = "WARNING: ACL errors detected, no change to the previously active ACL rules was performed";
                text.strip_suffix(end).expect("the common end").to_owned()
            })
    };
    let default = "user default on nopass sanitize-payload ~* &* +@all".to_owned();
    assert_eq!(load(""), Ok(vec![default.clone()]));
    let alice = "user alice on sanitize-payload resetchannels -@all (~a resetchannels -@all +get)".to_owned();
    assert_eq!(load(" user alice on ( ~a +get )\r\n\n"), Ok(vec![alice, default]));
    let own = "user default off sanitize-payload resetchannels -@all".to_owned();
    assert_eq!(load("user default"), Ok(vec![own]));
    for (text, want) in [
        ("# comment", "f:1 should start with user keyword followed by the username. "),
        ("\nuser", "f:2 should start with user keyword followed by the username. "),
        ("user a\tb on", "'f:1: username 'a\tb' contains invalid characters. "),
        ("user a\nuser a", "WARNING: Duplicate user 'a' found on line 2. "),
        ("user a (~x", "f:1: Unmatched parenthesis in selector definition."),
        (
            "user a on +x +@y foo bar\nuser b +z",
            "f:1: Error in applying operation '+x': Unknown command or category name in ACL. f:1: Error in applying \
             operation '+@y': Unknown command or category name in ACL. f:1: Syntax error. f:2: Error in applying \
             operation '+z': Unknown command or category name in ACL. ",
        ),
    ] {
        assert_eq!(load(text), Err(want.to_owned()), "{text}");
    }
}

/// Random rules against a list of what each command may do, and each result printed and read back.
#[test]
fn random_rules_as_a_plain_list() {
    let registry = registry();
    let context = context(&registry);
    let names: Vec<&str> = registry.iter().map(|(_, command)| command.full_name.as_str()).collect();
    for seed in 0..300 {
        let mut rng = Rand::seed_from_u64(seed);
        let mut selector = Selector::new(context);
        let mut allowed = vec![false; names.len()];
        for step in 0..rng.random_range(1..30) {
            let allow = rng.random_bool(0.5);
            let sign = if allow { '+' } else { '-' };
            let rule = match rng.random_range(0..8) {
                0 => format!("{sign}@all"),
                1..3 => format!("{sign}@{}", Acl::WORDS[rng.random_range(0..Acl::WORDS.len())].1),
                _ => format!("{sign}{}", names[rng.random_range(0..names.len())]),
            };
            for (index, command) in registry.iter() {
                let container = command.full_name.split('|').next().expect("a word");
                let meant = match &rule[1..] {
                    "@all" => true,
                    name => match name.strip_prefix('@') {
                        None => name == command.full_name || name == container,
                        Some(category) => {
                            let category = super::selector::category(category.as_bytes()).expect("known");
                            let top = registry.find(container.as_bytes()).expect("a command");
                            command.acl.any(category) || registry.get(top).acl.any(category)
                        }
                    },
                };
                if meant {
                    allowed[usize::from(index)] = allow;
                }
            }
            selector.apply(rule.as_bytes(), context).expect("a good rule");
            for (index, command) in registry.iter() {
                // Without arguments no keys are looked for.
                let runs = selector.check(command, &[], &mut Some(Vec::new())).is_ok();
                let want = allowed[usize::from(index)] || command.flags.any(Flags::NO_AUTH);
                assert_eq!(runs, want, "seed {seed}, step {step}, {rule}: {}", command.full_name);
            }
            let copy = Selector::parse(&selector.describe(), context).expect("its own rules");
            assert_eq!(copy.describe(), selector.describe(), "seed {seed}, step {step}, {rule}");
            for (_, command) in registry.iter() {
                let keys = &mut Some(Vec::new());
                let (a, b) = (copy.check(command, &[], keys), selector.check(command, &[], keys));
                assert_eq!(a, b, "seed {seed}, step {step}, {rule}: {} read back", command.full_name);
            }
        }
    }
}

#[test]
fn reasons_are_ranked() {
    assert!(Reason::Command < Reason::Key && Reason::Key < Reason::Channel);
}
