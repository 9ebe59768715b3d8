'use strict';

// Buffers at an aligned address in V8's own memory: an ArrayBuffer with room to
// align in, and a Buffer that begins where the address is right.
//
// Memory of our own that V8 is lent (napi_create_external_buffer) is better, as
// transfers can work on it (memory.js), but it cannot be had always:
//
// - Node gives lent memory back from its event loop, after V8 has collected the
//   buffer. A loop that never yields then holds all that it ever allocated:
//   @ronomon/direct-io needs 10 GiB of memory for 10 GiB in turn.
// - A runtime with V8's sandbox (Electron) takes no lent memory, and the
//   alternative that is offered there, a copy, is not aligned.
//
// V8 neither moves nor copies the memory of an ArrayBuffer. That is what all
// depends on, so it is checked at the end.

const { badArguments, isInt } = require('./arguments.js');
const { coded } = require('./errors.js');

const ALIGNMENT_MIN = 8;
const ALIGNMENT_MAX = 4194304;

/**
 * Makes the function, given one that tells by how many bytes an address misses a
 * multiple.
 *
 * @param {(bytes: Uint8Array, alignment: number) => number} misalignment
 * @returns {(size: number, alignment: number) => Buffer}
 */
function makeGetAlignedBuffer(misalignment) {
  return function getAlignedBuffer(size, alignment) {
    if (arguments.length !== 2) throw badArguments('(size, alignment)', getAlignedBuffer);
    checkSize(size, alignment, '(size, alignment)', getAlignedBuffer);

    let memory;
    try {
      memory = new ArrayBuffer(size + alignment - 1);
    } catch (cause) {
      const error = coded('ENOMEM', 'insufficient memory', getAlignedBuffer);
      error.cause = cause;
      throw error;
    }
    const beyond = misalignment(new Uint8Array(memory), alignment);
    const start = beyond === 0 ? 0 : alignment - beyond;
    const buffer = Buffer.from(memory, start, size);
    if (misalignment(buffer, alignment) !== 0) {
      throw coded(
        'ERR_BUFFER_COPIED',
        `this runtime moved or copied the buffer, and the copy is not aligned to ${alignment} ` +
          'bytes; direct I/O is not possible with the buffers of this runtime',
        getAlignedBuffer,
      );
    }
    return buffer;
  };
}

/**
 * Throws unless a buffer can have this size and this alignment.
 *
 * @param {number} size
 * @param {number} alignment
 * @param {string} usage the arguments of the function that was called
 * @param {Function} called
 */
function checkSize(size, alignment, usage, called) {
  if (!isInt(size) || !isInt(alignment)) throw badArguments(usage, called);
  const wrong = fault(size, alignment);
  if (wrong !== undefined) throw coded('ERR_OUT_OF_RANGE', wrong, called);
}

/**
 * What is wrong with the numbers: the first of the rules that is broken, in the
 * order and the words of @ronomon/direct-io 3.0.1.
 *
 * @param {number} size
 * @param {number} alignment
 * @returns {string | undefined}
 */
function fault(size, alignment) {
  if (size === 0) return 'size must not be 0';
  if (alignment === 0) return 'alignment must not be 0';
  if ((alignment & (alignment - 1)) !== 0) return 'alignment must be a power of 2';
  if (alignment < ALIGNMENT_MIN) return `alignment must be at least ${ALIGNMENT_MIN} bytes`;
  if (alignment > ALIGNMENT_MAX) return `alignment must be at most ${ALIGNMENT_MAX} bytes`;
  return undefined;
}

module.exports = { ALIGNMENT_MIN, checkSize, makeGetAlignedBuffer };
