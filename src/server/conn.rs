//! From bytes to commands: accepts connections, reads requests, runs them, bounds what one client may do in a turn.
//! Touches exec and the layers below.

use std::io;

use crate::base::error::CmdError;
use crate::base::limits::{
    ACCEPTS_PER_TURN_MAX, COMMANDS_PER_TURN_MAX, REPLY_BYTES_PER_TURN_MAX, UNAUTHENTICATED_INPUT_BYTES_MAX,
};
use crate::base::session::SessionFlags;
use crate::cmd::spec::Flags;
use crate::exec::Refusal;
use crate::exec::registry::Handler;
use crate::net::clients::{Clients, Received};
use crate::net::stream::Stream;
use crate::proto::reply::Reply;
use crate::proto::request::{Arguments, Bounds, Span, Step};
use crate::proto::sink::Sink;

use super::Server;
use super::client::describe;

/// Arguments of a request that need no list on the heap.
const SMALL_REQUEST_ARGUMENTS: usize = 8;

/// States in which a client's commands have to pass more gates.
const SPECIAL_STATES: SessionFlags =
    SessionFlags::MULTI.or(SessionFlags::SUBSCRIBED).or(SessionFlags::MONITOR);

/// What the special gates decided.
enum Gate {
    /// The command runs.
    Open,
    /// It has been queued or postponed.
    Handled,
}

/// Why a client's turn ended.
#[derive(PartialEq, Eq)]
enum Stop {
    /// Everything that arrived has been run.
    Drained,
    /// Its budget is used up.
    Budget,
    /// It waits, and so does the rest of its input.
    Blocked,
}

/// Whether an unknown command is the beginning of an HTTP request or of its `Host` line.
fn is_http(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"post") || word.eq_ignore_ascii_case(b"host:")
}

impl Server {
    /// Takes waiting connections in, up to the budget of a turn.
    pub(super) fn accept(&mut self, index: usize) {
        self.listening[index].retry = false;
        for _ in 0..ACCEPTS_PER_TURN_MAX {
            match self.listening[index].listener.accept() {
                Ok(stream) => self.welcome(stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    // Out of files, most likely. Trying again at once would spin: the timer does, and so does the
                    // end of any connection.
                    self.log.warning(&format!("Accepting client connection: {error}"));
                    self.listening[index].retry = true;
                    return;
                }
            }
        }
        // More may wait, and no edge will tell of it.
        self.accept_more.push(index);
    }

    fn welcome(&mut self, stream: Stream) {
        self.stats.connections_received += 1;
        if let Some(error) = self.unwelcome(&stream) {
            self.stats.connections_rejected += 1;
            Clients::refuse(&stream, &[b"-", error.text(), b"\r\n"].concat());
            return;
        }
        // A connection that is gone already shows that on its first read.
        let _ = stream.tune(self.engine.config.tcp_keepalive as u64);
        let unix = matches!(stream, Stream::Unix(_));
        let now_ms = self.engine.ks.now_ms;
        match self.clients.add(stream, false, now_ms, &self.poller) {
            Ok(slot) => {
                self.clients.get_mut(slot).session.flags.set(SessionFlags::UNIX_SOCKET, unix);
                self.become_default(slot);
            }
            Err(error) => self.log.warning(&format!("Registering a client: {error}")),
        }
    }

    /// Why a connection is not taken in.
    fn unwelcome(&self, stream: &Stream) -> Option<CmdError> {
        let config = &self.engine.config;
        if self.clients.len() >= config.maxclients as usize {
            return Some(CmdError::MAX_CLIENTS);
        }
        let open = config.protected_mode && self.engine.acl.users.default_user().has_no_password();
        (open && !stream.is_local()).then_some(CmdError::PROTECTED_MODE)
    }

    /// Reads once from a client and runs what has come in whole.
    pub(super) fn serve(&mut self, slot: usize) {
        self.read_and_run(slot);
        self.recount(slot);
    }

