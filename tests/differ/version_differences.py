"""What Redis 7.4 answers differently from the reference, Debian's Redis 7.0, on purpose.

redae follows 7.4. This is the one table of what that changes in replies, with the release and the
reason; rules.judge asks it before it calls anything a difference. Two kinds of entries:

REWRITES turn the reference's reply into what 7.4 would say, before it is compared.
ACCEPTED say yes to a pair of replies that still differ.

An entry is as narrow as it can be: it must not hide a wrong reply of another kind.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Callable, NamedTuple

from .guards import LONG_MIN
from .resp import Reply, is_aggregate, is_error

if TYPE_CHECKING:
    from .rules import Call


class Rewrite(NamedTuple):
    commands: str               # names, comma-separated; * stands for anything, ! before a name: not this one
    since: str
    why: str
    rewrite: Callable[[Reply], Reply]


class Accepted(NamedTuple):
    commands: str
    since: str
    why: str
    accepts: Callable[[Call, Reply, Reply], bool]


# Doubles

def shortest_digits(value: float) -> tuple:
    """('-' or '', digits, exponent): the shortest decimal that reads back as value."""
    mantissa, _, exponent = repr(abs(value)).partition('e')
    whole, _, fraction = mantissa.partition('.')
    fraction = '' if fraction == '0' else fraction
    digits = (whole + fraction).lstrip('0')
    exponent = int(exponent or 0) - len(fraction)
    stripped = digits.rstrip('0')
    exponent += len(digits) - len(stripped)
    return ('-' if value < 0 else ''), stripped, exponent


def modern_double(value: float) -> bytes:
    """A double as 7.2 and later print it: an integer as such, else the shortest form that reads back
    (plain for small exponents, like 1.5e+30 otherwise)."""
    if value == int(value) and abs(value) < 2 ** 62:
        return b'-0' if str(value) == '-0.0' else b'%d' % int(value)
    sign, digits, exponent = shortest_digits(value)
    count = len(digits)
    magnitude = abs(exponent + count - 1)
    if exponent >= 0 and magnitude < count + 7:
        text = digits + '0' * exponent
    elif exponent < 0 and (exponent > -7 or magnitude < 4):
        offset = count + exponent
        text = digits[:offset] + '.' + digits[offset:] if offset > 0 \
            else '0.' + '0' * -offset + digits
    else:
        text = digits[0] + ('.' + digits[1:] if count > 1 else '')
        text += 'e%s%d' % ('-' if exponent + count - 1 < 0 else '+', magnitude)
    return (sign + text).encode()


NUMBER = re.compile(rb'-?\d+(\.\d+)?(e[+-]\d+)?')


def modern_scalar(reply: Reply, kinds: str) -> Reply:
    """A scalar that 7.0 printed with %.17g, as 7.4 prints it."""
    kind, text = reply
    if kind not in kinds or not text or not NUMBER.fullmatch(text):
        return reply
    value = float(text)
    if b'%.17g' % value != text or value in (float('inf'), float('-inf')):
        return reply
    return kind, modern_double(value)


def modern_doubles(kinds: str) -> Callable[[Reply], Reply]:
    def rewrite(reply: Reply) -> Reply:
        if is_aggregate(reply):
            return reply[0], tuple(map(rewrite, reply[1]))
        return modern_scalar(reply, kinds)
    return rewrite


# Users

USER_FLAGS = re.compile(rb'user \S+ (on|off)( nopass)?')
STATE_WORDS = {('$', b'on'), ('$', b'off'), ('$', b'nopass')}


def sanitizing_user(reply: Reply) -> Reply:
    """A line of ACL LIST or a reply of ACL GETUSER with the flag that 7.2 gives new users."""
    if is_aggregate(reply):
        if reply[1] and set(reply[1]) <= STATE_WORDS:
            return reply[0], reply[1] + (('$', b'sanitize-payload'),)
        return reply[0], tuple(map(sanitizing_user, reply[1]))
    if reply[0] != '$' or not reply[1] or b'sanitize-payload ' in reply[1]:
        return reply
    return '$', USER_FLAGS.sub(lambda m: m.group() + b' sanitize-payload', reply[1])


COMMAND_RULES = re.compile(rb'(?<=[+-]@all)( [+-][^ )]+)+')


def same_but_command_rules(call: Call, a: Reply, b: Reply) -> bool:
    def bare(reply: Reply) -> Reply:
        if is_aggregate(reply):
            return reply[0], tuple(map(bare, reply[1]))
        return (reply[0], COMMAND_RULES.sub(b'', reply[1])) if reply[0] == '$' and reply[1] else reply
    return bare(a) == bare(b)


LOG_FIELDS = (b'entry-id', b'timestamp-created', b'timestamp-last-updated')


def with_log_fields(reply: Reply) -> Reply:
    if not is_aggregate(reply):
        return reply
    more = tuple(value for name in LOG_FIELDS for value in (('$', name), (':', b'0')))
    return reply[0], tuple((e[0], e[1] + more) if is_aggregate(e) else e for e in reply[1])


def option_range(old: bytes, new: bytes) -> Callable[[Reply], Reply]:
    """CONFIG SET names what an option may be."""
    def rewrite(reply: Reply) -> Reply:
        return (reply[0], reply[1].replace(old, new)) if is_error(reply) else reply
    return rewrite


def without_hidden_options(reply: Reply) -> Reply:
    if not is_aggregate(reply) or len(reply[1]) <= 2:
        return reply
    pairs = zip(reply[1][::2], reply[1][1::2])
    kept = [pair for pair in pairs if pair[0][1] != b'aof-disable-auto-gc']
    return reply[0], tuple(word for pair in kept for word in pair)


REWRITES = (
    Rewrite('z*,bz*', '7.2', 'scores are printed in the shortest form that reads back; 7.0 prints '
            '17 digits', modern_doubles('$,')),
    Rewrite('!geo*,*', '7.2', 'RESP3 doubles, the same, but for those of places, which always have 17 digits',
            modern_doubles(',')),
    Rewrite('acl list,acl getuser', '7.2', 'new users have the flag sanitize-payload',
            sanitizing_user),
    Rewrite('acl log', '7.2', 'entries have ids and times', with_log_fields),
    Rewrite('config set', '7.2', 'loglevel may be nothing',
            option_range(b'debug, verbose, notice, warning', b'debug, verbose, notice, warning, nothing')),
    Rewrite('config set', '7.2', 'maxmemory-samples has a bound', option_range(
            b"'maxmemory-samples') - argument must be between 1 and 2147483647",
            b"'maxmemory-samples') - argument must be between 1 and 64")),
    Rewrite('config get', '7.2', 'aof-disable-auto-gc is shown only when asked for by name',
            without_hidden_options),
)


# Encodings and tables

NEW_ENCODINGS = {
    b'set': {(b'hashtable', b'listpack'), (b'intset', b'listpack')},
    b'list': {(b'quicklist', b'listpack')},
}


def same_encoding(kind: bytes, ref: bytes, sut: bytes) -> bool:
    """kind is the key's type; b'' when it is not known."""
    known = [NEW_ENCODINGS.get(kind, set())] if kind else NEW_ENCODINGS.values()
    return ref == sut or active and any((ref, sut) in found for found in known)


