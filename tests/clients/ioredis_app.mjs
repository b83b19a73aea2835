// What an application does with ioredis, over RESP2 and RESP3; options in scenario.mjs.

import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { DB, eventually, main, options, rejects, step } from './scenario.mjs';

function connect(protocol, more = {}) {
  return new Redis({
    port: Number(options.port), db: DB, protocol, enableReadyCheck: options.level !== 'basic',
    ...more,
  });
}

// Scores are strings in RESP2 and numbers in RESP3.
const numbers = (list) => list.map(Number);
const range = (count) => Array.from({ length: count }, (_, i) => i);

step('connect', [], async (app, protocol) => {
  const client = connect(protocol, { connectionName: 'billing' });
  assert.equal(await client.ping(), 'PONG');
  assert.equal(await client.client('GETNAME'), 'billing');
  assert.ok(await client.client('ID') > 0);
  const info = String(await client.client('INFO'));
  assert.match(info, new RegExp(`name=billing .*db=${DB} .*resp=${protocol}`));
  client.disconnect();
});

step('strings', [], async ({ r }) => {
  assert.equal(await r.set('s', 'v'), 'OK');
  assert.equal(await r.get('s'), 'v');
  assert.equal(await r.get('nosuch'), null);
  assert.equal(await r.set('s', 'w', 'NX'), null);
  assert.equal(await r.set('s', 'w', 'XX', 'GET'), 'v');
  await r.set('t', 'x', 'EX', 100);
  assert.ok(await r.ttl('t') > 90);
  await r.mset({ a: 1, b: 2 });
  assert.deepEqual(await r.mget('a', 'nosuch', 'b'), ['1', null, '2']);
  assert.equal(await r.incrby('a', 41), 42);
  assert.equal(Number(await r.incrbyfloat('a', 0.5)), 42.5);
  assert.equal(await r.append('s', '!'), 2);
  assert.equal(await r.getrange('s', 0, 0), 'w');
  const bytes = Buffer.from(range(256));
  await r.set('bin', bytes);
  assert.deepEqual(await r.getBuffer('bin'), bytes);
  const large = Buffer.alloc(2_000_000, 'x');
  await r.set('large', large);
  assert.ok((await r.getBuffer('large')).equals(large));
  assert.equal(await r.del('s', 't', 'a', 'b', 'bin', 'large'), 6);
});

step('lists', [], async ({ r }) => {
  assert.equal(await r.rpush('l', 'a', 'b', 'c'), 3);
  assert.equal(await r.lpush('l', 'z'), 4);
  assert.deepEqual(await r.lrange('l', 0, -1), ['z', 'a', 'b', 'c']);
  assert.equal(await r.linsert('l', 'BEFORE', 'b', 'x'), 5);
  assert.equal(await r.lpos('l', 'x'), 2);
  assert.equal(await r.lrem('l', 1, 'x'), 1);
  assert.equal(await r.lmove('l', 'l2', 'LEFT', 'RIGHT'), 'z');
  assert.deepEqual(await r.lpop('l', 2), ['a', 'b']);
  assert.equal(await r.rpop('l'), 'c');
  assert.equal(await r.lpop('l'), null);
  await r.rpush('big', ...range(5000));
  assert.deepEqual(await r.lrange('big', 0, -1), range(5000).map(String));
  await r.del('big', 'l2');
});

step('sets', [], async ({ r }) => {
  await r.sadd('t1', 'a', 'b', 'c');
  await r.sadd('t2', 'b', 'c', 'd');
  assert.deepEqual([...await r.smembers('t1')].sort(), ['a', 'b', 'c']);
  assert.equal(await r.sismember('t1', 'a'), 1);
  assert.deepEqual(await r.smismember('t1', 'a', 'd'), [1, 0]);
  assert.deepEqual([...await r.sinter('t1', 't2')].sort(), ['b', 'c']);
  assert.equal(await r.sunionstore('t3', 't1', 't2'), 4);
  assert.equal(await r.sdiffstore('t3', 't1', 't2'), 1);
  assert.ok('bcd'.includes(await r.srandmember('t2')));
  assert.equal([...await r.spop('t2', 2)].length, 2);
  assert.equal(await r.scard('t2'), 1);
  await r.del('t1', 't2', 't3');
});

