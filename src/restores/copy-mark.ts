import * as column from '../db/columns.js';
import type { Clock } from '../core/instant.js';
import { restores } from '../db/entities/restores.js';
import { newRestore } from './opening.js';

/**
 * Returns the end of a dump, which prevents a service on the copy from posting.
 * (docs/operations/backup.md)
 */
export function copyMark(clock: Clock, database: string): string {
  if (!/^[A-Za-z0-9_]{1,64}$/.test(database))
    throw new RangeError('the database has no plain name');
  const mark = { ...newRestore('copy', clock()), reason: 'this is a copy' };
  const isOpen = `SELECT 1 FROM ${database}.restores WHERE finished_at IS NULL`;
  const columns = restores.columns.map(({ name }) => name).join(',');
  const values = restores.columns.map(({ property, column: own }) =>
    own.literal(mark[property as keyof typeof mark]),
  );
  const now = `${column.string.literal(new Date(mark.beganAt).toISOString())}`;
  return `-- A copy, closed since ${now}: nothing is posted before it is made good (restore begin, restore finish).
INSERT INTO ${database}.restores (${columns}) SELECT ${values.join(',')} FROM DUAL WHERE NOT EXISTS (${isOpen});
`;
}
