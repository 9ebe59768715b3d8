'use strict';

// Where the native half lies: for each system, processor and, on Linux, C library
// in a package of its own, or in a folder of this one where it was built from its
// source (build.js).

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

/**
 * The package with the binary for a target.
 *
 * @param {string} target
 */
function packageName(target) {
  return `@diskfacts/direct-io-${target}`;
}

module.exports = { binaryPath, packageName, targets };
