'use strict';

// DirectFile where something is wrong: what it refuses, and how it explains what
// the system refuses.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { dirname, join } = require('node:path');
const test = require('node:test');
const { MessageChannel } = require('node:worker_threads');
const { DirectFile, O_EXCL } = require('..');
const { ext4, loopDevice, mounted } = require('../testing/devices.js');
const { Missing, needLinux, run, tool, whereItCanRun } = require('../testing/programs.js');
const { directFile, directFolder, scratchFolder } = require('../testing/scratch.js');

test(
  'a transfer that is misaligned is refused before the system sees it, and all faults are named',
  whereItCanRun(async () => {
    const content = Buffer.alloc(8192, 'c');
    const file = await DirectFile.open(directFile(content), { write: true });
    const { memory, offset, length } = file.alignment;
    if (length === 1) throw new Missing('a system whose direct I/O has rules of alignment');
    const buffer = file.allocate(8192);
    const shifted = buffer.subarray(1, 1 + length);
    for (const [bytes, position, hint] of [
      [shifted, 0, new RegExp(`an address that is a multiple of ${memory}: 0x`)],
      [buffer.subarray(0, 100), 0, new RegExp(`a length that is a multiple of ${length}: 100 is`)],
      [buffer, 1, new RegExp(`an offset that is a multiple of ${offset}: 1 is not, 0 and`)],
      [shifted.subarray(0, 7), 3, /an address .*; and a length .*; and an offset/],
    ]) {
      for (const operation of ['read', 'write']) {
        await assert.rejects(file[operation](bytes, position), {
          code: 'EINVAL',
          path: file.path,
          syscall: `${operation} of ${bytes.length} bytes at offset ${position}`,
          hint,
        });
      }
    }
    await file.close();
    assert.ok(fs.readFileSync(file.path).equals(content));
  }),
);

test(
  'what is no buffer, no position or no option is refused',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(), { write: true });
    const buffer = file.allocate(4096);
    const refused = (promise, name, code, message) =>
      assert.rejects(promise, { name, code: `ERR_${code}`, message });
    const room = { maxByteLength: 8192 };
    const changing = [new ArrayBuffer(4096, room), new SharedArrayBuffer(4096, room)];
    const moves = (bytes) => [file.read(bytes, 0), file.write(bytes, 0)];
    for (const wrong of ['text', [1], new ArrayBuffer(8), null, undefined, {}]) {
      for (const move of moves(wrong)) {
        await refused(move, 'TypeError', 'INVALID_ARG_TYPE', /^buffer must be a Buffer, /);
      }
      for (const move of [file.readv(wrong, 0), file.writev(wrong, 0)]) {
        await refused(move, 'TypeError', 'INVALID_ARG_TYPE', /^buffers(\[0\])? must be an? /);
      }
    }
    // Node 18 knows none that change their length, and makes plain ones.
    for (const memory of changing.filter(({ resizable, growable }) => resizable || growable)) {
      for (const move of moves(new Uint8Array(memory))) {
        await refused(move, 'TypeError', 'INVALID_ARG_VALUE', /^buffer must not lie in a resizable /);
      }
    }
    for (const [wrong, name, code] of [
      [undefined, 'TypeError', 'INVALID_ARG_TYPE'],
      ['0', 'TypeError', 'INVALID_ARG_TYPE'],
      [4096n, 'TypeError', 'INVALID_ARG_TYPE'],
      [-4096, 'RangeError', 'OUT_OF_RANGE'],
      [0.5, 'RangeError', 'OUT_OF_RANGE'],
      [NaN, 'RangeError', 'OUT_OF_RANGE'],
      [2 ** 53, 'RangeError', 'OUT_OF_RANGE'],
    ]) {
      for (const method of ['read', 'write']) {
        await refused(file[method](buffer, wrong), name, code, /^position must be an integer/);
        await refused(file[`${method}v`]([buffer], wrong), name, code, /^position must be an /);
      }
      if (wrong === undefined) continue;
      await refused(file.truncate(wrong), name, code, /^length must be an integer of 0 to Number/);
      for (const make of ['createReadStream', 'createWriteStream']) {
        assert.throws(() => file[make]({ start: wrong }), { name, code: `ERR_${code}` });
      }
    }
    for (const [promise, code, message] of [
      [file.write(buffer, 0, { durabilty: 'data' }), 'VALUE', /^there is no option durabilty; /],
      [file.read(buffer, 0, { durability: 'data' }), 'VALUE', /^there is no option durability; /],
      [file.write(buffer, 0, { durability: 'sync' }), 'VALUE', /^durability must be one of/],
      [file.write(buffer, 0, 'data'), 'TYPE', /^options must be an object, but is "data"/],
      [file.read(buffer, 0, { signal: {} }), 'TYPE', /^signal must be an AbortSignal, but is an/],
      [file.sync('disk'), 'VALUE', /^depth must be one of 'data', 'all', 'medium'/],
    ]) {
      await refused(promise, 'TypeError', `INVALID_ARG_${code}`, message);
    }
    await file.close();
    assert.equal(fs.statSync(file.path).size, 0);
  }),
);

