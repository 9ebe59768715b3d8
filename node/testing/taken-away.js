'use strict';

// Takes memory away while transfers use it, in every way that a script has, and
// prints what came of it:
//
//   node --expose-gc [flags] taken-away.js FOLDER
//
// in a process of its own, because it needs flags, and because without the
// protection it may crash.

const crypto = require('node:crypto');
const fs = require('node:fs');
const { join } = require('node:path');
const { setImmediate: turn } = require('node:timers/promises');
const directIO = require('..');

const SIZE = 1 << 20;
const ROUNDS = 2;

/** Past the guard of the package: the method of the prototype. */
const transfer = ArrayBuffer.prototype.transfer;
/** Gives the memory back to the system at once. */
const free = (memory) => transfer.call(memory, 0);

/** Whose memory is taken. */
const BUFFERS = {
  allocated: (file) => file.allocate(SIZE),
  aligned: () => directIO.getAlignedBuffer(SIZE, 4096),
  others: () => {
    const memory = Buffer.alloc(SIZE + 4096);
    const { misalignment } = require('../lib/native.js');
    const start = (4096 - misalignment(memory, 4096)) % 4096;
    return memory.subarray(start, start + SIZE);
  },
};

/** Starts work that keeps the only thread of the pool busy, so that what comes next waits. */
function occupyPool() {
  return new Promise((resolve) => crypto.pbkdf2('', '', 50_000, 64, 'sha512', resolve));
}

/** Memory of the same size, at the address of what was freed if the system so likes. */
async function others() {
  const all = [];
  for (let count = 0; count < 4; count += 1) {
    all.push(new Uint8Array(SIZE).fill(3), new Uint8Array(SIZE + 4095).fill(3));
    globalThis.gc();
    await turn();
  }
  return all;
}

const unharmed = (all) => all.every((one) => one.every((byte) => byte === 3));
const outcome = (promise) =>
  promise.then(
    (value) => `done: ${value}`,
    (error) => error.code,
  );

async function main(folder) {
  if (process.env.UV_THREADPOOL_SIZE !== '1') throw new Error('this needs UV_THREADPOOL_SIZE=1');
  const path = join(folder, 'file');
  const found = {};
  const note = (key, value) => {
    (found[key] ??= new Set()).add(value);
  };
  for (const [name, make] of Object.entries(BUFFERS)) {
    for (let round = 0; round < ROUNDS; round += 1) {
      fs.writeFileSync(path, Buffer.alloc(SIZE, 5));
      const file = await directIO.DirectFile.open(path, { write: true });
      const fd = fs.openSync(path, 'r+');

      for (const [how, start, expected] of [
        ['read', (buffer) => file.read(buffer, 0), 5],
        ['write', (buffer) => file.write(buffer, 0), 6],
        ['writeDurable', (buffer) => directIO.promises.writeDurable(fd, buffer, 0), 7],
      ]) {
        const buffer = make(file).fill(expected === 5 ? 0 : expected);
        const occupied = occupyPool();
        const started = outcome(start(buffer));
        free(buffer.buffer);
        const all = await others();
        await occupied;
        note(`${how} ${name}`, await started);
        note(`${how} ${name}: other memory unharmed`, unharmed(all));
        const content = fs.readFileSync(path);
        note(`${how} ${name}: file as asked`, content.every((byte) => byte === expected));
      }
      fs.closeSync(fd);
      await file.close();
    }
  }
  const lines = Object.entries(found).map(([key, values]) => [key, [...values]]);
  console.log(JSON.stringify(Object.fromEntries(lines)));
}

if (transfer === undefined) console.log('null');
else main(process.argv[2]);
