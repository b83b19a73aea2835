#!/usr/bin/env python3
"""What an application does with redis-py, over RESP2 and RESP3.

usage: redis_py_app.py --port N [--level basic|known|full] [--steps NAME,...]

Prints `resp2/strings: ok` for each step, or `FAILED` with the reason; exit status 1 when one failed.
A step names the commands it needs beyond the basic ones (strings, lists, sets, hashes, sorted sets,
SCAN, pipelines, CLIENT, HELLO). Levels: `basic` leaves out the steps that need more; `known`
leaves out those whose commands the server does not list in COMMAND; `full` runs all.
Database 9 is emptied first.
"""

import argparse
import sys
import threading
import time
import traceback

import redis
from redis.cache import CacheConfig

DB = 9
STEPS = []


def step(*needs: str):
    """Registers a scenario step, and the commands it needs beyond the basic ones."""
    def register(function):
        STEPS.append((function.__name__, needs, function))
        return function
    return register


class App:
    """One run of the scenario: a protocol version and the clients made for it."""

    def __init__(self, port: int, protocol: int):
        self.port, self.protocol = port, protocol
        self.r = self.client(decode_responses=True)
        self.raw = self.client()

    def client(self, **options) -> redis.Redis:
        return redis.Redis(port=self.port, db=DB, protocol=self.protocol, socket_timeout=10,
                           **options)


def expect(found, wanted):
    assert found == wanted, f'expected {wanted!r}, found {found!r}'


def raises(kind, call, *args, text='', **options):
    """Calls and returns the error, which has to be of the kind and to start with the text."""
    try:
        found = call(*args, **options)
    except kind as error:
        assert str(error).startswith(text), f'{error!r} does not start with {text!r}'
        return error
    raise AssertionError(f'no {kind.__name__}; found {found!r}')


def eventually(check, seconds: float = 5.0):
    """The first true value of check(), asked again and again."""
    due = time.monotonic() + seconds
    while time.monotonic() < due:
        found = check()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError('did not happen in time')


# Basic steps

@step()
def connect(app):
    client = app.client(decode_responses=True, client_name='billing')
    expect(client.ping(), True)
    expect(client.client_getname(), 'billing')
    assert client.client_id() > 0
    info = client.client_info()
    expect(info['name'], 'billing')
    expect(str(info['db']), str(DB))
    expect(str(info['resp']), str(app.protocol))
    assert any(c['name'] == 'billing' for c in client.client_list())
    client.close()
    expect(client.ping(), True)             # connects again by itself


@step()
def strings(app):
    r = app.r
    expect(r.set('s', 'v'), True)
    expect(r.get('s'), 'v')
    expect(r.get('nosuch'), None)
    expect(r.set('s', 'w', nx=True), None)
    expect(r.set('s', 'w', xx=True, get=True), 'v')
    expect(r.set('t', 'x', ex=100), True)
    assert 90 < r.ttl('t') <= 100
    expect(r.getex('t', persist=True), 'x')
    expect(r.ttl('t'), -1)
    expect(r.mset({'a': 1, 'b': 2}), True)
    expect(r.mget('a', 'nosuch', 'b'), ['1', None, '2'])
    expect(r.incr('a', 41), 42)
    expect(r.decr('a'), 41)
    expect(float(r.incrbyfloat('a', 0.5)), 41.5)
    expect(r.append('s', '!'), 2)
    expect(r.getrange('s', 0, 0), 'w')
    expect(r.setrange('s', 1, '??'), 3)
    expect(r.strlen('s'), 3)
    expect(r.getdel('s'), 'w??')
    expect(r.exists('s', 'a', 'b'), 2)
    expect(r.delete('a', 'b', 't'), 3)


@step()
def binary(app):
    every = bytes(range(256))
    for value in (b'', every, b'\r\n$5\r\n', every * 8192):
        expect(app.raw.set(b'bin\x00key', value), True)
        expect(app.raw.get(b'bin\x00key'), value)
    expect(app.raw.delete(b'bin\x00key'), 1)


