'use strict';

// The streams of a DirectFile: any range of bytes, by reads and writes of whole
// blocks, held against a copy in memory.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const test = require('node:test');
const { pipeline } = require('node:stream/promises');
const { Readable } = require('node:stream');
const { DirectFile } = require('..');
const { loopDevice } = require('../testing/devices.js');
const { whereItCanRun } = require('../testing/programs.js');
const { directFile } = require('../testing/scratch.js');

/** Bytes that differ from one place to the next, and from one seed to the next. */
function pattern(length, seed) {
  return Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8) * 7 + seed) & 255));
}

async function collected(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const MIB = 1 << 20;
const SIZE = 3 * 8192 + 1000;

/** Ranges that begin and end at blocks, within them, beyond the file, and nowhere. */
const RANGES = [
  [0, Infinity],
  [0, SIZE - 1],
  [0, SIZE + 9999],
  [0, 0],
  [1, 1],
  [4095, 4096],
  [4096, 8191],
  [511, 8192],
  [8192, Infinity],
  [SIZE - 1, SIZE - 1],
  [SIZE - 1000, Infinity],
  [SIZE - 900, SIZE - 100],
  [SIZE, Infinity],
  [SIZE + 1, SIZE + 5],
  [1 << 20, Infinity],
  [5, 4],
];

test(
  'a stream reads any range, whatever its chunks are',
  whereItCanRun(async () => {
    const content = pattern(SIZE, 3);
    const path = directFile(content);
    for (const direct of ['required', 'off']) {
      const file = await DirectFile.open(path, { direct });
      for (const [start, end] of RANGES) {
        for (const highWaterMark of [1, 4096, 10000, undefined]) {
          const stream = file.createReadStream({ start, end, highWaterMark, autoClose: false });
          const expected = content.subarray(start, end === Infinity ? SIZE : end + 1);
          const found = await collected(stream);
          assert.ok(found.equals(expected), `${start} to ${end} by ${highWaterMark}`);
          assert.equal(stream.bytesRead, expected.length);
          assert.equal(stream.path, path);
        }
      }
      await file.close();
    }
  }),
);

test(
  'a chunk of another stream goes out of its own memory, where it is large and begins with a block',
  whereItCanRun(async () => {
    const size = 3 * MIB + 1000;
    const content = pattern(size, 5);
    const from = await DirectFile.open(directFile(content));
    const { path } = await DirectFile.open(directFile(), { write: true });
    for (const [start, straight] of [[0, 3], [8192, 3], [1, 0]]) {
      const to = await DirectFile.open(path, { write: true, truncate: true });
      const memories = new Set();
      const chunks = [];
      to.write = (buffer, ...rest) => {
        memories.add(buffer.buffer);
        return DirectFile.prototype.write.call(to, buffer, ...rest);
      };
      const reading = from.createReadStream({ autoClose: false });
      reading.on('data', (chunk) => chunks.push(chunk.buffer));
      await pipeline(reading, to.createWriteStream({ start }));
      assert.equal(chunks.filter((memory) => memories.has(memory)).length, straight);
      assert.ok(fs.readFileSync(path).subarray(start).equals(content), `from ${start} on`);
      assert.equal(fs.statSync(path).size, start + size);
    }
    await from.close();
  }),
);

test(
  'a stream writes any range, and leaves all around it as it was',
  whereItCanRun(async () => {
    const before = pattern(SIZE, 3);
    for (const direct of ['required', 'off']) {
      const file = await DirectFile.open(directFile(), { write: true, direct });
      for (const [start, end] of RANGES) {
        const length = Math.max(0, Math.min(end, start + 20000) - start + 1);
        for (const [highWaterMark, piece] of [[1, 777], [8192, 8192], [undefined, 5000]]) {
          fs.writeFileSync(file.path, before);
          const data = pattern(length, 101);
          const pieces = [];
          for (let at = 0; at < length; at += piece) pieces.push(data.subarray(at, at + piece));
          const stream = file.createWriteStream({ start, highWaterMark, autoClose: false });
          await pipeline(Readable.from(pieces), stream);
          // A file that ended before is longer by zeros, as anywhere.
          const expected = Buffer.alloc(Math.max(SIZE, length > 0 ? start + length : 0));
          before.copy(expected);
          data.copy(expected, start);
          const found = fs.readFileSync(file.path);
          assert.equal(found.length, expected.length, `${start} and ${length} bytes`);
          assert.ok(found.equals(expected), `${start} and ${length} bytes by ${highWaterMark}`);
          assert.equal(stream.bytesWritten, length);
        }
      }
      await file.close();
    }
  }),
);

test(
  'a file is copied from stream to stream, which close their files',
  whereItCanRun(async () => {
    const content = pattern((3 << 20) + 777, 5);
    const from = await DirectFile.open(directFile(content));
    const to = await DirectFile.open(directFile('a longer text, which is cut'), {
      write: true,
      truncate: true,
    });
    await pipeline(from.createReadStream(), to.createWriteStream({ durability: 'data' }));
    assert.equal(from.closed, true);
    assert.equal(to.closed, true);
    await Promise.all([from.close(), to.close()]);
    assert.ok(fs.readFileSync(to.path).equals(content));
  }),
);

test(
  'a stream that appends a record at a time makes the file that appendFile would make',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(), { write: true });
    let expected = '';
    for (let record = 0; record < 40; record += 1) {
      const text = `${record}: ${'x'.repeat((record * 397) % 1500)}\n`;
      expected += text;
      const start = await file.size();
      const stream = file.createWriteStream({ start, durability: 'data', autoClose: false });
      await pipeline(Readable.from([Buffer.from(text)]), stream);
    }
    await file.close();
    assert.equal(fs.readFileSync(file.path, 'utf8'), expected);
  }),
);

