'use strict';

// Memory that a script takes away while a transfer uses it, and what transfers
// work on so that it does no harm.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { join } = require('node:path');
const test = require('node:test');
const { DirectFile, getAlignedBuffer, promises } = require('..');
const native = require('../lib/native.js');
const { Missing, run, tool, whereItCanRun } = require('../testing/programs.js');
const { directFile, directFolder } = require('../testing/scratch.js');

const PAGE = 65536;

/** The same bytes at a multiple of 4096 in memory of the heap. */
function alignedCopy(bytes) {
  const memory = new Uint8Array(bytes.length + 4096);
  const start = (4096 - native.misalignment(memory, 4096)) % 4096;
  const copy = Buffer.from(memory.buffer, start, bytes.length);
  bytes.copy(copy);
  return copy;
}

/** Node 20 has ArrayBuffer.prototype.transfer behind this flag; later ones have it. */
function flagsForTransfer() {
  if (ArrayBuffer.prototype.transfer !== undefined) return [];
  const flag = '--harmony-rab-gsab-transfer';
  // Node takes unknown flags of V8 for an error.
  const options = run(process.execPath, ['--v8-options']);
  if (!options.includes(flag)) throw new Missing('Node 20 or later: ArrayBuffer.transfer');
  return [flag];
}

test(
  'a buffer that is transferred and freed by the method of the prototype does no harm',
  whereItCanRun(() => {
    const script = join(__dirname, '../testing/taken-away.js');
    const args = ['--expose-gc', ...flagsForTransfer(), script, directFolder()];
    const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
    const found = JSON.parse(run(process.execPath, args, { env }));
    const expected = {};
    for (const buffer of ['allocated', 'aligned', 'others']) {
      for (const [how, outcome] of [
        ['read', 'ERR_BUFFER_DETACHED'],
        ['write', 'done: undefined'],
        ['writeDurable', `done: ${1 << 20}`],
      ]) {
        expected[`${how} ${buffer}`] = [outcome];
        expected[`${how} ${buffer}: other memory unharmed`] = [true];
        expected[`${how} ${buffer}: file as asked`] = [true];
      }
    }
    assert.deepEqual(found, expected);
  }),
);

test(
  'a read into the memory of WebAssembly that grows meanwhile says so, and touches nothing of it',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(Buffer.alloc(PAGE, 5)));
    const wasm = new WebAssembly.Memory({ initial: 1, maximum: 2 });
    const reading = file.read(new Uint8Array(wasm.buffer), 0);
    wasm.grow(1);
    await assert.rejects(reading, {
      code: 'ERR_BUFFER_DETACHED',
      message: /^65536 bytes were read, and the buffer was detached meanwhile/,
    });
    assert.ok(new Uint8Array(wasm.buffer).every((byte) => byte === 0));
    // One that stays in its place is filled.
    const bytes = new Uint8Array(wasm.buffer);
    assert.equal(await file.read(bytes.subarray(PAGE), 0), PAGE);
    assert.equal(bytes[PAGE - 1], 0);
    assert.ok(bytes.subarray(PAGE).every((byte) => byte === 5));
    await file.close();
  }),
);

test(
  'a write from the memory of WebAssembly that grows meanwhile writes what was there',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(), { write: true });
    const fd = fs.openSync(file.path, 'r+');
    for (const [byte, write] of [
      [6, (bytes) => file.write(bytes, 0)],
      [7, (bytes) => promises.writeDurable(fd, bytes, 0)],
    ]) {
      const wasm = new WebAssembly.Memory({ initial: 1, maximum: 2 });
      const writing = write(new Uint8Array(wasm.buffer).fill(byte));
      wasm.grow(1);
      new Uint8Array(wasm.buffer).fill(1);
      await writing;
      assert.ok(fs.readFileSync(file.path).equals(Buffer.alloc(PAGE, byte)));
    }
    fs.closeSync(fd);
    await file.close();
  }),
);

test(
  'buffers of the package are worked on themselves, parts of them too, and others are copied',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(Buffer.alloc(4096, 5)));
    for (const make of [file.allocate.bind(file), (size) => getAlignedBuffer(size, 4096)]) {
      const own = make(16384);
      assert.equal(native.isLent(own), true);
      assert.equal(native.isLent(own.subarray(4096)), true);
      assert.equal(native.isLent(Buffer.from(own)), false);
    }
    // A copy brings as much as was read, and leaves the rest; twice, as its memory is used again.
    for (const byte of [9, 8]) {
      const other = alignedCopy(Buffer.alloc(16384, byte));
      assert.equal(native.isLent(other), false);
      assert.equal(await file.read(other, 0), 4096);
      assert.ok(other.subarray(0, 4096).every((found) => found === 5));
      assert.ok(other.subarray(4096).every((found) => found === byte));
    }
    await file.close();
  }),
);