@step()
def lists(app):
    r = app.r
    expect(r.rpush('l', 'a', 'b', 'c'), 3)
    expect(r.lpush('l', 'z'), 4)
    expect(r.lrange('l', 0, -1), ['z', 'a', 'b', 'c'])
    expect(r.lindex('l', -1), 'c')
    expect(r.linsert('l', 'before', 'b', 'x'), 5)
    expect(r.lpos('l', 'x'), 2)
    expect(r.lrem('l', 1, 'x'), 1)
    expect(r.lset('l', 0, 'y'), True)
    expect(r.lmove('l', 'l2', 'LEFT', 'RIGHT'), 'y')
    expect(r.lpop('l', 2), ['a', 'b'])
    expect(r.rpop('l'), 'c')
    expect(r.lpop('l'), None)
    expect(r.llen('l2'), 1)
    r.rpush('big', *range(5000))
    expect(r.lrange('big', 0, -1), [str(i) for i in range(5000)])
    expect(r.ltrim('big', 0, 9), True)
    expect(r.llen('big'), 10)
    r.delete('big', 'l2')


@step()
def sets(app):
    r = app.r
    expect(r.sadd('t1', 'a', 'b', 'c'), 3)
    expect(r.sadd('t2', 'b', 'c', 'd'), 3)
    expect(r.smembers('t1'), {'a', 'b', 'c'})
    expect(bool(r.sismember('t1', 'a')), True)
    expect(list(map(bool, r.smismember('t1', ['a', 'd']))), [True, False])
    expect(set(r.sinter('t1', 't2')), {'b', 'c'})
    expect(set(r.sunion('t1', 't2')), {'a', 'b', 'c', 'd'})
    expect(set(r.sdiff('t1', 't2')), {'a'})
    expect(r.sinterstore('t3', 't1', 't2'), 2)
    expect(r.sintercard(2, ['t1', 't2']), 2)
    expect(bool(r.smove('t1', 't2', 'a')), True)
    assert r.srandmember('t2') in {'a', 'b', 'c', 'd'}
    expect(len(set(r.srandmember('t2', 3))), 3)
    popped = r.spop('t2', 2)
    expect(r.scard('t2'), 2)
    expect(r.srem('t2', *popped), 0)
    r.delete('t1', 't2', 't3')


@step()
def hashes(app):
    r = app.r
    expect(r.hset('h', mapping={'name': 'Ada', 'n': 1}), 2)
    expect(r.hget('h', 'name'), 'Ada')
    expect(r.hgetall('h'), {'name': 'Ada', 'n': '1'})
    expect(r.hmget('h', ['name', 'nosuch']), ['Ada', None])
    expect(r.hincrby('h', 'n', 4), 5)
    expect(float(r.hincrbyfloat('h', 'n', 0.5)), 5.5)
    expect(sorted(r.hkeys('h')), ['n', 'name'])
    expect(sorted(r.hvals('h')), ['5.5', 'Ada'])
    expect(bool(r.hexists('h', 'name')), True)
    expect(r.hstrlen('h', 'name'), 3)
    expect(bool(r.hsetnx('h', 'name', 'x')), False)
    assert r.hrandfield('h') in ('name', 'n')
    expect(r.hlen('h'), 2)
    expect(r.hdel('h', 'name', 'n'), 2)
    expect(r.exists('h'), 0)
    big = {f'field{i}': f'value{i}' for i in range(3000)}
    expect(r.hset('h', mapping=big), 3000)
    expect(r.hgetall('h'), big)
    r.delete('h')


