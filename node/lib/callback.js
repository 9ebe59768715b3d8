'use strict';

/**
 * Hands what a promise comes to to a callback, as @ronomon/direct-io does: the
 * error alone, or `undefined` and the value if there is one.
 *
 * The callback is called outside of the promise, so that what it throws is an
 * uncaught exception and not an unhandled rejection.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {Function} callback
 * @returns {void}
 */
function deliver(promise, callback) {
  const call = callback.call.bind(callback, globalThis);
  promise.then(
    (value) => {
      if (value === undefined) process.nextTick(call, undefined);
      else process.nextTick(call, undefined, value);
    },
    (error) => process.nextTick(call, error),
  );
}

/**
 * A function that takes a callback as its last argument, or returns a promise.
 *
 * @template {unknown[]} Args
 * @param {(...args: Args) => Promise<unknown>} asked
 * @param {string} name
 * @returns {any}
 */
function withCallback(asked, name) {
  /** @param {any[]} args */
  const either = (...args) => {
    const last = args[args.length - 1];
    if (typeof last !== 'function') return asked(.../** @type {Args} */ (args));
    deliver(asked(.../** @type {any} */ (args.slice(0, -1))), last);
    return undefined;
  };
  Object.defineProperty(either, 'name', { value: name });
  return either;
}

module.exports = { deliver, withCallback };
