//! Layer 4: how a command is run: found in the registry, let through the gates, called, counted. Everything that runs
//! commands (clients; later scripts, replication, the append-only file) comes through here. Touches the layers below.

use std::collections::BTreeMap;

use crate::acl::{AccessControl, Denial};
use crate::ae::Clock;
use crate::base::Rand;
use crate::base::config::Config;
use crate::base::error::CmdError;
use crate::base::histogram::Histogram;
use crate::base::session::{Session, SessionFlags};
use crate::cmd::ctx::{Block, Ctx, DataFn, Outcome};
use crate::cmd::spec::Flags;
use crate::db::keyspace::Keyspace;
use crate::proto::reply::Reply;
use crate::proto::sink::Sink;

pub use crate::cmd::registry;

use registry::{Command, Registry};

/// Different error codes that are counted; a client could make up more only through scripts.
const ERROR_CODES_MAX: usize = 128;
/// What stands for all codes once there were more.
const TOO_MANY_ERROR_CODES: &[u8] = b"ERRORSTATS_DISABLED";

/// Error replies, counted by code until there are too many different ones.
#[derive(Debug, Default)]
pub struct ErrorStats {
    counts: BTreeMap<Vec<u8>, u64>,
    stopped: bool,
    /// The codes that there were when counting stopped, until somebody asks for them.
    codes_at_stop: Option<Vec<u8>>,
}

impl ErrorStats {
    /// Codes with their counts, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.counts.iter().map(|(code, count)| (code.as_slice(), *count))
    }

    fn add(&mut self, code: &[u8]) {
        if let Some(count) = self.counts.get_mut(code) {
            *count += u64::from(!self.stopped);
        } else if self.counts.len() < ERROR_CODES_MAX && !self.stopped {
            self.counts.insert(code.to_vec(), 1);
        } else if !self.stopped {
            let codes: Vec<&[u8]> = self.counts.keys().map(Vec::as_slice).collect();
            let codes = codes.join(&b", "[..]);
            let counts = BTreeMap::from([(TOO_MANY_ERROR_CODES.to_vec(), 1)]);
            *self = ErrorStats { counts, stopped: true, codes_at_stop: Some(codes) };
        }
    }

    /// If counting has stopped since this was last asked: the codes that there were, separated by commas.
    pub fn take_stop(&mut self) -> Option<Vec<u8>> {
        self.codes_at_stop.take()
    }
}

/// What INFO tells about one command.
#[derive(Debug, Clone, Default)]
pub struct CommandStats {
    /// Times it ran.
    pub calls: u64,
    /// Clock ticks it ran, see [`Clock::ticks_per_us`].
    pub ticks: u64,
    /// Times a gate refused it.
    pub rejected: u64,
    /// Times it ran and answered an error.
    pub failed: u64,
    /// How the ticks of its runs are distributed; made when it first runs while `latency-tracking` is on.
    pub histogram: Option<Box<Histogram>>,
}

/// Why a gate does not let a command through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The error to reply.
    Error(CmdError),
    /// The user lacks a right, which ACL LOG is to record.
    Denied(Denial),
}

impl From<CmdError> for Refusal {
    fn from(error: CmdError) -> Refusal {
        Refusal::Error(error)
    }
}

/// Everything that commands over data work on.
pub struct Engine {
    /// The databases.
    pub ks: Keyspace,
    /// The options in force.
    pub config: Config,
    /// Chance.
    pub rng: Rand,
    /// All commands.
    pub registry: Registry,
    /// Users and their rights.
    pub acl: AccessControl,
    /// One for each command of the registry.
    pub stats: Vec<CommandStats>,
    /// Nanoseconds in 2³² clock ticks, see [`Engine::note_tick_rate`].
    ns_per_giga_tick: u64,
    /// A command that takes at least so many ticks is one that somebody wants to look at. One threshold serves the
    /// slow log, the latency monitor and MONITOR, so that a command nobody looks at costs one comparison.
    pub notice_from_ticks: u64,
    /// How long the last command took if it reached the threshold, else 0.
    noticed_ticks: u64,
    /// Error replies by code.
    pub errors: ErrorStats,
    /// Error replies in all.
    pub error_replies: u64,
    /// Commands that ran.
    pub commands_processed: u64,
}

impl Engine {
    /// An engine over empty databases.
    pub fn new(ks: Keyspace, config: Config, rng: Rand, registry: Registry) -> Engine {
        let stats = vec![CommandStats::default(); registry.len()];
        let acl = AccessControl::new(&registry);
        Engine {
            ks,
            config,
            rng,
            registry,
            acl,
            stats,
            ns_per_giga_tick: 1 << 32,
            notice_from_ticks: u64::MAX,
            noticed_ticks: 0,
            errors: ErrorStats::default(),
            error_replies: 0,
            commands_processed: 0,
        }
    }

    /// Lets a command through, or says why not. The order of the gates is Redis's: it decides which of several errors
    /// a client sees.
    #[inline]
    pub fn admit(&self, command: &Command, session: &mut Session, args: &[&[u8]]) -> Result<(), Refusal> {
        if !command.fits(args.len()) {
            return Err(CmdError::arity(&command.full_name).into());
        }
        if !session.authenticated && !command.flags.any(Flags::NO_AUTH) && self.acl.users.login_required() {
            return Err(CmdError::NO_AUTH.into());
        }
        if session.flags.any(SessionFlags::RESTRICTED) {
            self.check_rights(command, session, args).map_err(Refusal::Denied)?;
        }
        Ok(())
    }

