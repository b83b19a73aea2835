"""Random argument values: pools to draw from, and one method of Values for each meaning."""

import hashlib
import random
from typing import Optional

from .guards import USERS
from .scripts import SCRIPTS


def spread(*weighted):
    """[(weight, choices)...] -> a list to draw from uniformly."""
    return [c for weight, choices in weighted for c in choices * weight]


EDGE_INTS = [b'9223372036854775807', b'-9223372036854775808', b'9223372036854775806',
             b'2147483647', b'-2147483648', b'2147483648', b'4294967295', b'4294967296',
             b'9007199254740993', b'65536', b'32768', b'-32769', b'256', b'128', b'127']
SMALL_INTS = [b'0', b'1', b'2', b'3', b'4', b'5', b'7', b'10', b'-1', b'-2', b'-3']
NO_INTS = [b'', b'abc', b'1.5', b' 1', b'1 ', b'+1', b'0x10', b'9223372036854775808',
           b'-9223372036854775809', b'--5', b'01', b'-0', b'1e3', b'\x00', b'1' * 40, b'nan']
FLOATS = [b'0', b'-0', b'1', b'-1', b'1.5', b'2', b'3', b'3.0', b'0.1', b'-0.2', b'3.14159',
          b'10', b'1e3', b'100.25', b'-1000']
EDGE_FLOATS = [b'inf', b'-inf', b'+inf', b'1e308', b'1.7976931348623157e308', b'5e-324',
               b'1e-10', b'1e17', b'1e21', b'123456789.123456789', b'9007199254740993',
               b'0.30000000000000004', b'1e-7', b'.5', b'5.', b'0x10', b'infinity',
               b'-1.7976931348623157e308', b'4.9e-5', b'1e15', b'1e16', b'2.2250738585072014e-308']
NO_FLOATS = [b'nan', b'-nan', b'', b'abc', b'1e400', b' 1', b'1 ', b'1.5x', b'1,5', b'--1']
WORDS = [b'a', b'b', b'c', b'd', b'e', b'foo', b'bar', b'hello world', b'Hello', b'A', b'aa']
ODD_STRINGS = [b'', b' ', b'\x00', b'\xff\xfe', b'a\x00b', b'\r\n', b'"q"', b"it's", b'\\x41',
               b'\xc3\xa9', b'*', b'$', b'-1', b'3.0', b'-0', b' 1', b'1 ', b'01', b'+5',
               b'1e5', b'nan', b'true', b'(nil)', b'{tag}x', b'0.1', b'12345678901234567890']
LONG_STRINGS = [bytes([c]) * n for n in (43, 44, 45, 63, 64, 65, 200) for c in b'xy']
LONGER_STRINGS = [b'z' * 511, b'z' * 512, b'abc' * 171, b'0' * 513, b'long ' * 800]
HUGE_STRINGS = [b'v' * 10000, b'0123456789' * 1000]
VALUE_POOL = spread((12, WORDS), (6, SMALL_INTS), (1, EDGE_INTS), (2, FLOATS),
                    (1, EDGE_FLOATS), (3, ODD_STRINGS), (2, LONG_STRINGS), (1, LONGER_STRINGS))
INT_POOL = spread((12, SMALL_INTS), (1, EDGE_INTS), (1, NO_INTS[:4]))
INDEX_POOL = spread((8, SMALL_INTS), (1, EDGE_INTS[:3]), (2, [b'100', b'-100', b'-10', b'6']),
                    (1, [b'x']))
COUNT_POOL = spread((6, [b'1', b'2', b'3', b'5', b'10']), (2, [b'0', b'-1', b'-2', b'100']),
                    (1, EDGE_INTS[:3] + [b'x']))
FLOAT_POOL = spread((10, FLOATS), (2, EDGE_FLOATS), (1, NO_FLOATS[:5]))
SCORE_POOL = spread((14, FLOATS), (2, EDGE_FLOATS), (1, NO_FLOATS[:3]))
MEMBER_POOL = spread((8, [b'a', b'b', b'c', b'd', b'e', b'f', b'g', b'h']),
                     (4, [b'%d' % i for i in range(12)]),
                     (1, ODD_STRINGS[:8] + LONG_STRINGS[6:12] + EDGE_INTS[:2] + [b'1.5']))
