// What the native half exports. It trusts its arguments: the rest of this
// folder has checked them, and hands to transfers only memory that is lent or
// that no script can reach.

import type {
  DeviceUnder,
  DirectIOAlignment,
  Durability,
  Geometry,
  Granted,
  SyncDepth,
} from '../index';

/** What was wrong; one of `code` and `errno` is there. */
export interface Fault {
  message: string;
  operation?: string;
  path?: string;
  errno?: number;
  code?: string;
  hint?: string;
  bytesWritten?: number;
}

/** One of the two is there, but for the value of what returns nothing. */
export interface Outcome<T> {
  value?: T;
  fault?: Fault;
}

export type Promised<T> = Promise<Outcome<T>>;

export interface Request {
  read: boolean;
  write: boolean;
  create: boolean;
  createNew: boolean;
  truncate: boolean;
  direct: 'required' | 'preferred' | 'off';
  durability: Durability;
  exclusive?: boolean;
}

export interface OpenFile {
  readonly granted: Granted;
  readonly alignment: DirectIOAlignment;
  /** Of its descriptor; `null` on Windows, and when it is closed. */
  readonly descriptor: number | null;
  read(buffers: Uint8Array[], position: number, stop?: Stop): Promised<number>;
  write(
    buffers: Uint8Array[],
    position: number,
    durability: Durability,
    stop?: Stop,
  ): Promised<void>;
  truncate(length: number, stop?: Stop): Promised<void>;
  sync(depth: SyncDepth, stop?: Stop): Promised<void>;
  size(): Promised<number>;
  close(): Promised<void>;
}

/** Stops the operations that were given it: `ABORT_ERR`. */
export interface Stop {
  stop(): void;
}

export interface Native {
  readonly Stop: new () => Stop;
  readonly O_DIRECT: number;
  readonly O_DSYNC: number;
  readonly O_EXCL: number;
  readonly O_EXLOCK: number;
  readonly O_SYNC: number;
  misalignment(bytes: Uint8Array, alignment: number): number;
  /** A buffer over memory that stays while a transfer uses it; `null` when there is no memory. */
  lend(size: number, alignment: number): Buffer | null;
  isLent(bytes: Uint8Array): boolean;
  alignmentOfPath(path: Uint8Array): Promised<DirectIOAlignment>;
  alignmentOfDescriptor(fd: number): Promised<DirectIOAlignment>;
  geometry(fd: number): Promised<Geometry>;
  geometryUnder(path: Uint8Array): Promised<DeviceUnder>;
  setFileLock(fd: number, locked: boolean): Promised<void>;
  setVolumeLock(fd: number, locked: boolean): Promised<void>;
  setNoCache(fd: number, noCache: boolean): Promised<void>;
  writeDurable(
    fd: number,
    buffer: Uint8Array,
    position: number,
    durability: Durability,
  ): Promised<number>;
  open(path: Uint8Array, request: Request): Promised<OpenFile>;
}
