'use strict';

// Between this package and the FileHandles of Node's fs.
//
// A FileHandle cannot be made of a descriptor, nor be opened for direct I/O
// afterwards; but the system opens a file again by its descriptor, with flags of
// its own and without its name.

const { constants, promises: fs } = require('node:fs');
const { invalid, isInt } = require('./arguments.js');
const { coded } = require('./errors.js');
const { O_DIRECT, O_DSYNC, O_SYNC } = require('./native.js');

/** Where a system shows the descriptors of a process as files. */
const FOLDERS = new Map([
  ['linux', '/proc/self/fd'],
  ['android', '/proc/self/fd'],
  ['darwin', '/dev/fd'],
  ['freebsd', '/dev/fd'],
]);

const FLAGS = { none: 0, data: O_DSYNC, full: O_SYNC };

/**
 * @param {unknown} handle
 * @returns {{ fd: number }}
 */
function handleOf(handle) {
  const { fd } = /** @type {{ fd?: unknown }} */ (handle ?? {});
  if (!isInt(fd)) {
    const what = 'handle must be a FileHandle that is open';
    throw invalid('ERR_INVALID_ARG_TYPE', what, handle);
  }
  return { fd };
}

/**
 * The path by which an open file is opened again.
 *
 * @param {number | null} fd
 * @param {string} method
 */
function pathOf(fd, method) {
  const folder = FOLDERS.get(process.platform);
  if (folder === undefined || fd === null) {
    throw coded(
      'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
      `${method} is not possible on ${process.platform}, which opens no file by its descriptor`,
    );
  }
  return `${folder}/${fd}`;
}

/**
 * The name of the file behind such a path, where the system tells it.
 *
 * @param {string} path
 */
async function targetOf(path) {
  // On other systems it is no link (EINVAL), and the name is not told.
  return process.platform === 'linux' ? fs.readlink(path) : path;
}

/**
 * Opens a file as it is open.
 *
 * @param {string} path
 * @param {import('../index').Granted} granted
 * @param {boolean} reads
 */
function openAgain(path, granted, reads) {
  const { O_RDONLY, O_RDWR, O_WRONLY } = constants;
  const access = granted.write ? (reads ? O_RDWR : O_WRONLY) : O_RDONLY;
  const direct = granted.direct ? O_DIRECT : 0;
  return fs.open(path, access | direct | FLAGS[granted.durability]);
}

module.exports = { handleOf, openAgain, pathOf, targetOf };