    #[inline]
    fn read_and_run(&mut self, slot: usize) {
        let client = self.clients.get(slot);
        if client.session.flags.any(SessionFlags::BLOCKED) {
            return self.buffer_input(slot);
        }
        if client.has_input() && client.input_waits {
            // Its last turn ended before its input did: that comes first.
            self.run_own_input(slot);
            // The socket may hold more, of which no edge will tell.
            self.clients.queue_read(slot);
            return;
        }
        let mut buffer = std::mem::take(&mut self.read_buffer);
        match self.clients.receive(slot, &mut buffer) {
            Received::Nothing => {}
            Received::Progress => self.touch(slot),
            Received::Closed => self.part(slot),
            Received::InBuffer(len) => {
                self.touch(slot);
                self.run_input(slot, &buffer[..len]);
            }
            Received::InClient => {
                self.touch(slot);
                self.run_own_input(slot);
            }
            Received::BigArgument(body) => {
                self.touch(slot);
                self.run_big(slot, body);
            }
        }
        self.read_buffer = buffer;
        self.bound_input(slot, 0);
    }

    /// Runs a request whose big argument is whole, unless the client goes for it.
    fn run_big(&mut self, slot: usize, body: Vec<u8>) {
        // Its line end is off already, but has been there.
        if self.bound_input(slot, body.len() + 2) {
            return;
        }
        let client = self.clients.get_mut(slot);
        client.parser.finish_big(body, client.input.len(), &mut client.arguments);
        // What is about to run may be the largest that anybody holds, and will be freed before anybody counts it.
        self.recount(slot);
        self.evict_clients();
        if !self.clients.get(slot).closing() {
            self.run_own_input(slot);
        }
    }

    /// Closes a connection whose other side has hung up, which may still be listening: replies of this turn go out first.
    fn part(&mut self, slot: usize) {
        if !self.clients.get(slot).output.is_empty() {
            self.clients.write(slot, &self.poller);
        }
        self.clients.close(slot);
    }

    /// Reads from a client that waits, without running anything: above all to notice that it has gone.
    fn buffer_input(&mut self, slot: usize) {
        match self.clients.receive_more(slot) {
            Received::Closed => self.part(slot),
            _ => {
                self.bound_input(slot, 0);
            }
        }
        self.clients.get_mut(slot).input_waits = true;
    }

    #[inline]
    fn touch(&mut self, slot: usize) {
        self.clients.get_mut(slot).session.active_ms = self.engine.ks.now_ms;
    }

    fn run_own_input(&mut self, slot: usize) {
        let input = std::mem::take(&mut self.clients.get_mut(slot).input);
        self.run_input(slot, &input);
        let client = self.clients.get_mut(slot);
        if client.input.is_empty() && !input.is_empty() {
            // Nothing was left over, or all of it: in both cases the old allocation serves on.
            let mut input = input;
            input.clear();
            client.input = input;
        }
    }

    /// Drops a client whose unfinished request is beyond `client-query-buffer-limit`, the commands of its unfinished
    /// transaction and `more` bytes included. Says whether it did.
    #[inline]
    fn bound_input(&mut self, slot: usize, more: usize) -> bool {
        let client = self.clients.get(slot);
        let bytes = (client.input_bytes() + client.session.queue_bytes + more) as u64;
        let limit = self.engine.config.client_query_buffer_limit.min(UNAUTHENTICATED_INPUT_BYTES_MAX);
        bytes > limit && self.bound_large_input(slot, bytes)
    }

    #[cold]
    fn bound_large_input(&mut self, slot: usize, bytes: u64) -> bool {
        let client = self.clients.get(slot);
        let locked_out = !client.session.authenticated && self.engine.acl.users.login_required();
        if client.closing() || (bytes <= self.engine.config.client_query_buffer_limit && !locked_out) {
            return false;
        }
        let about = describe(self, slot);
        self.log.warning(&format!("Closing client that reached max query buffer length: {about}"));
        self.stats.query_buffer_limit_disconnections += 1;
        self.clients.close(slot);
        true
    }

    /// Runs the whole requests in `data` and keeps the rest.
    fn run_input(&mut self, slot: usize, data: &[u8]) {
        let client = self.clients.get_mut(slot);
        client.input_waits = false;
        let mut arguments = if client.parser.in_progress() {
            std::mem::take(&mut client.arguments)
        } else {
            std::mem::take(&mut self.arguments)
        };
        let (stop, used) = self.run_requests(slot, data, &mut arguments);
        let kept = used + self.keep(slot, data.len() - used);
        let client = self.clients.get_mut(slot);
        client.input.extend_from_slice(&data[used..kept]);
        if client.parser.in_progress() {
            client.arguments = arguments;
        } else {
            arguments.clear();
            self.arguments = arguments;
        }
        if stop != Stop::Drained {
            client.input_waits = !client.input.is_empty();
        }
        if stop == Stop::Budget {
            self.clients.queue_read(slot);
        }
        self.bound_output(slot);
    }

