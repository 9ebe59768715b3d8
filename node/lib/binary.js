'use strict';

// Where the native half lies: one folder for each system, processor and, on
// Linux, C library.

const { join } = require('node:path');

const FOLDER = join(__dirname, '..', 'binaries');

/**
 * The binary of a folder.
 *
 * @param {string} target
 */
function binaryPath(target) {
  return join(FOLDER, target, 'direct-io.node');
}

/**
 * The folders whose binary may run here, as `linux-x64-gnu` or `darwin-arm64`.
 *
 * Node does not say cheaply which C library it stands on. It need not: a binary
 * for the other one does not load.
 *
 * @returns {string[]}
 */
function targets() {
  const { platform, arch } = process;
  const target = `${platform}-${arch}`;
  return platform === 'linux' ? [`${target}-gnu`, `${target}-musl`] : [target];
}

module.exports = { FOLDER, binaryPath, targets };