step('hashes', [], async ({ r }) => {
  assert.equal(await r.hset('h', { name: 'Ada', n: 1 }), 2);
  assert.deepEqual({ ...await r.hgetall('h') }, { name: 'Ada', n: '1' });
  assert.deepEqual(await r.hmget('h', 'name', 'nosuch'), ['Ada', null]);
  assert.equal(await r.hincrby('h', 'n', 4), 5);
  assert.deepEqual((await r.hkeys('h')).sort(), ['n', 'name']);
  assert.equal(await r.hexists('h', 'name'), 1);
  assert.equal(await r.hdel('h', 'name', 'n'), 2);
  assert.deepEqual({ ...await r.hgetall('h') }, {});
  const big = Object.fromEntries(range(3000).map((i) => [`field${i}`, `value${i}`]));
  assert.equal(await r.hset('h', big), 3000);
  assert.deepEqual({ ...await r.hgetall('h') }, big);
  await r.del('h');
});

step('sorted_sets', [], async ({ r }) => {
  assert.equal(await r.zadd('z', 1, 'a', 2.5, 'b', 0.1, 'c'), 3);
  assert.equal(Number(await r.zscore('z', 'c')), 0.1);
  assert.deepEqual(await r.zrange('z', 0, -1), ['c', 'a', 'b']);
  const rows = (await r.zrange('z', 0, -1, 'WITHSCORES')).flat();
  assert.deepEqual(rows.map((x, i) => (i % 2 ? Number(x) : x)), ['c', 0.1, 'a', 1, 'b', 2.5]);
  assert.deepEqual(await r.zrangebyscore('z', '(0.1', '+inf'), ['a', 'b']);
  assert.equal(Number(await r.zincrby('z', 9, 'c')), 9.1);
  assert.equal(await r.zrank('z', 'c'), 2);
  assert.deepEqual(numbers(await r.zmscore('z', 'a', 'b')), [1, 2.5]);
  const [member, score] = (await r.zpopmax('z')).flat();
  assert.deepEqual([member, Number(score)], ['c', 9.1]);
  assert.equal(await r.zrem('z', 'a', 'b'), 2);
});

step('scan', [], async ({ r }) => {
  const pipeline = r.pipeline();
  for (const i of range(1000)) pipeline.set(`scan:${i}`, i);
  await pipeline.exec();
  const found = new Set();
  for await (const keys of r.scanStream({ match: 'scan:*', count: 50 })) {
    keys.forEach((key) => found.add(key));
  }
  assert.equal(found.size, 1000);
  await r.hset('scanhash', Object.fromEntries(range(600).map((i) => [`f${i}`, i])));
  const fields = {};
  for await (const part of r.hscanStream('scanhash')) {
    for (let i = 0; i < part.length; i += 2) fields[part[i]] = part[i + 1];
  }
  assert.equal(Object.keys(fields).length, 600);
  assert.equal(fields.f7, '7');
  assert.equal(await r.del(...found, 'scanhash'), 1001);
});

step('pipelines', [], async ({ r }) => {
  const pipeline = r.pipeline();
  for (let i = 0; i < 2000; i++) pipeline.incr('counter');
  const results = await pipeline.exec();
  assert.deepEqual(results.map(([error, n]) => error ?? n), range(2000).map((i) => i + 1));
  await r.set('s', 'text');
  const [[error], [, value]] = await r.pipeline().incr('s').get('s').exec();
  assert.match(error.message, /^ERR value is not an integer or out of range/);
  assert.equal(value, 'text');
  // Requests of one tick without waiting, as applications make them.
  const many = await Promise.all(range(500).map((i) => r.set(`tick:${i}`, i).then(() => r.get(`tick:${i}`))));
  assert.deepEqual(many, range(500).map(String));
  await r.del('counter', 's', ...range(500).map((i) => `tick:${i}`));
});

step('errors', [], async ({ r }) => {
  await r.rpush('l', 'a');
  await rejects(r.get('l'), 'WRONGTYPE Operation against a key');
  await rejects(r.call('NOSUCH', 'x'), "ERR unknown command 'NOSUCH', with args beginning with: 'x'");
  await rejects(r.call('GET'), "ERR wrong number of arguments for 'get' command");
  await r.del('l');
});

