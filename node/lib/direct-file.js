'use strict';

// A file for direct I/O that cannot be misused: no descriptor to close twice or
// too early, no transfer that is misaligned, half done, or in a buffer that is
// in use, no option that is misspelt.

const {
  checkedBuffer,
  checkedBuffers,
  checkedOptions,
  checkedPath,
  checkedPosition,
  checkedWord,
  isBoolean,
  isDurability,
  isSignal,
} = require('./arguments.js');
const { stoppable } = require('./abort.js');
const { aborted, coded, refusal, settled } = require('./errors.js');
const { handleOf, openAgain, pathOf, targetOf } = require('./file-handle.js');
const { fileBuffer, filled, sent } = require('./memory.js');
const native = require('./native.js');
const { DirectReadStream } = require('./read-stream.js');
const { DirectWriteStream } = require('./write-stream.js');

/**
 * @typedef {import('./buffers-in-use.js').Bytes} Bytes
 * @typedef {import('../index').Abortable} Abortable
 * @typedef {import('../index').WriteOptions} WriteOptions
 */

/** @type {readonly ['data', 'all', 'medium']} */
const DEPTHS = ['data', 'all', 'medium'];
/** @type {readonly ['required', 'preferred', 'off']} */
const DIRECT = ['required', 'preferred', 'off'];

const OPEN_OPTIONS = {
  read: isBoolean('read'),
  write: isBoolean('write'),
  create: isBoolean('create'),
  createNew: isBoolean('createNew'),
  truncate: isBoolean('truncate'),
  exclusive: isBoolean('exclusive'),
  /** @param {unknown} value */
  direct: (value) => void checkedWord('direct', DIRECT, value),
  durability: isDurability,
  signal: isSignal,
};

const ABORTABLE = { signal: isSignal };
const WRITE_OPTIONS = { durability: isDurability, signal: isSignal };

/** An empty buffer lies nowhere, and moves nothing. */
const NOT_EMPTY = (/** @type {Bytes} */ bytes) => bytes.length > 0;

/** Known to this module only: so only `open` can construct. */
const OPENED = Symbol('opened');

class DirectFile {
  /** @type {import('./binding').OpenFile} */
  #file;
  /** @type {string} */
  #name;
  /** Whether it was opened for reading. */
  #reads;
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
   * @param {boolean} reads
   */
  constructor(opened, file, name, reads) {
    if (opened !== OPENED) {
      throw refusal(
        'ERR_ILLEGAL_CONSTRUCTOR',
        'a DirectFile is opened: await DirectFile.open(path)',
        DirectFile,
      );
    }
    this.#file = file;
    this.#name = name;
    this.#reads = reads;
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
    return DirectFile.#open(bytes, Buffer.from(bytes).toString(), options);
  }

  /**
   * @param {import('node:fs').promises.FileHandle} handle
   * @param {import('../index').DirectFileOptions} [options]
   * @returns {Promise<DirectFile>}
   */
  static async fromFileHandle(handle, options) {
    const path = pathOf(handleOf(handle).fd, 'fromFileHandle');
    return DirectFile.#open(Buffer.from(path), await targetOf(path), options);
  }

