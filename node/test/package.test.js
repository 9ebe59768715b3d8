'use strict';

// The package as others get it: packed, installed into an empty folder, and used
// from there in every way that it promises.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { join } = require('node:path');
const test = require('node:test');
const directIO = require('..');
const { archivePath, npm } = require('../testing/original.js');
const { Missing, run, whereItCanRun } = require('../testing/programs.js');
const { directFolder, scratchFolder } = require('../testing/scratch.js');

const PACKAGE = join(__dirname, '..');

let packed;

/** The packed package: the archive, and the names of its files. */
function pack() {
  if (packed === undefined) {
    const folder = scratchFolder();
    const [made] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], PACKAGE));
    packed = { archive: archivePath(folder, made), files: made.files.map(({ path }) => path) };
  }
  return packed;
}

let installed;

/** An empty folder into which the packed package was installed, without a network. */
function install() {
  if (installed === undefined) {
    installed = scratchFolder();
    fs.writeFileSync(join(installed, 'package.json'), '{ "private": true }');
    npm(['install', '--offline', pack().archive], installed);
  }
  return installed;
}

/** Runs a script from the folder of the installed package; what it prints as JSON. */
function runThere(name, text) {
  const script = join(install(), name);
  fs.writeFileSync(script, text);
  return JSON.parse(run(process.execPath, [script], { cwd: install() }));
}

test('the archive holds what is needed to run, and nothing else', () => {
  const { files } = pack();
  const expected = [
    'LICENSE-APACHE',
    'LICENSE-MIT',
    'README.md',
    'benchmark.js',
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
  ];
  const [binaries, others] = [/^binaries\//, /^(?!binaries\/)/].map((part) =>
    files.filter((file) => part.test(file)),
  );
  assert.deepEqual(others.sort(), expected.sort());
  assert.ok(binaries.length > 0);
  for (const file of binaries) assert.match(file, /^binaries\/[a-z0-9-]+\/direct-io\.node$/);
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

test('without a binary for this system the error says which there are', () => {
  const folder = join(install(), 'node_modules', '@diskfacts', 'direct-io', 'binaries');
  const hidden = join(install(), 'hidden');
  fs.renameSync(folder, hidden);
  fs.mkdirSync(join(folder, 'plan9-mips'), { recursive: true });
  try {
    const error = runThere(
      'missing.cjs',
      `try {
         require('@diskfacts/direct-io');
       } catch ({ code, message }) {
         console.log(JSON.stringify({ code, message }));
       }`,
    );
    assert.equal(error.code, 'ERR_NO_BINARY');
    assert.match(error.message, /binaries for plan9-mips, and this is /);
    assert.match(error.message, new RegExp(`${process.platform}-${process.arch}`));
  } finally {
    fs.rmSync(folder, { recursive: true });
    fs.renameSync(hidden, folder);
  }
});

const README = fs.readFileSync(join(PACKAGE, 'README.md'), 'utf8');

test('every export has its place in the README, and so has every code of an error', () => {
  for (const name of Object.keys(directIO)) assert.ok(README.includes(`\`${name}`), name);
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
    run(process.execPath, [script], { cwd: install() });
    const journal = fs.readFileSync(join(install(), 'journal'));
    assert.equal(journal.length, 64 * 1024);
    assert.equal(journal.toString('latin1', 0, 6), 'hello\0');
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
