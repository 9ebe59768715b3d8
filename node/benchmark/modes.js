'use strict';

// The write matrix of the original benchmark: 14 block sizes, 21 modes, and how
// much each of the 294 cells writes. Pure: nothing here opens or measures.

const KIB = 1024;
const MIB = 1024 * KIB;

/** What a cell writes at most, in bytes. */
const TOTAL = 128 * MIB;

/** 4 KiB to 32 MiB, in bytes. */
const BLOCK_SIZES = Array.from({ length: 14 }, (_, power) => (4 * KIB) << power);

/**
 * How what was written is brought down.
 *
 * @typedef {object} Sync
 * @property {string} label
 * @property {'O_DSYNC' | 'O_SYNC'} [flag] opened with it: each write brings its own data down
 * @property {'fdatasync' | 'fsync'} [each] called after each write
 * @property {'fdatasync' | 'fsync'} [end] called once, after the last write, and timed
 */

/** @type {Sync[]} */
const SYNCS = [
  { label: 'BUFFERED' },
  { label: 'AMORTIZED_FDATASYNC', end: 'fdatasync' },
  { label: 'AMORTIZED_FSYNC', end: 'fsync' },
  { label: 'FDATASYNC', each: 'fdatasync' },
  { label: 'FSYNC', each: 'fsync' },
  { label: 'O_DSYNC', flag: 'O_DSYNC' },
  { label: 'O_SYNC', flag: 'O_SYNC' },
];

/**
 * One column of the matrix.
 *
 * @typedef {object} Mode
 * @property {string} label as the results print it
 * @property {boolean} aligned the memory lies as direct I/O wants it
 * @property {boolean} direct past the page cache
 * @property {Sync} sync
 */

/** @type {Mode[]} */
const MODES = SYNCS.flatMap((sync) => [
  { label: sync.label, aligned: false, direct: false, sync },
  { label: `${sync.label} + ALIGNED`, aligned: true, direct: false, sync },
  {
    label: sync.label === 'BUFFERED' ? 'O_DIRECT' : `${sync.label} + O_DIRECT`,
    aligned: true,
    direct: true,
    sync,
  },
]);

/**
 * Whether each write waits until the device has it.
 *
 * @param {Mode} mode
 */
function syncsEachWrite({ sync }) {
  return sync.each !== undefined || sync.flag !== undefined;
}

/**
 * Whether what is written stays in the page cache until the end of the cell.
 *
 * @param {Mode} mode
 */
function staysInCache(mode) {
  return !mode.direct && !syncsEachWrite(mode);
}

/**
 * How many writes the original makes in a cell: all of the total, but where each
 * write is synced no more than one for every 32 bytes of the block.
 *
 * For example at 4 KiB 32768 writes, synced one by one 128; at 1 MiB 128 in
 * either case.
 *
 * @param {number} blockSize in bytes
 * @param {Mode} mode
 * @param {number} [span] what there is to write on, in bytes
 */
function fullCount(blockSize, mode, span = TOTAL) {
  const all = Math.floor(Math.min(TOTAL, span) / blockSize);
  return syncsEachWrite(mode) ? Math.min(blockSize / 32, all) : all;
}

/**
 * How many writes a cell may make in about so much time.
 *
 * What stays in the cache takes its time when the cell is over, so the rate at
 * which the device takes data bounds it. Everything else is stopped by the clock
 * and has the count of the original.
 *
 * @param {number} blockSize in bytes
 * @param {Mode} mode
 * @param {number} span in bytes
 * @param {{ seconds: number, bytesPerSecond: number }} limit
 */
function boundedCount(blockSize, mode, span, { seconds, bytesPerSecond }) {
  const full = fullCount(blockSize, mode, span);
  if (!staysInCache(mode)) return full;
  return Math.max(1, Math.min(full, Math.floor((seconds * bytesPerSecond) / blockSize)));
}

/**
 * A result, as the original prints it.
 *
 * @param {number} blockSize in bytes
 * @param {string} name of what was written on
 * @param {Mode} mode
 * @param {number} bytes written
 * @param {number} seconds
 */
function resultLine(blockSize, name, mode, bytes, seconds) {
  const rate = (bytes / MIB / seconds).toFixed(2);
  return `${blockSize} | ${name} | ${mode.label} | ${rate} MB/s`;
}

/**
 * What a result of few writes rests on. The rates are those of the slowest and of
 * the fastest write; what a sync at the end took cannot be told apart by writes.
 *
 * For example of 4 writes of 1 MiB, of 8 to 20 ms: `4 writes, 50.00 to 125.00 MB/s`.
 *
 * @param {number} blockSize in bytes
 * @param {Mode} mode
 * @param {{ writes: number, fastest: number, slowest: number }} measured in seconds
 */
function fewLine(blockSize, mode, { writes, fastest, slowest }) {
  const count = writes === 1 ? '1 write' : `${writes} writes`;
  const rate = (/** @type {number} */ seconds) => (blockSize / MIB / seconds).toFixed(2);
  const end = mode.sync.end === undefined ? '' : ` and one ${mode.sync.end}`;
  const spread = end !== '' || writes === 1 ? '' : `, ${rate(slowest)} to ${rate(fastest)} MB/s`;
  return `${blockSize} ${mode.label}: ${count}${end}${spread}`;
}

module.exports = {
  BLOCK_SIZES,
  MIB,
  MODES,
  TOTAL,
  boundedCount,
  fewLine,
  fullCount,
  resultLine,
  staysInCache,
};
