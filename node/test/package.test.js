'use strict';

// The package as others get it: packed, installed into an empty folder, and used
// from there in every way that it promises.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { join } = require('node:path');
const test = require('node:test');
const directIO = require('..');
const { manifest } = require('../distribution/packages.js');
const { TARGETS, byVersion, glibcNeeded } = require('../distribution/targets.js');
const { binaryPath, targets } = require('../lib/binary.js');
const { archivePath, npm } = require('../testing/original.js');
const { Missing, run, whereItCanRun } = require('../testing/programs.js');
const { directFolder, scratchFile, scratchFolder } = require('../testing/scratch.js');

const PACKAGE = join(__dirname, '..');

let packed;

/** The packed package: the archive, and the names of its files. */
function pack() {
  packed ??= packFolder(PACKAGE);
  return packed;
}

function packFolder(folder) {
  const into = scratchFolder();
  const [made] = JSON.parse(npm(['pack', '--json', '--pack-destination', into], folder));
  return { archive: archivePath(into, made), files: made.files.map(({ path }) => path) };
}

/** The packed package of the native half for this system, with the binary of this checkout. */
function packNative() {
  const target = targets().find((name) => fs.existsSync(binaryPath(name)));
  const row = TARGETS.find(({ name }) => name === target);
  if (row === undefined) throw new Missing(`a package for ${targets().join(' or ')}`);
  const folder = scratchFolder();
  const described = manifest(row);
  fs.writeFileSync(join(folder, 'package.json'), JSON.stringify(described));
  fs.copyFileSync(binaryPath(target), join(folder, described.main));
  return { ...packFolder(folder), name: described.name };
}

let installed;

/** An empty folder into which both packages were installed, without a network. */
function install() {
  if (installed === undefined) {
    const native = packNative();
    const folder = scratchFolder();
    fs.writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    npm(['install', '--offline', pack().archive, native.archive], folder);
    installed = { folder, native: native.name };
  }
  return installed.folder;
}

/** Where the package for this system lies. */
function nativeFolder() {
  install();
  return join(installed.folder, 'node_modules', ...installed.native.split('/'));
}

/** Runs a script from the folder of the installed package; what it prints as JSON. */
function runThere(name, text) {
  const script = join(install(), name);
  fs.writeFileSync(script, text);
  return JSON.parse(run(process.execPath, [script], { cwd: install() }));
}

