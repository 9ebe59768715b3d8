/// <reference types="node" />
/// <reference lib="esnext.disposable" />

import type { promises as fsPromises } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type * as promisesModule from './promises';

// ---------------------------------------------------------------------------
// What @ronomon/direct-io 3.0.1 exports

/** Flag of `fs.open`: bypass the page cache. 0 on macOS; see {@link setF_NOCACHE}. */
export const O_DIRECT: number;
/** Flag of `fs.open`: each write waits until the device has the data. */
export const O_DSYNC: number;
/** Flag of `fs.open`, on a Linux block device: keep out mounting and other exclusive opens. */
export const O_EXCL: number;
/** Flag of `fs.open` on macOS, FreeBSD and Windows: keep others out. 0 on Linux. */
export const O_EXLOCK: number;
/** Flag of `fs.open`: each write waits until the device has the data and all metadata. */
export const O_SYNC: number;

/**
 * A zeroed buffer whose address is a multiple of `alignment`.
 *
 * @param size in bytes, 1 to 2147483647; for direct I/O a multiple of the sector size
 * @param alignment in bytes, a power of 2 of 8 to 4194304
 * @throws `ERR_INVALID_ARG_VALUE`, `ERR_OUT_OF_RANGE`, `ENOMEM`; `ERR_BUFFER_COPIED` when the
 *   runtime does not leave the buffer where it was put
 */
export function getAlignedBuffer(size: number, alignment: number): Buffer;

/** What a disk says about itself; sizes in bytes. */
export interface BlockDevice {
  logicalSectorSize: number;
  physicalSectorSize: number;
  size: number;
  /** Without surrounding blanks; empty when there is none. */
  serialNumber: string;
}

/** Asks an open disk about itself; a device without a serial number answers, too. */
export function getBlockDevice(
  fd: number,
  callback: (error: DirectIOError | undefined, device: BlockDevice) => void,
): void;

/** Turns caching of an open file off (1) or on (0). macOS; throws elsewhere. */
export function setF_NOCACHE(fd: number, value: 0 | 1, callback: Done): void;

/** Locks (1) or unlocks (0) an open file by `flock`, without waiting. Throws on Windows. */
export function setFlock(fd: number, value: 0 | 1, callback: Done): void;

/** Locks (1) or unlocks (0) an open volume or disk. Windows; throws elsewhere. */
export function setFSCTL_LOCK_VOLUME(fd: number, value: 0 | 1, callback: Done): void;

/** Called with `undefined`, or with what went wrong. */
export type Done = (error: DirectIOError | undefined) => void;

// ---------------------------------------------------------------------------
// What is new

/** The same functions with promises: also `@diskfacts/direct-io/promises`. */
export const promises: typeof promisesModule;

/** Every error of this package. */
export interface DirectIOError extends Error {
  /** `EBUSY`, `EINVAL`, `ERR_INVALID_ARG_VALUE`: names of the system, of Node, and our own. */
  code: string;
  /** The system's number as Node shows it, below 0. */
  errno?: number;
  /** What was tried, as the system's manual calls it: `open(O_RDWR|O_DIRECT)`. */
  syscall?: string;
  /** What it was tried on. */
  path?: string;
  /** The likely cause and what to do. */
  hint?: string;
  /** How many bytes {@link DirectFile.write} had written before it failed. */
  bytesWritten?: number;
}

/** What direct I/O on one file asks for, in bytes; each is a power of 2. */
export interface DirectIOAlignment {
  /** What the address of the memory must be a multiple of. */
  memory: number;
  /** What the position in the file must be a multiple of. */
  offset: number;
  /** What the length must be a multiple of. */
  length: number;
  /**
   * Who says so: the kernel for this very file; the logical sector of the device; no one, as the
   * system has no such rule; no one, so a memory page is assumed; or the file is not open for
   * direct I/O, and anything will do.
   */
  source: 'kernel' | 'logical-sector' | 'no-rule' | 'assumed' | 'buffered' | 'unknown';
  /** Why it had to be assumed. */
  reason: string | null;
}

/** Everything a disk says about itself; sizes in bytes, `null` for what it does not say. */
export interface Geometry {
  logicalSectorSize: number;
  physicalSectorSize: number;
  size: number;
  serialNumber: string | null;
  /** Why there is no serial number. */
  serialNumberAbsent: string | null;
  model: string | null;
  /** The smallest transfer without a penalty (a RAID's chunk). */
  minimumIoSize: number | null;
  /** The transfer that the device likes best (a RAID's stripe). */
  optimalIoSize: number | null;
  /** How far the first logical sector lies behind a physical one's start. */
  alignmentOffset: number | null;
  rotational: boolean | null;
  readOnly: boolean | null;
}

