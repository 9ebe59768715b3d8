'use strict';

// Stopping an operation by an AbortSignal.

const { aborted } = require('./errors.js');
const native = require('./native.js');

/**
 * Runs an operation that a signal may stop.
 *
 * What is stopped settles when the system has let go of its memory, and not
 * before: so the buffers of an operation are the caller's again when its promise
 * is rejected.
 *
 * @template T
 * @param {AbortSignal | undefined} signal
 * @param {(stop: import('./binding').Stop | undefined) => Promise<T>} start
 * @returns {Promise<T>}
 */
async function stoppable(signal, start) {
  if (signal === undefined) return start(undefined);
  if (signal.aborted) throw aborted(signal);
  const stop = new native.Stop();
  const onAbort = () => stop.stop();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await start(stop);
  } catch (error) {
    const { code, bytesWritten } = /** @type {import('../index').DirectIOError} */ (error);
    if (code !== 'ABORT_ERR') throw error;
    const said = aborted(signal);
    if (bytesWritten !== undefined) said.bytesWritten = bytesWritten;
    throw said;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

module.exports = { stoppable };