    /// Whether the client's user may run a command. What a command needs to know about the rights is noted in the
    /// session.
    pub fn check_rights(
        &self,
        command: &Command,
        session: &mut Session,
        args: &[&[u8]],
    ) -> Result<(), Denial> {
        let permit = self.acl.users.check(&session.user, command, args)?;
        session.flags.set(SessionFlags::READS_SOME_KEYS, !permit.reads_all_keys);
        Ok(())
    }

    /// Calls a command over data and writes its reply, or its error, into `sink`.
    ///
    /// Returns what the client has to wait for, if the command could not be served and may wait; then nothing has been
    /// written.
    #[inline]
    #[allow(clippy::too_many_arguments, reason = "the parts of one call, lent by different owners")]
    pub fn call(
        &mut self,
        command: u16,
        handler: DataFn,
        session: &mut Session,
        args: &[&[u8]],
        adopted: Option<Vec<u8>>,
        sink: &mut Sink,
        clock: &Clock,
    ) -> Option<Box<Block>> {
        let start = clock.ticks();
        let out = Reply::new(sink, session.resp3());
        let (config, rng) = (&self.config, &mut self.rng);
        let mut ctx = Ctx { ks: &mut self.ks, session, args, out, config, rng, adopted };
        let dirty = ctx.ks.signals.dirty;
        let result = match handler(&mut ctx) {
            Ok(Outcome::Done) => Ok(()),
            Ok(Outcome::Block(block)) if ctx.session.flags.any(SessionFlags::IN_EXEC) => {
                block.otherwise.write(false, &mut ctx.out);
                Ok(())
            }
            Ok(Outcome::Block(block)) => return Some(block),
            Err(error) => {
                debug_assert_eq!(dirty, ctx.ks.signals.dirty, "a command that fails has changed nothing");
                ctx.out.error(&error);
                Err(error)
            }
        };
        self.finished(command, clock.ticks().wrapping_sub(start), result);
        None
    }

    /// Counts a call. `ticks` is how long it took.
    #[inline]
    pub fn finished(&mut self, command: u16, ticks: u64, result: Result<(), CmdError>) {
        let stats = &mut self.stats[command as usize];
        stats.calls += 1;
        stats.ticks += ticks;
        if self.config.latency_tracking {
            match &mut stats.histogram {
                Some(histogram) => histogram.record(ticks),
                empty => empty.insert(Box::default()).record(ticks),
            }
        }
        self.commands_processed += 1;
        if let Err(error) = result {
            stats.failed += 1;
            self.count_error(&error);
        }
        if ticks >= self.notice_from_ticks {
            self.noticed_ticks = ticks.max(1);
        }
    }

    /// How many ticks the last command took, if that reached the threshold and has not been asked for yet.
    #[inline]
    pub fn take_noticed(&mut self) -> Option<u64> {
        (self.noticed_ticks != 0).then(|| std::mem::take(&mut self.noticed_ticks))
    }

    /// Sets how fast the clock ticks.
    pub fn note_tick_rate(&mut self, ticks_per_us: f64) {
        self.ns_per_giga_tick = ((1u64 << 32) as f64 * 1_000.0 / ticks_per_us) as u64;
    }

    /// Ticks as nanoseconds.
    #[inline]
    pub fn nanoseconds(&self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.ns_per_giga_tick)) >> 32) as u64
    }

    /// How often a command has run.
    pub fn stats_of(&self, command: u16) -> u64 {
        self.stats[command as usize].calls
    }

    /// Counts a command that a gate refused; `None` if it is not even known.
    pub fn refused(&mut self, command: Option<u16>, error: &CmdError) {
        if let Some(command) = command {
            self.stats[command as usize].rejected += 1;
        }
        self.count_error(error);
    }

    /// Counts an error reply by its code.
    #[cold]
    pub fn count_error(&mut self, error: &CmdError) {
        self.error_replies += 1;
        self.errors.add(error.code());
    }

    /// Sets all statistics of commands and keys back.
    pub fn reset_stats(&mut self) {
        self.stats.fill(CommandStats::default());
        self.errors = ErrorStats::default();
        self.error_replies = 0;
        self.commands_processed = 0;
        self.acl.log.reset_counts();
        self.ks.stats = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_of_error_codes_stops_when_there_are_too_many() {
        let mut errors = ErrorStats::default();
        for code in 0..ERROR_CODES_MAX {
            errors.add(format!("E{code:03}").as_bytes());
        }
        errors.add(b"E000");
        assert_eq!(errors.take_stop(), None);
        assert_eq!(errors.iter().next(), Some((&b"E000"[..], 2)));
        for _ in 0..2 {
            errors.add(b"ONEMORE");
            assert_eq!(errors.iter().collect::<Vec<_>>(), [(TOO_MANY_ERROR_CODES, 1)]);
        }
        let codes = errors.take_stop().expect("it has stopped");
        assert!(codes.starts_with(b"E000, E001, ") && codes.ends_with(b"E127"));
        assert_eq!(errors.take_stop(), None);
    }
}
