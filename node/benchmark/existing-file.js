'use strict';

// A file that is there, and was named as what may be overwritten. It keeps its
// size.

const fs = require('node:fs');
const { join } = require('node:path');
const { Descriptors, same } = require('./descriptors.js');
const { BLOCK_SIZES, TOTAL } = require('./modes.js');
const { Refusal } = require('./refusal.js');
const { size } = require('./words.js');

/**
 * @param {string} path its real path
 * @param {string} name in the results
 * @param {fs.BigIntStats} found what lies there
 * @returns {Promise<import('./target.js').Target>}
 */
async function openExistingFile(path, name, found) {
  if (found.size < BigInt(BLOCK_SIZES[0])) {
    throw new Refusal(
      `${path} has ${found.size} bytes and keeps that size, and the smallest block has ` +
        `${BLOCK_SIZES[0]}. Name its folder to measure on a file made for it`,
    );
  }
  const user = userOf(found);
  if (user !== undefined) throw new Refusal(`${path} is not written: ${user}`);
  const descriptors = await Descriptors.open(path, found).catch((error) => {
    throw new Refusal(`${path} is not written: ${error.message}`);
  });
  const span = Math.min(TOTAL, Number(found.size));
  return {
    name,
    about: `${path}, of which the first ${size(span)} are overwritten`,
    span,
    descriptors,
    async finish() {
      descriptors.close();
    },
  };
}

/**
 * Who stands on a file: a loop device. (What is swapped to, Linux itself does not
 * let be written, since 5.4.)
 *
 * @param {fs.BigIntStats} file
 * @returns {string | undefined}
 */
function userOf(file) {
  if (process.platform !== 'linux') return undefined;
  for (const device of fs.readdirSync('/sys/block')) {
    const backing = contents(join('/sys/block', device, 'loop', 'backing_file'));
    if (backing !== undefined && isAt(backing.trimEnd(), file)) {
      return `the loop device /dev/${device} stands on it (losetup --detach /dev/${device})`;
    }
  }
  return undefined;
}

/**
 * @param {string} path
 * @param {fs.BigIntStats} file
 */
function isAt(path, file) {
  const there = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  return there !== undefined && same(there, file);
}

/** @param {string} path */
function contents(path) {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch (error) {
    // No loop device, or one without a file.
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return undefined;
    throw error;
  }
}

module.exports = { openExistingFile };
