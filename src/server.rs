//! The server: owns everything and runs the turn of the loop. May touch every layer below.
//!
//! One turn is one ordered list of steps, written down in [`Server::turn`]; nothing else calls a step.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use rand::SeedableRng;

use crate::ae::{Clock, Id, Poller, Ready, Timer};
use crate::base::Rand;
use crate::base::config::{Config, HZ_MAX, LogLevel};
use crate::base::error::CmdError;
use crate::base::limits::{
    CLIENTS_PER_TICK_MAX, EVENTS_PER_TURN_MAX, READ_BUFFER_BYTES, REHASH_BUCKETS_PER_TICK,
};
use crate::base::session::{ClientId, SessionFlags};
use crate::db::expire;
use crate::db::field_expiry;
use crate::db::keyspace::Keyspace;
use crate::exec::Engine;
use crate::exec::registry::Registry;
use crate::net::clients::Clients;
use crate::net::listen::Listener;
use crate::net::room::RoomPolicy;
use crate::proto::request::Arguments;
use crate::proto::sink::Sink;
use crate::registry::blocked::{Blocked, DbKey};
use crate::registry::latency::LatencyMonitor;
use crate::registry::pubsub::PubSub;
use crate::registry::slowlog::SlowLog;
use crate::registry::tracking::Tracking;
use crate::registry::watch::Watches;
use crate::types::table::Seed;

mod acl;
mod blocking;
mod client;
mod cluster;
mod command;
mod config;
mod conn;
mod debug;
pub mod docs;
mod files;
mod info;
mod latency;
pub mod log;
mod login;
mod memory;
mod misc;
mod moderation;
mod monitor;
mod multi;
mod observe;
mod pubsub;
mod reclaim;
mod redact;
mod replication;
mod slowlog;
pub mod startup;
mod stats;
mod tend;
mod title;
mod tracking;

use blocking::{Pause, Waiting};
use log::Log;
use moderation::Moderation;
use stats::ServerStats;

/// The Redis version whose behaviour this is; what clients see and decide by.
pub const REDIS_VERSION: &str = "7.4.1";

/// Fields of hashes get one part in so many of the time for the expiry cycle.
const FIELDS_PART_OF_EXPIRY: u64 = 4;

/// The handler of a command that needs the whole server: the caller's slot, the command with its arguments.
pub type ServerFn = fn(&mut Server, usize, &[&[u8]]) -> Result<(), CmdError>;

/// A listening socket and whether it is to be tried again.
struct Listening {
    listener: Listener,
    /// Accepting failed for want of files; the timer tries again.
    retry: bool,
}

/// What a process that runs one server knows; see the module's text.
pub struct Server {
    engine: Engine,
    server_fns: Vec<ServerFn>,
    clients: Clients,
    listening: Vec<Listening>,
    accept_more: Vec<usize>,
    poller: Poller,
    clock: Clock,
    cron: Timer,
    moderation: Moderation,
    /// As last measured, by the timer.
    ticks_per_us: f64,
    /// Ticks of the timer since the start.
    cron_runs: u64,
    /// When the loop last ended its sleep, in clock ticks.
    awake_since_ticks: u64,
    /// The database with which the next expiry cycle begins.
    expire_from: usize,
    /// The database with whose hash fields it begins.
    expire_fields_from: usize,
    /// The client with which the next round of looking after clients begins.
    tend_from: usize,
    /// How CLIENT LIST's sizes of reply buffers follow use.
    reply_room: RoomPolicy,
    /// The buffer that all reads go into.
    read_buffer: Box<[u8]>,
    /// The arguments of the request being run.
    arguments: Arguments,
    /// Where replies go that nobody wants.
    discard: Sink,
    ready: Vec<Ready>,
    turn_queue: Vec<usize>,
    signals: Option<mio::net::UnixStream>,
    pubsub: PubSub,
    /// The clients that a message goes to; kept for its memory.
    receivers: Vec<ClientId>,
    tracking: Tracking,
    watches: Watches,
    blocked: Blocked,
    /// What each blocked client waits for.
    waiting: HashMap<ClientId, Waiting>,
    /// Changed keys that blocked clients wait for.
    ready_keys: Vec<DbKey>,
    pause: Pause,
    /// The client whose command over the whole server is running.
    running: Option<usize>,
    /// What that client is told about tracked keys, to go out behind its reply.
    own_invalidations: Sink,
    /// Other pushes for that client, to go out behind those.
    own_pushes: Sink,
    stats: ServerStats,
    reclaim: reclaim::Reclaim,
    /// Commands that took long.
    slowlog: SlowLog,
    /// Events that took long.
    latency: LatencyMonitor,
    /// Clients that see every command.
    monitors: Vec<ClientId>,
    /// See [`observe::AdoptedStart`].
    adopted_start: observe::AdoptedStart,
    /// What DEBUG has switched.
    debug: debug::Switches,
    log: Log,
    /// Identifies this run of the server.
    run_id: String,
    /// Identifies the history of the data for replicas.
    repl_id: String,
    config_file: Option<String>,
    /// The process title, if the server may set it.
    title: Option<title::Title>,
    stopping: bool,
}

