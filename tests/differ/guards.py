"""What may be sent: commands whose effect cannot be compared, or would do harm, are held back.

GUARDS has one predicate for each command of which only some forms may be sent; `allowed` is the one
door that the generator and the shrinker use.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Optional

from .scripts import BUSY_SCRIPT, inner_command

if TYPE_CHECKING:
    from .sequences import Sequence, Step

CONTAINERS = frozenset(
    b'acl client cluster command config debug function latency memory module object '
    b'pfdebug pubsub script slowlog xgroup xinfo'.split())
SUBSCRIBING = frozenset('subscribe psubscribe ssubscribe unsubscribe punsubscribe '
                        'sunsubscribe'.split())
BLOCKING = frozenset('blpop brpop brpoplpush blmove blmpop bzpopmin bzpopmax bzmpop xread '
                     'xreadgroup wait'.split())
RANDOM_PICKS = frozenset('srandmember hrandfield zrandmember'.split())
SCANS = frozenset('scan sscan hscan zscan'.split())
USERS = (b'u1', b'u2', b'u3')

# Parameters that CONFIG SET may touch; they are put back after the sequence.
CONFIG_VALUES = {
    b'hash-max-listpack-entries': (b'512', b'4', b'0', b'1', b'-1', b'x'),
    b'hash-max-ziplist-entries': (b'512', b'4', b'8'),
    b'hash-max-listpack-value': (b'64', b'4', b'0'),
    b'zset-max-listpack-entries': (b'128', b'4', b'0', b'1'),
    b'zset-max-ziplist-value': (b'64', b'4'),
    b'zset-max-listpack-value': (b'64', b'4', b'0'),
    b'set-max-intset-entries': (b'512', b'4', b'0'),
    b'list-max-listpack-size': (b'-2', b'-1', b'4', b'1', b'-5', b'-6', b'0'),
    b'list-compress-depth': (b'0', b'1', b'2'),
    b'stream-node-max-entries': (b'100', b'3', b'0', b'1'),
    b'stream-node-max-bytes': (b'4096', b'64', b'0', b'1kb'),
    b'hll-sparse-max-bytes': (b'3000', b'0', b'100', b'20000'),
    b'notify-keyspace-events': (b'', b'KEA', b'Kg$', b'AKE', b'Elx', b'q', b'KEtm', b'xyz', b'KEAmn', b'Knm', b'Ezh'),
    b'slowlog-log-slower-than': (b'-1', b'0', b'x'),
    b'slowlog-max-len': (b'128', b'2', b'0', b'-1'),
    b'acllog-max-len': (b'128', b'2', b'0'),
    b'lfu-decay-time': (b'1', b'0', b'-1'),
    b'lfu-log-factor': (b'10', b'0', b'-1'),
    b'maxmemory': (b'0', b'4gb'),
    b'maxmemory-samples': (b'5', b'3', b'0', b'many'),
    b'latency-tracking': (b'yes', b'no', b'YES', b'maybe'),
    b'lazyfree-lazy-user-del': (b'no', b'yes'),
    b'lazyfree-lazy-server-del': (b'no', b'yes'),
    b'lazyfree-lazy-expire': (b'no', b'yes'),
    b'activerehashing': (b'yes', b'no'),
    b'busy-reply-threshold': (b'5000', b'6000', b'5'),
    b'tracking-table-max-keys': (b'1000000', b'1000', b'-1'),
    b'acl-pubsub-default': (b'resetchannels', b'allchannels', b'none'),
    b'proto-max-bulk-len': (b'512mb', b'1mb', b'1000', b'536870912'),
    b'appendfsync': (b'everysec', b'no', b'always', b'sometimes'),
    b'maxmemory-policy': (b'noeviction', b'allkeys-lru', b'volatile-ttl', b'lru', b'allkeys-lfu'),
    b'requirepass': (b'', b'pw'),
    b'latency-monitor-threshold': (b'0', b'40'),      # what a sound machine never reaches by itself
    b'timeout': (b'0', b'-1', b'x'),
    b'hz': (b'10', b'11', b'0x', b'-1'),
    b'loglevel': (b'notice', b'warning', b'loud'),
}
LONG_MIN = b'-9223372036854775808'
READ_ONLY_CONFIG = (b'databases', b'maxclients', b'appendonly', b'save',
                    b'cluster-enabled', b'io-threads', b'daemonize', b'dbfilename',
                    b'list-max-ziplist-size', b'zset-max-ziplist-entries', b'nosuch')
SAFE_DEBUG = {
    b'sleep': lambda a: a[2:] in ((b'0',), (b'0.05',)),
    b'digest': lambda a: True, b'digest-value': lambda a: True, b'help': lambda a: True,
    b'protocol': lambda a: True, b'object': lambda a: True, b'log': lambda a: True,
    b'error': lambda a: True, b'reload': lambda a: len(a) == 2,
    b'set-active-expire': lambda a: a[2:] in ((b'0',), (b'1',)),
    b'stringmatch-len': lambda a: False, b'sdslen': lambda a: True,
    b'quicklist-packed-threshold': lambda a: a[2:] in ((b'0',), (b'100b',), (b'1kb',)),
    b'change-repl-id': lambda a: True, b'htstats': lambda a: a[2:] == (b'0',),
    b'structsize': lambda a: True, b'nosuch': lambda a: True,
    b'populate': lambda a: a[2:3] == (b'5',),
}


def to_int(arg: bytes) -> Optional[int]:
    try:
        return int(arg)
    except ValueError:
        return None


def small_offset(arg: bytes, limit: int) -> bool:
    """Not an offset that makes a string of many megabytes."""
    value = to_int(arg.lstrip(b'#'))
    return value is None or value <= limit or value >= 2 ** 32 and not arg.startswith(b'#') \
        or value > 2 ** 62


def far_expiry(arg: bytes, unit: int) -> bool:
    """Not a time to live that may run out while the sequence is played."""
    value = to_int(arg)
    return value is None or not 0 < value * unit < 60000


def far_option(args: tuple) -> bool:
    return all(far_expiry(value, 1000 if token.upper() == b'EX' else 1)
               for token, value in zip(args, args[1:]) if token.upper() in (b'EX', b'PX'))


def guard_client(a: tuple, queued: bool, lockstep: bool) -> bool:
    sub = a[1] if len(a) > 1 else b''
    if sub == b'kill':
        rest = a[2:]
        return len(rest) < 2 and rest[:1] != (b'127.0.0.1',) or b'id' in rest[:1] or (
            rest[:1] in ((b'addr',), (b'laddr',), (b'user',)) and rest[1:2] in (
                (b'127.0.0.1:1',), (b'u1',), (b'u3',), (b'<addr:B>',), (b'x',)))
    if sub == b'pause':
        value = to_int(a[2]) if len(a) > 2 else 0
        return not queued and (value is None or value <= 3 or value >= 2 ** 63)
    if sub == b'reply':
        return not queued and not lockstep
    if sub in (b'tracking', b'caching'):
        return lockstep
    return True


def guard_config(a: tuple) -> bool:
    if a[1:2] != (b'set',):
        return True
    return len(a) % 2 == 1 or all(
        value in [v.lower() for v in CONFIG_VALUES.get(name, ())] or name == b'nosuch'
        for name, value in zip(a[2::2], a[3::2])) and (
            # Access counts are a matter of chance unless every access counts, and common to equal small
            # integers unless there is a limit.
            b'allkeys-lfu' not in a or {(b'lfu-log-factor', b'0'), (b'lfu-decay-time', b'0'),
                                        (b'maxmemory', b'4gb')} <= set(zip(a[2::2], a[3::2])))


def guard_set(args: tuple) -> bool:
    return far_option(args[3:])


def guard_hello(a: tuple) -> bool:
    """No options before one that is wrong: 7.2 looks at all of them first, 7.0 has logged in and set the name by then."""
    at = 2
    while at < len(a):
        values = {b'auth': 2, b'setname': 1}.get(a[at])
        if values is None or at + values >= len(a) \
                or a[at] == b'setname' and not all(33 <= c <= 126 for c in a[at + 1]):
            return at == 2
        at += values + 1
    return True


def guard_wait(a: tuple) -> bool:
    return len(a) != 3 or to_int(a[2]) is None or not (
        to_int(a[2]) == 0 and (to_int(a[1]) or 0) > 0) and to_int(a[2]) <= 20


def guard_sort(a: tuple) -> bool:
    return not (b'by' in a and b'alpha' in a and b'store' in a)


# Commands of which only some forms may be sent: (lower-case args) -> bool.
GUARDS = {
    b'sync': lambda a: False,
    b'psync': lambda a: False,
    b'shutdown': lambda a: a[1:] == (b'abort',) or b'bogus' in a,
    b'replicaof': lambda a: len(a) != 3 or a[1:] == (b'no', b'one'),
    b'slaveof': lambda a: len(a) != 3 or a[1:] == (b'no', b'one'),
    b'replconf': lambda a: a[1:] in ((), (b'x',), (b'listening-port', b'1'), (b'capa', b'eof'),
                                     (b'nosuch', b'1')),
    # 7.2 takes one argument more (ZRANK WITHSCORE) or less (COMMAND GETKEYS of a bare name) than 7.0, which refuses the
    # call before MONITOR and SLOWLOG see it: what those show later cannot be equal.
    b'zrank': lambda a: len(a) < 4,
    b'zrevrank': lambda a: len(a) < 4,
    b'command': lambda a: len(a) != 3 or a[1] not in (b'getkeys', b'getkeysandflags'),
    b'migrate': lambda a: len(a) < 6 or a[1:3] == (b'127.0.0.1', b'1'),
    b'module': lambda a: a[1:2] not in ((b'load',), (b'loadex',)) or a[2:3] == (b'nosuch.so',),
    b'debug': lambda a: len(a) < 2 or a[1] in SAFE_DEBUG and SAFE_DEBUG[a[1]](a),
    b'config': guard_config,
    b'script': lambda a: a[1:2] != (b'debug',) or a[2:] == (b'no',) or len(a) != 3,
    b'acl': lambda a: a[1:2] != (b'setuser',) or a[2:3] == () or a[2] in USERS,
    b'setbit': lambda a: len(a) < 3 or small_offset(a[2], 100000),
    b'setrange': lambda a: len(a) < 3 or small_offset(a[2], 20000)
    or (to_int(a[2]) or 0) >= 2 ** 29,
    b'bitfield': lambda a: all(small_offset(x, 20000 if x[:1] == b'#' else 100000)
                               for x in a[2:]),
    b'expire': lambda a: len(a) < 3 or far_expiry(a[2], 1000),
    b'pexpire': lambda a: len(a) < 3 or far_expiry(a[2], 1),
    b'setex': lambda a: len(a) < 3 or far_expiry(a[2], 1000),
    b'psetex': lambda a: len(a) < 3 or far_expiry(a[2], 1),
    b'restore': lambda a: len(a) < 3 or far_expiry(a[2], 1),
    b'restore-asking': lambda a: len(a) < 3 or far_expiry(a[2], 1),
    b'set': guard_set,
    b'getex': lambda a: far_option(a[2:]),
    b'pfdebug': lambda a: len(a) < 2 or a[1] != b'simd',
    b'hello': guard_hello,
    b'wait': guard_wait,
    b'sort': guard_sort,
}


def command_name(args: tuple) -> str:
    """'get', 'xgroup create'; lower case."""
    name = args[0].lower() if args else b''
    if name in CONTAINERS and len(args) > 1:
        name += b' ' + args[1].lower()
    return name.decode('latin-1')


def store_key(args: tuple) -> bytes:
    """Where a search for places stores its result; b'' for nowhere."""
    name, upper = args[0].lower(), [a.upper() for a in args]
    if name == b'geosearchstore':
        return b''.join(args[1:2])
    if name not in (b'georadius', b'georadiusbymember'):
        return b''
    return next((args[i + 1] for i in reversed(range(len(args) - 1))
                 if upper[i] in (b'STORE', b'STOREDIST')), b'')


def needs_geo_fix(args: tuple) -> bool:
    return bool(store_key(args)) and b'COUNT' in [a.upper() for a in args]


def needs_fix(args: tuple) -> bool:
    """Commands after which the servers may have to be brought to the same state."""
    name = args[0].lower()
    if name == b'lrem' and args[2:3] == (LONG_MIN,):
        return True         # 7.0 removes, 7.4 refuses
    return name in (b'spop', b'zremrangebylex') or needs_geo_fix(args) or name == b'xadd' and b'*' in args \
        or name == b'zrangestore' and b'BYLEX' in [a.upper() for a in args]


def may_block(args: tuple) -> bool:
    name = args[0].lower().decode('latin-1')
    if name in ('xread', 'xreadgroup'):
        return b'BLOCK' in [a.upper() for a in args]
    return name in BLOCKING or may_stay_busy(args)


def may_stay_busy(args: tuple) -> bool:
    """A script that runs until it is killed."""
    return args[1:2] in ((BUSY_SCRIPT,), (b'busy',))


def block_time(args: tuple) -> float:
    """The timeout of a blocking command in seconds; 0 when it has none."""
    name = args[0].lower().decode('latin-1')
    upper = [a.upper() for a in args]
    try:
        if name in ('xread', 'xreadgroup'):
            return float(args[upper.index(b'BLOCK') + 1]) / 1000
        if name == 'wait':
            return float(args[2]) / 1000
        return float(args[1 if name in ('blmpop', 'bzmpop') else -1])
    except (ValueError, IndexError):
        return 0


def allowed(args: tuple, queued: bool = False, lockstep: bool = False) -> bool:
    """False for commands whose effect could not be compared, or would do harm."""
    lower = tuple(a.lower() for a in args)
    name = lower[0].decode('latin-1')
    if name == 'client':
        return guard_client(lower, queued, lockstep)
    guard = GUARDS.get(lower[0])
    if guard and not guard(lower):
        return False
    if name in SUBSCRIBING or name == 'monitor':
        return lockstep and not queued
    if may_block(args):
        return queued or lockstep
    if needs_fix(args):
        return not queued and not (lockstep and name in ('xadd', 'zremrangebylex', 'zrangestore'))
    if name in ('publish', 'spublish') and queued and lockstep:
        return False            # 7.0 puts a message to oneself into the reply of EXEC, which cannot be read then
    if name in ('zrank', 'zrevrank') and len(args) > 3:
        return not queued       # 7.2 knows WITHSCORE: only the older server would abort
    if name in RANDOM_PICKS and len(args) > 2:
        count = to_int(args[2])
        return count is None or count >= -1000 or count <= -2 ** 63
    if name in ('config', 'debug', 'save', 'quit', 'reset', 'select', 'swapdb'):
        return not queued
    inner = inner_command(args)
    return not inner or allowed(inner, True, lockstep)


def admissible(sequence: Sequence) -> bool:
    """Whether the sequence can be compared at all (shrinking may break that)."""
    queued = Counter()
    impatient = False           # busy-reply-threshold was lowered
    for i, step in enumerate(sequence.steps):
        if step.form in ('raw', 'sleep') or not step.args:
            continue
        impatient |= step.args[1:] == (b'SET', b'busy-reply-threshold', b'5')
        if may_stay_busy(step.args) and not impatient:
            return False
        if not allowed(step.args, bool(queued[step.conn]), sequence.lockstep):
            following = sequence.steps[i + 1:i + 2]
            if not (short_lived(step.args) and following and following[0].form == 'sleep'):
                return False
        track_multi(queued, step)
    return True


def track_multi(queued: Counter, step: Step):
    """Follows which connections are inside MULTI."""
    name = step.args[0].lower()
    if name == b'multi' and len(step.args) == 1:
        queued[step.conn] = 1
    elif name in (b'exec', b'discard', b'reset') and len(step.args) == 1:
        queued[step.conn] = 0


def short_lived(args: tuple) -> bool:
    """A command with a TTL of milliseconds; only allowed before a pause."""
    name = args[0].upper()
    at = 2 if name in (b'PEXPIRE', b'PSETEX') else len(args) - 1
    return name in (b'PEXPIRE', b'PSETEX', b'SET', b'GETEX') and len(args) > 2 \
        and 0 < (to_int(args[at]) or 0) <= 10
