import directIO from './index.js';

export const {
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
  setFlock,
  setFSCTL_LOCK_VOLUME,
  writeDurable,
} = directIO;
export default directIO;