impl Server {
    /// A server that listens nowhere yet.
    pub fn new(config: Config, log: Log, seed: u64) -> io::Result<Server> {
        let clock = Clock::new();
        let mut rng = Rand::seed_from_u64(seed);
        let (registry, server_fns) = Registry::new(crate::cmd::FAMILIES, FAMILIES);
        let mut ks = Keyspace::new(config.databases as usize, Seed(rand::Rng::random(&mut rng)));
        ks.now_ms = clock.wall_ms();
        let (run_id, repl_id) = (random_id(&mut rng), random_id(&mut rng));
        let cron = Timer::new(clock.mono_us(), period(config.hz));
        Ok(Server {
            stats: ServerStats::new(ks.now_ms),
            engine: Engine::new(ks, config, rng, registry),
            server_fns,
            clients: Clients::default(),
            listening: Vec::new(),
            accept_more: Vec::new(),
            poller: Poller::new(EVENTS_PER_TURN_MAX)?,
            clock,
            cron,
            moderation: Moderation::default(),
            ticks_per_us: 1.0,
            cron_runs: 0,
            awake_since_ticks: 0,
            expire_from: 0,
            expire_fields_from: 0,
            tend_from: 0,
            reply_room: RoomPolicy::default(),
            read_buffer: vec![0; READ_BUFFER_BYTES].into_boxed_slice(),
            arguments: Arguments::default(),
            discard: Sink::new(),
            ready: Vec::new(),
            turn_queue: Vec::new(),
            signals: None,
            pubsub: PubSub::default(),
            receivers: Vec::new(),
            tracking: Tracking::default(),
            watches: Watches::default(),
            blocked: Blocked::default(),
            waiting: HashMap::new(),
            ready_keys: Vec::new(),
            pause: Pause::default(),
            running: None,
            own_invalidations: Sink::new(),
            own_pushes: Sink::new(),
            slowlog: SlowLog::default(),
            latency: LatencyMonitor::default(),
            monitors: Vec::new(),
            adopted_start: observe::AdoptedStart::default(),
            debug: debug::Switches::default(),
            log,
            run_id,
            repl_id,
            config_file: None,
            title: None,
            stopping: false,
            reclaim: reclaim::Reclaim::new(),
        })
    }

    /// Serves until it is told to stop.
    pub fn run(&mut self) -> io::Result<()> {
        self.awake_since_ticks = self.clock.ticks();
        while !self.stopping {
            self.turn()?;
        }
        // Replies to whoever asked for the end are still to go out.
        self.send_replies();
        Ok(())
    }