/**
 * Changes a buffer between the call of a write and its beginning, which waits for the
 * only thread of the pool, and prints what was written.
 */
const CHANGED = `
  const fs = require('node:fs');
  const { DirectFile } = require(process.argv[1]);
  const native = require(process.argv[2]);
  const [, , , path, pipe, memory] = process.argv;
  (async () => {
    const file = await DirectFile.open(path, { write: true });
    const whole = new Uint8Array(new globalThis[memory](16384 + 4096));
    const start = (4096 - native.misalignment(whole, 4096)) % 4096;
    const bytes = whole.subarray(start, start + 16384);
    const opening = fs.promises.open(pipe, 'r');
    const writing = file.write(bytes.fill(1), 0);
    bytes.fill(2);
    fs.closeSync(fs.openSync(pipe, 'w'));
    await writing;
    await (await opening).close();
    console.log(fs.readFileSync(path)[16383]);
    // What arrives is seen by all who share the memory.
    const other = new Uint8Array(whole.buffer, start, 16384);
    fs.writeFileSync(path, Buffer.alloc(16384, 3));
    if ((await file.read(bytes, 0)) !== 16384 || other[0] !== 3) throw new Error('not read');
    await file.close();
  })();
`;

test(
  'a SharedArrayBuffer is worked on itself, and of another buffer a copy as it was',
  whereItCanRun(() => {
    const path = directFile();
    const pipe = join(directFolder(), 'pipe');
    tool('mkfifo', 'coreutils', [pipe]);
    const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
    const modules = ['..', '../lib/native.js'].map((name) => require.resolve(name));
    for (const [memory, written] of [['SharedArrayBuffer', '2\n'], ['ArrayBuffer', '1\n']]) {
      const args = ['-e', CHANGED, ...modules, path, pipe, memory];
      assert.equal(run(process.execPath, args, { env }), written, memory);
    }
  }),
);

test(
  'a buffer that is copied is refused when it is misaligned, as one of the file is',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(Buffer.alloc(8192)), { write: true });
    const { memory, length } = file.alignment;
    if (memory === 1) throw new Missing('a system whose direct I/O has rules of alignment');
    const shifted = alignedCopy(Buffer.alloc(8192)).subarray(1, 1 + length);
    for (const operation of ['read', 'write']) {
      await assert.rejects(file[operation](shifted, 0), {
        code: 'EINVAL',
        hint: new RegExp(`an address that is a multiple of ${memory}: 0x`),
      });
    }
    await file.close();
  }),
);

/** Reads into a new buffer each time, and prints the most memory it ever held, in KiB. */
const IN_TURN = `
  const { DirectFile } = require(process.argv[1]);
  (async () => {
    const file = await DirectFile.open(process.argv[2]);
    for (let count = 0; count < 2048; count += 1) await file.read(file.allocate(1 << 20), 0);
    await file.close();
    console.log(process.resourceUsage().maxRSS);
  })();
`;

test(
  'buffers of a file are given back: 2 GiB in turn need less than 300 MiB of memory',
  whereItCanRun(() => {
    const path = directFile(Buffer.alloc(4096));
    const kib = Number(run(process.execPath, ['-e', IN_TURN, require.resolve('..'), path]));
    assert.ok(kib > 0 && kib < 300 * 1024, `${kib} KiB`);
  }),
);

/** A buffer that was read into lives until the process ends, and one until its worker does. */
const TO_THE_END = `
  const { Worker, isMainThread, workerData } = require('node:worker_threads');
  const [directIo, path] = isMainThread ? process.argv.slice(1) : workerData;
  const { DirectFile } = require(directIo);
  (async () => {
    const file = await DirectFile.open(path);
    const buffer = file.allocate(4096);
    globalThis.kept = buffer;
    if ((await file.read(buffer, 0)) !== 4096) throw new Error('a short read');
    await file.close();
    if (isMainThread) {
      const worker = new Worker(process._eval, { eval: true, workerData: [directIo, path] });
      worker.on('exit', (code) => console.log('worker ' + code));
    }
  })();
`;

test(
  'a process and a worker end as they should with a buffer that was read into',
  whereItCanRun(() => {
    const path = directFile(Buffer.alloc(4096));
    const said = run(process.execPath, ['-e', TO_THE_END, require.resolve('..'), path]);
    assert.equal(said, 'worker 0\n');
  }),
);