FIELD_POOL = spread((8, [b'f%d' % i for i in range(6)]), (1, ODD_STRINGS[:4] + [b'x' * 65]))
PATTERNS = [b'*', b'?', b'??', b's*', b'[a-l]*', b'*1', b'f?', b'\\*', b'[^s]*', b'nomatch*',
            b'', b'h*llo', b'[', b'*a*', b'[z-a]?', b'\\', b'key[0-9', b'w_*']
SECONDS = [b'100', b'1000', b'86400', b'100000', b'0', b'-1', b'9223372036854775807',
           b'9223372036854775', b'9223372036854776', b'99999999999', b'-9223372036854775808',
           b'1.5', b'abc']
MILLISECONDS = [b'100000', b'1000000', b'99999999', b'0', b'-1', b'9223372036854775807',
                b'9223370000000000000', b'abc']
UNIX_SECONDS = [b'4102444800', b'33177117420', b'1', b'0', b'-1', b'1000000000',
                b'9223372036854775807', b'9223372036854775', b'x']
UNIX_MILLISECONDS = [b'4102444800000', b'33177117420000', b'1', b'0', b'-5',
                     b'1000000000000', b'9223372036854775807', b'x']
STREAM_IDS = [b'0', b'0-0', b'0-1', b'1', b'1-0', b'1-1', b'2-0', b'2', b'3-1', b'3-3', b'5',
              b'5-5', b'10', b'18446744073709551615', b'18446744073709551615-'
              b'18446744073709551615']
NO_STREAM_IDS = [b'abc', b'1-', b'-1', b'1-x', b'18446744073709551616', b'', b'1-1-1', b'*',
                 b'5-*', b'$', b'>', b'(1-1', b'(', b'-', b'+']
GLOBAL_PLACES = [(b'13.361389', b'38.115556'), (b'15.087269', b'37.502669'),
                 (b'2.349014', b'48.864716'), (b'0', b'0'), (b'-122.4194', b'37.7749'),
                 (b'180', b'85.05112878'), (b'-180', b'-85.05112878'), (b'-0.1', b'51.5'),
                 (b'13.5', b'38'), (b'13.361390', b'38.115557'), (b'179.9', b'0.5'),
                 (b'181', b'0'), (b'0', b'86'), (b'nan', b'0'), (b'x', b'1')]
RADII = [b'1', b'10', b'100', b'200', b'500', b'1000', b'2000', b'5000', b'20000', b'20000',
         b'0', b'1e9', b'0.5', b'100.5', b'-1', b'x']
CHANNELS = [b'ch1', b'ch2', b'news.a', b'news.b', b'']
ACL_RULES = [
    b'on', b'off', b'nopass', b'resetpass', b'reset', b'resetkeys', b'resetchannels',
    b'allkeys', b'allchannels', b'allcommands', b'nocommands', b'~*', b'~s*', b'~l0', b'%R~s*',
    b'%W~t*', b'%RW~z*', b'&ch*', b'&*', b'+@all', b'-@all', b'+@read', b'-@write',
    b'+@string', b'+@list', b'+get', b'-get', b'+set', b'+config|get', b'-config|set',
    b'+select|0', b'>pw', b'<pw', b'>other', b'#' + hashlib.sha256(b'pw').hexdigest().encode(),
    b'!' + hashlib.sha256(b'pw').hexdigest().encode(), b'#abc', b'(+get ~s*)',
    b'(%R~l* +@list)', b'clearselectors', b'sanitize-payload', b'skip-sanitize-payload',
    b'+nosuch', b'+@nosuch', b'~', b'%X~a', b'foo', b'', b'(+get', b'+acl|nosuch', b'-client|id',
    b'+ping', b'+client', b'+eval', b'-@dangerous', b'+@connection']
SAMPLE_COMMANDS = [b'get', b'SET', b'xgroup', b'xgroup|create', b'zadd', b'config|get', b'sort',
                   b'nosuch', b'client', b'lpush', b'geoadd', b'eval', b'migrate', b'hello']

KEYS = {'s': (b's0', b's1', b's2'), 'l': (b'l0', b'l1', b'l2'), 't': (b't0', b't1', b't2'),
        'z': (b'z0', b'z1'), 'h': (b'h0', b'h1'), 'x': (b'x0', b'x1'), 'p': (b'p0', b'p1'),
        'g': (b'g0',), 'b': (b'b0', b'b1')}
ODD_KEYS = (b'missing', b'', b'{a}b', b'k\x00\xff', b'w_1', b'w_a')
KIND_OF_GROUP = {'string': 's', 'list': 'l', 'set': 't', 'sorted-set': 'z', 'hash': 'h',
                 'stream': 'x', 'hyperloglog': 'p', 'geo': 'g', 'bitmap': 'b'}


