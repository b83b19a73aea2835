"""What playing a sequence works with: differences, one server's half of a run, pushed messages."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .resp import CLOSED, Reply
from .rules import Call
from .servers import BARRIER, Conn, Server

NO_REPLY = ('none', b'')
REPLY_COUNT = ('no-reply', 'extra-reply', 'malformed-reply')
SOFT_KINDS = ('error-text', 'encoding', 'internals', 'fields')
# Commands, or first words of commands, that change nothing (beside those that COMMAND
# flags as read-only): the comparison goes on after a difference in their reply.
HARMLESS = frozenset(
    'command,latency,memory,pubsub,xinfo,object,cluster,ping,echo,time,info,role,lolwut,'
    'lastsave,wait,slowlog get,slowlog len,config get,script exists,acl cat,acl list,acl users,'
    'acl whoami,acl getuser,acl dryrun,acl genpass,function list,function stats,function dump,'
    'client id,client info,client list,client getname,client getredir,client trackinginfo,'
    'debug object,debug digest,debug protocol'.split(','))
MESSAGE_WORDS = (b'message', b'pmessage', b'smessage', b'subscribe', b'psubscribe',
                 b'ssubscribe', b'unsubscribe', b'punsubscribe', b'sunsubscribe', b'invalidate')
# What reads the whole content of a key, by type.
CONTENT_COMMANDS = {
    b'string': [lambda k: (b'GET', k)],
    b'list': [lambda k: (b'LRANGE', k, b'0', b'-1')],
    b'set': [lambda k: (b'SMEMBERS', k)],
    b'zset': [lambda k: (b'ZRANGE', k, b'0', b'-1', b'WITHSCORES')],
    b'hash': [lambda k: (b'HGETALL', k)],
    b'stream': [lambda k: (b'XRANGE', k, b'-', b'+'),
                lambda k: (b'XINFO', b'STREAM', k, b'FULL', b'COUNT', b'0')],
}


@dataclass
class Diff:
    """A difference between the two servers."""
    command: str
    kind: str
    ref: Reply
    sut: Reply
    step: int = -1              # index of the step; -1 for the final state
    stops: bool = False         # the rest of the sequence could not be compared
    where: str = ''             # for the final state: what was compared

    @property
    def key(self) -> tuple:
        return self.command, self.kind


class Side:
    """One server's half of a run: its connections and what came on them."""

    def __init__(self, server: Server, wants_ids: bool, resp3: bool = False):
        self.server, self.wants_ids, self.resp3 = server, wants_ids, resp3
        self.conns: dict[str, Conn] = {}
        self.inbox: dict[str, list] = {}
        self.gone: set[str] = set()

    def conn(self, name: str) -> Conn:
        if name not in self.conns:
            self.conns[name] = conn = self.server.connect()
            self.inbox[name] = []
            if self.resp3:
                conn.ask(b'HELLO', b'3')
            if self.wants_ids:
                conn.client_id = conn.ask(b'CLIENT', b'ID')[1] or b'0'
        return self.conns[name]

    def fill_in(self, arg: bytes) -> bytes:
        """Replaces <id:B> and <addr:B>."""
        match = re.fullmatch(rb'<(id|addr):(\w+)>', arg)
        if not match:
            return arg
        conn = self.conn(match.group(2).decode())
        return conn.client_id if match.group(1) == b'id' else conn.address

    def drain(self):
        """Moves everything that has arrived to the inboxes."""
        for name, conn in self.conns.items():
            while conn.pull(0):
                pass
            self.keep(name, conn.take())
            if conn.closed and name not in self.gone:
                self.gone.add(name)
                self.inbox[name].append(CLOSED)

    def keep(self, name: str, replies: list):
        self.inbox[name] += [r for r in replies if r[0] != '+' or BARRIER not in r[1]]

    def close(self):
        for conn in self.conns.values():
            conn.close()


@dataclass
class Item:
    """A command in a pipelined write: a step's, or a probe for it."""
    args: tuple
    call: Call
    probe: bool = False
    inline: bool = False
    expected: bool = True       # False while CLIENT REPLY is off


MONITOR_LINE = re.compile(rb'\d+\.\d+ \[(\d+) (lua)?[^\]]*\]')


def is_message(reply: Reply) -> bool:
    """Something other than the answer to a command."""
    return reply[0] == '>' or reply[0] == '*' and bool(reply[1]) \
        and reply[1][0][0] == '$' and reply[1][0][1] in MESSAGE_WORDS \
        or reply[0] == '+' and bool(MONITOR_LINE.match(reply[1]))


def one_message(reply: Reply):
    """The message that a pmessage brings."""
    return reply[0] in '*>' and is_message(reply) and reply[1][0][1] == b'pmessage' and reply[1][2:]


def missing_key(reply: Reply):
    return bool(one_message(reply)) and any(b'keymiss' in (part[1] or b'') for part in reply[1][2:])


def settle_runs(replies: list, key):
    """Sorts neighbouring replies for which key tells the same."""
    start = 0
    for i in range(1, len(replies) + 1):
        if i == len(replies) or not key(replies[i]) or key(replies[i]) != key(replies[start]):
            replies[start:i] = sorted(replies[start:i]) if key(replies[start]) else replies[start:i]
            start = i


def settle(replies: list, call: Call) -> list:
    """Takes out of pushed messages what is not deterministic (see RULES)."""
    out = [('+', MONITOR_LINE.sub(rb'TIME [\1 \2]', r[1])) if r[0] == '+' else r
           for r in replies]
    settle_runs(out, one_message)
    if call.name in ('sort', 'sort_ro', 'exec'):    # SORT looks keys up in the order of a hash table
        settle_runs(out, missing_key)
    if call.name.endswith('unsubscribe') and len(call.args) == 1:
        acks = [r for r in out if is_message(r)]
        names = sorted(r[1][1] for r in acks)
        out = [(r[0], r[1][:1] + (names.pop(0),) + r[1][2:]) if is_message(r) else r
               for r in out]
    return out


def first_extra(long: list, short: list) -> int:
    """Which reply of the long list is the first that the short one lacks.

    Aligns the two so that as many replies as possible are equal, or at least alike.
    """
    def alike(a, b):
        return 3 * (a == b) + (a[0] == b[0]) + ((a[1] or b'')[:8] == (b[1] or b'')[:8])

    spare = len(long) - len(short)
    best = [[0] * (spare + 1) for _ in range(len(short) + 1)]   # by position and skipped
    for at in reversed(range(len(short))):
        for skipped in range(spare, -1, -1):
            a, b = long[at + skipped], short[at]
            take = best[at + 1][skipped] + alike(a, b)
            skip = best[at][skipped + 1] if skipped < spare else 0
            best[at][skipped] = max(take, skip)
    for at, b in enumerate(short):
        if best[at + 1][0] + alike(long[at], b) < best[at][0]:
            return at
    return len(short)


def ignored(kind: str, ignore: set) -> bool:
    return kind in ignore or kind.split(' ')[0] in ignore \
        or kind.removeprefix('state-').split(' ')[0] in ignore
