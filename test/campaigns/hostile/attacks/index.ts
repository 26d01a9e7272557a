import type { Attack } from '../battlefield.js';
import { brokenFileAttack } from './broken-files.js';
import { batchFlood, executionFlood, quotaFlood, slowUploads } from './shares.js';
import { callbackFlood, guessedRecipients } from './strangers.js';
import { formatCodes, sharedStrings } from './workbooks.js';

/** Every attack that must fail. Another one is another entry. */
export const ATTACKS: readonly Attack[] = [
  formatCodes,
  sharedStrings,
  slowUploads,
  batchFlood,
  executionFlood,
  quotaFlood,
  guessedRecipients,
  callbackFlood,
  // Ten thousand without the service around them: `prove -- broken-files`.
  brokenFileAttack({ seed: 16, files: 1_000 }),
];
