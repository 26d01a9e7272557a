import { type Actor, recordAct } from '../access/audit-log.js';
import { ApiError } from '../core/errors.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import { type Sealed, seal, unseal } from '../core/secret-box.js';
import * as column from '../db/columns.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import { literal, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { sealContext } from './secrets.js';

/** The keys that seal webhook secrets, and how an old one is retired. (docs/contract.md, Secrets and personal data) */

const CHUNK = 100;

/** How many secrets each key seals: present ones, and those before a rotation. */
export async function countBySecretKey(reader: Reader): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.query(
    `SELECT key_id, COUNT(*) AS sealed FROM (SELECT secret_key_id AS key_id FROM webhook_endpoints
       UNION ALL SELECT previous_secret_key_id FROM webhook_endpoints WHERE previous_secret_key_id IS NOT NULL) k
     GROUP BY key_id`,
  );
  return new Map(rows.map((row) => [column.string.parse(row.key_id), column.integer.parse(row.sealed)]));
}

export interface SecretRotationParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryptionKeys: Keyring;
  readonly onProgress: (done: number, total: number) => void;
}

/** Throws ApiError invalid_state when a key that is needed is not in the ring. */
export async function assertSecretKeys(reader: Reader, keys: Keyring): Promise<void> {
  const inUse = await countBySecretKey(reader);
  const missing = [...inUse.keys()].filter((id) => !keys.some((key) => key.id === id));
  if (missing.length === 0) return;
  throw new ApiError({
    code: 'invalid_state',
    message: `webhook secrets are sealed under keys that ENCRYPTION_KEYS lacks: ${missing.join(', ')}`,
    details: { current: 'key_missing', allowed: ['all_keys'] },
  });
}

/**
 * Seals anew, under the first key, every webhook secret that another key sealed; answers of how many endpoints. May be cut off
 * and run again. Throws ApiError invalid_state (a key that is needed is not in the ring).
 */
export async function rotateSecretKeys(parts: SecretRotationParts, actor: Actor): Promise<number> {
  const { database, encryptionKeys, onProgress } = parts;
  await assertSecretKeys(database.reader, encryptionKeys);
  const current = literal(webhookEndpoints, 'secretKeyId', encryptionKeys[0].id);
  const older = `secret_key_id<>${current} OR previous_secret_key_id<>${current}`;
  const [counted] = await database.reader.query(`SELECT COUNT(*) AS older FROM webhook_endpoints WHERE ${older}`);
  const total = column.integer.parse(counted?.older);
  for (let done = 0; ; onProgress(done, Math.max(done, total))) {
    const rows = await database.reader.query(`SELECT id FROM webhook_endpoints WHERE ${older} LIMIT ${CHUNK}`);
    if (rows.length === 0) return done;
    const ids = rows.map((row) => column.uuid.parse(row.id));
    await transact(database, (transaction) => reseal(transaction, parts, ids, actor));
    done += ids.length;
  }
}

async function reseal(
  transaction: Transaction,
  { encryptionKeys, clock }: SecretRotationParts,
  id: readonly Uuid[],
  actor: Actor,
): Promise<void> {
  const locked = await transaction.select(webhookEndpoints, { id }, { orderBy: ['id'], forUpdate: true });
  // Only these columns: the others may belong to a drain that waits for the lock.
  await transaction.all(
    locked.map((endpoint) => updateSql(webhookEndpoints, resealed(encryptionKeys, endpoint), { id: endpoint.id })),
  );
  await recordAct(transaction, actor, clock(), {
    tenantId: null,
    action: 'keys.rotate',
    subjectType: 'encryption_key',
    subjectId: encryptionKeys[0].id,
    details: { webhook_endpoints: locked.length },
  });
}

function resealed(keys: Keyring, endpoint: WebhookEndpoint): Partial<WebhookEndpoint> {
  const context = sealContext(endpoint.id);
  const anew = (sealed: Sealed): Sealed => seal(keys, unseal(keys, sealed, context), context);
  const present = anew({ keyId: endpoint.secretKeyId, bytes: endpoint.secret });
  const set = { secret: present.bytes, secretKeyId: present.keyId };
  const { previousSecret, previousSecretKeyId } = endpoint;
  if (previousSecret === null || previousSecretKeyId === null) return set;
  const previous = anew({ keyId: previousSecretKeyId, bytes: previousSecret });
  return { ...set, previousSecret: previous.bytes, previousSecretKeyId: previous.keyId };
}
