"""The grammar of all commands, from COMMAND DOCS and COMMAND of the reference."""

from typing import NamedTuple

from .guards import CONFIG_VALUES, command_name
from .resp import Reply, is_aggregate
from .rules import pairs
from .servers import Server


class Arg(NamedTuple):
    name: str
    type: str
    token: bytes
    flags: frozenset
    args: tuple


class Command(NamedTuple):
    name: str                   # 'xgroup create'
    group: str
    flags: frozenset
    args: tuple


def as_dict(reply: Reply) -> dict:
    return {k[1].decode(): v for k, v in pairs(reply)}


def text_of(reply: Reply) -> str:
    return reply[1].decode()


def is_known(name: str, known: set) -> bool:
    """Whether a command is in the list of a server; one that lists no subcommands has them all."""
    container, blank, _ = name.partition(' ')
    return name in known or bool(blank) and container in known and not any(
        other.startswith(container + ' ') for other in known)


class Grammar:
    """All commands of the reference with the grammar of their arguments."""

    def __init__(self, server: Server):
        self.commands: dict[str, Command] = {}
        self.words: set[str] = set()        # names of all commands, containers among them
        self.held_back: frozenset = frozenset()
        self.held_back_options: frozenset = frozenset()
        self.debug_words: frozenset = frozenset()   # of DEBUG, which is no container; all when empty
        flags = {}
        listed, docs = server.control.ask(b'COMMAND'), server.control.ask(b'COMMAND', b'DOCS')
        if not (is_aggregate(listed) and is_aggregate(docs)):
            raise OSError('the reference does not know COMMAND DOCS')
        for entry in listed[1]:
            for one in (entry,) + (entry[1][9][1] if len(entry[1]) > 9 else ()):
                flags[text_of(one[1][0]).replace('|', ' ')] = frozenset(
                    text_of(f) for f in one[1][2][1])
        for name, doc in pairs(docs):
            self.add(text_of(name), as_dict(doc), flags, '')

    def add(self, name: str, doc: dict, flags: dict, group: str):
        name = name.replace('|', ' ')
        self.words.add(name)
        group = group or text_of(doc['group'])
        args = tuple(map(self.argument, doc['arguments'][1])) if 'arguments' in doc else ()
        if 'subcommands' in doc:
            for sub, subdoc in pairs(doc['subcommands']):
                self.add(text_of(sub), as_dict(subdoc), flags, group)
        else:
            self.commands[name] = Command(name, group, flags.get(name, frozenset()), args)

    def argument(self, reply: Reply) -> Arg:
        doc = as_dict(reply)
        return Arg(text_of(doc['name']), text_of(doc['type']),
                   doc['token'][1] if 'token' in doc else b'',
                   frozenset(text_of(f) for f in doc['flags'][1]) if 'flags' in doc
                   else frozenset(),
                   tuple(map(self.argument, doc['arguments'][1])) if 'arguments' in doc
                   else ())

    def restrict(self, server: Server):
        """Leaves only the commands that the server lists."""
        listed = server.control.ask(b'COMMAND')
        if not is_aggregate(listed) or not listed[1]:
            raise OSError(f'{server.title} does not list its commands: COMMAND')
        known = set()
        for row in filter(is_aggregate, listed[1]):
            known.add(text_of(row[1][0]))
            subcommands = row[1][9][1] if len(row[1]) > 9 and is_aggregate(row[1][9]) else ()
            known.update(text_of(sub[1][0]).replace('|', ' ') for sub in subcommands)
        self.held_back = frozenset(name for name in self.words if not is_known(name, known))
        # DEBUG is Redis's own workbench: no server has all of it, and only its HELP tells what there is.
        told = server.control.ask(b'DEBUG', b'HELP')
        if is_aggregate(told):
            self.debug_words = frozenset(line[1].split(b' ')[0].lower() for line in told[1] if line[1])
        else:
            self.held_back |= {'debug'}
        for name in self.held_back:
            self.commands.pop(name, None)
        for name in CONFIG_VALUES:
            reply = server.control.ask(b'CONFIG', b'GET', name)
            if not is_aggregate(reply) or len(reply[1]) != 2:
                self.held_back_options |= {name}

    def sendable(self, args: tuple) -> bool:
        """False for what the reference knows and restrict() has taken away: commands, also as the
        subject of COMMAND and ACL, and options of CONFIG SET."""
        name = command_name(args) if args else ''
        if name == 'config set' and self.held_back_options.intersection(map(bytes.lower, args[2:])):
            return False
        if args[:1] and args[0].lower() == b'debug' and self.debug_words \
                and args[1:2] and args[1].lower() not in self.debug_words | {b'nosuch'}:
            return False
        subject = name.startswith('command') or name in ('acl dryrun', 'acl setuser')
        words = [w.lower().lstrip(b'+-') for w in (args if subject else args[:1])]
        return name not in self.held_back and not any(
            w.decode('latin-1').replace('|', ' ') in self.held_back for w in words)

    def read_only(self, name: str) -> bool:
        command = self.commands.get(name)
        return bool(command) and 'readonly' in command.flags
