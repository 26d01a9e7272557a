import { mkdirSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { shortHash } from './paths.mjs';

const SHARED_MEMORY = '/dev/shm';
/** What the databases of a whole run take, with twice as much for everything else. */
const ROOM_BYTES = 6 * 2 ** 30;

/**
 * Where the data of servers that live in `folder` is kept in memory. The processes of a test die, never the machine: what
 * they wrote is there either way, and a disk that stalls does not look like a fault of the service.
 */
export function memoryFolder(folder) {
  return join(SHARED_MEMORY, `money-movement-${shortHash(folder)}`);
}

/** Whether data goes to memory: as `DATA_IN` says, and else if that is `usual` and there is room. */
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
