import { randomBytes } from 'node:crypto';
import { LEDGER_UNAVAILABLE, type Refusal } from '../../core/errors.js';
import type { Fingerprint } from '../../core/fingerprint.js';
import type { Uuid } from '../../core/ids.js';
import type { Reader, StoredRow } from '../../db/database.js';
import { type IdempotencyKey, idempotencyKeys } from '../../db/entities/ledger.js';
import { columnList, literal, literals } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';
import type { Answer, Command } from './types.js';

type NamedKey = Pick<Command, 'tenantId' | 'key'>;

export function keyName(command: NamedKey): string {
  return `${command.tenantId}|${command.key}`;
}

export async function findKeys(reader: Reader, commands: readonly NamedKey[]): Promise<BoundKeys> {
  return parseKeys(await reader.query(selectKeysSql(commands)));
}

/** By `keyName`. */
export type BoundKeys = ReadonlyMap<string, IdempotencyKey>;

export function selectKeysSql(commands: readonly NamedKey[]): string {
  const byTenant = new Map<Uuid, Set<string>>();
  for (const { tenantId, key } of commands) {
    const keys = byTenant.get(tenantId) ?? new Set();
    byTenant.set(tenantId, keys.add(key));
  }
  const conditions = Array.from(
    byTenant,
    ([tenantId, keys]) =>
      `(tenant_id=${literal(idempotencyKeys, 'tenantId', tenantId)} AND idempotency_key IN (${literals(idempotencyKeys, 'idempotencyKey', keys)}))`,
  );
  return `SELECT ${columnList(idempotencyKeys)} FROM idempotency_keys WHERE ${conditions.join(' OR ')}`;
}

export function parseKeys(stored: readonly StoredRow[]): BoundKeys {
  const rows = stored.map((row) => parseRow(idempotencyKeys, row));
  return new Map(
    rows.map((row) => [keyName({ tenantId: row.tenantId, key: row.idempotencyKey }), row]),
  );
}

const KEY_REUSED: Refusal = {
  code: 'idempotency_key_reused',
  message: 'this Idempotency-Key was already used for another request',
};

function refused(refusal: Refusal): Answer<never> {
  return { outcome: { done: false, refusal }, replayed: false };
}

/** The result cannot be known here. */
export const UNKNOWN = refused(LEDGER_UNAVAILABLE);
/** The key is bound in a way that this process cannot read, such as under a key that it does not have: another process can tell. */
export const UNKNOWN_KEY = refused(LEDGER_UNAVAILABLE);

/**
 * The answer that follows from a bound key alone: the request is a different one, or cannot be compared here, or the
 * key bound a refusal. Null: the key created something for this very request, which is to be shown.
 */
export function answerOfKey(fingerprint: Fingerprint, row: BoundKey): Answer<never> | null {
  switch (fingerprint.compare(row.fingerprintKeyId, row.fingerprint)) {
    case 'unknown_key':
      return UNKNOWN_KEY;
    case 'other':
      return refused(KEY_REUSED);
    case 'same': {
      // Exactly as first answered.
      const refusal = row.refusal === null ? null : (JSON.parse(row.refusal) as Refusal);
      return refusal === null ? null : { outcome: { done: false, refusal }, replayed: true };
    }
  }
}

type BoundKey = Pick<IdempotencyKey, 'fingerprint' | 'fingerprintKeyId' | 'refusal'>;

const COMMIT_ID_BYTES = 8;

/** Marks the keys that one transaction binds. No two transactions have the same mark. */
export function newCommitId(): Buffer {
  return randomBytes(COMMIT_ID_BYTES);
}

/** Whether the transaction with this mark bound the key. */
export function isBoundBy(commitId: Buffer, row: IdempotencyKey): boolean {
  return row.commitId?.equals(commitId) === true;
}