    /// How many of `rest` bytes belong into the client's input: none of them if they went to a big argument.
    fn keep(&self, slot: usize, rest: usize) -> usize {
        let client = self.clients.get(slot);
        if client.big.is_some() { client.parser.position().min(rest) } else { rest }
    }

    fn run_requests(&mut self, slot: usize, data: &[u8], arguments: &mut Arguments) -> (Stop, usize) {
        let mut used = 0;
        let mut commands = 0;
        let output_before = self.clients.get(slot).output.len();
        loop {
            let client = self.clients.get_mut(slot);
            let bounds = Bounds {
                bulk_bytes_max: self.engine.config.proto_max_bulk_len as i64,
                authenticated: client.session.authenticated || !self.engine.acl.users.login_required(),
            };
            let request = &data[used..];
            match client.parser.parse(request, bounds, arguments) {
                Step::Done { consumed } => {
                    if !arguments.spans.is_empty() {
                        self.run_request(slot, request, arguments);
                        arguments.clear();
                    }
                    used += consumed;
                }
                Step::NeedMore => return (Stop::Drained, used),
                Step::BigBody { len } => {
                    let start = &request[client.parser.position()..];
                    self.clients.begin_big(slot, len, start);
                    return (Stop::Drained, used);
                }
                Step::Error(error) => {
                    self.reply_error(slot, &error.to_reply());
                    let flags = &mut self.clients.get_mut(slot).session.flags;
                    flags.set(SessionFlags::CLOSE_AFTER_REPLY, true);
                    return (Stop::Drained, data.len());
                }
            }
            commands += 1;
            let client = self.clients.get(slot);
            if client.closing() || client.session.flags.any(SessionFlags::CLOSE_AFTER_REPLY) {
                return (Stop::Drained, data.len());
            }
            if client.session.flags.any(SessionFlags::BLOCKED) {
                return (Stop::Blocked, used);
            }
            let replied = client.output.len().saturating_sub(output_before);
            if commands >= COMMANDS_PER_TURN_MAX || replied >= REPLY_BYTES_PER_TURN_MAX {
                return (if used < data.len() { Stop::Budget } else { Stop::Drained }, used);
            }
        }
    }

    /// Lays the arguments of a request out as slices and runs it.
    #[inline]
    fn run_request(&mut self, slot: usize, request: &[u8], arguments: &mut Arguments) {
        let adopted = self.adopt(slot, request, arguments);
        let adopts = adopted.is_some();
        if let Some(value) = &adopted {
            self.adopted_start.set(value);
        }
        let spans = &arguments.spans;
        let arguments = &*arguments;
        if spans.len() <= SMALL_REQUEST_ARGUMENTS {
            let mut args: [&[u8]; SMALL_REQUEST_ARGUMENTS] = [&[]; SMALL_REQUEST_ARGUMENTS];
            for (arg, &span) in args.iter_mut().zip(spans) {
                *arg = arguments.bytes(request, span);
            }
            self.execute(slot, &args[..spans.len()], adopted);
        } else {
            let args: Vec<&[u8]> = spans.iter().map(|&span| arguments.bytes(request, span)).collect();
            self.execute(slot, &args, adopted);
        }
        if adopts {
            self.adopted_start.clear();
        }
    }

    /// Takes the allocation of a big last argument out, if the command stores it. Not if the command may be queued or
    /// postponed first, nor while there are monitors: they want to see all of it afterwards.
    #[inline]
    fn adopt(&self, slot: usize, request: &[u8], arguments: &mut Arguments) -> Option<Vec<u8>> {
        let Some(&Span::Owned(last)) = arguments.spans.last() else { return None };
        if !matches!(arguments.spans[0], Span::Buffer { .. }) {
            return None; // An inline request: all of its words are owned, and short.
        }
        let name = arguments.bytes(request, arguments.spans[0]);
        let command = self.engine.registry.get(self.engine.registry.find(name)?);
        let adopts = command.flags.any(Flags::ADOPTS_VALUE) && command.fits(arguments.spans.len());
        let at_once = !self.pause.active() && !self.clients.get(slot).session.flags.any(SPECIAL_STATES);
        let wanted = adopts && at_once && self.monitors.is_empty();
        wanted.then(|| std::mem::take(&mut arguments.owned[last as usize]))
    }

