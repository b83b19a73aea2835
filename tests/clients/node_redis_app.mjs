// What an application does with node-redis, over RESP2 and RESP3; options in scenario.mjs.

import assert from 'node:assert/strict';
import { createClient, RESP_TYPES, WatchError } from 'redis';
import { DB, eventually, main, options, rejects, step } from './scenario.mjs';

async function connect(protocol, more = {}) {
  const client = createClient({
    database: DB, RESP: protocol, ...more,
    socket: { host: '127.0.0.1', port: Number(options.port), reconnectStrategy: 20 },
  });
  client.on('error', () => {});         // lost connections are part of the scenario
  return client.connect();
}

const range = (count) => Array.from({ length: count }, (_, i) => i);

step('connect', [], async (app, protocol) => {
  const client = await connect(protocol, { name: 'billing' });
  assert.equal(await client.ping(), 'PONG');
  assert.equal(await client.clientGetName(), 'billing');
  assert.ok(await client.clientId() > 0);
  const info = await client.clientInfo();
  assert.equal(info.name, 'billing');
  assert.equal(info.db, DB);
  assert.equal(info.resp, protocol);
  await client.close();
});

step('strings', [], async ({ r }) => {
  assert.equal(await r.set('s', 'v'), 'OK');
  assert.equal(await r.get('s'), 'v');
  assert.equal(await r.get('nosuch'), null);
  assert.equal(await r.set('s', 'w', { condition: 'NX' }), null);
  assert.equal(await r.set('s', 'w', { condition: 'XX', GET: true }), 'v');
  await r.set('t', 'x', { expiration: { type: 'EX', value: 100 } });
  assert.ok(await r.ttl('t') > 90);
  await r.mSet({ a: '1', b: '2' });
  assert.deepEqual(await r.mGet(['a', 'nosuch', 'b']), ['1', null, '2']);
  assert.equal(await r.incrBy('a', 41), 42);
  assert.equal(Number(await r.incrByFloat('a', 0.5)), 42.5);
  assert.equal(await r.append('s', '!'), 2);
  assert.equal(await r.getRange('s', 0, 0), 'w');
  const bytes = Buffer.from(range(256));
  await r.set('bin', bytes);
  const raw = r.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  assert.deepEqual(await raw.get('bin'), bytes);
  assert.equal(await r.del(['s', 't', 'a', 'b', 'bin']), 5);
});

step('lists', [], async ({ r }) => {
  assert.equal(await r.rPush('l', ['a', 'b', 'c']), 3);
  assert.equal(await r.lPush('l', 'z'), 4);
  assert.deepEqual(await r.lRange('l', 0, -1), ['z', 'a', 'b', 'c']);
  assert.equal(await r.lInsert('l', 'BEFORE', 'b', 'x'), 5);
  assert.equal(await r.lPos('l', 'x'), 2);
  assert.equal(await r.lRem('l', 1, 'x'), 1);
  assert.equal(await r.lMove('l', 'l2', 'LEFT', 'RIGHT'), 'z');
  assert.deepEqual(await r.lPopCount('l', 2), ['a', 'b']);
  assert.equal(await r.rPop('l'), 'c');
  assert.equal(await r.lPop('l'), null);
  await r.rPush('big', range(5000).map(String));
  assert.deepEqual(await r.lRange('big', 0, -1), range(5000).map(String));
  await r.del(['big', 'l2']);
});

step('sets', [], async ({ r }) => {
  await r.sAdd('t1', ['a', 'b', 'c']);
  await r.sAdd('t2', ['b', 'c', 'd']);
  assert.deepEqual([...await r.sMembers('t1')].sort(), ['a', 'b', 'c']);
  assert.equal(Boolean(await r.sIsMember('t1', 'a')), true);
  assert.deepEqual((await r.smIsMember('t1', ['a', 'd'])).map(Boolean), [true, false]);
  assert.deepEqual([...await r.sInter(['t1', 't2'])].sort(), ['b', 'c']);
  assert.equal(await r.sUnionStore('t3', ['t1', 't2']), 4);
  assert.equal(await r.sCard('t3'), 4);
  assert.equal([...await r.sPopCount('t2', 2)].length, 2);
  await r.del(['t1', 't2', 't3']);
});

