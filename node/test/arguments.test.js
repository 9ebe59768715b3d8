'use strict';

// Wrong arguments: what each function says, and that it says it with a code.

const assert = require('node:assert/strict');
const test = require('node:test');
const directIO = require('..');

const { DirectFile, promises } = directIO;
const callback = () => assert.fail('a wrong call must not call back');
const { platform } = process;

const NO_FD = [undefined, null, NaN, -1, 1.1, 2 ** 31, Infinity, '1', 1n, {}];
const NO_FLAG = [undefined, null, NaN, -1, 1.1, 2, 2 ** 31, '1', true];
const NO_CALLBACK = [undefined, null, {}, 'callback', 1];

/** Of the functions of the original: method, message, code, argument lists. */
const CLASSIC = [
  [
    'getAlignedBuffer',
    'bad arguments, expected: (size, alignment)',
    'ERR_INVALID_ARG_VALUE',
    [[], [8], [8, 8, 8], ...NO_FD.map((size) => [size, 8]), ...NO_FD.map((bytes) => [8, bytes])],
  ],
  ['getAlignedBuffer', 'size must not be 0', 'ERR_OUT_OF_RANGE', [[0, 8], [-0, 8], [0, 0], [0, 9]]],
  ['getAlignedBuffer', 'alignment must not be 0', 'ERR_OUT_OF_RANGE', [[8, 0], [2147483647, 0]]],
  [
    'getAlignedBuffer',
    'alignment must be a power of 2',
    'ERR_OUT_OF_RANGE',
    [[8, 3], [8, 9], [8, 15], [8, 17], [8, 4194305], [8, 2147483647]],
  ],
  [
    'getAlignedBuffer',
    'alignment must be at least 8 bytes',
    'ERR_OUT_OF_RANGE',
    [[8, 1], [8, 2], [8, 4]],
  ],
  [
    'getAlignedBuffer',
    'alignment must be at most 4194304 bytes',
    'ERR_OUT_OF_RANGE',
    [[8, 8388608], [8, 1073741824]],
  ],
  [
    'getBlockDevice',
    'bad arguments, expected: (fd, callback)',
    'ERR_INVALID_ARG_VALUE',
    [
      [],
      [1],
      [1, callback, callback],
      ...NO_FD.map((fd) => [fd, callback]),
      ...NO_CALLBACK.map((none) => [1, none]),
    ],
  ],
  ...[
    ['setF_NOCACHE', platform === 'darwin', 'only supported on mac os'],
    ['setFlock', platform !== 'win32', 'not supported on windows'],
    ['setFSCTL_LOCK_VOLUME', platform === 'win32', 'only supported on windows'],
  ].map(([method, supported, refusal]) => [
    method,
    supported ? 'bad arguments, expected: (fd, value=0/1, callback)' : refusal,
    supported ? 'ERR_INVALID_ARG_VALUE' : 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
    [
      [],
      [1],
      [1, 0],
      [1, 0, callback, callback],
      ...NO_FD.map((fd) => [fd, 0, callback]),
      ...NO_FLAG.map((value) => [1, value, callback]),
      ...NO_CALLBACK.map((none) => [1, 0, none]),
    ],
  ]),
];

for (const [method, message, code, argumentLists] of CLASSIC) {
  test(`${method} throws "${message}"`, () => {
    for (const args of argumentLists) {
      assert.throws(
        () => directIO[method](...args),
        { name: 'Error', message, code },
        `${method}(${args.map(String).join(', ')})`,
      );
    }
  });
}

test('the promises of the original functions are rejected for wrong arguments', async () => {
  const code = 'ERR_INVALID_ARG_VALUE';
  for (const args of [[], [1, callback], ...NO_FD.map((fd) => [fd])]) {
    await assert.rejects(promises.getBlockDevice(...args), {
      message: 'bad arguments, expected: (fd)',
      code,
    });
  }
  for (const args of [[], [1], [1, 2], [1, 0, callback], ...NO_FD.map((fd) => [fd, 0])]) {
    await assert.rejects(
      promises[platform === 'win32' ? 'setFSCTL_LOCK_VOLUME' : 'setFlock'](...args),
      { message: 'bad arguments, expected: (fd, value=0/1)', code },
    );
  }
  if (platform !== 'darwin') {
    await assert.rejects(promises.setF_NOCACHE(1, 1), {
      message: 'only supported on mac os',
      code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
    });
  }
});

