'use strict';

// The memory that transfers work on.
//
// A script can take the memory of a buffer away while the kernel works on it:
// ArrayBuffer.prototype.transfer and postMessage give it to another ArrayBuffer,
// which frees it when it likes, and WebAssembly.Memory.grow detaches it. A reference
// to the buffer does not stop that, and Node-API has nothing that does: what would,
// v8::ArrayBuffer::GetBackingStore and SetDetachKey, is C++. So a transfer works on
// one of these, and on nothing else:
//
// - memory that the native half lends, and frees when the script and the last
//   transfer are done with it: the buffers of this package;
// - a SharedArrayBuffer, which nobody can detach: a reference keeps its memory;
// - for any other buffer a copy, in lent memory that no script can reach.

const { isSharedArrayBuffer } = require('node:util').types;
const { INT_MAX, invalid } = require('./arguments.js');
const { ALIGNMENT_MIN, checkSize, makeGetAlignedBuffer } = require('./aligned-buffer.js');
const { take } = require('./buffers-in-use.js');
const { coded } = require('./errors.js');
const native = require('./native.js');

/** @typedef {import('./buffers-in-use.js').Bytes} Bytes */

/** More than any file asks of an address, in bytes. */
const SPAN = 65536;

/** How much memory for copies is kept for the next ones, in bytes. */
const SPARE_MAX = 16 << 20;

/**
 * After how much getAlignedBuffer lends no more before the event loop turns, in
 * bytes. The last of it may be of any size.
 */
const LENT_PER_TURN = 32 << 20;

/** How much it has lent since then. */
let lentThisTurn = 0;

const ofTheHeap = makeGetAlignedBuffer(native.misalignment);

/**
 * A buffer whose memory is lent. `undefined` when there is no memory, or on a
 * runtime that takes no lent memory (Electron), which has made a copy at any
 * address.
 *
 * @param {number} size
 * @param {number} alignment
 * @returns {Buffer | undefined}
 */
function lent(size, alignment) {
  const buffer = native.lend(size, alignment);
  return buffer !== null && native.isLent(buffer) ? buffer : undefined;
}

/**
 * Lent memory is given back from the event loop (aligned-buffer.js says why), and
 * a loop that allocates and never waits would hold all that it ever had. So only
 * so much is lent between two turns of the event loop, and the rest is the heap's.
 *
 * @param {number} size
 * @param {number} alignment
 * @returns {Buffer}
 */
function getAlignedBuffer(size, alignment) {
  if (arguments.length !== 2) return ofTheHeap.apply(undefined, /** @type {any} */ (arguments));
  checkSize(size, alignment, '(size, alignment)', getAlignedBuffer);
  if (lentThisTurn < LENT_PER_TURN) {
    const buffer = lent(size, alignment);
    if (buffer !== undefined) {
      if (lentThisTurn === 0) setImmediate(nextTurn).unref();
      lentThisTurn += size;
      return buffer;
    }
  }
  return ofTheHeap(size, alignment);
}

function nextTurn() {
  lentThisTurn = 0;
}

/**
 * Whether a transfer can work on these bytes themselves: their memory stays.
 *
 * @param {Bytes} bytes
 */
function stays(bytes) {
  return isSharedArrayBuffer(bytes.buffer) || native.isLent(bytes);
}

/**
 * A buffer that fits a file.
 *
 * @param {unknown} size in bytes; rounded up to what a length must be
 * @param {{ memory: number, length: number }} rule
 * @returns {Buffer}
 */
function fileBuffer(size, { memory, length }) {
  const max = INT_MAX - (INT_MAX % length);
  const what = `size must be an integer of 1 to ${max} bytes`;
  if (typeof size !== 'number') throw invalid('ERR_INVALID_ARG_TYPE', what, size);
  if (!Number.isInteger(size) || size < 1 || size > max) {
    throw invalid('ERR_OUT_OF_RANGE', what, size);
  }
  const rounded = Math.ceil(size / length) * length;
  const alignment = Math.max(memory, ALIGNMENT_MIN);
  // Without a limit of each turn: a file is used by going through the event loop.
  return lent(rounded, alignment) ?? ofTheHeap(rounded, alignment);
}