/** The disk or partition under a file. */
export interface DeviceUnder {
  /** `/dev/sda2`, `\\?\Volume{...}`. */
  device: string;
  major: number | null;
  minor: number | null;
  /** The type of the filesystem. */
  fileSystem: string | null;
  geometry: Geometry;
}

/** A path as Node's fs takes it. */
export type Path = string | Uint8Array | URL;

type Answer<T> = (error: DirectIOError | undefined, value: T) => void;

/** What direct I/O on a file or disk asks for; it is opened for reading to find out. */
export function getDirectIOAlignment(pathOrFd: Path | number): Promise<DirectIOAlignment>;
export function getDirectIOAlignment(
  pathOrFd: Path | number,
  callback: Answer<DirectIOAlignment>,
): void;

/** Everything that an open disk says about itself. */
export function getGeometry(fd: number): Promise<Geometry>;
export function getGeometry(fd: number, callback: Answer<Geometry>): void;

/** The disk under a file or folder; on Linux this needs no right to open the disk. */
export function getGeometryUnder(path: Path): Promise<DeviceUnder>;
export function getGeometryUnder(path: Path, callback: Answer<DeviceUnder>): void;

/**
 * One write that is durable by itself: `RWF_DSYNC` (`'data'`, the default) or `RWF_SYNC`
 * (`'full'`) on Linux, elsewhere a write and a sync.
 *
 * Resolves to the bytes written, which may be fewer than asked; those are durable.
 */
export function writeDurable(
  fd: number,
  buffer: NodeJS.ArrayBufferView,
  position: number,
  durability?: 'data' | 'full',
): Promise<number>;
export function writeDurable(
  fd: number,
  buffer: NodeJS.ArrayBufferView,
  position: number,
  callback: Answer<number>,
): void;
export function writeDurable(
  fd: number,
  buffer: NodeJS.ArrayBufferView,
  position: number,
  durability: 'data' | 'full',
  callback: Answer<number>,
): void;

/**
 * What a write promises when it is done: the system has the data; the device has them and what is
 * needed to read them back; the device has them and all metadata.
 */
export type Durability = 'none' | 'data' | 'full';

/** How deep a sync goes: the data; all metadata, too; the device's cache, too. */
export type SyncDepth = 'data' | 'all' | 'medium';

/** What a signal can stop: `AbortError`, with the code `ABORT_ERR`. */
export interface Abortable {
  signal?: AbortSignal;
}

/** How to write. */
export interface WriteOptions extends Abortable {
  /** What this write promises, beside what every write of the file does. Default `'none'`. */
  durability?: Durability;
}

/** What the streams of a {@link DirectFile} have in common. */
export interface StreamOptions extends Abortable {
  /** The first byte, wherever in the file. Default 0. */
  start?: number;
  /** How much each call moves, in bytes, rounded up to whole blocks. Default 1 MiB. */
  highWaterMark?: number;
  /** Close the file with the stream. Default true. */
  autoClose?: boolean;
}

export interface ReadStreamOptions extends StreamOptions {
  /** The last byte, which is read, too. Default: to the end of the file. */
  end?: number;
}

export interface WriteStreamOptions extends StreamOptions {
  /** What each write promises when it is done. Default `'none'`. */
  durability?: Durability;
}

/** A range of a {@link DirectFile}, in chunks. */
export interface DirectReadStream extends Readable {
  readonly path: string;
  readonly bytesRead: number;
}

/** Writes into a {@link DirectFile} from one place on. */
export interface DirectWriteStream extends Writable {
  readonly path: string;
  /** How many bytes have gone out, of those that it was given. */
  readonly bytesWritten: number;
}

/** How to open a {@link DirectFile}. */
export interface DirectFileOptions extends Abortable {
  /** Default true. */
  read?: boolean;
  /** Default false. */
  write?: boolean;
  /** Make the file if it is missing. Needs `write`. Default false. */
  create?: boolean;
  /** Make the file, and fail if it is there. Needs `write`. Default false. */
  createNew?: boolean;
  /** Empty the file. Needs `write`. Default false. */
  truncate?: boolean;
  /**
   * Bypass the page cache or fail (the default); bypass it if the system grants that, and say why
   * not in {@link Granted.directRefused}; do not.
   */
  direct?: 'required' | 'preferred' | 'off';
  /** What each write promises (`O_DSYNC`, `O_SYNC`). Default `'none'`. */
  durability?: Durability;
  /** Keep others out. Default: true on a disk that is opened for writing, else false. */
  exclusive?: boolean;
}

