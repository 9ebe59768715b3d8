import type {
  BlockDevice,
  DeviceUnder,
  DirectIOAlignment,
  Geometry,
  Path,
} from './index';

/** As `getBlockDevice(fd, callback)`. */
export function getBlockDevice(fd: number): Promise<BlockDevice>;
/** As `setF_NOCACHE(fd, value, callback)`. */
export function setF_NOCACHE(fd: number, value: 0 | 1): Promise<void>;
/** As `setFlock(fd, value, callback)`. */
export function setFlock(fd: number, value: 0 | 1): Promise<void>;
/** As `setFSCTL_LOCK_VOLUME(fd, value, callback)`. */
export function setFSCTL_LOCK_VOLUME(fd: number, value: 0 | 1): Promise<void>;

export function getDirectIOAlignment(pathOrFd: Path | number): Promise<DirectIOAlignment>;
export function getGeometry(fd: number): Promise<Geometry>;
export function getGeometryUnder(path: Path): Promise<DeviceUnder>;
export function writeDurable(
  fd: number,
  buffer: NodeJS.ArrayBufferView,
  position: number,
  durability?: 'data' | 'full',
): Promise<number>;
