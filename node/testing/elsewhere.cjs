'use strict';

// What has to be so on every runtime, in one program without a test runner:
//
//   RUNTIME elsewhere.cjs MODULE FOLDER [DIRECT]
//
// prints the runtime and what was looked at, a line each, and ends with 1 where something is
// wrong. MODULE is the package, FOLDER lies on a filesystem with direct I/O; or
// DIRECT is 'off', under emulators that do not tell what direct I/O asks for.

const assert = require('node:assert');
const fs = require('node:fs');
const { join } = require('node:path');
const { pipeline } = require('node:stream/promises');
const { Readable } = require('node:stream');
const { Worker, isMainThread, workerData } = require('node:worker_threads');

const [name, folder, direct = 'required'] = isMainThread ? process.argv.slice(2) : workerData;
const directIO = require(name);

const open = (path, options) => directIO.DirectFile.open(path, { direct, ...options });

const MIB = 1 << 20;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * The most memory that this process has ever held, after reads into 1 GiB of buffers and
 * writes into half of one, each dropped at once; in bytes.
 *
 * @param {() => Promise<void>} read
 * @param {() => void} fill
 */
async function mostResident(read, fill) {
  for (let count = 0; count < 1024; count += 1) await read();
  for (let count = 0; count < 512; count += 1) {
    fill();
    if (count % 16 === 0) await turn();
  }
  return process.resourceUsage().maxRSS * 1024;
}

