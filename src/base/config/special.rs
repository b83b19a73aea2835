//! How options that are more than one plain value are read and printed, and what a text option may contain. Touches
//! `base::num`.
//!
//! A `write_…` takes the arguments as they stand behind the option's name and leaves `Config` alone if it refuses them;
//! a `read_…` prints what CONFIG GET shows. The texts are Redis's.

use std::fmt::Write;

use super::notify;
use super::{Config, OutputLimit, Reason, SavePoint};
use crate::base::num::{parse_f64, parse_i64, parse_memory};

type Outcome = Result<(), Reason>;

/// Most addresses that `bind` takes.
const BIND_ADDRESSES_MAX: usize = 16;
/// The longest host name plus one, as in Redis.
const HOST_NAME_BYTES: usize = 256;
/// The highest permission bits of the Unix socket.
const PERMISSIONS_MAX: i64 = 0o777;

/// `shutdown-on-sig…`: write a dump first.
pub const SHUTDOWN_SAVE: u8 = 1;
/// `shutdown-on-sig…`: write no dump.
pub const SHUTDOWN_NOSAVE: u8 = 1 << 1;
/// `shutdown-on-sig…`: do not wait for replicas.
pub const SHUTDOWN_NOW: u8 = 1 << 2;
/// `shutdown-on-sig…`: stop even if the dump fails.
pub const SHUTDOWN_FORCE: u8 = 1 << 3;

const SHUTDOWN_WORDS: [(&str, u8); 5] = [
    ("default", 0),
    ("save", SHUTDOWN_SAVE),
    ("nosave", SHUTDOWN_NOSAVE),
    ("now", SHUTDOWN_NOW),
    ("force", SHUTDOWN_FORCE),
];

/// The only argument; the caller has checked that there is one unless the option takes several.
fn only<'a>(args: &[&'a [u8]]) -> Result<&'a [u8], Reason> {
    match args {
        [only] => Ok(only),
        _ => Err("wrong number of arguments".into()),
    }
}

fn is_empty(args: &[&[u8]]) -> bool {
    args.is_empty() || args == [b""]
}

/// A whole argument as C's `strtoll` reads it in base 10 or 8: spaces in front, a sign and leading zeros are allowed, an
/// empty text is 0, and what is too big becomes the biggest number.
fn integer(text: &[u8], base: u8) -> Option<i64> {
    if text.is_empty() {
        return Some(0);
    }
    let digits = text.trim_ascii_start();
    let (negative, digits) = match digits.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < base)?;
        let step = if negative { -i64::from(digit) } else { i64::from(digit) };
        value = value.saturating_mul(i64::from(base)).saturating_add(step);
    }
    Some(value)
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

pub(super) fn write_bind(config: &mut Config, args: &[&[u8]]) -> Outcome {
    if args.len() > BIND_ADDRESSES_MAX {
        return Err("Too many bind addresses specified.".into());
    }
    config.bind =
        if is_empty(args) { Vec::new() } else { args.iter().map(|address| lossy(address)).collect() };
    Ok(())
}

pub(super) fn read_bind(config: &Config) -> String {
    config.bind.join(" ")
}

pub(super) fn write_permissions(config: &mut Config, args: &[&[u8]]) -> Outcome {
    let bits = integer(only(args)?, 8).ok_or("argument couldn't be parsed as an octal number")?;
    if !(0..=PERMISSIONS_MAX).contains(&bits) {
        return Err(format!("argument must be between 0 and {PERMISSIONS_MAX:o} inclusive").into());
    }
    config.unixsocketperm = bits as u32;
    Ok(())
}

pub(super) fn read_permissions(config: &Config) -> String {
    format!("{:o}", config.unixsocketperm)
}

pub(super) fn write_client_memory(config: &mut Config, args: &[&[u8]]) -> Outcome {
    let text = only(args)?;
    let bytes_or_percent = match (parse_memory(text), text.strip_suffix(b"%").and_then(parse_i64)) {
        (Some(bytes), _) => i64::try_from(bytes).ok(),
        (None, Some(percent)) if percent >= 0 => {
            Some(percent).filter(|percent| *percent <= 100).map(|percent| -percent)
        }
        _ => return Err("argument must be a memory or percent value".into()),
    };
    config.maxmemory_clients = bytes_or_percent.ok_or("percentage argument must be less or equal to 100")?;
    Ok(())
}