test(
  'a buffer is not used twice at once, but may be sent by two writes',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(Buffer.alloc(65536)), { write: true });
    const buffer = file.allocate(16384);
    const half = buffer.length / 2;
    const busy = { code: 'ERR_BUFFER_BUSY' };

    const reading = file.read(buffer, 0);
    await assert.rejects(file.read(buffer, 16384), busy);
    await assert.rejects(file.write(buffer.subarray(half), 0), busy);
    await reading;

    const writing = file.write(buffer, 0);
    await assert.rejects(file.read(buffer.subarray(0, half), 0), busy);
    await Promise.all([writing, file.write(buffer, 16384)]);

    // Parts that do not overlap, and the whole again after that.
    await Promise.all([
      file.read(buffer.subarray(0, half), 0),
      file.read(buffer.subarray(half), 32768),
    ]);
    await file.read(buffer, 0);
    // What failed has given the buffer back.
    await assert.rejects(file.read(buffer, 1));
    await file.read(buffer, 0);
    await file.close();
  }),
);

test(
  'memory that a transfer uses cannot be given to another thread',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(Buffer.alloc(4096, 5)));
    const buffer = file.allocate(4096);
    const reading = file.read(buffer, 0);
    const { port1, port2 } = new MessageChannel();
    try {
      // Node 20 and older copy it instead; newer ones throw.
      port1.postMessage(buffer, [buffer.buffer]);
    } catch (error) {
      assert.equal(error.name, 'DataCloneError');
    }
    port1.close();
    port2.close();
    assert.equal(await reading, 4096);
    assert.equal(buffer.length, 4096);
    assert.equal(buffer[4095], 5);
    await file.close();
  }),
);

test(
  'memory that a transfer uses cannot be taken away by its own methods either',
  whereItCanRun(async () => {
    const memory = new ArrayBuffer(8);
    if (memory.transfer === undefined) throw new Missing('Node 21 or later: ArrayBuffer.transfer');
    const file = await DirectFile.open(directFile(Buffer.alloc(4096, 5)));
    const buffer = file.allocate(4096);
    const reading = file.read(buffer, 0);
    for (const method of ['transfer', 'transferToFixedLength']) {
      assert.throws(() => buffer.buffer[method](), { code: 'ERR_BUFFER_BUSY', message: new RegExp(method) });
    }
    assert.equal(await reading, 4096);
    assert.equal(buffer[4095], 5);
    // Afterwards it is the caller's again.
    const moved = new Uint8Array(buffer.buffer.transfer());
    assert.equal(buffer.length, 0);
    assert.equal(moved[4095], 5);
    assert.equal(await file.read(moved.fill(0), 0), 4096);
    assert.equal(moved[4095], 5);
    // Memory that takes no guard is read into all the same.
    const frozen = file.allocate(4096);
    Object.freeze(frozen.buffer);
    assert.equal(await file.read(frozen, 0), 4096);
    await file.close();
  }),
);

