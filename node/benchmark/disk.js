'use strict';

// A disk that was named as what may be overwritten.
//
// There are too many kinds of data to know them all. So the rule is: what is
// overwritten holds nothing but zeros, as does the last MiB, where RAID members
// and partition tables keep a copy; and zeros are put back in the end. Then
// nothing can be lost, and the next run begins as this one.

const fs = require('node:fs');
const { DirectFile } = require('..');
const { Descriptors } = require('./descriptors.js');
const { BLOCK_SIZES, MIB, TOTAL } = require('./modes.js');
const { Refusal } = require('./refusal.js');
const { size } = require('./words.js');

const LINUX_ONLY =
  'this benchmark writes to disks on Linux only, where it can be sure that nobody uses them. Name ' +
  'a folder on it';

/**
 * @param {string} path its real path
 * @param {string} name in the results
 * @param {fs.BigIntStats} found what lies there
 * @returns {Promise<import('./target.js').Target>}
 */
async function openDisk(path, name, found) {
  if (process.platform !== 'linux') {
    throw new Refusal(`${path} is a disk: ${LINUX_ONLY}`);
  }
  // Keeps out mounts and everybody else who asks, for as long as it is open;
  // fails if somebody is there, and says who.
  const claim = await DirectFile.open(path, { write: true, direct: 'off', exclusive: true }).catch(
    (error) => {
      if (error.code === 'EBUSY') throw new Refusal(`${path} is in use: ${error.message}`);
      throw error;
    },
  );
  try {
    const { write, writeRefused } = claim.granted;
    if (!write) throw new Refusal(`${path} cannot be written: ${writeRefused}`);
    const end = await claim.size();
    const span = Math.min(TOTAL, end - (end % BLOCK_SIZES[0]));
    if (span === 0) throw new Refusal(`${path} has ${end} bytes: too few for one block`);
    await refuseData(claim, path, end, span);
    const descriptors = await Descriptors.open(path, found);
    return {
      name,
      about: `${path}, of which the first ${size(span)} are overwritten, and zeroed in the end`,
      span,
      descriptors,
      async finish() {
        try {
          putZerosBack(descriptors.plain, span);
        } catch (error) {
          const { message } = /** @type {Error} */ (error);
          throw new Error(`putting zeros back on ${path} failed: ${message}`, { cause: error });
        } finally {
          descriptors.close();
          await claim.close();
        }
      },
    };
  } catch (error) {
    await claim.close();
    throw error;
  }
}

/**
 * @param {DirectFile} disk
 * @param {string} path
 * @param {number} end its size in bytes
 * @param {number} span in bytes
 */
async function refuseData(disk, path, end, span) {
  const tail = Math.max(span, end - MIB);
  const found = (await firstByte(disk, 0, span)) ?? (await firstByte(disk, tail, end));
  if (found === undefined) return;
  throw new Refusal(
    `${path} is not written: byte ${found} is not 0. Only a disk that holds nothing but zeros in ` +
      `its first ${size(span)} and in its last MiB is written, so that no data can be lost; what a ` +
      'killed run has left is no zeros either. If all that it holds may be lost:\n' +
      `  ${zeroing(path, 0, span)}` +
      (tail < end ? `\n  ${zeroing(path, tail, end - tail)}` : ''),
  );
}

/**
 * What to type to have zeros there.
 *
 * @param {string} path
 * @param {number} offset in bytes
 * @param {number} length in bytes
 */
function zeroing(path, offset, length) {
  return (
    `dd if=/dev/zero of=${path} bs=1M iflag=count_bytes count=${length} ` +
    `oflag=seek_bytes seek=${offset} conv=notrunc,fsync`
  );
}

/**
 * Where the first byte that is not 0 lies between two offsets.
 *
 * @param {DirectFile} disk
 * @param {number} from
 * @param {number} to
 */
async function firstByte(disk, from, to) {
  const chunk = disk.allocate(MIB);
  const zeros = Buffer.alloc(MIB);
  for (let offset = from; offset < to; offset += MIB) {
    const part = chunk.subarray(0, Math.min(MIB, to - offset));
    const read = await disk.read(part, offset);
    if (read !== part.length) throw new Error(`reading ${disk.path} ended at ${offset + read}`);
    if (!part.equals(zeros.subarray(0, part.length))) {
      return offset + part.findIndex((byte) => byte !== 0);
    }
  }
  return undefined;
}

/**
 * @param {number} fd
 * @param {number} span in bytes
 */
function putZerosBack(fd, span) {
  const zeros = Buffer.alloc(MIB);
  for (let offset = 0; offset < span; ) {
    offset += fs.writeSync(fd, zeros, 0, Math.min(MIB, span - offset), offset);
  }
  fs.fsyncSync(fd);
}

module.exports = { LINUX_ONLY, openDisk };
