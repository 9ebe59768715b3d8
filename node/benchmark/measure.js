'use strict';

// One cell of the matrix: writes in order from the start, and what brings them
// down. Everything that could be decided before is.

const fs = require('node:fs');
const { performance } = require('node:perf_hooks');

/**
 * @typedef {object} Cell
 * @property {number} fd opened as the mode asks for
 * @property {Uint8Array} block what is written, again and again
 * @property {number} count how many times at most
 * @property {number} secondsMax after which no further one is begun
 * @property {import('./modes.js').Sync} sync
 */

/**
 * @typedef {object} Measured
 * @property {number} bytes
 * @property {number} seconds
 * @property {number} writes
 * @property {number} fastest write with its sync, in seconds; where writes were timed one by one
 * @property {number} slowest
 */

/** From so many writes on a rate is taken for one: those of fewer say how they spread. */
const FEW = 10;

/** @type {Record<'fdatasync' | 'fsync', (fd: number) => void>} */
const CALLS = { fdatasync: fs.fdatasyncSync, fsync: fs.fsyncSync };

/**
 * Timed is what the original times: the writes with their syncs, and the one at
 * the end where the mode has one. Not timed: opening, closing, and bringing down
 * what this cell has left, so that the next one does not pay for it.
 *
 * @param {Cell} cell
 * @returns {Measured}
 */
function measure({ fd, block, count, secondsMax, sync }) {
  const { length } = block;
  const each = sync.each && CALLS[sync.each];
  const end = sync.end && CALLS[sync.end];
  // Reading the clock costs a twentieth of a small write to the page cache.
  const clocked = Number.isFinite(secondsMax) || count < FEW;
  let done = 0;
  let fastest = Infinity;
  let slowest = 0;
  const start = performance.now();
  const deadline = start + secondsMax * 1000;
  let last = start;
  while (done < count) {
    const written = fs.writeSync(fd, block, 0, length, done * length);
    if (written !== length) {
      throw new Error(`only ${written} of ${length} bytes were written at ${done * length}`);
    }
    if (each !== undefined) each(fd);
    done += 1;
    if (!clocked) continue;
    const now = performance.now();
    const took = now - last;
    last = now;
    if (took < fastest) fastest = took;
    if (took > slowest) slowest = took;
    if (now >= deadline) break;
  }
  if (end !== undefined) end(fd);
  const seconds = (performance.now() - start) / 1000;
  fs.fdatasyncSync(fd);
  return {
    bytes: done * length,
    seconds,
    writes: done,
    fastest: fastest / 1000,
    slowest: slowest / 1000,
  };
}

/**
 * Writes everything once and brings it down, so that no cell pays for making the
 * file longer or for what is allocated at the first write; how fast that was, in
 * bytes per second.
 *
 * @param {number} fd
 * @param {Uint8Array} data
 * @param {number} span in bytes
 */
function fill(fd, data, span) {
  const start = performance.now();
  for (let offset = 0; offset < span; ) {
    offset += fs.writeSync(fd, data, 0, Math.min(data.length, span - offset), offset);
  }
  fs.fsyncSync(fd);
  return span / ((performance.now() - start) / 1000);
}

module.exports = { FEW, fill, measure };