const buffer = directIO.getAlignedBuffer(4096, 4096);
const NO_PATH = [undefined, null, 7n, {}, '', 'a\0b', Buffer.from('a\0b'), Buffer.alloc(0)];
const NO_BUFFER = [undefined, null, 'bytes', {}, [1], new ArrayBuffer(8)];
const NO_POSITION = [undefined, null, -1, 1.5, NaN, 2 ** 53, '0', 0n];

/** Of the functions that are new: how they are called wrongly, and what they name. */
const NEW = [
  ['getGeometry', NO_FD.map((fd) => [fd]), /^fd must be/],
  ['getGeometryUnder', [...NO_PATH, 1].map((path) => [path]), /^path must be/],
  ['getDirectIOAlignment', NO_PATH.map((path) => [path]), /^path must be/],
  ['getDirectIOAlignment', [-1, NaN, 1.1].map((fd) => [fd]), /^fd must be/],
  ['writeDurable', NO_FD.map((fd) => [fd, buffer, 0]), /^fd must be/],
  ['writeDurable', NO_BUFFER.map((bytes) => [1, bytes, 0]), /^buffer must/],
  ['writeDurable', NO_POSITION.map((position) => [1, buffer, position]), /^position must be/],
  [
    'writeDurable',
    ['none', 'DATA', null, 1].map((durability) => [1, buffer, 0, durability]),
    /^durability must be one of 'data', 'full', but is/,
  ],
];

/** The class that Node has for what is wrong of such a value. */
const CLASSES = { ERR_INVALID_ARG_TYPE: 'TypeError', ERR_INVALID_ARG_VALUE: 'TypeError', ERR_OUT_OF_RANGE: 'RangeError' };

for (const [method, argumentLists, message] of NEW) {
  test(`${method} is rejected with ${message}, and calls back with it`, async () => {
    const expected = (error) => {
      assert.equal(error.name, CLASSES[error.code], error.code);
      assert.match(error.message, message);
      return true;
    };
    for (const args of argumentLists) {
      await assert.rejects(promises[method](...args), expected);
      await assert.rejects(directIO[method](...args), expected);
      const error = await new Promise((resolve) => {
        assert.equal(directIO[method](...args, resolve), undefined);
      });
      expected(error);
    }
  });
}

test('a value that is wrong is described in a few words, however large it is', async () => {
  const long = 'x'.repeat(1 << 20);
  class Named {}
  for (const [value, said] of [
    [new Uint8Array(1 << 20), 'an instance of Uint8Array'],
    [Array.from({ length: 1 << 16 }, () => 1), 'an instance of Array'],
    [long, `"${'x'.repeat(40)}"... of 1048576 characters`],
    [new Named(), 'an instance of Named'],
    [Object.create(null), 'an object'],
    [() => long, 'a function'],
    [Symbol('s'), 'Symbol(s)'],
    [null, 'null'],
    [7n, '7n'],
    [-0.5, '-0.5'],
  ]) {
    await assert.rejects(DirectFile.open('file', { write: value }), {
      name: 'TypeError',
      code: 'ERR_INVALID_ARG_TYPE',
      message: `write must be true or false, but is ${said}`,
    });
  }
  const name = { [long]: 1 };
  await assert.rejects(DirectFile.open('file', name), (error) => error.message.length < 300);
});

test('a DirectFile is opened, not constructed', () => {
  for (const args of [[], ['file'], [Symbol('opened'), {}, 'file']]) {
    assert.throws(() => new DirectFile(...args), { code: 'ERR_ILLEGAL_CONSTRUCTOR' });
  }
});

test('DirectFile.open refuses wrong paths and options, and names what is known', async () => {
  for (const path of NO_PATH) {
    await assert.rejects(DirectFile.open(path), { name: 'TypeError', message: /^path must be/ });
  }
  for (const [options, message] of [
    [null, /^options must be an object, but is null$/],
    ['r+', /^options must be an object, but is "r\+"$/],
    [{ writable: true }, /^there is no option writable; there are read, write, create/],
    [{ toString: true }, /^there is no option toString/],
    [{ write: 1 }, /^write must be true or false, but is 1$/],
    [{ direct: true }, /^direct must be one of 'required', 'preferred', 'off', but is true$/],
    [{ durability: 'DSYNC' }, /^durability must be one of 'none', 'data', 'full', but is "DSYNC"$/],
  ]) {
    await assert.rejects(DirectFile.open('file', options), { name: 'TypeError', message });
  }
});
