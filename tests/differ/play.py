"""Playing a sequence on both servers and comparing what comes back."""

from __future__ import annotations

import random
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from .guards import SCANS, SUBSCRIBING, USERS, block_time, may_block, may_stay_busy, needs_fix
from .resp import CLOSED, Reply, encode, encode_inline, is_aggregate, is_error
from .rules import Call, RULE_BY_NAME, judge, keeps_order, lines_of, unsettled
from .sequences import Sequence, Step
from .servers import BARRIER, REPLY_TIMEOUT, SENTINEL, ServerDied
from .sides import (Diff, HARMLESS, Item, NO_REPLY, REPLY_COUNT, SOFT_KINDS, Side, first_extra,
                    ignored, is_message, settle)
from .state import StateCheck
from .version_differences import reply_first

if TYPE_CHECKING:
    from .duel import Duel


def number_text(reply: Reply) -> str:
    """A number in one form, however it was printed."""
    try:
        return repr(float(reply[1]) + 0.0)      # -0 is 0, see version_differences
    except (TypeError, ValueError):
        return repr(reply)


def error_codes(reply: Reply) -> list:
    """The first words of the errors in it."""
    if is_aggregate(reply):
        return [code for part in reply[1] for code in error_codes(part)]
    return [reply[1].split(b' ')[0]] if is_error(reply) else []