/** Each is awaited, in this order. */
const CHECKS = {
  'what is written is read, by buffers of the package, of the heap and of shared memory': async (path) => {
    const file = await open(path, { write: true, create: true });
    const unit = Math.max(file.alignment.memory, file.alignment.length, 512);
    const buffers = [file.allocate(16384), directIO.getAlignedBuffer(16384, 4096)];
    for (const Memory of [ArrayBuffer, SharedArrayBuffer]) {
      const whole = new Uint8Array(new Memory(16384 + 65536));
      const before = buffers.length;
      for (let at = 0; buffers.length === before; at += 8) {
        // Its address is not known: the one that is taken is aligned.
        if (at > unit) throw new Error(`no place of an ${Memory.name} was taken`);
        const part = whole.subarray(at, at + 16384);
        if (await file.write(part, 0).then(() => true, () => false)) buffers.push(part);
      }
    }
    for (const [seed, buffer] of buffers.entries()) {
      for (const other of buffers) {
        buffer.fill(seed + 1);
        await file.write(buffer, 0);
        other.fill(0);
        assert.equal(await file.read(other, 0), 16384);
        assert.ok(other.every((byte) => byte === seed + 1));
      }
    }
    await file.close();
  },

  'streams write and read ranges within blocks': async (path) => {
    const file = await open(path, { write: true, truncate: true });
    const text = Buffer.from('some text that is no block, '.repeat(500));
    await pipeline(Readable.from([text]), file.createWriteStream({ start: 7, autoClose: false }));
    const chunks = [];
    for await (const chunk of file.createReadStream({ start: 7 })) chunks.push(chunk);
    assert.ok(Buffer.concat(chunks).equals(text));
    assert.equal(fs.statSync(path).size, 7 + text.length);
    await file.close();
  },

  'vectors, a signal, and a FileHandle': async (path) => {
    const file = await open(path, { write: true });
    const buffers = [file.allocate(4096).fill(1), file.allocate(8192).fill(2)];
    await file.writev(buffers, 0);
    assert.equal(await file.readv(buffers, 0), 12288);
    assert.ok(buffers[1].every((byte) => byte === 2));
    const { signal } = new AbortController();
    await file.read(buffers[0], 0, { signal });
    await assert.rejects(file.read(buffers[0], 0, { signal: AbortSignal.abort() }), {
      code: 'ABORT_ERR',
    });
    if (process.platform === 'linux') {
      const handle = await file.toFileHandle();
      await file.close();
      const again = await directIO.DirectFile.fromFileHandle(handle, { direct });
      assert.equal(await again.size(), (await handle.stat()).size);
      await handle.close();
      await again.close();
    }
    await file.close();
  },

  'errors say what is wrong': async (path) => {
    await assert.rejects(open(join(path, 'below')), { code: 'ENOTDIR' });
    const file = await open(path);
    const buffer = file.allocate(4096);
    await assert.rejects(file.write(buffer, 0), { code: 'EBADF' });
    await assert.rejects(file.read(buffer, -1), { code: 'ERR_OUT_OF_RANGE', name: 'RangeError' });
    await assert.rejects(file.read('text', 0), { code: 'ERR_INVALID_ARG_TYPE', name: 'TypeError' });
    const reading = file.read(buffer, 0);
    await assert.rejects(file.read(buffer, 0), { code: 'ERR_BUFFER_BUSY' });
    await reading;
    await file.close();
  },

  'memory that is taken away meanwhile harms nobody': async (path) => {
    const take = ArrayBuffer.prototype.transfer;
    if (take === undefined) return;
    for (const make of [(file) => file.allocate(MIB), () => directIO.getAlignedBuffer(MIB, 4096)]) {
      const file = await open(path, { write: true });
      await file.write(file.allocate(MIB).fill(5), 0);
      const buffer = make(file);
      const reading = file.read(buffer, 0).then(() => undefined, (error) => error.code);
      try {
        take.call(buffer.buffer, 0);
      } catch {
        // Some runtimes refuse it.
      }
      const others = Array.from({ length: 8 }, () => new Uint8Array(MIB).fill(3));
      assert.ok([undefined, 'ERR_BUFFER_DETACHED'].includes(await reading));
      assert.ok(others.every((other) => other.every((byte) => byte === 3)));
      await file.close();
    }
  },

  '1.5 GiB of buffers in turn need little more memory than ArrayBuffers do': async (path) => {
    // A runtime holds much of what was dropped for a while, each as much as it likes.
    const plain = await fs.promises.open(path);
    const ofArrays = await mostResident(
      async () => void (await plain.read(new Uint8Array(MIB), 0, MIB, 0)),
      () => void new Uint8Array(MIB).fill(1),
    );
    await plain.close();
    const file = await open(path);
    const most = await mostResident(
      async () => void (await file.read(file.allocate(MIB), 0)),
      () => void directIO.getAlignedBuffer(MIB, 4096).fill(1),
    );
    await file.close();
    // Deno (2.9) holds 300 MiB of what was lent to it, and V8's other owners 100.
    const more = (process.versions.deno ? 448 : 192) * MIB;
    assert.ok(most < ofArrays + more, `${most} bytes, and ${ofArrays} of ArrayBuffers`);
  },

  'a worker ends as it should with a buffer that was read into': async () => {
    const worker = new Worker(__filename, { workerData: [name, folder, direct] });
    assert.equal(await new Promise((resolve) => worker.on('exit', resolve)), 0);
  },
};

async function readAndKeep() {
  const file = await open(join(folder, 'elsewhere'));
  globalThis.kept = [file.allocate(4096), directIO.getAlignedBuffer(4096, 4096)];
  for (const buffer of globalThis.kept) await file.read(buffer, 0);
  await file.close();
}

async function main() {
  const { bun, deno, node } = process.versions;
  console.log(bun ? `bun ${bun}` : deno ? `deno ${deno}` : `node ${node}`);
  const path = join(folder, 'elsewhere');
  let failed = 0;
  for (const [check, body] of Object.entries(CHECKS)) {
    try {
      await body(path);
      console.log(`ok: ${check}`);
    } catch (error) {
      failed += 1;
      console.log(`failed: ${check}: ${error.stack}`);
    }
  }
  // This process ends with such a buffer, too.
  await readAndKeep();
  console.log(`${Object.keys(CHECKS).length - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

if (isMainThread) main();
else readAndKeep();
