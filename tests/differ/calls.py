"""Calls of commands: from the grammar, or by a method cmd_<name> where the grammar is too loose."""

from __future__ import annotations

import random
import re

from .grammar import Arg, Grammar
from .guards import CONFIG_VALUES, READ_ONLY_CONFIG, USERS
from .scripts import FUNCTION_NAMES, LIBRARIES, PASS_SCRIPTS, SCRIPTS, sha1
from .values import (ACL_RULES, BY_TYPE, EDGE_INTS, FLOATS, GLOBAL_PLACES, KEYS, KIND_OF_GROUP,
                     NO_FLOATS, NO_INTS, ODD_STRINGS, VALUE_OF, Values)


class Calls(Values):
    """Makes calls of commands: from the grammar, or by a method cmd_<name>."""

    def __init__(self, rng: random.Random, grammar: Grammar, samples: dict):
        super().__init__(rng, samples)
        self.grammar = grammar
        self.tails = 0.4        # probability of an optional argument

    def make(self, name: str) -> tuple:
        """A call of the command, valid as a rule."""
        command = self.grammar.commands.get(name)
        group = command.group if command else ''
        self.kind = KIND_OF_GROUP.get(group)
        self.count = None
        words = tuple(name.encode().split(b' ')) if command else (name.encode(),)
        custom = getattr(self, 'cmd_' + name.replace(' ', '_').replace('-', '_'), None)
        if custom:
            rest = custom()
        elif command:
            rest = self.expand_all(command.args, name)
        else:
            rest = []
        if self.chance(0.15):
            words = tuple(self.pick([w.upper(), w.lower(), w.title()]) for w in words)
        else:
            words = tuple(w.upper() for w in words)
        return words + tuple(rest)

    def expand_all(self, args, name: str) -> list:
        """All arguments; neighbouring optional ones in any order."""
        out, optional = [], []
        for arg in args:
            if 'optional' in arg.flags and arg.type != 'key':
                optional.append(arg)
                continue
            out += self.shuffled(optional, name)
            optional = []
            out += self.expand(arg, name)
        return out + self.shuffled(optional, name)

    def shuffled(self, args: list, name: str) -> list:
        if len(args) > 1 and self.chance(0.5):
            args = self.rng.sample(args, len(args))
        return [word for arg in args for word in self.expand(arg, name)]

    def expand(self, arg: Arg, name: str) -> list:
        if 'optional' in arg.flags and not self.chance(self.tails):
            return []
        if 'multiple' in arg.flags:
            times = self.count if self.count and arg.name in ('key', 'weight') else self.few()
        else:
            times = 1
        out = []
        for i in range(times):
            if arg.token and arg.type != 'pure-token' and (
                    i == 0 or 'multiple_token' in arg.flags):
                out.append(self.token(arg.token))
            if arg.type == 'pure-token':
                out.append(self.token(arg.token))
            elif arg.type == 'oneof':
                out += self.expand(self.pick(arg.args), name)
            elif arg.type == 'block':
                for part in arg.args:
                    out += self.expand(part, name)
            elif arg.name == 'numkeys':
                self.count = self.pick([1, 1, 2, 2, 3])
                out.append(b'%d' % self.count)
            else:
                out.append(self.plain(arg, name))
        return out

    def token(self, token: bytes) -> bytes:
        return token.lower() if self.chance(0.1) else token

    def plain(self, arg: Arg, name: str) -> bytes:
        if arg.type == 'key':
            if name in ('pfmerge', 'bitop') or not self.chance(0.03):
                return self.key()
            return self.key_of(None)
        method = VALUE_OF.get(f'{name}.{arg.name}') or VALUE_OF.get(arg.name) \
            or BY_TYPE[arg.type]
        return getattr(self, method)()

    # Commands that COMMAND DOCS does not describe well enough.

    def cmd_zrange(self):
        return [self.key()] + self.zrange_tail(True)

    def cmd_zrangestore(self):
        return [self.key(), self.key()] + self.zrange_tail(False)

    def zrange_tail(self, scores: bool):
        mode = self.pick([b'', b'', b'BYSCORE', b'BYLEX'])
        limit = {b'': self.index, b'BYSCORE': self.score_limit, b'BYLEX': self.lex_limit}[mode]
        options = [[mode]] if mode else []
        if self.chance(0.3):
            options.append([b'REV'])
        if self.chance(0.3 if mode else 0.05):
            options.append([b'LIMIT', self.index(), self.index()])
        if scores and self.chance(0.4):
            options.append([b'WITHSCORES'])
        self.rng.shuffle(options)
        return [limit(), limit()] + [w for option in options for w in option]

    def cmd_xread(self):
        return self.xread_tail(self.pick([b'0', b'0', b'$', b'']))

    def cmd_xreadgroup(self):
        noack = [b'NOACK'] if self.chance(0.15) else []
        return [b'GROUP', self.group(), self.consumer()] + noack + self.xread_tail(b'>')

    def xread_tail(self, usual: bytes):
        out = []
        if self.chance(0.3):
            out += [b'COUNT', self.counted()]
        if self.chance(self.blocking):
            out += [b'BLOCK', self.block_milliseconds()]
        n = self.pick([1, 1, 1, 2, 3])
        keys = [self.key() for _ in range(n)]
        return out + [b'STREAMS'] + keys + [
            usual if usual and self.chance(0.7) else self.some_id() for _ in range(n)]

    blocking = 0.0              # how often XREAD gets BLOCK

    def cmd_xgroup_create(self):
        tail = [b'MKSTREAM'] if self.chance(0.6) else []
        if self.chance(0.15):
            tail += [b'ENTRIESREAD', self.counted()]
        return [self.key(), self.group(), self.pick([b'0', b'$', self.some_id()])] + tail

    def cmd_sort(self):
        return [self.key_of(self.pick('lltzs'))] + self.sort_tail(True)

    def cmd_sort_ro(self):
        return [self.key_of(self.pick('lltzs'))] + self.sort_tail(False)

    def sort_tail(self, store: bool):
        command = self.grammar.commands.get('sort_ro')
        tail = self.expand_all(command.args[1:], 'sort_ro') if command else []
        return tail + ([b'STORE', self.key_of('l')] if store and self.chance(0.25) else [])

    def cmd_georadius(self):
        return self.radius_with_store('georadius')

    def cmd_georadiusbymember(self):
        return self.radius_with_store('georadiusbymember')

    def radius_with_store(self, name: str):
        """STORE does not go with WITH...: mostly drops one of them."""
        args = self.expand_all(self.grammar.commands[name].args, name)
        upper = [a.upper() for a in args]
        if b'STORE' in upper or b'STOREDIST' in upper:
            if self.chance(0.7):
                args = [a for a in args if a.upper() not in (b'WITHCOORD', b'WITHDIST',
                                                             b'WITHHASH')]
        return args

    def cmd_lcs(self):
        command = self.grammar.commands['lcs']
        return [self.key_of('s'), self.key_of('s')] + self.expand_all(command.args[2:], 'lcs')

    def cmd_migrate(self):
        return [b'127.0.0.1', b'1', self.key_of(None), b'0', b'10'] if self.chance(0.5) else [
            b'127.0.0.1', b'1', b'', b'0', b'10', b'KEYS', b'missing']

    def cmd_pfdebug(self):
        return [self.pick([b'ENCODING'] * 6 + [b'DECODE', b'TODENSE', b'GETREG', b'X']),
                self.key_of('p')]

    def cmd_debug(self):
        sub = self.pick([b'SLEEP', b'DIGEST', b'PROTOCOL', b'PROTOCOL', b'PROTOCOL', b'HELP',
                         b'DIGEST-VALUE', b'OBJECT', b'ERROR', b'RELOAD', b'LOG', b'SDSLEN',
                         b'QUICKLIST-PACKED-THRESHOLD', b'STRUCTSIZE', b'CHANGE-REPL-ID',
                         b'HTSTATS', b'POPULATE', b'NOSUCH'])
        rest = {b'SLEEP': [b'0'], b'ERROR': [self.value()], b'LOG': [b'x'], b'HTSTATS': [b'0'],
                b'DIGEST-VALUE': [self.key_of(None)], b'OBJECT': [self.key_of(None)],
                b'SDSLEN': [self.key_of('s')], b'POPULATE': [b'5'],
                b'QUICKLIST-PACKED-THRESHOLD': [self.pick([b'100b', b'1kb', b'0'])],
                b'PROTOCOL': [self.pick([b'string', b'integer', b'double', b'bignum', b'null',
                                         b'array', b'set', b'map', b'attrib', b'push', b'true',
                                         b'false', b'verbatim', b'nosuch'])]}
        return [sub] + rest.get(sub, [])

    def cmd_command_getkeys(self):
        return list(self.make(self.pick(sorted(self.grammar.commands))))

    def cmd_command_getkeysandflags(self):
        return self.cmd_command_getkeys()

    def cmd_command_info(self):
        return [self.command_word() for _ in range(self.few())]

    cmd_command_docs = cmd_command_info

    def cmd_config_get(self):
        return [self.pick(list(CONFIG_VALUES) + list(READ_ONLY_CONFIG) + [
            b'*max-*-entries*', b'HZ', b'lazyfree-*']) for _ in range(self.pick([1, 1, 1, 2]))]

    def cmd_config_set(self):
        out = []
        for _ in range(self.pick([1, 1, 1, 2])):
            name = self.pick([n for n in CONFIG_VALUES if n != b'requirepass'])
            out += [name, self.pick(CONFIG_VALUES[name])]
        return out if self.chance(0.95) else [b'nosuch', b'1']

    def cmd_client_kill(self):
        return self.pick([[b'127.0.0.1:1'], [b'ID', b'999999999'], [b'ADDR', b'127.0.0.1:1'],
                          [b'USER', b'u1'], [b'ID', b'x'], [b'ID', b'<id:B>'], [b'USER', b'x'],
                          [b'ADDR', b'<addr:B>', b'SKIPME', b'no'], [b'ID', b'-1']])

    def cmd_client_list(self):
        return self.pick([[], [], [b'TYPE', b'normal'], [b'TYPE', b'pubsub'], [b'TYPE', b'x'],
                          [b'ID', b'<id:A>'], [b'ID', b'x'], [b'ID', b'999999999']])

    def cmd_client_tracking(self):
        return self.pick([[b'ON'], [b'ON'], [b'OFF'], [b'ON', b'BCAST'], [b'ON', b'NOLOOP'],
                          [b'ON', b'BCAST', b'PREFIX', b's'], [b'ON', b'OPTIN'],
                          [b'ON', b'OPTOUT'], [b'ON', b'OPTIN', b'OPTOUT'],
                          [b'ON', b'BCAST', b'PREFIX', b's', b'PREFIX', b's0'],
                          [b'ON', b'PREFIX', b'x'], [b'ON', b'REDIRECT', b'<id:C>'],
                          [b'ON', b'REDIRECT', b'999999999'], [b'MAYBE']])

    def cmd_client_unblock(self):
        tail = self.pick([[], [b'TIMEOUT'], [b'ERROR'], [b'X']])
        return [self.pick([b'<id:A>', b'<id:B>', b'999999999', b'x'])] + tail

    def cmd_client_pause(self):
        return [self.pick([b'0', b'1', b'2', b'-1', b'x'])] + self.pick(
            [[], [b'WRITE'], [b'ALL'], [b'X']])

    def cmd_client_reply(self):
        return [self.pick([b'ON', b'SKIP', b'OFF', b'X'])]

    def cmd_hello(self):
        tail = []
        if self.chance(0.15):
            tail += [b'AUTH', self.user(), self.password()]
        if self.chance(0.15):
            tail += [b'SETNAME', self.name()]
        return [self.protocol()] + tail if self.chance(0.9) else []

    def cmd_auth(self):
        return [self.user(), self.password()] if self.chance(0.8) else [self.password()]

    def cmd_acl_setuser(self):
        rules = [self.pick(ACL_RULES if self.chance(0.4) else ACL_RULES[:36])
                 for _ in range(self.pick([0, 1, 2, 3, 4]))]
        return [self.pick(USERS)] + ([b'on', b'>pw'] if self.chance(0.4) else []) + rules

    def cmd_acl_dryrun(self):
        command = self.make(self.pick(['get', 'set', 'lpush', 'config get', 'copy', 'zadd',
                                       'publish', 'sort', 'xread']))
        return [self.user()] + list(command)

    def cmd_acl_genpass(self):
        return self.pick([[], [b'1'], [b'16'], [b'128'], [b'4096'], [b'4097'], [b'0'], [b'x']])

    def cmd_replicaof(self):
        return [b'NO', b'ONE']

    cmd_slaveof = cmd_replicaof

    def cmd_shutdown(self):
        return self.pick([[b'ABORT'], [b'BOGUS']])

    def cmd_failover(self):
        return self.pick([[], [b'ABORT'], [b'TIMEOUT', b'100'], [b'X']])

    def cmd_replconf(self):
        return self.pick([[b'listening-port', b'1'], [b'capa', b'eof'], [b'nosuch', b'1'], []])

    def cmd_module_load(self):
        return [b'nosuch.so']

    cmd_module_loadex = cmd_module_load

    def cmd_lolwut(self):
        return self.pick([[], [b'VERSION', b'5'], [b'VERSION', b'6'], [b'VERSION', b'x']])

    def cmd_wait(self):
        return [self.pick([b'0', b'0', b'1', b'x']), self.pick([b'1', b'5', b'-1', b'x'])]

    def cmd_script_debug(self):
        return [b'NO']

    def cmd_script_exists(self):
        return [sha1(self.known_script()) for _ in range(self.few())]

    def cmd_script_load(self):
        return [self.known_script()]

    def known_script(self) -> bytes:
        """A script that EVALSHA may find: there are few, so that it often does."""
        return self.pick(PASS_SCRIPTS) if self.chance(0.4) else self.pick(SCRIPTS[:6])

    def cmd_eval(self):
        if self.chance(0.35):
            return [self.pick(PASS_SCRIPTS)] + self.passed_on()
        return [self.script()] + self.script_tail()

    cmd_eval_ro = cmd_eval

    def cmd_evalsha(self):
        script = self.known_script()
        return [sha1(script)] + (self.passed_on() if script in PASS_SCRIPTS
                                 else self.script_tail())

    cmd_evalsha_ro = cmd_evalsha

    def passed_on(self):
        return [b'0'] + list(self.make(self.pick(self.samples['data'])))

    def script_tail(self):
        keys = [self.key_of(self.pick('ssslh')) for _ in range(self.pick([0, 1, 1, 2]))]
        count = b'%d' % len(keys) if self.chance(0.95) else self.integer()
        return [count] + keys + [
            self.value() for _ in range(self.pick([0, 1, 2]))]

    def cmd_function_load(self):
        replace_it = [b'REPLACE'] if self.chance(0.5) else []
        return replace_it + [self.pick(LIBRARIES if self.chance(0.4) else LIBRARIES[:9])]

    def cmd_function_restore(self):
        payload = self.pick(self.samples['functions'])
        if self.chance(0.2):
            payload = payload[:-1] + b'x'
        return [payload] + self.pick([[], [b'FLUSH'], [b'APPEND'], [b'REPLACE'], [b'X']])

    def cmd_fcall(self):
        keys = [self.key_of('s') for _ in range(self.pick([0, 1, 1, 2]))]
        return [self.pick(FUNCTION_NAMES), b'%d' % len(keys)] + keys + [
            self.value() for _ in range(self.pick([0, 1]))]

    cmd_fcall_ro = cmd_fcall

    # Commands that fill keys.

    def fill(self, kind: str, count: int = 0) -> tuple:
        """Puts count (default: a few) elements into a key of the kind."""
        n = count or self.few() + 1
        self.kind = kind
        key = self.pick(KEYS[kind])
        if kind == 's':
            return (b'SET', key, self.value())
        if kind == 'b':
            return (b'SET', key, self.pick([b'\x00\xff\xf0', b'foobar', b'\xff' * 9, b'\x80']))
        if kind == 'l':
            return (self.pick([b'RPUSH', b'LPUSH']), key) + self.many(n, self.value)
        if kind == 't':
            return (b'SADD', key) + self.many(n, self.member)
        if kind == 'h':
            return (b'HSET', key) + tuple(x for f in self.many(n, self.field)
                                          for x in (f, self.value()))
        if kind == 'z':
            return (b'ZADD', key) + tuple(x for m in self.many(n, self.member)
                                          for x in (self.pick(FLOATS), m))
        if kind == 'p':
            return (b'PFADD', key) + self.many(n, self.member)
        if kind == 'g':
            return (b'GEOADD', key) + tuple(x for m in self.many(min(n, 30), self.member)
                                            for x in self.pick(GLOBAL_PLACES[:11]) + (m,))
        self.clock += 1
        return (b'XADD', key, self.next_id(), self.field(), self.value())

    def many(self, n: int, make) -> tuple:
        """n values; numbered ones when there would not be enough different ones."""
        if n <= 8:
            return tuple(make() for _ in range(n))
        prefix = self.pick([b'', b'm'])
        return tuple(prefix + b'%d' % (i * 7 % 1000) for i in range(n))


