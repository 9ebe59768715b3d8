'use strict';

// Programs that tests run, and what is missing where they cannot.

const { spawnSync } = require('node:child_process');

/** A test cannot run here; the message says what it needs. */
class Missing extends Error {}

/** Runs a program; its standard output, or an error with everything it said. */
function run(program, args, options = {}) {
  const done = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 << 20, ...options });
  if (done.error !== undefined) throw done.error;
  if (done.status !== 0) {
    throw new Error(
      `${program} ${args.join(' ')} ended with ${done.status ?? done.signal}:\n` +
        `${done.stdout}${done.stderr}`,
    );
  }
  return done.stdout;
}

/** As run, for a program that not every machine has. */
function tool(program, debianPackage, args, options) {
  try {
    return run(program, args, options);
  } catch (error) {
    if (error.code === 'ENOENT') {
      throw new Missing(`${program}: apt-get install ${debianPackage}`);
    }
    throw error;
  }
}

function needLinux() {
  if (process.platform !== 'linux') throw new Missing('Linux: this test asks its kernel');
}

function needRoot() {
  needLinux();
  if (process.getuid() !== 0) throw new Missing('root: run the tests as root (sudo)');
}

/**
 * A test that skips visibly when what it needs is missing.
 *
 * `node --test` counts it as skipped, and prints the reason.
 */
function whereItCanRun(body) {
  return async (t) => {
    try {
      await body(t);
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      t.skip(error.message);
    }
  };
}

module.exports = { Missing, needLinux, needRoot, run, tool, whereItCanRun };