# Commands whose number of elements decides on the encoding since 7.2, before any is added: where the
# elements stand, and what that changes.
HINTED = {
    b'hset': (slice(2, None, 2), (b'listpack', b'hashtable')),
    b'hmset': (slice(2, None, 2), (b'listpack', b'hashtable')),
    b'zadd': (slice(3, None, 2), (b'listpack', b'skiplist')),
    b'geoadd': (slice(4, None, 3), (b'listpack', b'skiplist')),
    b'sadd': (slice(2, None), (b'intset', b'hashtable')),
}


MOVING = (b'rename', b'renamenx', b'copy', b'move', b'swapdb', b'restore')


def hinted_encoding(ref: bytes, sut: bytes, steps: list, key: bytes) -> bool:
    """Whether elements that were given but not added may be the reason for other encodings of the key."""
    moved = any(step.args and step.args[0].lower() in MOVING for step in steps)
    given = set()       # in earlier calls
    for args in [step.args for step in steps if active and step.args]:
        places, change = HINTED.get(args[0].lower(), (slice(0), ()))
        elements = args[places]
        if key not in args[1:2] and not moved:
            continue
        if change == (ref, sut) and (len(set(elements)) < len(elements) or given.intersection(elements)
                                     or b'XX' in [a.upper() for a in args[2:4]]):
            return True
        given.update(elements)
    return False


