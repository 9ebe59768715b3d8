'use strict';

// What the write benchmark measures and how much it writes, held against the 294
// published results of the original.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { join } = require('node:path');
const test = require('node:test');
const { SECONDS_DEFAULT, parse } = require('../benchmark/command-line.js');
const {
  BLOCK_SIZES,
  MIB,
  MODES,
  TOTAL,
  boundedCount,
  fewLine,
  fullCount,
  resultLine,
  staysInCache,
} = require('../benchmark/modes.js');
const { spanIn } = require('../benchmark/own-file.js');
const { timeLeft } = require('../benchmark/progress.js');
const { Refusal } = require('../benchmark/refusal.js');
const { size, wrapped } = require('../benchmark/words.js');

/** The results that the original's documentation shows, as data. */
function published() {
  const path = join(__dirname, '..', '..', 'crates', 'disk', 'data', '003_matrix.csv');
  const [head, ...rows] = fs.readFileSync(path, 'utf8').trim().split('\n');
  const names = head.split(',');
  return rows.map((row) => {
    const values = row.split(',');
    return Object.fromEntries(names.map((name, at) => [name, values[at]]));
  });
}

const MATRIX = BLOCK_SIZES.flatMap((blockSize) => MODES.map((mode) => ({ blockSize, mode })));

test('sizes, modes, their order, their amounts and the printed form are those of the original', () => {
  const rows = published();
  assert.equal(rows.length, 294);
  assert.equal(MATRIX.length, 294);
  for (const [at, { blockSize, mode }] of MATRIX.entries()) {
    const row = rows[at];
    const count = fullCount(blockSize, mode);
    assert.equal(`${blockSize} ${mode.label}`, `${row.bs} ${row.label}`);
    assert.equal(count, Number(row.n_ops), `${row.bs} ${row.label}`);
    const line = resultLine(blockSize, row.device, mode, count * blockSize, row.total_ms / 1000);
    const rate = Number(row.MiBps).toFixed(2);
    assert.equal(line, `${row.bs} | ${row.device} | ${row.label} | ${rate} MB/s`);
  }
});

test('within a time nothing writes more than the original, and what the clock stops as much', () => {
  const limits = [1, 1e6, 1e8, 1e10].map((bytesPerSecond) => ({ seconds: 0.4, bytesPerSecond }));
  for (const { blockSize, mode } of MATRIX) {
    for (const limit of limits) {
      const count = boundedCount(blockSize, mode, TOTAL, limit);
      const full = fullCount(blockSize, mode);
      assert.ok(count >= 1 && count <= full);
      if (staysInCache(mode)) {
        // What is left in the cache takes at most its share of the time, or is one block.
        assert.ok(count === 1 || count * blockSize <= limit.seconds * limit.bytesPerSecond);
      } else {
        assert.equal(count, full);
      }
    }
  }
  const cached = MODES.filter(staysInCache).map(({ label }) => label);
  assert.deepEqual(cached, [
    'BUFFERED',
    'BUFFERED + ALIGNED',
    'AMORTIZED_FDATASYNC',
    'AMORTIZED_FDATASYNC + ALIGNED',
    'AMORTIZED_FSYNC',
    'AMORTIZED_FSYNC + ALIGNED',
  ]);
});

test('a result of few writes says how they spread, and what it cannot say', () => {
  const measured = { writes: 4, fastest: 0.008, slowest: 0.02 };
  const mode = (label) => MODES.find((one) => one.label === label);
  for (const [label, found, expected] of [
    ['FSYNC', measured, '1048576 FSYNC: 4 writes, 50.00 to 125.00 MB/s'],
    ['O_DIRECT', { ...measured, writes: 1 }, '1048576 O_DIRECT: 1 write'],
    ['AMORTIZED_FSYNC', measured, '1048576 AMORTIZED_FSYNC: 4 writes and one fsync'],
  ]) {
    assert.equal(fewLine(1048576, mode(label), found), expected);
  }
});