/** All files of a folder, by their paths in it. */
function filesOf(folder, above = '') {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${above}${entry.name}`;
    return entry.isDirectory() ? filesOf(join(folder, entry.name), `${path}/`) : [path];
  });
}

test('the archive holds what is needed to run and the source of the rest, and nothing else', () => {
  const { files } = pack();
  const expected = [
    'LICENSE-APACHE',
    'LICENSE-MIT',
    'README.md',
    'benchmark.js',
    'build.js',
    'index.d.mts',
    'index.d.ts',
    'index.js',
    'index.mjs',
    'package.json',
    'promises.d.mts',
    'promises.d.ts',
    'promises.js',
    'promises.mjs',
    ...['benchmark', 'lib'].flatMap((folder) =>
      fs.readdirSync(join(PACKAGE, folder)).map((name) => `${folder}/${name}`),
    ),
    ...['Cargo.lock', 'Cargo.toml'].map((name) => `source/${name}`),
    ...['Cargo.toml', 'LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'guide.md'].map(
      (name) => `source/crates/direct/${name}`,
    ),
    ...filesOf(join(PACKAGE, '..', 'crates', 'direct', 'src')).map(
      (name) => `source/crates/direct/src/${name}`,
    ),
    ...['Cargo.toml', 'build.rs'].map((name) => `source/node/addon/${name}`),
    ...filesOf(join(PACKAGE, 'addon', 'src')).map((name) => `source/node/addon/src/${name}`),
  ];
  assert.deepEqual(files.sort(), expected.sort());
});

test('there is an optional package for each system, of the same version, and the lock has them', () => {
  const { version, optionalDependencies } = require('../package.json');
  const lock = require('../package-lock.json').packages;
  const expected = TARGETS.map((target) => manifest(target));
  assert.deepEqual(
    optionalDependencies,
    Object.fromEntries(expected.map(({ name }) => [name, version])),
  );
  assert.deepEqual(lock[''].optionalDependencies, optionalDependencies);
  for (const { name, os, cpu, libc, ...others } of expected) {
    assert.equal(others.version, version);
    const locked = lock[`node_modules/${name}`];
    assert.deepEqual(
      { version: locked.version, os: locked.os, cpu: locked.cpu, libc: locked.libc },
      { version, os, cpu, libc },
      name,
    );
    assert.equal(locked.optional, true);
  }
});

test(
  'the package for a system is installed there only, and has its binary',
  whereItCanRun(() => {
    assert.deepEqual(packNative().files.sort(), ['direct-io.node', 'package.json']);
    install();
    const { os, cpu, libc, main } = JSON.parse(
      fs.readFileSync(join(nativeFolder(), 'package.json'), 'utf8'),
    );
    assert.deepEqual([os, cpu], [[process.platform], [process.arch]]);
    assert.equal(libc === undefined, process.platform !== 'linux');
    assert.ok(fs.existsSync(join(nativeFolder(), main)));
  }),
);

test('versions of glibc are read from a binary and compared as numbers', () => {
  const file = scratchFile('\0GLIBC_2.9\0GLIBC_2.17\0GLIBC_2.2.5\0GLIBC_PRIVATE\0');
  assert.equal(glibcNeeded(file), '2.17');
  assert.equal(glibcNeeded(scratchFile('GLIBC_ABI')), undefined);
  assert.deepEqual(
    ['2.34', '2.2.5', '2.17', '2.2', '2.9'].sort(byVersion),
    ['2.2', '2.2.5', '2.9', '2.17', '2.34'],
  );
});

test('its licences are those of the project', () => {
  for (const name of ['LICENSE-APACHE', 'LICENSE-MIT']) {
    const [here, there] = [PACKAGE, join(PACKAGE, '..')].map((folder) =>
      fs.readFileSync(join(folder, name), 'utf8'),
    );
    assert.equal(here, there, name);
  }
});

const USE = `
  const names = Object.keys(whole).sort();
  const buffer = whole.getAlignedBuffer(4096, 4096);
  (async () => {
    const alignment = await whole.getDirectIOAlignment(process.execPath).catch((error) => error.code);
    console.log(JSON.stringify({ names, length: buffer.length, told: alignment !== undefined }));
  })();
`;

test('it is required from an empty folder', () => {
  const used = runThere('use.cjs', `const whole = require('@diskfacts/direct-io');${USE}`);
  assert.deepEqual(used, { names: Object.keys(directIO).sort(), length: 4096, told: true });
});

test('it is imported from an empty folder, and has the same exports by name', () => {
  const used = runThere(
    'use.mjs',
    `import whole from '@diskfacts/direct-io';
     import * as named from '@diskfacts/direct-io';
     import * as promises from '@diskfacts/direct-io/promises';
     for (const [module, object] of [[named, whole], [promises, whole.promises]]) {
       for (const name of Object.keys(module)) {
         if (name !== 'default' && module[name] !== object[name]) throw new Error(name);
       }
       if (Object.keys(module).length !== Object.keys(object).length + 1) throw new Error('count');
     }
     ${USE}`,
  );
  assert.deepEqual(used, { names: Object.keys(directIO).sort(), length: 4096, told: true });
});

test('its promises are required by their own name, and its insides by none', () => {
  const used = runThere(
    'parts.cjs',
    `const promises = require('@diskfacts/direct-io/promises');
     const { version } = require('@diskfacts/direct-io/package.json');
     let inside;
     try {
       require('@diskfacts/direct-io/lib/native.js');
     } catch (error) {
       inside = error.code;
     }
     console.log(JSON.stringify({ names: Object.keys(promises).sort(), version, inside }));`,
  );
  assert.deepEqual(used, {
    names: Object.keys(directIO.promises).sort(),
    version: require('../package.json').version,
    inside: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
  });
});

/** Does this while the package for this system is not installed. */
function withoutBinary(body) {
  const folder = nativeFolder();
  const hidden = join(install(), 'hidden');
  fs.renameSync(folder, hidden);
  try {
    return body();
  } finally {
    fs.renameSync(hidden, folder);
  }
}

const TOLD = `
  try {
    require('@diskfacts/direct-io');
    console.log(JSON.stringify({ code: 'none' }));
  } catch ({ code, message }) {
    console.log(JSON.stringify({ code, message }));
  }
`;

test(
  'without a binary for this system the error says what to install, or how to build it',
  whereItCanRun(() => {
    const error = withoutBinary(() => runThere('missing.cjs', TOLD));
    assert.equal(error.code, 'ERR_NO_BINARY');
    const target = `${process.platform}-${process.arch}`;
    const lines = error.message.split('\n');
    assert.match(lines[0], new RegExp(`^@diskfacts/direct-io has no binary here for ${target}`));
    assert.ok(lines.includes(`  npm install ${installed.native}`), error.message);
    assert.equal(lines.at(-1), '  npx direct-io-build');
    assert.ok(lines.every((line) => line.length < 100), error.message);
    // A system that nothing was made for.
    const other = `Object.defineProperty(process, 'platform', { value: 'plan9' });${TOLD}`;
    const { message } = runThere('plan9.cjs', other);
    assert.match(message, /^@diskfacts\/direct-io has no binary here for plan9-\w+\.\nThere is none /);
    assert.ok(!message.includes('npm install'), message);
  }),
);

test(
  'a binary that does not load is named with the reason',
  whereItCanRun(() => {
    const binary = join(nativeFolder(), 'direct-io.node');
    const [hidden, target] = [`${binary}.hidden`, installed.native];
    fs.renameSync(binary, hidden);
    fs.writeFileSync(binary, 'no library');
    try {
      const error = runThere('broken.cjs', TOLD);
      assert.equal(error.code, 'ERR_NO_BINARY');
      assert.match(error.message, new RegExp(`^${target} does not load: .+`, 'm'));
    } finally {
      fs.renameSync(hidden, binary);
    }
  }),
);

test(
  'the source in the package is a workspace with a lock of its own, and its build says what it lacks',
  whereItCanRun(() => {
    const folder = join(install(), 'node_modules', '@diskfacts', 'direct-io');
    const env = { ...process.env, CARGO: join(install(), 'no-cargo') };
    const build = join(install(), 'node_modules', '.bin', 'direct-io-build');
    assert.throws(() => run(process.execPath, [build], { cwd: install(), env }), {
      message: /ended with 2:\ndirect-io-build: .*no-cargo is not here: install Rust/,
    });
    assert.throws(() => run(process.execPath, [build, '--wrong'], { cwd: install() }), {
      message: /ended with 2:\ndirect-io-build: it takes no --wrong\nusage: npx direct-io-build\n/,
    });
    assert.match(run(process.execPath, [build, '--help'], { cwd: install() }), /^usage: /);
    // It is built by npm run test:nodes -- source, which takes a minute.
    const args = ['metadata', '--format-version=1', '--locked', '--no-deps'];
    const source = join(folder, 'source');
    const { packages } = JSON.parse(run(process.env.CARGO || 'cargo', args, { cwd: source }));
    assert.deepEqual(
      packages.map(({ name }) => name).sort(),
      ['directio', 'diskfacts-node'],
    );
    const lock = fs.readFileSync(join(source, 'Cargo.lock'), 'utf8');
    const versions = (text) => text.match(/^name = .*\nversion = .*$/gm);
    const all = new Set(versions(fs.readFileSync(join(PACKAGE, '..', 'Cargo.lock'), 'utf8')));
    assert.deepEqual(versions(lock).filter((one) => !all.has(one)), []);
    assert.ok(!lock.includes('diskfacts-testkit'));
  }),
);

const README = fs.readFileSync(join(PACKAGE, 'README.md'), 'utf8');

test('every export has its place in the README, and so has every code of an error', () => {
  for (const name of Object.keys(directIO)) assert.ok(README.includes(`\`${name}`), name);
  const methods = Object.getOwnPropertyNames(directIO.DirectFile.prototype);
  for (const name of [...methods, 'fromFileHandle'].filter((name) => name !== 'constructor')) {
    assert.match(README, new RegExp(`\\b(file|DirectFile)\\.${name}\\b`), name);
  }
  const sources = fs.readdirSync(join(PACKAGE, 'lib')).map((name) => join(PACKAGE, 'lib', name));
  const text = sources.map((path) => fs.readFileSync(path, 'utf8')).join('\n');
  for (const code of new Set(text.match(/\bERR_[A-Z_]+/g))) {
    assert.ok(README.includes(`\`${code}\``), code);
  }
});

