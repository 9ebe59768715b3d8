'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const test = require('node:test');
const directIO = require('..');
const { Missing, needLinux, whereItCanRun } = require('../testing/programs.js');
const { scratchFile } = require('../testing/scratch.js');

const { promises } = directIO;

function needFlock() {
  if (process.platform === 'win32') throw new Missing('flock, which Windows has not');
}

test(
  'a lock keeps out others until it is let go, and the error says who has it',
  whereItCanRun(async () => {
    needFlock();
    const path = scratchFile();
    const [first, second] = [fs.openSync(path, 'r'), fs.openSync(path, 'r')];
    try {
      assert.equal(await promises.setFlock(first, 0), undefined);
      await promises.setFlock(first, 1);
      await promises.setFlock(first, 1);
      const refused = {
        message: 'EWOULDBLOCK, the file is already locked',
        code: 'EWOULDBLOCK',
        path,
        syscall: /^flock\(LOCK_EX\|LOCK_NB\)$/,
      };
      if (process.platform === 'linux') {
        refused.hint = new RegExp(`^the lock is held by process ${process.pid} \\(.+\\); wait for it, or`);
      }
      await assert.rejects(promises.setFlock(second, 1), refused);
      await promises.setFlock(first, 0);
      await promises.setFlock(second, 1);
      await promises.setFlock(second, 0);
    } finally {
      fs.closeSync(first);
      fs.closeSync(second);
    }
  }),
);

test(
  'closing lets go of a lock',
  whereItCanRun(async () => {
    needFlock();
    const path = scratchFile();
    const [first, second] = [fs.openSync(path, 'r'), fs.openSync(path, 'r')];
    await promises.setFlock(first, 1);
    fs.closeSync(first);
    await promises.setFlock(second, 1);
    fs.closeSync(second);
  }),
);

test(
  'a descriptor that is not open is refused in the words of the original',
  whereItCanRun(async () => {
    needLinux();
    const fd = fs.openSync(scratchFile(), 'r');
    fs.closeSync(fd);
    for (const value of [0, 1]) {
      await assert.rejects(promises.setFlock(fd, value), {
        name: 'Error',
        message: 'EBADF, fd is an invalid file descriptor',
        code: 'EBADF',
        errno: -9,
      });
    }
  }),
);

test(
  'a lock calls back with one argument, undefined',
  whereItCanRun(async () => {
    needFlock();
    const fd = fs.openSync(scratchFile(), 'r');
    const args = await new Promise((resolve) => {
      const returned = directIO.setFlock(fd, 1, (...seen) => resolve(seen));
      assert.equal(returned, undefined);
    });
    assert.deepEqual(args, [undefined]);
    fs.closeSync(fd);
  }),
);
