'use strict';

// Loads the native half (the folder `addon` of the project).

const { existsSync, readdirSync } = require('node:fs');
const { FOLDER, binaryPath, targets } = require('./binary.js');
const { coded } = require('./errors.js');

/** @returns {import('./binding').Native} */
function load() {
  let refusal;
  for (const target of targets()) {
    const path = binaryPath(target);
    if (!existsSync(path)) continue;
    try {
      return require(path);
    } catch (error) {
      refusal = error;
    }
  }
  const present = existsSync(FOLDER) ? readdirSync(FOLDER).join(', ') : 'no system at all';
  const error = coded(
    'ERR_NO_BINARY',
    `@diskfacts/direct-io is installed here with binaries for ${present}, and this is ` +
      `${targets().join(' or ')}; build one in a checkout of the project (npm run build, which ` +
      'needs Rust)',
  );
  if (refusal !== undefined) error.cause = refusal;
  throw error;
}

module.exports = load();