    /// Runs one command of a client: looks it up, asks the gates, calls it, and leaves the reply in the client's
    /// output.
    #[inline]
    pub(super) fn execute(&mut self, slot: usize, args: &[&[u8]], adopted: Option<Vec<u8>>) {
        let index = match self.engine.registry.resolve(args) {
            Ok(index) => index,
            Err(_) if is_http(args[0]) => return self.drop_http_client(slot),
            Err(error) => {
                self.clients.get_mut(slot).session.last_command = None;
                return self.refuse(slot, None, &error);
            }
        };
        let command = self.engine.registry.get(index);
        // What is closed to everybody is closed before anybody's rights are looked at.
        if command.flags.any(Flags::PROTECTED)
            && command.fits(args.len())
            && let Err(error) = self.check_protected(slot, command)
        {
            self.clients.get_mut(slot).session.last_command = Some(index);
            return self.refuse(slot, Some(index), &error);
        }
        let client = self.clients.output(slot);
        client.session.last_command = Some(index);
        if let Err(refusal) = self.engine.admit(command, &mut client.session, args) {
            return self.turn_away(slot, index, refusal, args);
        }
        let special = client.session.flags.any(SPECIAL_STATES) || self.pause.active();
        if let Err(error) = self.memory_gate(slot, index) {
            return self.refuse(slot, Some(index), &error);
        }
        if special {
            match self.special_gates(slot, index, args) {
                Ok(Gate::Open) => {}
                Ok(Gate::Handled) => return,
                Err(error) => return self.refuse(slot, Some(index), &error),
            }
        }
        self.call(slot, index, args, adopted);
        if !self.ready_keys.is_empty() {
            self.serve_blocked();
        }
        self.after_command(slot);
    }

    /// A web browser that was made to send its request here must get no further than its headers, which would come before
    /// commands in its body.
    #[cold]
    fn drop_http_client(&mut self, slot: usize) {
        let peer = super::client::address(self, self.clients.get(slot), self.clients.get(slot).addresses.0);
        self.log
            .warning(&format!("Closing the connection from {peer}: it speaks HTTP, which may be an attack"));
        self.clients.close(slot);
    }

    /// Gates that only clients in a special state have to pass.
    #[cold]
    fn special_gates(&mut self, slot: usize, index: u16, args: &[&[u8]]) -> Result<Gate, CmdError> {
        let command = self.engine.registry.get(index);
        let session = &self.clients.get(slot).session;
        let subscriber = session.flags.any(SessionFlags::SUBSCRIBED) && !session.resp3();
        if subscriber && !command.flags.any(Flags::WHEN_SUBSCRIBED) {
            return Err(CmdError::not_when_subscribed(&command.full_name));
        }
        let about_keys = Flags::READONLY.or(Flags::WRITE).or(Flags::MAY_REPLICATE);
        if session.flags.any(SessionFlags::MONITOR) && command.flags.any(about_keys) {
            return Err(CmdError::REPLICA_KEYSPACE);
        }
        let in_multi = session.flags.any(SessionFlags::MULTI);
        if in_multi && command.flags.any(Flags::NO_MULTI) {
            return Err(CmdError::NOT_IN_MULTI);
        }
        if self.pause.holds(command, session) {
            self.postpone(slot, args);
            return Ok(Gate::Handled);
        }
        if in_multi && !command.flags.any(Flags::NOT_QUEUED) {
            self.queue_command(slot, index, args);
            self.after_command(slot);
            return Ok(Gate::Handled);
        }
        Ok(Gate::Open)
    }

    /// Calls a command that has passed the gates, and passes on what it leaves behind for others.
    #[inline]
    pub(super) fn call(&mut self, slot: usize, index: u16, args: &[&[u8]], adopted: Option<Vec<u8>>) {
        let command = self.engine.registry.get(index);
        let client = self.clients.output(slot);
        let id = client.session.id;
        let remember =
            client.session.flags.any(SessionFlags::TRACKS_READS) && command.flags.any(Flags::READONLY);
        match command.handler {
            Handler::Data(handler) => {
                self.engine.ks.no_touch = client.session.flags.any(SessionFlags::NO_TOUCH);
                let muted = client.session.muted();
                let sink = if muted { &mut self.discard } else { &mut client.output };
                let session = &mut client.session;
                let block = self.engine.call(index, handler, session, args, adopted, sink, &self.clock);
                if let Some(block) = block {
                    self.show_monitors(slot, index, args);
                    self.block(slot, args, *block);
                }
            }
            Handler::Server(function) => self.call_server(slot, index, function, args),
            Handler::Container => {
                let error = CmdError::arity(&command.full_name);
                self.engine.refused(Some(index), &error);
                self.reply(slot).error(&error);
            }
        }
        if let Some(ticks) = self.engine.take_noticed() {
            self.observe(slot, index, args, ticks);
        }
        if self.engine.ks.has_signals() {
            self.pass_on_signals_of(Some(id));
        }
        if remember {
            self.remember_reads(slot, index, args);
        }
    }

