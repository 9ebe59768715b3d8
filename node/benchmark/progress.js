'use strict';

// A line on the terminal that says how far it is, and is gone in the end. Where
// standard error is no terminal nothing is shown.

class Progress {
  #stream;
  #total;
  #begun = Date.now();

  /**
   * @param {NodeJS.WriteStream} stream
   * @param {number} total
   */
  constructor(stream, total) {
    this.#stream = stream.isTTY ? stream : undefined;
    this.#total = total;
  }

  /**
   * @param {number} done
   * @param {string} now what is measured at the moment
   */
  show(done, now) {
    const left = timeLeft(done, this.#total, (Date.now() - this.#begun) / 1000);
    const line = `${done} of ${this.#total}${left}: ${now}`;
    this.#stream?.write(`\r\x1b[K${line.slice(0, (this.#stream.columns || 80) - 1)}`);
  }

  clear() {
    this.#stream?.write('\r\x1b[K');
  }
}

/**
 * @param {number} done
 * @param {number} total
 * @param {number} seconds since the beginning
 */
function timeLeft(done, total, seconds) {
  if (done === 0) return '';
  const left = Math.ceil((seconds / done) * (total - done));
  return left < 90 ? `, ${left} s left` : `, ${Math.ceil(left / 60)} min left`;
}

module.exports = { Progress, timeLeft };
