//! The program: reads the command line, starts the server, runs it, and says how it ended. The only place that exits.

use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use argh::FromArgs;
use rand::TryRngCore;
use redae::base::alloc;
use redae::server::{REDIS_VERSION, Server, startup};

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

/// A drop-in Redis server for a developer's machine. Takes what redis-server takes: an optional configuration file,
/// `-` to read one from standard input, and any option of redis.conf as `--name value`, e.g. `--port 6380`.
#[derive(FromArgs)]
struct Arguments {
    /// print the version and exit
    #[argh(switch, short = 'v')]
    version: bool,
    /// configuration file, then options
    #[argh(positional, greedy)]
    rest: Vec<String>,
}

fn main() -> ExitCode {
    alloc::claim_serving_thread();
    let args: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    if let Some(code) = answer_at_once(&args) {
        return code;
    }
    match serve(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{}", text.trim_end());
            ExitCode::FAILURE
        }
    }
}

/// `--help` and `--version`: as the first argument only, since everything behind may be a value.
fn answer_at_once(args: &[Vec<u8>]) -> Option<ExitCode> {
    let first = match args.first().map(Vec::as_slice) {
        Some(b"--help" | b"-h") => "--help",
        Some(b"--version" | b"-v") => "--version",
        _ => return None,
    };
    match Arguments::from_args(&["redae"], &[first]) {
        Ok(arguments) if arguments.version && arguments.rest.is_empty() => {
            println!("redae {} (speaks Redis {REDIS_VERSION})", env!("CARGO_PKG_VERSION"));
            Some(ExitCode::SUCCESS)
        }
        Ok(_) => None,
        Err(exit) => {
            println!("{}", exit.output);
            Some(if exit.status.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

fn serve(args: &[Vec<u8>]) -> Result<(), String> {
    let startup = startup::configure(args)?;
    let seed = rand::rngs::OsRng.try_next_u64().map_err(|error| format!("redae: no randomness: {error}"))?;
    let mut server = Server::start(startup, seed)?;
    server.run().map_err(|error| format!("redae: the event loop failed: {error}"))?;
    server.close();
    Ok(())
}
