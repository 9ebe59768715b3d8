'use strict';

// What buffers leave of the memory of a process when they are dropped.

const assert = require('node:assert/strict');
const test = require('node:test');
const { run, whereItCanRun } = require('../testing/programs.js');
const { directFile } = require('../testing/scratch.js');

const MIB = 1 << 20;

/** Keeps buffers, touches every page, drops them all; what was resident before, then and after. */
const DROPPED = `
  const { DirectFile, getAlignedBuffer } = require(process.argv[1]);
  const { setImmediate: turn } = require('node:timers/promises');
  const [, , path, how, size, total] = process.argv;
  const resident = () => process.memoryUsage.rss();
  (async () => {
    const file = await DirectFile.open(path);
    const make = how === 'allocate' ? (n) => file.allocate(n) : (n) => getAlignedBuffer(n, 4096);
    const before = resident();
    let kept = [];
    for (let bytes = 0; bytes < total; bytes += Number(size)) {
      const buffer = make(Number(size));
      for (let page = 0; page < buffer.length; page += 4096) buffer[page] = 1;
      kept.push(buffer);
      if (bytes % (16 << 20) === 0) await turn();
    }
    const full = resident();
    kept = undefined;
    // Memory is given back from the event loop, some turns after it was collected.
    for (let count = 0; count < 50; count += 1) {
      globalThis.gc();
      await turn();
    }
    await file.close();
    console.log(JSON.stringify([full - before, resident() - before]));
  })();
`;

/** Fills buffers, drops them, and takes as many again; how many of these lie where the first did. */
const AGAIN = `
  const { getAlignedBuffer } = require(process.argv[1]);
  const native = require(process.argv[2]);
  const { setImmediate: turn } = require('node:timers/promises');
  const places = () => Array.from({ length: 16 }, () => {
    const buffer = getAlignedBuffer(1 << 20, 4096);
    if (buffer.some((byte) => byte !== 0)) throw new Error('not zero');
    // The lower bits of the address.
    return native.misalignment(buffer.fill(1), 2 ** 31);
  });
  (async () => {
    const first = new Set(places());
    for (let count = 0; count < 50; count += 1) {
      globalThis.gc();
      await turn();
    }
    console.log(places().filter((place) => first.has(place)).length);
  })();
`;

test(
  'the memory of dropped buffers is lent again, and is zero',
  whereItCanRun(() => {
    const modules = ['..', '../lib/native.js'].map((name) => require.resolve(name));
    const again = Number(run(process.execPath, ['--expose-gc', '-e', AGAIN, ...modules]));
    // One may be looked at yet.
    assert.ok(again >= 12, `${again} of 16`);
  }),
);

for (const how of ['allocate', 'getAlignedBuffer']) {
  for (const size of [4096, 65536, MIB, 16 * MIB]) {
    test(
      `512 MiB of buffers of ${size} bytes by ${how} are given back to the system when they are dropped`,
      whereItCanRun(() => {
        const args = ['--expose-gc', '-e', DROPPED, require.resolve('..'), directFile('x')];
        const printed = run(process.execPath, [...args, how, String(size), String(512 * MIB)]);
        const [full, left] = JSON.parse(printed);
        assert.ok(full >= 512 * MIB, `${full} bytes are not all of them`);
        // What is left are 64 MiB for the next buffers, and the heap of JavaScript: some 700
        // bytes for each buffer.
        assert.ok(left < 208 * MIB, `${left} bytes are left`);
      }),
    );
  }
}