step('hashes', [], async ({ r }) => {
  assert.equal(await r.hSet('h', { name: 'Ada', n: 1 }), 2);
  assert.deepEqual({ ...await r.hGetAll('h') }, { name: 'Ada', n: '1' });
  assert.deepEqual(await r.hmGet('h', ['name', 'nosuch']), ['Ada', null]);
  assert.equal(await r.hIncrBy('h', 'n', 4), 5);
  assert.deepEqual((await r.hKeys('h')).sort(), ['n', 'name']);
  assert.equal(Boolean(await r.hExists('h', 'name')), true);
  assert.equal(await r.hDel('h', ['name', 'n']), 2);
  const big = Object.fromEntries(range(3000).map((i) => [`field${i}`, `value${i}`]));
  assert.equal(await r.hSet('h', big), 3000);
  assert.deepEqual({ ...await r.hGetAll('h') }, big);
  await r.del('h');
});

step('sorted_sets', [], async ({ r }) => {
  const members = [{ score: 1, value: 'a' }, { score: 2.5, value: 'b' }, { score: 0.1, value: 'c' }];
  assert.equal(await r.zAdd('z', members), 3);
  assert.equal(await r.zScore('z', 'c'), 0.1);
  assert.deepEqual(await r.zRange('z', 0, -1), ['c', 'a', 'b']);
  const rows = (await r.zRangeWithScores('z', 0, -1)).map(({ score, value }) => [value, score]);
  assert.deepEqual(rows, [['c', 0.1], ['a', 1], ['b', 2.5]]);
  assert.equal(await r.zIncrBy('z', 9, 'c'), 9.1);
  assert.equal(await r.zRank('z', 'c'), 2);
  assert.deepEqual(await r.zmScore('z', ['a', 'nosuch']), [1, null]);
  const { value, score } = await r.zPopMax('z');
  assert.deepEqual([value, score], ['c', 9.1]);
  assert.equal(await r.zRem('z', ['a', 'b']), 2);
});

step('scan', [], async ({ r }) => {
  await Promise.all(range(1000).map((i) => r.set(`scan:${i}`, i)));
  const found = new Set();
  for await (const keys of r.scanIterator({ MATCH: 'scan:*', COUNT: 50 })) {
    [].concat(keys).forEach((key) => found.add(key));
  }
  assert.equal(found.size, 1000);
  await r.hSet('scanhash', Object.fromEntries(range(600).map((i) => [`f${i}`, i])));
  let fields = 0;
  for await (const part of r.hScanIterator('scanhash')) fields += [].concat(part).length;
  assert.equal(fields, 600);
  assert.equal(await r.del([...found, 'scanhash']), 1001);
});

step('pipelines', [], async ({ r }) => {
  const counted = await Promise.all(range(2000).map(() => r.incr('counter')));
  assert.deepEqual(counted, range(2000).map((i) => i + 1));
  await r.set('s', 'text');
  const [failure, value] = await Promise.allSettled([r.incr('s'), r.get('s')]);
  assert.match(failure.reason.message, /^ERR value is not an integer or out of range/);
  assert.equal(value.value, 'text');
  await r.del(['counter', 's']);
});

step('errors', [], async ({ r }) => {
  await r.rPush('l', 'a');
  await rejects(r.get('l'), 'WRONGTYPE Operation against a key');
  await rejects(r.sendCommand(['NOSUCH', 'x']),
    "ERR unknown command 'NOSUCH', with args beginning with: 'x'");
  await rejects(r.sendCommand(['GET']), "ERR wrong number of arguments for 'get' command");
  await r.del('l');
});

step('transactions', ['multi', 'exec', 'watch'], async ({ r }, protocol) => {
  assert.deepEqual(await r.multi().set('a', 1).incr('a').get('a').exec(), ['OK', 2, '2']);
  const other = await connect(protocol);
  await r.watch('balance');
  await other.set('balance', 1);
  await assert.rejects(r.multi().set('balance', 0).exec(), WatchError);
  assert.equal(await other.get('balance'), '1');
  await other.close();
  await r.del(['a', 'balance']);
});

