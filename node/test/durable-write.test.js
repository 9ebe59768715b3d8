'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const test = require('node:test');
const { MessageChannel } = require('node:worker_threads');
const directIO = require('..');
const { Missing, needLinux, tool, whereItCanRun } = require('../testing/programs.js');
const { scratchFile } = require('../testing/scratch.js');

test('a durable write lands at its position, with promises and with callbacks', async () => {
  const path = scratchFile(Buffer.alloc(8, '.'));
  const fd = fs.openSync(path, 'r+');
  try {
    assert.equal(await directIO.writeDurable(fd, Buffer.from('ab'), 2), 2);
    assert.equal(await directIO.promises.writeDurable(fd, Buffer.from('cd'), 5, 'full'), 2);
    for (const durability of [[], ['data'], ['full']]) {
      const args = await new Promise((resolve) => {
        directIO.writeDurable(fd, Buffer.from('e'), 0, ...durability, (...seen) => resolve(seen));
      });
      assert.deepEqual(args, [undefined, 1]);
    }
  } finally {
    fs.closeSync(fd);
  }
  assert.equal(fs.readFileSync(path, 'latin1'), 'e.ab.cd.');
});

test('a durable write shares its buffer with no read, and writes what was there when it is given away', async () => {
  const path = scratchFile(Buffer.alloc(8192));
  const fd = fs.openSync(path, 'r+');
  const file = await directIO.DirectFile.open(path, { direct: 'off' });
  try {
    const buffer = Buffer.from(new ArrayBuffer(4096)).fill(7);
    const writing = directIO.writeDurable(fd, buffer, 4096);
    await assert.rejects(file.read(buffer, 0), { code: 'ERR_BUFFER_BUSY' });
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(buffer, [buffer.buffer]);
    port1.close();
    port2.close();
    assert.equal(buffer.length, 0);
    assert.equal(await writing, 4096);
    const written = Buffer.alloc(4096);
    assert.equal(await file.read(written, 4096), 4096);
    assert.ok(written.equals(Buffer.alloc(4096, 7)));
  } finally {
    fs.closeSync(fd);
    await file.close();
  }
});

test('a file that is not open for writing is refused, and the hint says so', async () => {
  const path = scratchFile('content');
  const fd = fs.openSync(path, 'r');
  try {
    await assert.rejects(directIO.writeDurable(fd, Buffer.from('x'), 0), {
      code: process.platform === 'win32' ? 'EPERM' : 'EBADF',
      hint: /not opened for writing/,
    });
  } finally {
    fs.closeSync(fd);
  }
});

/** The system calls of a script, those that write and sync. */
function traced(script, path) {
  const log = scratchFile();
  const filter = 'trace=pwritev2,pwrite64,pwritev,fsync,fdatasync,sync_file_range';
  const args = ['-f', '-y', '-o', log, '-e', filter, process.execPath, '-e', script];
  try {
    tool('strace', 'strace', [...args, require.resolve('..'), path]);
  } catch (error) {
    if (/ptrace|PTRACE/.test(error.message)) {
      throw new Missing('the right to trace: run the tests as root, or allow ptrace');
    }
    throw error;
  }
  return fs
    .readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes(`<${path}>`));
}

const WRITES = `
  const directIO = require(process.argv[1]);
  const path = process.argv[2];
  const fd = require('fs').openSync(path, 'r+');
  (async () => {
    await directIO.writeDurable(fd, Buffer.from('1'), 0);
    await directIO.writeDurable(fd, Buffer.from('2'), 0, 'full');
    const file = await directIO.DirectFile.open(path, { write: true, direct: 'off' });
    await file.write(Buffer.from('3'), 0);
    await file.write(Buffer.from('4'), 0, { durability: 'data' });
    await file.sync('data');
    await file.sync();
    await file.close();
  })();
`;

test(
  'on Linux a durable write is one system call with RWF_DSYNC or RWF_SYNC, and no sync follows',
  whereItCanRun(() => {
    needLinux();
    const path = scratchFile('content');
    const calls = traced(WRITES, path).map((line) => line.replace(/^\d+ +/, '').replace(/ += .*/, ''));
    const shape = calls.map((call) => {
      const name = call.slice(0, call.indexOf('('));
      const data = /"(\d)"/.exec(call);
      const flag = /RWF_D?SYNC/.exec(call);
      return [name, data && data[1], flag && flag[0]].filter(Boolean).join(' ');
    });
    assert.deepEqual(shape, [
      'pwritev2 1 RWF_DSYNC',
      'pwritev2 2 RWF_SYNC',
      'pwrite64 3',
      'pwritev2 4 RWF_DSYNC',
      'fdatasync',
      'fsync',
    ]);
  }),
);
