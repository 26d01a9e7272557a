import { mkdirSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { shortHash } from './paths.mjs';

const SHARED_MEMORY = '/dev/shm';
/** Size of a whole run's databases, and twice as much for everything else. */
const ROOM_BYTES = 6 * 2 ** 30;

/**
 * The in-memory folder for the data of servers in `folder`. A test's processes die, but never the machine, so nothing
 * written is lost, and a stalling disk does not look like a fault of the service.
 */
export function memoryFolder(folder) {
  return join(SHARED_MEMORY, `money-movement-${shortHash(folder)}`);
}

/** Whether data is in memory: as `DATA_IN` says, otherwise if that is `usual` and there is room. */
export function isInMemory(usual) {
  const { DATA_IN: wanted = usual } = process.env;
  return wanted === 'memory' && hasRoom();
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