pub(super) fn read_client_memory(config: &Config) -> String {
    match config.maxmemory_clients {
        percent if percent < 0 => format!("{}%", -percent),
        bytes => bytes.to_string(),
    }
}

pub(super) fn write_output_limits(config: &mut Config, args: &[&[u8]]) -> Outcome {
    if !args.len().is_multiple_of(4) {
        return Err("Wrong number of arguments in buffer limit configuration.".into());
    }
    let mut limits = config.client_output_buffer_limit;
    for class in args.chunks_exact(4) {
        let name = class[0].to_ascii_lowercase();
        let limit = match name.as_slice() {
            b"normal" => &mut limits.normal,
            b"slave" | b"replica" => &mut limits.replica,
            b"pubsub" => &mut limits.pubsub,
            _ => return Err("Invalid client class specified in buffer limit configuration.".into()),
        };
        *limit = output_limit(class[1], class[2], class[3])
            .ok_or("Error in hard, soft or soft_seconds setting in buffer limit configuration.")?;
    }
    config.client_output_buffer_limit = limits;
    Ok(())
}

fn output_limit(hard: &[u8], soft: &[u8], seconds: &[u8]) -> Option<OutputLimit> {
    let soft_seconds = integer(seconds, 10).filter(|seconds| *seconds >= 0)?;
    Some(OutputLimit { hard_bytes: parse_memory(hard)?, soft_bytes: parse_memory(soft)?, soft_seconds })
}

pub(super) fn read_output_limits(config: &Config) -> String {
    let limits = &config.client_output_buffer_limit;
    let classes = [("normal", limits.normal), ("slave", limits.replica), ("pubsub", limits.pubsub)];
    classes
        .map(|(class, limit)| {
            format!("{class} {} {} {}", limit.hard_bytes, limit.soft_bytes, limit.soft_seconds)
        })
        .join(" ")
}

pub(super) fn write_shutdown_on_sigint(config: &mut Config, args: &[&[u8]]) -> Outcome {
    config.shutdown_on_sigint = shutdown_bits(args)?;
    Ok(())
}

pub(super) fn write_shutdown_on_sigterm(config: &mut Config, args: &[&[u8]]) -> Outcome {
    config.shutdown_on_sigterm = shutdown_bits(args)?;
    Ok(())
}

fn shutdown_bits(args: &[&[u8]]) -> Result<u8, Reason> {
    let names = SHUTDOWN_WORDS.map(|(word, _)| word);
    if args.is_empty() {
        return Err(super::not_a_choice(&names));
    }
    let mut bits = 0;
    for arg in args {
        let at = super::find_choice(&names, arg).ok_or_else(|| super::not_a_choice(&names))?;
        bits |= SHUTDOWN_WORDS[at].1;
    }
    if bits & SHUTDOWN_SAVE != 0 && bits & SHUTDOWN_NOSAVE != 0 {
        return Err("shutdown options SAVE and NOSAVE can't be used simultaneously".into());
    }
    Ok(bits)
}

pub(super) fn read_shutdown_on_sigint(config: &Config) -> String {
    shutdown_words(config.shutdown_on_sigint)
}

pub(super) fn read_shutdown_on_sigterm(config: &Config) -> String {
    shutdown_words(config.shutdown_on_sigterm)
}

fn shutdown_words(bits: u8) -> String {
    let words = SHUTDOWN_WORDS.iter().filter(|(_, bit)| if bits == 0 { *bit == 0 } else { bits & bit != 0 });
    words.map(|(word, _)| *word).collect::<Vec<_>>().join(" ")
}

