import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** Everything that running leaves behind; listed in .gitignore. */
export const RUN = join(ROOT, '.run');

/** For what is built or downloaded once for all of this user's checkouts. */
export const CACHE = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'money-movement',
);

/** The path of a file below a folder; `relative`, for any paths, takes much longer for a thousand files. */
export const pathIn = (folder, file) => file.slice(folder.length + 1);

/** A short name for a text or a file's content. */
export function shortHash(content) {
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}
