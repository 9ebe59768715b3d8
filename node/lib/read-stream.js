'use strict';

// A range of a file as a stream of chunks: each is read in whole blocks, and
// given without what of them lies outside of the range.

const { Readable } = require('node:stream');
const { checkedOptions, checkedPosition } = require('./arguments.js');
const { CHUNK, STREAM_OPTIONS, destroyed, roundUp, stepOf } = require('./stream-options.js');

const READ_OPTIONS = {
  ...STREAM_OPTIONS,
  /** @param {unknown} value */
  end: (value) => void (value === Infinity || checkedPosition(value, 'end')),
};

class DirectReadStream extends Readable {
  /** @type {import('./direct-file.js').DirectFile} */
  #file;
  #step;
  #chunk;
  #at;
  /** The first byte behind the range. */
  #end;
  #autoClose;

  bytesRead = 0;

  /**
   * @param {import('./direct-file.js').DirectFile} file
   * @param {unknown} options
   */
  constructor(file, options) {
    const {
      start = 0,
      end = Infinity,
      highWaterMark = CHUNK,
      autoClose = true,
      signal,
    } = checkedOptions(options, READ_OPTIONS);
    super({ highWaterMark, signal });
    this.#file = file;
    this.#step = stepOf(file.alignment);
    this.#chunk = roundUp(Math.max(highWaterMark, 1), this.#step);
    this.#at = start;
    // As in Node's fs, the last byte is a part of the range.
    this.#end = end + 1;
    this.#autoClose = autoClose;
  }

  get path() {
    return this.#file.path;
  }

  _read() {
    this.#next().catch((error) => this.destroy(error));
  }

  async #next() {
    if (this.#at >= this.#end) {
      this.push(null);
      return;
    }
    const from = this.#at - (this.#at % this.#step);
    const wanted = Math.min(this.#chunk, roundUp(this.#end - from, this.#step));
    const buffer = this.#file.allocate(wanted);
    const count = await this.#file.read(buffer, from);
    const chunk = buffer.subarray(this.#at - from, Math.min(count, this.#end - from));
    this.#at += chunk.length;
    this.bytesRead += chunk.length;
    // Nothing more is the end, as in Node's fs: a file may grow meanwhile.
    this.push(chunk.length > 0 ? chunk : null);
  }

  /**
   * @param {Error | null} error
   * @param {(error?: Error | null) => void} callback
   */
  _destroy(error, callback) {
    destroyed(this.#file, this.#autoClose, error, callback);
  }
}

module.exports = { DirectReadStream };