pub(super) fn write_oom_scores(config: &mut Config, args: &[&[u8]]) -> Outcome {
    if args.len() != config.oom_score_adj_values.len() {
        return Err("wrong number of arguments".into());
    }
    let mut values = config.oom_score_adj_values;
    for (value, arg) in values.iter_mut().zip(args) {
        let number = integer(arg, 10).filter(|number| (-2000..=2000).contains(number));
        *value =
            number.ok_or("Invalid oom-score-adj-values, elements must be between -2000 and 2000.")? as i32;
    }
    config.oom_score_adj_values = values;
    Ok(())
}

pub(super) fn read_oom_scores(config: &Config) -> String {
    config.oom_score_adj_values.map(|value| value.to_string()).join(" ")
}

pub(super) fn write_percentiles(config: &mut Config, args: &[&[u8]]) -> Outcome {
    let mut percentiles = Vec::new();
    for arg in if is_empty(args) { &[] } else { args } {
        let percentile = parse_f64(arg).ok_or("Invalid latency-tracking-info-percentiles parameters")?;
        if !(0.0..=100.0).contains(&percentile) {
            let text = "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]";
            return Err(text.into());
        }
        percentiles.push(percentile);
    }
    config.latency_tracking_info_percentiles = percentiles;
    Ok(())
}

pub(super) fn read_percentiles(config: &Config) -> String {
    let mut text = String::new();
    for percentile in &config.latency_tracking_info_percentiles {
        // Six decimals at most, as many as are needed.
        let _ = write!(text, "{percentile:.6}");
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
        text.push(' ');
    }
    text.pop();
    text
}

pub(super) fn write_notify(config: &mut Config, args: &[&[u8]]) -> Outcome {
    let events = notify::parse(only(args)?);
    config.notify_keyspace_events = events.ok_or("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")?;
    Ok(())
}

pub(super) fn read_notify(config: &Config) -> String {
    notify::letters(config.notify_keyspace_events)
}

pub(super) fn write_save(config: &mut Config, args: &[&[u8]]) -> Outcome {
    let args = if is_empty(args) { &[] } else { args };
    let mut points = Vec::new();
    for pair in args.chunks(2) {
        points.push(save_point(pair).ok_or("Invalid save parameters")?);
    }
    config.save = points;
    Ok(())
}

fn save_point(pair: &[&[u8]]) -> Option<SavePoint> {
    let [seconds, changes] = pair else { return None };
    let seconds = integer(seconds, 10).filter(|seconds| *seconds >= 1)?;
    let changes = integer(changes, 10).filter(|changes| *changes >= 0)?;
    Some(SavePoint { seconds, changes })
}

pub(super) fn read_save(config: &Config) -> String {
    let points = config.save.iter().map(|point| format!("{} {}", point.seconds, point.changes));
    points.collect::<Vec<_>>().join(" ")
}

pub(super) fn write_replicaof(config: &mut Config, args: &[&[u8]]) -> Outcome {
    let [host, port] = args else {
        return Err("wrong number of arguments".into());
    };
    if host.eq_ignore_ascii_case(b"no") && port.eq_ignore_ascii_case(b"one") {
        config.replicaof = None;
        return Ok(());
    }
    let port = integer(port, 10).and_then(|port| u16::try_from(port).ok()).ok_or("Invalid master port")?;
    config.replicaof = Some((lossy(host), port));
    Ok(())
}

pub(super) fn read_replicaof(config: &Config) -> String {
    config.replicaof.as_ref().map(|(host, port)| format!("{host} {port}")).unwrap_or_default()
}

/// What a text option makes of a text: fine, or why not.
type Verdict = Result<(), &'static str>;

fn is_path(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'/' | b'\\'))
}

pub(super) fn any_text(_: &[u8]) -> Verdict {
    Ok(())
}

/// The directory is entered by the server, not here; an empty one can be refused in the words of the system.
pub(super) fn directory(text: &[u8]) -> Verdict {
    if text.is_empty() { Err("No such file or directory") } else { Ok(()) }
}

pub(super) fn dump_file_name(text: &[u8]) -> Verdict {
    if is_path(text) { Err("dbfilename can't be a path, just a filename") } else { Ok(()) }
}

