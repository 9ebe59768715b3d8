'use strict';

// What may be passed. The first group holds the rules of @ronomon/direct-io
// 3.0.1, to the letter; the second those of the functions that are new here.

const { fileURLToPath } = require('node:url');
const { isAnyArrayBuffer, isSharedArrayBuffer, isUint8Array } = require('node:util').types;
const { coded } = require('./errors.js');

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

/**
 * @param {string} what
 * @param {unknown} value
 */
function invalid(what, value) {
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return coded('ERR_INVALID_ARG_VALUE', `${what}, but is ${shown}`, invalid);
}

/**
 * @param {unknown} fd
 * @returns {number}
 */
function checkedFd(fd) {
  if (!isInt(fd)) throw invalid(`fd must be an integer of 0 to ${INT_MAX}`, fd);
  return fd;
}

/**
 * The bytes of a path; on Unix a path need not be text.
 *
 * @param {unknown} path
 * @returns {Uint8Array}
 */
function checkedPath(path) {
  let plain = path;
  if (plain instanceof URL) plain = fileURLToPath(plain);
  if (typeof plain === 'string') plain = Buffer.from(plain);
  if (!isUint8Array(plain) || plain.length === 0 || plain.includes(0)) {
    throw invalid('path must be a string, Buffer or file URL, not empty and without NUL', path);
  }
  // A copy: the caller may write into its own before the path is looked up.
  return typeof path === 'string' ? plain : Uint8Array.from(plain);
}

/**
 * @param {unknown} position
 * @returns {number}
 */
function checkedPosition(position) {
  if (!Number.isSafeInteger(position) || Number(position) < 0) {
    throw invalid('position must be an integer of 0 to Number.MAX_SAFE_INTEGER', position);
  }
  return Number(position);
}

/**
 * Memory that stays where it is while another thread works on it.
 *
 * @param {unknown} buffer
 * @returns {Uint8Array & { buffer: ArrayBuffer }}
 */
function checkedBuffer(buffer) {
  if (!isUint8Array(buffer)) {
    throw invalid('buffer must be a Buffer or Uint8Array', buffer);
  }
  const memory = /** @type {ArrayBufferLike & { resizable?: boolean }} */ (buffer.buffer);
  if (isSharedArrayBuffer(memory) || memory.resizable === true || !isAnyArrayBuffer(memory)) {
    throw coded(
      'ERR_INVALID_ARG_VALUE',
      'buffer must not lie in a SharedArrayBuffer or in a resizable ArrayBuffer: other threads ' +
        'could change or shrink it meanwhile',
    );
  }
  return /** @type {Uint8Array & { buffer: ArrayBuffer }} */ (buffer);
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
    throw invalid(`${name} must be one of ${words.map((w) => `'${w}'`).join(', ')}`, value);
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
    throw invalid('options must be an object', options);
  }
  /** @type {Record<string, unknown>} */
  const given = {};
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) {
      const known = Object.keys(checks).join(', ');
      throw coded('ERR_INVALID_ARG_VALUE', `there is no option ${name}; there are ${known}`);
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
    if (typeof value !== 'boolean') throw invalid(`${name} must be true or false`, value);
  };
}

module.exports = {
  badArguments,
  checkedBuffer,
  checkedFd,
  checkedOptions,
  checkedPath,
  checkedPosition,
  checkedWord,
  isBoolean,
  isFlag,
  isInt,
};
