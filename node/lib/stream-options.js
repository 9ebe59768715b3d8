'use strict';

// What the streams of a DirectFile have in common.

const { INT_MAX, checkedInteger, checkedPosition, isBoolean, isSignal } = require('./arguments.js');

/** Direct I/O has no read-ahead and no cache to gather in: so much in each call, in bytes. */
const CHUNK = 1 << 20;

const STREAM_OPTIONS = {
  /** @param {unknown} value */
  start: (value) => void checkedPosition(value, 'start'),
  /** @param {unknown} value */
  highWaterMark: (value) => void checkedInteger('highWaterMark', value, INT_MAX),
  autoClose: isBoolean('autoClose'),
  signal: isSignal,
};

/**
 * What the chunks of a file begin and end at.
 *
 * @param {import('../index').DirectIOAlignment} rule
 */
function stepOf({ offset, length }) {
  // Both are powers of 2, so the larger is a multiple of the other.
  return Math.max(offset, length);
}

/**
 * @param {number} bytes
 * @param {number} step
 */
function roundUp(bytes, step) {
  return Math.ceil(bytes / step) * step;
}

/**
 * Closes a file when its stream ends, in whichever way.
 *
 * @param {import('./direct-file.js').DirectFile} file
 * @param {boolean} autoClose
 * @param {Error | null} error
 * @param {(error?: Error | null) => void} callback
 */
function destroyed(file, autoClose, error, callback) {
  if (!autoClose) {
    callback(error);
    return;
  }
  // It waits for what the stream has started.
  file.close().then(
    () => callback(error),
    (closing) => callback(error ?? closing),
  );
}

module.exports = { CHUNK, STREAM_OPTIONS, destroyed, roundUp, stepOf };