@step()
def sorted_sets(app):
    r = app.r

    def plain(rows):
        """(member, score) pairs; a single one comes flat in RESP3."""
        if rows and isinstance(rows[0], str):
            rows = [rows]
        return [(row[0], float(row[1])) for row in rows]
    expect(r.zadd('z', {'a': 1, 'b': 2.5, 'c': 0.1}), 3)
    expect(float(r.zscore('z', 'c')), 0.1)
    expect(r.zrange('z', 0, -1), ['c', 'a', 'b'])
    expect(plain(r.zrange('z', 0, -1, withscores=True)), [('c', 0.1), ('a', 1), ('b', 2.5)])
    expect(r.zrevrange('z', 0, 0), ['b'])
    expect(r.zrangebyscore('z', '(0.1', '+inf'), ['a', 'b'])
    expect(r.zrange('z', '-inf', 1, byscore=True), ['c', 'a'])
    expect(float(r.zincrby('z', 9, 'c')), 9.1)
    expect(r.zrank('z', 'c'), 2)
    expect(r.zcount('z', 1, 3), 2)
    expect(r.zadd('z', {'a': 5}, gt=True, ch=True), 1)
    expect([float(s) for s in r.zmscore('z', ['a', 'b'])], [5.0, 2.5])
    expect(r.zunionstore('z2', ['z', 'z']), 3)
    expect(plain(r.zpopmin('z2')), [('b', 5.0)])
    expect(plain(r.zpopmax('z2', 2)), [('c', 18.2), ('a', 10.0)])
    expect(r.zrem('z', 'a', 'b', 'c'), 3)
    r.zadd('board', {f'player{i:04}': i for i in range(2000)})
    expect(r.zrange('board', 1998, -1), ['player1998', 'player1999'])
    r.delete('board')


@step()
def expiry(app):
    r = app.r
    r.set('e', 1)
    expect(bool(r.expire('e', 100)), True)
    assert 0 < r.pttl('e') <= 100_000
    expect(bool(r.persist('e')), True)
    expect(r.ttl('e'), -1)
    r.set('e', 1, px=30)
    eventually(lambda: r.get('e') is None)
    expect(r.ttl('e'), -2)


@step()
def scan(app):
    r = app.r
    with r.pipeline(transaction=False) as pipe:
        for i in range(1000):
            pipe.set(f'scan:{i}', i)
        pipe.execute()
    expect(sorted(r.scan_iter('scan:*', count=50)), sorted(f'scan:{i}' for i in range(1000)))
    expect(len(set(r.scan_iter('scan:99*', _type='string'))), 11)
    r.sadd('scanned', *range(600))
    expect({int(m) for m in r.sscan_iter('scanned')}, set(range(600)))
    r.hset('scanhash', mapping={f'f{i}': i for i in range(600)})
    expect(dict(r.hscan_iter('scanhash')), {f'f{i}': str(i) for i in range(600)})
    r.zadd('scanzset', {f'm{i}': i for i in range(300)})
    expect({m: float(s) for m, s in r.zscan_iter('scanzset')}, {f'm{i}': i for i in range(300)})
    expect(r.delete(*r.scan_iter('scan*')), 1003)


@step()
def pipelines(app):
    r = app.r
    with r.pipeline(transaction=False) as pipe:
        for i in range(2000):
            pipe.incr('counter')
        expect(pipe.execute(), list(range(1, 2001)))
    with r.pipeline(transaction=False) as pipe:
        pipe.set('s', 'text').incr('s').get('s')
        ok, error, value = pipe.execute(raise_on_error=False)
    expect((ok, value), (True, 'text'))
    assert isinstance(error, redis.ResponseError), error
    r.delete('counter', 's')


@step()
def errors(app):
    r = app.r
    r.rpush('l', 'a')
    raises(redis.ResponseError, r.get, 'l', text='WRONGTYPE Operation against a key')
    raises(redis.ResponseError, r.execute_command, 'NOSUCH', 'x', text='unknown command')
    raises(redis.ResponseError, r.execute_command, 'GET', text='wrong number of arguments')
    r.set('s', 'x')
    raises(redis.ResponseError, r.incr, 's', text='value is not an integer or out of range')
    expect(r.delete('l', 's'), 2)