test(
  'the first example of the README runs',
  whereItCanRun(() => {
    directFolder();
    const [, example] = /```js\n(.*?)```/s.exec(README);
    const script = join(install(), 'example.mjs');
    fs.writeFileSync(script, example);
    const said = run(process.execPath, [script], { cwd: install() });
    assert.equal(said, '65536 bytes, which begin with hello\n');
    const journal = fs.readFileSync(join(install(), 'journal'));
    assert.equal(journal.length, 64 * 1024);
    assert.equal(journal.toString('latin1', 0, 6), 'hello\0');
  }),
);

test(
  'the example of streams in the README runs',
  whereItCanRun(() => {
    directFolder();
    const [, example] = /### Streams\n\n```js\n(.*?)```/s.exec(README);
    const script = join(install(), 'streams.mjs');
    const imports = `import { DirectFile } from '@diskfacts/direct-io';
      import { pipeline } from 'node:stream/promises';\n`;
    fs.writeFileSync(script, `${imports}${example}`);
    const image = Buffer.from('an image that is no whole block'.repeat(1000));
    fs.writeFileSync(join(install(), 'disk.img'), image);
    run(process.execPath, [script], { cwd: install() });
    assert.ok(fs.readFileSync(join(install(), 'copy.img')).equals(image));
  }),
);

