import type { Refusal } from '../../core/errors.js';
import type { Uuid } from '../../core/ids.js';
import type { Reader, StoredRow } from '../../db/database.js';
import { type IdempotencyKey, idempotencyKeys } from '../../db/entities/ledger.js';
import { columnList, literal, literals } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';
import type { Command } from './types.js';

type NamedKey = Pick<Command, 'tenantId' | 'key'>;

export function keyName(command: NamedKey): string {
  return `${command.tenantId}|${command.key}`;
}

/** The keys of these commands that are already bound. */
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
  return new Map(rows.map((row) => [keyName({ tenantId: row.tenantId, key: row.idempotencyKey }), row]));
}

export const KEY_REUSED: Refusal = {
  code: 'idempotency_key_reused',
  message: 'this Idempotency-Key was already used for another request',
};

/** The refusal that a key bound, exactly as it was first answered. */
export function storedRefusal(row: IdempotencyKey): Refusal | null {
  return row.refusal === null ? null : (JSON.parse(row.refusal) as Refusal);
}