@step()
def threads(app):
    """Many threads over one pool; every increment must count."""
    def work():
        for _ in range(100):
            app.r.incr('shared')
    workers = [threading.Thread(target=work) for _ in range(20)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    expect(app.r.get('shared'), '2000')
    app.r.delete('shared')


# Steps that need more

@step('multi', 'exec', 'watch', 'discard')
def transactions(app):
    r = app.r
    with r.pipeline() as pipe:
        expect(pipe.set('a', 1).incr('a').get('a').execute(), [True, 2, '2'])
    r.set('balance', 100)

    def spend(pipe):
        left = int(pipe.get('balance')) - 30
        pipe.multi()
        pipe.set('balance', left)
    expect(r.transaction(spend, 'balance'), [True])
    with r.pipeline() as pipe:
        pipe.watch('balance')
        r.set('balance', 1)                 # somebody else is faster
        pipe.multi()
        pipe.set('balance', 0)
        raises(redis.WatchError, pipe.execute)
    expect(r.get('balance'), '1')
    with r.pipeline() as pipe:
        pipe.execute_command('NOSUCH')
        pipe.set('a', 5)
        raises(redis.ResponseError, pipe.execute)
    expect(r.get('a'), '2')                 # nothing of a refused transaction is done
    r.delete('a', 'balance')


@step('blpop', 'brpop', 'blmove', 'bzpopmin')
def blocking_queue(app):
    r, done = app.r, []

    def worker():
        client = app.client(decode_responses=True)
        while True:
            _, job = client.blpop(['urgent', 'jobs'], timeout=5)
            if job == 'stop':
                return
            done.append(job)
    workers = [threading.Thread(target=worker) for _ in range(3)]
    for thread in workers:
        thread.start()
    for i in range(300):
        r.rpush('jobs' if i % 3 else 'urgent', f'job{i}')
    eventually(lambda: len(done) == 300)
    r.rpush('jobs', 'stop', 'stop', 'stop')
    for thread in workers:
        thread.join(5)
        assert not thread.is_alive()
    expect(sorted(done), sorted(f'job{i}' for i in range(300)))
    expect(r.blpop(['jobs'], timeout=0.05), None)
    r.rpush('jobs', 'last')
    expect(r.blmove('jobs', 'doing', 1), 'last')
    expect(r.brpop(['doing'], timeout=1), ['doing', 'last'] if app.protocol == 3
           else ('doing', 'last'))
    r.zadd('delayed', {'job': 7})
    key, member, score = r.bzpopmin('delayed', timeout=1)
    expect((key, member, float(score)), ('delayed', 'job', 7.0))


def message(subscriber, kind: str):
    """The next message of a kind; raises when it does not come."""
    found = eventually(lambda: subscriber.get_message(timeout=0.1))
    expect(found['type'], kind)
    return found


@step('subscribe', 'publish', 'psubscribe')
def pubsub(app):
    r = app.r
    subscriber = app.client(decode_responses=True, client_name='reader').pubsub()
    subscriber.subscribe('news')
    subscriber.psubscribe('alerts.*')
    expect(message(subscriber, 'subscribe')['data'], 1)
    expect(message(subscriber, 'psubscribe')['data'], 2)
    expect(r.publish('news', 'hello'), 1)
    expect(message(subscriber, 'message')['data'], 'hello')
    expect(r.publish('alerts.disk', 'full'), 1)
    found = message(subscriber, 'pmessage')
    expect((found['pattern'], found['channel'], found['data']), ('alerts.*', 'alerts.disk', 'full'))
    expect(r.publish('nobody', 'x'), 0)
    # The connection is lost: the client connects and subscribes again.
    for client in r.client_list():
        if client['name'] == 'reader':
            r.client_kill_filter(_id=client['id'])

    def heard():
        r.publish('news', 'again')
        try:
            found = subscriber.get_message(timeout=0.1)
        except redis.ConnectionError:
            return False
        return found and found['type'] == 'message' and found['data'] == 'again'
    eventually(heard)
    subscriber.close()


@step('client|tracking')
def client_side_cache(app):
    if app.protocol != 3:
        return 'needs RESP3'
    try:
        client = app.client(decode_responses=True, cache_config=CacheConfig())
        client.ping()
    except redis.ConnectionError as error:
        if '7.4' not in str(error):
            raise
        return 'redis-py caches only for servers from 7.4 on'
    app.r.set('cached', 'one')
    expect(client.get('cached'), 'one')
    expect(client.get('cached'), 'one')
    expect(client.get_cache().size, 1)
    app.r.set('cached', 'two')              # the server tells the client to forget it
    eventually(lambda: client.get('cached') == 'two')
    return None


@step('eval', 'evalsha', 'script|load')
def scripts(app):
    r = app.r
    limiter = r.register_script('''
        local n = redis.call('INCR', KEYS[1])
        if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
        return {n, redis.call('PTTL', KEYS[1])}''')
    for i in range(1, 4):
        count, ttl = limiter(keys=['rate:ada'], args=[60_000])
        expect(count, i)
        assert 0 < ttl <= 60_000
    lock = r.lock('lock', timeout=5)
    expect(lock.acquire(blocking=False), True)
    expect(r.lock('lock').acquire(blocking=False), False)
    lock.release()
    expect(r.exists('lock'), 0)
    raises(redis.exceptions.NoScriptError, r.evalsha, '0' * 40, 0)


@step('xadd', 'xreadgroup', 'xack', 'xgroup|create')
def streams(app):
    r = app.r
    first = r.xadd('x', {'n': 1})
    r.xgroup_create('x', 'workers', id='0')
    raises(redis.ResponseError, r.xgroup_create, 'x', 'workers', text='BUSYGROUP')
    r.xadd('x', {'n': 2})
    found = r.xreadgroup('workers', 'ada', {'x': '>'}, count=10)
    entries = found['x'][0] if isinstance(found, dict) else found[0][1]
    expect([fields for _, fields in entries], [{'n': '1'}, {'n': '2'}])
    expect(r.xack('x', 'workers', first), 1)
    expect(r.xpending('x', 'workers')['pending'], 1)
    expect(r.xlen('x'), 2)


@step('info', 'config|get', 'config|set', 'dbsize', 'type', 'object|encoding')
def administration(app):
    r = app.r
    info = r.info()
    assert tuple(map(int, info['redis_version'].split('.')[:2])) >= (7, 0), info['redis_version']
    expect(info['role'], 'master')
    expect(r.config_get('databases'), {'databases': '16'})
    r.config_set('notify-keyspace-events', '')
    r.set('one', 1)
    assert r.dbsize() >= 1
    expect(r.type('one'), 'string')
    expect(r.object('encoding', 'one'), 'int')


@step('psubscribe', 'config|set')
def keyspace_events(app):
    r = app.r
    r.config_set('notify-keyspace-events', 'KEA')
    subscriber = app.client(decode_responses=True).pubsub()
    subscriber.psubscribe(f'__keyspace@{DB}__:watched')
    message(subscriber, 'psubscribe')
    r.set('watched', 1, px=40)
    expect([message(subscriber, 'pmessage')['data'] for _ in range(3)], ['set', 'expire', 'expired'])
    subscriber.close()
    r.config_set('notify-keyspace-events', '')


# Running

def lacking(app: App, needs: tuple) -> list:
    """Those of the commands that the server does not list."""
    out = []
    for name in needs:
        row = app.raw.execute_command('COMMAND INFO', name)
        row = list(row.values()) if isinstance(row, dict) else row
        if not row or row[0] is None:
            out.append(name)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--port', type=int, required=True)
    parser.add_argument('--level', choices=('basic', 'known', 'full'), default='full')
    parser.add_argument('--steps', default='', help='comma-separated; default: all of the level')
    options = parser.parse_args()
    wanted = {s for s in options.steps.split(',') if s}
    failed = False
    for protocol in (2, 3):
        app = App(options.port, protocol)
        app.raw.flushdb()
        for name, needs, function in STEPS:
            if wanted and name not in wanted or options.level == 'basic' and needs:
                continue
            title = f'resp{protocol}/{name}'
            missing = lacking(app, needs) if options.level == 'known' else []
            if missing:
                print(f'{title}: skipped (not there: {", ".join(missing)})', flush=True)
                continue
            try:
                reason = function(app)
                print(f'{title}: ' + (f'skipped ({reason})' if reason else 'ok'), flush=True)
            except Exception as error:      # whatever a client may raise is a finding
                failed = True
                print(f'{title}: FAILED {type(error).__name__}: {error}', flush=True)
                traceback.print_exc(limit=-2)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
