"""Sequences out of seeds: one builder for each group of commands."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from .calls import Calls, Mutator
from .grammar import Grammar
from .guards import BLOCKING, CONFIG_VALUES, LONG_MIN, SCANS, SUBSCRIBING, allowed, track_multi
from .resp import encode, quote
from .scripts import BUSY_LIBRARY, BUSY_SCRIPT, LIBRARIES
from .sequences import Sequence, Step
from .values import EDGE_INTS, KEYS, KIND_OF_GROUP, NO_INTS

EXPIRE_COMMANDS = ('expire pexpire expireat pexpireat ttl pttl expiretime pexpiretime persist '
                   'set getex setex psetex getset getdel rename copy incr append type '
                   'object|encoding restore setrange hset lpush sunionstore mset').split()
ACL_COMMANDS = ('acl|setuser acl|setuser acl|setuser acl|getuser acl|deluser acl|list acl|users '
                'acl|whoami acl|cat acl|dryrun acl|genpass acl|log acl|load acl|save '
                'acl|help').split()
GROUPS = ('string', 'list', 'set', 'zset', 'hash', 'stream', 'hll', 'geo', 'bitmap', 'generic',
          'expire', 'multi', 'scripting', 'pubsub', 'blocking', 'server', 'acl', 'errors',
          'resp3', 'dump', 'tracking', 'events', 'encoding', 'touch', 'stats')
# Commands without which a group has nothing to play; the groups that are not named here need the
# commands of names_of().
NEEDS = {'errors': (), 'resp3': ('hello',), 'dump': ('dump', 'restore'),
         'tracking': ('client tracking',), 'events': ('psubscribe', 'config set'),
         'encoding': ('object encoding', 'config set'), 'touch': ('object freq', 'config set'),
         'stats': ('info', 'config resetstat')}
BLOCKERS = {'l': ('blpop', 'brpop', 'blmove', 'blmpop', 'brpoplpush'),
            'z': ('bzpopmin', 'bzpopmax', 'bzmpop'), 'x': ('xread', 'xreadgroup')}
NEEDS['blocking'] = BLOCKERS['l']
DOC_GROUPS = {'zset': ('sorted-set',), 'hll': ('hyperloglog',), 'multi': ('transactions',),
              'server': ('server', 'connection', 'cluster')}
DATA_GROUPS = ('string', 'list', 'set', 'sorted-set', 'hash', 'stream', 'hyperloglog', 'geo',
               'bitmap', 'generic')
# Commands that are slow or huge: drawn this much less often than others.
SELDOM = {'pfselftest': 0.0005, 'command': 0.03, 'command docs': 0.2, 'save': 0.05,
          'bgsave': 0.05, 'bgrewriteaof': 0.05, 'pfdebug': 0.1, 'lolwut': 0.2, 'migrate': 0.2,
          'flushall': 0.1, 'flushdb': 0.1, 'swapdb': 0.4, 'move': 0.5, 'wait': 0.2,
          'client pause': 0.2, 'quit': 0.1, 'memory malloc-stats': 0.02, 'debug': 1.0,
          'command info': 0.5, 'restore-asking': 0.3, 'memory stats': 0.2, 'monitor': 0,
          'function flush': 0.3, 'function restore': 0.5, 'script flush': 0.3}


class Generator:
    """Makes the sequence that belongs to a seed."""

    def __init__(self, grammar: Grammar, samples: dict, groups: list, length: int):
        self.grammar, self.length = grammar, length
        self.samples = dict(samples)
        by_group = {}
        for name, command in sorted(grammar.commands.items()):
            by_group.setdefault(command.group, []).append(name)
        self.by_group = by_group
        self.names = {g: self.names_of(g) for g in GROUPS}
        data = [n for g in DATA_GROUPS for n in by_group.get(g, ()) if n not in SELDOM
                and n not in BLOCKING]
        self.data = self.samples['data'] = data
        self.groups = [g for g in groups if self.playable(g)]
        self.every = [n for n in sorted(grammar.commands)
                      if n not in SUBSCRIBING and n not in BLOCKING]

    def playable(self, group: str) -> bool:
        if group in NEEDS:
            return all(name in self.grammar.commands for name in NEEDS[group])
        return bool(self.names[group])

    def names_of(self, group: str) -> list:
        """The commands of a group."""
        if group == 'expire':
            names = [n.replace('|', ' ') for n in EXPIRE_COMMANDS]
        elif group == 'acl':
            names = [n.replace('|', ' ') for n in ACL_COMMANDS]
        else:
            names = [n for g in DOC_GROUPS.get(group, (group,)) for n in self.by_group.get(g, ())]
        if group == 'server':
            names = [n for n in names if not n.startswith('acl ')] + [
                'object encoding', 'config get', 'config set', 'debug', 'debug', 'client list']
        if group not in ('blocking', 'multi', 'pubsub'):
            names = [n for n in names if n not in BLOCKING or n in ('xread', 'xreadgroup', 'wait')]
        return [n for n in names if n in self.grammar.commands]

    def sequence(self, seed: int) -> Sequence:
        group = random.Random(seed).choice(self.groups)
        self.rng = random.Random(f'{seed}/{group}')
        self.calls = Calls(self.rng, self.grammar, self.samples)
        self.mutator = Mutator(self.calls)
        self.wrong = 0.1        # share of calls that are made invalid
        self.steps = []
        self.tries = 0          # calls made, those that were not added among them
        self.queued = Counter()
        self.lockstep = False
        build = getattr(self, 'build_' + group, None)
        build() if build else self.build_data(group)
        sequence = Sequence(self.steps, group, seed, self.lockstep, dump=group == 'dump')
        if not self.lockstep:
            self.vary_transport(sequence)
        return sequence

    def vary_transport(self, sequence: Sequence):
        if self.calls.chance(0.1):
            sequence.split = self.rng.randrange(1, 1 << 30)
        if self.calls.chance(0.1):
            sequence.steps = [
                replace(s, form='inline') if s.form == 'resp' and self.calls.chance(0.4)
                and sum(map(len, s.args)) < 5000 else s for s in sequence.steps]

    # parts

    def add(self, args: tuple, conn: str = 'A', form: str = 'resp'):
        self.tries += 1
        if allowed(args, bool(self.queued[conn]), self.lockstep) and self.grammar.sendable(args):
            step = Step(tuple(args), conn, form)
            self.steps.append(step)
            track_multi(self.queued, step)

    def command(self, name: str, conn: str = 'A'):
        """Adds a call, sometimes an invalid one."""
        args = self.calls.make(name)
        if self.calls.chance(self.wrong) and not any(a.startswith(b'<') for a in args):
            args = self.mutator.mutate(args)
        self.add(args, conn)

    def more(self, length: int) -> bool:
        """Whether to go on; a server that knows few commands may leave nothing to send."""
        return len(self.steps) < length and self.tries < 20 * self.length

    def one_of(self, names: list, conn: str = 'A'):
        self.tries += 1
        if not names:
            return
        name = self.calls.pick(names)
        if self.calls.chance(SELDOM.get(name, 1.0)):
            self.command(name, conn)

    def populate(self, kinds: str, conn: str = 'A'):
        for kind in kinds:
            count = self.calls.pick([12, 130, 140, 520, 600]) if self.calls.chance(0.03) else 0
            if kind == 'x' and count:
                for _ in range(min(count, 130)):
                    self.add(self.calls.fill(kind), conn)
            else:
                self.add(self.calls.fill(kind, count), conn)

    def config(self):
        """Sometimes small limits, so that encodings change often."""
        if self.calls.chance(0.06):
            name = self.calls.pick([n for n in CONFIG_VALUES if b'-max-' in n[:12]
                                    or n.startswith(b'list-')])
            self.add((b'CONFIG', b'SET', name, self.calls.pick(CONFIG_VALUES[name])))

    # builders, one per group

    def build_data(self, group: str):
        names = self.names[group]
        kind = KIND_OF_GROUP.get(DOC_GROUPS.get(group, (group,))[0])
        self.config()
        self.populate((kind * 4 if kind else '') + ''.join(self.rng.sample('sltzhxpgb', 3)))
        if group in ('generic', 'expire', 'dump'):
            self.populate('sltzhxb')
            self.add((b'MSET', b'w_1', b'3', b'w_2', b'1', b'w_a', b'2', b'w_b', b'x'))
            self.add((b'HSET', b'hw_1', b'f', b'5'))
            self.consumer_groups()
        if group == 'dump':
            names = self.data
        if group == 'stream':
            self.consumer_groups()
        while self.more(self.length):
            if self.calls.chance(0.15):
                self.background()
            elif group == 'dump' and self.calls.chance(0.3):
                self.command(self.calls.pick(['restore', 'dump', 'copy', 'restore', 'debug']))
            elif group == 'expire' and self.calls.chance(0.01):
                self.short_lived()
            else:
                self.one_of(names)

    def consumer_groups(self, conn: str = 'A'):
        for key, group in ((b'x0', b'g1'), (b'x1', b'g1'), (b'x0', b'g2')):
            if self.calls.chance(0.8):
                self.add((b'XGROUP', b'CREATE', key, group, b'0', b'MKSTREAM'), conn)

    def background(self, conn: str = 'A'):
        """Something from another group, so that types and TTLs change."""
        x = self.rng.random()
        if x < 0.45:
            self.populate(self.calls.pick('sltzhxpgb'), conn)
        elif x < 0.75:
            self.command(self.calls.pick(['del', 'type', 'object encoding', 'exists', 'expire',
                                          'ttl', 'rename', 'copy', 'unlink', 'persist']), conn)
        else:
            self.one_of(self.data, conn)

    def short_lived(self, conn: str = 'A'):
        """A key that expires during a pause."""
        if self.queued[conn]:
            return
        key = self.calls.key_of(None)
        args = self.calls.pick([(b'PEXPIRE', key, b'5'), (b'PSETEX', key, b'3', b'v'),
                                (b'SET', key, b'v', b'PX', b'5'), (b'GETEX', key, b'PX', b'4')])
        self.steps.append(Step(args, conn))
        self.steps.append(Step((b'20',), form='sleep'))
        for name in self.rng.sample(['get', 'ttl', 'exists', 'type', 'object encoding'], 2):
            self.add(tuple(name.upper().encode().split()) + (key,), conn)

    def build_busy(self):
        """Scripts that have to be killed."""
        self.lockstep = True
        self.add((b'CONFIG', b'SET', b'busy-reply-threshold', b'5'), 'C')
        self.add((b'FUNCTION', b'LOAD', BUSY_LIBRARY), 'C')
        for _ in range(2):
            self.add(self.calls.pick([(b'EVAL', BUSY_SCRIPT, b'0'), (b'FCALL', b'busy', b'0')]))
            for args in self.rng.sample([(b'PING',), (b'GET', b's0'), (b'SCRIPT', b'FLUSH'),
                                         (b'FUNCTION', b'STATS'), (b'MULTI',), (b'EXEC',),
                                         (b'ECHO', b'x'), (b'HELLO', b'3'), (b'QUIT',)], 3):
                self.add(args, 'B')
            kills = [(b'SCRIPT', b'KILL'), (b'FUNCTION', b'KILL')]
            for args in self.rng.sample(kills, 2):
                self.add(args, 'C')

    def build_scripting(self):
        if self.calls.chance(0.01):
            return self.build_busy()
        self.populate('sslh')
        for library in self.rng.sample(LIBRARIES[:9], self.calls.pick([0, 1, 2, 3])):
            self.add((b'FUNCTION', b'LOAD', b'REPLACE', library))
        for _ in range(self.calls.pick([0, 2, 5])):
            self.add((b'SCRIPT', b'LOAD', self.calls.known_script()))
        while self.more(self.length):
            if self.calls.chance(0.5):
                self.command(self.calls.pick(['eval', 'eval', 'fcall', 'function load',
                                              'evalsha']))
            else:
                self.one_of(self.names['scripting'])
        return None

    def build_server(self):
        self.populate('slzh')
        if self.calls.chance(0.15):
            self.add((b'CONFIG', b'SET', b'slowlog-log-slower-than', b'0'))
        if self.calls.chance(0.03):
            self.add((b'CONFIG', b'SET', b'latency-monitor-threshold', b'40'))
            self.add((b'DEBUG', b'SLEEP', b'0.05'))
            self.add((b'LATENCY', b'GRAPH', b'command'))
        if self.calls.chance(0.15):
            self.build_monitor()
            return
        while self.more(self.length):
            self.one_of(self.names['server'])

    def build_monitor(self):
        """A client that watches what others do."""
        self.lockstep = True
        self.add((b'MONITOR',), 'M')
        quiet = [n for n in self.data if n not in SCANS]    # a scan takes many calls
        for _ in range(self.length // 4):
            self.one_of(quiet)

    def build_resp3(self):
        self.add((b'HELLO', b'3'))
        self.populate('sltzhxg')
        self.consumer_groups()
        if self.calls.chance(0.3):
            self.add((b'FUNCTION', b'LOAD', self.calls.pick(LIBRARIES[:9])))
        group = self.calls.pick(['scripting', 'server', ''] + ['data'] * 9)
        names = self.names.get(group) or self.data
        while self.more(self.length):
            if self.calls.chance(0.06):
                self.add((b'MULTI',))
                for _ in range(self.calls.few()):
                    self.one_of(names)
                self.add((b'EXEC',))
            elif self.calls.chance(0.15):
                self.background()
            else:
                self.one_of(names)

    def build_tracking(self):
        """Invalidation messages."""
        self.lockstep = True
        self.add((b'PING',), 'C')
        self.add((b'HELLO', self.calls.pick([b'3', b'3', b'3', b'2'])))
        self.command('client tracking')
        while self.more(self.length * 2 // 3):
            x = self.rng.random()
            if x < 0.1:
                self.command(self.calls.pick(['client tracking', 'client caching',
                                              'client trackinginfo', 'client getredir']))
            elif x < 0.5:
                self.command(self.calls.pick(['get', 'hgetall', 'lrange', 'exists', 'mget',
                                              'set', 'strlen']))
            elif x < 0.9:
                self.one_of(['set', 'del', 'incr', 'lpush', 'hset', 'rename', 'append', 'expire',
                             'mset', 'flushall'], 'B')
            else:
                self.add((b'MULTI',), 'B')
                self.command('set', 'B')
                self.command('get', 'B')
                self.add((b'EXEC',), 'B')

    def build_multi(self):
        self.lockstep = self.calls.chance(0.5)
        other = 'B' if self.lockstep else 'A'
        self.populate('sltzhx')
        if self.lockstep and self.calls.chance(0.3):
            self.add((b'HELLO', b'3'))
        length = self.length * 2 // 3 if self.lockstep else self.length
        while self.more(length):
            if self.calls.chance(0.5):
                self.command('watch')
            if self.calls.chance(0.3):
                self.one_of(['set', 'del', 'lpush', 'expire', 'rename', 'flushdb', 'incr', 'sadd',
                             'get', 'unwatch'], other)
            self.add((b'MULTI',))
            for _ in range(self.calls.few()):
                self.one_of(self.data)
                if self.calls.chance(0.1):
                    self.one_of(['multi', 'watch', 'unwatch', 'blpop', 'xread', 'brpoplpush',
                                 'discard', 'exec', 'bzpopmin', 'select', 'eval', 'nosuch'])
                if self.lockstep and self.calls.chance(0.1):
                    self.one_of(['set', 'del', 'lpush', 'get', 'exec'], 'B')
            self.add((self.calls.pick([b'EXEC', b'EXEC', b'EXEC', b'EXEC', b'DISCARD']),))
            if self.calls.chance(0.2):
                self.background()

    def build_pubsub(self):
        self.lockstep = True
        for conn in 'AB':
            if self.calls.chance(0.3):
                self.add((b'HELLO', b'3'), conn)
        while self.more(self.length * 2 // 3):
            x = self.rng.random()
            conn = self.calls.pick('AAB')
            if x < 0.3:
                self.command(self.calls.pick(sorted(SUBSCRIBING)), conn)
            elif x < 0.4:
                self.command(self.calls.pick(['subscribe', 'psubscribe', 'ssubscribe']), conn)
            elif x < 0.7:
                self.command(self.calls.pick(['publish', 'publish', 'spublish']), 'C')
            elif x < 0.85:
                self.command(self.calls.pick([n for n in self.names['pubsub']
                                              if n.startswith('pubsub')]), 'C')
            else:
                self.command(self.calls.pick(['ping', 'get', 'reset', 'publish', 'client id',
                                              'echo', 'quit', 'multi', 'exec', 'hello']), conn)

    def build_events(self):
        """A client that hears of every change to keys, in its order."""
        self.lockstep = True
        calls = self.calls
        if calls.chance(0.3):
            self.add((b'HELLO', b'3'))
        classes = calls.pick([b'KEA'] * 3 + [b'KEAmn'] * 3 + [b'Knm', b'Ezh', b'Kg$', b'Elx', b'KEtm'])
        self.add((b'CONFIG', b'SET', b'notify-keyspace-events', classes), 'C')
        self.add((b'DEBUG', b'SET-ACTIVE-EXPIRE', b'0'), 'C')
        self.add((b'PSUBSCRIBE', b'__key*__:*'))
        self.populate('sltzhx', 'C')
        # A scan takes many calls; which expired key RANDOMKEY comes upon is a matter of chance; BITCOUNT and
        # BITPOS look at their arguments before the key since 7.2, and then miss nothing.
        quiet = [n for n in self.data if n not in SCANS and n not in ('randomkey', 'bitcount', 'bitpos')]
        kind = calls.pick([k for k in BLOCKERS if BLOCKERS[k][0] in self.grammar.commands])
        while self.more(self.length * 2 // 3):
            x = self.rng.random()
            if x < 0.05:
                self.short_lived('C')
            elif x < 0.15:
                self.command(calls.pick(BLOCKERS[kind]), 'B')
            elif x < 0.25:
                self.add((b'MULTI',), 'C')
                for _ in range(calls.few() + 1):
                    self.one_of(quiet, 'C')
                self.add((b'EXEC',), 'C')
            elif x < 0.4:
                self.one_of(self.names['expire'], 'C')
            else:
                self.one_of(quiet, 'C')

    def build_encoding(self):
        """Limits that change, and the encoding after each change of a key."""
        calls = self.calls
        kind = calls.pick('sltzhlhz')
        names = self.names[{'s': 'string', 'l': 'list', 't': 'set', 'z': 'zset', 'h': 'hash'}[kind]]
        limits = [n for n in CONFIG_VALUES if {'l': b'list-', 't': b'set-', 'z': b'zset-', 'h': b'hash-',
                                               's': b'hll-'}[kind] in n[:5]]
        while self.more(self.length):
            x = self.rng.random()
            if x < 0.15:
                name = calls.pick(limits)
                self.add((b'CONFIG', b'SET', name, calls.pick(CONFIG_VALUES[name])))
            elif x < 0.25:
                self.add(calls.fill(kind, calls.pick([0, 0, 5, 130, 520])))
            elif x < 0.3:
                self.command(calls.pick(['copy', 'rename', 'sort', 'del']))
            elif x < 0.35 and 'debug' in self.grammar.commands:
                self.add((b'DEBUG', b'OBJECT', calls.key_of(kind)))
            else:
                self.one_of(names)
            self.add((b'OBJECT', b'ENCODING', calls.key_of(kind)))

    def build_touch(self):
        """Which commands count as an access to a key: without chance, each makes its count one more."""
        self.add((b'CONFIG', b'SET', b'maxmemory', b'4gb', b'maxmemory-policy', b'allkeys-lfu',
                  b'lfu-log-factor', b'0', b'lfu-decay-time', b'0'))
        self.populate('sltzhxpgb')
        # BITCOUNT and BITPOS look at their arguments before the key since 7.2.
        names = [n for n in self.data if n not in SCANS and n not in ('spop', 'bitcount', 'bitpos', 'object freq')]
        while self.more(self.length):
            x = self.rng.random()
            if x < 0.05:
                self.add((b'MULTI',))
                for _ in range(self.calls.few()):
                    self.one_of(names)
                self.add((b'EXEC',))
            else:
                self.one_of(names)
            if LONG_MIN in self.steps[-1].args:     # 7.2 refuses it as a rank before it looks at the key
                del self.steps[-1]
            for key in [a for a in self.steps[-1].args[1:] if any(a in keys for keys in KEYS.values())]:
                self.add((b'OBJECT', b'FREQ', key))

    def build_stats(self):
        """What INFO counts, from zero."""
        self.add((b'CONFIG', b'RESETSTAT'))
        self.add((b'DEBUG', b'SET-ACTIVE-EXPIRE', b'0'))
        self.populate('sltzh')
        self.wrong = self.calls.pick([0.1, 0.5])
        names = [n for n in self.calls.pick([self.data, self.every]) if n not in SCANS and n not in ('randomkey', 'bitcount', 'bitpos')
                 and n.split(' ')[0] not in ('info', 'config', 'acl', 'debug', 'auth', 'hello', 'quit')]
        while self.more(self.length):
            x = self.rng.random()
            if x < 0.04:
                self.add((b'MULTI',))
                for _ in range(self.calls.few()):
                    self.one_of(names)
                self.add((b'EXEC',))
            elif x < 0.06:
                self.short_lived()
            elif x < 0.2:
                self.add((b'INFO', self.calls.pick([b'stats', b'commandstats', b'errorstats',
                                                    b'persistence', b'keyspace', b'all'])))
            else:
                self.one_of(names)
        self.add((b'INFO', b'all'))

    def build_blocking(self):
        self.lockstep = True
        calls = self.calls
        calls.blocking = 0.8
        waker = {'l': ['rpush', 'lpush', 'linsert', 'lmove', 'rpoplpush', 'sort', 'rename'],
                 'z': ['zadd', 'zunionstore', 'zincrby', 'rename', 'zrangestore'],
                 'x': ['xadd', 'xgroup create', 'xdel', 'rename', 'xgroup destroy']}
        kind = calls.pick([k for k in BLOCKERS if BLOCKERS[k][0] in self.grammar.commands])
        if calls.chance(0.2):
            self.add((b'HELLO', b'3'))
        if kind == 'x':
            self.consumer_groups('C')
        while self.more(self.length // 2):
            for conn in self.rng.sample('AB', calls.pick([1, 2, 2])):
                self.command(calls.pick(BLOCKERS[kind]), conn)
            for _ in range(calls.few()):
                x = self.rng.random()
                if x < 0.55:
                    self.command(calls.pick(waker[kind]), 'C')
                elif x < 0.65:
                    self.add(calls.fill(kind), 'C')
                elif x < 0.75:
                    self.add((b'MULTI',), 'C')
                    for _ in range(calls.few()):
                        self.command(calls.pick(waker[kind] + ['del', 'set', 'lpop']), 'C')
                    self.add((b'EXEC',), 'C')
                elif x < 0.85:
                    self.command(calls.pick(['client unblock', 'wait']), 'C')
                elif x < 0.9:
                    self.command(calls.pick(['del', 'set', 'eval', 'restore', 'copy']), 'C')
                else:
                    self.background('C')
        calls.blocking = 0.0

    def build_acl(self):
        self.lockstep = self.calls.chance(0.4)
        user = 'B' if self.lockstep else 'A'
        self.populate('sl')
        self.add((b'ACL', b'SETUSER', b'u1', b'on', b'>pw', b'~*', b'+@all'))
        if self.lockstep and self.calls.chance(0.2):
            self.add((b'CONFIG', b'SET', b'requirepass', b'pw'))
        while self.more(self.length * 2 // 3):
            x = self.rng.random()
            if x < 0.55:
                self.one_of(self.names['acl'])
            elif x < 0.65:
                self.command('auth', user)
            elif x < 0.7:
                self.add((b'AUTH', b'u1', b'pw'), user)
            elif x < 0.95 and self.lockstep:
                self.one_of(self.data + ['acl whoami', 'hello', 'publish', 'eval'], user)
            else:
                self.one_of(['hello', 'reset', 'acl whoami', 'acl log', 'client list', 'get'],
                            user)

    def build_errors(self):
        x = self.rng.random()
        if x < 0.12:
            return self.build_protocol()
        if x < 0.24:
            return self.build_inline()
        self.wrong = 0.75
        self.populate('sltzhx')
        while self.more(self.length):
            if self.calls.chance(0.03):
                self.add((self.calls.pick([b'nosuch', b'GETT', b'', b'get ', b'\x00', b'x' * 200,
                                           b"it's"]),) + tuple(
                    self.calls.value() for _ in range(self.rng.randrange(4))))
            else:
                self.one_of(self.every)
        return None

    def build_protocol(self):
        """Wrong bytes, each on a connection of its own."""
        self.lockstep = True
        self.populate('s')
        for i in range(6):
            conn = f'P{i}'
            if self.calls.chance(0.3):
                self.add((b'PING',), conn)
            self.steps.append(Step((self.wrong_bytes(),), conn, 'raw'))
            if self.calls.chance(0.3):
                self.steps.append(Step((b'*1\r\n$4\r\nPING\r\n',), conn, 'raw'))

    def wrong_bytes(self) -> bytes:
        r, pick = self.rng, self.calls.pick
        whole = encode(self.calls.make(pick(['get', 'set', 'ping', 'echo'])))
        at = r.randrange(len(whole))
        return pick([
            lambda: pick([b'*', b'$']) + pick(NO_INTS + EDGE_INTS + [b'-1', b'0', b'1 2'])
            + b'\r\n',
            lambda: b'*1\r\n' + pick([b'+PING', b':1', b'PING', b'', b' $4', b'*1', b'\x00'])
            + b'\r\n',
            lambda: b'*2\r\n$4\r\nECHO\r\n$' + pick(NO_INTS + EDGE_INTS[:8] + [
                b'-1', b'536870913', b'536870912', b'0']) + b'\r\nabc\r\n',
            lambda: b'*1\r\n$4\r\nPING' + pick([b'xx', b'\n\r', b'\r\r', b'  ']),
            lambda: pick([b'*0\r\n', b'*-1\r\n', b'\r\n', b'\n', b'\r\n\r\n']) + b'PING\r\n',
            lambda: b'SET a "foo' + pick([b'', b'"x', b"'", b'\\']) + b'\r\n',
            lambda: b"SET a 'foo" + pick([b'', b"'x", b'"']) + b'\r\n',
            lambda: b'A' * pick([65535, 65536, 65537, 70000]) + pick([b'', b'\r\n']),
            lambda: pick([b'*', b'*1\r\n$']) + b'1' * pick([65536, 70000]),
            lambda: b'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
            lambda: b'POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n',
            lambda: whole[:at] + bytes([r.randrange(256)]) + whole[at + 1:] + b'PING\r\n',
            lambda: whole[:at] + whole[at + 1:] + b'PING\r\n',
            lambda: whole[:at] + b'\r\n' + whole[at:] + b'PING\r\n',
            lambda: bytes(r.randrange(256) for _ in range(20)) + b'\r\n',
            lambda: whole + pick([b'+OK\r\n', b'-ERR\r\n', b':1\r\n', b'$4\r\nPING\r\n']) + whole,
            lambda: b'*3\r\n$3\r\nSET\r\n$1\r\na\r\n$5\r\nhello world\r\n' + whole,
        ])()

    def build_inline(self):
        """Inline commands with all kinds of quotes and blanks."""
        self.lockstep = True
        self.populate('sl')
        for i in range(8):
            args = self.calls.make(self.calls.pick(['get', 'set', 'ping', 'echo', 'append',
                                                    'lpush', 'lrange', 'strlen', 'mget']))
            blank = self.calls.pick([b' ', b' ', b'  ', b'\t', b' \t '])
            line = blank.join(self.odd_quotes(a) for a in args if len(a) < 1000)
            if self.calls.chance(0.2):
                line = blank + line + blank
            end = self.calls.pick([b'\r\n', b'\r\n', b'\n'])
            if allowed(args):
                self.steps.append(Step((line + end,), 'I' + str(i // 3), 'raw'))

    def odd_quotes(self, arg: bytes) -> bytes:
        form = self.calls.pick(['double', 'single', 'bare', 'hex', 'wrong'])
        if form == 'bare':
            return arg.replace(b'\n', b'').replace(b' ', b'_')
        if form == 'single':
            return b"'" + arg.replace(b"'", b"\\'").replace(b'\n', b'') + b"'"
        if form == 'hex':
            return b'"' + b''.join(b'\\x%02x' % c for c in arg) + b'"'
        word = quote(arg).encode('latin-1')
        if form == 'wrong' and self.calls.chance(0.2):
            return word + self.calls.pick([b'"', b"'", b'"x"', b'\\'])
        return word
