import promises from './promises.js';

export const {
  getBlockDevice,
  getDirectIOAlignment,
  getGeometry,
  getGeometryUnder,
  setF_NOCACHE,
  setFlock,
  setFSCTL_LOCK_VOLUME,
  writeDurable,
} = promises;
export default promises;
