'use strict';

// Loads the native half (the folder `addon` of the project).

const { existsSync } = require('node:fs');
const { binaryPath, packageName, targets } = require('./binary.js');
const { coded } = require('./errors.js');

/** @returns {import('./binding').Native} */
function load() {
  const refusals = [];
  for (const target of targets()) {
    // What was built here goes before what was installed.
    for (const name of [binaryPath(target), packageName(target)]) {
      if (name === binaryPath(target) && !existsSync(name)) continue;
      try {
        return require(name);
      } catch (error) {
        const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
        if (code === 'MODULE_NOT_FOUND') continue;
        refusals.push(`${name} does not load: ${message}`);
      }
    }
  }
  throw coded('ERR_NO_BINARY', missing(refusals));
}

/** @param {string[]} refusals of binaries that are there */
function missing(refusals) {
  const names = targets();
  const lines = [
    `@diskfacts/direct-io has no binary here for ${names.join(' or ')}`,
    ...refusals,
    'If there is one, npm has left it out, with --omit=optional or by a lock file of another ' +
      `system: npm install ${names.map(packageName).join(' or ')}`,
    'If there is none, build it, which needs Rust (https://rustup.rs): npx direct-io-build',
  ];
  return lines.join('\n');
}

module.exports = load();
