import { type Actor, recordAct } from '../access/audit-log.js';
import { ApiError } from '../core/errors.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import { seal, unseal } from '../core/secret-box.js';
import * as column from '../db/columns.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { verifications } from '../db/entities/identity.js';
import { literal, selectSql, upsertSql } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { transact } from '../db/transact.js';
import { sealContext } from './verification.js';

/** The keys that seal document numbers, and how an old one is retired. (docs/contract.md, Secrets and personal data) */

const CHUNK = 500;

/** How many document numbers each key seals. */
export async function countByDocumentKey(reader: Reader): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.query(
    'SELECT document_key_id, COUNT(*) AS sealed FROM verifications GROUP BY document_key_id',
  );
  return new Map(rows.map((row) => [column.string.parse(row.document_key_id), column.integer.parse(row.sealed)]));
}

export interface RotationParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryptionKeys: Keyring;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Seals anew, under the first key, every document number that another key sealed; answers how many. None is left when it
 * ends, so once every process has the new first key an old one may be taken out of the configuration. May be cut off and
 * run again. Throws ApiError invalid_state (a key that is needed is not in the ring).
 */
export async function rotateDocumentKeys(parts: RotationParts, actor: Actor): Promise<number> {
  const { database, encryptionKeys, onProgress } = parts;
  const [current] = encryptionKeys;
  const inUse = await countByDocumentKey(database.reader);
  const missing = [...inUse.keys()].filter((id) => !encryptionKeys.some((key) => key.id === id));
  if (missing.length > 0)
    throw new ApiError({
      code: 'invalid_state',
      message: `document numbers are sealed under keys that ENCRYPTION_KEYS lacks: ${missing.join(', ')}`,
      details: { current: 'key_missing', allowed: ['all_keys'] },
    });
  const total = [...inUse].reduce((sum, [id, count]) => (id === current.id ? sum : sum + count), 0);
  const notCurrent = `document_key_id<>${literal(verifications, 'documentKeyId', current.id)}`;
  const older = `SELECT account_id FROM verifications WHERE ${notCurrent} LIMIT ${CHUNK}`;
  for (let done = 0; ; onProgress(done, Math.max(done, total))) {
    const rows = await database.reader.query(older);
    if (rows.length === 0) return done;
    const ids = rows.map((row) => column.uuid.parse(row.account_id));
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
  const locked = await transaction.query(
    selectSql(verifications, { accountId: ids }, { orderBy: ['accountId'], forUpdate: true }),
  );
  const rows = locked.map((stored) => {
    const row = parseRow(verifications, stored);
    const context = sealContext(row.accountId);
    const number = unseal(encryptionKeys, { keyId: row.documentKeyId, bytes: row.documentNumber }, context);
    const sealed = seal(encryptionKeys, number, context);
    return { ...row, documentNumber: sealed.bytes, documentKeyId: sealed.keyId };
  });
  await transaction.execute(upsertSql(verifications, rows, ['documentNumber', 'documentKeyId']));
  await recordAct(transaction, actor, clock(), {
    tenantId: null,
    action: 'keys.rotate',
    subjectType: 'encryption_key',
    subjectId: encryptionKeys[0].id,
    details: { documents: rows.length },
  });
}
