import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { z } from 'zod';
import { CURRENT_VERSION } from '../core/versions.js';

/** How the command line was called: what its help and its remarks tell people to type. */
export const PROGRAM = basename(process.argv[1] ?? '').startsWith('money-ops') ? 'money-ops' : 'npm run ops --';

/** Of the package, and the newest of the API. */
export function versionText(): string {
  const file = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(file));
  return `${version} (API ${CURRENT_VERSION})`;
}