pub(super) fn aof_file_name(text: &[u8]) -> Verdict {
    match text {
        b"" => Err("appendfilename can't be empty"),
        _ if is_path(text) => Err("appendfilename can't be a path, just a filename"),
        _ => Ok(()),
    }
}

pub(super) fn aof_dir_name(text: &[u8]) -> Verdict {
    match text {
        b"" => Err("appenddirname can't be empty"),
        _ if is_path(text) => Err("appenddirname can't be a path, just a dirname"),
        _ => Ok(()),
    }
}

pub(super) fn host_name(text: &[u8]) -> Verdict {
    if text.len() >= HOST_NAME_BYTES {
        return Err("Hostnames must be less than 256 characters");
    }
    if text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.')) {
        return Ok(());
    }
    Err("Hostnames may only contain alphanumeric characters, hyphens or dots")
}

/// The name goes into a file of comma and blank separated fields, hence the characters that it must not have.
pub(super) fn node_name(text: &[u8]) -> Verdict {
    if text.iter().any(|byte| b"!#$%&()*+:;<>?@[]^{|}~".contains(byte)) {
        return Err("Announced human node name contained invalid character");
    }
    Ok(())
}

/// The names that a process title may contain in braces.
const TITLE_VARIABLES: [&[u8]; 7] =
    [b"title", b"listen-addr", b"server-mode", b"port", b"tls-port", b"unixsocket", b"config-file"];

/// A template is text with `{name}` in it, or `{{` for a brace.
pub(super) fn title_template(text: &[u8]) -> Verdict {
    let mut rest = text;
    while let Some(open) = rest.iter().position(|byte| *byte == b'{') {
        rest = &rest[open + 1..];
        if let Some(after) = rest.strip_prefix(b"{") {
            rest = after;
            continue;
        }
        let close = rest.iter().position(|byte| *byte == b'}');
        match close {
            Some(close) if TITLE_VARIABLES.contains(&&rest[..close]) => rest = &rest[close + 1..],
            _ => return Err("template format is invalid or contains unknown variables"),
        }
    }
    if text.trim_ascii().is_empty() {
        return Err("template format is invalid or contains unknown variables");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_as_strtoll() {
        for (text, base, want) in [
            ("", 10, Some(0)),
            (" ", 10, None),
            (" 12", 10, Some(12)),
            ("12 ", 10, None),
            ("+7", 10, Some(7)),
            ("-07", 10, Some(-7)),
            ("-", 10, None),
            ("0x10", 10, None),
            ("99999999999999999999", 10, Some(i64::MAX)),
            ("-99999999999999999999", 10, Some(i64::MIN)),
            ("-9223372036854775808", 10, Some(i64::MIN)),
            ("777", 8, Some(0o777)),
            ("8", 8, None),
            ("a", 10, None),
        ] {
            assert_eq!(integer(text.as_bytes(), base), want, "{text:?} in base {base}");
        }
    }

    #[test]
    fn texts_are_judged() {
        assert_eq!(dump_file_name(b"dump.rdb"), Ok(()));
        assert!(dump_file_name(b"a/b").is_err() && dump_file_name(b"a\\b").is_err());
        assert!(aof_file_name(b"").is_err() && aof_dir_name(b"").is_err() && directory(b"").is_err());
        assert_eq!(host_name(b"node-1.example.org"), Ok(()));
        assert!(host_name(b"a_b").is_err());
        assert_eq!(host_name(&[b'a'; 255]), Ok(()));
        assert!(host_name(&[b'a'; 256]).is_err());
        assert!(node_name(b"a{b").is_err());
        assert_eq!(node_name(b"rack 1, left"), Ok(()));
    }

    #[test]
    fn title_templates() {
        let all = "a{title}{port}{tls-port}{unixsocket}{listen-addr}{server-mode}{config-file}";
        for good in [all, "{title} {{x", "plain"] {
            assert_eq!(title_template(good.as_bytes()), Ok(()), "{good}");
        }
        for bad in ["{foo}", "{title", "x{", "", " ", "{}"] {
            assert!(title_template(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
