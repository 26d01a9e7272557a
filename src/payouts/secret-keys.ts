import { type Actor, recordAct } from '../access/audit-log.js';
import type { RotationParts } from '../accounts/document-keys.js';
import { ApiError } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import * as column from '../db/columns.js';
import type { Reader, Transaction } from '../db/database.js';
import { payoutSecrets } from '../db/entities/payouts.js';
import { literal, selectSql, upsertSql } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { transact } from '../db/transact.js';
import { openSecrets, sealSecrets } from './secrets.js';

/**
 * The keys that seal the bank accounts of payouts, and how an old one is retired.
 * (docs/contract.md, Secrets and personal data)
 */

const CHUNK = 500;

/** How many payouts each key seals. */
export async function countByPayoutKey(reader: Reader): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.query('SELECT key_id, COUNT(*) AS sealed FROM payout_secrets GROUP BY key_id');
  return new Map(rows.map((row) => [column.string.parse(row.key_id), column.integer.parse(row.sealed)]));
}

/**
 * Seals anew, under the first key, what another key sealed; answers how many payouts. May be cut off and run again. Throws
 * ApiError invalid_state (a key that is needed is not in the ring).
 */
export async function rotatePayoutKeys(parts: RotationParts, actor: Actor): Promise<number> {
  const { database, encryptionKeys, onProgress } = parts;
  const [current] = encryptionKeys;
  const inUse = await countByPayoutKey(database.reader);
  const missing = [...inUse.keys()].filter((id) => !encryptionKeys.some((key) => key.id === id));
  if (missing.length > 0)
    throw new ApiError({
      code: 'invalid_state',
      message: `bank accounts of payouts are sealed under keys that ENCRYPTION_KEYS lacks: ${missing.join(', ')}`,
      details: { current: 'key_missing', allowed: ['all_keys'] },
    });
  const total = [...inUse].reduce((sum, [id, count]) => (id === current.id ? sum : sum + count), 0);
  const older = `SELECT id FROM payout_secrets WHERE key_id<>${literal(payoutSecrets, 'keyId', current.id)} LIMIT ${CHUNK}`;
  for (let done = 0; ; onProgress(done, Math.max(done, total))) {
    const rows = await database.reader.query(older);
    if (rows.length === 0) return done;
    const ids = rows.map((row) => column.uuid.parse(row.id));
    await transact(database, (transaction) => reseal(transaction, parts, ids, actor));
    done += ids.length;
  }
}

async function reseal(
  transaction: Transaction,
  { encryptionKeys, clock }: RotationParts,
  ids: readonly Uuid[],
  actor: Actor,
): Promise<void> {
  const locked = await transaction.query(selectSql(payoutSecrets, { id: ids }, { orderBy: ['id'], forUpdate: true }));
  const rows = locked.map((stored) => {
    const sealed = parseRow(payoutSecrets, stored);
    return sealSecrets(encryptionKeys, sealed.id, openSecrets(encryptionKeys, sealed));
  });
  await transaction.execute(upsertSql(payoutSecrets, rows, ['accountNumber', 'holderDocument', 'keyId']));
  await recordAct(transaction, actor, clock(), {
    tenantId: null,
    action: 'keys.rotate',
    subjectType: 'encryption_key',
    subjectId: encryptionKeys[0].id,
    details: { payouts: rows.length },
  });
}
