import { basename } from 'node:path';
import { CURRENT_VERSION } from '../core/versions.js';
import { packageVersion } from '../http/build-info.js';

/** How the command line was called: what its help and its remarks tell people to type. */
export const PROGRAM = basename(process.argv[1] ?? '').startsWith('money-ops') ? 'money-ops' : 'npm run ops --';

/** Of the package, and the newest of the API. */
export function versionText(): string {
  return `${packageVersion()} (API ${CURRENT_VERSION})`;
}