def encoding(call: Call, a: Reply, b: Reply) -> bool:
    kind = call.probes[0][1] if call.probes else b''
    return a[0] == b[0] == '$' and None not in (a[1], b[1]) and (
        same_encoding(kind, a[1], b[1]) or hinted_encoding(a[1], b[1], call.earlier[:call.step], call.args[2]))


def debug_encoding(call: Call, a: Reply, b: Reply) -> bool:
    found = [re.search(rb'encoding:(\S+)', r[1] or b'') for r in (a, b)]
    return all(found) and (
        same_encoding(b'', found[0].group(1), found[1].group(1))
        or hinted_encoding(found[0].group(1), found[1].group(1), call.earlier[:call.step], call.args[2]))


def both_arrays(call: Call, a: Reply, b: Reply) -> bool:
    return is_aggregate(a) and is_aggregate(b) and a[0] == b[0]


def both_numbers(call: Call, a: Reply, b: Reply) -> bool:
    return a[0] == b[0] == ':'


def command_rows(reply: Reply) -> dict:
    """{name: (arity, first key, last key, step)} of a COMMAND reply."""
    return {row[1][0][1]: row[1][1:2] + row[1][3:6] for row in reply[1] if is_aggregate(row)}


def same_commands(call: Call, a: Reply, b: Reply) -> bool:
    if not both_arrays(call, a, b) or len(call.args) > 2 and len(a[1]) != len(b[1]):
        return False
    left, right = command_rows(a), command_rows(b)
    return all(left[name] == right[name] for name in left
               if name in right and name not in (b'zrank', b'zrevrank'))


def both_errors(*starts: bytes):
    return lambda call, a, b: is_error(a) and is_error(b) and all(
        r[1].startswith(starts) for r in (a, b))


DENIALS = ((re.compile(rb"NOPERM this user(?P<rest> has no permissions to run the '.*' command)", re.S),
            rb'NOPERM User (u1|u2|u3|default)(?P<rest>.*)'),
           (re.compile(rb'NOPERM this user has no permissions to access one of the keys used as arguments(?P<rest>)'),
            rb'NOPERM No permissions to access a key(?P<rest>)'),
           (re.compile(rb'NOPERM this user has no permissions to access one of the channels used as arguments(?P<rest>)'),
            rb'NOPERM No permissions to access a channel(?P<rest>)'))


def renamed_denial(call: Call, a: Reply, b: Reply) -> bool:
    if not is_error(a) or not is_error(b):
        return False
    found = [(old.fullmatch(a[1]), re.fullmatch(new, b[1], re.S)) for old, new in DENIALS]
    return any(x and y and x.group('rest') == y.group('rest') for x, y in found)


def stricter_bits(call: Call, a: Reply, b: Reply) -> bool:
    return (a in ((':', b'0'), (':', b'-1')) or is_error(a) and a[1].startswith(b'WRONGTYPE ')) \
        and is_error(b) and b[1].startswith((b'ERR value is not an integer', b'ERR syntax error'))


def rank_with_score(call: Call, a: Reply, b: Reply) -> bool:
    words = call.args[2:] if call.name.startswith('command') else call.args
    return len(words) == 4 and words[0].lower() in (b'zrank', b'zrevrank') and is_error(a) \
        and a[1].startswith((b'ERR wrong number of arguments', b'ERR Invalid number of arguments'))


def overwriting_sinterstore(call: Call, a: Reply, b: Reply) -> bool:
    first, new = (a[1][:1], a[1][1:]) if is_aggregate(a) and a[1] else ((), ())
    return call.args[2:3] and call.args[2].lower() == b'sinterstore' and is_aggregate(b) \
        and b[1][1:] == new and all(
            (key[0], (key[1][0], (key[1][1][0], (('+', b'OW'),) + key[1][1][1][1:]))) == b[1][0]
            for key in first)


def bare_getkeys(call: Call, a: Reply, b: Reply) -> bool:
    return len(call.args) == 3 and is_error(a) \
        and a[1].startswith(b"ERR wrong number of arguments for 'command|getkeys")