class Run:
    """One sequence being played."""

    def __init__(self, duel: 'Duel', sequence: Sequence):
        self.duel, self.sequence = duel, sequence
        words = [a for s in sequence.steps for a in s.args]
        wants_ids = any(w.startswith(b'<id:') or w.startswith(b'<addr:') for w in words)
        self.ref, self.sut = self.sides = [Side(s, wants_ids, sequence.resp3) for s in duel.servers]
        self.queued: dict[str, list] = {}       # calls inside MULTI, by connection
        self.silent: dict[str, str] = {}        # 'off' or 'skip', by CLIENT REPLY
        self.waiting: dict[str, list] = {}      # calls the reference has not answered yet
        self.diffs: list[Diff] = []
        self.stopped = False
        self.reloaded = False       # after DEBUG RELOAD a hash may be in any order
        self.names = {s.args[0].lower() for s in sequence.steps if s.args}
        self.dbs = self.used_dbs()
        self.dirty = self.changes_so_far()

    def changes_so_far(self) -> list[int]:
        """What both servers count as changes, for a sequence that sets the other counts to zero."""
        if not any(s.args[:2] == (b'CONFIG', b'RESETSTAT') for s in self.sequence.steps[:1]):
            return []
        found = [lines_of(reply[1] or b'') for (reply,) in self.both([(b'INFO', b'persistence')])]
        return [int(lines.get(b'rdb_changes_since_last_save', 0)) for lines in found]

    def used_dbs(self) -> list[int]:
        dbs = {0}
        for step in self.sequence.steps:
            if step.args and step.args[0].upper() in (b'SELECT', b'MOVE', b'SWAPDB', b'COPY'):
                dbs.update(int(a) for a in step.args[1:] if re.fullmatch(rb'\d|1[0-5]', a))
        return sorted(dbs)

    def play(self) -> list[Diff]:
        try:
            for batch in self.batches():
                if batch[0][1].form == 'sleep':
                    time.sleep(min(int(batch[0][1].args[0]), 1000) / 1000)
                elif self.sequence.lockstep:
                    self.lockstep(*batch[0])
                else:
                    self.pipeline(batch)
                if self.stopped:
                    break
            else:
                self.finish()
            if any(may_stay_busy(s.args) for s in self.sequence.steps):
                self.both([(b'SCRIPT', b'KILL'), (b'FUNCTION', b'KILL')])
            self.close()
            if not self.stopped:
                StateCheck(self).check()
            self.clean_up()
        except ServerDied as died:
            self.close()
            if died.server is self.ref.server:
                raise
            last = self.sequence.steps[-1]
            self.diffs = [d for d in self.diffs if d.kind not in REPLY_COUNT]
            self.diffs.append(Diff(last.name, died.kind, NO_REPLY, CLOSED, stops=True))
            self.duel.restart(died.server)
            self.clean_up()         # the other server still has what the sequence set
        finally:
            self.close()
        return self.diffs

    def batches(self):
        """Steps that are sent together, as lists of (index, step)."""
        batch = []
        for index, step in enumerate(self.sequence.steps):
            if not step.args:
                continue
            alone = self.sequence.lockstep or step.form in ('sleep', 'raw')
            if batch and (alone or step.conn != batch[0][1].conn
                          or batch[0][1].form in ('sleep', 'raw')):
                yield batch
                batch = []
            batch.append((index, step))
        if batch:
            yield batch

    def close(self):
        for side in self.sides:
            side.close()

    # sending

    def make_call(self, index: int, step: Step) -> Call:
        """The call of a step; follows MULTI."""
        name = step.name
        queue = self.queued.get(step.conn)
        call = Call(name, step.args, index, step.conn, nested=queue is not None, dirty=self.dirty,
                    earlier=self.sequence.steps)
        if step.form == 'raw':
            return call
        if name == 'multi' and len(step.args) == 1 and queue is None:
            self.queued[step.conn] = []
        elif name in ('exec', 'discard', 'reset') and len(step.args) == 1:
            call.queued = self.queued.pop(step.conn, None) or []
            call.nested = False
        elif queue is not None and name not in ('watch', 'multi', 'quit'):
            queue.append(call)
        return call

    def wire(self, args: tuple, side: Side, inline: bool = False) -> bytes:
        if side.wants_ids:
            args = tuple(map(side.fill_in, args))
        return encode_inline(args) if inline else encode(args)

    def pipeline(self, batch: list):
        items = []
        for index, step in batch:
            call = self.make_call(index, step)
            if call.name == 'script debug' and items:   # must not follow in a pipeline
                self.exchange(items)
                items = []
            if not self.silent.get(step.conn):
                items += [Item(p, call, probe=True) for p in self.probes(call)]
            items.append(Item(step.args, call, inline=step.form == 'inline',
                              expected=self.replies(call)))
            if call.name in SCANS or needs_fix(step.args):
                self.exchange(items)
                items = []
                if self.stopped:
                    return
        conn = batch[0][1].conn
        if conn not in self.queued and conn not in self.silent:
            items.append(Item((SENTINEL,), Call('end', (SENTINEL,), index, conn)))
        if items:
            self.exchange(items)

    def probes(self, call: Call) -> list:
        """Commands to send before the call, for its rule."""
        rule = RULE_BY_NAME.get(call.name)
        if call.name == 'debug reload':
            self.reloaded = True
        if not rule or not rule.probes or call.nested \
                or self.reloaded and call.name.startswith('h') and call.name != 'hrandfield':
            return []
        return [args for args in rule.probes(call.args) if self.duel.grammar.sendable(args)]

    def replies(self, call: Call) -> bool:
        """Whether the call gets a reply; follows CLIENT REPLY."""
        mode = self.silent.get(call.conn)
        if mode == 'skip':
            del self.silent[call.conn]
        if call.name == 'client reply' and len(call.args) == 3:
            change = call.args[2].lower()
            if change == b'on':
                self.silent.pop(call.conn, None)
                return True
            if change in (b'off', b'skip') and mode != 'off':
                self.silent[call.conn] = change.decode()
                return False
        if call.name == 'reset' and len(call.args) == 1 and mode == 'off':
            self.silent.pop(call.conn, None)
            return True
        return mode is None

    def exchange(self, items: list):
        """Sends the items in one write, reads and compares the replies."""
        name = items[0].call.conn
        data = [b''.join(self.wire(i.args, side, i.inline) for i in items)
                for side in self.sides]
        conns = [side.conn(name) for side in self.sides]
        self.transmit(conns, data)
        expected = sum(i.expected for i in items)
        got = [conn.read(expected, patience)
               for conn, patience in zip(conns, (REPLY_TIMEOUT, self.duel.patience))]
        left, right = [[r for r in replies if r[0] != '>'] for replies in got]
        if len(left) != len(right) and not any(r[0] == 'malformed' for r in right):
            self.misaligned([i.call for i in items if i.expected], left, right)
            return
        left, right = iter(left), iter(right)
        fixes = []
        for item in items:
            if not item.expected:
                continue
            a, b = next(left, NO_REPLY), next(right, NO_REPLY)
            if NO_REPLY in (a, b):          # closed by both
                break
            if item.probe:
                item.call.probes.append(a)
                item.call.sut_probes.append(b)
            else:
                self.compare(item.call, a, b)
                fixes += self.fixes_of(item.call)
            if self.stopped:
                return
        pushes = [tuple(r for r in replies if r[0] == '>') for replies in got]
        if pushes[0] != pushes[1]:
            self.compare(replace(items[-1].call, name='push'), ('*', pushes[0]),
                         ('*', pushes[1]))
        for args in fixes:
            for conn in conns:
                conn.ask(*args)

    def fixes_of(self, call: Call) -> list:
        """What brings both servers to the same state after the call."""
        repairs = [] if call.fix else unsettled(call)
        if repairs:
            self.dirty.clear()      # what they did may count differently
        return call.fix or repairs

    def misaligned(self, calls: list, left: list, right: list):
        """Reports the first call that has too few or too many replies."""
        few = len(right) < len(left)
        at = first_extra(left, right) if few else first_extra(right, left)
        call = calls[min(at, len(calls) - 1)]
        if few:
            self.report(call, 'no-reply', left[at], NO_REPLY)
        else:
            self.report(call, 'extra-reply', NO_REPLY, right[at])

    def transmit(self, conns: list, data: list):
        if not self.sequence.split:
            for conn, payload in zip(conns, data):
                conn.send(payload)
            return
        rng = random.Random(self.sequence.split)
        cuts = sorted(rng.random() for _ in range(rng.randrange(1, 5)))
        for start, end in zip([0.0] + cuts, cuts + [1.0]):
            for conn, payload in zip(conns, data):
                conn.send(payload[int(start * len(payload)):int(end * len(payload))])
            time.sleep(rng.choice((0, 0.0002, 0.001)))

    def finish(self):
        """Looks for replies that nobody asked for."""
        if self.sequence.lockstep:
            self.barrier()
            time.sleep(0.002)
            self.collect(Call('end', ()))
            return
        for name in self.ref.conns:
            if name in self.queued or name in self.silent:
                on = [(b'CLIENT', b'REPLY', b'ON')] if name in self.silent else []
                self.exchange([Item(args, Call('end', args, len(self.sequence.steps) - 1, name))
                               for args in on + [(SENTINEL,)]])

    # lockstep

    def lockstep(self, index: int, step: Step):
        name = step.conn
        if self.waiting.get(name) or name in self.ref.gone:
            return                              # blocked or closed: not sent
        call = self.make_call(index, step)
        self.probe(call)
        for side in self.sides:
            conn = side.conn(name)
            conn.send(step.args[0] if step.form == 'raw'
                      else self.wire(step.args, side, step.form == 'inline'))
        answered = step.form != 'raw' and call.name not in SUBSCRIBING
        if answered:
            self.waiting[name] = [call]
            if not may_block(step.args):
                self.read_one(name, REPLY_TIMEOUT)
        self.barrier()
        if answered and 0 < block_time(step.args) <= 1 and may_block(step.args):
            self.sit_out(name, block_time(step.args))
        if step.form == 'raw':
            time.sleep(0.002)
        self.collect(call)
        for args in self.fixes_of(call):
            for side in self.sides:
                conn = side.server.control if self.dbs == [0] else side.conns[name]
                conn.ask(*args)

    def probe(self, call: Call):
        """Probes run on the control connection, which is in database 0."""
        for args in self.probes(call) if self.dbs == [0] else ():
            (ref,), (sut,) = self.both([args])
            call.probes.append(ref)
            call.sut_probes.append(sut)

    def read_one(self, name: str, patience: float):
        for side in self.sides:
            if not side.inbox[name]:
                side.keep(name, side.conns[name].read(1, min(
                    patience, REPLY_TIMEOUT if side is self.ref else self.duel.patience)))

    def sit_out(self, name: str, seconds: float):
        """Waits for the end of a short blocking timeout."""
        due = time.monotonic() + seconds + self.duel.grace
        while True:
            for side in self.sides:
                side.drain()
            if all(side.inbox[name] for side in self.sides) or time.monotonic() > due:
                return
            time.sleep(seconds / 4)
            self.barrier()      # also wakes servers that check timeouts now and then

    def barrier(self):
        """When this returns, both servers have done all they were sent before."""
        for _ in range(2):
            for side in self.sides:
                side.server.control.send(encode((b'PING', BARRIER)))
            for side, patience in zip(self.sides, (REPLY_TIMEOUT, self.duel.patience)):
                if not side.server.control.read(1, patience):
                    raise side.server.died()

    def collect(self, call: Call):
        """Compares what came on all connections since the last time."""
        for side in self.sides:
            side.drain()
        due = time.monotonic() + self.duel.grace
        while any(len(self.ref.inbox[n]) != len(self.sut.inbox[n]) for n in self.ref.inbox) \
                and time.monotonic() < due:
            time.sleep(0.0005)
            for side in self.sides:
                side.drain()
        for name in sorted(self.ref.inbox):
            left, right = [settle(side.inbox[name], call) for side in self.sides]
            if name == call.conn:
                left, right = [reply_first(replies, is_message) for replies in (left, right)]
            for side in self.sides:
                side.inbox[name] = []
            for i in range(max(len(left), len(right))):
                a, b = [r[i] if i < len(r) else NO_REPLY for r in (left, right)]
                waiting = self.waiting.get(name)
                answer = waiting.pop(0) if waiting and not is_message(a) else None
                if answer:
                    answer.late = answer.step != call.step
                self.compare(answer or Call(call.name, call.args, call.step, name), a, b)
                if self.stopped:
                    return

    # comparing

    def compare(self, call: Call, a: Reply, b: Reply):
        self.duel.count(call, a)
        if a == b:
            return
        for one in [call] + call.queued:
            one.peers = tuple({c.address: name for name, c in side.conns.items() if not c.closed}
                              for side in self.sides)
        kind = judge(call, a, b)
        if kind is None and is_aggregate(a) and call.name in SCANS and not call.nested and call.args[1 + (
                call.name != 'scan')] == b'0':
            kind, a, b = self.finish_scan(call, a, b)
        if kind:
            self.report(call, kind, a, b)
        elif call.diverged:
            self.stopped = True
        elif error_codes(a) != error_codes(b):
            self.dirty.clear()      # only one version counts an error: nothing later compares counts

    def finish_scan(self, call: Call, a: Reply, b: Reply):
        """Completes a scan on both servers and compares what it returned."""
        small = keeps_order(call)
        full = [self.scan_rest(side, call, reply) for side, reply in zip(self.sides, (a, b))]
        twos = call.name in ('hscan', 'zscan')
        if call.name == 'zscan':        # scores come in the form of the encoding or of a double
            full = [tuple(('$', number_text(x)) if i % 2 else x for i, x in enumerate(f)) for f in full]
        left, right = [set(zip(f[::2], f[1::2])) if twos else set(f) for f in full]
        if left == right:
            return ('order' if small and full[0] != full[1] else None), a, b
        return 'value', ('*', full[0]), ('*', full[1])

    def scan_rest(self, side: Side, call: Call, reply: Reply) -> tuple:
        args = list(call.args)
        at = 1 if call.name == 'scan' else 2
        found, conn = reply[1][1][1], side.conn(call.conn)
        for _ in range(10000):
            if not is_aggregate(reply) or reply[1][0][1] == b'0':
                break
            args[at] = reply[1][0][1]
            reply = conn.ask(*args)
            if is_aggregate(reply):
                found += reply[1][1][1]
        return found

    def report(self, call: Call, kind: str, a: Reply, b: Reply):
        name = call.culprit or call.name
        if ignored(kind, self.duel.ignore):
            return
        self.stopped = not self.harmless(name, kind, a)
        self.diffs.append(Diff(name, kind, a, b, call.step, self.stopped))

    def harmless(self, name: str, kind: str, a: Reply) -> bool:
        """Whether both servers should still be in the same state."""
        if kind in REPLY_COUNT:
            return False
        return kind.startswith(SOFT_KINDS) or kind == 'missing-command' and is_error(a) \
            or name in HARMLESS or name.split(' ')[0] in HARMLESS or name.endswith(' help') \
            or name == 'hello' and kind == 'value' or self.duel.grammar.read_only(name)

    def both(self, commands: list) -> list[list]:
        """Runs commands on the control connections of both servers."""
        return self.each(commands, commands)

    def each(self, *commands: list) -> list[list]:
        """The same with other commands for the server under test."""
        controls = [side.server.control for side in self.sides]
        for control, batch in zip(controls, commands):
            control.send(b''.join(map(encode, batch)))
        replies = [control.read(len(batch), patience) for control, batch, patience in zip(
            controls, commands, (REPLY_TIMEOUT, self.duel.patience))]
        for side, got, batch in zip(self.sides, replies, commands):
            if len(got) < len(batch):
                raise side.server.died()
        return replies

    def clean_up(self):
        """Brings both servers back to the state they started with."""
        if self.sequence.lockstep:
            self.await_closed()
        commands = [(b'FLUSHALL',)]
        if self.names & {b'function', b'fcall', b'fcall_ro'}:
            commands.append((b'FUNCTION', b'FLUSH'))
        if self.names & {b'eval', b'evalsha', b'eval_ro', b'evalsha_ro', b'script'}:
            commands.append((b'SCRIPT', b'FLUSH'))
        if b'config' in self.names:
            touched = {a.lower() for s in self.sequence.steps for a in s.args
                       if s.args[0].lower() == b'config'}
            resets = [[(b'CONFIG', b'SET', n, defaults[n]) for n in sorted(touched)
                       if n in defaults] for defaults in self.duel.defaults]
            self.each(*resets)
        if self.names & {b'acl', b'auth', b'hello'}:
            commands += [(b'ACL', b'DELUSER') + USERS, (b'ACL', b'LOG', b'RESET')]
        if self.names & {b'slowlog', b'config'}:
            commands.append((b'SLOWLOG', b'RESET'))
        if b'client' in self.names:
            commands.append((b'CLIENT', b'UNPAUSE'))
        if b'latency' in self.names:
            commands.append((b'LATENCY', b'RESET'))
        if b'debug' in self.names:
            commands += [(b'DEBUG', b'SET-ACTIVE-EXPIRE', b'1'),
                         (b'DEBUG', b'QUICKLIST-PACKED-THRESHOLD', b'0')]
        self.both(commands)

    def await_closed(self):
        """A server may take a moment to notice that blocked or subscribed clients left."""
        due = time.monotonic() + 0.2
        while time.monotonic() < due:
            replies = self.both([(b'CLIENT', b'LIST')])
            if all((r[0][1] or b'').count(b'\n') <= 1 or is_error(r[0]) for r in replies):
                return
            time.sleep(0.002)