    fn call_server(&mut self, slot: usize, index: u16, function: u16, args: &[&[u8]]) {
        let start = self.clock.ticks();
        let outer = self.running.replace(slot);
        let result = (self.server_fns[function as usize])(self, slot, args);
        self.running = outer;
        if let Err(error) = &result {
            self.reply(slot).error(error);
        }
        self.engine.finished(index, self.clock.ticks().wrapping_sub(start), result);
        if outer.is_none() {
            self.add_own_pushes(slot);
        }
    }

    /// Lets what the client was told while its command ran follow the reply.
    #[inline]
    fn add_own_pushes(&mut self, slot: usize) {
        for pushes in [&mut self.own_invalidations, &mut self.own_pushes] {
            if !pushes.is_empty() {
                self.clients.output(slot).output.append(std::mem::take(pushes));
            }
        }
    }

    #[inline]
    pub(super) fn after_command(&mut self, slot: usize) {
        let skipping = SessionFlags::REPLY_SKIP.or(SessionFlags::REPLY_SKIP_NEXT);
        let special = skipping.or(SessionFlags::REPLY_OFF).or(SessionFlags::CACHING);
        let flags = self.clients.get(slot).session.flags;
        // What waits is not over yet.
        if flags.any(special) && !flags.any(SessionFlags::BLOCKED) {
            self.after_special_command(slot);
        }
    }

    #[cold]
    fn after_special_command(&mut self, slot: usize) {
        let flags = &mut self.clients.get_mut(slot).session.flags;
        let next = flags.any(SessionFlags::REPLY_SKIP_NEXT);
        flags.set(SessionFlags::REPLY_SKIP, next);
        flags.set(SessionFlags::REPLY_SKIP_NEXT, false);
        if flags.any(SessionFlags::CACHING) {
            self.end_caching(slot);
        }
        self.discard = Sink::new();
    }

    /// Answers a command that a gate did not let through.
    #[cold]
    pub(super) fn turn_away(&mut self, slot: usize, index: u16, refusal: Refusal, args: &[&[u8]]) {
        let error = match refusal {
            Refusal::Error(error) => error,
            Refusal::Denied(denial) => self.note_denial(slot, index, denial, args),
        };
        self.refuse(slot, Some(index), &error);
    }

    #[cold]
    fn refuse(&mut self, slot: usize, command: Option<u16>, error: &CmdError) {
        let ends_multi =
            command.is_some_and(|index| self.engine.registry.get(index).flags.any(Flags::RUNS_QUEUE));
        if ends_multi {
            // An EXEC that cannot run ends the transaction all the same.
            self.leave_multi(slot);
            let error = CmdError::exec_aborted_by(error);
            self.engine.refused(command, &error);
            self.reply(slot).error(&error);
            return self.after_command(slot);
        }
        self.engine.refused(command, error);
        let flags = &mut self.clients.get_mut(slot).session.flags;
        if flags.any(SessionFlags::MULTI) {
            flags.set(SessionFlags::MULTI_ABORTED, true);
        }
        self.reply(slot).error(error);
        self.after_command(slot);
    }

    #[cold]
    fn reply_error(&mut self, slot: usize, error: &CmdError) {
        self.engine.count_error(error);
        self.reply(slot).error(error);
    }

    /// The reply writer of a client for the running command; writes into nowhere if the client wants no reply.
    pub(super) fn reply(&mut self, slot: usize) -> Reply<'_> {
        let client = self.clients.output(slot);
        let resp3 = client.session.resp3();
        let sink = if client.session.muted() { &mut self.discard } else { &mut client.output };
        Reply::new(sink, resp3)
    }
}