def cursor_of(call: Call) -> bytes:
    at = 1 if call.name == 'scan' else 2
    return call.args[at] if len(call.args) > at else b''


def stricter_cursor(call: Call, a: Reply, b: Reply) -> bool:
    return b == ('-', b'ERR invalid cursor') \
        and bool(re.fullmatch(rb'-\d+|', cursor_of(call).partition(b'\0')[0]))


def looser_cursor(call: Call, a: Reply, b: Reply) -> bool:
    return a == ('-', b'ERR invalid cursor') and cursor_of(call)[:1].isspace()


def unnegatable(call: Call, a: Reply, b: Reply) -> bool:
    return LONG_MIN in call.args and is_error(b) and b[1].startswith(
        b'ERR value is out of range, value must between -9223372036854775807 and')


def same_but_zero_sign(call: Call, a: Reply, b: Reply) -> bool:
    if is_aggregate(a) and is_aggregate(b):
        return a[0] == b[0] and len(a[1]) == len(b[1]) \
            and all(same_but_zero_sign(call, x, y) for x, y in zip(a[1], b[1]))
    return a == b or a[0] == b[0] and a[0] in '$,' and {a[1], b[1]} == {b'0', b'-0'}


def earlier_key(call: Call, a: Reply, b: Reply) -> bool:
    if not call.late or not is_aggregate(a) or not a[1]:
        return False
    keys = [r[1][0][1] if is_aggregate(r) and r[1] else None for r in (a, b)]
    places = [call.args.index(key) if key in call.args else -1 for key in keys]
    refused = is_error(b) and b[1].startswith(b'WRONGTYPE ') and len(call.args) > 3
    call.diverged = 0 < places[1] < places[0] or refused
    return call.diverged


def wrapped_numkeys(call: Call, a: Reply, b: Reply) -> bool:
    return b == ('-', b'ERR Invalid arguments specified for command') \
        and any(re.fullmatch(rb'\d{10,19}', word) and int(word) >= 2 ** 32 for word in call.args)


def digest_of_zero(call: Call, a: Reply, b: Reply) -> bool:
    return any(step.args and step.args[0].lower() in (b'zadd', b'zincrby') and b'-0' in step.args
               for step in call.earlier[:call.step])


def all_invalid(call: Call, a: Reply, b: Reply) -> bool:
    heads = [(('$', b'invalidate'),), (('$', b'message'), ('$', b'__redis__:invalidate'))]
    return is_aggregate(a) and is_aggregate(b) and a[1][:-1] == b[1][:-1] and a[1][:-1] in heads \
        and {a[1][-1][0], b[1][-1][0]} == {'$', '_'} and not a[1][-1][1] and not b[1][-1][1]