step('blocking_queue', ['blpop', 'bzpopmin'], async ({ r }, protocol) => {
  const done = [];
  const workers = range(3).map(async () => {
    const client = await connect(protocol);
    for (;;) {
      const { element } = await client.blPop(['urgent', 'jobs'], 5);
      if (element === 'stop') break;
      done.push(element);
    }
    await client.close();
  });
  for (const i of range(300)) await r.rPush(i % 3 ? 'jobs' : 'urgent', `job${i}`);
  await eventually(() => done.length === 300);
  await r.rPush('jobs', ['stop', 'stop', 'stop']);
  await Promise.all(workers);
  assert.deepEqual(done.sort(), range(300).map((i) => `job${i}`).sort());
  assert.equal(await r.blPop('jobs', 0.05), null);
  await r.zAdd('delayed', { score: 7, value: 'job' });
  const { key, value, score } = await r.bzPopMin('delayed', 1);
  assert.deepEqual([key, value, score], ['delayed', 'job', 7]);
});

step('pubsub', ['subscribe', 'publish', 'psubscribe'], async ({ r }, protocol) => {
  const subscriber = await connect(protocol, { name: 'reader' });
  const heard = [];
  await subscriber.subscribe('news', (text, channel) => heard.push([channel, text]));
  await subscriber.pSubscribe('alerts.*', (text, channel) => heard.push([channel, text]));
  assert.equal(await r.publish('news', 'hello'), 1);
  assert.equal(await r.publish('alerts.disk', 'full'), 1);
  await eventually(() => heard.length === 2);
  assert.deepEqual(heard, [['news', 'hello'], ['alerts.disk', 'full']]);
  // The connection is lost: the client connects and subscribes again.
  const reader = (await r.clientList()).find((client) => client.name === 'reader');
  await r.sendCommand(['CLIENT', 'KILL', 'ID', String(reader.id)]);
  await eventually(() => r.publish('news', 'again'));
  await eventually(() => heard.some(([, text]) => text === 'again'));
  await subscriber.close();
});

step('client_side_cache', ['client|tracking'], async ({ r }, protocol) => {
  if (protocol !== 3) return 'needs RESP3';
  const client = await connect(3, { clientSideCache: { ttl: 0, maxEntries: 100, evictPolicy: 'LRU' } });
  await r.set('cached', 'one');
  assert.equal(await client.get('cached'), 'one');
  assert.equal(await client.get('cached'), 'one');
  await r.set('cached', 'two');                 // the server tells the client to forget it
  await eventually(async () => await client.get('cached') === 'two');
  await client.close();
  return undefined;
});

step('scripts', ['eval', 'evalsha', 'script|load'], async ({ r }) => {
  const source = "return {redis.call('INCR', KEYS[1]), ARGV[1]}";
  const arguments_ = { keys: ['n'], arguments: ['x'] };
  assert.deepEqual(await r.eval(source, arguments_), [1, 'x']);
  const sha = await r.scriptLoad(source);
  assert.deepEqual(await r.evalSha(sha, arguments_), [2, 'x']);
  await rejects(r.evalSha('0'.repeat(40)), 'NOSCRIPT');
});

step('streams', ['xadd', 'xreadgroup', 'xack', 'xgroup|create'], async ({ r }) => {
  await r.xAdd('x', '*', { n: '1' });
  await r.xGroupCreate('x', 'workers', '0');
  await rejects(r.xGroupCreate('x', 'workers', '0'), 'BUSYGROUP');
  const found = await r.xReadGroup('workers', 'ada', { key: 'x', id: '>' });
  const { id, message } = found[0].messages[0];
  assert.deepEqual({ ...message }, { n: '1' });
  assert.equal(await r.xAck('x', 'workers', id), 1);
});

await main({
  open: async (protocol) => ({ r: await connect(protocol) }),
  command: ({ r }, ...words) => r.sendCommand(words),
  close: ({ r }) => r.close(),
});
