'use strict';

// Node 24 and the newest, Bun and Deno, in short: what elsewhere.cjs checks, and the
// original's own test. From Node 24 on V8 ends a process that took memory of its own
// wrongly, when it ends or a worker does. The whole suite on every Node is npm run
// test:nodes.

const assert = require('node:assert/strict');
const test = require('node:test');
const { whereItCanRun } = require('../testing/programs.js');
const { ORIGINAL, OTHERS, checks, node, originalTest } = require('../testing/runtimes.js');

for (const [name, start] of [
  ['Node 24', () => [node('24')]],
  ['the newest Node', () => [node('latest')]],
  ['Bun', OTHERS.bun],
  ['Deno', OTHERS.deno],
]) {
  test(
    `on ${name} it does what it does on this one, and the original's own test passes`,
    whereItCanRun((t) => {
      const started = start();
      const { version, passed, failures } = checks(started);
      t.diagnostic(version);
      assert.deepEqual(failures, []);
      assert.equal(passed, 7);
      const count = originalTest(started);
      if (process.platform === 'linux') assert.equal(count, ORIGINAL);
    }),
  );
}