test(
  'a closed file refuses everything but to be closed',
  whereItCanRun(async () => {
    const file = await DirectFile.open(directFile(), { write: true });
    const buffer = file.allocate(4096);
    await file.close();
    for (const [operation, args] of [
      ['read', [buffer, 0]],
      ['read', [Buffer.alloc(0), 0]],
      ['write', [buffer, 0]],
      ['truncate', []],
      ['sync', []],
      ['size', []],
      ['toFileHandle', []],
    ]) {
      await assert.rejects(file[operation](...args), {
        code: 'EBADF',
        syscall: operation,
        path: file.path,
        message: `${operation} is not possible on ${file.path}: it is closed`,
      });
    }
    await file.close();
  }),
);

test(
  'options that contradict each other are explained in the words of this package',
  whereItCanRun(async () => {
    needLinux();
    const path = join(directFolder(), 'new');
    await assert.rejects(DirectFile.open(path, { create: true }), {
      code: 'EINVAL',
      hint: 'creating and truncating need write: true',
    });
    await assert.rejects(DirectFile.open(path, { read: false }), {
      code: 'EINVAL',
      hint: /set read or write to true$/,
    });
    fs.writeFileSync(path, '');
    await assert.rejects(DirectFile.open(path, { write: true, createNew: true }), {
      code: 'EEXIST',
      hint: /without createNew$/,
    });
  }),
);

test(
  'a directory, a missing file and a path through a file are explained',
  whereItCanRun(async () => {
    needLinux();
    const folder = directFolder();
    const file = join(folder, 'file');
    fs.writeFileSync(file, '');
    for (const [path, code, hint] of [
      [folder, 'EISDIR', /^this is a directory/],
      [join(folder, 'missing'), 'ENOENT', /^nothing has this name/],
      [join(file, 'below'), 'ENOTDIR', /^a part of the path is a file/],
    ]) {
      for (const options of [{}, { write: true }]) {
        await assert.rejects(DirectFile.open(path, options), {
          name: 'Error',
          code,
          path,
          syscall: /^open\(O_RD(ONLY|WR)\|O_DIRECT\)$/,
          hint,
        });
      }
    }
  }),
);

test(
  'writing to a file that is open for reading is refused, and the other way round',
  whereItCanRun(async () => {
    needLinux();
    const path = directFile(Buffer.alloc(4096));
    const reader = await DirectFile.open(path);
    const buffer = reader.allocate(4096);
    assert.equal(reader.granted.write, false);
    await assert.rejects(reader.write(buffer, 0), {
      code: 'EBADF',
      hint: 'the file was not opened for writing',
      bytesWritten: 0,
    });
    await reader.close();
    const writer = await DirectFile.open(path, { read: false, write: true });
    await assert.rejects(writer.read(buffer, 0), {
      code: 'EBADF',
      hint: 'the file was not opened for reading',
    });
    await writer.close();
  }),
);

/** As a user who owns nothing, opens a file for writing, and prints how that failed. */
const UNPRIVILEGED = `
  const { DirectFile } = require(process.argv[1]);
  if (process.getuid() === 0) process.setuid(65534);
  DirectFile.open(process.argv[2], { write: true }).then(
    () => console.log('opened'),
    (error) => console.log(error.code + ': ' + error.hint),
  );
`;

test(
  'a file without the permission to write is refused',
  whereItCanRun(() => {
    needLinux();
    const path = directFile();
    fs.chmodSync(dirname(path), 0o755);
    fs.chmodSync(path, 0o444);
    const output = run(process.execPath, ['-e', UNPRIVILEGED, require.resolve('..'), path]);
    assert.match(output, /^EACCES: the permissions forbid it/);
  }),
);

