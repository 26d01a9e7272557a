import type { Row } from '../row.js';
import { approvalsRow } from './approvals.js';
import { batchRows } from './batch.js';
import { bytesRow } from './bytes.js';
import { cpuRows } from './cpu.js';
import { deskRow } from './desk.js';
import { expiriesRow } from './expiries.js';
import { growthRow } from './growth.js';
import { listsRow } from './lists.js';
import { idleRow } from './idle.js';
import { movementsRow } from './movements.js';
import { processRows } from './processes.js';
import { readRows } from './reads.js';
import { replaysRow } from './replays.js';
import { startRow } from './start.js';
import { statementRow } from './statement.js';
import { transferRows } from './transfers.js';
import { webhookRows } from './webhooks.js';

/** Every row, in the order in which they are run and shown. */
const ROWS: readonly Row[] = [
  ...transferRows,
  ...cpuRows,
  ...processRows,
  bytesRow,
  replaysRow,
  ...readRows,
  movementsRow,
  listsRow,
  statementRow,
  deskRow,
  approvalsRow,
  expiriesRow,
  ...webhookRows,
  ...batchRows,
  growthRow,
  idleRow,
  startRow,
];

/**
 * Returns the rows that the words name, by a whole name or by its first words (`transfers` for `transfers-hot`).
 * Without words, returns all rows. Throws if a word names no row.
 */
export function chooseRows(words: readonly string[]): readonly Row[] {
  const names = (word: string) => (row: Row) =>
    row.name === word || row.name.startsWith(`${word}-`);
  const unknown = words.find((word) => !ROWS.some(names(word)));
  if (unknown !== undefined)
    throw new Error(
      `there is no row ${unknown}; there are ${ROWS.map(({ name }) => name).join(', ')}`,
    );
  return words.length === 0 ? ROWS : ROWS.filter((row) => words.some((word) => names(word)(row)));
}