test(
  'the benchmark runs from where the package is installed',
  whereItCanRun(() => {
    const cwd = directFolder();
    const script = join(install(), 'node_modules', '@diskfacts', 'direct-io', 'benchmark.js');
    const output = run(process.execPath, [script, '--block-max=4096', '--time=0.5'], { cwd });
    assert.equal(output.trim().split('\n').length, 21);
  }),
);

/** TypeScript, where the development dependencies are installed. */
function compiler() {
  const tsc = join(PACKAGE, 'node_modules', 'typescript', 'bin', 'tsc');
  if (!fs.existsSync(tsc)) throw new Missing('typescript: npm ci in the folder of the package');
  return tsc;
}

test(
  'its types compile in a program that uses all of it, as CommonJS and as ES module',
  whereItCanRun(() => {
    const tsc = compiler();
    const folder = install();
    const types = join(folder, 'node_modules', '@types');
    if (!fs.existsSync(types)) {
      fs.symlinkSync(join(PACKAGE, 'node_modules', '@types'), types, 'junction');
      fs.symlinkSync(
        join(PACKAGE, 'node_modules', 'undici-types'),
        join(folder, 'node_modules', 'undici-types'),
        'junction',
      );
    }
    for (const name of ['use.cts', 'use.mts']) {
      fs.copyFileSync(join(PACKAGE, 'testing', 'types', name), join(folder, name));
    }
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2022'],
      module: 'nodenext',
      strict: true,
      noEmit: true,
      types: ['node'],
    };
    const config = { compilerOptions, files: ['use.cts', 'use.mts'] };
    fs.writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    run(process.execPath, [tsc, '--project', folder]);
  }),
);

test(
  'its own JavaScript agrees with its types',
  whereItCanRun(() => {
    run(process.execPath, [compiler(), '--project', PACKAGE]);
  }),
);
