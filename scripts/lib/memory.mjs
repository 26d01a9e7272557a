import { mkdirSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { shortHash } from './paths.mjs';

const SHARED_MEMORY = '/dev/shm';
/** Space that the databases of a run need. Twice as much memory must be free. */
const ROOM_BYTES = 6 * 2 ** 30;

/**
 * The in-memory folder for the data of servers in `folder`. A test's processes die, but never the machine, so nothing
 * written is lost, and a stalling disk does not look like a fault of the service.
 */
export function memoryFolder(folder) {
  return join(SHARED_MEMORY, `money-movement-${shortHash(folder)}`);
}

/** Returns whether data belongs in memory (by DATA_IN, or else by `byDefault`) and there is room for it. */
export function isInMemory(byDefault) {
  const { DATA_IN: place = byDefault } = process.env;
  return place === 'memory' && hasRoom();
}

function hasRoom() {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize >= ROOM_BYTES && freemem() >= 2 * ROOM_BYTES;
  } catch {
    return false;
  }
}

/** Makes the folder, and one for temporary files in it. */
export function makeFolder(folder) {
  mkdirSync(join(folder, 'tmp'), { recursive: true, mode: 0o700 });
  return folder;
}
