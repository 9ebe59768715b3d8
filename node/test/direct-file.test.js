'use strict';

// DirectFile where all is well: that it reads and writes what it should, in
// whole, past the page cache, and that closing is orderly.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const test = require('node:test');
const { Worker } = require('node:worker_threads');
const { DirectFile, getAlignedBuffer } = require('..');
const { loopDevice, mounted } = require('../testing/devices.js');
const { Missing, needLinux, run, tool, whereItCanRun } = require('../testing/programs.js');
const { directFile, directFolder } = require('../testing/scratch.js');

/** Bytes that differ from one place to the next. */
function pattern(length, seed = 1) {
  return Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8) * 7 + seed) & 255);
}

test(
  'what is written is read back, from the file and by other means',
  whereItCanRun(async () => {
    const path = join(directFolder(), 'new');
    const file = await DirectFile.open(path, { write: true, create: true });
    assert.equal(file.path, path);
    assert.equal(file.closed, false);
    assert.equal(file.granted.direct, true);
    assert.equal(file.granted.directRefused, null);
    assert.equal(file.granted.write, true);
    assert.equal(file.granted.exclusive, 'none');

    const written = file.allocate(64 * 1024);
    written.set(pattern(written.length));
    assert.equal(await file.write(written, 0), undefined);
    await file.write(written, written.length, { durability: 'full' });
    for (const depth of ['data', 'all', 'medium', undefined]) await file.sync(depth);
    assert.equal(await file.size(), 2 * written.length);

    const read = file.allocate(written.length);
    assert.equal(await file.read(read, written.length), read.length);
    assert.ok(read.equals(written));
    await file.close();
    assert.ok(fs.readFileSync(path).equals(Buffer.concat([written, written])));
  }),
);

test(
  'a file is opened by bytes and by URL',
  whereItCanRun(async () => {
    const path = directFile(Buffer.alloc(4096));
    for (const same of [Buffer.from(path), pathToFileURL(path)]) {
      const file = await DirectFile.open(same);
      assert.equal(file.path, path);
      assert.equal(await file.size(), 4096);
      await file.close();
    }
  }),
);

test(
  'a read ends at the end of the file, wherever that lies',
  whereItCanRun(async () => {
    const content = Buffer.from(pattern(3 * 4096 + 1000));
    const file = await DirectFile.open(directFile(content));
    const buffer = file.allocate(4 * 4096);
    assert.equal(await file.read(buffer, 0), content.length);
    assert.ok(buffer.subarray(0, content.length).equals(content));
    assert.equal(await file.read(buffer, 3 * 4096), 1000);
    assert.equal(await file.read(buffer.subarray(0, 4096), 3 * 4096), 1000);
    assert.equal(await file.read(buffer, 4 * 4096), 0);
    assert.equal(await file.read(buffer, 1024 * 4096), 0);
    assert.equal(await file.read(buffer.subarray(0, 0), 0), 0);
    await file.close();
  }),
);

test(
  'reads and writes of random places agree with a copy in memory',
  whereItCanRun(async (t) => {
    const seed = Number(process.env.DIRECT_IO_SEED || Math.floor(Math.random() * 2 ** 31));
    t.diagnostic(`the same again: DIRECT_IO_SEED=${seed}`);
    let state = seed;
    // The generator of Numerical Recipes: good enough to choose places.
    const below = (bound) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * bound);
    };
    const file = await DirectFile.open(directFile(), { write: true });
    const unit = Math.max(file.alignment.length, file.alignment.offset);
    const units = 256;
    const expected = Buffer.alloc(units * unit);
    await file.write(file.allocate(expected.length), 0);
    for (let round = 0; round < 300; round += 1) {
      const start = below(units);
      const length = (1 + below(Math.min(16, units - start))) * unit;
      const buffer = file.allocate(length);
      if (below(2) === 0) {
        buffer.set(pattern(length, round));
        await file.write(buffer, start * unit);
        buffer.copy(expected, start * unit);
      } else {
        assert.equal(await file.read(buffer, start * unit), length);
        assert.ok(buffer.equals(expected.subarray(start * unit, start * unit + length)));
      }
    }
    await file.close();
    assert.ok(fs.readFileSync(file.path).equals(expected));
  }),
);