class Mutator:
    """Makes slightly invalid calls out of valid ones."""

    def __init__(self, calls: Calls):
        self.calls, self.rng = calls, calls.rng

    def mutate(self, args: tuple) -> tuple:
        out = list(args)
        for _ in range(self.calls.pick([1, 1, 1, 2])):
            self.calls.pick([self.drop, self.cut, self.extra, self.repeat, self.no_number,
                             self.misspell, self.swap, self.odd, self.other_key])(out)
        return tuple(out)

    def at(self, out: list) -> int:
        first = 1 if len(out) > 1 else 0
        return self.rng.randrange(first, len(out))

    def drop(self, out):
        if len(out) > 1:
            del out[self.at(out)]

    def cut(self, out):
        del out[self.rng.randrange(1, len(out) + 1):]

    def extra(self, out):
        out.insert(self.rng.randrange(1, len(out) + 1), self.calls.pick(
            [b'x', b'', b'1', b'COUNT', b'NX', b'LIMIT', b'WITHSCORES', b'GET', b'EX']))

    def repeat(self, out):
        at = self.at(out)
        out.insert(at, out[at])

    def no_number(self, out):
        numbers = [i for i, a in enumerate(out) if i and re.fullmatch(rb'-?[\d.]+', a)]
        at = self.calls.pick(numbers) if numbers else self.at(out)
        out[at] = self.calls.pick(NO_INTS + NO_FLOATS + EDGE_INTS)

    def misspell(self, out):
        words = [i for i, a in enumerate(out) if re.fullmatch(rb'[A-Za-z]{2,}', a)]
        if words:
            at = self.calls.pick(words)
            cut = self.rng.randrange(len(out[at]))
            out[at] = out[at][:cut] + self.calls.pick([b'', b'x', b'_']) + out[at][cut + 1:] \
                or b'x'

    def swap(self, out):
        i, j = self.at(out), self.at(out)
        out[i], out[j] = out[j], out[i]

    def odd(self, out):
        out[self.at(out)] = self.calls.pick(ODD_STRINGS)

    def other_key(self, out):
        keys = [i for i, a in enumerate(out) if len(a) == 2 and a[1:].isdigit() and i]
        if keys:
            out[self.calls.pick(keys)] = self.calls.pick(KEYS[self.calls.pick('sltzhx')])
