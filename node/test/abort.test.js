'use strict';

// Operations that a signal stops: that what had not begun does not begin, that
// what is stopped says how far it came, and that its memory is free by then.

const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const fs = require('node:fs');
const test = require('node:test');
const { DirectFile } = require('..');
const { whereItCanRun } = require('../testing/programs.js');
const { directFile } = require('../testing/scratch.js');

const MIB = 1 << 20;

/** Keeps all threads of the pool busy until it is awaited. */
function occupyPool() {
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const busy = () =>
    new Promise((resolve) => crypto.pbkdf2('', '', 300_000, 64, 'sha512', resolve));
  return Promise.all(Array.from({ length: threads }, busy));
}

/** Every operation that takes a signal. */
const OPERATIONS = [
  ['read', (file, buffer, options) => file.read(buffer, 0, options)],
  ['readv', (file, buffer, options) => file.readv([buffer], 0, options)],
  ['write', (file, buffer, options) => file.write(buffer, 0, options)],
  ['writev', (file, buffer, options) => file.writev([buffer], 0, options)],
  ['truncate', (file, buffer, options) => file.truncate(0, options)],
  ['sync', (file, buffer, options) => file.sync('all', options)],
  ['open', (file, buffer, options) => DirectFile.open(file.path, { ...options, truncate: true, write: true })],
];

for (const [name, start] of OPERATIONS) {
  test(
    `${name} does nothing when its signal has fired, before it is called or before its turn comes`,
    whereItCanRun(async () => {
      const file = await DirectFile.open(directFile(Buffer.alloc(4096, 1)), { write: true });
      const buffer = file.allocate(4096).fill(2);
      const expected = { name: 'AbortError', code: 'ABORT_ERR', message: 'The operation was aborted' };
      const reason = new Error('no longer needed');
      await assert.rejects(start(file, buffer, { signal: AbortSignal.abort(reason) }), {
        ...expected,
        cause: reason,
      });
      if (name !== 'open') {
        const controller = new AbortController();
        const occupied = occupyPool();
        const started = start(file, buffer, { signal: controller.signal });
        controller.abort(reason);
        await assert.rejects(started, { ...expected, cause: reason });
        await occupied;
      }
      // Neither the file nor the buffer was touched, and the buffer is free.
      assert.ok(fs.readFileSync(file.path).equals(Buffer.alloc(4096, 1)));
      assert.ok(buffer.every((byte) => byte === 2));
      assert.equal(await file.read(buffer, 0), 4096);
      await file.close();
    }),
  );
}

test(
  'opening is undone when the signal fires meanwhile',
  whereItCanRun(async () => {
    const path = directFile('x');
    const controller = new AbortController();
    const opening = DirectFile.open(path, { exclusive: true, signal: controller.signal });
    controller.abort();
    await assert.rejects(opening, { code: 'ABORT_ERR' });
    // The lock was let go.
    const file = await DirectFile.open(path, { exclusive: true });
    await file.close();
  }),
);

test(
  'a signal that does not fire leaves everything as it is, in pieces of a mebibyte',
  whereItCanRun(async () => {
    const { signal } = new AbortController();
    const file = await DirectFile.open(directFile(), { write: true, signal });
    const buffer = file.allocate(3 * MIB + 4096);
    for (let at = 0; at < buffer.length; at += 4096) buffer.writeUInt32LE(at, at);
    await file.writev([buffer.subarray(0, 8192), buffer.subarray(8192)], 0, { signal });
    await file.sync('data', { signal });
    const found = file.allocate(buffer.length + 4096);
    assert.equal(await file.read(found, 0, { signal }), buffer.length);
    assert.ok(found.subarray(0, buffer.length).equals(buffer));
    await file.truncate(4096, { signal });
    assert.equal(await file.size(), 4096);
    await file.close();
  }),
);

test(
  'a write that is stopped says how much was written, in whole pieces, and the file agrees',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(), { write: true });
    const buffer = file.allocate(256 * MIB).fill(1);
    const controller = new AbortController();
    const writing = file.write(buffer, 0, { signal: controller.signal }).then(
      () => undefined,
      (error) => error,
    );
    // When something of it is there.
    while (fs.statSync(file.path).size === 0) await new Promise(setImmediate);
    controller.abort();
    const error = await writing;
    if (error !== undefined) {
      assert.equal(error.code, 'ABORT_ERR');
      assert.ok(error.bytesWritten >= MIB && error.bytesWritten < buffer.length);
      assert.equal(error.bytesWritten % MIB, 0);
      assert.equal(await file.size(), error.bytesWritten);
    }
    await file.close();
  }),
);
