'use strict';

// The memory that transfers work on.
//
// A script can take the memory of a buffer away while the kernel works on it:
// ArrayBuffer.prototype.transfer frees it when the new owner is done, and
// WebAssembly.Memory.grow detaches it. A reference to the buffer does not stop
// that. So a transfer works on one of these two, and on nothing else:
//
// - memory that the native half lends, and frees when the script and the last
//   transfer are done with it: the buffers of DirectFile.allocate;
// - for any other buffer, memory that no script can reach, and a copy.
//
// Lent memory is given back from the event loop (aligned-buffer.js says why). A
// DirectFile cannot be used without going through that loop, getAlignedBuffer
// can.

const { checkSize, makeGetAlignedBuffer } = require('./aligned-buffer.js');
const { take } = require('./buffers-in-use.js');
const { coded } = require('./errors.js');
const native = require('./native.js');

/** @typedef {import('./buffers-in-use.js').Bytes} Bytes */

const getAlignedBuffer = makeGetAlignedBuffer(native.misalignment);

/** More than any file asks of an address, in bytes. */
const SPAN = 65536;

/**
 * A buffer that transfers work on without a copy.
 *
 * @param {number} size
 * @param {number} alignment
 * @param {Function} above leaves this function and its callees out of the stack of an error
 * @returns {Buffer}
 */
function lentBuffer(size, alignment, above) {
  checkSize(size, alignment, '(size)', above);
  const buffer = native.lend(size, alignment);
  // There is no memory, which the other way has words for; or this is a runtime
  // (Electron) that takes no lent memory, and has made a copy at any address.
  if (buffer === null || !native.isLent(buffer)) return getAlignedBuffer(size, alignment);
  return buffer;
}

/**
 * Has a transfer fill a buffer.
 *
 * @param {Bytes} bytes
 * @param {(memory: Uint8Array) => Promise<number>} transfer gives the number of bytes
 * @returns {Promise<number>}
 */
async function filled(bytes, transfer) {
  const giveBack = take(bytes, true);
  try {
    const { length } = bytes;
    const memory = stays(bytes) ? bytes : likewise(bytes);
    const count = await transfer(memory);
    if (bytes.length !== length) {
      throw coded(
        'ERR_BUFFER_DETACHED',
        `${count} bytes were read, and the buffer was detached meanwhile ` +
          '(ArrayBuffer.prototype.transfer, WebAssembly.Memory.grow): read again into a buffer ' +
          'that stays, such as one of allocate',
      );
    }
    if (memory !== bytes) bytes.set(memory.subarray(0, count));
    return count;
  } finally {
    giveBack();
  }
}

/**
 * Has a transfer send a buffer, with what it holds now.
 *
 * @template T
 * @param {Bytes} bytes
 * @param {(memory: Uint8Array) => Promise<T>} transfer
 * @returns {Promise<T>}
 */
async function sent(bytes, transfer) {
  const giveBack = take(bytes, false);
  try {
    if (stays(bytes)) return await transfer(bytes);
    const memory = likewise(bytes);
    memory.set(bytes);
    return await transfer(memory);
  } finally {
    giveBack();
  }
}

/**
 * Whether a transfer can work on these bytes themselves.
 *
 * @param {Bytes} bytes
 */
function stays(bytes) {
  // Where no bytes lie is told differently by different versions of Node, and
  // there is nothing to copy.
  return bytes.length === 0 || native.isLent(bytes);
}

/**
 * Memory for as many bytes, and as well or badly aligned: so a misaligned buffer
 * is refused, and does not work for some and fail for others.
 *
 * @param {Bytes} bytes
 * @returns {Uint8Array}
 */
function likewise(bytes) {
  let memory;
  try {
    memory = new ArrayBuffer(bytes.length + SPAN);
  } catch (cause) {
    const error = coded('ENOMEM', 'insufficient memory for a copy of the buffer');
    error.cause = cause;
    throw error;
  }
  const wanted = native.misalignment(bytes, SPAN);
  const present = native.misalignment(new Uint8Array(memory), SPAN);
  return new Uint8Array(memory, (wanted - present + SPAN) % SPAN, bytes.length);
}

module.exports = { filled, getAlignedBuffer, lentBuffer, sent };
