'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const test = require('node:test');
const { getAlignedBuffer, O_DIRECT } = require('..');
const { makeGetAlignedBuffer } = require('../lib/aligned-buffer.js');
const native = require('../lib/native.js');
const { Missing, needLinux, run, whereItCanRun } = require('../testing/programs.js');
const { directFile } = require('../testing/scratch.js');

const ALIGNMENTS = Array.from({ length: 20 }, (_, power) => 8 << power);

test('every buffer has its size, lies at its alignment, and is zeroed and writable', () => {
  assert.equal(ALIGNMENTS.at(-1), 4194304);
  for (const alignment of ALIGNMENTS) {
    for (const size of [1, 7, 8, 63, 64, 65, 4095, 4096, 4097, 65536, 1048576, 4194304]) {
      const buffer = getAlignedBuffer(size, alignment);
      assert.ok(Buffer.isBuffer(buffer));
      assert.equal(buffer.length, size);
      assert.equal(native.misalignment(buffer, alignment), 0);
      assert.equal(buffer.findIndex((byte) => byte !== 0), -1);
      buffer.fill(0xa5);
      assert.equal(buffer.findIndex((byte) => byte !== 0xa5), -1);
    }
  }
});

test('the address that is checked is the real one: a byte further on it is 1', () => {
  const buffer = getAlignedBuffer(8192, 4096);
  assert.equal(native.misalignment(buffer.subarray(1), 4096), 1);
  assert.equal(native.misalignment(buffer.subarray(4095), 4096), 4095);
  assert.equal(native.misalignment(buffer.subarray(4096), 4096), 0);
});

test('buffers stay where they are when memory is collected', () => {
  const buffers = ALIGNMENTS.map((alignment) => getAlignedBuffer(64, alignment));
  for (let round = 0; round < 200; round += 1) getAlignedBuffer(1 << 20, 8);
  for (const [index, buffer] of buffers.entries()) {
    assert.equal(native.misalignment(buffer, ALIGNMENTS[index]), 0);
  }
});

test(
  "Node's own fs reads into an aligned buffer from a file that is open for direct I/O",
  whereItCanRun(() => {
    const content = Buffer.alloc(8192, 'direct');
    const fd = fs.openSync(directFile(content), fs.constants.O_RDONLY | O_DIRECT);
    try {
      const buffer = getAlignedBuffer(8192, 4096);
      assert.equal(fs.readSync(fd, buffer, 0, 8192, 0), 8192);
      assert.ok(buffer.equals(content));
    } finally {
      fs.closeSync(fd);
    }
  }),
);

for (const [what, lie] of [
  ['moved', (bytes) => (bytes.length === 64 ? 16 : 0)],
  ['copied to where nothing is aligned', () => 8],
]) {
  test(`a runtime that has ${what} the buffer is found out`, () => {
    const get = makeGetAlignedBuffer(lie);
    assert.throws(() => get(64, 4096), {
      code: 'ERR_BUFFER_COPIED',
      message: /not aligned to 4096 bytes/,
    });
  });
}

/** Allocates in turn, touches every page, and prints the most memory it ever held, in KiB. */
const IN_TURN = `
  const { getAlignedBuffer } = require(process.argv[1]);
  const [size, total, yields] = process.argv.slice(2).map(Number);
  (async () => {
    for (let count = 0; count * size < total; count += 1) {
      const buffer = getAlignedBuffer(size, 4096);
      for (let page = 0; page < size; page += 4096) buffer[page] = 1;
      if (yields && count % 16 === 0) await new Promise(setImmediate);
    }
    console.log(process.resourceUsage().maxRSS);
  })();
`;

const TEN_GIB = 10 * 1024 ** 3;
// Of this V8 itself takes up to 300 MiB from Node 24 on, for plain ArrayBuffers, too.
const KIB_MAX = 512 * 1024;

for (const [name, size, yields] of [
  ['10 GiB in turn, 64 KiB at a time, in a loop that never yields', 65536, 0],
  ['10 GiB in turn, 1 MiB at a time, in a loop that never yields', 1048576, 0],
  ['10 GiB in turn, 1 MiB at a time, in a loop that yields', 1048576, 1],
  ['10 GiB in turn, 16 MiB at a time, in a loop that never yields', 16777216, 0],
]) {
  test(`${name}, need less than 512 MiB of memory`, () => {
    const module = require.resolve('..');
    const args = ['-e', IN_TURN, module, String(size), String(TEN_GIB), String(yields)];
    const kib = Number(run(process.execPath, args));
    assert.ok(kib > 0 && kib < KIB_MAX, `${kib} KiB`);
  });
}

/** Keeps what it allocates until there is no more, and prints how that was told. */
const UNTIL_NONE_IS_LEFT = `
  const { getAlignedBuffer } = require(process.argv[1]);
  const kept = [];
  try {
    while (kept.length < 64) kept.push(getAlignedBuffer(2147483647, 4096));
  } catch (error) {
    console.log(error.code, error.message);
  }
`;

test(
  'a process without memory gets an error with a code',
  whereItCanRun(() => {
    needLinux();
    // Room for Node itself, which reserves much, and for a few buffers.
    const limited = 'ulimit -v 20000000 && exec "$0" "$@"';
    const args = ['-c', limited, process.execPath, '-e', UNTIL_NONE_IS_LEFT, require.resolve('..')];
    let output;
    try {
      output = run('sh', args);
    } catch (error) {
      throw new Missing(`a limit on memory that Node can start under: ${error.message}`);
    }
    assert.equal(output, 'ENOMEM insufficient memory\n');
  }),
);
