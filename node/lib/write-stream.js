'use strict';

// A stream into a file from any place on. What is written is gathered in memory
// that fits the file, and goes out in whole blocks; a large chunk that lies as the
// file asks, as those of a DirectReadStream do, goes out of its own memory. Of the
// first and the last
// block, where the stream begins or ends within one, what the file has there
// is read and written with them; and where the file ended before the last block
// did, it is cut to where the stream ends.

const { Writable } = require('node:stream');
const { checkedOptions, isDurability } = require('./arguments.js');
const { stays } = require('./memory.js');
const native = require('./native.js');
const { CHUNK, STREAM_OPTIONS, destroyed, roundUp, stepOf } = require('./stream-options.js');

const WRITE_OPTIONS = { ...STREAM_OPTIONS, durability: isDurability };

class DirectWriteStream extends Writable {
  /** @type {import('./direct-file.js').DirectFile} */
  #file;
  #step;
  /** What has not gone out yet: the first `#gathered` bytes of it. */
  #memory;
  #gathered;
  /** Where the memory belongs in the file: a multiple of the step. */
  #at;
  /** @type {import('../index').Durability} */
  #durability;
  #autoClose;
  #start;
  /** How many bytes it was given. */
  #taken = 0;

  /**
   * @param {import('./direct-file.js').DirectFile} file
   * @param {unknown} options
   */
  constructor(file, options) {
    const {
      start = 0,
      highWaterMark = CHUNK,
      durability = 'none',
      autoClose = true,
      signal,
    } = checkedOptions(options, WRITE_OPTIONS);
    super({ highWaterMark, signal });
    this.#file = file;
    this.#step = stepOf(file.alignment);
    this.#memory = file.allocate(roundUp(Math.max(highWaterMark, 1), this.#step));
    this.#start = start;
    this.#gathered = start % this.#step;
    this.#at = start - this.#gathered;
    this.#durability = durability;
    this.#autoClose = autoClose;
  }

  get path() {
    return this.#file.path;
  }

  get bytesWritten() {
    // The first block and the last may have bytes that are not of this stream.
    return Math.max(0, Math.min(this.#at - this.#start, this.#taken));
  }

  /** @param {(error?: Error | null) => void} callback */
  _construct(callback) {
    this.#readHead().then(() => callback(), callback);
  }

  /**
   * @param {Buffer} chunk
   * @param {BufferEncoding} encoding
   * @param {(error?: Error | null) => void} callback
   */
  _write(chunk, encoding, callback) {
    this.#gather(chunk).then(() => callback(), callback);
  }

  /** @param {(error?: Error | null) => void} callback */
  _final(callback) {
    this.#writeTail().then(() => callback(), callback);
  }

  /**
   * @param {Error | null} error
   * @param {(error?: Error | null) => void} callback
   */
  _destroy(error, callback) {
    destroyed(this.#file, this.#autoClose, error, callback);
  }

  /** What the file has in the first block before the stream begins; zeros if it ends before. */
  async #readHead() {
    if (this.#gathered === 0) return;
    await this.#file.read(this.#memory.subarray(0, this.#step), this.#at);
  }

  /** @param {Buffer} chunk */
  async #gather(chunk) {
    for (let rest = chunk; rest.length > 0; ) {
      const straight = this.#straight(rest);
      const moved = straight > 0 ? straight : rest.copy(this.#memory, this.#gathered);
      this.#taken += moved;
      if (straight > 0) {
        await this.#send(rest.subarray(0, straight));
      } else {
        this.#gathered += moved;
        if (this.#gathered === this.#memory.length) await this.#send(this.#memory);
      }
      rest = rest.subarray(moved);
    }
  }

  /**
   * How many bytes of a chunk can go out of its own memory: whole blocks, and no
   * fewer than are gathered otherwise.
   *
   * @param {Buffer} chunk
   */
  #straight(chunk) {
    const fits =
      this.#gathered === 0 &&
      chunk.length >= this.#memory.length &&
      native.misalignment(chunk, this.#file.alignment.memory) === 0 &&
      stays(chunk);
    return fits ? chunk.length - (chunk.length % this.#step) : 0;
  }

  /** @param {Buffer} blocks all that was gathered, or what need not be */
  async #send(blocks) {
    await this.#file.write(blocks, this.#at, { durability: this.#durability });
    this.#at += blocks.length;
    this.#gathered = 0;
  }

  async #writeTail() {
    if (this.#gathered === 0) return;
    const end = this.#at + this.#gathered;
    const length = roundUp(this.#gathered, this.#step);
    const blocks = this.#memory.subarray(0, length);
    if (length === this.#gathered) {
      await this.#send(blocks);
      return;
    }
    const size = await this.#file.size();
    const last = this.#memory.subarray(length - this.#step, length);
    const used = this.#step - (length - this.#gathered);
    last.fill(0, used);
    if (size > end) {
      const there = this.#file.allocate(this.#step);
      await this.#file.read(there, this.#at + length - this.#step);
      there.copy(last, used, used);
    }
    await this.#send(blocks);
    if (size >= this.#at) return;
    await this.#file.truncate(Math.max(size, end));
    if (this.#durability !== 'none') await this.#file.sync('data');
  }
}

module.exports = { DirectWriteStream };