test(
  'what is allocated fits the file: its length is rounded up',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(), { write: true });
    const { length } = file.alignment;
    assert.equal(file.allocate(1).length, length);
    assert.equal(file.allocate(length).length, length);
    assert.equal(file.allocate(length + 1).length, 2 * length);
    // The limit is that of a length, and is named.
    const max = 2 ** 31 - length;
    for (const wrong of [0, -1, 1.5, NaN, max + 1, 2 ** 31, 2 ** 53]) {
      assert.throws(() => file.allocate(wrong), {
        name: 'RangeError',
        code: 'ERR_OUT_OF_RANGE',
        message: `size must be an integer of 1 to ${max} bytes, but is ${wrong}`,
      });
    }
    for (const wrong of [undefined, '4096', 4096n, [4096]]) {
      assert.throws(() => file.allocate(wrong), { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
    }
    await file.write(file.allocate(1), 0);
    await file.close();
  }),
);

test(
  'direct reads and writes leave nothing in the page cache',
  whereItCanRun(async () => {
    needLinux();
    const file = await DirectFile.open(directFile(), { write: true });
    const buffer = file.allocate(1 << 20);
    await file.write(buffer, 0);
    await file.read(buffer, 0);
    const cached = () => Number(tool('fincore', 'util-linux', ['-bnro', 'PAGES', file.path]));
    assert.equal(cached(), 0);
    fs.readFileSync(file.path);
    assert.ok(cached() > 0, 'fincore sees what is cached');
    await file.close();
  }),
);

test(
  'without direct I/O any address, length and position will do',
  whereItCanRun(async () => {
    const path = directFile();
    const file = await DirectFile.open(path, { write: true, direct: 'off', durability: 'data' });
    assert.equal(file.granted.direct, false);
    assert.equal(file.granted.durability, 'data');
    assert.deepEqual(file.alignment, {
      memory: 1,
      offset: 1,
      length: 1,
      source: 'buffered',
      reason: null,
    });
    assert.equal(file.allocate(5).length, 5);
    await file.write(Buffer.from('hello world').subarray(6), 3);
    await file.close();
    assert.equal(fs.readFileSync(path, 'latin1'), '\0\0\0world');
  }),
);

test(
  'a filesystem without direct I/O is refused by name, or used through the cache on request',
  whereItCanRun(async () => {
    const path = join(mounted(['-t', 'ramfs', 'none']), 'file');
    await assert.rejects(DirectFile.open(path, { write: true, create: true }), {
      code: 'EINVAL',
      path,
      hint: /^ramfs on .* does not support O_DIRECT; .*\(direct: 'preferred'\)$/,
    });
    const file = await DirectFile.open(path, { write: true, create: true, direct: 'preferred' });
    assert.equal(file.granted.direct, false);
    assert.match(file.granted.directRefused, /^ramfs on .* does not support O_DIRECT$/);
    await file.write(Buffer.from('abc'), 0);
    assert.equal(await file.read(Buffer.alloc(10), 1), 2);
    await file.close();
  }),
);

test(
  'tmpfs grants direct I/O with a caveat, or refuses it',
  whereItCanRun(async () => {
    const path = join(mounted(['-t', 'tmpfs', 'none']), 'file');
    const file = await DirectFile.open(path, { write: true, create: true, direct: 'preferred' });
    // Linux grants it since 6.6.
    if (file.granted.direct) assert.match(file.granted.directCaveat, /^tmpfs keeps its files/);
    else assert.match(file.granted.directRefused, /^tmpfs on .* does not support O_DIRECT$/);
    const buffer = file.allocate(4096).fill(7);
    await file.write(buffer, 0);
    assert.equal(await file.read(file.allocate(8192), 0), 4096);
    await file.close();
  }),
);

test(
  'a disk is read and written to its end, and kept from others when it is written',
  whereItCanRun(async () => {
    const device = loopDevice(1 << 20, ['--sector-size=4096']);
    const reader = await DirectFile.open(device);
    assert.equal(reader.granted.exclusive, 'none');
    const disk = await DirectFile.open(device, { write: true });
    assert.equal(disk.granted.exclusive, 'claim');
    assert.equal(disk.alignment.length, 4096);
    assert.equal(await disk.size(), 1 << 20);
    const buffer = disk.allocate(8192);
    buffer.set(pattern(8192));
    await disk.write(buffer, (1 << 20) - 8192, { durability: 'data' });
    await disk.sync();
    const end = reader.allocate(16384);
    assert.equal(await reader.read(end, (1 << 20) - 8192), 8192);
    assert.ok(end.subarray(0, 8192).equals(buffer));
    await assert.rejects(disk.write(buffer, 1 << 20), {
      code: 'ENOSPC',
      hint: /the device ends at 1048576 bytes/,
    });
    await disk.close();
    await reader.close();
  }),
);

