'use strict';

// What is new beside @ronomon/direct-io for files that are opened with Node's
// own fs: questions about them and their disks, and writes that are durable one
// by one.

const {
  checkedBuffer,
  checkedFd,
  checkedPath,
  checkedPosition,
  checkedWord,
} = require('./arguments.js');
const { settled } = require('./errors.js');
const { sent } = require('./memory.js');
const native = require('./native.js');

/**
 * @param {number} fd
 * @returns {Promise<import('../index').Geometry>}
 */
async function getGeometry(fd) {
  return settled(native.geometry(checkedFd(fd)));
}

/**
 * @param {string | Uint8Array | URL} path
 * @returns {Promise<import('../index').DeviceUnder>}
 */
async function getGeometryUnder(path) {
  return settled(native.geometryUnder(checkedPath(path)));
}

/**
 * @param {string | Uint8Array | URL | number} pathOrFd
 * @returns {Promise<import('../index').DirectIOAlignment>}
 */
async function getDirectIOAlignment(pathOrFd) {
  return settled(
    typeof pathOrFd === 'number'
      ? native.alignmentOfDescriptor(checkedFd(pathOrFd))
      : native.alignmentOfPath(checkedPath(pathOrFd)),
  );
}

/**
 * @param {number} fd
 * @param {NodeJS.ArrayBufferView} buffer
 * @param {number} position
 * @param {'data' | 'full'} [durability]
 * @returns {Promise<number>}
 */
async function writeDurable(fd, buffer, position, durability = 'data') {
  const file = checkedFd(fd);
  const bytes = checkedBuffer(buffer);
  const to = checkedPosition(position);
  const level = checkedWord('durability', ['data', 'full'], durability);
  if (bytes.length === 0) return 0;
  return sent([bytes], ([memory]) => settled(native.writeDurable(file, memory, to, level)));
}

module.exports = { getDirectIOAlignment, getGeometry, getGeometryUnder, writeDurable };
