#!/usr/bin/env node
'use strict';

// Builds the native half for this system from its source, and puts it where
// lib/native.js looks first:
//
//   node build.js         in a checkout of the project
//   npx direct-io-build   where the package is installed
//
// It needs Rust's cargo, and the network for the crates that cargo does not have.

const { execFileSync } = require('node:child_process');
const { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } = require('node:fs');
const os = require('node:os');
const { dirname, join } = require('node:path');
const { binaryPath, targets } = require('./lib/binary.js');

/** A package that is installed has a copy of the source. */
const INSTALLED = !existsSync(join(__dirname, 'addon'));
const ADDON = INSTALLED ? join(__dirname, 'source', 'node', 'addon') : join(__dirname, 'addon');

/** Too little was there to begin: the message says all that is to be known. */
class Refusal extends Error {}

/**
 * What cargo prints on standard output.
 *
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env] more of it
 */
function cargo(args, env) {
  const program = process.env.CARGO || 'cargo';
  try {
    return execFileSync(program, args, {
      cwd: ADDON,
      // The release profile of the workspace keeps line tables for its own
      // command; what is packed for others is smaller without.
      env: { ...process.env, CARGO_PROFILE_RELEASE_STRIP: 'symbols', ...env },
      encoding: 'utf8',
      maxBuffer: 64 << 20,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code !== 'ENOENT') throw error;
    throw new Refusal(
      `${program} is not here: install Rust 1.95 or later (https://rustup.rs), then do this again`,
    );
  }
}

/**
 * The library among the messages of `cargo build --message-format=json...`.
 *
 * @param {string} messages
 */
function builtLibrary(messages) {
  const built = messages
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .flatMap((line) => JSON.parse(line).filenames || [])
    .find((file) => /\b(?:lib)?diskfacts_node\.(?:so|dylib|dll)$/.test(file));
  if (built === undefined) throw new Error('cargo built no library');
  return built;
}

/** Builds for this system; the path of the binary. */
function build() {
  // On Linux there are two targets, and cargo builds for its own C library.
  const [first, second = first] = targets();
  const musl = /^host: .*musl/m.test(cargo(['-vV']));
  const binary = binaryPath(musl ? second : first);
  // A package that is installed is no place for what cargo leaves.
  const own = INSTALLED && process.env.CARGO_TARGET_DIR === undefined;
  const folder = own ? mkdtempSync(join(os.tmpdir(), 'direct-io-build-')) : undefined;
  try {
    const messages = cargo(
      ['build', '--release', '--locked', '--message-format=json-render-diagnostics'],
      {
        ...(folder === undefined ? {} : { CARGO_TARGET_DIR: folder }),
        // On musl Rust links everything into one program, and makes no library.
        ...(musl ? { RUSTFLAGS: '-C target-feature=-crt-static' } : {}),
      },
    );
    mkdirSync(dirname(binary), { recursive: true });
    // A process that has the old file loaded keeps it: the name moves on, the bytes stay.
    copyFileSync(builtLibrary(messages), `${binary}.new`);
    renameSync(`${binary}.new`, binary);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
  return binary;
}

const USAGE = `usage: npx direct-io-build

Builds the binary of @diskfacts/direct-io for this system, in a minute, and puts it into
the package. It needs Rust (https://rustup.rs), and the network for the crates.`;

/** @param {string[]} args */
function main(args) {
  if (args.length === 1 && ['-h', '--help'].includes(args[0])) {
    console.log(USAGE);
    return;
  }
  if (args.length > 0) throw new Refusal(`it takes no ${args[0]}\n${USAGE}`);
  console.log(`built ${build()}`);
}

if (require.main === module) {
  try {
    main(process.argv.slice(2));
  } catch (error) {
    // What cargo has to say stands above already.
    console.error(`direct-io-build: ${/** @type {Error} */ (error).message}`);
    process.exitCode = error instanceof Refusal ? 2 : 1;
  }
}

module.exports = { build, builtLibrary, cargo };