test(
  'closing waits for what was started, and can be repeated',
  whereItCanRun(async () => {
    const path = directFile();
    const file = await DirectFile.open(path, { write: true });
    const writes = Array.from({ length: 40 }, (_, at) =>
      file.write(file.allocate(4096).fill(at + 1), at * 4096),
    );
    const closing = file.close();
    assert.equal(file.closed, true);
    assert.equal(file.close(), closing);
    let closed = false;
    closing.then(() => {
      closed = true;
    });
    await Promise.all(writes.map((write) => write.then(() => assert.equal(closed, false))));
    await closing;
    await file.close();
    const content = fs.readFileSync(path);
    for (let at = 0; at < 40; at += 1) assert.equal(content[at * 4096], at + 1);
  }),
);

/** How many descriptors lead to a file. */
function descriptorsOf(path) {
  return fs.readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false; // The descriptor of the listing itself.
    }
  }).length;
}

test(
  'closing gives the descriptor back, and so does a failed open',
  whereItCanRun(async () => {
    needLinux();
    const path = directFile(Buffer.alloc(4096));
    const file = await DirectFile.open(path, { write: true, exclusive: true });
    assert.equal(file.granted.exclusive, 'advisory');
    await assert.rejects(DirectFile.open(path, { exclusive: true }), {
      code: 'EWOULDBLOCK',
      hint: new RegExp(`^the lock is held by process ${process.pid} .*; wait for it, or`),
    });
    assert.equal(descriptorsOf(path), 1);
    await file.close();
    assert.equal(descriptorsOf(path), 0);
  }),
);

/** Opens a file, forgets it, and prints how many descriptors are left. */
const FORGOTTEN = `
  const fs = require('fs');
  const { DirectFile } = require(process.argv[1]);
  const path = process.argv[2];
  const open = () => fs.readdirSync('/proc/self/fd').filter((fd) => {
    try { return fs.readlinkSync('/proc/self/fd/' + fd) === path; } catch { return false; }
  }).length;
  (async () => {
    for (let count = 0; count < 20; count += 1) await DirectFile.open(path);
    const before = open();
    for (let tries = 0; open() > 0 && tries < 100; tries += 1) {
      globalThis.gc();
      await new Promise(setImmediate);
    }
    console.log(before, open());
  })();
`;

test(
  'a file that is forgotten open is closed when it is collected',
  whereItCanRun(() => {
    needLinux();
    const args = ['--expose-gc', '-e', FORGOTTEN, require.resolve('..'), directFile('x')];
    const [before, after] = run(process.execPath, args).trim().split(' ').map(Number);
    assert.ok(before > 0);
    assert.equal(after, 0);
  }),
);

test(
  'await using closes the file, on runtimes that know it',
  whereItCanRun(async () => {
    if (Symbol.asyncDispose === undefined) {
      throw new Missing('Symbol.asyncDispose: Node 18.18 or 20.4 and later');
    }
    const file = await DirectFile.open(directFile());
    await file[Symbol.asyncDispose]();
    assert.equal(file.closed, true);
  }),
);

const IN_A_WORKER = `
  const { parentPort, workerData } = require('worker_threads');
  const { DirectFile } = require(workerData.module);
  (async () => {
    const file = await DirectFile.open(workerData.path);
    const buffer = file.allocate(4096);
    const read = await file.read(buffer, 0);
    await file.close();
    parentPort.postMessage({ read, first: buffer[0] });
  })();
`;

test(
  'it works in worker threads, several at once',
  whereItCanRun(async () => {
    const path = directFile(Buffer.alloc(4096, 9));
    const workerData = { module: require.resolve('..'), path };
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => {
        const worker = new Worker(IN_A_WORKER, { eval: true, workerData });
        return new Promise((resolve, reject) => {
          worker.once('message', resolve);
          worker.once('error', reject);
        });
      }),
    );
    assert.deepEqual(answers, Array(3).fill({ read: 4096, first: 9 }));
  }),
);

test(
  'a buffer of getAlignedBuffer serves as well as one of the file',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(Buffer.alloc(8192, 3)));
    const buffer = getAlignedBuffer(8192, Math.max(file.alignment.memory, 8));
    assert.equal(await file.read(buffer, 0), 8192);
    assert.equal(buffer[8191], 3);
    await file.close();
  }),
);
