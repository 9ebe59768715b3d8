// The same package from an ES module: by name, as a whole, and its promises.

import directIO, {
  DirectFile,
  O_DIRECT,
  O_DSYNC,
  O_EXCL,
  O_EXLOCK,
  O_SYNC,
  getAlignedBuffer,
  getBlockDevice,
  getDirectIOAlignment,
  getGeometry,
  getGeometryUnder,
  promises,
  setF_NOCACHE,
  setFSCTL_LOCK_VOLUME,
  setFlock,
  writeDurable,
  type DirectFileOptions,
  type DirectIOAlignment,
} from '@diskfacts/direct-io';
import * as named from '@diskfacts/direct-io/promises';
import whole from '@diskfacts/direct-io/promises';

const options: DirectFileOptions = { direct: 'required' };
const file: DirectFile = await DirectFile.open('/file', options);
const alignment: DirectIOAlignment = await getDirectIOAlignment(1);
const same: typeof DirectFile = directIO.DirectFile;
const buffer: Buffer = getAlignedBuffer(alignment.length, alignment.memory);
console.log(file.alignment.source, same, O_DIRECT | O_DSYNC | O_EXCL | O_EXLOCK | O_SYNC);
getBlockDevice(1, () => {});
setF_NOCACHE(1, 1, () => {});
setFlock(1, 1, () => {});
setFSCTL_LOCK_VOLUME(1, 1, () => {});
console.log(await getGeometry(1), await getGeometryUnder('/'), await writeDurable(1, buffer, 0));
console.log(await promises.getBlockDevice(1), await named.getGeometry(1));
console.log(await whole.writeDurable(1, buffer, 0, 'full'));

// @ts-expect-error there is no such export
console.log(directIO.getBuffer);
