'use strict';

// The same file in a FileHandle of Node's fs and in a DirectFile.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const test = require('node:test');
const { DirectFile, O_DIRECT, O_DSYNC } = require('..');
const { Missing, needLinux, whereItCanRun } = require('../testing/programs.js');
const { directFile } = require('../testing/scratch.js');

function needDescriptors() {
  if (process.platform === 'win32') throw new Missing('a system that opens a file by a descriptor');
}

test(
  'the file of a handle is opened past the cache, whatever the handle was opened for',
  whereItCanRun(async () => {
    needDescriptors();
    const path = directFile(Buffer.alloc(8192, 3));
    const handle = await fs.promises.open(path, 'r+');
    const file = await DirectFile.fromFileHandle(handle, { write: true });
    if (process.platform === 'linux') assert.equal(file.path, path);
    assert.equal(file.granted.direct, true);
    await handle.close();
    const buffer = file.allocate(8192);
    assert.equal(await file.read(buffer, 0), 8192);
    assert.equal(buffer[8191], 3);
    await file.write(buffer.fill(4), 0);
    await file.close();
    assert.equal(fs.readFileSync(path)[0], 4);
  }),
);

test(
  'a file without a name is opened by its handle, and given to one',
  whereItCanRun(async () => {
    needLinux();
    const path = directFile(Buffer.alloc(4096, 5));
    const handle = await fs.promises.open(path, 'r+');
    fs.rmSync(path);
    const file = await DirectFile.fromFileHandle(handle, { write: true, durability: 'data' });
    await handle.close();
    const other = await file.toFileHandle();
    await file.close();
    const { buffer } = await other.read({ buffer: file.allocate(4096), position: 0 });
    assert.equal(buffer[4095], 5);
    await other.close();
  }),
);

test(
  'a handle has the access, the directness and the durability of its file',
  whereItCanRun(async () => {
    needLinux();
    const path = directFile(Buffer.alloc(4096, 5));
    const access = fs.constants.O_RDONLY | fs.constants.O_WRONLY | fs.constants.O_RDWR;
    for (const [options, flags] of [
      [{}, fs.constants.O_RDONLY | O_DIRECT],
      [{ direct: 'off' }, fs.constants.O_RDONLY],
      [{ write: true, durability: 'data' }, fs.constants.O_RDWR | O_DIRECT | O_DSYNC],
      [{ read: false, write: true, direct: 'off' }, fs.constants.O_WRONLY],
    ]) {
      const file = await DirectFile.open(path, options);
      const handle = await file.toFileHandle();
      const info = fs.readFileSync(`/proc/self/fdinfo/${handle.fd}`, 'utf8');
      const found = Number.parseInt(/^flags:\s+(\d+)$/m.exec(info)[1], 8);
      assert.equal(found & (access | O_DIRECT | O_DSYNC), flags);
      // Each is closed on its own.
      await file.close();
      assert.equal((await handle.stat()).size, 4096);
      await handle.close();
    }
  }),
);

test(
  'what is no open handle is refused',
  whereItCanRun(async () => {
    needDescriptors();
    const closed = await fs.promises.open(directFile(), 'r');
    await closed.close();
    for (const wrong of [undefined, null, 5, 'path', {}, { fd: -1 }, { fd: '3' }, closed]) {
      await assert.rejects(DirectFile.fromFileHandle(wrong), {
        name: 'TypeError',
        code: 'ERR_INVALID_ARG_TYPE',
        message: /^handle must be a FileHandle that is open, but is /,
      });
    }
    await assert.rejects(DirectFile.fromFileHandle({ fd: 99999 }), { code: 'ENOENT' });
  }),
);