test('nothing is written beyond what there is', () => {
  for (const { blockSize, mode } of MATRIX) {
    for (const span of [blockSize, 3 * blockSize + 4096, TOTAL]) {
      assert.ok(fullCount(blockSize, mode, span) * blockSize <= Math.min(span, TOTAL));
    }
  }
});

test('a file of its own leaves a reserve to others', () => {
  const GIB = 1024 * MIB;
  assert.equal(spanIn(100 * GIB, 50 * GIB), TOTAL);
  // A twentieth of 100 GiB is for others.
  assert.equal(spanIn(100 * GIB, 5 * GIB + 8 * MIB), 8 * MIB);
  assert.equal(spanIn(100 * GIB, 5 * GIB), 0);
  assert.equal(spanIn(100 * GIB, 0), 0);
  // Of a small one 16 MiB, of a tiny one a quarter.
  assert.equal(spanIn(100 * MIB, 80 * MIB), 64 * MIB);
  assert.equal(spanIn(8 * MIB, 7 * MIB + 5), 5 * MIB);
});

test('arguments are read, and those of the original among them', () => {
  assert.deepEqual(parse([]), {
    help: false,
    path: '.',
    destroy: undefined,
    seconds: SECONDS_DEFAULT,
    blockSizes: BLOCK_SIZES,
  });
  const all = parse(['--destroy-data-on=/dev/a', '/dev/a', '--block-min=8192', '--block-max=16384', '--full']);
  assert.deepEqual(all, {
    help: false,
    path: '/dev/a',
    destroy: '/dev/a',
    seconds: undefined,
    blockSizes: [8192, 16384],
  });
  assert.equal(parse(['--time', '2.5s']).seconds, 2.5);
  assert.equal(parse(['--help']).help, true);
});

for (const [args, message] of [
  [['a', 'b'], /^one path, please, and not a and b$/],
  [[''], /^the path is empty$/],
  [['-x'], /^there is no option -x; see --help$/],
  [['--destroy-data-onto=/dev/a'], /^there is no option --destroy-data-onto/],
  [['--destroy-data-on'], /^--destroy-data-on needs a value$/],
  [['--full=1'], /^--full takes no value$/],
  [['--full', '--time=3'], /^--full takes the time that it takes/],
  [['--time', '3', '--time', '4'], /^--time is given twice$/],
  ...['0', '-1', 'x', '', '1e3', '86401', 'Infinity'].map((time) => [
    [`--time=${time}`],
    /^--time .*: a number of seconds, above 0 and at most 86400$/,
  ]),
  ...['0', '4095', '33554433', '4k', ''].map((bytes) => [
    [`--block-min=${bytes}`],
    /^--block-min .*: a number of bytes, from 4096 to 33554432$/,
  ]),
  [['--block-min=5000', '--block-max=6000'], /^no block size lies between/],
]) {
  test(`the wrong call ${JSON.stringify(args)} is refused`, () => {
    assert.throws(() => parse(args), (error) => error instanceof Refusal && message.test(error.message));
  });
}

test('sizes, times and lines are for people', () => {
  for (const [bytes, text] of [
    [0, '0 bytes'],
    [4096, '4 KiB'],
    [16896, '16.5 KiB'],
    [TOTAL, '128 MiB'],
    [2 ** 62, '4096 PiB'],
  ]) {
    assert.equal(size(bytes), text);
  }
  assert.equal(timeLeft(0, 294, 1), '');
  assert.equal(timeLeft(1, 294, 0.25), ', 74 s left');
  assert.equal(timeLeft(147, 294, 600), ', 10 min left');
  const long = 'word '.repeat(40);
  const lines = wrapped(`${long}\n  ${long}`).split('\n');
  assert.ok(lines.slice(0, -1).every((line) => line.length < 80));
  assert.equal(lines.at(-1), `  ${long}`);
  assert.equal(wrapped(long).replace(/\n/g, ' '), long.trim());
});
