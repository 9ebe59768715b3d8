// Uses every export as a TypeScript program that is a CommonJS module would. It
// is compiled and never run.

import directIO = require('@diskfacts/direct-io');
import promises = require('@diskfacts/direct-io/promises');
import type { BlockDevice, DirectIOError, Geometry, Granted } from '@diskfacts/direct-io';

const flags: number =
  directIO.O_DIRECT | directIO.O_DSYNC | directIO.O_EXCL | directIO.O_EXLOCK | directIO.O_SYNC;
const buffer: Buffer = directIO.getAlignedBuffer(4096, 4096);

directIO.getBlockDevice(flags, (error, device) => {
  const failed: DirectIOError | undefined = error;
  const answer: BlockDevice = device;
  const sizes: number = answer.logicalSectorSize + answer.physicalSectorSize + answer.size;
  const serial: string = answer.serialNumber;
  console.log(failed?.code, failed?.errno, failed?.syscall, failed?.path, failed?.hint);
  console.log(sizes, serial);
});
directIO.setF_NOCACHE(1, 1, (error) => console.log(error?.message));
directIO.setFlock(1, 0, (error) => console.log(error?.code));
directIO.setFSCTL_LOCK_VOLUME(1, 1, () => {});
directIO.getGeometry(1, (error, geometry) => console.log(error, geometry.model));
directIO.getGeometryUnder('/', (error, under) => console.log(error, under.device));
directIO.getDirectIOAlignment('/file', (error, alignment) => console.log(error, alignment.memory));
directIO.writeDurable(1, buffer, 0, (error, written) => console.log(error, written.toFixed()));
directIO.writeDurable(1, buffer, 0, 'full', (error, written) => console.log(error, written + 1));

async function everything(): Promise<void> {
  const device: BlockDevice = await promises.getBlockDevice(1);
  const same: BlockDevice = await directIO.promises.getBlockDevice(1);
  await promises.setFlock(1, 1);
  await promises.setF_NOCACHE(1, 0);
  await promises.setFSCTL_LOCK_VOLUME(1, 0);
  const geometry: Geometry = await directIO.getGeometry(1);
  const serial: string | null = geometry.serialNumber;
  const under = await promises.getGeometryUnder(Buffer.from('/'));
  const alignment = await directIO.getDirectIOAlignment(new URL('file:///file'));
  const written: number = await directIO.writeDurable(1, new Uint8Array(512), 0, 'data');
  console.log(device, same, serial, under.geometry.size, alignment.source, written);

  await using file = await directIO.DirectFile.open('/file', {
    write: true,
    create: true,
    direct: 'preferred',
    durability: 'data',
    exclusive: false,
  });
  const granted: Granted = file.granted;
  const own: Buffer = file.allocate(4096);
  await file.write(own, 0, { durability: 'full' });
  await file.write(own, 0);
  const read: number = await file.read(own, 0);
  await file.sync();
  await file.sync('data');
  const { signal } = new AbortController();
  const many: number = await file.readv([own, new DataView(own.buffer), new Float64Array(8)], 0, {
    signal,
  });
  await file.writev([own, new BigUint64Array(8)], 0, { signal, durability: 'data' });
  await file.read(new DataView(own.buffer), 0, { signal });
  await file.truncate();
  await file.truncate(100, { signal });
  await file.sync('all', { signal });
  const reader = file.createReadStream({ start: 1, end: 2, highWaterMark: 512, autoClose: false, signal });
  const writer = file.createWriteStream({ start: 1, durability: 'full', signal });
  reader.pipe(writer);
  for await (const chunk of reader) console.log(chunk.length + reader.bytesRead + writer.bytesWritten);
  const handle = await file.toFileHandle();
  const again = await directIO.DirectFile.fromFileHandle(handle, { write: true, signal });
  await again.close();
  console.log(many, reader.path, await handle.stat());
  const size: number = await file.size();
  const closed: boolean = file.closed;
  console.log(granted.direct, granted.directRefused, read, size, closed, file.path);
  await file.close();

  // What must not compile.
  // @ts-expect-error it is opened, not constructed
  new directIO.DirectFile();
  // @ts-expect-error a misspelt option
  await file.write(own, 0, { durabilty: 'data' });
  // @ts-expect-error a string is no buffer
  await file.write('text', 0);
  // @ts-expect-error a read stream writes nothing
  file.createReadStream({ durability: 'data' });
  // @ts-expect-error no such depth
  await file.sync('disk');
  // @ts-expect-error what was granted is told, not set
  file.granted.direct = true;
  // @ts-expect-error a lock is 0 or 1
  await promises.setFlock(1, 2);
  // @ts-expect-error the callback is missing
  directIO.getBlockDevice(1);
}
void everything();
