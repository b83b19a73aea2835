"""What the outside judges (redis-suite, differ, clients) have in common.

A judge is a program beside cargo's tests that compares redae with something of the Redis world. It
ends with a line `N passed, N failed` and exit status 0 (all passed), 1 (something failed), 2 (could
not run) or SKIPPED. A judge whose programs are missing is skipped, with the reason, on a user's
machine; where CI=true it fails, so that a green run there means that all of them ran.
"""

import os
import shutil
import socket
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
SKIPPED = 77                # exit status, as automake has it
CACHE = os.path.join(os.environ.get('CARGO_TARGET_DIR', os.path.join(ROOT, 'target')), 'judges')
BINARY = os.environ.get('REDAE_BINARY') or os.path.join(os.path.dirname(CACHE), 'release', 'redae')


def skip(judge: str, reason: str):
    """Ends the program: skipped, or failed in CI."""
    if os.environ.get('CI') == 'true':
        print(f'{judge}: cannot run, and must where CI=true: {reason}')
        print('0 passed, 1 failed')
        sys.exit(1)
    print(f'{judge}: skipped: {reason}')
    sys.exit(SKIPPED)


def require(judge: str, *programs: str):
    """Skips the judge unless all programs are on the PATH."""
    missing = [p for p in programs if not shutil.which(p)]
    if missing:
        skip(judge, f'{", ".join(missing)} not found (on Debian and Ubuntu, as root: '
                    'bench/install-redis tcl dpkg-dev; npm comes with Node.js)')


def require_binary(judge: str, path: str = BINARY) -> str:
    """The absolute path of the server under test; ends the program when it is not built."""
    path = shutil.which(path) or path
    if not os.access(path, os.X_OK):
        print(f'{judge}: {path} is not there; build it with: cargo build --release')
        sys.exit(2)
    return os.path.abspath(path)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]
