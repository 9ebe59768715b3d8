'use strict';

// What is written on, and whether it may be.

const fs = require('node:fs');
const { dirname } = require('node:path');
const { LINUX_ONLY, openDisk } = require('./disk.js');
const { openExistingFile } = require('./existing-file.js');
const { makeOwnFile } = require('./own-file.js');
const { Refusal } = require('./refusal.js');

/**
 * @typedef {object} Target
 * @property {string} name in the results
 * @property {string} about what it is and what becomes of it
 * @property {number} span how many bytes are written on, from the start
 * @property {import('./descriptors.js').Descriptors} descriptors
 * @property {() => Promise<void>} finish puts back what is to be put back, and closes
 */

/**
 * @param {string} path
 * @param {string | undefined} destroy what may be overwritten
 * @returns {Promise<Target>}
 */
async function openTarget(path, destroy) {
  if (process.platform === 'win32' && /^[\\/]{2}[.?][\\/]/.test(path)) {
    throw new Refusal(`${path} is a disk: ${LINUX_ONLY}`);
  }
  const found = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) {
    if (destroy !== undefined) {
      throw new Refusal(
        `${path} is ${found === undefined ? 'not there' : 'a folder'}: a file of its own is made, ` +
          'and nothing destroyed; leave --destroy-data-on away',
      );
    }
    if (found === undefined) return makeOwnFile(dirname(path), path);
    return makeOwnFile(path, path === '.' ? 'file' : path);
  }
  if (!found.isFile() && !isDisk(path, found)) {
    throw new Refusal(`${path} is neither a folder nor a file nor a disk`);
  }
  const real = fs.realpathSync(path);
  if (destroy === undefined) {
    throw new Refusal(
      `${path} is there, and would be overwritten: all that it holds is lost. If that is meant:\n` +
        `  --destroy-data-on ${path}\n` +
        'To measure on a file made for it, name a folder.',
    );
  }
  if (!fs.existsSync(destroy) || fs.realpathSync(destroy) !== real) {
    throw new Refusal(
      `--destroy-data-on names ${destroy}, but what would be written is ${real}; nothing was ` +
        'written. Name the same',
    );
  }
  return found.isFile() ? openExistingFile(real, path, found) : openDisk(real, path, found);
}

/**
 * @param {string} path
 * @param {fs.BigIntStats} found
 */
function isDisk(path, found) {
  if (process.platform === 'linux') return found.isBlockDevice();
  // macOS and FreeBSD show disks as character devices.
  return found.isBlockDevice() || (found.isCharacterDevice() && path.startsWith('/dev/'));
}

module.exports = { openTarget };