/**
 * Has a transfer fill buffers, none of them empty.
 *
 * @param {Bytes[]} buffers
 * @param {(memory: Uint8Array[]) => Promise<number>} transfer gives the number of bytes
 * @returns {Promise<number>}
 */
async function filled(buffers, transfer) {
  const giveBack = take(buffers, true);
  const places = [];
  try {
    for (const bytes of buffers) places.push(placeOf(bytes));
    const count = await transfer(places.map(({ memory }) => memory));
    let left = count;
    for (const { bytes, memory, length } of places) {
      if (bytes.length !== length) {
        throw coded(
          'ERR_BUFFER_DETACHED',
          `${count} bytes were read, and the buffer was detached meanwhile ` +
            '(ArrayBuffer.prototype.transfer, WebAssembly.Memory.grow): read again into a buffer ' +
            'that stays, such as one of allocate',
        );
      }
      const got = Math.min(left, length);
      left -= got;
      if (memory !== bytes) bytes.set(memory.subarray(0, got));
    }
    return count;
  } finally {
    places.forEach(keepSpare);
    giveBack();
  }
}

/**
 * Has a transfer send buffers, none of them empty, with what they hold now.
 *
 * @template T
 * @param {Bytes[]} buffers
 * @param {(memory: Uint8Array[]) => Promise<T>} transfer
 * @returns {Promise<T>}
 */
async function sent(buffers, transfer) {
  const giveBack = take(buffers, false);
  const places = [];
  try {
    for (const bytes of buffers) {
      const place = placeOf(bytes);
      places.push(place);
      if (place.memory !== bytes) place.memory.set(bytes);
    }
    return await transfer(places.map(({ memory }) => memory));
  } finally {
    places.forEach(keepSpare);
    giveBack();
  }
}

/**
 * Where the bytes of a buffer lie while a transfer works on them.
 *
 * @typedef {object} Place
 * @property {Bytes} bytes of the caller
 * @property {number} length theirs, before a script could take them away
 * @property {Uint8Array} memory the same bytes, or others instead
 * @property {Uint8Array} [whole] what `memory` is a part of
 */

/**
 * @param {Bytes} bytes
 * @returns {Place}
 */
function placeOf(bytes) {
  const { length } = bytes;
  if (stays(bytes)) return { bytes, length, memory: bytes };
  const whole = memoryForCopies(length + SPAN);
  // As well or badly aligned: so a misaligned buffer is refused, and does not work
  // for some and fail for others.
  const wanted = native.misalignment(bytes, SPAN);
  const present = native.misalignment(whole, SPAN);
  const from = (wanted - present + SPAN) % SPAN;
  return { bytes, length, memory: whole.subarray(from, from + length), whole };
}

/**
 * What is kept for the next copies: fresh memory costs more than the copy itself.
 *
 * @type {Uint8Array[]}
 */
const spares = [];
let spareBytes = 0;

/**
 * Memory that no script can reach.
 *
 * @param {number} size at least so many bytes
 * @returns {Uint8Array}
 */
function memoryForCopies(size) {
  const at = spares.findIndex(({ length }) => length >= size);
  if (at >= 0) {
    const [spare] = spares.splice(at, 1);
    spareBytes -= spare.length;
    return spare;
  }
  // Powers of 2 fit the next ones, too.
  const rounded = 2 ** Math.ceil(Math.log2(size));
  const memory = rounded <= SPARE_MAX ? lent(rounded, ALIGNMENT_MIN) : undefined;
  if (memory !== undefined) return memory;
  try {
    return new Uint8Array(new ArrayBuffer(size));
  } catch (cause) {
    const error = coded('ENOMEM', 'insufficient memory for a copy of the buffer');
    error.cause = cause;
    throw error;
  }
}

/** @param {Place} place that no transfer works on any more */
function keepSpare({ whole }) {
  if (whole === undefined || spareBytes + whole.length > SPARE_MAX) return;
  spares.push(whole);
  spareBytes += whole.length;
}

module.exports = { fileBuffer, filled, getAlignedBuffer, sent, stays };
