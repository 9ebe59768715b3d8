'use strict';

// The package on Windows, as far as Wine can tell.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { join } = require('node:path');
const test = require('node:test');
const { MODES } = require('../benchmark/modes.js');
const { parts } = require('../testing/benchmark.js');
const { originalArchive } = require('../testing/original.js');
const { run, whereItCanRun } = require('../testing/programs.js');
const { scratchFolder } = require('../testing/scratch.js');
const { nodeForWindows } = require('../testing/wine.js');

test(
  "on Windows the original's own test passes, and DirectFile works",
  whereItCanRun(async (t) => {
    const windows = nodeForWindows();

    await t.test('files are opened, written, read and refused', () => {
      const script = fs.readFileSync(join(__dirname, '..', 'testing', 'windows-script.js'), 'utf8');
      const found = JSON.parse(windows(script));
      const codes = ({ code, errno }) => [code, errno];
      assert.equal(found.granted.direct, true);
      assert.equal(found.granted.write, true);
      assert.deepEqual(found.written, {});
      assert.deepEqual(found.synced, {});
      assert.deepEqual(found.size, { value: 8192 });
      assert.deepEqual(found.read, { value: 8192 });
      assert.equal(found.equal, true);
      assert.deepEqual(found.closed, {});
      // The numbers are libuv's: what GetLastError says is translated.
      assert.deepEqual(codes(found.misaligned), ['EINVAL', -4071]);
      assert.match(found.misaligned.hint, /a length that is a multiple of \d+: 8191 is not/);
      assert.deepEqual(codes(found.missing), ['ENOENT', -4058]);
      assert.deepEqual(codes(found.there), ['EEXIST', -4075]);
      assert.match(found.there.hint, /without createNew$/);
      assert.deepEqual(codes(found.noDisk), ['ENOENT', -4058]);
      assert.deepEqual(found.durable, { value: 5 });
      assert.equal(found.content, '\x07\x07\x07hello\x07\x07');
      for (const bad of [found.badDescriptor, found.badVolume]) {
        assert.equal(bad.code, 'EBADF');
        assert.equal(bad.message, 'EBADF: bad file descriptor');
      }
      assert.equal(found.fileAsDisk.message, 'IOCTL_DISK_GET_DRIVE_GEOMETRY_EX failed');
      assert.equal(found.exclusive, 'mandatory');
      assert.deepEqual(codes(found.second), ['EBUSY', -4082]);
    });

    await t.test('the benchmark measures on a file of its own, and leaves none', () => {
      const script = `
        process.argv.push('--block-max=4096', '--time=1');
        require('./package/benchmark.js');
      `;
      const lines = windows(script).trim().split(/\r?\n/);
      assert.deepEqual(
        lines.map((line) => parts(line).label),
        MODES.map(({ label }) => label),
      );
      const look = "console.log(JSON.stringify(require('fs').readdirSync('.')))";
      const left = JSON.parse(windows(look)).filter((name) => name.includes('benchmark'));
      assert.deepEqual(left, []);
    });

    await t.test(
      "the original's own test passes",
      whereItCanRun(() => {
        const folder = scratchFolder();
        run('tar', ['-xzf', originalArchive(), '-C', folder]);
        const text = fs.readFileSync(join(folder, 'package', 'test.js'), 'utf8');
        const lines = windows(text.replace("require('.')", "require('./package')"))
          .trim()
          .split(/\r?\n/);
        assert.equal(lines.find((line) => !line.startsWith('PASS: ')), undefined);
        assert.equal(lines.length, 325);
      }),
    );
  }),
);
