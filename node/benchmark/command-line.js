'use strict';

const { BLOCK_SIZES, MODES } = require('./modes.js');
const { Refusal } = require('./refusal.js');

/** What the whole matrix takes by default, in seconds. */
const SECONDS_DEFAULT = 150;

const USAGE = `\
node benchmark.js [PATH] [OPTION...]

Writes in ${BLOCK_SIZES.length} block sizes and ${MODES.length} modes, and prints how fast each was.

PATH   a folder (default: the current one) or a new name: a file of its own is
       made there, without a name, and is gone when this ends.
       A file or a disk that is there is overwritten, and therefore refused,
       but with:

  --destroy-data-on PATH  overwrite this file or disk, and lose what it holds.
                          A disk must not be in use, and must hold only zeros
                          where it is written; they are put back.
  --time SECONDS          at most about so long (default ${SECONDS_DEFAULT}); each result is
                          cut to its share
  --full                  write as much as the original benchmark does, however
                          long that takes: at most 128 MiB for each result
  --block-min=BYTES, --block-max=BYTES
                          only the block sizes from, up to
  --help                  this

Results go to standard output, everything else to standard error.
Exit codes: 0 measured, 1 something failed, 2 wrong call or refused, 130 stopped
by Ctrl-C.
`;

/**
 * @typedef {object} Wanted
 * @property {boolean} help
 * @property {string} path
 * @property {string | undefined} destroy
 * @property {number | undefined} seconds for the whole matrix; not said: the full amounts
 * @property {number[]} blockSizes
 */

/**
 * What the arguments ask for.
 *
 * @param {string[]} args
 * @returns {Wanted}
 */
function parse(args) {
  /** @type {Map<string, string>} */
  const options = new Map();
  /** @type {string[]} */
  const paths = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at];
    if (!arg.startsWith('-')) {
      paths.push(arg);
      continue;
    }
    const [, name, value] = /^([^=]*)(?:=(.*))?$/s.exec(arg) ?? [];
    if (options.has(name)) throw new Refusal(`${name} is given twice`);
    if (name === '--help' || name === '--full') {
      if (value !== undefined) throw new Refusal(`${name} takes no value`);
      options.set(name, '');
    } else if (['--destroy-data-on', '--time', '--block-min', '--block-max'].includes(name)) {
      const given = value ?? args[(at += 1)];
      if (given === undefined) throw new Refusal(`${name} needs a value`);
      options.set(name, given);
    } else {
      throw new Refusal(`there is no option ${name}; see --help`);
    }
  }
  if (paths.length > 1) throw new Refusal(`one path, please, and not ${paths.join(' and ')}`);
  if (paths[0] === '') throw new Refusal('the path is empty');
  if (options.has('--full') && options.has('--time')) {
    throw new Refusal('--full takes the time that it takes: leave --time away');
  }
  return {
    help: options.has('--help'),
    path: paths[0] ?? '.',
    destroy: options.get('--destroy-data-on'),
    seconds: options.has('--full') ? undefined : seconds(options.get('--time')),
    blockSizes: blockSizes(options.get('--block-min'), options.get('--block-max')),
  };
}

/** @param {string | undefined} text */
function seconds(text) {
  if (text === undefined) return SECONDS_DEFAULT;
  const number = /^\d+(\.\d+)?s?$/.test(text) ? Number.parseFloat(text) : NaN;
  if (!(number > 0 && number <= 86_400)) {
    throw new Refusal(`--time ${text}: a number of seconds, above 0 and at most 86400`);
  }
  return number;
}

/**
 * @param {string | undefined} min
 * @param {string | undefined} max
 */
function blockSizes(min, max) {
  const smallest = BLOCK_SIZES[0];
  const largest = BLOCK_SIZES[BLOCK_SIZES.length - 1];
  const [from, to] = [
    ['--block-min', min, smallest],
    ['--block-max', max, largest],
  ].map(([name, text, otherwise]) => {
    if (text === undefined) return Number(otherwise);
    const bytes = /^\d+$/.test(String(text)) ? Number(text) : NaN;
    if (!(bytes >= smallest && bytes <= largest)) {
      throw new Refusal(`${name} ${text}: a number of bytes, from ${smallest} to ${largest}`);
    }
    return bytes;
  });
  const sizes = BLOCK_SIZES.filter((size) => from <= size && size <= to);
  if (sizes.length === 0) {
    throw new Refusal(
      `no block size lies between --block-min ${from} and --block-max ${to}: they are the powers ` +
        `of 2 from ${smallest} to ${largest}`,
    );
  }
  return sizes;
}

module.exports = { SECONDS_DEFAULT, USAGE, parse };
