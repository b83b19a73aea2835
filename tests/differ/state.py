"""Comparing the key spaces that a sequence leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from .guards import command_name
from .resp import Reply, is_aggregate, quote
from .rules import Call, classify, error_class, judge, near
from .sides import CONTENT_COMMANDS, Diff, ignored
from .version_differences import hinted_encoding, same_encoding

if TYPE_CHECKING:
    from .play import Run


class StateCheck:
    """Compares the key spaces after a sequence."""

    def __init__(self, run: Run):
        self.run, self.both = run, run.both

    def check(self):
        for db in self.run.dbs:
            if len(self.run.dbs) > 1:
                self.both([(b'SELECT', b'%d' % db)])
            self.check_db(f'db {db} ' if db else '')
        if len(self.run.dbs) > 1:
            self.both([(b'SELECT', b'0')])
        if b'function' in self.run.names:
            self.check_reply('functions', (b'FUNCTION', b'LIST', b'WITHCODE'))
        if b'acl' in self.run.names:
            self.check_reply('users', (b'ACL', b'LIST'))

    def check_reply(self, what: str, command: tuple):
        (a,), (b,) = self.both([command])
        if judge(Call(command_name(command), command), a, b):
            self.differ(what, command, None, a, b)

    def differ(self, what: str, command: tuple, key: Optional[bytes], a: Reply, b: Reply,
               where: str = ''):
        """Notes a difference in what the command told about the key."""
        kind = f'state-{what}'
        if classify(a, b) == 'missing-command':
            self.add(command_name(command), 'missing-command', a, b)
            return
        if ignored(kind, self.run.duel.ignore):
            return
        name = self.run.sequence.steps[self.last_writer(key)].name
        if key is not None:
            where += f'key {quote(key)}'
        self.run.diffs.append(Diff(name, kind, a, b, where=where))

    def last_writer(self, key: Optional[bytes]) -> int:
        """The last step that may have made the key what it is."""
        steps = self.run.sequence.steps
        for i in reversed(range(len(steps))):
            if steps[i].form != 'sleep' and steps[i].args and (
                    key is None or key in steps[i].args or steps[i].form == 'raw') \
                    and not self.run.duel.grammar.read_only(steps[i].name):
                return i
        return len(steps) - 1

    def check_db(self, where: str):
        command = (b'KEYS', b'*')
        (left,), (right,) = self.both([command])
        if not (is_aggregate(left) and is_aggregate(right)):
            if left != right:
                self.differ('keys', command, None, left, right, where)
            return
        keys = [sorted(r[1] or b'' for r in reply[1]) for reply in (left, right)]
        for key in sorted(set(keys[0]) ^ set(keys[1])):
            a, b = [('+', b'exists' if key in side else b'none') for side in keys]
            self.differ('keys', command, key, a, b, where)
        common = [k for k in keys[0] if k in set(keys[1])]
        if common:
            self.check_keys(common, where)

    def check_keys(self, keys: list, where: str):
        questions = [((b'TYPE', k), (b'OBJECT', b'ENCODING', k), (b'PTTL', k)) for k in keys]
        meta = self.both([command for three in questions for command in three])
        contents = []           # (key, type, encoding, command that reads it)
        for i, key in enumerate(keys):
            (kind, encoding, ttl), (kind2, encoding2, ttl2) = [
                m[3 * i:3 * i + 3] for m in meta]
            if kind != kind2:
                self.differ('type', questions[i][0], key, kind, kind2, where)
                continue
            if encoding != encoding2 and not (
                    same_encoding(kind[1], encoding[1], encoding2[1])
                    or hinted_encoding(encoding[1], encoding2[1], self.run.sequence.steps, key)):
                self.differ('encoding', questions[i][1], key, encoding, encoding2, where)
            if ttl != ttl2 and near(2000)(Call('pttl', ()), ttl, ttl2):
                self.differ('ttl', questions[i][2], key, ttl, ttl2, where)
            if kind[1] in CONTENT_COMMANDS:
                contents += [(key, kind[1], encoding[1] if encoding == encoding2 else None, read)
                             for read in CONTENT_COMMANDS[kind[1]]]
        left, right = self.both([read(key) for key, _, _, read in contents])
        equal = []
        for (key, kind, encoding, read), a, b in zip(contents, left, right):
            found = None if a == b else self.content_kind(read(key), encoding, a, b)
            if found:
                what = 'internals' if found == 'internals' else f'content {kind.decode()}'
                self.differ(what, read(key), key, a, b, where)
            else:
                equal.append((key, kind, read))
        if self.run.sequence.dump and equal:
            self.check_dumps(equal)

    def content_kind(self, command: tuple, encoding: Optional[bytes], a: Reply, b: Reply):
        call = Call(command_name(command), command)
        if encoding and not self.run.reloaded:
            call.probes = call.sut_probes = [('$', encoding)]
        return judge(call, a, b)

    def check_dumps(self, equal: list):
        """Each server restores what the other one dumped."""
        keys = list(dict.fromkeys(key for key, *_ in equal))
        dumps = self.both([(b'DUMP', key) for key in keys])
        for a, b in zip(*dumps):
            if a[0] != '$' or b[0] != '$':
                self.add('dump', classify(a, b), a, b)
                return

        def restore(prefix, values):
            return [(b'RESTORE', prefix + key, b'0', value[1], b'REPLACE')
                    for key, value in zip(keys, values)]
        mine, theirs = dumps
        # Not the original but what the reference makes of its own dump is right: a sorted
        # set may come back with 0 for -0, for instance.
        results = self.run.each(restore(b'differ:', theirs) + restore(b'differ-own:', mine),
                                restore(b'differ:', mine))
        reads = [read(b'differ:' + key) for key, _, read in equal]
        own = [read(b'differ-own:' + key) for key, _, read in equal]
        found = self.run.each(reads + own, reads)
        for side, answers, contents in zip(('dump-to-ref', 'dump-to-sut'), results, found):
            answer = dict(zip(keys, answers))
            for (key, kind, read), value, wanted in zip(equal, contents, found[0][len(reads):]):
                where = f'key {quote(key)}'
                if answer[key] != ('+', b'OK'):
                    self.add('restore', f'{side} {error_class(answer[key])}', ('+', b'OK'),
                             answer[key], where)
                elif value != wanted and self.content_kind(
                        read(key), None, wanted, value) not in (None, 'internals'):
                    self.add('restore', f'{side} {kind.decode()}', wanted, value, where)
        self.both([(b'DEL',) + tuple(prefix + key for key in keys
                                     for prefix in (b'differ:', b'differ-own:'))])

    def add(self, name: str, kind: str, a: Reply, b: Reply, where: str = ''):
        if not ignored(kind, self.run.duel.ignore):
            self.run.diffs.append(Diff(name, kind, a, b, where=where))
