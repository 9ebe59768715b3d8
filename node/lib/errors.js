'use strict';

// Every error of this package is an Error with a `code`. Those of the system
// have `errno`, `syscall`, `path` and `hint` beside it, as far as they are known.

const { getSystemErrorName } = require('node:util');

/**
 * @typedef {import('./binding').Fault} Fault
 * @typedef {import('../index').DirectIOError} DirectIOError
 */

/**
 * An error that no system call reported.
 *
 * @param {string} code
 * @param {string} message
 * @param {Function} [above] leaves this function and its callees out of the stack
 * @returns {DirectIOError}
 */
function coded(code, message, above = coded) {
  const error = /** @type {DirectIOError} */ (new Error(message));
  Error.captureStackTrace(error, above);
  error.code = code;
  return error;
}

/** The classes that Node gives its own errors of these codes. */
const CLASSES = new Map([
  ['ERR_ILLEGAL_CONSTRUCTOR', TypeError],
  ['ERR_INVALID_ARG_TYPE', TypeError],
  ['ERR_INVALID_ARG_VALUE', TypeError],
  ['ERR_OUT_OF_RANGE', RangeError],
]);

/**
 * A call that is wrong, as Node would say it: a TypeError or a RangeError. The
 * functions of @ronomon/direct-io have plain errors, as they always had.
 *
 * @param {string} code one of the map
 * @param {string} message
 * @param {Function} [above] leaves this function and its callees out of the stack
 * @returns {DirectIOError}
 */
function refusal(code, message, above = refusal) {
  const Class = /** @type {ErrorConstructor} */ (CLASSES.get(code));
  const error = /** @type {DirectIOError} */ (new Class(message));
  Error.captureStackTrace(error, above);
  error.code = code;
  return error;
}

/**
 * What is said of work that a signal has stopped, as Node's fs says it.
 *
 * @param {AbortSignal} signal
 * @returns {DirectIOError}
 */
function aborted(signal) {
  const error = coded('ABORT_ERR', 'The operation was aborted', aborted);
  error.name = 'AbortError';
  error.cause = signal.reason;
  return error;
}

/**
 * An error that the native half reported.
 *
 * @param {Fault} fault
 * @param {string} [message] instead of its own
 * @returns {DirectIOError}
 */
function reported(fault, message = fault.message) {
  const code = fault.code || (fault.errno ? getSystemErrorName(fault.errno) : 'UNKNOWN');
  const error = coded(code, message, reported);
  if (fault.errno !== undefined) error.errno = fault.errno;
  if (fault.operation !== undefined) error.syscall = fault.operation;
  if (fault.path !== undefined) error.path = fault.path;
  if (fault.hint !== undefined) error.hint = fault.hint;
  if (fault.bytesWritten !== undefined) error.bytesWritten = fault.bytesWritten;
  return error;
}

/**
 * The value of an outcome, or its error.
 *
 * @template T
 * @param {Promise<import('./binding').Outcome<T>>} promised
 * @returns {Promise<T>}
 */
async function settled(promised) {
  const outcome = await promised;
  if (outcome.fault !== undefined) throw reported(outcome.fault);
  return /** @type {T} */ (outcome.value);
}

module.exports = { aborted, coded, refusal, reported, settled };
