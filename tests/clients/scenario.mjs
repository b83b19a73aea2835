// What the two Node.js scenarios share: options, registering and running steps, small assertions.
//
// usage of each: node FILE --port N [--level basic|known|full] [--steps NAME,...]
//
// Prints `resp2/strings: ok` for each step, or FAILED with the reason; exit status 1 when one failed.
// Levels as in redis_py_app.py: `basic` leaves out steps that need more than strings, lists, sets,
// hashes, sorted sets, SCAN, pipelines, CLIENT and HELLO; `known` leaves out those whose commands
// the server does not list; `full` runs all.

import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';

export const DB = 9;
const STEP_TIMEOUT_MS = 20_000;
const steps = [];

/** Registers a step; `needs` are the commands it takes beyond the basic ones. */
export function step(name, needs, run) {
  steps.push({ name, needs, run });
}

export const { values: options } = parseArgs({
  options: {
    port: { type: 'string' },
    level: { type: 'string', default: 'full' },
    steps: { type: 'string', default: '' },
  },
});

/** The first true value of check(), asked again and again. */
export async function eventually(check, ms = 5000) {
  const due = Date.now() + ms;
  while (Date.now() < due) {
    const found = await check();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new Error('did not happen in time');
}

/** The error of a promise that has to fail with a message that starts with `text`. */
export async function rejects(promise, text) {
  try {
    await promise;
  } catch (error) {
    assert.ok(error.message.startsWith(text), `'${error.message}' does not start with '${text}'`);
    return error;
  }
  throw new Error(`no error that starts with '${text}'`);
}

/**
 * Runs the steps for each version of the protocol. `open(protocol)` makes what steps get as argument;
 * `command(app, ...words)` sends one command; `close(app)` ends all.
 */
export async function main({ open, command, close }) {
  const wanted = options.steps.split(',').filter(Boolean);
  let failed = false;
  for (const protocol of [2, 3]) {
    const app = await open(protocol);
    await command(app, 'FLUSHDB');
    for (const { name, needs, run } of steps) {
      if (wanted.length && !wanted.includes(name)) continue;
      if (options.level === 'basic' && needs.length) continue;
      const title = `resp${protocol}/${name}`;
      const missing = options.level === 'known' ? await lacking(app, command, needs) : [];
      if (missing.length) {
        console.log(`${title}: skipped (not there: ${missing.join(', ')})`);
        continue;
      }
      try {
        const reason = await Promise.race([run(app, protocol), tooLate()]);
        console.log(`${title}: ${reason ? `skipped (${reason})` : 'ok'}`);
      } catch (error) {
        failed = true;
        console.log(`${title}: FAILED ${error.stack}`);
      }
    }
    await close(app);
  }
  process.exit(failed ? 1 : 0);
}

async function tooLate() {
  await new Promise((done) => setTimeout(done, STEP_TIMEOUT_MS).unref());
  throw new Error(`not done after ${STEP_TIMEOUT_MS} ms`);
}

async function lacking(app, command, needs) {
  const missing = [];
  for (const name of needs) {
    const [row] = await command(app, 'COMMAND', 'INFO', name);
    if (!row) missing.push(name);
  }
  return missing;
}
