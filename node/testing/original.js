'use strict';

// @ronomon/direct-io 3.0.1 itself, fetched when a test asks for it, and no part
// of this project.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { join } = require('node:path');
const { Missing, run } = require('./programs.js');
const { scratchFolder } = require('./scratch.js');

const NAME = '@ronomon/direct-io@3.0.1';

/** Of the published archive. */
const INTEGRITY =
  'sha512-NkKB32bjq7RfMdAMiWayphMlVWzsfPiKelK+btXLqggv1vDVgv2xELqeo0z4uYLLt86fVReLPxQj7qpg0zWvow==';

/** How npm is run: impatiently, so that a test without a network ends soon. */
const NPM_FLAGS = ['--no-audit', '--no-fund', '--fetch-retries=1', '--fetch-timeout=30000'];

function npm(args, cwd) {
  return run('npm', [...args, ...NPM_FLAGS], { cwd, shell: process.platform === 'win32' });
}

/** A package of the npm registry, as a file in the folder. */
function fetchPackage(name, integrity, folder) {
  let printed;
  try {
    printed = npm(['pack', name, '--json'], folder);
  } catch (error) {
    const code = /npm (?:ERR!|error) code (\w+)/.exec(error.message);
    throw new Missing(`the npm registry, for ${name}: ${code ? code[1] : error.message}`);
  }
  const [packed] = JSON.parse(printed);
  if (packed.integrity !== integrity) {
    throw new Error(`${name} came with ${packed.integrity} and was published with ${integrity}`);
  }
  return archivePath(folder, packed);
}

/** Where npm has put an archive: older ones print the name of a scoped package as it is. */
function archivePath(folder, { filename }) {
  return join(folder, filename.replace('@', '').replace('/', '-'));
}

let archive;

/** The published archive of the original, as a file; fetched once. */
function originalArchive() {
  archive ??= fetchPackage(NAME, INTEGRITY, scratchFolder());
  return archive;
}

/** A script of the original in a folder of its own, where our name leads to our package. */
function originalScript(name) {
  const folder = scratchFolder();
  run('tar', ['-xzf', originalArchive(), '-C', folder]);
  const modules = join(folder, 'node_modules', '@diskfacts');
  fs.mkdirSync(modules, { recursive: true });
  fs.symlinkSync(join(__dirname, '..'), join(modules, 'direct-io'), 'junction');
  const script = join(folder, 'package', name);
  const text = fs.readFileSync(script, 'utf8');
  assert.equal(text.split("require('.')").length, 2, 'it requires the package once');
  fs.writeFileSync(script, text.replace("require('.')", "require('@diskfacts/direct-io')"));
  return script;
}

module.exports = { archivePath, fetchPackage, npm, originalArchive, originalScript };
