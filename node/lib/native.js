'use strict';

// Loads the native half (the folder `addon` of the project).

const { existsSync } = require('node:fs');
const { binaryPath, packageName, targets } = require('./binary.js');
const { coded } = require('./errors.js');
const { optionalDependencies } = require('../package.json');

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
  const known = targets()
    .map(packageName)
    .filter((name) => Object.hasOwn(optionalDependencies, name));
  const install = [
    'npm leaves it out with --omit=optional, and by a lock file of another system. Install it:',
    ...known.map((name) => `  npm install ${name}`),
    'Or build it, with Rust (https://rustup.rs):',
  ];
  const build = ['There is none for this system. Build it, with Rust (https://rustup.rs):'];
  return [
    `@diskfacts/direct-io has no binary here for ${targets().join(' or ')}.`,
    ...refusals,
    ...(known.length > 0 ? install : build),
    '  npx direct-io-build',
  ].join('\n');
}

module.exports = load();
