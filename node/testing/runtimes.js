'use strict';

// Other runtimes, as npm delivers them: how to have one, and what has to be so
// on each.

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const { join } = require('node:path');
const { originalScript } = require('./original.js');
const { Missing, run } = require('./programs.js');
const { directFolder } = require('./scratch.js');

const { platform, arch } = process;
const PACKAGE = join(__dirname, '..');
const ELSEWHERE = join(__dirname, 'elsewhere.cjs');

/** What was fetched is kept with what was compiled. */
const CACHE = join(PACKAGE, '..', 'target', 'runtimes');

/** How many tests the original has when it is tested by itself, on Linux. */
const ORIGINAL = 332;

/**
 * A program in a package of the npm registry. No script of the package is run:
 * those of Node, Bun and Deno have the program in a package for each system.
 *
 * @param {string} name
 * @param {string} version
 * @param {string} program its path in the package
 * @param {string[]} [flags] of npm
 */
function fetched(name, version, program, flags = []) {
  const folder = join(CACHE, `${name.replace('/', '+')}@${version}`);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1'];
  try {
    run('npm', ['install', ...quiet, ...flags, `${name}@${version}`], {
      cwd: folder,
      shell: platform === 'win32',
    });
  } catch (error) {
    const code = /npm (?:ERR!|error) code (\w+)/.exec(error.message);
    throw new Missing(`${name}@${version} of the npm registry: ${code ? code[1] : error.message}`);
  }
  return join(folder, 'node_modules', ...name.split('/'), program);
}

/** @param {string} version as npm takes it: `24`, `latest` */
function node(version) {
  const system = platform === 'win32' ? 'win' : platform;
  return fetched(`node-${system}-${arch}`, version, platform === 'win32' ? 'bin/node.exe' : 'bin/node');
}

/** How to start a script with a runtime that is not Node: the program, and what goes before. */
const OTHERS = {
  bun() {
    const system = platform === 'win32' ? 'windows' : platform;
    // Of x64 the one for processors without AVX2, too.
    const processor = arch === 'arm64' ? 'aarch64' : `${arch}-baseline`;
    return [fetched(`@oven/bun-${system}-${processor}`, 'latest', 'bin/bun')];
  },
  deno() {
    const libc = platform === 'linux' ? '-glibc' : '';
    const program = fetched(`@deno/${platform}-${arch}${libc}`, 'latest', 'deno');
    return [program, 'run', '--allow-all', '--unstable-detect-cjs'];
  },
};

/**
 * @typedef {object} Found
 * @property {string} version
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {string[]} failures
 */

/**
 * The checks of elsewhere.cjs.
 *
 * @param {string[]} start the program, and what goes before the script
 * @param {object} [where]
 * @param {string} [where.module] the package, if not this one
 * @param {string} [where.direct] 'off' where direct I/O cannot be had
 * @returns {Found}
 */
function checks([program, ...args], { module = PACKAGE, direct = 'required' } = {}) {
  const all = [...args, ELSEWHERE, module, directFolder(), direct];
  const done = spawnSync(program, all, { encoding: 'utf8' });
  const said = `${program} ended with ${done.status ?? done.signal}:\n${done.stdout}${done.stderr}`;
  if (done.error !== undefined) throw done.error;
  const lines = done.stdout.split('\n');
  const last = lines.map((line) => /^(\d+) passed, (\d+) failed$/.exec(line)).find(Boolean);
  if (last === undefined || (done.status === 0) !== (last[2] === '0')) throw new Error(said);
  return {
    version: lines[0],
    passed: Number(last[1]),
    failed: Number(last[2]),
    skipped: 0,
    failures: lines.filter((line) => line.startsWith('failed: ')),
  };
}

/**
 * The original's own test: it says what it has passed, and ends with an error
 * otherwise.
 *
 * @param {string[]} start
 */
function originalTest([program, ...args]) {
  const lines = run(program, [...args, originalScript('test.js')]).trim().split('\n');
  const wrong = lines.find((line) => !line.startsWith('PASS: '));
  if (wrong !== undefined) throw new Error(`not passed: ${wrong}`);
  return lines.length;
}

/**
 * The whole suite on a Node.
 *
 * @param {string} program
 * @returns {Found}
 */
function suite(program) {
  const folder = join(PACKAGE, 'test');
  const files = fs
    .readdirSync(folder)
    // It asks for other runtimes, whichever it runs on.
    .filter((name) => name.endsWith('.test.js') && name !== 'runtimes.test.js')
    .map((name) => join(folder, name));
  const done = spawnSync(program, ['--test', '--test-reporter=tap', ...files], {
    encoding: 'utf8',
    maxBuffer: 256 << 20,
  });
  if (done.error !== undefined) throw done.error;
  const lines = done.stdout.split('\n');
  const count = (what) => {
    const line = lines.find((text) => text.startsWith(`# ${what} `));
    if (line === undefined) throw new Error(`it printed no counts: ${done.stdout}${done.stderr}`);
    return Number(line.split(' ')[2]);
  };
  return {
    version: `node ${run(program, ['--version']).trim().slice(1)}`,
    passed: count('pass'),
    // A file that could not be run at all is a test that failed.
    failed: Math.max(count('fail'), done.status === 0 ? 0 : 1),
    skipped: count('skipped'),
    failures: lines.map((line) => line.trim()).filter((line) => line.startsWith('not ok ')),
  };
}

module.exports = { CACHE, ORIGINAL, OTHERS, checks, fetched, node, originalTest, suite };
