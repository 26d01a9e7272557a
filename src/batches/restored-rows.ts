import { uuid, string, time } from '../db/columns.js';
import type { Uuid } from '../core/ids.js';
import type { Reader } from '../db/database.js';
import type { Batch } from '../db/entities/batches.js';
import { rowIds } from './row-storage.js';

/** Open rows that a rail may have paid in time that a restore lost. (docs/payouts.md, What a restore does to payouts) */

const LAST_NUMBER = 2 ** 32 - 1;

/** Findings about rows of a batch, of restores since its upload and of one that has not ended. */
interface RestoredRows {
  /** True while a restore that lost data has not asked every rail, so that any row may be paid. */
  readonly isUnqueried: boolean;
  /** The rail that has the row, for each row that a rail has reported. */
  readonly railOf: ReadonlyMap<Uuid, string>;
}

/** Reads the findings about the rows from `first` to `last`, in the order of the file. */
export async function readRestoredRows(
  reader: Reader,
  { createdAt }: Pick<Batch, 'createdAt'>,
  first: Uuid,
  last: Uuid,
): Promise<RestoredRows> {
  const rows = await reader.query(
    `SELECT r.restored_to, r.rails_queried_at, f.payout_id, f.rail
     FROM restores r LEFT JOIN restore_findings f
       ON f.restore_id=r.id AND f.payout_id BETWEEN ${uuid.literal(first)} AND ${uuid.literal(last)}
     WHERE r.finished_at IS NULL OR r.finished_at>=${time.literal(createdAt)}`,
  );
  const found = rows.filter((row) => row.payout_id !== null);
  return {
    isUnqueried: rows.some((row) => row.restored_to !== null && row.rails_queried_at === null),
    railOf: new Map(found.map((row) => [uuid.parse(row.payout_id), string.parse(row.rail)])),
  };
}

/** Returns whether a rail may have paid a row of the batch that is not settled here. */
export async function isKnownToRail(reader: Reader, batch: Batch): Promise<boolean> {
  if (batch.kind !== 'payout') return false;
  const idOf = rowIds(batch.id);
  const { isUnqueried, railOf } = await readRestoredRows(reader, batch, idOf(0), idOf(LAST_NUMBER));
  if (isUnqueried || railOf.size === 0) return isUnqueried;
  // The file is being read, and the batch may be ready, with further rows, when the caller's command is decided.
  if (batch.status === 'validating') return true;
  const pending = await reader.query(
    `SELECT id FROM batch_rows FORCE INDEX (status)
     WHERE batch_id=${uuid.literal(batch.id)} AND status='pending'`,
  );
  return pending.some((row) => railOf.has(uuid.parse(row.id)));
}