    /// One turn of the loop. The order matters:
    fn turn(&mut self) -> io::Result<()> {
        // What has changed in the last turn is told once, behind the replies of those who changed it.
        if self.tracking.has_broadcasts() {
            self.broadcast_invalidations();
        }
        // Replies first: everything that was run in the last turn is answered before anybody new is heard, and most
        // clients never need a writable event.
        self.send_replies();
        // What is out by now counts no more against anybody.
        self.evict_clients();
        // Slots are freed between batches of events only: an event may be for a client closed earlier in its batch.
        self.free_closed();
        // Sleep, unless somebody has more to read, to write or to connect.
        let wait = self.wait();
        let mut ready = std::mem::take(&mut self.ready);
        let busy_ticks = self.clock.ticks().wrapping_sub(self.awake_since_ticks);
        self.stats.count_turn(busy_ticks, self.engine.commands_processed);
        let nap = self.moderation.nap(ready.len(), self.engine.commands_processed);
        if let Some(nap) = nap.filter(|_| !wait.is_zero()) {
            self.poller.nap(nap);
        }
        let polled_ticks = self.clock.ticks();
        self.poller.poll(wait, &mut ready)?;
        self.awake_since_ticks = self.clock.ticks();
        let waited_us = self.awake_since_ticks.wrapping_sub(polled_ticks) as f64 / self.ticks_per_us;
        self.moderation.polled(nap.is_some(), waited_us);
        // All of this turn happens at one time.
        self.refresh_time();
        for event in &ready {
            self.on_ready(event);
        }
        self.ready = ready;
        // After the new events, those that did not finish in the last turn: nobody waits longer than a turn.
        self.serve_unfinished();
        // Those whose time to wait is over; whoever could be served in this turn has been.
        self.end_overdue_waits();
        let now_us = self.clock.mono_us();
        if self.cron.fire(now_us) {
            self.cron_tick();
        }
        // Last, what all of the above has left to be freed, and what memory is short of.
        self.reclaim_turn();
        Ok(())
    }

    fn wait(&self) -> Duration {
        if self.clients.any_work() || !self.accept_more.is_empty() || self.stopping || self.has_to_reclaim() {
            return Duration::ZERO;
        }
        let cron = self.cron.wait(self.clock.mono_us());
        match self.next_deadline_ms() {
            Some(ms) => cron.min(Duration::from_millis(ms as u64)),
            None => cron,
        }
    }

    /// Takes closed clients out of every table they stand in, then frees them.
    fn free_closed(&mut self) {
        for client in self.clients.closed() {
            self.forget_watches(client);
            self.forget_blocked(client);
            self.pubsub.remove(client);
            self.stop_monitoring(client);
            self.forget_tracking(client);
        }
        if self.clients.free_closed(&self.poller) > 0 {
            self.retry_accepting();
        }
    }

    fn refresh_time(&mut self) {
        let now_ms = self.clock.wall_ms();
        self.engine.ks.now_ms = now_ms;
        // Seconds, which 24 bits hold for half a year, as in Redis.
        self.engine.ks.access_clock = (now_ms / 1_000) as u32 & 0x00ff_ffff;
    }

    fn on_ready(&mut self, event: &Ready) {
        match event.id {
            Id::Listener(index) => self.accept(index),
            Id::Signals => self.on_signal(),
            Id::Client { slot, generation } => {
                let Some(slot) = self.clients.current(slot, generation) else { return };
                if event.writable && self.clients.get(slot).waits_for_room() {
                    self.write_more(slot);
                }
                if event.hung_up {
                    self.clients.note_hang_up(slot);
                }
                if event.readable && !self.clients.get(slot).closing() {
                    self.serve(slot);
                }
            }
        }
    }

    fn serve_unfinished(&mut self) {
        let mut queue = std::mem::take(&mut self.turn_queue);
        self.clients.take_still_readable(&mut queue);
        for &slot in &queue {
            if !self.clients.get(slot).closing() {
                self.serve(slot);
            }
        }
        self.turn_queue = queue;
        for index in std::mem::take(&mut self.accept_more) {
            self.accept(index);
        }
    }

    fn send_replies(&mut self) {
        let limited = self.engine.config.maxmemory_clients != 0;
        self.clients.flush(&self.poller, |clients, slot| {
            if limited {
                let spared = clients.get(slot).session.flags.any(SessionFlags::NO_EVICT);
                clients.recount(slot, !spared);
            }
            if clients.get(slot).session.flags.any(SessionFlags::CLOSE_AFTER_REPLY) {
                clients.close(slot);
            }
        });
    }

    fn write_more(&mut self, slot: usize) {
        let done = self.clients.write(slot, &self.poller);
        self.recount(slot);
        if done && self.clients.get(slot).session.flags.any(SessionFlags::CLOSE_AFTER_REPLY) {
            self.clients.close(slot);
        }
    }

    fn retry_accepting(&mut self) {
        for index in 0..self.listening.len() {
            if self.listening[index].retry {
                self.accept(index);
            }
        }
    }

    fn on_signal(&mut self) {
        self.log.notice("User requested shutdown...");
        self.stopping = true;
    }

