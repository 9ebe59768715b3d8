'use strict';

// Builds the native half for all systems, each into a package of its own that is
// ready to be published:
//
//   node distribution/packages.js [TARGET...]   packages/<target>/
//
// needs Rust with their targets (rustup target add ...); for Linux and macOS
// cargo-zigbuild, which brings a linker and the C libraries of all of them (pip
// install cargo-zigbuild); for Windows MinGW (apt-get install gcc-mingw-w64-x86-64).

const fs = require('node:fs');
const { join } = require('node:path');
const { builtLibrary, cargo } = require('../build.js');
const { packageName } = require('../lib/binary.js');
const main = require('../package.json');
const { GLIBC, TARGETS, byVersion, glibcNeeded } = require('./targets.js');

const PACKAGE = join(__dirname, '..');
const FOLDER = join(PACKAGE, 'packages');
const BINARY = 'direct-io.node';

/** @typedef {import('./targets.js').Target} Target */

/**
 * The manifest of the package for one system.
 *
 * @param {Target} target
 */
function manifest({ name, os, cpu, libc }) {
  return {
    name: packageName(name),
    version: main.version,
    description: `The native half of ${main.name} for ${name}`,
    license: main.license,
    engines: main.engines,
    os: [os],
    cpu: [cpu],
    ...(libc === undefined ? {} : { libc: [libc] }),
    main: BINARY,
    files: [BINARY, 'LICENSE-*'],
    publishConfig: main.publishConfig,
  };
}

/**
 * The library for one system, as cargo has built it.
 *
 * @param {Target} target
 */
function build({ os, triple, libc }) {
  const glibc = libc === 'glibc' ? `.${GLIBC}` : '';
  const messages = cargo(
    [
      // zig finds no import library of Node, which napi asks for and which may be empty.
      os === 'win32' ? 'build' : 'zigbuild',
      '--release',
      '--locked',
      '--message-format=json-render-diagnostics',
      '--target',
      `${triple}${glibc}`,
    ],
    // On musl Rust links everything into one program, and makes no library.
    libc === 'musl' ? { RUSTFLAGS: '-C target-feature=-crt-static' } : {},
  );
  return builtLibrary(messages);
}

/**
 * Fails for a binary that would not load where its package is installed.
 *
 * @param {Target} target
 * @param {string} library
 */
function check({ libc }, library) {
  const needed = glibcNeeded(library);
  if (libc !== 'glibc') {
    if (needed !== undefined) throw new Error(`it needs glibc ${needed}, and there is none`);
  } else if (needed === undefined || byVersion(needed, GLIBC) > 0) {
    throw new Error(`it needs glibc ${needed}, and is to run with ${GLIBC}`);
  }
}

/**
 * Writes the package of one system.
 *
 * @param {Target} target
 */
function make(target) {
  const library = build(target);
  check(target, library);
  const folder = join(FOLDER, target.name);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  fs.copyFileSync(library, join(folder, BINARY));
  for (const name of ['LICENSE-APACHE', 'LICENSE-MIT']) {
    fs.copyFileSync(join(PACKAGE, name), join(folder, name));
  }
  fs.writeFileSync(
    join(folder, 'README.md'),
    `# ${packageName(target.name)}\n\nThe native half of [${main.name}](https://www.npmjs.com/package/` +
      `${main.name}) for ${target.name}. npm installs it with that package.\n`,
  );
  const text = JSON.stringify(manifest(target), undefined, 2);
  fs.writeFileSync(join(folder, 'package.json'), `${text}\n`);
  return fs.statSync(library).size;
}

/** @param {string[]} names */
function run(names) {
  const unknown = names.filter((name) => !TARGETS.some((target) => target.name === name));
  if (unknown.length > 0) {
    const known = TARGETS.map(({ name }) => name).join(', ');
    throw new Error(`there is no target ${unknown.join(', ')}; there are ${known}`);
  }
  const wanted = TARGETS.filter(({ name }) => names.length === 0 || names.includes(name));
  const lines = wanted.map((target) => {
    console.error(`== ${target.name}`);
    try {
      return [target.name, `${(make(target) / 1024).toFixed(0)} KiB`];
    } catch (error) {
      process.exitCode = 1;
      return [target.name, `not built: ${why(target, /** @type {Error} */ (error))}`];
    }
  });
  for (const [name, said] of lines) console.log(`${name.padEnd(17)} ${said}`);
  if (process.exitCode === 1) {
    console.log(
      '\nWhat was not built has to be built where it can be, with the same command, before the\n' +
        'package is published: npm installs no other in its place.',
    );
  }
}

/**
 * @param {Target} target
 * @param {Error} error
 */
function why({ os, triple }, error) {
  // The compiler's own words stand above.
  if (!error.message.startsWith('Command failed')) return error.message;
  const linker =
    os === 'win32' ? 'apt-get install gcc-mingw-w64-x86-64' : 'pip install cargo-zigbuild';
  return `see above; it needs rustup target add ${triple}, and ${linker}`;
}

if (require.main === module) run(process.argv.slice(2));

module.exports = { FOLDER, manifest };
