'use strict';

// The systems that the native half is built for before anybody asks, each in a
// package of its own: npm installs the one that fits, by `os`, `cpu` and `libc`.

const { readFileSync } = require('node:fs');

/** The oldest glibc that is asked for, of 2012: RHEL 7 has it, Debian 8 a later one. */
const GLIBC = '2.17';

/**
 * @typedef {object} Target
 * @property {string} name as lib/binary.js puts it together from what Node says
 * @property {string} triple what Rust calls it
 * @property {string} os as npm calls it
 * @property {string} cpu
 * @property {'glibc' | 'musl'} [libc]
 */

/** @type {readonly Target[]} */
const TARGETS = [
  { name: 'linux-x64-gnu', triple: 'x86_64-unknown-linux-gnu', os: 'linux', cpu: 'x64', libc: 'glibc' },
  { name: 'linux-x64-musl', triple: 'x86_64-unknown-linux-musl', os: 'linux', cpu: 'x64', libc: 'musl' },
  { name: 'linux-arm64-gnu', triple: 'aarch64-unknown-linux-gnu', os: 'linux', cpu: 'arm64', libc: 'glibc' },
  { name: 'linux-arm64-musl', triple: 'aarch64-unknown-linux-musl', os: 'linux', cpu: 'arm64', libc: 'musl' },
  { name: 'darwin-x64', triple: 'x86_64-apple-darwin', os: 'darwin', cpu: 'x64' },
  { name: 'darwin-arm64', triple: 'aarch64-apple-darwin', os: 'darwin', cpu: 'arm64' },
  // Node-API is plain C, and no memory or file of a C runtime goes across it: so
  // that of MinGW, which can be linked with anywhere, serves as well as Microsoft's.
  { name: 'win32-x64', triple: 'x86_64-pc-windows-gnu', os: 'win32', cpu: 'x64' },
];

/**
 * The newest version of glibc that a binary asks for, as `2.17`: ELF names each in
 * its table of strings. `undefined` for one that asks for none.
 *
 * @param {string} path
 */
function glibcNeeded(path) {
  const names = readFileSync(path, 'latin1').matchAll(/GLIBC_(\d+\.\d+(?:\.\d+)?)\0/g);
  const versions = Array.from(names, ([, version]) => version).sort(byVersion);
  return versions.at(-1);
}

/**
 * @param {string} one
 * @param {string} other
 */
function byVersion(one, other) {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number));
  const at = a.findIndex((number, index) => number !== b[index]);
  return at < 0 ? a.length - b.length : a[at] - (b[at] ?? -1);
}

module.exports = { GLIBC, TARGETS, byVersion, glibcNeeded };