    /// What is due `hz` times a second.
    fn cron_tick(&mut self) {
        if self.debug.cron_paused {
            return;
        }
        let start_us = self.clock.mono_us();
        self.cron_runs += 1;
        self.ticks_per_us = self.clock.ticks_per_us();
        self.note_observers();
        self.expire_keys();
        if self.engine.ks.has_signals() {
            self.pass_on_signals();
        }
        self.engine_rehash();
        self.reclaim_tick();
        self.bound_tracking();
        self.tend_clients();
        self.retry_accepting();
        let stats = &mut self.stats;
        let (commands, bytes_in, bytes_out) =
            (self.engine.commands_processed, self.clients.bytes_in, self.clients.bytes_out);
        stats.sample(self.clock.mono_us(), commands, bytes_in, bytes_out);
        self.cron.set_period(period(self.hz()));
        if let Some(codes) = self.engine.errors.take_stop() {
            self.log.warning("Errorstats stopped adding new errors: there are too many different ones.");
            self.log.warning(&format!("Current errors code list: {}", String::from_utf8_lossy(&codes)));
        }
        self.stats.cron_us += self.clock.mono_us() - start_us;
    }

    /// Ticks a second: `hz`, and with `dynamic-hz` so many more that a tick has few enough clients to look after.
    fn hz(&self) -> i64 {
        let config = &self.engine.config;
        let mut hz = config.hz.max(1);
        while config.dynamic_hz && hz < HZ_MAX && self.clients.len() as i64 / hz > CLIENTS_PER_TICK_MAX {
            hz *= 2;
        }
        hz.min(HZ_MAX)
    }

    /// The expiry cycle, for at most a quarter of the time between two ticks. Fields of hashes get a part of that which
    /// keys cannot take from them.
    fn expire_keys(&mut self) {
        if !self.debug.active_expire || self.engine.ks.keep_expired {
            return;
        }
        let effort = self.engine.config.active_expire_effort;
        let share_percent = 25 + 2 * (effort - 1).max(0) as u64;
        let budget_us = period(self.hz()).as_micros() as u64 * share_percent / 100;
        let (clock, start) = (&self.clock, self.clock.mono_us());
        self.expire_fields_from = field_expiry::cycle(&mut self.engine.ks, self.expire_fields_from, || {
            clock.mono_us() - start > budget_us / FIELDS_PART_OF_EXPIRY
        });
        self.expire_from =
            expire::cycle(&mut self.engine.ks, self.expire_from, expire::Effort::new(effort), || {
                clock.mono_us() - start > budget_us
            });
        let spent_us = self.clock.mono_us() - start;
        self.stats.expire_cycle_us += spent_us;
        self.latency_spike("expire-cycle", spent_us);
    }

    fn engine_rehash(&mut self) {
        if self.engine.config.activerehashing {
            for db in 0..self.engine.ks.count() {
                self.engine.ks.db_mut(db).rehash_step(REHASH_BUCKETS_PER_TICK);
            }
        }
    }

    /// The messages' threshold, for CONFIG SET.
    fn set_log_level(&mut self, level: LogLevel) {
        self.log.set_level(level);
    }
}

/// 40 hexadecimal digits by chance.
fn random_id(rng: &mut Rand) -> String {
    (0..5).map(|_| format!("{:08x}", rand::Rng::random::<u32>(rng))).collect()
}

fn period(hz: i64) -> Duration {
    Duration::from_micros(1_000_000 / hz.clamp(1, HZ_MAX) as u64)
}

/// Answers a HELP sub-command.
fn write_help(server: &mut Server, slot: usize, lines: Vec<String>) {
    let mut out = server.reply(slot);
    out.array(lines.len());
    for line in lines {
        out.simple(&line);
    }
}

/// The families of commands over the whole server.
const FAMILIES: &[&[crate::cmd::spec::CommandSpec<ServerFn>]] = &[
    acl::SPECS,
    client::SPECS,
    cluster::SPECS,
    command::SPECS,
    config::SPECS,
    debug::SPECS,
    info::SPECS,
    latency::SPECS,
    memory::SPECS,
    login::SPECS,
    misc::SPECS,
    monitor::SPECS,
    multi::SPECS,
    pubsub::SPECS,
    replication::SPECS,
    slowlog::SPECS,
];
