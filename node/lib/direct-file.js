'use strict';

// A file for direct I/O that cannot be misused: no descriptor to close twice or
// too early, no transfer that is misaligned, half done, or in a buffer that is
// in use, no option that is misspelt.

const {
  checkedBuffer,
  checkedOptions,
  checkedPath,
  checkedPosition,
  checkedWord,
  isBoolean,
  isInt,
} = require('./arguments.js');
const { ALIGNMENT_MIN } = require('./aligned-buffer.js');
const { coded, settled } = require('./errors.js');
const { filled, lentBuffer, sent } = require('./memory.js');
const native = require('./native.js');

/** @type {readonly ['none', 'data', 'full']} */
const DURABILITIES = ['none', 'data', 'full'];
/** @type {readonly ['data', 'all', 'medium']} */
const DEPTHS = ['data', 'all', 'medium'];
/** @type {readonly ['required', 'preferred', 'off']} */
const DIRECT = ['required', 'preferred', 'off'];

/** @param {unknown} value */
const isDurability = (value) => checkedWord('durability', DURABILITIES, value);

const OPEN_OPTIONS = {
  read: isBoolean('read'),
  write: isBoolean('write'),
  create: isBoolean('create'),
  createNew: isBoolean('createNew'),
  truncate: isBoolean('truncate'),
  exclusive: isBoolean('exclusive'),
  /** @param {unknown} value */
  direct: (value) => void checkedWord('direct', DIRECT, value),
  durability: (/** @type {unknown} */ value) => void isDurability(value),
};

const WRITE_OPTIONS = { durability: OPEN_OPTIONS.durability };

/** Known to this module only: so only `open` can construct. */
const OPENED = Symbol('opened');

class DirectFile {
  /** @type {import('./binding').OpenFile} */
  #file;
  /** @type {string} */
  #name;
  /** How many operations are not done yet. */
  #running = 0;
  /** @type {Promise<void> | undefined} */
  #closing;
  /** @type {(() => void) | undefined} */
  #whenIdle;

  /**
   * @param {symbol} opened
   * @param {import('./binding').OpenFile} file
   * @param {string} name
   */
  constructor(opened, file, name) {
    if (opened !== OPENED) {
      throw coded(
        'ERR_ILLEGAL_CONSTRUCTOR',
        'a DirectFile is opened: await DirectFile.open(path)',
        DirectFile,
      );
    }
    this.#file = file;
    this.#name = name;
    this.granted = Object.freeze(file.granted);
    this.alignment = Object.freeze(file.alignment);
  }

  /**
   * @param {string | Uint8Array | URL} path
   * @param {import('../index').DirectFileOptions} [options]
   * @returns {Promise<DirectFile>}
   */
  static async open(path, options) {
    const bytes = checkedPath(path);
    const request = {
      read: true,
      write: false,
      create: false,
      createNew: false,
      truncate: false,
      direct: 'required',
      durability: 'none',
      ...checkedOptions(options, OPEN_OPTIONS),
    };
    const file = await settled(
      native.open(bytes, /** @type {import('./binding').Request} */ (request)),
    );
    return new DirectFile(OPENED, file, Buffer.from(bytes).toString());
  }

  get path() {
    return this.#name;
  }

  get closed() {
    return this.#closing !== undefined;
  }

  /**
   * @param {number} size
   * @returns {Buffer}
   */
  allocate(size) {
    const { length, memory } = this.alignment;
    const rounded = isInt(size) ? Math.ceil(size / length) * length : size;
    return lentBuffer(rounded, Math.max(memory, ALIGNMENT_MIN), this.allocate);
  }

  /**
   * @param {Uint8Array} buffer
   * @param {number} position
   * @returns {Promise<number>}
   */
  async read(buffer, position) {
    const bytes = checkedBuffer(buffer);
    const from = checkedPosition(position);
    return filled(bytes, (memory) => this.#run('read', () => this.#file.read(memory, from)));
  }

  /**
   * @param {Uint8Array} buffer
   * @param {number} position
   * @param {{ durability?: import('../index').Durability }} [options]
   * @returns {Promise<void>}
   */
  async write(buffer, position, options) {
    const bytes = checkedBuffer(buffer);
    const to = checkedPosition(position);
    const { durability = 'none' } = checkedOptions(options, WRITE_OPTIONS);
    return sent(bytes, (memory) =>
      this.#run('write', () => this.#file.write(memory, to, durability)),
    );
  }

  /**
   * @param {import('../index').SyncDepth} [depth]
   * @returns {Promise<void>}
   */
  async sync(depth = 'medium') {
    const known = checkedWord('depth', DEPTHS, depth);
    return this.#run('sync', () => this.#file.sync(known));
  }

  /** @returns {Promise<number>} */
  async size() {
    return this.#run('size', () => this.#file.size());
  }

  /** @returns {Promise<void>} */
  close() {
    this.#closing ??= this.#closeWhenIdle();
    return this.#closing;
  }

  async #closeWhenIdle() {
    if (this.#running > 0) {
      await new Promise((resolve) => {
        this.#whenIdle = () => resolve(undefined);
      });
    }
    await settled(this.#file.close());
  }

  /**
   * @template T
   * @param {string} operation
   * @param {() => Promise<import('./binding').Outcome<T>>} start
   * @returns {Promise<T>}
   */
  async #run(operation, start) {
    if (this.#closing !== undefined) {
      const error = coded('EBADF', `${operation} is not possible on ${this.#name}: it is closed`);
      error.syscall = operation;
      error.path = this.#name;
      throw error;
    }
    this.#running += 1;
    try {
      return await settled(start());
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#whenIdle?.();
    }
  }
}

// For `await using`, on runtimes that know it.
if (Symbol.asyncDispose !== undefined) {
  Object.defineProperty(DirectFile.prototype, Symbol.asyncDispose, {
    value: DirectFile.prototype.close,
    configurable: true,
    writable: true,
  });
}

module.exports = { DirectFile };
