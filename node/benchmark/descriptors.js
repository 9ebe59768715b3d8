'use strict';

// The same file or disk, opened once in every way that the modes ask for.
//
// All are opened before the first result: so a file of our own can lose its name
// at once, and no result begins with what opening costs.

const fs = require('node:fs');
const { O_DIRECT, O_DSYNC, O_SYNC, promises } = require('..');

/** @typedef {import('./modes.js').Mode} Mode */

const { O_RDWR, O_NOFOLLOW = 0 } = fs.constants;
const MAC = process.platform === 'darwin';

/** @type {ReadonlyArray<['' | 'O_DSYNC' | 'O_SYNC', number]>} */
const SYNC_FLAGS = [
  ['', 0],
  ['O_DSYNC', O_DSYNC],
  ['O_SYNC', O_SYNC],
];

class Descriptors {
  /** @type {Map<string, number>} */
  #open = new Map();
  /** Why there are none past the page cache. @type {string | undefined} */
  directRefused;

  /**
   * Opens a path for reading and writing in every way.
   *
   * @param {string} path not a symbolic link
   * @param {fs.BigIntStats} expected what must be found there
   */
  static async open(path, expected) {
    const all = new Descriptors();
    try {
      for (const direct of [false, true]) {
        for (const [name, flag] of SYNC_FLAGS) await all.#add(path, expected, direct, name, flag);
      }
    } catch (error) {
      all.close();
      throw error;
    }
    return all;
  }

  /**
   * @param {string} path
   * @param {fs.BigIntStats} expected
   * @param {boolean} direct
   * @param {string} name
   * @param {number} flag
   */
  async #add(path, expected, direct, name, flag) {
    if (name !== '' && flag === 0) return;
    if (direct && O_DIRECT === 0 && !MAC) {
      this.directRefused = 'this system has no O_DIRECT';
      return;
    }
    let fd;
    try {
      fd = fs.openSync(path, O_RDWR | O_NOFOLLOW | flag | (direct ? O_DIRECT : 0));
    } catch (error) {
      const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
      // The same open without the flag was granted.
      if (!direct || (code !== 'EINVAL' && code !== 'ENOTSUP')) throw error;
      this.directRefused = `the filesystem refuses O_DIRECT (${message})`;
      return;
    }
    this.#open.set(key(direct, name), fd);
    if (!same(fs.fstatSync(fd, { bigint: true }), expected)) {
      throw new Error(`${path} became another file while it was opened; nothing was written`);
    }
    if (direct && MAC) await promises.setF_NOCACHE(fd, 1);
  }

  /**
   * @param {Mode} mode
   * @returns {number | undefined} nothing where this system cannot
   */
  of({ direct, sync }) {
    return this.#open.get(key(direct, sync.flag ?? ''));
  }

  /** Through the page cache, without a promise. */
  get plain() {
    return /** @type {number} */ (this.#open.get(key(false, '')));
  }

  close() {
    for (const fd of this.#open.values()) fs.closeSync(fd);
    this.#open.clear();
  }
}

/**
 * @param {boolean} direct
 * @param {string} flag
 */
function key(direct, flag) {
  return `${direct} ${flag}`;
}

/**
 * @param {fs.BigIntStats} one
 * @param {fs.BigIntStats} other
 */
function same(one, other) {
  return one.dev === other.dev && one.ino === other.ino && one.rdev === other.rdev;
}

module.exports = { Descriptors, same };
