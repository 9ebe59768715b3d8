'use strict';

// Runs on Windows: prints what came of each step, as JSON.

const fs = require('node:fs');
const { join } = require('node:path');
const directIO = require('./package');

const { DirectFile, promises } = directIO;

/** What came of it: a value, or the error's code and message. */
async function outcome(promise) {
  return promise.then(
    (value) => ({ value }),
    ({ code, errno, message, hint }) => ({ code, errno, message, hint }),
  );
}

(async () => {
  const path = join(__dirname, 'bytes and ümläute.bin');
  const file = await DirectFile.open(path, { write: true, create: true });
  const buffer = file.allocate(8192).fill(7);
  const read = file.allocate(16384);
  const found = {
    granted: file.granted,
    written: await outcome(file.write(buffer, 0, { durability: 'data' })),
    synced: await outcome(file.sync()),
    size: await outcome(file.size()),
    read: await outcome(file.read(read, 0)),
    equal: read.subarray(0, 8192).equals(buffer),
    misaligned: await outcome(file.write(buffer.subarray(1), 0)),
    closed: await outcome(file.close()),
    missing: await outcome(DirectFile.open(join(__dirname, 'missing'))),
    there: await outcome(DirectFile.open(path, { write: true, createNew: true })),
    noDisk: await outcome(directIO.getGeometryUnder(join(__dirname, 'missing', 'too'))),
  };
  const fd = fs.openSync(path, 'r+');
  found.durable = await outcome(directIO.writeDurable(fd, Buffer.from('hello'), 3));
  found.content = fs.readFileSync(path).toString('latin1', 0, 10);
  found.badDescriptor = await outcome(promises.getBlockDevice(777));
  found.badVolume = await outcome(promises.setFSCTL_LOCK_VOLUME(777, 1));
  found.fileAsDisk = await outcome(promises.getBlockDevice(fd));
  fs.closeSync(fd);
  const held = await DirectFile.open(path, { write: true, exclusive: true });
  found.exclusive = held.granted.exclusive;
  found.second = await outcome(DirectFile.open(path));
  await held.close();
  console.log(JSON.stringify(found));
})();
