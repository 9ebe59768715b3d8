'use strict';

// Transfers of several buffers, of every kind of view, and of none.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const test = require('node:test');
const { DirectFile, getAlignedBuffer, promises } = require('..');
const { misalignment } = require('../lib/native.js');
const { Missing, needLinux, tool, whereItCanRun } = require('../testing/programs.js');
const { directFile, scratchFile } = require('../testing/scratch.js');

/** Every kind of view over the same bytes. */
const VIEWS = [
  Buffer,
  Uint8Array,
  Uint8ClampedArray,
  Int8Array,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
];

function viewOf(View, bytes) {
  const { buffer, byteOffset, byteLength } = bytes;
  if (View === Buffer) return Buffer.from(buffer, byteOffset, byteLength);
  return new View(buffer, byteOffset, byteLength / (View.BYTES_PER_ELEMENT ?? 1));
}

test(
  'every view of memory is read into and written from',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(Buffer.alloc(8192)), { write: true });
    const fd = fs.openSync(file.path, 'r+');
    for (const [at, View] of VIEWS.entries()) {
      for (const make of [file.allocate.bind(file), (size) => getAlignedBuffer(size, 4096)]) {
        await file.write(viewOf(View, make(4096).fill(at + 1)), 4096);
        const found = make(8192);
        assert.equal(await file.read(viewOf(View, found), 0), 8192, View.name);
        assert.equal(found[4095], 0);
        assert.ok(found.subarray(4096).every((byte) => byte === at + 1), View.name);
      }
      assert.equal(await promises.writeDurable(fd, viewOf(View, Buffer.alloc(16, 99)), 0), 16);
      await file.write(file.allocate(4096), 0);
    }
    fs.closeSync(fd);
    await file.close();
  }),
);

test(
  'buffers are filled and sent one after the other, those of the heap and empty ones among them',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(), { write: true });
    const unit = Math.max(file.alignment.length, file.alignment.offset);
    const own = (units, byte) => file.allocate(units * unit).fill(byte);
    const parts = [own(1, 1), Buffer.alloc(0), own(3, 2), new DataView(own(2, 3).buffer), own(1, 4)];
    // 1100 buffers are more than one call takes.
    const many = Array.from({ length: 1100 }, (_, at) => own(1, at & 255));
    for (const [buffers, durability] of [
      [parts, 'none'],
      [parts, 'data'],
      [parts, 'full'],
      [many, 'none'],
      [[], 'none'],
      [[Buffer.alloc(0)], 'data'],
    ]) {
      const expected = Buffer.concat(
        buffers.map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength)),
      );
      await file.truncate();
      assert.equal(await file.writev(buffers, 0, { durability }), undefined);
      assert.ok(fs.readFileSync(file.path).equals(expected));
      for (const part of buffers) new Uint8Array(part.buffer, part.byteOffset, part.byteLength).fill(0);
      assert.equal(await file.readv(buffers, 0), expected.length);
      const found = Buffer.concat(
        buffers.map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength)),
      );
      assert.ok(found.equals(expected));
    }
    await file.close();
  }),
);

test(
  'a read of several buffers ends where the file ends',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(Buffer.alloc(6000, 7)));
    const heap = Buffer.alloc(8192 + 4096, 1);
    const copied = heap.subarray((4096 - misalignment(heap, 4096)) % 4096).subarray(0, 4096);
    const buffers = [file.allocate(4096), copied, file.allocate(4096)];
    assert.equal(await file.readv(buffers, 0), 6000);
    assert.ok(Buffer.concat(buffers).subarray(0, 6000).every((byte) => byte === 7));
    // Linux clears what a direct read leaves of a buffer, and a copy brings what was read.
    assert.ok(copied.subarray(6000 - 4096).every((byte) => byte === 1));
    await file.close();
  }),
);

test(
  'of several buffers the one that is misaligned is named, and no buffer is used twice',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(Buffer.alloc(16384)), { write: true });
    const { length } = file.alignment;
    if (length === 1) throw new Missing('a system whose direct I/O has rules of alignment');
    const buffer = file.allocate(8192);
    const short = file.allocate(4096).subarray(0, 100);
    for (const method of ['readv', 'writev']) {
      await assert.rejects(file[method]([buffer, short, buffer], 0), (error) => {
        // Two writes may send the same bytes, two reads may not fill them.
        if (method === 'readv') assert.equal(error.code, 'ERR_BUFFER_BUSY');
        else assert.match(error.syscall, /^write of 100 bytes at offset 8192$/);
        return true;
      });
      await assert.rejects(file[method]([buffer, short], 0), {
        code: 'EINVAL',
        syscall: `${method.slice(0, -1)} of 100 bytes at offset 8192`,
        hint: new RegExp(`a length that is a multiple of ${length}: 100 is not`),
      });
    }
    // All of them were given back.
    await file.readv([buffer], 0);
    await file.close();
  }),
);

test(
  'an empty buffer is 0 bytes, wherever it lies and whatever the position',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(Buffer.alloc(4096, 1)), { write: true });
    const odd = Buffer.alloc(64).subarray(1, 1);
    for (const empty of [Buffer.alloc(0), odd, new DataView(new ArrayBuffer(0)), new Float64Array(0)]) {
      for (const position of [0, 1, 4096, 2 ** 52]) {
        assert.equal(await file.read(empty, position), 0);
        assert.equal(await file.write(empty, position), undefined);
      }
    }
    const fd = fs.openSync(file.path, 'r+');
    assert.equal(await promises.writeDurable(fd, odd, 1), 0);
    fs.closeSync(fd);
    assert.equal(await file.size(), 4096);
    await file.close();
  }),
);

test(
  'a file is cut and made longer, and a device is not',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(Buffer.alloc(5000, 1)), { write: true });
    for (const length of [4000, 9000, 1, 0]) {
      await file.truncate(length);
      assert.equal(await file.size(), length);
    }
    await file.truncate(100);
    await file.truncate();
    assert.equal(await file.size(), 0);
    await file.close();
    const reader = await DirectFile.open(file.path);
    await assert.rejects(reader.truncate(5), {
      code: 'EINVAL',
      syscall: 'ftruncate',
    });
    await reader.close();
  }),
);

const ONE_CALL = `
  const { DirectFile } = require(process.argv[1]);
  (async () => {
    const file = await DirectFile.open(process.argv[2], { write: true });
    const buffers = Array.from({ length: 5 }, () => file.allocate(4096));
    await file.writev(buffers, 0);
    await file.readv(buffers, 0);
    await file.close();
  })();
`;

test(
  'on Linux several buffers are one system call',
  whereItCanRun(() => {
    needLinux();
    const log = scratchFile();
    const script = ['-e', ONE_CALL, require.resolve('..'), directFile(Buffer.alloc(20480))];
    const calls = 'trace=preadv,pwritev,preadv2,pwritev2,pread64,pwrite64';
    try {
      tool('strace', 'strace', ['-f', '-o', log, '-e', calls, process.execPath, ...script]);
    } catch (error) {
      if (!/ptrace|PTRACE/.test(error.message)) throw error;
      throw new Missing('the right to trace: run the tests as root, or allow ptrace');
    }
    const lines = fs.readFileSync(log, 'utf8').split('\n').filter((line) => line.includes(' = 20480'));
    assert.deepEqual(
      lines.map((line) => /\b(p\w+)\(/.exec(line)?.[1] ?? line),
      ['pwritev', 'preadv'],
    );
  }),
);