test(
  'a stream writes into a disk within its sectors, and says where it ends',
  whereItCanRun(async () => {
    const disk = await DirectFile.open(loopDevice(1 << 20, ['--sector-size=4096']), { write: true });
    const whole = disk.allocate(1 << 20);
    await disk.write(whole.fill(1), 0);
    const text = pattern(5000, 9);
    const stream = disk.createWriteStream({ start: 100, autoClose: false });
    await pipeline(Readable.from([text]), stream);
    const expected = Buffer.from(whole);
    text.copy(expected, 100);
    assert.equal(await disk.read(whole, 0), 1 << 20);
    assert.ok(whole.equals(expected));
    const beyond = disk.createWriteStream({ start: (1 << 20) - 10 });
    await assert.rejects(pipeline(Readable.from([text]), beyond), { code: 'ENOSPC' });
    assert.equal(disk.closed, true);
    await disk.close();
  }),
);

test(
  'a stream fails with the error of the file, and a file that is closed by it is closed once',
  whereItCanRun(async () => {
    const reader = await DirectFile.open(directFile(Buffer.alloc(4096)));
    await assert.rejects(pipeline(Readable.from([Buffer.alloc(10)]), reader.createWriteStream()), {
      code: 'EBADF',
      hint: 'the file was not opened for writing',
    });
    assert.equal(reader.closed, true);
    await assert.rejects(collected(reader.createReadStream()), { code: 'EBADF' });
  }),
);

test(
  'a signal ends a stream, and the file is closed when the last read is done',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(Buffer.alloc(1 << 20)));
    const controller = new AbortController();
    const stream = file.createReadStream({ signal: controller.signal, highWaterMark: 4096 });
    let chunks = 0;
    const reading = (async () => {
      for await (const chunk of stream) {
        chunks += chunk.length / 4096;
        if (chunks === 3) controller.abort();
      }
    })();
    await assert.rejects(reading, { name: 'AbortError', code: 'ABORT_ERR' });
    assert.equal(file.closed, true);
    await file.close();
  }),
);