class Values:
    """Random argument values: one method for each meaning of an argument."""

    def __init__(self, rng: random.Random, samples: dict):
        self.rng = rng
        self.samples = samples
        self.kind = None        # kind of key that the current command works on
        self.count = None       # number of keys that numkeys announced
        self.clock = 0          # for ids of stream entries
        self.ids = []           # given to stream entries

    def pick(self, choices):
        # Much faster than random.choice.
        return choices[int(self.rng.random() * len(choices))]

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def few(self) -> int:
        """1, seldom more."""
        n = 1
        while n < 6 and self.chance(0.4):
            n += 1
        return n

    # keys and members

    def key(self) -> bytes:
        x = self.rng.random()
        if x > 0.97:
            return self.pick(ODD_KEYS)
        if self.kind is None or x < 0.12:
            return self.pick(KEYS[self.pick('sltzhxpgb')])
        return self.pick(KEYS[self.kind])

    def key_of(self, kind: Optional[str]) -> bytes:
        before, self.kind = self.kind, kind
        key = self.key()
        self.kind = before
        return key

    def value(self) -> bytes:
        if self.chance(0.002):
            return self.pick(HUGE_STRINGS)
        return self.pick(VALUE_POOL)

    def member(self):
        return self.pick(MEMBER_POOL)

    def field(self):
        return self.pick(FIELD_POOL)

    # numbers

    def integer(self):
        return self.pick(INT_POOL)

    def any_integer(self):
        return self.pick(INT_POOL if self.chance(0.7) else EDGE_INTS)

    def index(self):
        return self.pick(INDEX_POOL)

    def counted(self):
        return self.pick(COUNT_POOL)

    def floating(self):
        return self.pick(FLOAT_POOL)

    def score(self):
        return self.pick(SCORE_POOL)

    def score_limit(self):
        x = self.rng.random()
        if x < 0.3:
            return self.pick([b'-inf', b'+inf', b'inf', b'(inf', b'(-inf', b'-', b'('])
        return (b'(' if x < 0.5 else b'') + self.score()

    def lex_limit(self):
        x = self.rng.random()
        if x < 0.35:
            return self.pick([b'-', b'+', b'-', b'+', b'[', b'(', b'a', b''])
        return (b'(' if x < 0.6 else b'[') + self.member()

    def bit_offset(self):
        return self.pick([b'0', b'1', b'3', b'7', b'8', b'9', b'31', b'100', b'1000', b'7999',
                          b'-1', b'4294967296', b'x'])

    def byte_offset(self):
        return self.pick([b'0', b'1', b'2', b'5', b'10', b'40', b'100', b'600', b'-1',
                          b'536870912', b'9223372036854775807', b'x'])

    def bit_type(self):
        return self.pick([b'u8', b'i8', b'u1', b'i5', b'u16', b'i64', b'u63', b'i32', b'u32',
                          b'u64', b'i65', b'u0', b'x8', b'8', b''])

    def bit_position(self):
        return self.pick([b'0', b'1', b'7', b'8', b'15', b'#0', b'#1', b'#2', b'100', b'63',
                          b'-1', b'#-1', b'x', b'#'])

    def bit(self):
        return self.pick([b'0', b'1'] * 6 + [b'2', b'-1', b'x', b''])

    def bit_value(self):
        return self.pick([b'0', b'1', b'-1', b'127', b'128', b'255', b'256', b'-128', b'-129',
                          b'65535', b'9223372036854775807', b'-9223372036854775808', b'10',
                          b'x'])

    # times

    def seconds(self):
        return self.pick(SECONDS)

    def milliseconds(self):
        return self.pick(MILLISECONDS)

    def unix_seconds(self):
        return self.pick(UNIX_SECONDS)

    def unix_milliseconds(self):
        return self.pick(UNIX_MILLISECONDS)

    def restore_ttl(self):
        return self.pick([b'0', b'0', b'0', b'100000', b'-1', b'4102444800000', b'x'])

    def block_seconds(self):
        return self.pick([b'0', b'0', b'100', b'0.02', b'0.01', b'0.001', b'-1', b'x', b'inf',
                          b'1e400', b'9223372036854775807'])

    def block_milliseconds(self):
        return self.pick([b'0', b'0', b'100000', b'20', b'10', b'-1', b'x'])

    # streams

    def entry_id(self):
        """An id for XADD, mostly greater than those before."""
        x = self.rng.random()
        if x < 0.05:
            return self.pick(NO_STREAM_IDS)
        if x < 0.12:
            return self.pick(STREAM_IDS[:-2])
        if x < 0.2:
            return self.pick([b'%d-*', b'%d']) % self.tick()
        return self.next_id()

    def tick(self) -> int:
        self.clock += self.pick([0, 1, 1, 2])
        return self.clock

    def next_id(self):
        self.ids.append(b'%d-%d' % (self.tick(), self.rng.randrange(5)))
        return self.ids[-1]

    def range_id(self):
        x = self.rng.random()
        if x < 0.35:
            return self.pick([b'-', b'+'])
        if x < 0.4:
            return self.pick(NO_STREAM_IDS)
        return (b'(' if x < 0.55 else b'') + self.some_id()

    def some_id(self):
        x = self.rng.random()
        if x < 0.04:
            return self.pick(NO_STREAM_IDS)
        return self.pick(self.ids if x < 0.7 and self.ids else STREAM_IDS)

    def group(self):
        return self.pick([b'g1'] * 8 + [b'g2', b'g2', b'nogroup'])

    def consumer(self):
        return self.pick([b'c1', b'c1', b'c2', b'c3'])

    def min_idle(self):
        return self.pick([b'0', b'0', b'0', b'500000', b'1000000000000', b'-1', b'x'])

    def idle(self):
        return self.pick([b'0', b'1000000', b'10000000000', b'-1', b'x'])

    def threshold(self):
        return self.pick([b'0', b'1', b'2', b'3', b'5', b'100', b'2-1', b'-1', b'x'])

    # everything else

    def pattern(self):
        return self.pick(PATTERNS)

    def sort_pattern(self):
        return self.pick([b'w_*', b'w_*', b'hw_*->f', b'#', b'nosort', b'*', b'hw_*->', b'w_*->f',
                          b's0'])

    def longitude(self):
        self.place = self.pick(GLOBAL_PLACES if self.chance(0.2) else GLOBAL_PLACES[:11])
        return self.place[0]

    def latitude(self):
        return self.place[1]

    def radius(self):
        return self.pick(RADII)

    def cursor(self):
        return self.pick([b'0'] * 8 + [b'5', b'17', b'18446744073709551615', b'-1', b'x'])

    def db(self):
        return self.pick([b'0', b'0', b'1', b'1', b'2', b'15', b'16', b'-1', b'x'])

    def type_name(self):
        return self.pick([b'string', b'list', b'set', b'zset', b'hash', b'stream', b'LIST', b'x'])

    def channel(self):
        return self.pick(CHANNELS)

    def channel_pattern(self):
        return self.pick([b'ch*', b'news.*', b'*', b'ch?', b'ch[12]', b'ch1'])

    def payload(self):
        """A serialized value that the reference made, sometimes damaged."""
        payload = self.pick(self.samples['dump'])
        if self.chance(0.15):
            at = self.rng.randrange(len(payload))
            return payload[:at] + bytes([payload[at] ^ 1]) + payload[at + 1:]
        return self.pick([b'', b'x', payload[:-1]]) if self.chance(0.05) else payload

    def user(self):
        return self.pick(USERS + (b'default', b'nosuch'))

    def password(self):
        return self.pick([b'pw', b'pw', b'other', b'', b'wrong'])

    def command_word(self):
        return self.pick(SAMPLE_COMMANDS)

    def category(self):
        return self.pick([b'read', b'write', b'string', b'connection', b'nosuch', b'ALL'])

    def operation(self):
        return self.pick([b'AND', b'OR', b'XOR', b'NOT', b'not', b'NAND'])

    def protocol(self):
        return self.pick([b'2', b'3', b'3', b'4', b'1', b'x'])

    def name(self):
        return self.pick([b'name1', b'conn', b'', b'with space', b'x' * 70])

    def info_section(self):
        return self.pick([b'server', b'clients', b'memory', b'stats', b'replication', b'cpu',
                          b'keyspace', b'cluster', b'commandstats', b'errorstats', b'all',
                          b'default', b'everything', b'nosuch', b'persistence', b'modules'])

    def event(self):
        return self.pick([b'command', b'fork', b'nosuch'])

    def script(self):
        return self.pick(SCRIPTS)

    def library(self):
        return self.pick([b'lib1', b'lib2', b'lib3', b'nosuch', b'lib*', b'*'])


