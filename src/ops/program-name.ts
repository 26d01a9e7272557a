import { basename } from 'node:path';
import { CURRENT_VERSION } from '../core/versions.js';
import { packageVersion } from '../http/metrics.js';

/** The name by which the command line was called, used in its help and remarks. */
export const PROGRAM = basename(process.argv[1] ?? '').startsWith('money-ops')
  ? 'money-ops'
  : 'npm run ops --';

export function versionText(): string {
  return `${packageVersion()} (API ${CURRENT_VERSION})`;
}
