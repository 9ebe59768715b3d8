'use strict';

// A file that is made to be measured on: nameless, and gone with the process.

const fs = require('node:fs');
const { join } = require('node:path');
const { Descriptors } = require('./descriptors.js');
const { BLOCK_SIZES, MIB, TOTAL } = require('./modes.js');
const { Refusal } = require('./refusal.js');
const { size } = require('./words.js');

/** Left free for others: a twentieth of the filesystem, at least this, in bytes. */
const RESERVE_MIN = 16 * MIB;

/**
 * @param {string} folder
 * @param {string} name in the results
 * @returns {Promise<import('./target.js').Target>}
 */
async function makeOwnFile(folder, name) {
  const shown = folder === '.' ? 'the current folder' : folder;
  const { span, path, made } = make(folder, shown);
  let descriptors;
  try {
    descriptors = await Descriptors.open(path, fs.fstatSync(made, { bigint: true }));
  } finally {
    fs.unlinkSync(path);
    fs.closeSync(made);
  }
  return {
    name,
    about: `${size(span)} in ${shown}, in a file without a name`,
    span,
    descriptors,
    async finish() {
      descriptors.close();
    },
  };
}

/**
 * @param {string} folder
 * @param {string} shown how it is called in messages
 */
function make(folder, shown) {
  try {
    const span = room(folder, shown);
    const path = join(fs.realpathSync(folder), `.direct-io-benchmark-${process.pid}`);
    // Fails if the name is there, a symbolic link included.
    return { span, path, made: fs.openSync(path, 'wx', 0o600) };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(
      `no file can be made in ${shown}: ${/** @type {Error} */ (error).message}. Name a folder ` +
        'that you may write to',
    );
  }
}

/**
 * How large the file may become, in bytes.
 *
 * @param {string} folder
 * @param {string} shown
 */
function room(folder, shown) {
  // Node 18.15 and later.
  if (fs.statfsSync === undefined) return TOTAL;
  const { bsize, blocks, bavail } = fs.statfsSync(folder);
  // ramfs and its like do not count.
  if (blocks === 0) return TOTAL;
  const span = spanIn(bsize * blocks, bsize * bavail);
  if (span < BLOCK_SIZES[0]) {
    throw new Refusal(
      `${shown} has ${size(bsize * bavail)} free, and a part of that stays free for others: make ` +
        'room, or name another folder',
    );
  }
  return span;
}

/**
 * @param {number} total the size of the filesystem, in bytes
 * @param {number} available to us, in bytes
 */
function spanIn(total, available) {
  const reserve = Math.min(Math.max(total / 20, RESERVE_MIN), total / 4);
  const most = Math.floor((available - reserve) / BLOCK_SIZES[0]) * BLOCK_SIZES[0];
  return Math.max(0, Math.min(TOTAL, most));
}

module.exports = { makeOwnFile, spanIn };