test(
  'a file on a filesystem that is mounted read-only is refused',
  whereItCanRun(async () => {
    const device = loopDevice(4 << 20);
    tool('mkfs.ext4', 'e2fsprogs', ['-q', device]);
    const source = scratchFolder();
    fs.writeFileSync(join(source, 'file'), 'content');
    tool('mkfs.ext4', 'e2fsprogs', ['-q', '-F', '-d', source, device]);
    const path = join(mounted(['-o', 'ro', device]), 'file');
    await assert.rejects(DirectFile.open(path, { write: true }), {
      code: 'EROFS',
      path,
      hint: /this subvolume is read-only/,
    });
    const file = await DirectFile.open(path);
    assert.equal(await file.read(file.allocate(4096), 0), 7);
    await file.close();
  }),
);

test(
  'a device that is set read-only says so when it is opened, and refuses each write',
  whereItCanRun(async () => {
    const device = loopDevice(1 << 20, ['--read-only']);
    const disk = await DirectFile.open(device, { write: true });
    assert.equal(disk.granted.write, false);
    assert.match(disk.granted.writeRefused, /set read-only.*blockdev --setrw/);
    await assert.rejects(disk.write(disk.allocate(4096), 0), { code: 'EPERM', bytesWritten: 0 });
    await disk.close();
  }),
);

test(
  'a device that is mounted is busy, and the error says where',
  whereItCanRun(async () => {
    const { device, folder } = ext4(4 << 20);
    await assert.rejects(DirectFile.open(device, { write: true }), {
      code: 'EBUSY',
      path: device,
      syscall: 'open(O_RDWR|O_EXCL|O_DIRECT)',
      hint: new RegExp(`${device} is mounted on ${folder} \\(umount ${folder}\\)`),
    });
    // Looking at it does no harm.
    const reader = await DirectFile.open(device);
    assert.equal(reader.granted.exclusive, 'none');
    await reader.close();
  }),
);

test(
  'a device that another one has claimed is busy, and the error names the process',
  whereItCanRun(async () => {
    const device = loopDevice(1 << 20);
    const fd = fs.openSync(device, fs.constants.O_RDONLY | O_EXCL);
    try {
      await assert.rejects(DirectFile.open(device, { write: true }), {
        code: 'EBUSY',
        hint: new RegExp(`${device} is open in process ${process.pid}`),
      });
    } finally {
      fs.closeSync(fd);
    }
    const disk = await DirectFile.open(device, { write: true });
    assert.equal(disk.granted.exclusive, 'claim');
    await disk.close();
  }),
);

/** How a write fails that must not succeed. */
async function failure(write) {
  return write.then(
    () => assert.fail('there is no room for this'),
    (error) => error,
  );
}

test(
  'a disk that fills up says how much was written, and how much is free',
  whereItCanRun(async () => {
    const { folder } = ext4(4 << 20);
    const path = join(folder, 'file');
    for (const direct of ['required', 'off']) {
      const options = { write: true, create: true, truncate: true, direct };
      const file = await DirectFile.open(path, options);
      const buffer = file.allocate(8 << 20).fill(1);
      const error = await failure(file.write(buffer, 0));
      const written = error.bytesWritten;
      assert.equal(error.code, 'ENOSPC');
      assert.match(error.hint, /the filesystem is full \(\d+ bytes free\)/);
      // The page cache takes what it can; a direct write may be taken back as a whole.
      assert.ok(written >= (direct === 'off' ? 1 : 0) && written < buffer.length, String(written));
      const read = file.allocate(8 << 20);
      assert.ok((await file.read(read, 0)) >= written);
      assert.ok(read.subarray(0, written).equals(buffer.subarray(0, written)));
      await file.close();
    }
  }),
);

test(
  'a write that ends behind the end of a device says how much of it was written',
  whereItCanRun(async () => {
    const disk = await DirectFile.open(loopDevice(1 << 20), { write: true });
    const buffer = disk.allocate(16384).fill(6);
    const error = await failure(disk.write(buffer, (1 << 20) - 4096));
    assert.equal(error.code, 'ENOSPC');
    assert.equal(error.bytesWritten, 4096);
    const read = disk.allocate(4096);
    assert.equal(await disk.read(read, (1 << 20) - 4096), 4096);
    assert.ok(read.every((byte) => byte === 6));
    await disk.close();
  }),
);