/** What the system granted, read back from the open file. */
export interface Granted {
  readonly direct: boolean;
  /** Why it is not direct, though that was asked for. */
  readonly directRefused: string | null;
  /** What direct I/O does not mean on this file. */
  readonly directCaveat: string | null;
  readonly durability: Durability;
  /**
   * Who is kept out: no one; those who ask for the same lock; mounting and other exclusive opens;
   * everyone.
   */
  readonly exclusive: 'none' | 'advisory' | 'claim' | 'mandatory' | 'unknown';
  /** Whether the file can be written. */
  readonly write: boolean;
  /** Why it cannot, though that was asked for. */
  readonly writeRefused: string | null;
}

/** A file or disk for direct I/O. */
export class DirectFile {
  private constructor();

  /** Opens a file or disk, by default for reading, past the page cache or not at all. */
  static open(path: Path, options?: DirectFileOptions): Promise<DirectFile>;

  /**
   * Opens the file of a FileHandle again, by these options and not by the handle's flags. Both are
   * closed on their own; the handle must stay open until this is done. Not on Windows.
   */
  static fromFileHandle(
    handle: fsPromises.FileHandle,
    options?: DirectFileOptions,
  ): Promise<DirectFile>;

  /** As it was opened. */
  readonly path: string;
  /** Whether {@link close} was called. */
  readonly closed: boolean;
  readonly granted: Readonly<Granted>;
  readonly alignment: Readonly<DirectIOAlignment>;

  /**
   * A zeroed buffer that fits this file: `size` rounded up to what a length must be, at most
   * 2147483647 bytes. Transfers work on its memory itself, as on that of {@link getAlignedBuffer}
   * and of a SharedArrayBuffer, and on a copy of any other buffer.
   *
   * @throws `ERR_INVALID_ARG_TYPE`, `ERR_OUT_OF_RANGE`, `ENOMEM`
   */
  allocate(size: number): Buffer;

  /**
   * Reads until the buffer is full or the file ends.
   *
   * @returns the bytes read; fewer than asked only at the end of the file
   * @throws `ERR_BUFFER_DETACHED` when the buffer lost its memory meanwhile
   */
  read(buffer: NodeJS.ArrayBufferView, position: number, options?: Abortable): Promise<number>;

  /** Reads into one buffer after the other, in one system call where the system has it. */
  readv(
    buffers: readonly NodeJS.ArrayBufferView[],
    position: number,
    options?: Abortable,
  ): Promise<number>;

  /** Writes all of the buffer, or fails and says how much it wrote. */
  write(buffer: NodeJS.ArrayBufferView, position: number, options?: WriteOptions): Promise<void>;

  /** Writes one buffer after the other, in one system call where the system has it. */
  writev(
    buffers: readonly NodeJS.ArrayBufferView[],
    position: number,
    options?: WriteOptions,
  ): Promise<void>;

  /** Makes the file so many bytes long, 0 if not said: cut, or longer by zeros. */
  truncate(length?: number, options?: Abortable): Promise<void>;

  /** Brings down what was written; by default all the way to the medium. */
  sync(depth?: SyncDepth, options?: Abortable): Promise<void>;

  /** A range of the file, from any byte to any byte; what is read are whole blocks. */
  createReadStream(options?: ReadStreamOptions): DirectReadStream;

  /**
   * A stream into the file, from any byte on and of any length; what is written are whole blocks.
   * One that begins or ends within a block of the file needs a file that is open for reading, too.
   */
  createWriteStream(options?: WriteStreamOptions): DirectWriteStream;

  /**
   * A FileHandle of Node's fs for the same file, with the same access, `O_DIRECT` and durability.
   * Both are closed on their own. Not on Windows.
   */
  toFileHandle(): Promise<fsPromises.FileHandle>;

  /** The size in bytes now, of a disk, too. */
  size(): Promise<number>;

  /** Closes when everything that was started is done. To call it again is no mistake. */
  close(): Promise<void>;

  [Symbol.asyncDispose](): Promise<void>;
}
