'use strict';

// Builds the native half and puts it where lib/native.js looks for it:
//
//   node build.js
//
// needs Rust's cargo, and no network once cargo has the crates.

const { execFileSync } = require('node:child_process');
const { copyFileSync, mkdirSync, renameSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { binaryPath, targets } = require('./lib/binary.js');

const LIBRARIES = { darwin: 'libdiskfacts_node.dylib', win32: 'diskfacts_node.dll' };

/** What cargo prints on standard output. */
function cargo(...args) {
  return execFileSync(process.env.CARGO || 'cargo', args, {
    cwd: join(__dirname, 'addon'),
    // The release profile of the workspace keeps line tables for its own
    // command; what is packed for others is smaller without.
    env: { ...process.env, CARGO_PROFILE_RELEASE_STRIP: 'symbols' },
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const library = LIBRARIES[process.platform] || 'libdiskfacts_node.so';
const built = cargo('build', '--release', '--locked', '--message-format=json-render-diagnostics')
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .flatMap((line) => JSON.parse(line).filenames || [])
  .find((file) => file.endsWith(library));
if (built === undefined) throw new Error(`cargo built no ${library}`);

// On Linux there are two targets, and cargo has built for its own C library.
const [first, second = first] = targets();
const binary = binaryPath(/^host: .*musl/m.test(cargo('-vV')) ? second : first);
mkdirSync(dirname(binary), { recursive: true });
// A process that has the old file loaded keeps it: the name moves on, the bytes stay.
copyFileSync(built, `${binary}.new`);
renameSync(`${binary}.new`, binary);
