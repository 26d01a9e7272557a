import type { Uuid } from '../core/ids.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { idempotencyKeys } from '../db/entities/ledger.js';
import { tenants } from '../db/entities/parties.js';
import { literal } from '../db/statements.js';
import { PLAIN_KEY_ID } from '../core/fingerprint.js';

const ROWS_PER_SLICE = 20_000;

/** Counts idempotency keys by the HMAC key of their fingerprint. (docs/contract.md, Idempotency) */
export async function countByFingerprintKey(
  reader: Reader,
  onProgress: (done: number, total: number) => void,
): Promise<ReadonlyMap<string, number>> {
  const counted = new Map<string, number>();
  const all = await reader.select(tenants, {}, { orderBy: ['id'] });
  for (const [index, { id }] of all.entries()) {
    await addCounts(reader, id, counted);
    onProgress(index + 1, all.length);
  }
  // Fingerprints of the service's own commands have no HMAC key.
  counted.delete(PLAIN_KEY_ID);
  return counted;
}

async function addCounts(
  reader: Reader,
  tenantId: Uuid,
  counted: Map<string, number>,
): Promise<void> {
  for (let last = ''; ;) {
    const rows = await reader.query(
      `SELECT fingerprint_key_id, COUNT(*) AS used, MAX(idempotency_key) AS last FROM (
         SELECT idempotency_key, fingerprint_key_id FROM idempotency_keys FORCE INDEX (PRIMARY)
         WHERE tenant_id=${literal(idempotencyKeys, 'tenantId', tenantId)}
           AND idempotency_key>${literal(idempotencyKeys, 'idempotencyKey', last)}
         ORDER BY idempotency_key LIMIT ${ROWS_PER_SLICE}) slice
       GROUP BY fingerprint_key_id`,
    );
    let read = 0;
    for (const row of rows) {
      const [keyId, used] = [
        column.string.parse(row.fingerprint_key_id),
        column.integer.parse(row.used),
      ];
      counted.set(keyId, (counted.get(keyId) ?? 0) + used);
      const newest = column.string.parse(row.last);
      if (newest > last) last = newest;
      read += used;
    }
    if (read < ROWS_PER_SLICE) return;
  }
}