ACCEPTED = (
    Accepted('object encoding', '7.2', 'small sets of strings and small lists are listpacks; the '
             'results of SUNIONSTORE and SDIFFSTORE take the encoding of what went in', encoding),
    Accepted('debug object', '7.2', 'the same', debug_encoding),
    Accepted('*help', '7.2', 'new subcommands, reworded lines', both_arrays),
    Accepted('command,command info', '7.2', 'new commands, subcommands, flags, tips and key '
             'specifications: arity and key positions are compared', same_commands),
    Accepted('command docs,command list,acl cat', '7.2', 'new commands, reworded summaries',
             both_arrays),
    Accepted('command count', '7.2', 'new commands', both_numbers),
    Accepted('*', '7.2', 'NOPERM texts name the user, and say it shorter for keys and channels', renamed_denial),
    Accepted('acl dryrun', '7.2', 'the same; 7.0 shows keys up to a zero byte',
             lambda call, a, b: a[0] == b[0] == '$' and None not in (a[1], b[1])
             and re.sub(rb"\0[^']*'", b"'", b[1]).endswith(a[1].removeprefix(b'This user'))),
    Accepted('acl list,acl getuser', '7.2', 'rules about commands are shown as they were given; 7.0 '
             'shows what it makes of them', same_but_command_rules),
    Accepted('hello', '7.2', 'the NOAUTH text shows the whole form of HELLO',
             both_errors(b'NOAUTH HELLO')),
    Accepted('bitcount,bitpos', '7.2', 'the arguments are checked before the key is looked at',
             stricter_bits),
    Accepted('zrank,zrevrank,command getkeys,command getkeysandflags', '7.2', 'WITHSCORE: the arity '
             'is -3', rank_with_score),
    Accepted('command getkeysandflags', '7.2', 'SINTERSTORE overwrites its destination without looking',
             overwriting_sinterstore),
    Accepted('command getkeys,command getkeysandflags', '7.2', 'the arity is -3: a command may '
             'stand alone', bare_getkeys),
    Accepted('scan,sscan,hscan,zscan', '7.4', 'cursors are 64 bits: a negative number is none, nor is nothing',
             stricter_cursor),
    Accepted('scan,sscan,hscan,zscan', '7.4', 'blanks before a cursor are skipped', looser_cursor),
    Accepted('lpos', '7.2', 'the one rank without an opposite is refused', unnegatable),
    Accepted('lrem', '7.4', 'the one count without an opposite is refused', unnegatable),
    Accepted('*', '7.2', 'a time-out that is no 64-bit number of milliseconds is called out of range; '
             '7.0 let it wrap', lambda call, a, b: a == ('-', b'ERR timeout is negative')
             and b == ('-', b'ERR timeout is out of range')),
    Accepted('z*,bz*', '7.2', 'ZADD of more pairs than zset-max-listpack-entries makes a skiplist at '
             'once, which keeps -0; a listpack has made 0 of it (and -0 of its opposite)', same_but_zero_sign),
    Accepted('debug digest,debug digest-value', '7.2', 'the same', digest_of_zero),
    Accepted('blpop,brpop,blmpop,bzmpop,bzpopmin,bzpopmax', '7.2', 'a blocked client that can be served looks at '
             'its keys in its own order, and is refused at one of the wrong type; 7.0 serves it from the key that was '
             'filled first', earlier_key),
    Accepted('command getkeys,command getkeysandflags', '7.4', 'a number of keys is not cut to 32 bits',
             wrapped_numkeys),
    Accepted('*', 'never', 'that everything is invalid is told in the protocol of the connection that hears it; Redis '
             'takes that of the one that tracks, which a client of the other protocol cannot read', all_invalid),
    Accepted('xreadgroup', '7.2', 'a client blocked on a group that goes away is told NOGROUP or '
             'WRONGTYPE like any other call', both_errors(b'UNBLOCKED ', b'NOGROUP ', b'WRONGTYPE ')),
)


def reply_first(replies: list, is_message: Callable[[Reply], bool]) -> list:
    """7.2: what a client is told while its own command runs (its own PUBLISH, in RESP3) follows the
    reply of that command; in 7.0 it comes first."""
    return sorted(replies, key=is_message) if active else replies


def client_flags(call: Call, flags: bytes) -> bytes:
    """7.2: RESET also ends CLIENT NO-EVICT."""
    if active and any(step.name == 'reset' for step in call.earlier[:call.step]):
        return flags.replace(b'e', b'') or b'N'
    return flags


active = True       # False while both servers have the same version: then nothing is smoothed over


def compare_versions(ref: bytes, sut: bytes):
    """Switches the table off for two replies to INFO that tell the same redis_version."""
    global active
    found = [re.search(rb'^redis_version:(\S+)', info or b'', re.M) for info in (ref, sut)]
    active = not all(found) or found[0].group(1) != found[1].group(1)


def concerns(commands: str, name: str) -> bool:
    for word in commands.split(','):
        if word.startswith('!'):
            if concerns(word[1:], name):
                return False
            continue
        start, star, end = word.partition('*')
        if name == word or star and name.startswith(start) and name.endswith(end):
            return True
    return False


def as_newer(call: Call, reply: Reply) -> Reply:
    """The reference's reply as 7.4 would give it."""
    for entry in REWRITES if active else ():
        if concerns(entry.commands, call.name):
            reply = entry.rewrite(reply)
    return reply


def accepted(call: Call, a: Reply, b: Reply) -> bool:
    """Whether the two replies differ as the two versions do."""
    return active and any(concerns(e.commands, call.name) and e.accepts(call, a, b)
                          for e in ACCEPTED)