# Argument name, or 'command.argument', -> method of Values.
VALUE_OF = {
    'member': 'member', 'member1': 'member', 'member2': 'member', 'field': 'field',
    'value': 'value', 'element': 'value', 'pivot': 'value', 'message': 'value', 'arg': 'value',
    'start': 'index', 'stop': 'index', 'end': 'index', 'index': 'index',
    'count': 'counted', 'limit': 'counted', 'offset': 'index', 'num-matches': 'counted',
    'rank': 'index', 'len': 'counted', 'increment': 'any_integer', 'decrement': 'any_integer',
    'score': 'score', 'min': 'score_limit', 'max': 'score_limit', 'weight': 'score',
    'seconds': 'seconds', 'milliseconds': 'milliseconds',
    'unix-time-seconds': 'unix_seconds', 'unix-time-milliseconds': 'unix_milliseconds',
    'ttl': 'restore_ttl', 'serialized-value': 'payload', 'frequency': 'counted',
    'pattern': 'pattern', 'cursor': 'cursor', 'type': 'type_name',
    'group': 'group', 'groupname': 'group', 'consumer': 'consumer', 'consumername': 'consumer',
    'id': 'some_id', 'min-idle-time': 'min_idle', 'ms': 'idle', 'threshold': 'threshold',
    'entries_read': 'counted', 'entries_added': 'counted', 'max_deleted_entry_id': 'some_id',
    'last-id': 'some_id', 'lastid': 'some_id',
    'longitude': 'longitude', 'latitude': 'latitude', 'radius': 'radius', 'width': 'radius',
    'height': 'radius', 'encoding': 'bit_type', 'operation': 'operation', 'bit': 'bit',
    'destination-db': 'db', 'db': 'db', 'index1': 'db', 'index2': 'db',
    'channel': 'channel', 'shardchannel': 'channel', 'timeout': 'block_seconds',
    'milliseconds.block': 'block_milliseconds', 'username': 'user', 'password': 'password',
    'section': 'info_section', 'event': 'event', 'command': 'command_word',
    'command-name': 'command_word', 'categoryname': 'category', 'category': 'category',
    'bits': 'index', 'connection-name': 'name', 'clientname': 'name', 'protover': 'protocol',
    'script': 'script', 'library-name': 'library', 'library-name-pattern': 'library',
    'numreplicas': 'index', 'version': 'index',
    'getrange.end': 'index', 'setrange.offset': 'byte_offset', 'setbit.offset': 'bit_offset',
    'getbit.offset': 'bit_offset', 'setbit.value': 'bit', 'bitfield.offset': 'bit_position',
    'bitfield_ro.offset': 'bit_position', 'bitfield.value': 'bit_value',
    'bitfield.increment': 'bit_value', 'hincrbyfloat.increment': 'floating',
    'incrbyfloat.increment': 'floating', 'zincrby.increment': 'score',
    'zrangebylex.min': 'lex_limit', 'zrangebylex.max': 'lex_limit',
    'zrevrangebylex.min': 'lex_limit', 'zrevrangebylex.max': 'lex_limit',
    'zlexcount.min': 'lex_limit', 'zlexcount.max': 'lex_limit',
    'zremrangebylex.min': 'lex_limit', 'zremrangebylex.max': 'lex_limit',
    'sort.pattern': 'sort_pattern', 'sort_ro.pattern': 'sort_pattern',
    'psubscribe.pattern': 'channel_pattern', 'punsubscribe.pattern': 'channel_pattern',
    'pubsub channels.pattern': 'channel_pattern',
    'pubsub shardchannels.pattern': 'channel_pattern',
    'xadd.id': 'entry_id', 'xrange.start': 'range_id', 'xrange.end': 'range_id',
    'xrevrange.start': 'range_id', 'xrevrange.end': 'range_id', 'xpending.start': 'range_id',
    'xpending.end': 'range_id', 'xautoclaim.start': 'some_id',
    'xread.milliseconds': 'block_milliseconds', 'xreadgroup.milliseconds': 'block_milliseconds',
    'restore.seconds': 'counted', 'restore-asking.seconds': 'counted',
    'pfadd.element': 'member', 'cluster keyslot.key': 'key', 'select.index': 'db',
    'lrem.element': 'value', 'hset.value': 'value',
}
BY_TYPE = {'key': 'key', 'string': 'value', 'integer': 'integer', 'double': 'floating',
           'pattern': 'pattern', 'unix-time': 'unix_seconds'}
