'use strict';

// That this package can stand where @ronomon/direct-io 3.0.1 stood: its own test
// passes against ours, and both answer alike to the same arguments.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { join } = require('node:path');
const test = require('node:test');
const ours = require('..');
const { loopDevice } = require('../testing/devices.js');
const { npm, originalArchive, originalScript } = require('../testing/original.js');
const { Missing, run, whereItCanRun } = require('../testing/programs.js');
const { scratchFolder } = require('../testing/scratch.js');

test(
  "the original's own test passes against this package",
  whereItCanRun(() => {
    const output = run(process.execPath, [originalScript('test.js')]);
    const lines = output.trim().split('\n');
    assert.ok(
      lines.every((line) => line.startsWith('PASS: ')),
      output,
    );
    // As many as the original has when it is tested by itself.
    if (process.platform === 'linux') assert.equal(lines.length, 332);
  }),
);

test(
  "the original's script for devices prints a device without a serial number",
  whereItCanRun(() => {
    const device = loopDevice(1 << 20);
    const output = run(process.execPath, [originalScript('get-block-device'), device]);
    assert.match(output, /^ +Logical Sector Size: 512$/m);
    assert.match(output, /^ +Physical Sector Size: \d+$/m);
    assert.match(output, /^ +Size: 1048576$/m);
    assert.match(output, /^ +Serial Number: ""$/m);
  }),
);

let built;

/** The original, built here, once. */
function original() {
  built ??= buildOriginal();
  return built;
}

function buildOriginal() {
  const folder = scratchFolder();
  const archive = originalArchive();
  fs.writeFileSync(join(folder, 'package.json'), '{}');
  try {
    npm(['install', '--foreground-scripts', archive], folder);
    return require(join(folder, 'node_modules', '@ronomon', 'direct-io'));
  } catch (error) {
    const why = /^(?:gyp ERR! stack |npm (?:ERR!|error) code )(.*)$/m.exec(error.message);
    throw new Missing(`a C compiler and Node's headers, to build the original: ${why?.[1]}`);
  }
}

/** Everything that is a wrong argument somewhere, and some that are right. */
const VALUES = [
  undefined,
  null,
  true,
  NaN,
  Infinity,
  -Infinity,
  -1,
  -0,
  0,
  1,
  1.5,
  2,
  4,
  8,
  9,
  512,
  4096,
  4194304,
  8388608,
  2147483648,
  4294967304,
  '8',
  8n,
  {},
  [8],
  Symbol('8'),
  new Number(8),
  () => {},
];

/** All lists of up to `length` of the values, and one that is too long. */
function* argumentLists(length) {
  yield [];
  for (const first of VALUES) {
    yield [first];
    for (const second of VALUES) {
      yield [first, second];
      if (length === 2) continue;
      for (const third of VALUES) yield [first, second, third];
    }
  }
  yield [8, 8, 8, 8];
  yield [0, 0, () => {}, undefined];
}

/** What a call comes to, as far as the original defines it. */
function called(binding, method, args) {
  return new Promise((resolve) => {
    const replaced = args.map((arg) =>
      typeof arg === 'function'
        ? (...results) => resolve({ results: results.map((r) => (r instanceof Error ? r.message : r)) })
        : arg,
    );
    try {
      const returned = binding[method](...replaced);
      if (Buffer.isBuffer(returned)) {
        resolve({ length: returned.length, zero: returned.every((byte) => byte === 0) });
      } else if (typeof args.at(-1) !== 'function') {
        resolve({ returned });
      }
    } catch (error) {
      resolve({ thrown: error.message, name: error.name, kind: Object.getPrototypeOf(error) === Error.prototype });
    }
  });
}

test(
  'both answer alike to every list of arguments',
  whereItCanRun(async () => {
    const theirs = original();
    for (const name of ['O_DIRECT', 'O_DSYNC', 'O_EXCL', 'O_EXLOCK', 'O_SYNC']) {
      assert.equal(ours[name], theirs[name], name);
    }
    const missing = Object.keys(theirs).filter((name) => typeof ours[name] !== typeof theirs[name]);
    assert.deepEqual(missing, []);
    let count = 0;
    for (const [method, length] of [
      ['getAlignedBuffer', 2],
      ['getBlockDevice', 2],
      ['setF_NOCACHE', 3],
      ['setFlock', 3],
      ['setFSCTL_LOCK_VOLUME', 3],
    ]) {
      for (const args of argumentLists(length)) {
        const expected = await called(theirs, method, args);
        const found = await called(ours, method, args);
        assert.deepEqual(found, expected, `${method}(${args.map(String).join(', ')})`);
        count += 1;
      }
    }
    assert.ok(count > 60_000, `${count} lists`);
  }),
);

/** What a callback sees, and where what it throws goes. */
const THROWING_CALLBACK = `'use strict';
  process.once('uncaughtException', (error, origin) => console.log(origin, error.message));
  require(process.argv[1]).getBlockDevice(0, function callback(...args) {
    console.log(this === globalThis, args.length, args[0].message);
    throw new RangeError('from the callback');
  });
`;

test(
  'both call back with the same receiver, and leave what the callback throws uncaught',
  whereItCanRun(() => {
    original();
    const module = Object.keys(require.cache).find((path) => path.endsWith('binding.node'));
    const [theirs, mine] = [module, require.resolve('..')].map((path) =>
      run(process.execPath, ['-e', THROWING_CALLBACK, path], { input: '' }),
    );
    assert.equal(mine, theirs);
    assert.equal(
      mine,
      'true 1 fd is not a block or character device\nuncaughtException from the callback\n',
    );
  }),
);
