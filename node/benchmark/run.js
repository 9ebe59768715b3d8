'use strict';

// The session: opens the target, measures cell after cell, and leaves the target
// as it was promised, whatever happens meanwhile.

const { randomFillSync } = require('node:crypto');
const { setImmediate: turn } = require('node:timers/promises');
const { getAlignedBuffer, getDirectIOAlignment } = require('..');
const { FEW, fill, measure } = require('./measure.js');
const {
  MIB,
  MODES,
  boundedCount,
  fewLine,
  fullCount,
  resultLine,
  staysInCache,
} = require('./modes.js');
const { Progress } = require('./progress.js');
const { Refusal } = require('./refusal.js');
const { openTarget } = require('./target.js');
const { size } = require('./words.js');

/** Memory is aligned to a page at least, as in the original. */
const ALIGNMENT_MIN = 4096;

/** The part of the time that is left for what a cell does untimed. */
const SHARE_TIMED = 0.8;

/**
 * @typedef {import('./target.js').Target} Target
 * @typedef {import('./modes.js').Mode} Mode
 */

/**
 * Measures; whether it came to the end.
 *
 * @param {import('./command-line.js').Wanted} wanted
 * @param {(line: string) => void} result
 * @param {(line: string) => void} note
 * @param {() => boolean} stopped
 * @returns {Promise<boolean>}
 */
async function run(wanted, result, note, stopped) {
  const target = await openTarget(wanted.path, wanted.destroy);
  try {
    return await matrix(target, wanted, result, note, stopped);
  } finally {
    await target.finish();
  }
}

/**
 * @param {Target} target
 * @param {import('./command-line.js').Wanted} wanted
 * @param {(line: string) => void} result
 * @param {(line: string) => void} note
 * @param {() => boolean} stopped
 */
async function matrix(target, wanted, result, note, stopped) {
  const { descriptors, span, name } = target;
  note(`writing on ${target.about}`);
  const fitting = wanted.blockSizes.filter((blockSize) => blockSize <= span);
  if (fitting.length < wanted.blockSizes.length) {
    note(`left out: blocks above ${size(span)}, as that is all there is`);
  }
  const alignment = await getDirectIOAlignment(descriptors.plain);
  const cells = fitting.flatMap((blockSize) =>
    MODES.map((mode) => ({ blockSize, mode })).filter(
      ({ mode }) =>
        descriptors.of(mode) !== undefined && !(mode.direct && blockSize % alignment.length !== 0),
    ),
  );
  if (descriptors.directRefused !== undefined) {
    note(`left out: all modes with O_DIRECT, as ${descriptors.directRefused}`);
  }
  if (cells.length === 0) {
    throw new Refusal(`there is nothing to measure: no block fits into ${size(span)}`);
  }
  note(amounts(cells.length, wanted.seconds));

  const blocks = memory(Math.max(...fitting, MIB), Math.max(alignment.memory, ALIGNMENT_MIN));
  const bytesPerSecond = explained(`filling ${size(span)} of ${name}`, () =>
    fill(descriptors.plain, blocks.aligned, span),
  );
  const secondsMax =
    wanted.seconds === undefined ? Infinity : (wanted.seconds * SHARE_TIMED) / cells.length;
  const progress = new Progress(process.stderr, cells.length);
  /** @type {string[]} */
  const few = [];
  try {
    for (const [index, { blockSize, mode }] of cells.entries()) {
      progress.show(index, `${blockSize} ${mode.label}`);
      // Lets the terminal be written and Ctrl-C be heard.
      await turn();
      if (stopped()) return false;
      const limit = { seconds: secondsMax, bytesPerSecond };
      const cell = {
        fd: /** @type {number} */ (descriptors.of(mode)),
        block: (mode.aligned ? blocks.aligned : blocks.unaligned).subarray(0, blockSize),
        count:
          secondsMax === Infinity
            ? fullCount(blockSize, mode, span)
            : boundedCount(blockSize, mode, span, limit),
        secondsMax: staysInCache(mode) ? Infinity : secondsMax,
        sync: mode.sync,
      };
      const writing = `writing ${blockSize} bytes at a time on ${name} (${mode.label})`;
      const measured = explained(writing, () => measure(cell));
      progress.clear();
      result(resultLine(blockSize, name, mode, measured.bytes, measured.seconds));
      if (measured.writes < FEW) few.push(`  ${fewLine(blockSize, mode, measured)}`);
    }
  } finally {
    progress.clear();
    if (few.length > 0) note([ofFew(few.length), ...few].join('\n'));
  }
  return true;
}

/**
 * What a step comes to, or its error with what was tried.
 *
 * @template T
 * @param {string} tried
 * @param {() => T} step
 * @returns {T}
 */
function explained(tried, step) {
  try {
    return step();
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw new Error(`${tried} failed: ${message}`, { cause: error });
  }
}

/**
 * @param {number} cells
 * @param {number | undefined} seconds
 */
function amounts(cells, seconds) {
  const time = seconds === undefined ? 'in the amounts of the original' : `in at most about ${seconds} s`;
  return `${cells} results ${time}; MB is 2^20 bytes here, as in the original`;
}

/** @param {number} count */
function ofFew(count) {
  const results = count === 1 ? '1 result rests' : `${count} results rest`;
  return (
    `${results} on fewer than ${FEW} writes, and mean${count === 1 ? 's' : ''} little: more time ` +
    '(--time, --full) gives more writes. Here are the slowest and the fastest write of each:'
  );
}

/**
 * The same bytes at an address that is aligned and at one that is not. They are
 * random: some drives do less for what they can compress.
 *
 * @param {number} length in bytes
 * @param {number} alignment in bytes
 */
function memory(length, alignment) {
  const aligned = randomFillSync(getAlignedBuffer(length, alignment));
  const unaligned = getAlignedBuffer(length + 1, alignment).subarray(1);
  aligned.copy(unaligned);
  return { aligned, unaligned };
}

module.exports = { run };
