import { createHash } from 'node:crypto';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Metadata } from '../core/metadata.js';
import { bonuses } from './entities/bonuses.js';
import { type MetadataPair, metadataPairs } from './entities/metadata.js';
import { transfers } from './entities/operations.js';
import { payouts } from './entities/payouts.js';
import { deleteSql, equalsSql, insertSql, sqlFor, updateSql } from './statements.js';
import type { Table } from './table.js';

const TYPES = new Map<Table<unknown>, MetadataPair['resourceType']>([
  [transfers, 'transfer'],
  [bonuses, 'bonus'],
  [payouts, 'payout'],
]);

export function hasMetadataIndex<Row>(table: Table<Row>): boolean {
  return TYPES.has(table);
}

export interface LabelledRow {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly createdAt: Instant;
  readonly metadata: Metadata | null;
  readonly scheduleId?: Uuid | null;
  readonly refundOfId?: Uuid | null;
}

/** Names in the index of a transfer's schedule and of a refund's original, which no key of metadata can be. */
const RUN_OF = 'run of';
const REFUND_OF = 'refund of';

export function runPair(scheduleId: Uuid): readonly [string, string] {
  return [RUN_OF, scheduleId];
}

export function refundPair(originalId: Uuid): readonly [string, string] {
  return [REFUND_OF, originalId];
}

/** Returns the index rows of a row: its metadata, the schedule of a run, and the original of a refund. */
export function pairsOf<Row>(table: Table<Row>, row: Row): readonly MetadataPair[] {
  const resourceType = TYPES.get(table);
  if (resourceType === undefined) return [];
  // The indexed tables have these columns.
  const {
    id,
    tenantId,
    createdAt,
    metadata,
    scheduleId = null,
    refundOfId = null,
  } = row as LabelledRow;
  if (metadata === null && scheduleId === null && refundOfId === null) return [];
  const pairs: (readonly [string, string])[] = Object.entries(metadata ?? {});
  if (scheduleId !== null) pairs.push(runPair(scheduleId));
  if (refundOfId !== null) pairs.push(refundPair(refundOfId));
  return pairs.map(([name, value]) => ({
    tenantId,
    resourceType,
    valueHash: hashOf(value),
    name,
    createdAt,
    id,
  }));
}

/** Returns the statements that change a row's metadata, under the lock that guards the row. */
export function changeSql<Row extends LabelledRow>(
  table: Table<Row>,
  row: Row,
  metadata: Metadata | null,
): readonly string[] {
  const changed = { ...row, metadata };
  const set = { metadata } as Partial<Row>;
  return [
    updateSql(table, set, { id: row.id } as Partial<Row>),
    ...pairsOf(table, row).map((pair) => deleteSql(metadataPairs, pair)),
    ...sqlFor(pairsOf<Row>(table, changed), (pairs) => insertSql(metadataPairs, pairs)),
  ];
}

/** Returns the condition for the index rows of operations of this kind that have the pair. */
export function pairSql(
  table: Table<unknown>,
  tenantId: Uuid,
  [name, value]: readonly [string, string],
): string {
  const resourceType = TYPES.get(table);
  if (resourceType === undefined) throw new TypeError(`${table.name} has no index of metadata`);
  return equalsSql(metadataPairs, { tenantId, resourceType, valueHash: hashOf(value), name });
}

export function hashOf(value: string): Buffer {
  return createHash('sha256').update(value).digest().subarray(0, 16);
}
