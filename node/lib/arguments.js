'use strict';

// What may be passed. The first group holds the rules of @ronomon/direct-io
// 3.0.1, to the letter; the second those of the functions that are new here.

const { fileURLToPath } = require('node:url');
const { isUint8Array } = require('node:util').types;
const { coded, refusal } = require('./errors.js');

/** @typedef {import('./buffers-in-use.js').Bytes} Bytes */

const INT_MAX = 2147483647;

/**
 * A number that C's int holds and that is not below 0. NaN, fractions and
 * strings are none.
 *
 * @param {unknown} value
 * @returns {value is number}
 */
function isInt(value) {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= INT_MAX;
}

/**
 * @param {unknown} value
 * @returns {value is 0 | 1}
 */
function isFlag(value) {
  return value === 0 || value === 1;
}

/**
 * @param {string} expected the arguments in parentheses
 * @param {Function} above leaves this function and its callees out of the stack
 */
function badArguments(expected, above) {
  return coded('ERR_INVALID_ARG_VALUE', `bad arguments, expected: ${expected}`, above);
}

/** How much of a text is shown. */
const SHOWN_MAX = 40;

/**
 * A value in a few words, however large it is.
 *
 * @param {unknown} value
 * @returns {string}
 */
function shown(value) {
  if (typeof value === 'string') {
    return value.length <= SHOWN_MAX
      ? JSON.stringify(value)
      : `${JSON.stringify(value.slice(0, SHOWN_MAX))}... of ${value.length} characters`;
  }
  if (typeof value === 'bigint') return `${value}n`.slice(0, SHOWN_MAX);
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  const { constructor } = value;
  const name = typeof constructor === 'function' ? constructor.name : '';
  return name === '' ? 'an object' : `an instance of ${name.slice(0, SHOWN_MAX)}`;
}

/**
 * @param {'ERR_INVALID_ARG_TYPE' | 'ERR_INVALID_ARG_VALUE' | 'ERR_OUT_OF_RANGE'} code
 * @param {string} what
 * @param {unknown} value
 */
function invalid(code, what, value) {
  return refusal(code, `${what}, but is ${shown(value)}`, invalid);
}

/**
 * An integer from 0 to a bound.
 *
 * @param {string} name
 * @param {unknown} value
 * @param {number} max
 * @param {string} [limit] what the bound is called
 * @returns {number}
 */
function checkedInteger(name, value, max, limit = String(max)) {
  const what = `${name} must be an integer of 0 to ${limit}`;
  if (typeof value !== 'number') throw invalid('ERR_INVALID_ARG_TYPE', what, value);
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw invalid('ERR_OUT_OF_RANGE', what, value);
  }
  return value;
}

/**
 * @param {unknown} fd
 * @returns {number}
 */
function checkedFd(fd) {
  return checkedInteger('fd', fd, INT_MAX);
}

/**
 * A place in a file, or a length, in bytes.
 *
 * @param {unknown} value
 * @param {string} [name]
 * @returns {number}
 */
function checkedPosition(value, name = 'position') {
  return checkedInteger(name, value, Number.MAX_SAFE_INTEGER, 'Number.MAX_SAFE_INTEGER');
}

/**
 * The bytes of a path; on Unix a path need not be text.
 *
 * @param {unknown} path
 * @returns {Uint8Array}
 */
function checkedPath(path) {
  const what = 'path must be a string, Buffer or file URL, not empty and without NUL';
  let plain = path;
  if (plain instanceof URL) plain = fileURLToPath(plain);
  if (typeof plain === 'string') plain = Buffer.from(plain);
  if (!isUint8Array(plain)) throw invalid('ERR_INVALID_ARG_TYPE', what, path);
  if (plain.length === 0 || plain.includes(0)) throw invalid('ERR_INVALID_ARG_VALUE', what, path);
  // A copy: the caller may write into its own before the path is looked up.
  return typeof path === 'string' ? plain : Uint8Array.from(plain);
}

