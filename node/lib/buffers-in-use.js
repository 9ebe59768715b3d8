'use strict';

// Which memory a transfer works on at the moment.
//
// While the kernel works on memory, nothing else may: two reads into one place
// leave a mixture, a write from where a read arrives writes another mixture. And
// the memory should stay: what a read brings is lost if the buffer is transferred
// meanwhile, to another ArrayBuffer. That is a guard against mistakes, and there
// are ways around it; that the kernel never works on memory that was freed does not
// depend on it (memory.js). Node gives memory that V8 did not allocate to no other
// thread by itself: up to 20 it copies it, later ones refuse. It is not marked for
// that (`markAsUntransferable`): Node from 24 on aborts when it frees such memory.

const { coded } = require('./errors.js');

/**
 * @typedef {Uint8Array<ArrayBufferLike>} Bytes
 * @typedef {{ start: number, end: number, filled: boolean }} Range
 */

/** @type {WeakMap<ArrayBufferLike, Set<Range>>} */
const inUse = new WeakMap();

/**
 * Lets nobody take the memory away while a part of it is used.
 *
 * @param {ArrayBufferLike} memory
 * @param {Set<Range>} used
 */
function keepInPlace(memory, used) {
  // Methods of V8 11.4 and later (Node 21), and of no SharedArrayBuffer.
  for (const method of ['transfer', 'transferToFixedLength']) {
    if (!(method in memory)) continue;
    const taken = /** @type {any} */ (memory)[method];
    const value = (/** @type {unknown[]} */ ...args) => {
      if (used.size === 0) return taken.apply(memory, args);
      throw coded(
        'ERR_BUFFER_BUSY',
        `no ${method} while a read fills this memory or a write sends it: await it first`,
        value,
      );
    };
    // A frozen one takes none, and is as safe without (memory.js).
    Reflect.defineProperty(memory, method, { value });
  }
}

/**
 * Takes the memory of buffers for a transfer.
 *
 * @param {Bytes[]} buffers
 * @param {boolean} filled the transfer writes into the memory: a read
 * @returns {() => void} gives all of it back
 */
function take(buffers, filled) {
  /** @type {(() => void)[]} */
  const taken = [];
  const giveBack = () => taken.forEach((back) => back());
  try {
    for (const bytes of buffers) taken.push(takeOne(bytes, filled));
  } catch (error) {
    giveBack();
    throw error;
  }
  return giveBack;
}

/**
 * @param {Bytes} bytes
 * @param {boolean} filled
 * @returns {() => void}
 */
function takeOne(bytes, filled) {
  const start = bytes.byteOffset;
  const end = start + bytes.byteLength;
  let ranges = inUse.get(bytes.buffer);
  if (ranges === undefined) {
    ranges = new Set();
    keepInPlace(bytes.buffer, ranges);
    inUse.set(bytes.buffer, ranges);
  }
  for (const other of ranges) {
    const overlap = start < other.end && other.start < end;
    if (overlap && (filled || other.filled)) {
      throw coded(
        'ERR_BUFFER_BUSY',
        `another ${other.filled ? 'read fills' : 'write sends'} a part of this buffer; await it ` +
          'first, or take another buffer',
      );
    }
  }
  const range = { start, end, filled };
  ranges.add(range);
  return () => {
    ranges.delete(range);
  };
}

module.exports = { take };