  /**
   * @param {Uint8Array} path
   * @param {string} name
   * @param {unknown} options
   */
  static async #open(path, name, options) {
    const { signal, ...wanted } = checkedOptions(options, OPEN_OPTIONS);
    if (signal?.aborted) throw aborted(signal);
    /** @type {import('./binding').Request} */
    const request = {
      read: true,
      write: false,
      create: false,
      createNew: false,
      truncate: false,
      direct: 'required',
      durability: 'none',
      ...wanted,
    };
    const file = new DirectFile(
      OPENED,
      await settled(native.open(path, request)),
      name,
      request.read,
    );
    if (!signal?.aborted) return file;
    await file.close();
    throw aborted(signal);
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
    return fileBuffer(size, this.alignment);
  }

  /**
   * @param {NodeJS.ArrayBufferView} buffer
   * @param {number} position
   * @param {Abortable} [options]
   * @returns {Promise<number>}
   */
  async read(buffer, position, options) {
    return this.#fill([checkedBuffer(buffer)], position, options);
  }

  /**
   * @param {readonly NodeJS.ArrayBufferView[]} buffers
   * @param {number} position
   * @param {Abortable} [options]
   * @returns {Promise<number>}
   */
  async readv(buffers, position, options) {
    return this.#fill(checkedBuffers(buffers), position, options);
  }

  /**
   * @param {NodeJS.ArrayBufferView} buffer
   * @param {number} position
   * @param {WriteOptions} [options]
   * @returns {Promise<void>}
   */
  async write(buffer, position, options) {
    return this.#send([checkedBuffer(buffer)], position, options);
  }

  /**
   * @param {readonly NodeJS.ArrayBufferView[]} buffers
   * @param {number} position
   * @param {WriteOptions} [options]
   * @returns {Promise<void>}
   */
  async writev(buffers, position, options) {
    return this.#send(checkedBuffers(buffers), position, options);
  }

  /**
   * @param {Bytes[]} buffers
   * @param {unknown} position
   * @param {unknown} options
   */
  async #fill(buffers, position, options) {
    const from = checkedPosition(position);
    const { signal } = checkedOptions(options, ABORTABLE);
    return this.#run('read', signal, (stop) =>
      filled(buffers.filter(NOT_EMPTY), (memory) => settled(this.#file.read(memory, from, stop))),
    );
  }

  /**
   * @param {Bytes[]} buffers
   * @param {unknown} position
   * @param {unknown} options
   */
  async #send(buffers, position, options) {
    const to = checkedPosition(position);
    const { durability = 'none', signal } = checkedOptions(options, WRITE_OPTIONS);
    return this.#run('write', signal, (stop) =>
      sent(buffers.filter(NOT_EMPTY), (memory) =>
        settled(this.#file.write(memory, to, durability, stop)),
      ),
    );
  }

  /**
   * @param {number} [length]
   * @param {Abortable} [options]
   * @returns {Promise<void>}
   */
  async truncate(length = 0, options) {
    const bytes = checkedPosition(length, 'length');
    const { signal } = checkedOptions(options, ABORTABLE);
    return this.#run('truncate', signal, (stop) => settled(this.#file.truncate(bytes, stop)));
  }

  /**
   * @param {import('../index').SyncDepth} [depth]
   * @param {Abortable} [options]
   * @returns {Promise<void>}
   */
  async sync(depth = 'medium', options) {
    const known = checkedWord('depth', DEPTHS, depth);
    const { signal } = checkedOptions(options, ABORTABLE);
    return this.#run('sync', signal, (stop) => settled(this.#file.sync(known, stop)));
  }

  /** @returns {Promise<number>} */
  async size() {
    return this.#run('size', undefined, () => settled(this.#file.size()));
  }

  /** @param {import('../index').ReadStreamOptions} [options] */
  createReadStream(options) {
    return new DirectReadStream(this, options);
  }

  /** @param {import('../index').WriteStreamOptions} [options] */
  createWriteStream(options) {
    return new DirectWriteStream(this, options);
  }

  /** @returns {Promise<import('node:fs').promises.FileHandle>} */
  async toFileHandle() {
    return this.#run('toFileHandle', undefined, () => {
      const path = pathOf(this.#file.descriptor, 'toFileHandle');
      return openAgain(path, this.granted, this.#reads);
    });
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
   * @param {AbortSignal | undefined} signal
   * @param {(stop: import('./binding').Stop | undefined) => Promise<T>} start
   * @returns {Promise<T>}
   */
  async #run(operation, signal, start) {
    if (this.#closing !== undefined) {
      const error = coded('EBADF', `${operation} is not possible on ${this.#name}: it is closed`);
      error.syscall = operation;
      error.path = this.#name;
      throw error;
    }
    this.#running += 1;
    try {
      return await stoppable(signal, start);
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