/**
 * The bytes of memory that stays where it is while another thread works on it.
 *
 * @param {unknown} buffer
 * @param {string} [name]
 * @returns {Bytes}
 */
function checkedBuffer(buffer, name = 'buffer') {
  if (!ArrayBuffer.isView(buffer)) {
    const what = `${name} must be a Buffer, TypedArray or DataView`;
    throw invalid('ERR_INVALID_ARG_TYPE', what, buffer);
  }
  /** @type {ArrayBufferLike & { resizable?: boolean, growable?: boolean }} */
  const memory = buffer.buffer;
  if (memory.resizable === true || memory.growable === true) {
    throw refusal(
      'ERR_INVALID_ARG_VALUE',
      `${name} must not lie in a resizable ArrayBuffer or a growable SharedArrayBuffer: its length ` +
        'could change meanwhile',
    );
  }
  return isUint8Array(buffer)
    ? buffer
    : new Uint8Array(memory, buffer.byteOffset, buffer.byteLength);
}

/**
 * Several buffers, in the order in which their bytes lie in the file.
 *
 * @param {unknown} buffers
 * @returns {Bytes[]}
 */
function checkedBuffers(buffers) {
  if (!Array.isArray(buffers)) {
    const what = 'buffers must be an array of Buffers, TypedArrays or DataViews';
    throw invalid('ERR_INVALID_ARG_TYPE', what, buffers);
  }
  return Array.from(buffers, (buffer, at) => checkedBuffer(buffer, `buffers[${at}]`));
}

/**
 * One of these words.
 *
 * @template {string} Word
 * @param {string} name
 * @param {readonly Word[]} words
 * @param {unknown} value
 * @returns {Word}
 */
function checkedWord(name, words, value) {
  const word = words.find((known) => known === value);
  if (word === undefined) {
    const what = `${name} must be one of ${words.map((w) => `'${w}'`).join(', ')}`;
    throw invalid('ERR_INVALID_ARG_VALUE', what, value);
  }
  return word;
}

/**
 * The options of an object, each by its own check; a name that is not known,
 * such as a misspelt one, is refused.
 *
 * @param {unknown} options
 * @param {Record<string, (value: unknown) => void>} checks
 * @returns {Record<string, any>} those that are there
 */
function checkedOptions(options, checks) {
  if (options === undefined) return {};
  if (options === null || typeof options !== 'object') {
    throw invalid('ERR_INVALID_ARG_TYPE', 'options must be an object', options);
  }
  /** @type {Record<string, unknown>} */
  const given = {};
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) {
      const known = Object.keys(checks).join(', ');
      const wrong = name.slice(0, SHOWN_MAX);
      throw refusal('ERR_INVALID_ARG_VALUE', `there is no option ${wrong}; there are ${known}`);
    }
    if (value === undefined) continue;
    check(value);
    given[name] = value;
  }
  return given;
}

/**
 * @param {string} name
 * @returns {(value: unknown) => void}
 */
function isBoolean(name) {
  return (value) => {
    if (typeof value !== 'boolean') {
      throw invalid('ERR_INVALID_ARG_TYPE', `${name} must be true or false`, value);
    }
  };
}

/** @type {readonly ['none', 'data', 'full']} */
const DURABILITIES = ['none', 'data', 'full'];

/** @param {unknown} value */
function isDurability(value) {
  checkedWord('durability', DURABILITIES, value);
}

/** @param {unknown} value */
function isSignal(value) {
  // As Node's fs asks: it need not be of this realm.
  if (value === null || typeof value !== 'object' || !('aborted' in value)) {
    throw invalid('ERR_INVALID_ARG_TYPE', 'signal must be an AbortSignal', value);
  }
}

module.exports = {
  INT_MAX,
  badArguments,
  checkedBuffer,
  checkedBuffers,
  checkedFd,
  checkedInteger,
  checkedOptions,
  checkedPath,
  checkedPosition,
  checkedWord,
  invalid,
  isBoolean,
  isDurability,
  isFlag,
  isInt,
  isSignal,
};
