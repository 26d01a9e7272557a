import { renameSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { BUILT_SITE } from '../src/http/docs.js';
import { buildSite } from './docs/site/write.js';

/** Writes the docs pages that API processes serve, as a step of the build. */

// Does not delay what starts at the same time.
setPriority(19);
const draft = `${BUILT_SITE}.draft`;
rmSync(draft, { recursive: true, force: true });
await buildSite(draft);
// Renamed, so that a process that starts meanwhile finds a complete folder.
rmSync(BUILT_SITE, { recursive: true, force: true });
renameSync(draft, BUILT_SITE);
