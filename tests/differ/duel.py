"""The pair of servers, and what was learnt about them."""

from __future__ import annotations

import contextlib
from collections import Counter

from .grammar import Grammar
from .guards import CONFIG_VALUES
from .play import Run
from .resp import Reply, is_aggregate, show
from .rules import Call
from .sequences import Sequence, Step
from .servers import REPLY_TIMEOUT, Server
from .sides import Diff


class Duel:
    """The pair of servers, and what was learnt about them."""

    def __init__(self, ref: Server, sut: Server, grammar: Grammar, ignore: set):
        self.servers = (ref, sut)
        self.grammar, self.ignore = grammar, ignore
        self.patience = REPLY_TIMEOUT   # for replies of the server under test
        self.grace = 1.0                # for replies on other connections
        self.answered = Counter()       # commands the reference had a reply for
        self.commands = 0
        self.prepare()
        self.defaults = [self.config_of(server) for server in self.servers]

    @staticmethod
    def config_of(server: Server) -> dict:
        """The values that sequences may change."""
        found = {}
        for name in CONFIG_VALUES:
            reply = server.control.ask(b'CONFIG', b'GET', name)
            if is_aggregate(reply) and len(reply[1]) == 2:
                found[name] = reply[1][1][1]
        return found

    def prepare(self):
        """A slow machine must not fill the slow log by itself."""
        for server in self.servers:
            server.control.ask(b'CONFIG', b'SET', b'slowlog-log-slower-than', b'-1')
            reply = server.control.ask(b'FLUSHALL')
            if reply != ('+', b'OK'):
                raise OSError(f'{server.title} does not FLUSHALL: {show(reply)}')

    def restart(self, server: Server):
        server.restart()
        self.prepare()
        Run(self, Sequence([Step((b'PING',))])).clean_up()

    def play(self, sequence: Sequence) -> list[Diff]:
        diffs = Run(self, sequence).play()
        self.commands += sum(bool(s.args) for s in sequence.steps)
        return diffs

    @contextlib.contextmanager
    def hurried(self):
        """Shorter waiting, for the many runs of shrinking."""
        before = self.patience, self.grace
        self.patience, self.grace = 1.0, 0.3
        yield
        self.patience, self.grace = before

    def count(self, call: Call, reply: Reply):
        """Coverage: which commands the reference answered without an error."""
        if call.name == 'exec' and is_aggregate(reply) and len(reply[1]) == len(call.queued):
            for inner, part in zip(call.queued, reply[1]):
                self.count(inner, part)
        if reply[0] not in '-!' and reply != ('+', b'QUEUED'):
            name = call.name
            self.answered[name if name in self.grammar.commands else name.split(' ')[0]] += 1
