'use strict';

// What disks say about themselves, and what direct I/O asks for.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { pathToFileURL } = require('node:url');
const test = require('node:test');
const directIO = require('..');
const { ext4, loopDevice, mounted } = require('../testing/devices.js');
const { needLinux, run, whereItCanRun } = require('../testing/programs.js');
const { directFile, scratchFile, scratchFolder } = require('../testing/scratch.js');

const { promises } = directIO;

/** Opens for the time of a call. */
async function withOpen(path, body) {
  const fd = fs.openSync(path, 'r');
  try {
    return await body(fd);
  } finally {
    fs.closeSync(fd);
  }
}

test(
  'a loop device of either sector size tells its sizes, and has no serial number',
  whereItCanRun(async () => {
    for (const sector of [512, 4096]) {
      const device = loopDevice(8 << 20, [`--sector-size=${sector}`]);
      await withOpen(device, async (fd) => {
        const answer = await promises.getBlockDevice(fd);
        assert.deepEqual(Object.keys(answer), [
          'logicalSectorSize',
          'physicalSectorSize',
          'size',
          'serialNumber',
        ]);
        assert.equal(answer.logicalSectorSize, sector);
        assert.ok(answer.physicalSectorSize >= sector);
        assert.equal(answer.size, 8 << 20);
        assert.equal(answer.serialNumber, '');

        const geometry = await directIO.getGeometry(fd);
        assert.equal(geometry.logicalSectorSize, sector);
        assert.equal(geometry.size, 8 << 20);
        assert.equal(geometry.serialNumber, null);
        assert.match(geometry.serialNumberAbsent, /./);
        assert.equal(geometry.readOnly, false);
        assert.deepEqual(await promises.getGeometry(fd), geometry);

        const alignment = await directIO.getDirectIOAlignment(device);
        assert.equal(alignment.offset, sector);
        assert.equal(alignment.length, sector);
        assert.deepEqual(await directIO.getDirectIOAlignment(fd), alignment);
      });
    }
  }),
);

test(
  'blockdev, which asks the same kernel, says the same',
  whereItCanRun(async () => {
    const device = loopDevice(3 << 20);
    const asked = (flag) => Number(run('blockdev', [flag, device]));
    await withOpen(device, async (fd) => {
      assert.deepEqual(await promises.getBlockDevice(fd), {
        logicalSectorSize: asked('--getss'),
        physicalSectorSize: asked('--getpbsz'),
        size: asked('--getsize64'),
        serialNumber: '',
      });
    });
  }),
);

test(
  'what is no disk is refused in the words of the original, with codes, paths and hints',
  whereItCanRun(async () => {
    needLinux();
    const file = scratchFile('no disk');
    for (const [path, message, code, hint] of [
      [file, 'fd is not a block or character device', 'ENOTBLK', /ask getGeometryUnder/],
      ['/dev/zero', 'BLKSSZGET failed', 'ENOTBLK', /ask getGeometryUnder/],
    ]) {
      await withOpen(path, (fd) =>
        assert.rejects(promises.getBlockDevice(fd), { name: 'Error', message, code, path, hint }),
      );
    }
    const fd = fs.openSync(file, 'r');
    fs.closeSync(fd);
    await assert.rejects(promises.getBlockDevice(fd), {
      message: 'fstat failed',
      code: 'EBADF',
      errno: -9,
      syscall: 'fstat',
    });
    await assert.rejects(promises.getGeometry(fd), {
      message: new RegExp(`^fstat failed on descriptor ${fd}: Bad file descriptor`),
      code: 'EBADF',
    });
  }),
);

test(
  'the disk under a file is found by string, bytes and URL',
  whereItCanRun(async () => {
    const { device, folder } = ext4(16 << 20);
    const file = `${folder}/file`;
    fs.writeFileSync(file, 'on it');
    const under = await directIO.getGeometryUnder(file);
    assert.equal(under.device, device);
    assert.equal(under.fileSystem, 'ext4');
    assert.equal(under.geometry.size, 16 << 20);
    const number = fs.statSync(device).rdev;
    assert.deepEqual([under.major, under.minor], [number >> 8, number & 255]);
    for (const path of [Buffer.from(file), pathToFileURL(file), folder]) {
      assert.deepEqual(await promises.getGeometryUnder(path), under);
    }
  }),
);

test(
  'a file in memory has no disk under it',
  whereItCanRun(async () => {
    const folder = mounted(['-t', 'tmpfs', 'none']);
    await assert.rejects(directIO.getGeometryUnder(folder), {
      code: 'ENOTSUP',
      path: folder,
      hint: /tmpfs filesystem/,
    });
  }),
);

test(
  'the alignment of a file is a power of 2, and a transfer that obeys it works',
  whereItCanRun(async () => {
    const file = directFile(Buffer.alloc(1 << 16, 'x'));
    const alignment = await directIO.getDirectIOAlignment(file);
    for (const name of ['memory', 'offset', 'length']) {
      assert.equal(Math.log2(alignment[name]) % 1, 0, name);
    }
    assert.match(alignment.source, /^(kernel|logical-sector|no-rule|assumed)$/);
    assert.equal(alignment.reason === null, alignment.source !== 'assumed');
    const fd = fs.openSync(file, fs.constants.O_RDONLY | directIO.O_DIRECT);
    try {
      const buffer = directIO.getAlignedBuffer(
        Math.max(alignment.length, 512),
        Math.max(alignment.memory, 8),
      );
      assert.equal(fs.readSync(fd, buffer, 0, buffer.length, alignment.offset), buffer.length);
    } finally {
      fs.closeSync(fd);
    }
  }),
);

test(
  'what has no direct I/O has no alignment, and a pipe is not waited for',
  whereItCanRun(async () => {
    needLinux();
    const folder = scratchFolder();
    const pipe = `${folder}/pipe`;
    run('mkfifo', [pipe]);
    for (const path of [folder, pipe, '/dev/zero']) {
      await assert.rejects(directIO.getDirectIOAlignment(path), { code: 'ENOTSUP', path });
    }
    await assert.rejects(directIO.getDirectIOAlignment(`${folder}/missing`), {
      code: 'ENOENT',
      path: `${folder}/missing`,
    });
  }),
);
