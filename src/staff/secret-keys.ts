import { type Actor, recordAct } from '../access/audit-log.js';
import { ApiError } from '../core/errors.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { staff } from '../db/entities/staff.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { resealedFactor } from './authenticator.js';
import type { StaffParts } from './verification.js';

/** The keys that seal the staff's authenticators, and how an old one is retired. (docs/contract.md, Secrets and personal data) */

/** How many authenticators each key seals. */
export async function countByStaffKey(reader: Reader): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.query(
    `SELECT factor_key_id AS key_id, COUNT(*) AS sealed FROM staff WHERE factor_key_id IS NOT NULL GROUP BY factor_key_id`,
  );
  return new Map(rows.map((row) => [column.string.parse(row.key_id), column.integer.parse(row.sealed)]));
}

/**
 * Seals anew, under the first key, what another key sealed; answers how many authenticators. The staff are few: one transaction.
 * Throws ApiError invalid_state (a key that is needed is not in the ring).
 */
export function rotateStaffKeys({ database, clock, encryptionKeys }: StaffParts, actor: Actor): Promise<number> {
  const [current] = encryptionKeys;
  return transact(database, async (transaction) => {
    let resealed = 0;
    for (const { id, factorKeyId: keyId, factorSecret: bytes } of await transaction.select(
      staff,
      {},
      { forUpdate: true },
    )) {
      if (keyId === null || bytes === null || keyId === current.id) continue;
      if (!encryptionKeys.some((key) => key.id === keyId)) throw missing(keyId);
      const factor = resealedFactor(encryptionKeys, id, { keyId, bytes });
      await transaction.execute(updateSql(staff, { factorKeyId: factor.keyId, factorSecret: factor.bytes }, { id }));
      resealed += 1;
    }
    const act = { tenantId: null, action: 'keys.rotate', subjectType: 'encryption_key', subjectId: current.id };
    if (resealed > 0) await recordAct(transaction, actor, clock(), { ...act, details: { authenticators: resealed } });
    return resealed;
  });
}

function missing(keyId: string): ApiError {
  return new ApiError({
    code: 'invalid_state',
    message: `authenticators of the staff are sealed under a key that ENCRYPTION_KEYS lacks: ${keyId}`,
    details: { current: 'key_missing', allowed: ['all_keys'] },
  });
}
