'use strict';

/**
 * A size for people: `128 MiB`, `16.5 KiB`.
 *
 * @param {number} bytes
 */
function size(bytes) {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let number = bytes;
  let unit = 0;
  while (number >= 1024 && unit + 1 < units.length) {
    number /= 1024;
    unit += 1;
  }
  return `${Number(number.toFixed(1))} ${units[unit]}`;
}

/**
 * Text for 80 columns; lines that begin with a blank are left as they are, to be
 * copied.
 *
 * @param {string} text
 */
function wrapped(text) {
  return text
    .split('\n')
    .map((line) => (line.startsWith(' ') ? line : line.replace(/(.{1,79})(?: +|$)/g, '$1\n').trimEnd()))
    .join('\n');
}

module.exports = { size, wrapped };