step('transactions', ['multi', 'exec', 'watch'], async ({ r }, protocol) => {
  const results = await r.multi().set('a', 1).incr('a').get('a').exec();
  assert.deepEqual(results, [[null, 'OK'], [null, 2], [null, '2']]);
  const other = connect(protocol);
  await r.watch('balance');
  await other.set('balance', 1);
  assert.equal(await r.multi().set('balance', 0).exec(), null);
  assert.equal(await other.get('balance'), '1');
  await rejects(r.multi().set('a').exec(), 'EXECABORT Transaction discarded because of previous errors.');
  other.disconnect();
  await r.del('a', 'balance');
});

step('blocking_queue', ['blpop', 'brpop', 'bzpopmin'], async ({ r }, protocol) => {
  const done = [];
  const workers = range(3).map(async () => {
    const client = connect(protocol);
    for (;;) {
      const [, job] = await client.blpop('urgent', 'jobs', 5);
      if (job === 'stop') break;
      done.push(job);
    }
    client.disconnect();
  });
  for (const i of range(300)) await r.rpush(i % 3 ? 'jobs' : 'urgent', `job${i}`);
  await eventually(() => done.length === 300);
  await r.rpush('jobs', 'stop', 'stop', 'stop');
  await Promise.all(workers);
  assert.deepEqual(done.sort(), range(300).map((i) => `job${i}`).sort());
  assert.equal(await r.blpop('jobs', 0.05), null);
  await r.zadd('delayed', 7, 'job');
  const [key, member, score] = await r.bzpopmin('delayed', 1);
  assert.deepEqual([key, member, Number(score)], ['delayed', 'job', 7]);
});

step('pubsub', ['subscribe', 'publish', 'psubscribe'], async ({ r }, protocol) => {
  const subscriber = connect(protocol, { connectionName: 'reader', retryStrategy: () => 20 });
  const heard = [];
  subscriber.on('message', (channel, text) => heard.push([channel, text]));
  subscriber.on('pmessage', (pattern, channel, text) => heard.push([pattern, channel, text]));
  subscriber.on('error', () => {});
  assert.equal(await subscriber.subscribe('news'), 1);
  assert.equal(await subscriber.psubscribe('alerts.*'), 2);
  assert.equal(await r.publish('news', 'hello'), 1);
  assert.equal(await r.publish('alerts.disk', 'full'), 1);
  await eventually(() => heard.length === 2);
  assert.deepEqual(heard, [['news', 'hello'], ['alerts.*', 'alerts.disk', 'full']]);
  // The connection is lost: the client connects and subscribes again.
  const list = String(await r.client('LIST'));
  await r.client('KILL', 'ID', /id=(\d+) .*name=reader/.exec(list)[1]);
  await eventually(() => r.publish('news', 'again'));
  await eventually(() => heard.some(([, text]) => text === 'again'));
  subscriber.disconnect();
});

step('scripts', ['eval', 'evalsha', 'script|flush'], async ({ r }) => {
  r.defineCommand('limit', {
    numberOfKeys: 1,
    lua: `local n = redis.call('INCR', KEYS[1])
          if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
          return {n, redis.call('PTTL', KEYS[1])}`,
  });
  for (const i of [1, 2, 3]) {
    if (i === 3) await r.script('FLUSH');       // the client sends the script again
    const [count, ttl] = await r.limit('rate:ada', 60_000);
    assert.equal(count, i);
    assert.ok(ttl > 0 && ttl <= 60_000);
  }
});

step('streams', ['xadd', 'xreadgroup', 'xack', 'xgroup|create'], async ({ r }) => {
  await r.xadd('x', '*', 'n', 1);
  await r.xgroup('CREATE', 'x', 'workers', '0');
  await rejects(r.xgroup('CREATE', 'x', 'workers', '0'), 'BUSYGROUP');
  const found = await r.xreadgroup('GROUP', 'workers', 'ada', 'COUNT', 10, 'STREAMS', 'x', '>');
  const entries = Array.isArray(found) ? found[0][1] : found.x;
  assert.deepEqual(entries[0][1], ['n', '1']);
  assert.equal(await r.xack('x', 'workers', entries[0][0]), 1);
});

await main({
  open: async (protocol) => ({ r: connect(protocol) }),
  command: ({ r }, ...words) => r.call(...words),
  close: async ({ r }) => r.disconnect(),
});
