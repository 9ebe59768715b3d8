'use strict';

// The asynchronous functions of @ronomon/direct-io 3.0.1: the same arguments,
// checks, order of checks and messages, with callbacks and with promises. What
// is new is what errors carry beside their message, and that a device without a
// serial number is answered for.

const { fstatSync } = require('node:fs');
const { constants } = require('node:os');
const { badArguments, isFlag, isInt } = require('./arguments.js');
const { deliver } = require('./callback.js');
const { coded, reported } = require('./errors.js');
const native = require('./native.js');

/**
 * @typedef {import('./binding').Fault} Fault
 * @typedef {import('../index').BlockDevice} BlockDevice
 */

/**
 * @param {number} fd
 * @returns {Promise<BlockDevice>}
 */
async function blockDevice(fd) {
  const { value, fault } = await native.geometry(fd);
  if (fault !== undefined) throw reported(fault, aboutDevice(fd, fault));
  const geometry = /** @type {import('../index').Geometry} */ (value);
  return {
    logicalSectorSize: geometry.logicalSectorSize,
    physicalSectorSize: geometry.physicalSectorSize,
    size: geometry.size,
    serialNumber: geometry.serialNumber ?? '',
  };
}

/**
 * @param {number} fd
 * @param {Fault} fault
 * @returns {string}
 */
function aboutDevice(fd, fault) {
  if (process.platform === 'win32') {
    // `EBADF: bad file descriptor` is the native half's own message.
    return fault.operation === undefined ? fault.message : `${request(fault)} failed`;
  }
  let kind;
  try {
    kind = fstatSync(fd);
  } catch {
    return 'fstat failed';
  }
  if (!kind.isBlockDevice() && !kind.isCharacterDevice()) {
    return 'fd is not a block or character device';
  }
  // A character device on Linux is refused before it is asked anything.
  const asked = fault.operation === 'geometry' ? 'BLKSSZGET' : request(fault);
  return `${asked} failed`;
}

/**
 * The request of an operation: BLKSSZGET of `ioctl BLKSSZGET`.
 *
 * @param {Fault} fault
 */
function request(fault) {
  return (fault.operation || '').split(' ').at(-1);
}

/** @type {ReadonlyArray<[keyof typeof constants.errno, string]>} */
const FLOCK_ERRORS = [
  ['EWOULDBLOCK', 'the file is already locked'],
  ['EBADF', 'fd is an invalid file descriptor'],
  ['EINTR', 'the call was interrupted by a signal'],
  ['EINVAL', 'fd does not refer to a file'],
  ['ENOTSUP', 'fd is not of the correct type'],
];

/**
 * @param {Fault} fault
 * @returns {string}
 */
function aboutFlock(fault) {
  const known = FLOCK_ERRORS.find(([name]) => fault.errno === -constants.errno[name]);
  if (known === undefined) return 'unable to obtain an exclusive lock';
  return known.join(', ');
}

/**
 * @param {Fault} fault
 * @returns {string}
 */
function aboutNoCache(fault) {
  const badDescriptor = fault.errno === -constants.errno.EBADF;
  return badDescriptor ? 'EBADF: bad file descriptor, fcntl' : 'unexpected error, fcntl';
}

/**
 * @param {Fault} fault
 * @returns {string}
 */
function aboutVolume(fault) {
  return fault.operation === undefined ? fault.message : `${request(fault)} failed`;
}

/**
 * One of the three functions that set something on an open file, for callbacks
 * and for promises.
 *
 * @param {string} name
 * @param {string | undefined} unsupported why this system has no such thing
 * @param {(fd: number, value: boolean) => Promise<import('./binding').Outcome<void>>} set
 * @param {(fault: Fault) => string} about
 */
function setter(name, unsupported, set, about) {
  /**
   * @param {number} fd
   * @param {number} value
   * @returns {Promise<void>}
   */
  async function done(fd, value) {
    const { fault } = await set(fd, value === 1);
    if (fault !== undefined) throw reported(fault, about(fault));
  }

  /** @param {Function} above */
  function refuseIfUnsupported(above) {
    if (unsupported !== undefined) {
      throw coded('ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', unsupported, above);
    }
  }

  /** @param {any[]} args */
  function withCallback(...args) {
    refuseIfUnsupported(withCallback);
    const [fd, value, callback] = args;
    if (args.length !== 3 || !isInt(fd) || !isFlag(value) || typeof callback !== 'function') {
      throw badArguments('(fd, value=0/1, callback)', withCallback);
    }
    deliver(done(fd, value), callback);
  }

  /** @param {any[]} args */
  async function withPromise(...args) {
    refuseIfUnsupported(withPromise);
    const [fd, value] = args;
    if (args.length !== 2 || !isInt(fd) || !isFlag(value)) {
      throw badArguments('(fd, value=0/1)', withPromise);
    }
    await done(fd, value);
  }

  for (const made of [withCallback, withPromise]) {
    Object.defineProperty(made, 'name', { value: name });
  }
  return { withCallback, withPromise };
}

/** @param {any[]} args */
function getBlockDevice(...args) {
  const [fd, callback] = args;
  if (args.length !== 2 || !isInt(fd) || typeof callback !== 'function') {
    throw badArguments('(fd, callback)', getBlockDevice);
  }
  deliver(blockDevice(fd), callback);
}

/** @param {any[]} args */
async function getBlockDevicePromise(...args) {
  const [fd] = args;
  if (args.length !== 1 || !isInt(fd)) throw badArguments('(fd)', getBlockDevicePromise);
  return blockDevice(fd);
}
Object.defineProperty(getBlockDevicePromise, 'name', { value: 'getBlockDevice' });

const setF_NOCACHE = setter(
  'setF_NOCACHE',
  process.platform === 'darwin' ? undefined : 'only supported on mac os',
  native.setNoCache,
  aboutNoCache,
);
const setFlock = setter(
  'setFlock',
  process.platform === 'win32' ? 'not supported on windows' : undefined,
  native.setFileLock,
  aboutFlock,
);
const setFSCTL_LOCK_VOLUME = setter(
  'setFSCTL_LOCK_VOLUME',
  process.platform === 'win32' ? undefined : 'only supported on windows',
  native.setVolumeLock,
  aboutVolume,
);

module.exports = {
  callbacks: {
    getBlockDevice,
    setF_NOCACHE: setF_NOCACHE.withCallback,
    setFlock: setFlock.withCallback,
    setFSCTL_LOCK_VOLUME: setFSCTL_LOCK_VOLUME.withCallback,
  },
  promises: {
    getBlockDevice: getBlockDevicePromise,
    setF_NOCACHE: setF_NOCACHE.withPromise,
    setFlock: setFlock.withPromise,
    setFSCTL_LOCK_VOLUME: setFSCTL_LOCK_VOLUME.withPromise,
  },
};
