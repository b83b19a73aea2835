//! Whole commands over data: whatever is asked, nothing panics, and every request gets exactly one well-formed reply.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rand::SeedableRng;
use redae::ae::Clock;
use redae::base::Rand;
use redae::base::config::Config;
use redae::base::session::Session;
use redae::base::split::split_args;
use redae::cmd::FAMILIES;
use redae::cmd::ctx::DataFn;
use redae::cmd::spec::CommandSpec;
use redae::db::keyspace::Keyspace;
use redae::exec::Engine;
use redae::cmd::registry::{Handler, Registry};
use redae::proto::sink::Sink;
use redae::types::table::Seed;

/// Bytes that one run may build up: enough for every change of encoding.
const MEMORY_MAX: u64 = 1 << 20;

/// Length of the reply at the start of `bytes`; panics if there is none.
fn reply_len(bytes: &[u8]) -> usize {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n").expect("a line") + 2;
    let number = || -> i64 {
        std::str::from_utf8(&bytes[1..end - 2]).expect("digits").parse().expect("a number")
    };
    match bytes[0] {
        b'+' | b'-' | b':' | b',' | b'#' | b'_' => end,
        b'$' | b'=' if number() < 0 => end,
        b'$' | b'=' => {
            let body_end = end + number() as usize;
            assert_eq!(&bytes[body_end..body_end + 2], b"\r\n");
            body_end + 2
        }
        kind @ (b'*' | b'~' | b'%' | b'>') => {
            let count = number() * if kind == b'%' { 2 } else { 1 };
            (0..count.max(0)).fold(end, |at, _| at + reply_len(&bytes[at..]))
        }
        other => panic!("no reply begins with {other}"),
    }
}

fuzz_target!(|data: &[u8]| {
    let none: &[&'static [CommandSpec<DataFn>]] = &[];
    let (registry, _) = Registry::new(FAMILIES, none);
    let config = Config { proto_max_bulk_len: MEMORY_MAX, ..Config::default() };
    let ks = Keyspace::new(4, Seed(1));
    let mut engine = Engine::new(ks, config, Rand::seed_from_u64(1), registry);
    let (clock, mut session) = (Clock::new(), Session::new(1, true, 0));
    for line in data.split(|&byte| byte == b'\n') {
        // Time goes on by a second a line.
        engine.ks.now_ms += 1_000;
        let Some(words) = split_args(line) else { continue };
        let args: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        if args.is_empty() {
            continue;
        }
        let Ok(index) = engine.registry.resolve(&args) else { continue };
        let command = engine.registry.get(index);
        let Handler::Data(handler) = command.handler else { continue };
        if engine.admit(command, &mut session, &args).is_err() {
            continue;
        }
        let mut sink = Sink::new();
        engine.call(index, handler, &mut session, &args, None, &mut sink, &clock);
        let reply = sink.to_vec();
        assert_eq!(reply_len(&reply), reply.len(), "{:?} to {args:?}", String::from_utf8_lossy(&reply));
    }
});
