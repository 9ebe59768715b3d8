'use strict';

// Puts the source of the native half into the package, for systems that no binary
// was made for: `source/` is a workspace of the two crates, as they lie in the
// project. npm runs this before it packs.

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const { join } = require('node:path');

const PROJECT = join(__dirname, '..', '..');
const SOURCE = join(__dirname, '..', 'source');

/** What of each crate is compiled, or read by what is. */
const CRATES = {
  'crates/direct': ['src', 'README.md', 'guide.md', 'LICENSE-APACHE', 'LICENSE-MIT'],
  'node/addon': ['src', 'build.rs'],
};

/** Sections of a manifest that have to do with other crates, or with tests. */
const LEFT_OUT = /^\[(?:profile\.|.*dev-dependencies\]|\[(?:bench|example|test)\])/;

/**
 * A manifest without what is left out.
 *
 * @param {string} text
 */
function trimmed(text) {
  return text
    .split(/^(?=\[)/m)
    .filter((section) => !LEFT_OUT.test(section))
    .join('');
}

/**
 * The manifest of the workspace, of the two crates alone.
 *
 * @param {string} text
 */
function workspace(text) {
  const members = `members = [${Object.keys(CRATES).map((crate) => `"${crate}"`).join(', ')}]`;
  return trimmed(text)
    .replace(/^members = .*$/m, members)
    .replace(/^default-members = .*\n/m, '')
    .replace(/^diskfacts-.*\n/gm, '');
}

function run() {
  fs.rmSync(SOURCE, { recursive: true, force: true });
  for (const [crate, parts] of Object.entries(CRATES)) {
    const [from, to] = [PROJECT, SOURCE].map((folder) => join(folder, crate));
    fs.mkdirSync(to, { recursive: true });
    const manifest = fs.readFileSync(join(from, 'Cargo.toml'), 'utf8');
    fs.writeFileSync(join(to, 'Cargo.toml'), trimmed(manifest));
    for (const part of parts) {
      // Licences are links to those of the project.
      fs.cpSync(join(from, part), join(to, part), { recursive: true, dereference: true });
    }
  }
  const text = fs.readFileSync(join(PROJECT, 'Cargo.toml'), 'utf8');
  fs.writeFileSync(join(SOURCE, 'Cargo.toml'), workspace(text));
  fs.copyFileSync(join(PROJECT, 'Cargo.lock'), join(SOURCE, 'Cargo.lock'));
  // Takes out of the lock what only other crates need. It changes no version, and
  // fetches no crate, as cargo metadata would.
  execFileSync(process.env.CARGO || 'cargo', ['update', '--workspace', '--quiet'], {
    cwd: SOURCE,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

if (require.main === module) run();

module.exports = { SOURCE };
